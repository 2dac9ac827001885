"""The first look at chunks that nobody brought together: what each says of those behind it.

In: rows (origin, sequence, payload). Out: a table with a small row for each chunk: its size, how it runs from each state it
could begin in, and the bytes behind its last record end, as they are from the likely one. Knows no neighbours and parses
nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f
from pyspark.sql.types import DataType

import formatter as fm
from formatter import _core
from formatter.buffers import addresses_of
from formatter.formats.checks import as_bytes
from formatter.plans import make_plan, record_end_of
from formatter.splits import begins_anywhere
from spark_udfs.chunks.chunk_rows import PREFIX, ChunkColumns
from spark_udfs.jvm.quote_survey import quote_survey
from spark_udfs.stitch.binary_arrays import binaries, pieces
from spark_udfs.tasks.sent_functions import mapped
from spark_udfs.types.arrow_schema import arrow_type
from spark_udfs.types.spark_types import struct_of

NO_END = 0xFFFFFFFF  # engine/whole/chunk_survey.hpp: ChunkCourse::none
HEAD_BYTES = 64 << 10  # a header ends within so many bytes ...
HEAD_CHUNKS = 4_096  # ... and so many chunks of its origin
SMALLEST_NO_ASCII = 0x80

FIELDS = [
    pa.field("sequence", pa.int64()),
    pa.field("size", pa.int64()),  # null of a payload that is
    pa.field("courses", pa.large_binary()),  # null where the state is always the same
    pa.field("assumed", pa.int64()),  # which of them `tail` belongs to
    pa.field("tail", pa.large_binary()),
    pa.field("head", pa.large_binary()),  # the first bytes, where a header may be
]


def fixed_width(format: Any) -> int:
    """Of every record, if they have one: then sizes say where records end, and bytes nothing."""
    return format.row_width if isinstance(format, fm.Native) and not format.has_rest else 0


def has_header(format: Any) -> bool:
    return bool(getattr(format, "header", False))


def survey_of(chunks: DataFrame, format: Any, names: ChunkColumns) -> pa.Table:
    """One row a chunk, on the driver. Where the JVM can tell, the bytes never leave it."""
    origin, sequence, payload = (f.col(name) for name in names.names)
    named = [origin.alias("origin"), sequence.cast("bigint").alias("sequence")]
    head = (_head(sequence, payload) if has_header(format) else f.lit(None).cast("binary")).alias("head")
    tail = None
    if width := fixed_width(format):  # who places the chunks knows how many of these are behind the last record end
        tail = f.substring(payload, 1 - width, width - 1) if width > 1 else f.lit(b"")
    elif begins_anywhere(format) and record_end_of(format)[0] < SMALLEST_NO_ASCII:
        # The bytes of a string are not looked at, only searched: those of a payload need not be text.
        tail = f.substring_index(payload.cast("string"), record_end_of(format).decode(), -1).cast("binary")
    if tail is not None:
        size = f.octet_length(payload).cast("bigint").alias("size")
        return _completed(chunks.select(*named, size, tail.alias("tail"), head).toArrow())
    ending = ending_bytes(format)
    if ending is not None and (in_jvm := quote_survey(chunks.sparkSession, *ending)) is not None:
        return _completed(
            chunks.select(*named, head, in_jvm(payload).alias("s")).select("*", "s.*").drop("s").toArrow()
        )
    task = SurveyTask(format, names, chunks.schema[names.origin].dataType)
    return _completed(mapped(chunks.select(*names.names), task, struct_of(task.schema)).toArrow())


def second_looks(chunks: DataFrame, asked: pa.Table, format: Any, names: ChunkColumns) -> pa.Table:
    """The same of some chunks (origin, sequence, state), from the state each does begin in."""
    wanted = ("origin", "sequence", "state")
    columns = [PREFIX + name for name in wanted]
    some = chunks.sparkSession.createDataFrame(asked.select(wanted).rename_columns(columns))
    same = (f.col(names.origin) == f.col(columns[0])) & (f.col(names.sequence).cast("bigint") == f.col(columns[1]))
    task = SurveyTask(format, names, chunks.schema[names.origin].dataType, given=columns[2])
    again = chunks.join(f.broadcast(some), same).select(*names.names, columns[2])
    return _completed(mapped(again, task, struct_of(task.schema)).toArrow())


def ending_bytes(format: Any) -> tuple[int, int, int] | None:
    """Delimiter, record end and quote where those say all, a byte each."""
    if isinstance(format, fm.Json) or format.quote is None or format.escape is not None or format.comment is not None:
        return None
    if format.quotes != "strict" or not format.newlines_in_quotes:
        return None
    found = [as_bytes(getattr(format, name), name) for name in ("delimiter", "record_delimiter", "quote")]
    return (found[0][0], found[1][0], found[2][0]) if all(len(one) == 1 for one in found) else None


def _head(sequence: Column, payload: Column) -> Column:
    """The first bytes of an origin's first chunks: those of one size within the first HEAD_BYTES come whole."""
    number = sequence.cast("bigint")
    wanted = f.floor(f.lit(HEAD_BYTES) / number).cast("int")
    return f.when((number >= 1) & (number <= HEAD_CHUNKS), f.substring(payload, f.lit(1), wanted))


def _completed(found: pa.Table) -> pa.Table:
    """With the columns that this survey did not need, and tails that may be of any size together."""
    known = {name: found.column(name) for name in found.schema.names}
    known.setdefault("courses", pa.nulls(found.num_rows, pa.large_binary()))
    known.setdefault("assumed", pa.array(np.zeros(found.num_rows, np.int64)))
    return pa.table({"origin": known["origin"], **{field.name: known[field.name].cast(field.type) for field in FIELDS}})


class SurveyTask:
    """For mapInArrow over chunk rows; with `given`, over those and a column of the state each begins in."""

    def __init__(self, format: Any, names: ChunkColumns, origin_type: DataType, *, given: str | None = None) -> None:
        self.format = format
        self.names = names
        self.given = given
        self.schema = pa.schema([pa.field("origin", arrow_type(origin_type)), *FIELDS])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        engine = make_plan(self.format).engine
        for batch in batches:
            origins, sequences, payloads = (batch.column(name) for name in self.names.names)
            if len(payloads) == 0:
                continue
            missing = payloads.is_null().to_numpy(zero_copy_only=False)
            payloads = payloads.fill_null(b"") if missing.any() else payloads
            addresses, lengths, _, _ = addresses_of(payloads)
            sizes = lengths.astype(np.int64)
            courses, counts, chosen = _core.survey_chunks(engine, addresses, lengths)
            ends = np.cumsum(counts)
            if self.given is not None:
                states = batch.column(self.given).to_numpy()
                per_chunk = np.split(courses["start"], ends[:-1])
                chosen = np.array([int(np.flatnonzero(s == v)[0]) for s, v in zip(per_chunk, states, strict=True)])
            last = courses["last_end"][ends - counts + chosen]
            yield pa.RecordBatch.from_arrays(
                [
                    origins.cast(self.schema.field("origin").type),
                    sequences.cast(pa.int64()),
                    pa.array(sizes, mask=missing),
                    binaries(counts * courses.itemsize, courses.view(np.uint8)),
                    pa.array(chosen.astype(np.int64)),
                    pieces(payloads, np.where(last == NO_END, 0, last.astype(np.int64)), sizes),
                    self._heads(sequences, payloads, sizes),
                ],
                schema=self.schema,
            )

    def _heads(self, sequences: pa.Array, payloads: pa.Array, sizes: Any) -> pa.Array:
        if not has_header(self.format) or self.given is not None:
            return pa.nulls(len(payloads), pa.large_binary())
        numbers = sequences.cast(pa.int64()).fill_null(0).to_numpy()
        wanted = np.where((numbers >= 1) & (numbers <= HEAD_CHUNKS), HEAD_BYTES // np.maximum(numbers, 1), 0)
        return pieces(payloads, np.zeros(len(sizes), np.int64), np.minimum(sizes, wanted))
