"""Rows that start tasks, one a task, in a plan that says how large what the tasks make is.

In: how many tasks, and how many bytes they stand for. Out: a DataFrame of their numbers, a partition each, by whose statistics
Spark plans as by those of files: what is small is broadcast to a join, what is not is not. Refuses to know what tasks do.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyarrow import types
from pyspark.sql import DataFrame, SparkSession

from spark_udfs.jvm.session_jvm import called, has_jvm, method_of

ID_BYTES = 8
ROW_BYTES = 8  # what Spark adds to the columns' sizes for a row
# Without a JVM at hand rows are really made and left out again, at some 10 ns each: so few that nobody notices, and enough to
# be no table that Spark broadcasts unless it is told of other limits.
LARGEST_CLAIM_BYTES = 16 << 20
TEXT_WIDTH, BINARY_WIDTH, FLOAT_WIDTH, LONG_DECIMAL_WIDTH, OTHERS_WIDTH = 20, 100, 4, 16, 8
LONG_DECIMAL_DIGITS = 19


def task_rows(spark: SparkSession, count: int, size_bytes: int) -> DataFrame:
    """`id` from 0 to count - 1."""
    if not count:
        return spark.range(0)
    if not has_jvm(spark):
        step = max(1, min(size_bytes, LARGEST_CLAIM_BYTES) // (ID_BYTES * count))
        numbers = spark.range(0, count * step, 1, count)
        return numbers if step == 1 else numbers.where(f"id % {step} = 0").selectExpr(f"id div {step} AS id")
    # The rows of one range, with the statistics of another that has as many partitions. It is never run.
    rows = spark.range(0, count, 1, count)._jdf.queryExecution().toRdd()
    of_size = spark.range(0, max(count, size_bytes // ID_BYTES), 1, count)
    jvm: Any = spark._jvm
    scans = getattr(getattr(jvm.org.apache.spark.sql.execution, "LogicalRDD$"), "MODULE$")
    from_dataset = method_of(scans.getClass(), "fromDataset")
    given = [rows, of_size._jdf, False]
    others = [
        getattr(scans, f"fromDataset$default${at}")()
        for at in range(len(given) + 1, from_dataset.getParameterCount() + 1)
    ]
    plan = called(spark, from_dataset, scans, [*given, *others])
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan), spark)


def projected_bytes(size_bytes: int, columns: pa.Schema, of: pa.Schema) -> int:
    """What Spark takes some columns for, of all columns of something so large."""
    return size_bytes * _row_bytes(columns) // _row_bytes(of)


def _row_bytes(columns: pa.Schema) -> int:
    return ROW_BYTES + sum(_width(field.type) for field in columns)


def _width(type_: pa.DataType) -> int:
    """What Spark guesses of the column's type there when it knows no values."""
    if types.is_nested(type_):
        return sum(_width(type_.field(at).type) for at in range(type_.num_fields))
    if types.is_dictionary(type_):
        return _width(type_.value_type)
    if types.is_string(type_) or types.is_large_string(type_):
        return TEXT_WIDTH
    if types.is_binary(type_) or types.is_large_binary(type_) or types.is_fixed_size_binary(type_):
        return BINARY_WIDTH
    if types.is_date(type_) or types.is_float16(type_):
        return FLOAT_WIDTH
    if types.is_decimal(type_):
        return LONG_DECIMAL_WIDTH if type_.precision >= LONG_DECIMAL_DIGITS else OTHERS_WIDTH
    if types.is_unsigned_integer(type_):
        return 2 * _bytes_of(type_)
    return _bytes_of(type_) if types.is_primitive(type_) else OTHERS_WIDTH


def _bytes_of(type_: pa.DataType) -> int:
    return max(1, int(type_.bit_width) // 8)
