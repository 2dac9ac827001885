"""Rows that start tasks, one a task, each with what its task is to read, in a plan that says how large what the tasks make is.

In: what each task is to read, and how many bytes all of it stands for. Out: a DataFrame of a partition a task, by whose statistics
Spark plans as by those of files: what is small is broadcast to a join, what is not is not. Refuses to know what tasks do.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
from pyarrow import types
from pyspark.sql import DataFrame, SparkSession

from spark_udfs.jvm.session_jvm import called, has_jvm, static_method

ID_BYTES = 8
ROW_BYTES = 8  # what Spark adds to the columns' sizes for a row
# Without a JVM at hand rows are really made and left out again, at some 10 ns each: so few that nobody notices, and enough to
# be no table that Spark broadcasts unless it is told of other limits.
LARGEST_CLAIM_BYTES = 16 << 20
TEXT_WIDTH, BINARY_WIDTH, FLOAT_WIDTH, LONG_DECIMAL_WIDTH, OTHERS_WIDTH = 20, 100, 4, 16, 8
LONG_DECIMAL_DIGITS = 19


class Groups:
    """What tasks are to read, a group each, packed by itself. In the rows of `task_rows` where those can carry it; else it goes to
    every task, and a row has its number."""

    def __init__(self, groups: Iterable[Sequence[Any]], size_bytes: int, hosts: Sequence[Sequence[str]] = ()) -> None:
        """`hosts`: of each group those that had better run its task; none: nobody knows."""
        self.hosts = hosts
        self.packed = [pickle.dumps(tuple(group)) for group in groups]
        self.count = len(self.packed)
        self.size_bytes = size_bytes

    def __len__(self) -> int:
        return self.count

    def meant(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Any]:
        """What stands in the groups that rows carry or number."""
        for batch in batches:
            for value in batch.column(0).to_pylist():
                yield from pickle.loads(value if isinstance(value, bytes) else self.packed[value])


def task_rows(spark: SparkSession, groups: Groups, size_bytes: int) -> DataFrame:
    """A row for each group. `groups` then holds what tasks have to be sent beside it."""
    count = len(groups)
    if not count:
        return spark.range(0)
    if not has_jvm(spark):
        step = max(1, min(size_bytes, LARGEST_CLAIM_BYTES) // (ID_BYTES * count))
        numbers = spark.range(0, count * step, 1, count)
        return numbers if step == 1 else numbers.where(f"id % {step} = 0").selectExpr(f"id div {step} AS id")
    packed = b"".join(len(group).to_bytes(4, "little") + group for group in groups.packed)
    hosts = json.dumps([list(names) for names in groups.hosts] if any(groups.hosts) else [])
    groups.packed, groups.hosts = [], ()
    planned = static_method(spark, ("task_rows.java",), "formatter.spark.TaskRows", "planned")
    return DataFrame(called(spark, planned, None, (spark._jsparkSession, packed, hosts, size_bytes)), spark)


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
