"""Chunks that stay where they are, whatever the partitioning: only what is open at their ends travels.

In: rows (origin, sequence, payload) anywhere. Out: the records of the whole origins, each once, from the task that has the
chunk it ends in. A first job surveys the chunks (chunk_survey.py) when the query is made; the driver works out how each
has to be parsed (chunk_plans.py), and with that plan every chunk is parsed by itself, lazily, in one stage without a
shuffle. The chunks have to be the same both times; those that are not are errors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

import formatter as fm
from formatter import _core, diagnostics
from formatter.buffers import addresses_of
from formatter.plans import DecodePlan, make_plan
from spark_udfs.chunks.parse_task import ParseTask
from spark_udfs.stitch.chunk_survey import fixed_width, has_header, second_looks, survey_of
from spark_udfs.stitch.placed_chunks import Again, ChunkPlan, looked_again, plan_chunks
from spark_udfs.stitch.unmoved import unmoved
from spark_udfs.tasks.hand_over import handed_over
from spark_udfs.tasks.metrics import Measure

MAX_ROWS = 65_536
MAX_BATCH_BYTES = 16 << 20
BROADCAST_BYTES = 1 << 20  # larger plans are sent once an executor, not once a task


def stitch_globally(chunks: DataFrame, task: ParseTask) -> DataFrame:
    """The records of `chunks` as `task` describes them. The survey runs now, parsing when an action does."""
    _require_delimited(task.format)
    if chunks.isStreaming:
        raise fm.OptionError(
            "spark: stitch='global' looks at all chunks before it parses one, and a stream has no last; use su.parse_stream"
        )
    bare = chunks if chunks.columns == list(task.names.names) else chunks.select(*task.names.names)
    plan = _plan_of(unmoved(bare), task)
    return chunks.mapInArrow(GlobalParse(task, _sent(chunks, plan)), task.schema)


def _plan_of(chunks: DataFrame, task: ParseTask) -> ChunkPlan:
    surveyed = survey_of(chunks, task.format, task.names)
    plan = plan_chunks(surveyed, task.format, task.names)
    if isinstance(plan, Again):  # rare: nothing near its start told that a chunk begins inside quotes
        looks = second_looks(chunks, plan.chunks, task.format, task.names)
        plan = plan_chunks(looked_again(surveyed, plan.chunks, looks), task.format, task.names)
    if isinstance(plan, Again):
        raise fm.OptionError("spark: stitch='global' got other chunks at its second look; cache the DataFrame first")
    return plan


def _sent(chunks: DataFrame, plan: ChunkPlan) -> Any:
    """The plan as it travels with a task: itself, or a broadcast of it."""
    if plan.nbytes < BROADCAST_BYTES or not hasattr(chunks.sparkSession, "_jsparkSession"):
        return plan
    return chunks.sparkSession.sparkContext.broadcast(plan)


def _require_delimited(format: Any) -> None:
    """Only where a few bytes, or none, tell a record's end can a chunk be surveyed without its neighbours."""
    found = type(format).__name__
    if isinstance(format, fm.Csv) and format.encoding != "utf-8":
        found = f"encoding={format.encoding!r}"
    elif isinstance(format, fm.Json) and format.records != "lines":
        found = f"records={format.records!r}"
    elif isinstance(format, fm.Csv | fm.Json) or fixed_width(format):
        return
    raise fm.OptionError(
        "spark: stitch='global' is for UTF-8 text with a delimiter behind each record, and rows of one width, "
        f"found {found}; use stitch='origin'"
    )


class GlobalParse:
    """For mapInArrow over chunks. Every batch of chunks becomes batches of records by itself."""

    __name__ = "formatter.parse"  # in plans; pushdown_rule.java knows what is ours by it

    def __init__(self, task: ParseTask, plan: Any) -> None:
        self.task = task
        self.sent = plan

    @property
    def plan(self) -> ChunkPlan:
        return self.sent if isinstance(self.sent, ChunkPlan) else self.sent.value

    def narrowed(self, task: ParseTask) -> GlobalParse:
        return GlobalParse(task, self.sent)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if self.plan.error is not None:
            raise self.plan.error
        run = _Run(self.task, self.plan)
        measure = Measure(self.task.reports)
        yield from handed_over(measure.timed(run.rows(batches)), self.task.schema_of_output)
        measure.report([run.counts])


class _Run:
    """One run of a task: the chunks it got, and what they gave."""

    def __init__(self, task: ParseTask, plan: ChunkPlan) -> None:
        self.task = task
        self.plan = plan
        self.counts: dict[str, int] = {}
        self._readers: dict[bytes | None, _Reader] = {}

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            origins, sequences, payloads = self.task.names.checked(batch)
            if len(payloads) == 0:
                continue
            addresses, sizes, _, _ = addresses_of(payloads)
            places, headers = self.plan.places(origins, sequences, sizes.astype(np.int64))
            self._count({"bytes": int(sizes.sum())})
            wanted = self.plan.wanted[places]
            for header in dict.fromkeys(headers):
                mine = np.array([each == header for each in headers])[wanted] if len(headers) > 1 else slice(None)
                rows = np.flatnonzero(wanted)[mine]
                if header not in self._readers:
                    self._readers[header] = _Reader(self.task, self.plan, header)
                yield from self._readers[header].read(
                    batch, rows, addresses[rows], sizes[rows], places[rows], self._count
                )

    def _count(self, counts: dict[str, int]) -> None:
        for name, count in counts.items():
            self.counts[name] = self.counts.get(name, 0) + count


class _Reader:
    def __init__(self, task: ParseTask, plan: ChunkPlan, header: bytes | None) -> None:
        self.task = task
        self.chunks = plan
        self.tails = pa.py_buffer(plan.tails)
        plain = replace(task.format, header=False) if header is None and has_header(task.format) else task.format
        self.plan: DecodePlan = make_plan(
            plain, columns=task.columns, filters_wanted=task.filters, on_error=task.on_error
        )
        native = self.plan.native if header is None else self.plan.native.read_header(header)[0]
        self.native = _core.ChunkReader(
            native, max_rows=MAX_ROWS, max_batch_bytes=MAX_BATCH_BYTES, count_rows=bool(task.keep)
        )

    def read(
        self, batch: pa.RecordBatch, rows: Any, addresses: Any, sizes: Any, places: Any, count: Callable[..., None]
    ) -> Iterator[pa.RecordBatch]:
        """The records of some rows of a batch, which have these places in the plan."""
        chunks = self.chunks
        carries = (chunks.carry_begins[places] + self.tails.address).astype(np.uint64)
        arrays, errors, rows_through, counts = self.native.read(
            addresses, sizes, carries, chunks.carry_sizes[places].astype(np.uint64), chunks.states[places],
            chunks.begins[places], chunks.ends_stream[places].astype(np.int64),
            chunks.stream_starts[places].astype(np.int64), np.arange(len(rows)), chunks.byte_offsets[places],
        )  # fmt: skip
        count(counts)
        for error in sorted(errors, key=lambda error: (error[2], error[3])):
            if self.task.on_error == "raise" or diagnostics.always_raised(error[0]):
                raise self._described(error, batch, int(rows[error[2]]))
        riding = _Riding(batch, self.task.keep, rows, rows_through)
        for array in arrays:
            for part in self.task.parts(self.plan.batch(array)):
                yield self.task.beside(part, riding.take(part.num_rows))

    def _described(self, error: Any, batch: pa.RecordBatch, row: int) -> fm.FormatError:
        """Bytes are counted in the origin; records only in the chunk, since no task sees those before it."""
        origin, sequence = (batch.column(name)[row].as_py() for name in self.task.names.names[:2])
        found = diagnostics.describe(error, self.task.format, self.plan.native.column_names, origin=origin)
        text = str(found).replace(f"record {found.record}", f"record {found.record} of chunk {sequence}", 1)
        return fm.FormatError(
            f"origin {origin!r}: {text}", code=found.code, origin=origin, sequence=sequence,
            byte_offset=found.byte_offset, column=found.column, expected=found.expected, found=found.found,
        )  # fmt: skip


class _Riding:
    """Columns that go beside the records: each has those of the chunk it ends in."""

    def __init__(self, batch: pa.RecordBatch, names: tuple[str, ...], rows: Any, rows_through: list[int]) -> None:
        self.columns = [batch.column(name) for name in names]
        self.row_of = np.repeat(rows, np.diff(rows_through, prepend=0)) if names else None
        self.taken = 0

    def take(self, count: int) -> list[pa.Array]:
        if self.row_of is None:
            return []
        rows = pa.array(self.row_of[self.taken : self.taken + count])
        self.taken += count
        return [column.take(rows) for column in self.columns]
