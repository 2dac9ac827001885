"""A Spark job from raw chunks in random order to an aggregate, checked against Spark's own CSV reader and timed.

In: nothing but options; the data is made from a seed and kept in .demo/. Out: a report on standard output; exit code 1
if the two answers differ. Timings are of one warm run each, in one session, on the same bytes.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import dataset  # noqa: E402
from chunk_store import write_chunks  # noqa: E402
from java_home import JavaMissing, use_java  # noqa: E402  (tools/ is not a package)

COLUMNS = ["payment", "pickup_at", "passengers", "total"]
FILE_COUNT = 8


def say(text: str) -> None:
    print(text, flush=True)


def step(title: str) -> None:
    say(f"\n== {title}")


def timed(work: Callable[[], object]) -> tuple[object, float]:
    start = time.perf_counter()
    result = work()
    return result, time.perf_counter() - start


def make_data(folder: Path, megabytes: int, seed: int) -> tuple[Path, Path, int]:
    """CSV files and their chunks, made anew unless this size and seed are there already; and the number of rows."""
    made = folder / f"{megabytes}MB-seed{seed}"
    done = made / "rows"
    if not done.exists():
        shutil.rmtree(folder, ignore_errors=True)
        step(f"making {megabytes} MB of CSV (seed {seed})")
        rows = dataset.write_csv(made / "csv", megabytes=megabytes, file_count=FILE_COUNT, seed=seed, progress=say)
        step("cutting each file into chunks, in random order")
        chunk_count = write_chunks(made / "csv", made / "chunks", seed=seed, progress=say)
        say(f"{chunk_count} chunks")
        done.write_text(str(rows))
    return made / "csv", made / "chunks", int(done.read_text())


def start_spark(cores: int):
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
    step("starting Spark")
    say(f"Java: {use_java()}")
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    import spark_udfs as su

    builder = SparkSession.builder.master(f"local[{cores}]").appName("formatter demo")
    builder = builder.config("spark.ui.enabled", "false").config(
        "spark.ui.showConsoleProgress", str(sys.stderr.isatty()).lower()
    )
    builder = builder.config("spark.driver.memory", "3g").config("spark.log.level", "ERROR")
    builder = builder.config("spark.sql.shuffle.partitions", 2 * cores)
    # A Parquet file of chunks is one task's, never split: it holds one origin whole.
    builder = builder.config("spark.sql.files.minPartitionNum", FILE_COUNT)
    builder = builder.config("spark.sql.files.maxPartitionBytes", "4g")
    spark = su.configure(builder).getOrCreate()
    say(f"Spark {spark.version}, local[{cores}]")
    return spark


def summary(df):
    """The aggregate both sides compute; money in whole cents, so that it must agree to the last digit."""
    from pyspark.sql import functions as f

    cents = f.sum(f.round(f.col("total") * 100).cast("long"))
    by_payment = df.groupBy("payment").agg(
        f.count("*").alias("trips"),
        f.sum("passengers").alias("passengers"),
        cents.alias("cents"),
        f.max("pickup_at").alias("last_pickup"),
    )
    return by_payment.orderBy("payment")


def run(megabytes: int, seed: int, cores: int) -> bool:
    import formatter as fm

    csv_folder, chunk_folder, row_count = make_data(ROOT / ".demo", megabytes, seed)
    size = sum(path.stat().st_size for path in csv_folder.iterdir())
    spark = start_spark(cores)
    import spark_udfs as su

    format = fm.Csv(dataset.SCHEMA)
    udf = su.parse_udf(format, columns=COLUMNS)

    # Frames are built anew for every run: a frame that ran once would find its shuffles still there.
    def in_place():
        return summary(spark.read.parquet(str(chunk_folder)).mapInArrow(udf, udf.schema))

    def brought_together():
        chunks = spark.read.parquet(str(chunk_folder)).repartition("origin")
        return summary(chunks.mapInArrow(udf, udf.schema))

    def whole_files():
        reader = spark.read.schema(su.parse_udf(format).schema).option("escape", '"')
        return summary(reader.csv(str(csv_folder)).select(*COLUMNS))

    contestants = {
        "formatter, chunks shuffled inside a task": in_place,
        "formatter, chunks of all tasks, by a shuffle": brought_together,
        "spark.read.csv, whole files in order": whole_files,
    }
    step("warming up (each once, untimed)")
    for name, frame in contestants.items():
        _, seconds = timed(frame().collect)
        say(f"{name}: {seconds:.1f} s")

    step(f"timing: {row_count:,} rows, {size / 1e6:.0f} MB, {len(COLUMNS)} of {len(dataset.SCHEMA)} columns")
    answers, timings = [], []
    for name, frame in contestants.items():
        rows, seconds = timed(frame().collect)
        answers.append(rows)
        timings.append(seconds)
        say(f"{name:46} {seconds:6.2f} s {size / 1e6 / seconds:6.0f} MB/s {row_count / 1e6 / seconds:6.2f} M rows/s")
    say(f"spark.read.csv takes {timings[2] / timings[0]:.2f} and {timings[2] / timings[1]:.2f} times as long")
    say(f"kernel {fm.active_kernel()}")

    step("the plan")
    in_place().explain()
    spark.stop()  # before the verdict: what the workers have to say while they end is not the last thing to be read
    step("the answer")
    for row in answers[0]:
        say("  ".join(f"{name}={value}" for name, value in row.asDict().items()))
    same = all(answer == answers[0] for answer in answers) and sum(row.trips for row in answers[0]) == row_count
    say(f"all three agree on {row_count:,} rows" if same else f"DIFFERENT answers: {answers}")
    return same


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=250)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    try:
        same = run(options.megabytes, options.seed, options.cores)
    except JavaMissing as error:
        sys.exit(f"demo: {error}")
    say(f"demo: {time.perf_counter() - started:.0f} s in all")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
