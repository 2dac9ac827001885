"""Arrow schemas that Spark takes: every conversion explicit and lossless, or refused while the query is planned.

In: the Arrow schema a format decodes to. Out: the Arrow schema handed to Spark, the StructType that says the same, and
the conversion of batches from one to the other. mapInArrow matches columns by position and checks no names, so the
conversion does: a batch leaves only with the names, order, types and nullability that were declared.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
from pyarrow import types
from pyspark.errors import PySparkTypeError
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import DataType, StructField, StructType

import formatter as fm
from formatter.variants import is_variant

SPARK_DECIMAL_DIGITS = 38
UINT64_AS_DECIMAL = pa.decimal128(20, 0)  # 2^64 - 1 has 20 digits

# What Spark's Arrow reader takes as it is.
PASSES = (
    *(types.is_boolean, types.is_int8, types.is_int16, types.is_int32, types.is_int64),
    *(types.is_float32, types.is_float64, types.is_date32, types.is_null),
    *(types.is_string, types.is_large_string, types.is_binary, types.is_large_binary),
)

# What it refuses, and the nearest type that holds every value. Casts are safe ones: a value that does not fit raises.
WIDENS = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): UINT64_AS_DECIMAL,
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
    **dict.fromkeys((pa.time32("s"), pa.time32("ms"), pa.time64("us")), pa.time64("ns")),
    **dict.fromkeys((pa.duration("s"), pa.duration("ms"), pa.duration("us")), pa.duration("us")),
}


def _refuse(path: str, type_: pa.DataType, remedy: str) -> fm.SchemaError:
    return fm.SchemaError(f"spark: column {path!r} is {type_}, which Spark cannot hold without loss; {remedy}")


def accepted_type(type_: pa.DataType, path: str) -> pa.DataType:
    """The type a column of `type_` travels to Spark as; SchemaError with a remedy where some value would be lost."""
    if any(passes(type_) for passes in PASSES):
        return type_
    if type_ in WIDENS:
        return WIDENS[type_]
    if types.is_timestamp(type_):
        if type_.unit == "ns":
            raise _refuse(path, type_, "Spark keeps microseconds: declare timestamp('us') in the format's schema")
        return pa.timestamp("us", type_.tz)
    if types.is_time64(type_):
        raise _refuse(path, type_, "Spark keeps microseconds of a time of day: declare time64('us')")
    if types.is_duration(type_):
        raise _refuse(path, type_, "Spark keeps microseconds: declare duration('us')")
    if types.is_decimal(type_):
        if type_.precision > SPARK_DECIMAL_DIGITS or not 0 <= type_.scale <= type_.precision:
            limits = f"at most {SPARK_DECIMAL_DIGITS} digits and a scale between 0 and the precision"
            raise _refuse(path, type_, f"declare a decimal128 of {limits}, or a string")
        return pa.decimal128(type_.precision, type_.scale)
    if types.is_dictionary(type_):
        return accepted_type(type_.value_type, path)
    if types.is_fixed_size_binary(type_):
        return pa.binary()
    return _accepted_nested(type_, path)


def _accepted_nested(type_: pa.DataType, path: str) -> pa.DataType:
    if is_variant(type_):
        return type_
    if types.is_struct(type_):
        return pa.struct([accepted_field(field, f"{path}.{field.name}") for field in type_])
    if types.is_map(type_):
        key = accepted_field(type_.key_field, f"{path}.key")
        return pa.map_(key, accepted_field(type_.item_field, f"{path}.value"), type_.keys_sorted)
    lists = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    if any(is_list(type_) for is_list in lists):
        return pa.list_(accepted_field(type_.value_field, f"{path}.element"))
    if types.is_list_view(type_) or types.is_large_list_view(type_):
        raise _refuse(path, type_, f"declare {pa.list_(type_.value_type)}")
    raise _refuse(path, type_, "leave the column out of `columns`, or declare another type")


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema with dictionaries as their values: Spark takes none, so making them would be work for nothing."""
    fields = [field.with_type(field.type.value_type) if types.is_dictionary(field.type) else field for field in schema]
    return pa.schema(fields, metadata=schema.metadata)


def accepted_field(field: pa.Field, path: str) -> pa.Field:
    return pa.field(field.name, accepted_type(field.type, path), field.nullable)


def struct_of(schema: pa.Schema) -> StructType:
    """What Spark calls a schema of accepted types."""
    return StructType([_spark_field(field) for field in schema])


def _spark_field(field: pa.Field) -> StructField:
    try:
        return StructField(field.name, spark_type(field.type), field.nullable)
    except PySparkTypeError as error:  # an older Spark, without a type for times of day
        raise _refuse(field.name, field.type, "this version of Spark has no such type: declare a string") from error


def spark_type(type_: pa.DataType) -> DataType:
    """The Spark type of an accepted Arrow type."""
    return from_arrow_type(type_, prefer_timestamp_ntz=True)


@dataclass(frozen=True)
class SparkColumns:
    """The columns that leave a task: `arrow` as Spark reads them, `struct` as Spark plans them."""

    arrow: pa.Schema
    struct: StructType

    @classmethod
    def of(cls, decoded: pa.Schema) -> SparkColumns:
        """What a schema of decoded columns becomes in Spark. Raises SchemaError for what it cannot become."""
        if not decoded.names:
            raise fm.SchemaError("spark: no columns are asked for; name at least one in `columns`")
        arrow = pa.schema([accepted_field(field, field.name) for field in decoded])
        return cls(arrow, struct_of(arrow))

    def convert(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The same rows in the declared columns. A batch with other columns never passes."""
        if batch.schema.equals(self.arrow, check_metadata=True):
            return batch
        if batch.schema.names != self.arrow.names:
            declared, found = ", ".join(self.arrow.names), ", ".join(batch.schema.names)
            raise fm.SchemaError(f"spark: a batch has columns ({found}), declared were ({declared}); order counts")
        columns = [converted(column, field) for column, field in zip(batch.columns, self.arrow, strict=True)]
        return pa.RecordBatch.from_arrays(columns, schema=self.arrow)


def converted(column: pa.Array, field: pa.Field) -> pa.Array:
    """A column as the field was declared; an error where a value does not fit."""
    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except pa.ArrowInvalid as error:
        raise fm.FormatError(
            f"spark: column {field.name!r}: a value of {column.type} does not fit {field.type} ({error}); "
            "declare the wider type in the format's schema",
            code="overflow",
            column=field.name,
            expected=str(field.type),
        ) from error
