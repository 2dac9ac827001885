"""What tasks did, as a person sees it: lines in the driver's log, and a DataFrame.

In: counts of tasks. Out: one report a task: rows, bytes, rejects, spanning records, kernel, seconds. On classic Spark they
come to the driver by an accumulator, at the end of each task that succeeds; a task run twice is reported once. A Connect
client has no accumulators: there su.measure(df) reads once more and counts. Knows nothing of formats.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
from pyspark import AccumulatorParam, TaskContext
from pyspark.sql import DataFrame, SparkSession

import formatter as fm
from spark_udfs.types.spark_types import struct_of

log = logging.getLogger("spark_udfs")

METRICS_SCHEMA = pa.schema(
    [
        *(("plan", pa.string()), ("stage", pa.int64()), ("task", pa.int64()), ("attempt", pa.int64())),
        *((name, pa.int64()) for name in ("bytes", "records", "rows", "filtered", "rejects", "nulled", "spanning")),
        *(("kernel", pa.string()), ("seconds", pa.float64())),
    ]
)
REPORTS_KEPT = 100_000  # tasks; the oldest are forgotten

Report = dict[str, Any]
Key = tuple[str, int, int]  # plan, stage, task: a later attempt takes the place of an earlier one


class ReportsParam(AccumulatorParam[dict[Key, Report]]):
    """Reports by task. On the driver `said` has the lines already logged; in a task it is not there."""

    def __init__(self, session: SparkSession | None = None) -> None:
        self.session = session

    def __getstate__(self) -> dict[str, Any]:
        return {"session": None}

    def zero(self, value: dict[Key, Report]) -> dict[Key, Report]:
        return {}

    def addInPlace(self, value1: dict[Key, Report], value2: dict[Key, Report]) -> dict[Key, Report]:
        value1.update(value2)
        while len(value1) > REPORTS_KEPT:
            value1.pop(next(iter(value1)))
        if self.session is not None:
            for plan, stage, _ in value2:
                self._say(value1, plan, stage)
        return value1

    def _say(self, reports: dict[Key, Report], plan: str, stage: int) -> None:
        """A line for a stage whose tasks have all reported."""
        of_stage = [report for key, report in reports.items() if key[:2] == (plan, stage)]
        expected = of_stage[-1]["tasks"]
        if expected is None or len(of_stage) < expected:
            return
        line = stage_line(plan, stage, of_stage)
        log.info(line)
        context = self.session.sparkContext  # type: ignore[union-attr]
        context._jvm.org.slf4j.LoggerFactory.getLogger("spark_udfs").info(line)  # type: ignore[union-attr]


def stage_line(plan: str, stage: int, reports: list[Report]) -> str:
    total = {
        name: sum(report[name] for report in reports) for name in ("rows", "bytes", "rejects", "nulled", "spanning")
    }
    kernels = ", ".join(sorted({report["kernel"] for report in reports}))
    seconds = sum(report["seconds"] for report in reports)
    return (
        f"{plan}, stage {stage}: {len(reports)} tasks, {total['rows']} rows, {total['bytes']} bytes, {total['rejects']} rejects, "
        f"{total['nulled']} nulled, {total['spanning']} spanning records, kernel {kernels}, {seconds:.3f} s in tasks"
    )


class Reports:
    """Travels with a task; `accumulator` is None where there is none."""

    def __init__(self, plan: str, accumulator: Any) -> None:
        self.plan = plan
        self.accumulator = accumulator


_of_contexts: dict[str, Any] = {}  # application id: the accumulator of that context
_plan_count = 0


def _accumulator_of(spark: SparkSession) -> Any:
    if getattr(spark, "_jsc", None) is None:
        return None
    context = spark.sparkContext
    if context.applicationId not in _of_contexts:
        _of_contexts.clear()  # a process has one context at a time
        _of_contexts[context.applicationId] = context.accumulator({}, ReportsParam(spark))
    return _of_contexts[context.applicationId]


def reports_of(spark: SparkSession, what: str) -> Reports:
    """Where the tasks of one plan report."""
    global _plan_count
    _plan_count += 1
    return Reports(f"{_plan_count}: {what}", _accumulator_of(spark))


class Measure:
    """In a task: counts seconds, and reports at the end."""

    def __init__(self, reports: Reports | None, tasks: int | None = None) -> None:
        self.reports = reports
        self.tasks = tasks
        self.seconds = 0.0

    def timed(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches, with the time they take to come, not that Spark takes to carry them away."""
        while True:
            start = time.perf_counter()
            try:
                batch = next(batches)
            except StopIteration:
                return
            finally:
                self.seconds += time.perf_counter() - start
            yield batch

    def counted(self, counts: Iterable[Mapping[str, Any]]) -> Report:
        context = TaskContext.get()
        report: Report = {name: 0 for name in METRICS_SCHEMA.names if METRICS_SCHEMA.field(name).type == pa.int64()}
        report["plan"] = "" if self.reports is None else self.reports.plan
        if context is not None:
            report |= {"stage": context.stageId(), "task": context.partitionId(), "attempt": context.attemptNumber()}
        for one in counts:
            for name, count in one.items():
                if name in report and isinstance(count, int):
                    report[name] += count
        report["kernel"] = fm.active_kernel()
        report["seconds"] = self.seconds
        report["tasks"] = self.tasks
        return report

    def report(self, counts: Iterable[Mapping[str, Any]]) -> None:
        if self.reports is None or self.reports.accumulator is None or TaskContext.get() is None:
            return
        report = self.counted(counts)
        self.reports.accumulator.add({(report["plan"], report["stage"], report["task"]): report})


def metrics_batch(reports: Iterable[Report]) -> pa.RecordBatch:
    rows = [{name: report[name] for name in METRICS_SCHEMA.names} for report in reports]
    return pa.RecordBatch.from_pylist(rows, schema=METRICS_SCHEMA)


def metrics(spark: SparkSession) -> DataFrame:
    """What the tasks of this session's reads and parses have reported so far, one row a task that succeeded."""
    accumulator = _accumulator_of(spark)
    if accumulator is None:
        raise fm.OptionError(
            "spark: tasks cannot report to a Spark Connect client; su.measure(df) reads once more and counts"
        )
    return spark.createDataFrame(
        pa.Table.from_batches([metrics_batch(accumulator.value.values())]), struct_of(METRICS_SCHEMA)
    )
