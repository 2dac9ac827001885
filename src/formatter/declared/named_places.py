"""Columns that have the names a format gives its fields. In: a schema, where each name stands. Out: their paths."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

from formatter.errors import SchemaError
from formatter.formats.checks import check_schema


def places_of(schema: pa.Schema, places: Mapping[str, str], name: str) -> dict[str, str]:
    """`name`: of the format, for errors."""
    check_schema(schema, name)
    if unknown := [column for column in schema.names if column not in places]:
        raise SchemaError(f"{name}: no column {unknown[0]!r}; a line has {', '.join(map(repr, places))}")
    return {column: places[column] for column in schema.names}
