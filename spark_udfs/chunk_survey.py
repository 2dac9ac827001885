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
from formatter.plans import make_plan
from spark_udfs.arrow_schema import arrow_type
from spark_udfs.chunk_rows import PREFIX, ChunkColumns
from spark_udfs.jvm_survey import quote_survey

NO_END = 0xFFFFFFFF  # engine/whole/chunk_survey.hpp: ChunkCourse::none
COURSES_AT, TAIL_AT = 8, 24  # in quote_survey.java's bytes
WIDE = {pa.binary(): pa.large_binary()}
HEAD_BYTES = 64 << 10  # a header ends within so many bytes ...
HEAD_CHUNKS = 4_096  # ... and so many chunks of its origin

FIELDS = [
    pa.field("sequence", pa.int64()),
    pa.field("size", pa.int64()),  # null of a payload that is
    pa.field("courses", pa.binary()),  # null where the state is always the same
    pa.field("assumed", pa.int64()),  # which of them `tail` belongs to
    pa.field("tail", pa.binary()),
    pa.field("head", pa.binary()),  # the first bytes, where a header may be
]
DDL = "sequence BIGINT, size BIGINT, courses BINARY, assumed BIGINT, tail BINARY, head BINARY"


def is_stateless(format: Any) -> bool:
    """Whether a certain single byte ends a record wherever it stands."""
    if isinstance(format, fm.Json):
        return True
    one_byte = all(len(as_bytes(getattr(format, name), name)) == 1 for name in ("delimiter", "record_delimiter"))
    return one_byte and format.quote is None and format.escape is None and format.comment is None


def fixed_width(format: Any) -> int:
    """Of every record, if they have one: then sizes say where records end, and bytes nothing."""
    return format.row_width if isinstance(format, fm.Native) and not format.has_rest else 0


def record_end_of(format: Any) -> bytes:
    return b"\n" if isinstance(format, fm.Json) else as_bytes(format.record_delimiter, "record_delimiter")


def has_header(format: Any) -> bool:
    return bool(getattr(format, "header", False))


def survey_of(chunks: DataFrame, format: Any, names: ChunkColumns) -> pa.Table:
    """One row a chunk, on the driver. Where the JVM can tell, the bytes never leave it."""
    origin, sequence, payload = (f.col(name) for name in names.names)
    named = [origin.alias("origin"), sequence.cast("bigint").alias("sequence")]
    size = f.octet_length(payload).cast("bigint").alias("size")
    head = _head(sequence, payload) if has_header(format) else f.lit(None).cast("binary")
    if width := fixed_width(format):  # the plan knows how many of these bytes are behind the last record end
        tail = f.substring(payload, 1 - width, width - 1) if width > 1 else f.lit(b"")
        return _completed(chunks.select(*named, size, tail.alias("tail"), head.alias("head")).toArrow())
    if is_stateless(format) and record_end_of(format)[0] < 0x80:
        # The bytes of a string are not looked at, only searched: those of a payload need not be text.
        tail = f.substring_index(payload.cast("string"), record_end_of(format).decode(), -1).cast("binary")
        return _completed(chunks.select(*named, size, tail.alias("tail"), head.alias("head")).toArrow())
    framing = framing_bytes(format)
    if framing is not None and (in_jvm := quote_survey(chunks.sparkSession, *framing)) is not None:
        found = chunks.select(*named, in_jvm(payload).alias("survey"), head.alias("head")).toArrow()
        return _completed(_unpacked(found))
    task = SurveyTask(format, names, chunks.schema[names.origin].dataType)
    return _completed(chunks.select(*names.names).mapInArrow(task, task.ddl).toArrow())


def second_looks(chunks: DataFrame, asked: pa.Table, format: Any, names: ChunkColumns) -> pa.Table:
    """The same of some chunks (origin, sequence, state), from the state each does begin in."""
    origin_type = chunks.schema[names.origin].dataType
    columns = [PREFIX + name for name in ("origin", "sequence", "state")]
    ddl = f"{columns[0]} {origin_type.simpleString()}, {columns[1]} BIGINT, {columns[2]} BIGINT"
    some = chunks.sparkSession.createDataFrame(
        asked.select(["origin", "sequence", "state"]).rename_columns(columns), ddl
    )
    same = (f.col(names.origin) == f.col(columns[0])) & (f.col(names.sequence).cast("bigint") == f.col(columns[1]))
    task = SurveyTask(format, names, origin_type, given=columns[2])
    return _completed(
        chunks.join(f.broadcast(some), same).select(*names.names, columns[2]).mapInArrow(task, task.ddl).toArrow()
    )


def framing_bytes(format: Any) -> tuple[int, int, int] | None:
    """Delimiter, record end and quote where those say all, a byte each."""
    if isinstance(format, fm.Json) or format.quote is None or format.escape is not None or format.comment is not None:
        return None
    if format.quotes != "strict" or not format.newlines_in_quotes:
        return None
    pieces = [as_bytes(getattr(format, name), name) for name in ("delimiter", "record_delimiter", "quote")]
    return (pieces[0][0], pieces[1][0], pieces[2][0]) if all(len(piece) == 1 for piece in pieces) else None


def _head(sequence: Column, payload: Column) -> Column:
    """The first bytes of an origin's first chunks: those of one size within the first HEAD_BYTES come whole."""
    number = sequence.cast("bigint")
    wanted = f.floor(f.lit(HEAD_BYTES) / number).cast("int")
    return f.when((number >= 1) & (number <= HEAD_CHUNKS), f.substring(payload, f.lit(1), wanted))


def _completed(found: pa.Table) -> pa.Table:
    """With the columns that this survey did not need, and tails that may be of any size together."""
    count = found.num_rows
    known = {name: found.column(name) for name in found.schema.names}
    known.setdefault("courses", pa.nulls(count, pa.binary()))
    known.setdefault("assumed", pa.array(np.zeros(count, np.int64)))
    return pa.table(
        {
            "origin": known["origin"],
            **{field.name: known[field.name].cast(WIDE.get(field.type, field.type)) for field in FIELDS},
        }
    )


def _unpacked(found: pa.Table) -> pa.Table:
    """quote_survey.java's bytes as columns. Those of a null payload are null: it has no size then."""
    packed = _one_array(found.column("survey").cast(pa.large_binary()))
    missing = packed.is_null().to_numpy(zero_copy_only=False)
    offsets = np.frombuffer(packed.buffers()[1], np.int64)[packed.offset :][: len(packed) + 1]
    data = np.frombuffer(packed.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
    first = (offsets[:-1] - offsets[0])[~missing]
    fixed = np.zeros((len(packed), TAIL_AT), np.uint8)
    fixed[~missing] = data[first[:, None] + np.arange(TAIL_AT)]
    is_tail = np.ones(len(data), bool)
    is_tail[(first[:, None] + np.arange(TAIL_AT)).ravel()] = False
    numbers = np.ascontiguousarray(fixed[:, :COURSES_AT]).view(np.uint32).astype(np.int64)
    sizes = np.diff(offsets) - np.where(missing, 0, TAIL_AT)
    return pa.table(
        {
            "origin": found.column("origin"),
            "sequence": found.column("sequence"),
            "size": pa.array(numbers[:, 0], mask=missing),
            "courses": _binaries(np.full(len(packed), TAIL_AT - COURSES_AT), fixed[:, COURSES_AT:].ravel()),
            "assumed": pa.array(numbers[:, 1]),
            "tail": _binaries(sizes, data[is_tail]),
            "head": found.column("head"),
        }
    )


def _one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([pa.array([], column.type), *column.chunks])


def _binaries(sizes: Any, data: Any) -> pa.Array:
    """Values of these sizes, which stand one behind the other."""
    offsets = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=offsets[1:])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)


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
            origins, sequences, payloads = (batch.column(name) for name in self.names.names)
            if len(payloads) == 0:
                continue
            missing = payloads.is_null().to_numpy(zero_copy_only=False)
            payloads = payloads.fill_null(b"") if missing.any() else payloads
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
                    pa.array(sizes.astype(np.int64), mask=missing),
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
        numbers = sequences.cast(pa.int64()).fill_null(0).to_numpy()
        wanted = np.where((numbers >= 1) & (numbers <= HEAD_CHUNKS), HEAD_BYTES // np.maximum(numbers, 1), 0)
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
