"""Small rows about the chunks of an origin become, for each chunk that ends a record, all it needs to be parsed alone.

In: survey rows (chunk_survey.py), all of an origin in one partition, sorted by origin and sequence. Out: the state and the
byte a chunk begins at, and the bytes of the record that is open there; or a request for another look at chunks that began
in another state than was likely. Knows no payloads; says which chunks are missing or came twice.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql.types import DataType

import formatter as fm
from formatter import _core, diagnostics
from formatter.formats import as_bytes
from formatter.plans import make_plan
from spark_udfs.arrow_schema import arrow_type
from spark_udfs.chunk_rows import ChunkColumns
from spark_udfs.chunk_survey import FIELDS, HEAD_BYTES, HEAD_CHUNKS, NO_END, has_header, record_end_of

PREFIX = "__formatter_"
CARRY_LIMIT = 1 << 30  # bytes of an origin's open records: an Arrow binary column counts in 31 bits
CARRIED = -1  # engine/chunk_reader.hpp: PlacedChunk::carried

PLAN_FIELDS = [
    pa.field("kind", pa.int64()),
    pa.field("sequence", pa.int64()),
    pa.field("state", pa.int64()),
    pa.field("byte_offset", pa.int64()),
    pa.field("begin", pa.int64()),
    pa.field("stream_start", pa.int64()),
    pa.field("ends_stream", pa.int64()),
    pa.field("carry", pa.binary()),
    pa.field("header", pa.binary()),
]
KIND_PLAN, KIND_ASK, KIND_SURVEY = 0, 1, 2  # how to parse a chunk; whom to ask again; what is known of such an origin
DDL_TYPES = {pa.int64(): "BIGINT", pa.binary(): "BINARY"}


@dataclass
class Survey:
    """All chunks of one origin, in order."""

    origin: int | str
    sequences: Any
    sizes: Any
    assumed: Any
    courses: pa.Array
    tails: pa.Array
    heads: pa.Array

    @classmethod
    def of(cls, origin: int | str, table: pa.Table) -> Survey:
        rows = table.combine_chunks()
        columns = {name: rows.column(name).combine_chunks() for name in rows.schema.names}
        sizes = columns["size"].to_numpy()
        looks = sizes < 0  # second looks, each behind or before the first one of the same chunk
        tails = columns["tail"]
        if looks.any():
            sequences = columns["sequence"].to_numpy()
            better = dict(zip(sequences[looks].tolist(), np.flatnonzero(looks).tolist(), strict=True))
            first = np.flatnonzero(~looks)
            best = np.array(
                [better.get(number, row) for number, row in zip(sequences[first].tolist(), first, strict=True)]
            )
            assumed = columns["assumed"].to_numpy()[best]
            tails = tails.take(pa.array(best))
            columns = {name: column.take(pa.array(first)) for name, column in columns.items()}
            columns["assumed"] = pa.array(assumed)
        return cls(
            origin, columns["sequence"].to_numpy(), columns["size"].to_numpy(), columns["assumed"].to_numpy(),
            columns["courses"], tails, columns["head"],
        )  # fmt: skip

    def check_numbering(self) -> None:
        numbers = self.sequences
        if numbers[0] < 1:
            raise fm.SequenceError(
                f"origin {self.origin!r}: sequence: expected a whole number from 1, found {numbers[0]}",
                origin=self.origin, sequence=int(numbers[0]),
            )  # fmt: skip
        step = np.diff(numbers, prepend=0)
        if (wrong := np.flatnonzero(step != 1)).size:
            number, before = int(numbers[wrong[0]]), int(numbers[wrong[0]] - step[wrong[0]])
            if number == before:
                text = f"sequence {number}: this chunk came twice; drop duplicates of (origin, sequence) first"
            else:
                missing = f"{before + 1}" if number == before + 2 else f"{before + 1} to {number - 1}"
                number, text = (
                    before + 1,
                    f"chunks {missing} never came; a record may be in them: bring them, or drop the origin",
                )
            raise fm.SequenceError(f"origin {self.origin!r}: {text}", origin=self.origin, sequence=number)


class PlanTask:
    """For mapInArrow over survey rows."""

    def __init__(self, format: Any, names: ChunkColumns, origin_type: DataType) -> None:
        self.format = format
        self.names = names
        planned = [pa.field("origin", arrow_type(origin_type)), *PLAN_FIELDS]
        known = [field for field in FIELDS if field.name != "sequence"]
        self.schema = pa.schema([pa.field(PREFIX + field.name, field.type) for field in [*planned, *known]])
        self.columns = [PREFIX + field.name for field in planned]
        types = [f"{field.name} {DDL_TYPES[field.type]}" for field in list(self.schema)[1:]]
        self.ddl = ", ".join([f"{PREFIX}origin {origin_type.simpleString()}", *types])

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for origin, rows in _by_origin(map(self._checked, batches)):
            yield from self._plan(Survey.of(origin, rows))

    def _checked(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Nulls in chunks that were surveyed where nobody looked for them."""
        for column, name in zip(("origin", "sequence", "size"), self.names.names, strict=True):
            if batch.column(column).null_count:
                raise fm.FormatError(
                    f"spark: column {name!r}: that of a chunk is null; filter such rows out first",
                    code="missing_required", column=name, expected="a value", found="null",
                )  # fmt: skip
        return batch

    @cached_property
    def _first_state(self) -> int:
        return _core.first_chunk_state(make_plan(self.format).native)

    def _plan(self, survey: Survey) -> Iterator[pa.RecordBatch]:
        survey.check_numbering()
        count = len(survey.sequences)
        states, last_ends, as_assumed = self._run(survey)
        ended = last_ends != NO_END
        offsets = np.cumsum(survey.sizes) - survey.sizes
        if not as_assumed[:-1].all():  # the last one's tail stays in it
            again = np.flatnonzero(~as_assumed[:-1])
            yield self._batch(survey.origin, KIND_ASK, survey.sequences[again], state=states[again])
            yield self._batch(
                survey.origin, KIND_SURVEY, survey.sequences, size=survey.sizes, courses=survey.courses,
                assumed=survey.assumed, tail=survey.tails, head=survey.heads,
            )  # fmt: skip
            return
        if survey.tails.nbytes > CARRY_LIMIT:
            raise fm.FormatError(
                f"spark: origin {survey.origin!r}: records are so much longer than its chunks that {survey.tails.nbytes} "
                f"bytes of them would travel apart (at most {CARRY_LIMIT}); use stitch='origin'",
                code="record_too_long", origin=survey.origin,
            )  # fmt: skip
        header_end, header = self._header(survey, offsets)
        wanted = ended.copy()
        wanted[-1] = True
        rows = np.flatnonzero(wanted)
        carry = _between(survey.tails, rows)
        stream_starts = np.zeros(len(rows), np.int64)
        begins = np.full(len(rows), CARRIED)
        if header_end is None:
            stream_starts[0] = 1
        else:
            ends = (offsets + survey.sizes)[rows]
            keep = ends > header_end
            begins = np.where(offsets[rows] < header_end, header_end - offsets[rows], CARRIED)[keep]
            carry, stream_starts, rows = carry.filter(pa.array(keep)), stream_starts[keep], rows[keep]
        if len(rows):
            yield self._batch(
                survey.origin, KIND_PLAN, survey.sequences[rows], state=states[rows], byte_offset=offsets[rows], begin=begins,
                stream_start=stream_starts, ends_stream=(rows == count - 1).astype(np.int64), carry=carry, header=header,
            )  # fmt: skip

    def _run(self, survey: Survey) -> tuple[Any, Any, Any]:
        """(state at each chunk's start, its last record end, whether that is the one its tail begins at)"""
        count = len(survey.sequences)
        if survey.courses.null_count:  # there is but one state
            tail_sizes = np.diff(_offsets(survey.tails))
            last_ends = np.where(tail_sizes == survey.sizes, NO_END, survey.sizes - tail_sizes)
            return np.zeros(count, np.int64), last_ends, np.ones(count, bool)
        bounds = _offsets(survey.courses) // 8
        courses = np.frombuffer(survey.courses.buffers()[2], _core.COURSE_TYPE)[bounds[0] : bounds[-1]]
        bounds = bounds - bounds[0]
        if (np.diff(bounds) == 2).all() and set(courses["start"][:2].tolist()) == {0, 1}:  # quote parity: sums
            odd = courses["end"][::2].astype(np.int64)
            states = (np.cumsum(odd) - odd) & 1
            taken = bounds[:-1] + states
        else:
            states, taken, state = np.empty(count, np.int64), np.empty(count, np.int64), self._first_state
            starts, ends = courses["start"].tolist(), courses["end"].tolist()
            for i, (a, b) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
                states[i] = state
                taken[i] = at = starts.index(state, a, b)
                state = ends[at]
        last_ends = courses["last_end"].astype(np.int64)
        return states, last_ends[taken], last_ends[taken] == last_ends[bounds[:-1] + survey.assumed]

    def _header(self, survey: Survey, offsets: Any) -> tuple[int | None, bytes | None]:
        """Where the records begin, and the header, if the format says there is one."""
        if not has_header(self.format):
            return None, None
        text, whole = b"", True
        plan = make_plan(self.format).native
        for head, size in zip(survey.heads, survey.sizes.tolist(), strict=True):
            text += head.as_py()
            whole = len(head.as_py()) == size
            if (found := plan.read_header(text)) is not None or not whole:
                break
        else:
            found = plan.read_header(text + record_end_of(self.format))
            if found is None:  # nothing but blank lines
                return len(text), None
        if found is None:
            raise fm.FormatError(
                f"spark: origin {survey.origin!r}: the header does not end within {HEAD_BYTES >> 10} KiB and {HEAD_CHUNKS} "
                "chunks; use stitch='origin'",
                code="header", origin=survey.origin,
            )  # fmt: skip
        _, size, missing = found
        if missing:
            raise diagnostics.missing_in_header(self.format, missing)
        return size, None if self._is_own_order(text[:size]) else text[:size]

    def _is_own_order(self, header: bytes) -> bool:
        """Whether the header's columns are the schema's, so that it need not travel with every chunk."""
        own = as_bytes(self.format.delimiter, "delimiter").join(name.encode() for name in self.format.schema.names)
        return header.rstrip(b"\r\n").removesuffix(record_end_of(self.format)) == own

    def _batch(self, origin: int | str, kind: int, sequences: Any, **columns: Any) -> pa.RecordBatch:
        count = len(sequences)
        known = {PREFIX + name: column for name, column in columns.items()}
        known[PREFIX + "origin"] = pa.repeat(pa.scalar(origin, self.schema.field(0).type), count)
        known[PREFIX + "kind"] = pa.repeat(kind, count)
        known[PREFIX + "sequence"] = sequences
        arrays = []
        for field in self.schema:
            value = known.get(field.name)
            if value is None or isinstance(value, bytes):
                value = pa.repeat(pa.scalar(value, field.type), count)
            arrays.append(value if isinstance(value, pa.Array) else pa.array(value, field.type))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


def _by_origin(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[int | str, pa.Table]]:
    held: list[pa.RecordBatch] = []
    current: Any = None
    for batch in batches:
        origins = batch.column(0).to_pylist()
        start = 0
        for end in range(1, len(origins) + 1):
            if end < len(origins) and origins[end] == origins[start]:
                continue
            if held and origins[start] != current:
                yield current, pa.Table.from_batches(held)
                held = []
            current = origins[start]
            held.append(batch.slice(start, end - start))
            start = end
    if held:
        yield current, pa.Table.from_batches(held)


def _offsets(values: pa.Array) -> Any:
    return np.frombuffer(values.buffers()[1], np.int32)[values.offset :][: len(values) + 1].astype(np.int64)


def _between(tails: pa.Array, rows: Any) -> pa.Array:
    """For each row: the tails of the rows from the one before it in `rows` on. They are neighbours in memory already."""
    offsets = _offsets(tails)
    bounds = np.concatenate([offsets[:1], offsets[rows]]).astype(np.int32)
    return pa.Array.from_buffers(pa.binary(), len(rows), [None, pa.py_buffer(bounds), tails.buffers()[2]])
