"""Random records and options by `su.parse_column(..., compat="spark")` and by Spark's own from_json and from_csv, which must
give the same structs: `python tests/spark/compat_soup.py RECORDS SEED`.

In: a number of records and a seed. Out: the records whose answers differ, by schema and options; nothing if all agree.
"""

from __future__ import annotations

import logging
import os
import random
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from generated_records import USUAL, Case, CsvRecords, JsonRecords

PER_QUERY = 1000
PER_FAILFAST = 6


def answers(frame: Callable[[], Any]) -> list[str] | str:
    """By record, or the error."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        return [f"{row[1]} {row[2]}" for row in sorted(frame().collect())]
    except PySparkException as error:
        return f"error {error.getCondition()}"
    except Py4JJavaError as error:
        named = re.search(r"\[([A-Z_.]+)\]", str(error))
        return f"error {named and named[1]}"


def shown(frame: Any) -> Any:
    """By record, whether there is a struct, and all that is in it."""
    from pyspark.sql import functions as f

    return frame.select("n", f.col("v").isNull(), f.to_json("v", {"ignoreNullFields": "false"}))


def differences(spark: Any, case: Case, as_bytes: bool) -> list[str]:
    from pyspark.sql import functions as f

    import spark_udfs as su

    for key, value in case.settings.items():
        spark.conf.set(key, value)
    numbered = [(n, record) for n, record in enumerate(case.records)]
    df = spark.createDataFrame(numbered, "n INT, value STRING").repartition(1)
    read = {"json": f.from_json, "csv": f.from_csv}[case.kind]
    options = {name: str(value).lower() if isinstance(value, bool) else value for name, value in case.options.items()}
    expected = answers(lambda: shown(df.select("n", read("value", case.schema, options).alias("v"))))
    ours = df.withColumn("value", f.col("value").cast("binary")) if as_bytes else df
    found = answers(
        lambda: shown(
            su.parse_column(ours, "value", case.kind, schema=case.schema, options=case.options, compat="spark")
        )
    )
    if found == expected:
        return []
    where = f"{case.kind} {case.schema} {case.options} { ({k: v for k, v in case.settings.items() if USUAL[k] != v}) }"
    if isinstance(found, str) or isinstance(expected, str):
        return [f"{where}\n  Spark: {str(expected)[:200]}\n  ours:  {str(found)[:200]}"]
    return [
        f"{where}\n  record {record!r:.400}\n  Spark: {theirs}\n  ours:  {mine}"
        for record, theirs, mine in zip(case.records, expected, found, strict=True)
        if theirs != mine
    ]


def read_here(spark: Any, case: Case) -> int:
    """How many of the records our parser answers for."""
    import pyarrow as pa
    from pyspark.sql.types import StringType, StructField, StructType

    from spark_udfs.records.spark_answers import InDoubt, call_of, task_of

    try:
        call = call_of(case.kind, case.schema, case.options, None)
        task = task_of(spark, call, StructField("value", StringType()), StructType([]), "v", "doubtful")
    except InDoubt:
        return 0
    batch = pa.record_batch([pa.array(case.records, pa.string())], names=["value"])
    return int(task.parse_batch(batch, task.parser())[0].column("doubtful").null_count)


def compare(spark: Any, count: int, seed: int, progress: Callable[[str], None] = lambda line: None) -> list[str]:
    """All differences."""
    chance = random.Random(seed)
    kinds = {"json": JsonRecords(chance), "csv": CsvRecords(chance)}
    before = {key: spark.conf.get(key, None) for key in USUAL}
    found: list[str] = []
    done = told = here = 0
    try:
        while done < count:
            failfast = chance.random() < 0.1
            case = kinds["json" if chance.random() < 0.65 else "csv"].case(
                PER_FAILFAST if failfast else min(PER_QUERY, count - done)
            )
            if failfast:
                case.options["mode"] = "FAILFAST"
            some = differences(spark, case, as_bytes=chance.random() < 0.2)
            for one in some[:3]:
                progress(one)
            found += some
            done += len(case.records)
            here += read_here(spark, case)
            if done - told >= 10 * PER_QUERY:
                told = done
                progress(f"{done} records, {here} of them read here, {len(found)} differ")
    finally:
        for key, value in before.items():
            spark.conf.unset(key) if value is None else spark.conf.set(key, value)
    return found


def main() -> None:
    root = Path(__file__).resolve().parents[2]
    sys.path[:0] = [str(root / "src"), str(root), str(root / "tools")]
    from java_home import use_java

    use_java()
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root / "src"), str(root), os.environ.get("PYTHONPATH", "")])
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    logging.getLogger("SQLQueryContextLogger").disabled = True
    from pyspark.sql import SparkSession

    import spark_udfs as su

    count, seed = int(sys.argv[1]), int(sys.argv[2])
    builder = (
        SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.log.level", "OFF")
    )
    builder = builder.config("spark.sql.shuffle.partitions", "1").config("spark.ui.showConsoleProgress", "false")
    spark = su.configure(builder).getOrCreate()
    su.enable_pushdown(spark)
    found = compare(spark, count, seed, lambda line: print(line, flush=True))
    spark.stop()
    print(f"{count} records on Spark {spark.version}, seed {seed}: {len(found)} differ")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
