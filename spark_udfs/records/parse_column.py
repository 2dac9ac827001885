"""A column of records becomes a struct column beside it, as from_json and from_csv do.

In: a DataFrame and the name of a string or binary column. Out: every original column and one struct column with the
format's fields; null where the record is null. Refuses nothing a row can hold: columns that cannot travel stay behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as spark

import formatter as fm
from spark_udfs.jvm.direct_rows import attach_if_configured
from spark_udfs.records.parse_records import all_travel, beside, field_of, kept_fields, payload_first
from spark_udfs.records.record_task import RecordOnError, RecordTask


def parse_column(
    df: DataFrame,
    column: str,
    format: Any,
    *,
    into: str = "v",
    columns: Sequence[str] | None = None,
    on_error: RecordOnError = "null",
    error: str | None = None,
) -> DataFrame:
    """`su.parse_column(df, "value", format)`: the columns of df and the struct `v`, one record per value.

    error: with on_error "null" or "collect", the name of one more column that says what was wrong.
    """
    attach_if_configured(df.sparkSession)
    kept_fields(df, column)
    for option, name in (("into", into), ("error", error)):
        if name is not None and name.lower() in (taken.lower() for taken in df.columns):
            raise fm.SchemaError(f"spark: there is a column {name!r} already; give another name in {option}=")
    together = all_travel(df.schema.fields)
    keep = df.schema if together else spark.StructType([])
    task = RecordTask(
        format, column, keep=keep, columns=columns, filters=None, on_error=on_error, error=error, into=into
    )
    if together:
        return payload_first(df, list(dict.fromkeys([column, *df.columns]))).mapInArrow(task, task.schema)
    rows, hidden = beside(df, task, ["*"])
    return rows.select("*", *(field_of(hidden, output.name) for output in task.outputs)).drop(hidden)
