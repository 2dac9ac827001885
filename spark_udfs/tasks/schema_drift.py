"""What tasks notice of a schema that its data has outgrown, on its way to the driver's fm.SchemaWatch.

In: rows as a task yields them, with their column of what was rescued. Out: the same rows; the few rescued texts that showed
something new travel by an accumulator, and the watch on the driver replays them, so that its state is written when a task has
ended, before its micro-batch is committed. Refuses to know: how rows are parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
from pyspark import AccumulatorParam, TaskContext
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

import formatter as fm
from formatter.plans import rescue_of

Steps = list[tuple[str, str]]
WATCHED = "formatter.watched"  # a task of this name is left as it is by pushdown: who watches looks at every column
LOOK_AROUND_S = 1


class StepsParam(AccumulatorParam[Steps]):
    """On the driver it has the watch; in a task it has none."""

    def __init__(self, watch: fm.SchemaWatch | None) -> None:
        self.watch = watch

    def __getstate__(self) -> dict[str, Any]:
        return {"watch": None}

    def zero(self, value: Steps) -> Steps:
        return []

    def addInPlace(self, value1: Steps, value2: Steps) -> Steps:
        if self.watch is None:
            return value1 + value2
        with suppress(fm.DriftError):  # the task that noticed has raised it
            self.watch.replay(value2)
        return []


class DriftReports:
    """Travels with a task."""

    def __init__(self, spark: SparkSession, watch: fm.SchemaWatch) -> None:
        if getattr(spark, "_jsc", None) is None:
            raise fm.OptionError("spark: evolve= needs the driver's own session, not one of Spark Connect")
        self.format = watch.format
        self.table, self.fails = watch.table, watch.policy == "fail"
        self._steps = spark.sparkContext.accumulator([], StepsParam(watch))

    def watched(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        policy: Any = "fail" if self.fails else "rescue"
        watch = fm.SchemaWatch(self.format, policy=policy, table=self.table)
        context = TaskContext.get()
        place = f"stage {context.stageId()}, partition {context.partitionId()}" if context else ""
        for batch in rows:
            watch.observe(batch.column(batch.schema.get_field_index(str(rescue_of(self.format)))), place=place)
            yield batch
        if steps := watch.take_steps():
            self._steps.add(steps)


def watch_with(spark: SparkSession, task: Any, watch: fm.SchemaWatch, columns: Any) -> None:
    """The task tells the watch of what it meets."""
    if columns is not None and rescue_of(task.format) not in columns:
        raise fm.OptionError(f"spark: evolve= looks at {rescue_of(task.format)!r}: name it in columns=")
    task.drift = DriftReports(spark, watch)
    task.__name__ = WATCHED


def evolving_format(format: Any, watch: Any) -> Any:
    """That of the watch, which began with the one that was given or has grown out of it."""
    if not isinstance(watch, fm.SchemaWatch):
        raise fm.OptionError(f"spark: evolve is a fm.SchemaWatch, found {type(watch).__name__}")
    known = watch.format
    if type(format) is not type(known) or not set(format.schema.names) <= set(known.schema.names):
        raise fm.OptionError("spark: evolve= watches another format: give the one that it was made with")
    return known


def run_evolving(start: Callable[[], StreamingQuery], watch: fm.SchemaWatch) -> StreamingQuery:
    """Runs a streaming query to its end, and starts it anew from its checkpoint when its schema has grown (policy "add").

    Args:
        start: Makes and starts the query, with `su.parse(..., evolve=watch)` and a checkpointLocation.
        watch: What it is parsed with. The query is started anew at most once for each of its changes.

    Returns:
        The query that has ended.

    Raises:
        StreamingQueryException: The query has failed, with `fm.DriftError`'s DDL under the policy "fail".

    Example:
        >>> import formatter as fm, pyarrow as pa, spark_udfs as su
        >>> watch = fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int64())])), policy="add")
        >>> rates = spark.readStream.format("rate").load().selectExpr("'{\\"new\\": 1}' AS value").limit(0)
        >>> parsed = lambda: su.parse(rates, watch.format, payload="value", unit="record", error=None, evolve=watch)
        >>> start = lambda: parsed().writeStream.format("noop").trigger(availableNow=True).start()
        >>> su.run_evolving(start, watch).isActive
        False
    """
    while True:
        version = watch.version
        query = start()
        while not query.awaitTermination(LOOK_AROUND_S):
            if watch.policy == "add" and watch.version != version:
                query.stop()
                break
        else:
            return query
