"""`python -m bench.spark_bench`: su.read beside Spark's own readers and beside what mapInArrow can carry.

In: sizes, repeats, which points. Out: a table of ratios against the targets, a record under bench/results. One session of
local[2], one file a workload, everything warm; contestants take turns and the best turn of each counts. Before anything is
timed, counts and a hash of all rows must agree.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.facts import machine_facts
from bench.spark_workloads import MIXED_CSV, MIXED_JSON, QUOTED_CSV, SparkWorkload

ROOT = Path(__file__).resolve().parents[1]
CORES = 2
Frame = Callable[[], Any]


@dataclass
class Turns:
    """Seconds of each contestant, turn by turn."""

    seconds: dict[str, list[float]] = field(default_factory=dict)

    def take(self, contestants: dict[str, Callable[[], object]], repeats: int) -> Turns:
        for turn in range(repeats + 1):
            for name, work in contestants.items():
                start = time.perf_counter()
                work()
                if turn:  # the first warms up
                    self.seconds.setdefault(name, []).append(time.perf_counter() - start)
        return self

    def best(self, name: str) -> float:
        return min(self.seconds[name])


def start_spark(cores: int = CORES) -> Any:
    sys.path.insert(0, str(ROOT / "tools"))
    from java_home import use_java

    use_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    import spark_udfs as su

    builder = SparkSession.builder.master(f"local[{cores}]").appName("formatter bench")
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.memory", "3g")
    builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.log.level", "ERROR")
    return su.configure(builder).getOrCreate()


def write_nowhere(frame: Frame) -> Callable[[], object]:
    return lambda: frame().write.format("noop").mode("overwrite").save()


def fingerprint(df: Any) -> Any:
    """Count and a hash of all values that does not depend on the order of rows."""
    from pyspark.sql import functions as f

    hashes = f.sum(f.xxhash64(*(f.col(name) for name in df.columns)).cast("decimal(38,0)"))
    return df.agg(f.count("*"), hashes).collect()[0]


def require_same(frames: dict[str, Frame]) -> int:
    """Rows, the same from every contestant, or an error that names who differs."""
    found = {name: fingerprint(frame()) for name, frame in frames.items()}
    if len({tuple(row) for row in found.values()}) != 1:
        raise SystemExit(f"answers differ: {found}")
    return int(next(iter(found.values()))[0])


class ReadyBatches:
    """In a task: one batch, made before, as often as the rows of a share of the file want it."""

    __name__ = "formatter.ready"  # so that it runs by the same operator as ours, direct rows where they are on

    def __init__(self, batch: pa.RecordBatch, rows: int) -> None:
        self.batch = batch
        self.rows = rows

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for _ in range(batch.num_rows):
                left = self.rows
                while left > 0:
                    yield self.batch.slice(0, min(left, self.batch.num_rows))
                    left -= self.batch.num_rows


def ready_batches(spark: Any, df: Any, format: Any, path: Path, columns: tuple[str, ...], rows: int) -> Frame:
    """The same rows' worth of ready batches, in as many tasks."""
    import formatter as fm
    from spark_udfs.types.spark_types import SparkColumns

    first = next(iter(fm.open(path, format, columns=list(columns), threads=1)))
    batch = SparkColumns.of(first.schema).convert(first).slice(0, 8_192)
    tasks = df.rdd.getNumPartitions()
    task = ReadyBatches(batch, -(-rows // tasks))
    return lambda: spark.range(0, tasks, 1, tasks).mapInArrow(task, df.schema)


def format_of(workload: SparkWorkload) -> Any:
    import formatter as fm

    return fm.Csv(workload.schema) if workload.kind == "csv" else fm.Json(workload.schema)


def sparks_own(spark: Any, workload: SparkWorkload, path: Path, columns: tuple[str, ...]) -> Frame:
    from spark_udfs.types.spark_types import SparkColumns

    reader = spark.read.schema(SparkColumns.of(workload.schema).struct)
    if workload.kind == "json":
        return lambda: reader.option("timestampNTZFormat", "yyyy-MM-dd HH:mm:ss").json(str(path)).select(*columns)
    reader = reader.option("escape", '"').option("timestampNTZFormat", "yyyy-MM-dd HH:mm:ss")
    if workload is QUOTED_CSV:
        reader = reader.option("multiLine", True)
    return lambda: reader.csv(str(path)).select(*columns)


def race(spark: Any, workload: SparkWorkload, path: Path, columns: tuple[str, ...], repeats: int) -> dict[str, Any]:
    """Ours, Spark's, ready batches and native, on one projection of one file."""
    import formatter as fm
    import spark_udfs as su

    format = format_of(workload)
    ours = lambda: su.read(spark, path, format, columns=list(columns))  # noqa: E731
    theirs = sparks_own(spark, workload, path, columns)
    rows = require_same({"su.read": ours, "spark.read": theirs})
    ready = ready_batches(spark, ours(), format, path, columns, rows)

    def native() -> None:
        for _ in fm.open(path, format, columns=list(columns), threads=CORES):
            pass

    contestants = {"su.read": write_nowhere(ours), "ready": write_nowhere(ready), "native": native}
    turns = Turns().take(contestants, repeats)
    turns.take({"su.read": write_nowhere(ours), "spark.read": write_nowhere(theirs)}, max(1, repeats // 3))
    size = path.stat().st_size
    seconds = {name: turns.best(name) for name in turns.seconds}
    slower = max(seconds["ready"], seconds["native"])
    return {
        "bytes": size,
        "rows": rows,
        "seconds": {name: round(value, 4) for name, value in seconds.items()},
        "su.read MB/s": round(size / seconds["su.read"] / 1e6),
        "times spark.read": round(seconds["spark.read"] / seconds["su.read"], 2),
        "of the ceiling": round(slower / seconds["su.read"], 3),
    }


POINTS: dict[str, tuple[SparkWorkload, bool, float]] = {  # name: (workload, few columns, times Spark's reader wanted)
    "csv, 20 columns": (MIXED_CSV, False, 5.0),
    "csv, 3 of 20": (MIXED_CSV, True, 7.0),
    "json, 20 columns": (MIXED_JSON, False, 4.0),
    "json, 3 of 20": (MIXED_JSON, True, 6.0),
    "quoted csv over lines": (QUOTED_CSV, False, 8.0),
}
CEILING_SHARE = 0.85


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--quoted-megabytes", type=int, default=200, help="500 is the size the target is stated for")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--points", nargs="*", default=list(POINTS), choices=list(POINTS))
    parser.add_argument("--folder", type=Path, default=ROOT / ".demo" / "spark_bench")
    parser.add_argument("--no-record", action="store_true")
    options = parser.parse_args()
    spark = start_spark()
    results = {}
    print(f"{'':24}{'MB/s':>7}{'x Spark':>9}{'wanted':>8}{'ceiling':>9}{'wanted':>8}   seconds", flush=True)
    for name in options.points:
        workload, few, wanted = POINTS[name]
        megabytes = options.quoted_megabytes if workload is QUOTED_CSV else options.megabytes
        path = workload.file(options.folder, megabytes)
        columns = workload.few if few else tuple(workload.schema.names)
        result = results[name] = race(spark, workload, path, columns, options.repeats)
        print(
            f"{name:24}{result['su.read MB/s']:7}{result['times spark.read']:9}{wanted:8}"
            f"{result['of the ceiling']:9}{CEILING_SHARE:8}   {result['seconds']}",
            flush=True,
        )
    spark.stop()
    if not options.no_record:
        record = {"machine": machine_facts(), "points": results}
        target = ROOT / "bench" / "results" / platform.machine() / f"{time.strftime('%Y-%m-%d')}-spark.json"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
