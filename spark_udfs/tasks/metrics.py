"""What tasks did, as a person sees it: lines in the driver's log, and a DataFrame.

In: counts of tasks. Out: one report a task: rows, bytes, rejects, spanning records, kernel, seconds. On classic Spark they
come to the driver by an accumulator, at the end of each task that succeeds; a task run twice is reported once. A Connect
client has no accumulators: there su.measure(df) reads once more and counts. Knows nothing of formats.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark import AccumulatorParam, TaskContext
from pyspark.sql import DataFrame, SparkSession

import formatter as fm
from spark_udfs.types.spark_types import struct_of

log = logging.getLogger("spark_udfs")

COUNTS = ("bytes", "records", "rows", "filtered", "rejects", "nulled", "spanning")
METRICS_SCHEMA = pa.schema(
    [("plan", pa.string()), *((name, pa.int64()) for name in ("stage", "task", "attempt", *COUNTS)), ("kernel", pa.string()),
     ("seconds", pa.float64())]
)  # fmt: skip
REPORTS_KEPT = 100_000  # the oldest stages are forgotten

Report = dict[str, Any]
# By query and stage, by task: a later attempt takes the place of an earlier one.
Reported = dict[tuple[str, int], dict[int, Report]]


class ReportsParam(AccumulatorParam[Reported]):
    """On the driver it has the session, to log a line for each stage whose tasks have all reported; in a task it has none."""

    def __init__(self, session: SparkSession | None = None) -> None:
        self.session = session

    def __getstate__(self) -> dict[str, Any]:
        return {"session": None}

    def zero(self, value: Reported) -> Reported:
        return {}

    def addInPlace(self, value1: Reported, value2: Reported) -> Reported:
        while sum(map(len, value1.values())) > REPORTS_KEPT:
            value1.pop(next(iter(value1)))
        for (query, stage), reports in value2.items():
            of_stage = value1.setdefault((query, stage), {})
            of_stage.update(reports)
            expected = next(iter(reports.values()))["tasks"]
            if self.session is not None and expected is not None and len(of_stage) >= expected:
                line = stage_line(query, stage, list(of_stage.values()))
                is_bad = any(report["rejects"] or report["nulled"] for report in of_stage.values())
                driver_log = self.session.sparkContext._jvm.org.slf4j.LoggerFactory.getLogger(log.name)  # type: ignore[union-attr]
                (log.warning if is_bad else log.info)(line)
                (driver_log.warn if is_bad else driver_log.info)(line)
        return value1


def stage_line(query: str, stage: int, reports: list[Report]) -> str:
    total = {name: sum(report[name] for report in reports) for name in (*COUNTS, "seconds")}
    kernels = ", ".join(sorted({report["kernel"] for report in reports}))
    return (
        f"{query}, stage {stage}: {len(reports)} tasks, {total['rows']} rows, {total['bytes']} bytes, {total['rejects']} rejects, "
        f"{total['nulled']} nulled, {total['spanning']} spanning records, kernel {kernels}, {total['seconds']:.3f} s in tasks"
    )


class Reports(NamedTuple):
    """Travels with a task; `accumulator` is None where there is none."""

    query: str  # its number and what it does; the column `plan` of su.metrics
    accumulator: Any


_of_contexts: dict[str, Any] = {}  # application id: the accumulator of that context
_query_count = 0


def _accumulator_of(spark: SparkSession) -> Any:
    if getattr(spark, "_jsc", None) is None:
        return None
    context = spark.sparkContext
    if context.applicationId not in _of_contexts:
        _of_contexts.clear()  # a process has one context at a time
        _of_contexts[context.applicationId] = context.accumulator({}, ReportsParam(spark))
    return _of_contexts[context.applicationId]


def reports_of(spark: SparkSession, what: str) -> Reports:
    """Where the tasks of one query report."""
    global _query_count
    _query_count += 1
    return Reports(f"{_query_count}: {what}", _accumulator_of(spark))


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
        report: Report = dict.fromkeys(("stage", "task", "attempt", *COUNTS), 0)
        report |= {"plan": "" if self.reports is None else self.reports.query, "tasks": self.tasks}
        if context is not None:
            report |= {"stage": context.stageId(), "task": context.partitionId(), "attempt": context.attemptNumber()}
        for one in counts:
            for name, count in one.items():
                if name in report and isinstance(count, int):
                    report[name] += count
        return report | {"kernel": fm.active_kernel(), "seconds": self.seconds}

    def report(self, counts: Iterable[Mapping[str, Any]]) -> None:
        if self.reports is None or self.reports.accumulator is None or TaskContext.get() is None:
            return
        report = self.counted(counts)
        self.reports.accumulator.add({(report["plan"], report["stage"]): {report["task"]: report}})


def metrics_batch(reports: Iterable[Report]) -> pa.RecordBatch:
    rows = [{name: report[name] for name in METRICS_SCHEMA.names} for report in reports]
    return pa.RecordBatch.from_pylist(rows, schema=METRICS_SCHEMA)


def metrics(spark: SparkSession) -> DataFrame:
    """What the tasks of this session's reads and parses have reported so far.

    Args:
        spark: The session.

    Returns:
        A DataFrame of one row a task that succeeded: which query, its counts.

    Raises:
        OptionError: A session without a JVM (Spark Connect): use `su.measure`.

    Example:
        >>> import spark_udfs as su
        >>> "rows" in su.metrics(spark).columns
        True
    """
    accumulator = _accumulator_of(spark)
    if accumulator is None:
        raise fm.OptionError(
            "spark: tasks cannot report to a Spark Connect client; su.measure(df) reads once more and counts"
        )
    found = (report for of_stage in accumulator.value.values() for report in of_stage.values())
    return spark.createDataFrame(pa.Table.from_batches([metrics_batch(found)]), struct_of(METRICS_SCHEMA))
