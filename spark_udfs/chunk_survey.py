"""The first look at chunks that nobody brought together: what each says of those behind it.

In: rows (origin, sequence, payload). Out: a small row for each chunk: its size, how it runs from each state it could begin
in, and the bytes behind its last record end, as they are from the likely one. Knows no neighbours and parses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DataType

import formatter as fm
from formatter import _core
from formatter.buffers import addresses_of
from formatter.formats import as_bytes
from formatter.plans import make_plan
from spark_udfs.arrow_schema import arrow_type
from spark_udfs.chunk_rows import ChunkColumns

NO_END = 0xFFFFFFFF  # engine/chunk_survey.hpp: ChunkCourse::none
HEAD_BYTES = 64 << 10  # a header ends within so many bytes ...
HEAD_CHUNKS = 4_096  # ... and so many chunks of its origin

FIELDS = [
    pa.field("sequence", pa.int64(), nullable=False),
    pa.field("size", pa.int64(), nullable=False),
    pa.field("courses", pa.binary()),  # null where the state is always the same
    pa.field("assumed", pa.int64(), nullable=False),  # which of them `tail` belongs to
    pa.field("tail", pa.binary(), nullable=False),
    pa.field("head", pa.binary()),  # the first bytes, where a header may be
]
DDL = "sequence BIGINT, size BIGINT, courses BINARY, assumed BIGINT, tail BINARY, head BINARY"


def is_stateless(format: Any) -> bool:
    """Whether a certain single byte ends a record wherever it stands."""
    if isinstance(format, fm.Json):
        return True
    one_byte = all(len(as_bytes(getattr(format, name), name)) == 1 for name in ("delimiter", "record_delimiter"))
    return one_byte and format.quote is None and format.escape is None and format.comment is None


def record_end_of(format: Any) -> bytes:
    return b"\n" if isinstance(format, fm.Json) else as_bytes(format.record_delimiter, "record_delimiter")


def has_header(format: Any) -> bool:
    return bool(getattr(format, "header", False))


def survey(chunks: DataFrame, format: Any, names: ChunkColumns) -> DataFrame:
    """One row a chunk. Where one byte says it all the bytes never leave the JVM."""
    origin, sequence, payload = (f.col(name) for name in names.names)
    record_end = record_end_of(format)
    if is_stateless(format) and not has_header(format) and record_end[0] < 0x80:
        # The bytes of a string are not looked at, only searched: those of a payload need not be text.
        tail = f.substring_index(payload.cast("string"), record_end.decode(), -1).cast("binary")
        return chunks.select(
            origin.alias("origin"), sequence.cast("bigint").alias("sequence"),
            f.octet_length(payload).cast("bigint").alias("size"), f.lit(None).cast("binary").alias("courses"),
            f.lit(0).cast("bigint").alias("assumed"), tail.alias("tail"), f.lit(None).cast("binary").alias("head"),
        )  # fmt: skip
    task = SurveyTask(format, names, chunks.schema[names.origin].dataType)
    return chunks.select(*names.names).mapInArrow(task, task.ddl)


class SurveyTask:
    """For mapInArrow over chunk rows; with `given`, over those and a column of the state each begins in."""

    def __init__(self, format: Any, names: ChunkColumns, origin_type: DataType, *, given: str | None = None) -> None:
        self.format = format
        self.names = names
        self.given = given
        self.schema = pa.schema([pa.field("origin", arrow_type(origin_type)), *FIELDS])
        self.ddl = f"origin {origin_type.simpleString()}, {DDL}"

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        native = make_plan(self.format).native
        for batch in batches:
            origins, sequences, payloads = self.names.checked(batch)
            if len(payloads) == 0:
                continue
            sizes = np.diff(np.frombuffer(payloads.buffers()[1], np.int32)[payloads.offset :][: len(payloads) + 1])
            addresses, lengths, _, _ = addresses_of(payloads)
            courses, counts, chosen = _core.survey_chunks(native, addresses, lengths)
            ends = np.cumsum(counts)
            if self.given is not None:
                states = batch.column(self.given).to_numpy()
                per_chunk = np.split(courses["start"], ends[:-1])
                chosen = np.array([int(np.flatnonzero(s == v)[0]) for s, v in zip(per_chunk, states, strict=True)])
            last = courses["last_end"][ends - counts + chosen]
            tail_begins = np.where(last == NO_END, 0, last.astype(np.int64))
            yield pa.RecordBatch.from_arrays(
                [
                    origins.cast(self.schema.field("origin").type),
                    sequences.cast(pa.int64()),
                    pa.array(sizes.astype(np.int64) if self.given is None else np.full(len(sizes), -1)),
                    _pieces(courses.view(np.uint8), (ends - counts) * 8, ends * 8),
                    pa.array(chosen.astype(np.int64)),
                    _pieces_of(payloads, tail_begins, sizes),
                    self._heads(sequences, payloads, sizes),
                ],
                schema=self.schema,
            )

    def _heads(self, sequences: pa.Array, payloads: pa.Array, sizes: Any) -> pa.Array:
        if not has_header(self.format) or self.given is not None:
            return pa.nulls(len(payloads), pa.binary())
        numbers = sequences.cast(pa.int64()).to_numpy()
        # Chunks of one size within the first HEAD_BYTES come whole.
        wanted = np.where(numbers <= HEAD_CHUNKS, HEAD_BYTES // np.maximum(numbers, 1), 0)
        return _pieces_of(payloads, np.zeros(len(sizes), np.int64), np.minimum(sizes, wanted))


def _pieces_of(payloads: pa.Array, begins: Any, ends: Any) -> pa.Array:
    """Bytes [begin, end) of each payload."""
    first = np.frombuffer(payloads.buffers()[1], np.int32)[payloads.offset :][: len(payloads)].astype(np.int64)
    data = payloads.buffers()[2]
    return _pieces(
        np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8), first + begins, first + ends
    )


def _pieces(data: Any, begins: Any, ends: Any) -> pa.Array:
    sizes = ends - begins
    offsets = np.zeros(len(sizes) + 1, np.int32)
    np.cumsum(sizes, out=offsets[1:])
    if np.array_equal(begins[1:], ends[:-1]):
        joined = data[begins[0] : ends[-1]]
    else:
        joined = np.concatenate([data[a:b] for a, b in zip(begins.tolist(), ends.tolist(), strict=True)])
    return pa.Array.from_buffers(pa.binary(), len(sizes), [None, pa.py_buffer(offsets), pa.py_buffer(joined)])
