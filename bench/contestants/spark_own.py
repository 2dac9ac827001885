"""What Spark brings: its readers of files, from_json, from_csv, variants."""

from __future__ import annotations

from typing import Any

from bench.contestant import Contestant, Declined, Prepared, Task
from bench.contestants import spark_devices
from bench.contestants.spark_session import payloads, session, written


def _struct(schema: Any) -> Any:
    from spark_udfs.types.spark_types import SparkColumns

    return SparkColumns.of(schema).struct


def files(task: Task) -> Prepared:
    spark, source = session(task.threads, ours=False), task.input
    reader = spark.read.schema(_struct(source.schema)).option("timestampNTZFormat", "yyyy-MM-dd HH:mm:ss")
    columns = task.columns or tuple(source.schema.names)
    if source.kind == "json":
        return written(spark, lambda: reader.json(source.path).select(*columns), task)
    reader = reader.option("escape", source.quote).option("quote", source.quote).option("sep", source.delimiter)
    reader = reader.option("header", source.header).option("multiLine", source.newlines_in_values)
    return written(spark, lambda: reader.csv(source.path).select(*columns), task)


def records(task: Task) -> Prepared:
    """Of the wanted fields only, where the function can be told."""
    from pyspark.sql import functions as f
    from pyspark.sql.types import StructType

    spark, source = session(task.threads, ours=False), task.input
    df, struct, columns = payloads(spark, task), _struct(source.schema), task.columns or tuple(source.schema.names)
    if task.options.get("how") == "variant":
        if source.kind != "json":
            raise Declined("variants are made of JSON")
        members = [
            f.try_variant_get("v", f"$.{name}", struct[name].dataType.simpleString()).alias(name) for name in columns
        ]
        return written(
            spark, lambda: df.select("key", f.parse_json("value").alias("v")).select(*members, "key"), task, ("key",)
        )
    if source.kind == "csv":
        told = struct.simpleString()[7:-1].replace(":", " ")
        parsed = f.from_csv("value", told).alias("v")
        names = [f"v.{name}" for name in columns]
    else:
        parsed = f.from_json("value", StructType([struct[name] for name in columns])).alias("v")
        names = ["v.*"]
    return written(spark, lambda: df.select("key", parsed).select(*names, "key"), task, ("key",))


def variants(task: Task) -> Prepared:
    from pyspark.sql import functions as f

    spark = session(task.threads, ours=False)
    df = payloads(spark, task)
    return written(spark, lambda: df.select(f.parse_json("value").alias("v"), "key"), task, ("key",))


CONTESTANTS = [
    Contestant(
        "spark",
        {"files": files, "records": records, "variants": variants, "devices": spark_devices.own},
        "pyspark",
        handicap="a session of its own; told the schema; files with quoted newlines are one task of its reader",
    )
]
