"""A session that loads the classes that sessions load: `python -m spark_udfs.sample_session`, which class_archive.py runs.

In: nothing. Out: nothing but a JVM that has run small queries of many kinds, and has ended when the process does.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

import spark_udfs as su

DDL = "id BIGINT, n INT, price DOUBLE, city STRING, day DATE, at TIMESTAMP_NTZ, good BOOLEAN, cost DECIMAL(9,2)"
ROW = {
    "id": 1, "n": 2, "price": 2.5, "city": "Oslo", "day": "2024-02-29", "at": "2024-02-29T12:00:00", "good": True, "cost": 1.25,
}  # fmt: skip
ROWS = 1_000
JVM_ENDS_S = 300


def queries(spark: SparkSession, folder: Path) -> None:
    (folder / "rows.csv").write_text((",".join(map(str, ROW.values())) + "\n").replace("True", "true") * ROWS)
    (folder / "rows.json").write_text((json.dumps(ROW) + "\n") * ROWS)
    frames = [
        su.read(spark, str(folder / f"rows.{kind}"), kind, schema=DDL, options={"escape": '"'}) for kind in ("csv",)
    ]
    frames.append(su.read(spark, str(folder / "rows.json"), "json", schema=DDL))
    frames.append(spark.read.schema(DDL).csv(str(folder / "rows.csv")))
    frames.append(spark.read.schema(DDL).json(str(folder / "rows.json")))
    for frame in frames:
        frame.write.format("noop").mode("overwrite").save()
        frame.where("price > 1 AND city = 'Oslo'").select("id", f.upper("city").alias("city")).limit(3).collect()
        frame.groupBy("city").agg(f.count("*"), f.sum("price"), f.max("at"), f.countDistinct("n")).collect()
        frame.count()
    first, second = frames[0], frames[1].limit(5)
    first.join(f.broadcast(second), "id").orderBy("id").toArrow()
    others = second.select("n", f.col("id").alias("other")).hint("merge")
    first.repartition(2, "n").join(others, "n").write.parquet(str(folder / "rows.parquet"))
    spark.read.parquet(str(folder / "rows.parquet")).count()
    first.createOrReplaceTempView("rows")
    spark.sql("SELECT day, row_number() OVER (PARTITION BY city ORDER BY id) AS place FROM rows").show(1)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        builder = SparkSession.builder.master("local[2]").config("spark.ui.port", "0")
        spark = su.configure(builder.config("spark.sql.warehouse.dir", folder)).getOrCreate()
        su.enable_pushdown(spark)
        queries(spark, Path(folder))
        jvm = SparkContext._gateway
        spark.stop()
    assert jvm is not None
    jvm.shutdown()
    jvm.proc.stdin.close()  # how a JVM of PySpark is told to end
    jvm.proc.wait(JVM_ENDS_S)


if __name__ == "__main__":
    main()
