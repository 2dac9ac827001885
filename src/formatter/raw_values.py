"""Columns that were kept raw, finished later.

In: a format and a type. Out: a format whose only column reads, of one value a record, what the format's columns of that type
read. Refuses to know: arrays, rows.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from formatter.errors import OptionError
from formatter.formats import Csv, Delimited, Json, Level, Registered
from formatter.plans import Format

UNIT_SEPARATOR = "\x1f"  # a field holds none: with one field a value, nothing needs separating
SPELLED = ("nulls", "true_values", "false_values", "decimal", "timestamp_formats")


def value_format(format: Format | None, type: pa.DataType) -> Format:
    if format is None:
        return _bare_values(type) if _is_told_by_equality(type) else _bare_values.__wrapped__(type)
    schema = pa.schema([("value", type)])
    if isinstance(format, Registered):
        spelled: dict[str, Any] = {name: getattr(format, name) for name in SPELLED}
        return Csv(schema, delimiter=UNIT_SEPARATOR, quote=None, **spelled)
    other: dict[str, Any] = {"schema": schema}
    if isinstance(format, Csv):  # without what stands in front of records and behind them
        format = format.body
        other |= {"delimiter": UNIT_SEPARATOR, "comment": None, "encoding": "utf-8", "rescue": None}
        other |= {"skip_footer": 0, "table_end": None}
    elif isinstance(format, Json):
        other |= {"paths": (), "records": "lines", "unknown": "ignore", "rescue": None}
    elif isinstance(format, Delimited):
        path = (("value", (0,)),)
        other |= {"record_start": b"", "levels": (Level(UNIT_SEPARATOR),), "paths": path, "comment": b""}
    else:
        raise OptionError(f"parse_values: format: binary rows hold no text; found {format!r}")
    return replace(format, **other)


@lru_cache(maxsize=32)
def _bare_values(type: pa.DataType) -> Csv:
    """Kept, and by that its plan: making both takes longer than reading a hundred values."""
    return Csv(pa.schema([("value", type)]), delimiter=UNIT_SEPARATOR, quote=None)


def _is_told_by_equality(type: pa.DataType) -> bool:
    """Fields inside of types may differ in their metadata, and types of others' in more; both then still compare equal."""
    return isinstance(type, pa.DataType) and not pa.types.is_nested(type) and not isinstance(type, pa.BaseExtensionType)


def as_records(array: Any, format: Format) -> Any:
    """The values as that format's records."""
    if not isinstance(format, Json):
        return array
    values = array if isinstance(array, pa.Array | pa.ChunkedArray) else pa.array(array, pa.binary())
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    before, behind, between = (pa.scalar(text, pa.large_binary()) for text in (b'{"value":', b"}", b""))
    return pc.binary_join_element_wise(before, values.cast(pa.large_binary()), behind, between)
