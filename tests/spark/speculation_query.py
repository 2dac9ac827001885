"""Slow tasks get a speculative copy; what a sink commits must be the rows of a clean run. Run by test_speculation.py.

Usage: speculation_query.py FOLDER. A line for each way of reading: its name, `same` or what differs, and how many speculative
copies Spark's event log has for it. Slow are first attempts of one task of each stage (slow_tasks.py): by a file
system in su.read, by a step before and behind su.parse and su.parse_stream.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "src"), str(ROOT), str(Path(__file__).parent)]

import pyarrow as pa  # noqa: E402
from java_home import use_java  # noqa: E402  (tools/ is not a package)
from slow_tasks import SlowFiles, slowly  # noqa: E402

ROWS = 1_800
SPECULATION = {
    "spark.speculation": "true",
    "spark.speculation.interval": "100ms",
    "spark.speculation.multiplier": "1.1",
    "spark.speculation.quantile": "0.25",
    "spark.speculation.minTaskRuntime": "100ms",
    "spark.speculation.efficiency.enabled": "false",
}


def write_input(folder: Path) -> list[tuple[int, str]]:
    rows = [(n, f"text\n{n}") for n in range(ROWS)]
    (folder / "in").mkdir()
    for number in range(6):
        mine = rows[number * 300 : (number + 1) * 300]
        (folder / "in" / f"{number}.csv").write_text("".join(f'{n},"{text}"\n' for n, text in mine))
    return rows


def copies(folder: Path) -> dict[str, int]:
    """Speculative attempts by the description of their jobs."""
    stages: dict[int, str] = {}
    found: dict[str, int] = {}
    for log in (folder / "events").iterdir():
        for line in log.read_text().splitlines():
            event = json.loads(line)
            if event["Event"] == "SparkListenerJobStart":
                name = event["Properties"].get("spark.job.description", "").splitlines()[:1]
                stages |= {stage: "".join(name) for stage in event["Stage IDs"]}
            elif event["Event"] == "SparkListenerTaskStart" and event["Task Info"]["Speculative"]:
                name = stages.get(event["Stage ID"], "")
                found[name] = found.get(name, 0) + 1
    return found


def main(folder: Path) -> None:
    use_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["PYTHONPATH"] = os.pathsep.join(map(str, (ROOT / "src", ROOT, Path(__file__).parent)))
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    from pyspark.sql import SparkSession
    from two_hosts import two_hosts

    import formatter as fm
    import spark_udfs as su
    from spark_udfs.files import read as planning
    from spark_udfs.files import split_starts

    planning.GRID_BYTES = split_starts.GRID_BYTES = 2_000  # so that small files have many splits
    planning.FILE_COST_BYTES = 0
    expected = write_input(folder)
    (folder / "events").mkdir()
    format = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
    with two_hosts(folder) as url:
        builder = SparkSession.builder.master(url).config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
        builder = builder.config("spark.executor.memory", "512m").config("spark.ui.showConsoleProgress", "false")
        builder = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.host", "127.0.0.1")
        builder = builder.config("spark.sql.adaptive.coalescePartitions.enabled", "false")
        builder = builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.compress", "false")
        builder = builder.config("spark.eventLog.rolling.enabled", "false")
        builder = builder.config("spark.eventLog.dir", (folder / "events").as_uri())
        for name, value in SPECULATION.items():
            builder = builder.config(name, value)
        spark = su.configure(builder).getOrCreate()
        verdicts = {}

        def check(name, out):
            got = sorted(map(tuple, spark.read.parquet(str(out)).select("id", "text").collect()))
            verdicts[name] = "same" if got == expected else f"{len(got)} rows, expected {len(expected)}"

        def write(name, df):
            started = time.monotonic()
            spark.sparkContext.setJobDescription(name)
            df.write.parquet(str(folder / name))
            print(f"{name}: written in {time.monotonic() - started:.1f} s", flush=True)
            spark.sparkContext.setJobDescription(None)
            check(name, folder / name)

        write("read", su.read(spark, str(folder / "in"), format, filesystem=SlowFiles(), split_bytes=4_000))
        reported = sum(row.rows for row in su.metrics(spark).collect())
        verdicts["metrics"] = "same" if reported == ROWS else f"{reported} rows reported, expected {ROWS}"
        chunks = su.read_chunks(spark, str(folder / "in"), chunk_bytes=500)
        chunks = chunks.repartition(6, "sequence").mapInArrow(slowly, chunks.schema)
        for stitch in ("origin", "global", "auto"):
            parsed = su.parse(chunks, format, stitch=stitch)
            write(stitch, parsed.mapInArrow(slowly, parsed.schema))
        whole = su.read_chunks(spark, str(folder / "in"), chunk_bytes=1 << 20).repartition(6, "origin")
        parsed = su.parse(whole.mapInArrow(slowly, whole.schema), format, stitch="none")
        write("none", parsed.mapInArrow(slowly, parsed.schema))
        su.register_chunks(spark)
        stream = spark.readStream.format("formatter_chunks").option("layout", "whole").option("chunkBytes", "500")
        arriving = stream.option("maxBytesPerTrigger", "20000").load(str(folder / "in"))
        spread = arriving.repartition(6, "sequence").mapInArrow(slowly, arriving.schema)
        rows = su.parse_stream(spread, format, last_sequence="last_sequence")
        rows = rows.mapInArrow(slowly, rows.schema)
        writer = rows.writeStream.option("checkpointLocation", str(folder / "state")).trigger(availableNow=True)
        query = writer.queryName("stream").start(str(folder / "stream"))
        query.awaitTermination()
        check("stream", folder / "stream")
        spark.stop()
    ran = copies(folder)
    for name, verdict in verdicts.items():
        print(name, verdict, ran.get(name, 0), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
