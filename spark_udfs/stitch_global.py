"""Chunks that stay where they are, whatever the partitioning: only what is open at their ends travels.

In: rows (origin, sequence, payload) anywhere. Out: the records of the whole origins, each once, from the task that has the
chunk it ends in. One pass surveys the chunks (chunk_survey.py), the tiny survey rows of an origin come together
(chunk_plans.py) and are broadcast, and a second pass parses each chunk by itself. The input is evaluated twice, so it has
to give the same chunks both times; nothing is collected and nothing runs before an action does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

import formatter as fm
from formatter import _core, diagnostics
from formatter.buffers import addresses_of
from formatter.plans import DecodePlan, make_plan
from spark_udfs.chunk_plans import KIND_ASK, KIND_PLAN, KIND_SURVEY, PREFIX, PlanTask
from spark_udfs.chunk_survey import SurveyTask, has_header, is_stateless, survey
from spark_udfs.hand_over import handed_over
from spark_udfs.parse_task import ParseTask

MAX_ROWS = 65_536
MAX_BATCH_BYTES = 16 << 20
NUMBERS = ("state", "begin", "ends_stream", "stream_start", "byte_offset")


def stitch_globally(chunks: DataFrame, task: ParseTask) -> DataFrame:
    """The records of `chunks` as `task` describes them, lazily."""
    names = task.names
    _require_delimited(task.format)
    origin_type = chunks.schema[names.origin].dataType
    plan_task = PlanTask(task.format, names, origin_type)
    surveyed = survey(chunks, task.format, names).repartition("origin")
    plan = surveyed.sortWithinPartitions("origin", "sequence").mapInArrow(plan_task, plan_task.ddl)
    settled = plan.where(f"{PREFIX}kind = {KIND_PLAN}").select(*plan_task.columns)
    if not is_stateless(task.format):
        settled = settled.unionByName(_after_second_looks(chunks, plan, task, plan_task))
    joined = chunks.join(f.broadcast(settled), _same_chunk(task))
    return joined.mapInArrow(GlobalParse(task), task.schema)


def _require_delimited(format: Any) -> None:
    """Only where a few bytes tell a record's end can a chunk be surveyed without its neighbours."""
    found = type(format).__name__
    if isinstance(format, fm.Csv) and format.encoding != "utf-8":
        found = f"encoding={format.encoding!r}"
    elif isinstance(format, fm.Json) and format.records != "lines":
        found = f"records={format.records!r}"
    elif isinstance(format, fm.Csv | fm.Json):
        return
    raise fm.OptionError(
        f"spark: stitch='global' is for UTF-8 text with a delimiter behind each record, found {found}; use stitch='origin'"
    )


def _same_chunk(task: ParseTask) -> Any:
    origin, sequence, _ = task.names.names
    same_sequence = f.col(sequence).cast("bigint") == f.col(f"{PREFIX}sequence")
    return (f.col(origin) == f.col(f"{PREFIX}origin")) & same_sequence


def _after_second_looks(chunks: DataFrame, plan: DataFrame, task: ParseTask, plan_task: PlanTask) -> DataFrame:
    """Plans of origins in which some chunk began in another state than was likely.

    The tail of such a chunk is fetched once more, now with the right state. They are rare: when there are none Spark
    meets an empty broadcast and leaves the second evaluation out.
    """
    origin_type = chunks.schema[task.names.origin].dataType
    again = SurveyTask(task.format, task.names, origin_type, given=f"{PREFIX}state")
    asked = plan.where(f"{PREFIX}kind = {KIND_ASK}").select(
        *(PREFIX + name for name in ("origin", "sequence", "state"))
    )
    joined = chunks.join(f.broadcast(asked), _same_chunk(task))
    looks = joined.select(*task.names.names, f"{PREFIX}state").mapInArrow(again, again.ddl)
    known = plan.where(f"{PREFIX}kind = {KIND_SURVEY}").select(
        *(f.col(PREFIX + n).alias(n) for n in again.schema.names)
    )
    both = known.unionByName(looks).repartition("origin").sortWithinPartitions("origin", "sequence")
    return both.mapInArrow(plan_task, plan_task.ddl).select(*plan_task.columns)


class GlobalParse:
    """For mapInArrow over chunks beside their plans. Every batch of chunks becomes batches of records by itself."""

    __name__ = "formatter.parse"  # in plans; pushdown_rule.java knows what is ours by it

    def __init__(self, task: ParseTask) -> None:
        self.task = task

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return handed_over(self._rows(batches), self.task.schema_of_output)

    def _rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        readers: dict[bytes | None, _Reader] = {}
        for batch in batches:
            for header, rows in _by_header(batch):
                if header not in readers:
                    readers[header] = _Reader(self.task, header)
                yield from readers[header].read(rows)


class _Reader:
    def __init__(self, task: ParseTask, header: bytes | None) -> None:
        self.task = task
        plain = replace(task.format, header=False) if header is None and has_header(task.format) else task.format
        self.plan: DecodePlan = make_plan(
            plain, columns=task.columns, filters_wanted=task.filters, on_error=task.on_error
        )
        native = self.plan.native if header is None else self.plan.native.read_header(header)[0]
        self.native = _core.ChunkReader(
            native, max_rows=MAX_ROWS, max_batch_bytes=MAX_BATCH_BYTES, count_rows=bool(task.keep)
        )

    def read(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        origins, sequences, payloads = self.task.names.checked(rows)
        numbers = {name: rows.column(PREFIX + name).to_numpy() for name in NUMBERS}
        addresses, sizes, _, _ = addresses_of(payloads)
        carries, carry_sizes, _, _ = addresses_of(rows.column(f"{PREFIX}carry"))
        places = np.arange(len(payloads), dtype=np.int64)
        arrays, errors, rows_through, _ = self.native.read(
            addresses, sizes, carries, carry_sizes, numbers["state"], numbers["begin"], numbers["ends_stream"],
            numbers["stream_start"], places, numbers["byte_offset"],
        )  # fmt: skip
        for error in sorted(errors, key=lambda error: (error[2], error[3])):
            if self.task.on_error == "raise" or diagnostics.always_raised(error[0]):
                raise self._described(error, origins[error[2]].as_py(), sequences[error[2]].as_py())
        riding = _Riding(rows, self.task.keep, rows_through)
        for array in arrays:
            for part in self.task.parts(self.plan.batch(array)):
                yield self.task.beside(part, riding.take(part.num_rows))

    def _described(self, error: Any, origin: int | str, sequence: int) -> fm.FormatError:
        """Bytes are counted in the origin; records only in the chunk, since no task sees those before it."""
        found = diagnostics.describe(error, self.task.format, self.plan.native.column_names, origin=origin)
        text = str(found).replace(f"record {found.record}", f"record {found.record} of chunk {sequence}", 1)
        return fm.FormatError(
            f"origin {origin!r}: {text}", code=found.code, origin=origin, sequence=sequence,
            byte_offset=found.byte_offset, column=found.column, expected=found.expected, found=found.found,
        )  # fmt: skip


class _Riding:
    """Columns that go beside the records: each has those of the chunk it ends in."""

    def __init__(self, rows: pa.RecordBatch, names: tuple[str, ...], rows_through: list[int]) -> None:
        self.columns = [rows.column(name) for name in names]
        self.row_of = np.repeat(np.arange(len(rows_through)), np.diff(rows_through, prepend=0)) if names else None
        self.taken = 0

    def take(self, count: int) -> list[pa.Array]:
        if self.row_of is None:
            return []
        rows = pa.array(self.row_of[self.taken : self.taken + count])
        self.taken += count
        return [column.take(rows) for column in self.columns]


def _by_header(batch: pa.RecordBatch) -> Iterator[tuple[bytes | None, pa.RecordBatch]]:
    headers = batch.column(f"{PREFIX}header")
    if headers.null_count == len(headers):
        if batch.num_rows:
            yield None, batch
        return
    values, start = headers.to_pylist(), 0
    for end in range(1, len(values) + 1):
        if end == len(values) or values[end] != values[start]:
            yield values[start], batch.slice(start, end - start)
            start = end
