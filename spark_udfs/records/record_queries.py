"""The queries of record mode: one payload is one record, as from_json and from_csv read them.

In: rows with a payload column, any other columns beside it. Out: one row per payload: its fields (as columns, or as a struct
beside all others), the kept columns as they were, and what was wrong with it. What runs in a task is record_task.py's; columns
that would not come back from there as they went stay behind. Refuses to know chunks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as spark
from pyspark.sql.functions import col, explode, when
from pyspark.sql.types import StructType

import formatter as fm
from formatter.plans import with_rescue
from formatter.variants import Columns, asked_as
from spark_udfs.jvm.direct_rows import attach_if_configured
from spark_udfs.options.reading import of_values, zone_of
from spark_udfs.records.record_task import ROW_KEPT, RecordOnError, RecordTask, ScalarRecords
from spark_udfs.records.spark_answers import InDoubt, SparkCall, call_of, struct_of_call, task_of
from spark_udfs.tasks.sent_functions import mapped
from spark_udfs.types.named_columns import require_columns

# Types that come back from Arrow as they went; a column of any other stays in the JVM.
TRAVELS = (
    *(spark.BooleanType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType),
    *(spark.FloatType, spark.DoubleType, spark.DecimalType, spark.BinaryType),
    *(spark.DateType, spark.TimestampType, spark.TimestampNTZType),
)


def travels(type_: spark.DataType) -> bool:
    """Whether values of a type cross to a Python worker and back unchanged."""
    if isinstance(type_, StructType):
        names = [field.name for field in type_]
        return len(set(names)) == len(names) and all(travels(field.dataType) for field in type_)
    if isinstance(type_, spark.ArrayType):
        return travels(type_.elementType)
    if isinstance(type_, spark.MapType):
        return travels(type_.keyType) and travels(type_.valueType)
    return type(type_) in TRAVELS or type_ == spark.StringType()


def all_travel(fields: Sequence[spark.StructField]) -> bool:
    """Whether columns can go along to Python. mapInArrow looks them up by name, so names must be plain and differ."""
    names = [field.name.lower() for field in fields]
    plain = all("." not in name and "`" not in name for name in names)
    return plain and len(set(names)) == len(names) and all(travels(field.dataType) for field in fields)


def with_records(df: DataFrame, task: RecordTask) -> DataFrame:
    """What su.parse(unit="record") gives: the parsed columns, the kept ones, then (on_error "null" or "collect") the error.

    A null or blank payload gives null fields and no error.
    """
    kept = [output.name for output in task.outputs if output.kind == "kept"]
    names = list(dict.fromkeys([task.payload, *kept]))
    if all_travel([df.schema[name] for name in names]):
        return mapped(payload_first(df, names), task, task.schema)
    if task.drift is not None:
        raise fm.OptionError("spark: evolve= is for columns in keep= that can travel to Python; cast or rename them")
    rows, hidden = beside(df, task, [quoted(name) for name in kept])
    return rows.select(
        *(quoted(one.name) if one.kind == "kept" else field_of(hidden, one.name) for one in task.outputs)
    )


def payload_first(df: DataFrame, names: Sequence[str]) -> DataFrame:
    """So that pushdown_rule.java can tell what is parsed from what only rides along."""
    return df.select(*map(quoted, names))


def beside(df: DataFrame, task: RecordTask, kept: Sequence[Column | str]) -> tuple[DataFrame, str]:
    """Columns that would not come back from Python as they are, a struct of what is parsed beside them, and its name."""
    hidden = unused_name(df)
    records = ScalarRecords(task)
    parsed = records.column(quoted(task.payload))
    rows = df.select(*kept, (explode(parsed) if records.explodes else parsed).alias(hidden))
    if records.explodes:
        return rows, hidden
    return rows.where(quoted(hidden).getField(ROW_KEPT)) if task.drops_rows else rows, hidden


def field_of(struct: str, name: str) -> Column:
    return quoted(struct).getField(name).alias(name)


def unused_name(df: DataFrame, *taken: str) -> str:
    name = "parsed_record"
    while name in df.columns or name in taken:
        name += "_"
    return name


def quoted(name: str) -> Column:
    """The column of exactly this name, dots and all."""
    return col("`" + name.replace("`", "``") + "`")


def require_payload(df: DataFrame, payload: str) -> None:
    require_columns(df.columns, [("payload", payload)])
    type_ = df.schema[payload].dataType
    if not isinstance(type_, (spark.StringType, spark.BinaryType)):
        found = type_.simpleString()
        raise fm.SchemaError(
            f"spark: column {payload!r} holds records: expected a string or binary, found {found}; cast it first"
        )


def parse_column(
    df: DataFrame,
    column: str,
    format: Any,
    *,
    into: str = "v",
    columns: Columns = None,
    on_error: RecordOnError | None = None,
    error: str | None = None,
    schema: pa.Schema | StructType | str | None = None,
    options: Mapping[str, Any] | None = None,
    rescue: str | None = None,
    compat: Literal["spark"] | None = None,
) -> DataFrame:
    """The columns of a DataFrame and one struct more: a record a value, in place of from_json and from_csv. Where a value wraps an
    array of records (`fm.Json(records="/Records/*")`), a row for each of them, as explode gives.

    Args:
        df: The DataFrame.
        column: Its column of records, bytes or text.
        format: As for `su.parse`.
        into: What the struct is called.
        columns: As for `fm.read`.
        on_error: "null" (None), "skip", "raise" or "collect".
        error: With "null" or "collect", the name of one more column that says what was wrong.
        schema: With format "csv" or "json", as for `su.read`.
        options: With format "csv" or "json", as for from_csv and from_json.
        rescue: As for `su.parse`; the column is one of the struct.
        compat: "spark": the struct is what from_json or from_csv gives for `schema` and `options`, for every record; modes and the
            column of corrupt records are options then, in place of on_error, error and rescue.

    Returns:
        A DataFrame of all columns of df, the struct, and the error if it is named.

    Raises:
        OptionError: An option is out of its range, or has no meaning here.
        SchemaError: A column that is not there, or a type that Spark or the format cannot have.

    Example:
        >>> import formatter as fm, pyarrow as pa, spark_udfs as su
        >>> df = spark.createDataFrame([(7, '{"id": 1}')], "key INT, value STRING")
        >>> su.parse_column(df, "value", fm.Json(pa.schema([("id", pa.int64())]))).select("key", "v.id").first()
        Row(key=7, id=1)
        >>> df = spark.createDataFrame([('{"id": 1.5, "name": 7}',)], "value STRING")
        >>> su.parse_column(df, "value", "json", schema="id INT, name STRING", compat="spark").first().v
        Row(id=None, name='7')
    """
    attach_if_configured(df.sparkSession)
    if require_compat(compat, on_error=on_error, error=error, rescue=rescue):
        require_payload(df, column)
        require_free(df, into=into)
        return answered(df, column, call_of(format, schema, options, columns), into)
    format, on_error = of_values(format, schema, options, on_error, zone_of(df.sparkSession), is_record=True)
    format, columns = asked_as(with_rescue(format, rescue), columns)
    require_payload(df, column)
    require_free(df, into=into, error=error)
    together = all_travel(df.schema.fields)
    keep = df.schema if together else StructType([])
    task = RecordTask(
        format, column, keep=keep, columns=columns, filters=None, on_error=on_error or "null", error=error, into=into
    )
    if together:
        return mapped(payload_first(df, list(dict.fromkeys([column, *df.columns]))), task, task.schema)
    rows, hidden = beside(df, task, ["*"])
    return rows.select("*", *(field_of(hidden, output.name) for output in task.outputs)).drop(hidden)


def as_columns(df: DataFrame, payload: str, call: SparkCall, kept: Sequence[str]) -> DataFrame:
    """The fields of the answers, then the kept columns."""
    fields = struct_of_call(call).names
    for name in kept:
        if name in fields:
            raise fm.SchemaError(f"spark: two columns would be named {name!r}; rename the kept one")
    rows = df.select(*map(quoted, dict.fromkeys([payload, *kept])))
    hidden = unused_name(rows)
    beside_kept = answered(rows, payload, call, hidden)
    return beside_kept.select(*(field_of(hidden, name) for name in fields), *map(quoted, kept))


def require_free(df: DataFrame, **names: str | None) -> None:
    """By option, names of columns to come."""
    for option, name in names.items():
        if name is not None and name.lower() in (taken.lower() for taken in df.columns):
            raise fm.SchemaError(f"spark: there is a column {name!r} already; give another name in {option}=")


def require_compat(compat: str | None, **ours: Any) -> bool:
    """Whether Spark's answers are asked for. `ours`: options that go without."""
    if compat is None:
        return False
    if compat != "spark":
        raise fm.OptionError(f"spark: compat is 'spark' or None, found {compat!r}")
    for option, value in ours.items():
        if value is not None:
            raise fm.OptionError(
                f"spark: {option}= does not go with compat='spark', where the option mode says what becomes of bad records, "
                "and a column of the schema named by columnNameOfCorruptRecord holds their text"
            )
    return True


def answered(df: DataFrame, column: str, call: SparkCall, into: str) -> DataFrame:
    """df and the answers of from_json or from_csv beside its columns: ours, and where one is in doubt that of the expression."""
    payload = df.schema[column]
    together = all_travel(df.schema.fields)
    doubtful = unused_name(df, into)
    try:
        task = task_of(df.sparkSession, call, payload, df.schema if together else StructType([]), into, doubtful)
    except InDoubt:
        return df.withColumn(into, call.column(quoted(column).cast("string")))
    if together:
        rows, hidden = mapped(payload_first(df, list(dict.fromkeys([column, *df.columns]))), task, task.schema), None
        ours, left = quoted(into), quoted(doubtful)
    else:
        rows, hidden = beside(df, task, ["*"])
        ours, left = quoted(hidden).getField(into), quoted(hidden).getField(doubtful)
    answer = when(left.isNotNull(), call.column(left.cast("string"))).otherwise(ours).alias(into)
    return rows.select(*map(quoted, df.columns), answer) if hidden is None else rows.select("*", answer).drop(hidden)
