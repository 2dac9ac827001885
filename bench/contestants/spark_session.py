"""What contestants in Spark have in common: a session of their own process, sinks, payloads, answers hashed by Spark.

In: BENCH_MASTER for another master than local[threads]. Out: frames written nowhere, Answers.
Refuses to know: whose frames they are.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Prepared, Task

ROOT = Path(__file__).resolve().parents[2]
Frame = Callable[[], Any]


def session(threads: int, ours: bool, attached: bool = True) -> Any:
    """The process's own; made when first asked for. Ours has pushdown attached, unless that is part of what is timed."""
    sys.path.insert(0, str(ROOT / "tools"))
    from java_home import use_java

    use_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    master = os.environ.get("BENCH_MASTER", f"local[{threads}]")
    builder = SparkSession.builder.master(master).appName("bench").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.executor.memory", "1g")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    if ours:
        import spark_udfs as su

        builder = su.configure(builder)
    spark = builder.getOrCreate()
    if ours and attached:
        su.enable_pushdown(spark)
    return spark


def written(spark: Any, frame: Frame, task: Task, drop: tuple[str, ...] = (), once: Frame | None = None) -> Prepared:
    """Every value of the frame is made and thrown away; or its rows are counted."""

    def run() -> int | None:
        if task.options.get("count"):
            return int(frame().count())
        frame().write.format("noop").mode("overwrite").save()
        return None

    def answer(counted: int | None) -> Answer:
        if counted is not None:
            return Answer(counted)
        if task.options.get("sample"):
            return answer_of(frame().drop(*drop).toArrow(), ordered=False)
        if task.options.get("rows"):
            return Answer(int(frame().count()))
        return fingerprint(frame())

    return Prepared(run, answer, finish=spark.catalog.clearCache, once=once)


def fingerprint(df: Any) -> Answer:
    """Count and a hash of all values that does not depend on the order of rows; of variants their text is hashed."""
    from pyspark.sql import functions as f

    def hashed(name: str, kind: str) -> Any:
        return f.to_json(f.col(f"`{name}`")) if kind == "variant" else f.col(f"`{name}`")

    hashes = f.sum(f.xxhash64(*(hashed(name, kind) for name, kind in df.dtypes)).cast("decimal(38,0)"))
    rows, mixed = df.agg(f.count("*"), hashes).collect()[0]
    return Answer(rows, {"all": int(mixed or 0)}, int(mixed or 0), None, "spark")


def payloads(spark: Any, task: Task) -> Any:
    """Rows (key, value) in memory, two partitions: a record a value."""
    lines = task.input.data.decode().splitlines()
    table = pa.table({"key": pa.array(range(len(lines)), pa.int64()), "value": pa.array(lines, pa.string())})
    df = spark.createDataFrame(table).repartition(2).cache()
    df.count()
    return df
