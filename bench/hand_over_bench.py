"""What the bridge between parsing and Spark costs or saves in a task, against yielding batches directly.

Load: MB megabytes of CSV (spark_stitch_bench.py), aligned chunks of 16 KiB and 1 MiB, cached by Spark; noop writes of both
ways in turn, ROUNDS times; minimum and median. Usage: python -m bench.hand_over_bench [MB] [--rounds N] [--slots N]
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.spark_stitch_bench import ROOT, SCHEMA, aligned, frame, text_of, use_java

CHUNK_BYTES = (16 << 10, 1 << 20)


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("megabytes", type=float, nargs="?", default=100)
    options.add_argument("--rounds", type=int, default=6)
    options.add_argument("--slots", type=int, default=2)
    asked = options.parse_args()
    print(f"Java: {use_java()}")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = f"{ROOT / 'src'}:{ROOT}"
    from pyspark.sql import SparkSession

    import formatter as fm
    import spark_udfs as su
    from spark_udfs.chunks.chunk_rows import ChunkColumns
    from spark_udfs.chunks.parse_task import ParseRun, ParseTask

    builder = SparkSession.builder.master(f"local[{asked.slots}]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.ui.showConsoleProgress", "false")
    spark = su.configure(builder.config("spark.log.level", "ERROR")).getOrCreate()
    content, ends = text_of(asked.megabytes, True)
    task = ParseTask(
        fm.Csv(SCHEMA), ChunkColumns(), columns=None, filters=None, on_error="raise", keep=None, arrival="aligned"
    )
    ways = {"direct": ParseRun(task).rows, "bridge": task}
    times: dict[tuple[int, str], list[float]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        frames = {
            size: frame(spark, aligned(content, ends, size), 1, 8, Path(temporary, str(size)), "cache")
            for size in CHUNK_BYTES
        }
        for _ in range(asked.rounds):
            for size, chunks in frames.items():
                for name, way in ways.items():
                    parsed = chunks.mapInArrow(way, task.schema)
                    start = time.perf_counter()
                    parsed.write.format("noop").mode("overwrite").save()
                    times.setdefault((size, name), []).append(time.perf_counter() - start)
        for size, chunks in frames.items():
            counts = {name: chunks.mapInArrow(way, task.schema).count() for name, way in ways.items()}
            if set(counts.values()) != {len(ends)}:
                print(f"chunks of {size}: {counts}, expected {len(ends)} rows")
                return 1
    for (size, name), taken in times.items():
        print(f"chunks of {size:8} {name:8} min {min(taken):7.3f} s   median {statistics.median(taken):7.3f} s")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
