"""Second queries over the same input: the rejects of a DataFrame, and its counts.

In: a DataFrame that su.read or su.parse made. Out: DataFrames beside it. Each costs one more parse of the input, but no rows
travel; since parsing the same bytes finds the same, they are exact. Knows nothing of how tasks parse.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

import formatter as fm
from spark_udfs.tasks.metrics import METRICS_SCHEMA
from spark_udfs.tasks.rejects import REJECTS_SCHEMA
from spark_udfs.tasks.sent_functions import mapped
from spark_udfs.types.spark_types import struct_of

ATTRIBUTE = "_formatter_sibling"


def with_siblings(source: DataFrame, task: Any) -> DataFrame:
    """What the task makes of the source, remembering both. A task has `schema`, `rejects` and `measured`."""
    return remember(mapped(source, task, task.schema), source, task)


def remember(df: DataFrame, source: DataFrame, task: Any) -> DataFrame:
    """df, with the input of which a task's rejects and counts are its own."""
    object.__setattr__(df, ATTRIBUTE, (source, task))
    return df


def rejects(df: DataFrame) -> DataFrame:
    """The records that a DataFrame left out, or made null in, and why. Reads the input once more.

    Args:
        df: A DataFrame of `su.read` or `su.parse` with on_error="collect".

    Returns:
        A DataFrame of one row a record: position, code, message, bytes.

    Raises:
        OptionError: Another DataFrame.

    Example:
        >>> import formatter as fm, pyarrow as pa, spark_udfs as su
        >>> chunks = spark.createDataFrame([("a", 1, bytearray(b"1\\nx\\n"))], "origin STRING, sequence BIGINT, payload BINARY")
        >>> df = su.parse(chunks, fm.Csv(pa.schema([("id", pa.int64())])), on_error="collect")
        >>> su.rejects(df).select("origin", "record", "code").first()
        Row(origin='a', record=1, code='invalid')
    """
    source, task = _sibling(df, "rejects")
    return mapped(source, task.rejects, struct_of(REJECTS_SCHEMA))


def measure(df: DataFrame) -> DataFrame:
    """What reading a DataFrame costs and finds, by reading it once more. Works on Spark Connect too.

    Args:
        df: A DataFrame of `su.read` or `su.parse`.

    Returns:
        A DataFrame of one row a task: its counts.

    Raises:
        OptionError: Another DataFrame.

    Example:
        >>> import formatter as fm, pyarrow as pa, spark_udfs as su
        >>> chunks = spark.createDataFrame([("a", 1, bytearray(b"1\\n2\\n"))], "origin STRING, sequence BIGINT, payload BINARY")
        >>> df = su.parse(chunks, fm.Csv(pa.schema([("id", pa.int64())])))
        >>> su.measure(df).selectExpr("sum(rows)").first()[0]
        2
    """
    source, task = _sibling(df, "measure")
    return mapped(source, task.measured, struct_of(METRICS_SCHEMA))


def _sibling(df: DataFrame, what: str) -> tuple[DataFrame, Any]:
    found = df.__dict__.get(ATTRIBUTE)
    if found is None:
        raise fm.OptionError(
            f"spark: su.{what} takes the DataFrame that su.read or su.parse returned, before any select on it"
        )
    source, task = found
    return source, task
