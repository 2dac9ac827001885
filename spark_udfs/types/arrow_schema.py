"""Format schemas from Spark's own: a StructType or a DDL string says what a pyarrow schema would.

In: StructType, "a BIGINT, b STRING", or a pyarrow schema. Out: the pyarrow schema for fm.Csv and its sisters. A field's
string metadata travels along, so `{"encoding": "base64"}` works from both sides. Refuses types Arrow has no like of.
"""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import types as spark

import formatter as fm
from formatter.variants import is_variant
from spark_udfs.types.ddl import struct_type

SIMPLE = {
    spark.BooleanType: pa.bool_(),
    spark.ByteType: pa.int8(),
    spark.ShortType: pa.int16(),
    spark.IntegerType: pa.int32(),
    spark.LongType: pa.int64(),
    spark.FloatType: pa.float32(),
    spark.DoubleType: pa.float64(),
    spark.StringType: pa.string(),
    spark.BinaryType: pa.binary(),
    spark.DateType: pa.date32(),
    spark.TimestampNTZType: pa.timestamp("us"),
    spark.TimestampType: pa.timestamp("us", "UTC"),  # an instant: Spark stores UTC and shows the session's zone
    spark.DayTimeIntervalType: pa.duration("us"),
    spark.NullType: pa.null(),
    spark.VariantType: fm.variant(),
}


def arrow_schema(schema: pa.Schema | spark.StructType | str) -> pa.Schema:
    """The pyarrow schema of Spark's.

    Args:
        schema: A StructType, or DDL (what is not plain in it Spark reads: that needs a session); pyarrow's is given back.

    Returns:
        A `pyarrow.Schema`.

    Raises:
        SchemaError: A type that Arrow does not have.

    Example:
        >>> import spark_udfs as su
        >>> su.arrow_schema("id BIGINT NOT NULL, name STRING").field("id")
        pyarrow.Field<id: int64 not null>
    """
    if isinstance(schema, pa.Schema):
        return schema
    if isinstance(schema, str):
        schema = struct_type(schema, timestamp_type()) or spark.StructType.fromDDL(schema)
    if not isinstance(schema, spark.StructType):
        found = type(schema).__name__
        raise fm.SchemaError(f"spark: expected a StructType, a DDL string or a pyarrow schema, found {found}")
    return pa.schema([_arrow_field(field, field.name) for field in schema])


def timestamp_type() -> spark.DataType | None:
    """What TIMESTAMP means in the session at hand."""
    session = SparkSession.getActiveSession()
    known: dict[str | None, spark.DataType] = {
        "TIMESTAMP_LTZ": spark.TimestampType(), "TIMESTAMP_NTZ": spark.TimestampNTZType(),
    }  # fmt: skip
    return None if session is None else known.get(session.conf.get("spark.sql.timestampType", None))


def _arrow_field(field: spark.StructField, path: str) -> pa.Field:
    metadata = {key: value for key, value in (field.metadata or {}).items() if isinstance(value, str)}
    return pa.field(field.name, arrow_type(field.dataType, path), field.nullable, metadata or None)


def nullable_throughout(field: pa.Field) -> pa.Field:
    """As Spark's readers take a schema: whatever it says, a value of a file may be null, inside of others too."""
    return with_members(field, nullable_throughout).with_nullable(True)


def with_members(field: pa.Field, changed: Callable[[pa.Field], pa.Field]) -> pa.Field:
    """The field with those in it changed: members of structs, values of maps, items of lists. Variants have none."""
    type_ = field.type
    if is_variant(type_):
        return field
    if pa.types.is_struct(type_):
        type_ = pa.struct([changed(member) for member in type_])
    elif pa.types.is_map(type_):
        type_ = pa.map_(type_.key_field, changed(type_.item_field))
    elif pa.types.is_list(type_):
        type_ = pa.list_(changed(type_.value_field))
    return field.with_type(type_)


def arrow_type(type_: spark.DataType, path: str = "value") -> pa.DataType:
    """The Arrow type that holds exactly the values of a Spark type."""
    if isinstance(type_, spark.StringType) and type_ != spark.StringType():
        raise fm.SchemaError(
            f"spark: column {path!r} is {type_.simpleString()}: texts are parsed without a collation; declare a STRING, and "
            "collate it by df.withColumn(name, F.collate(name, collation))"
        )
    if type(type_) in SIMPLE:
        return SIMPLE[type(type_)]
    if isinstance(type_, spark.DecimalType):
        return pa.decimal128(type_.precision, type_.scale)
    if isinstance(type_, spark.StructType):
        return pa.struct([_arrow_field(field, f"{path}.{field.name}") for field in type_])
    if isinstance(type_, spark.ArrayType):
        return pa.list_(pa.field("element", arrow_type(type_.elementType, f"{path}.element"), type_.containsNull))
    if isinstance(type_, spark.MapType):
        key = pa.field("key", arrow_type(type_.keyType, f"{path}.key"), nullable=False)
        return pa.map_(key, pa.field("value", arrow_type(type_.valueType, f"{path}.value"), type_.valueContainsNull))
    if type_.typeName().startswith("time("):  # TimeType, which older versions do not have
        return pa.time64("us")
    raise fm.SchemaError(f"spark: column {path!r} is {type_.simpleString()}, which cannot be parsed; declare a string")
