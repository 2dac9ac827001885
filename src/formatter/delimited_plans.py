"""A Delimited format's columns as the engine reads them: types, paths, spellings. In: fields. Out: plain dicts."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from formatter import _core, types
from formatter.formats import Delimited

OPEN_RANGE = (1 << 32) - 1  # ByteRange::open in engine/delimited/delimited_format.hpp


def columns_of(format: Delimited, decoded: list[pa.Field]) -> list[dict[str, Any]]:
    columns = []
    for field in decoded:
        index = format.schema.get_field_index(field.name)
        spec = types.column_description(field, owner="Delimited", place=index)
        spec["layout"] = types.text_layout(field)
        steps, (begin, end) = format.steps_of(field.name)
        columns.append({"spec": spec, "steps": steps, "range": (begin, OPEN_RANGE if end is None else end)})
    return columns


def delimited_plan(
    format: Delimited,
    columns: list[dict[str, Any]],
    output_columns: int,
    filters: list[list[dict[str, Any]]],
    dialect: dict[str, Any],
) -> Any:
    """`dialect`: of the Csv by which values are read."""
    declared = {
        "record_start": format.record_start,
        "comment": format.comment,
        "trim": format.trim,
        "levels": [(level.separator, level.key or b"", level.collapse) for level in format.levels],
        "marks": [(mark[0], mark[1], mark in format.kept_marks) for mark in format.marks],
        "escapes": list(format.escapes),
    }
    return _core.delimited_plan(declared, dialect, columns, output_columns, filters)
