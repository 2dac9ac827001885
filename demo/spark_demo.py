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

COLUMNS = ["payment", "pickup_at", "distance_km", "total"]


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
        rows = dataset.write_csv(made / "csv", megabytes=megabytes, file_count=8, seed=seed, progress=say)
        step("cutting it into chunks, in random order")
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
    spark = su.configure(builder).getOrCreate()
    say(f"Spark {spark.version}, local[{cores}]")
    return spark


def summary(df):
    """The aggregate both sides compute; money in whole cents, so that it must agree to the last digit."""
    from pyspark.sql import functions as f

    cents = f.sum(f.round(f.col("total") * 100).cast("long"))
    metres = f.sum(f.round(f.col("distance_km") * 1000).cast("long"))
    by_payment = df.groupBy("payment").agg(
        f.count("*").alias("trips"), cents.alias("cents"), metres.alias("metres"), f.max("pickup_at").alias("last")
    )
    return by_payment.orderBy("payment")


def run(megabytes: int, seed: int, cores: int) -> bool:
    import formatter as fm

    csv_folder, chunk_folder, row_count = make_data(ROOT / ".demo", megabytes, seed)
    size = sum(path.stat().st_size for path in csv_folder.iterdir())
    spark = start_spark(cores)
    import spark_udfs as su

    format = fm.Csv(dataset.SCHEMA)

    # Frames are built anew for every run: a frame that ran once would find its shuffles still there.
    def ours():
        udf = su.parse_udf(format, columns=COLUMNS)
        chunks = spark.read.parquet(str(chunk_folder))
        # Chunks of one origin meet in one task; inside it, they may come in any order.
        return summary(chunks.repartition("origin").mapInArrow(udf, udf.schema))

    def theirs():
        reader = spark.read.schema(su.parse_udf(format).schema).option("escape", '"')
        return summary(reader.csv(str(csv_folder)).select(*COLUMNS))

    step("warming up (both once, untimed)")
    for name, frame in (("formatter", ours), ("spark.read.csv", theirs)):
        _, seconds = timed(frame().collect)
        say(f"{name}: {seconds:.1f} s")

    step(f"timing: {row_count:,} rows, {size / 1e6:.0f} MB, {len(COLUMNS)} of {len(dataset.SCHEMA)} columns")
    our_rows, our_seconds = timed(ours().collect)
    their_rows, their_seconds = timed(theirs().collect)
    contestants = [
        ("formatter, from shuffled chunks", our_seconds),
        ("spark.read.csv, from whole files", their_seconds),
    ]
    for name, seconds in contestants:
        say(f"{name:34} {seconds:6.2f} s {size / 1e6 / seconds:7.0f} MB/s {row_count / 1e6 / seconds:7.2f} M rows/s")
    say(f"ratio {their_seconds / our_seconds:.2f}, kernel {fm.active_kernel()}")

    step("the plan")
    ours().explain()
    step("the answer")
    for row in our_rows:
        say("  ".join(f"{name}={value}" for name, value in row.asDict().items()))
    same = our_rows == their_rows and sum(row.trips for row in our_rows) == row_count
    say(f"both agree on all {row_count:,} rows" if same else f"DIFFERENT: spark.read.csv says {their_rows}")
    spark.stop()
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
