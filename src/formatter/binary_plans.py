"""A Native format's columns as the engine reads them: types, readings, offsets. In: fields. Out: plain dicts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from formatter import _core, types
from formatter.errors import OptionError
from formatter.formats import Framed, Native
from formatter.formats.binary import LENGTHS, UNFRAMED, native_width
from formatter.formats.checks import ON_ERROR


def storage_type(wanted: pa.DataType) -> pa.DataType:
    """The type that is decoded: what has the same bytes, where there is one."""
    t = pa.types
    if t.is_date64(wanted) or t.is_time64(wanted) or t.is_duration(wanted):
        return pa.int64()
    return pa.int32() if t.is_time32(wanted) else types.storage_type(wanted)


def columns_of(format: Native, decoded: list[pa.Field]) -> list[dict[str, Any]]:
    offsets: dict[str, int] = {}
    at = 0
    for field in format.schema:
        offsets[field.name] = at
        at += native_width(field.type) or 0
    columns = []
    for field in decoded:
        stored = pa.field(field.name, storage_type(field.type), field.nullable)
        columns.append(
            {
                "spec": types.column_description(stored, owner="Native"),
                "offset": offsets[field.name],
                "width": native_width(field.type) or 0,
            }
        )
    return columns


def binary_plan(
    format: Native | Framed,
    columns: list[dict[str, Any]],
    output_columns: int,
    filters: list[list[dict[str, Any]]],
    on_error: str,
    note_nulled: bool,
    *,
    single: bool = False,
) -> Any:
    """`single`: what is read is one record by itself, without its length."""
    inner = format.inner if isinstance(format, Framed) else format
    assert isinstance(inner, Native)
    if inner.has_rest and not single and not isinstance(format, Framed):
        last = inner.schema.field(len(inner.schema) - 1)
        raise OptionError(
            f"Native: column {last.name!r}: {last.type} has no fixed width, so nothing tells where a row ends; "
            "wrap the format in fm.Framed(..., length='u32le')"
        )
    options = {
        "row_width": inner.row_width,
        "has_rest": inner.has_rest,
        "big_endian": inner.endian == "big",
        "length": LENGTHS[format.length] if isinstance(format, Framed) else UNFRAMED,
        "on_error": ON_ERROR.index(on_error),
        "note_nulled": note_nulled,
    }
    return _core.binary_plan(options, columns, output_columns, filters)
