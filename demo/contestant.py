"""A contestant of an act, in a process and a session of its own.

In: the act, who it is, the folder with the data, cores, when it was started; then a line on standard input for each further run.
Out: a line of JSON for each run on standard output: seconds and the answer, of the first one also the seconds since the process
and since the session began.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import dataset  # noqa: E402
from java_home import use_java  # noqa: E402  (tools/ is not a package)

OURS, SPARKS = "formatter", "Spark"


def start_spark(cores: int, *, ours: bool) -> Any:
    use_java()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(f"local[{cores}]").appName("formatter demo")
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.memory", "3g").config("spark.sql.shuffle.partitions", 2 * cores)
    builder = builder.config("spark.log.level", "ERROR")
    if not ours:
        return builder.getOrCreate()
    import spark_udfs as su

    return su.configure(builder).getOrCreate()


def summary(df: Any) -> Any:
    """What all contestants compute: a few columns of many, by groups."""
    from pyspark.sql import functions as f

    by_payment = df.groupBy("payment").agg(
        f.count("*").alias("trips"),
        f.sum("passengers").alias("passengers"),
        f.sum("total").alias("total"),
        f.max("pickup_at").alias("last_pickup"),
    )
    return by_payment.orderBy("payment")


def formatters(spark: Any, act: str, made: dataset.Made) -> Any:
    import formatter as fm
    import spark_udfs as su

    csv, records = fm.Csv(dataset.SCHEMA), fm.Json(dataset.SCHEMA)
    if act == "file":
        return su.read(spark, made.file, csv)
    if act == "chunks":
        return su.parse(spark.read.parquet(str(made.chunks)), csv, stitch="global")
    return su.parse(spark.read.parquet(str(made.records)), records, payload="value", unit="record", error=None)


def sparks(spark: Any, act: str, made: dataset.Made) -> Any:
    from pyspark.sql import functions as f

    if act == "file":
        quoted = {"multiLine": True, "escape": '"'}
        return spark.read.schema(dataset.DDL).options(**quoted).csv(str(made.file))
    if (
        act == "chunks"
    ):  # every origin's chunks collected in one row, sorted, put together, cut into lines, parsed line by line
        chunks = f.sort_array(f.collect_list(f.struct("sequence", "payload")))
        whole = spark.read.parquet(str(made.chunks)).groupBy("origin").agg(chunks.alias("chunks"))
        text = f.array_join(f.transform("chunks", lambda chunk: chunk["payload"].cast("string")), "")
        lines = whole.select(f.explode(f.split(text, "\n")).alias("line")).where("line <> ''")
        return lines.select(f.from_csv("line", dataset.DDL, {"escape": '"'}).alias("v")).select("v.*")
    return spark.read.parquet(str(made.records)).select(f.from_json("value", dataset.DDL).alias("v")).select("v.*")


def main() -> None:
    act, who, folder, cores, began = sys.argv[1:]
    ours = who == OURS
    spark = start_spark(int(cores), ours=ours)
    session = time.time()
    if ours:
        import spark_udfs as su

        su.enable_pushdown(spark)
    frame: Callable[..., Any] = formatters if ours else sparks
    since: dict[str, float] = {}
    while True:
        start = time.time()
        answer = summary(frame(spark, act, dataset.Made(Path(folder)))).collect()
        end = time.time()
        since = {} if since else {"script": end - float(began), "first": end - session}
        told = {
            "answer": [list(map(str, row)) for row in answer],
            "warm": end - start,
            "version": spark.version,
            **since,
        }
        print(json.dumps(told), flush=True)
        if not sys.stdin.readline():
            break
    spark.stop()


if __name__ == "__main__":
    main()
