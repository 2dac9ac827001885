"""Three things raw data does to Spark, each done twice: by formatter, and by what Spark itself has for it.

In: nothing but options; the data is made from a seed and kept in .demo/. Out: bars in the terminal, .demo/report.html, and
exit code 1 if any two answers differ. Answers are checked before anything is said of time. Every contestant runs twice, in
turns, in one session: the first run of each is cold (code is generated and workers are warmed), the second is warm.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import dataset  # noqa: E402
from java_home import JavaMissing, use_java  # noqa: E402  (tools/ is not a package)
from report import bars, html  # noqa: E402

FOLDER = ROOT / ".demo"


@dataclass
class Contestant:
    name: str
    frame: Callable[[], Any]
    seconds: list[float] = field(default_factory=list)  # cold, then warm
    answer: Any = None


@dataclass
class Act:
    title: str
    what: str
    megabytes: float
    contestants: list[Contestant]

    @property
    def agrees(self) -> bool:
        return all(one.answer == self.contestants[0].answer for one in self.contestants)


def say(text: str = "") -> None:
    print(text, flush=True)


def start_spark(cores: int) -> Any:
    java = use_java()
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    from pyspark.sql import SparkSession

    import spark_udfs as su

    builder = (
        SparkSession.builder.master(f"local[{cores}]").appName("formatter demo").config("spark.log.level", "ERROR")
    )
    builder = builder.config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
    builder = builder.config("spark.driver.memory", "4g").config("spark.sql.shuffle.partitions", 2 * cores)
    spark = su.configure(builder).getOrCreate()
    su.enable_pushdown(spark)
    say(f"Spark {spark.version} on {java}, local[{cores}]")
    return spark


def summary(df: Any) -> Any:
    """What all contestants compute: few columns of many; money in whole cents, so that it must agree to the last digit."""
    from pyspark.sql import functions as f

    by_payment = df.groupBy("payment").agg(
        f.count("*").alias("trips"),
        f.sum("passengers").alias("passengers"),
        f.sum(f.round(f.col("total") * 100).cast("long")).alias("cents"),
        f.max("pickup_at").alias("last_pickup"),
    )
    return by_payment.orderBy("payment")


def acts(spark: Any, made: dataset.Made) -> list[Act]:
    from pyspark.sql import functions as f

    import formatter as fm
    import spark_udfs as su

    schema = su.parse_udf(fm.Csv(dataset.SCHEMA)).schema
    csv, json = fm.Csv(dataset.SCHEMA), fm.Json(dataset.SCHEMA)
    quoted = {"multiLine": True, "escape": '"'}

    def stitched_by_hand() -> Any:
        """Every origin's chunks collected in one row, sorted, put together, cut into lines, parsed line by line."""
        chunks = f.sort_array(f.collect_list(f.struct("sequence", "payload")))
        whole = spark.read.parquet(str(made.chunks)).groupBy("origin").agg(chunks.alias("chunks"))
        text = f.array_join(f.transform("chunks", lambda chunk: chunk["payload"].cast("string")), "")
        lines = whole.select(f.explode(f.split(text, "\n")).alias("line")).where("line <> ''")
        return lines.select(f.from_csv("line", schema.simpleString(), {"escape": '"'}).alias("v")).select("v.*")

    def records() -> Any:
        return spark.read.parquet(str(made.records))

    return [
        Act("One CSV file with line breaks in quotes", "Spark reads it in one task; formatter splits it where records begin",
            made.megabytes_of(made.file), [
            Contestant("formatter  su.read", lambda: summary(su.read(spark, made.file, csv))),
            Contestant("Spark      spark.read.csv(multiLine)",
                       lambda: summary(spark.read.schema(schema).options(**quoted).csv(str(made.file)))),
        ]),
        Act("Chunks in random order, records across their edges", "Spark has to collect, sort and stitch each origin first",
            made.megabytes_of(made.chunks), [
            Contestant("formatter  su.parse(stitch='global')",
                       lambda: summary(su.parse(spark.read.parquet(str(made.chunks)), csv, stitch="global"))),
            Contestant("Spark      collect_list, sort, from_csv", lambda: summary(stitched_by_hand())),
        ]),
        Act("JSON records in a column", "what from_json does", made.megabytes_of(made.records), [
            Contestant("formatter  su.parse_column",
                       lambda: summary(su.parse_column(records(), "value", json).select("v.*"))),
            Contestant("Spark      from_json",
                       lambda: summary(records().select(f.from_json("value", schema).alias("v")).select("v.*"))),
        ]),
    ]  # fmt: skip


def run(act: Act) -> None:
    for _ in ("cold", "warm"):
        for contestant in act.contestants:
            start = time.perf_counter()
            contestant.answer = contestant.frame().collect()
            contestant.seconds.append(time.perf_counter() - start)


def show(megabytes: int, seed: int, cores: int) -> bool:
    made = dataset.make(FOLDER, megabytes, seed, say)
    spark = start_spark(cores)
    found = acts(spark, made)
    for number, act in enumerate(found, 1):
        run(act)
        say(f"\n{number}. {act.title} ({act.megabytes:.0f} MB): {act.what}")
        say("   " + ("the answers are the same" if act.agrees else "THE ANSWERS DIFFER"))
        for line in bars(act):
            say("   " + line)
    facts = f"Spark {spark.version}, local[{cores}], {megabytes} MB an act, seed {seed}"
    (FOLDER / "report.html").write_text(html(found, facts))
    spark.stop()
    say(f"\n{FOLDER / 'report.html'} has the same as a page")
    return all(act.agrees for act in found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100, help="of each act")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    started = time.perf_counter()
    try:
        same = show(options.megabytes, options.seed, options.cores)
    except JavaMissing as error:
        sys.exit(f"demo: {error}")
    say(f"demo: {time.perf_counter() - started:.0f} s in all")
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
