"""Formats whose schema is Spark's: `su.Csv("id BIGINT, price DOUBLE", header=True)`.

In: a StructType or DDL text, and the options of fm.Csv or fm.Json. Out: that format. Text columns of JSON take any value, and
binary ones base64, as Spark's reader has it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.types.arrow_schema import arrow_schema, with_members


def Csv(schema: pa.Schema | StructType | str, **options: Any) -> fm.Csv:
    """`fm.Csv` for those who have Spark's schema at hand.

    Args:
        schema: Spark's, DDL, or pyarrow's.
        options: Those of `fm.Csv`.

    Returns:
        An `fm.Csv`.

    Raises:
        OptionError: An option is out of its range.
        SchemaError: A type that the format cannot have.

    Example:
        >>> import spark_udfs as su
        >>> su.Csv("id BIGINT, name STRING").schema.names
        ['id', 'name']
    """
    return fm.Csv(arrow_schema(schema), **options)


def Json(schema: pa.Schema | StructType | str, **options: Any) -> fm.Json:
    """`fm.Json` for those who have Spark's schema at hand.

    Args:
        schema: Spark's, DDL, or pyarrow's.
        options: Those of `fm.Json`.

    Returns:
        An `fm.Json`.

    Raises:
        OptionError: An option is out of its range.
        SchemaError: A type that the format cannot have.

    Example:
        >>> import spark_udfs as su
        >>> su.Json("id BIGINT, name STRING").schema.names
        ['id', 'name']
    """
    given = arrow_schema(schema)
    taken = given if isinstance(schema, pa.Schema) else pa.schema([as_spark_reads_json(field) for field in given])
    return fm.Json(taken, **options)


def as_spark_reads_json(field: pa.Field) -> pa.Field:
    """Text takes every value, binary is base64. What the field's own metadata says goes before."""
    type_, said = field.type, field.metadata or {}
    if pa.types.is_nested(type_):
        return with_members(field, as_spark_reads_json)
    if b"raw" in said or b"encoding" in said or b"text" in said:
        return field
    if pa.types.is_string(type_) or pa.types.is_large_string(type_):
        return field.with_metadata({**said, b"text": b"any"})
    if pa.types.is_binary(type_) or pa.types.is_large_binary(type_):
        return field.with_metadata({**said, b"encoding": b"base64"})
    return field
