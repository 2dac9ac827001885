"""Columns that were kept raw, finished later.

In: a format and a type. Out: a format whose only column reads, of one value a record, what the format's columns of that type
read. Refuses to know: arrays, rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, count
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from formatter.errors import OptionError
from formatter.formats import Csv, Delimited, Json, Level, Registered
from formatter.plans import Format, record_end_of
from formatter.types import TEXTS, VIEWS, type_code

# With one field a value nothing needs separating: what would is a text that no value holds.
SEPARATORS = ["\x1f", "\x1e", "\x1d", "\x1c", *(chr(code) for code in range(1, 9))]
SPELLED = ("nulls", "true_values", "false_values", "decimal", "timestamp_formats")


def value_format(format: Format | None, type: pa.DataType, array: Any) -> Format:
    is_text = keeps_any_byte(type)
    taken = record_end_of(format) if isinstance(format, Csv | Delimited) else b""
    separators = _in_none_of(array if is_text else (), taken)
    if format is None or isinstance(format, Registered):
        bare: dict[str, Any] = {"delimiter": next(separators), "quote": None}
        bare["record_delimiter"] = next(separators) if is_text else "\n"
        if format is not None:
            bare |= {name: getattr(format, name) for name in SPELLED}
        known = format is None and _is_told_by_equality(type) and bare["delimiter"] == SEPARATORS[0]
        return _bare_values(type, **bare) if known else _bare_values.__wrapped__(type, **bare)
    other: dict[str, Any] = {"schema": pa.schema([("value", type)])}
    if isinstance(format, Csv):  # without what stands in front of records and behind them
        format = format.body
        other |= {"delimiter": next(separators), "comment": None, "encoding": "utf-8", "rescue": None}
        other |= {"skip_footer": 0, "table_end": None}
    elif isinstance(format, Json):
        other |= {"paths": (), "records": "lines", "unknown": "ignore", "rescue": None}
    elif isinstance(format, Delimited):
        path = (("value", (0,)),)
        other |= {"record_start": b"", "levels": (Level(next(separators)),), "paths": path, "comment": b""}
    else:
        raise OptionError(f"parse_values: format: binary rows hold no text; found {format!r}")
    return replace(format, **other)


@lru_cache(maxsize=32)
def _bare_values(type: pa.DataType, **options: Any) -> Csv:
    """Kept, and by that its plan: making both takes longer than reading a hundred values."""
    return Csv(pa.schema([("value", type)]), **options)


def keeps_any_byte(type: pa.DataType) -> bool:
    """Whether a value of the type is the text itself, line breaks and all; of others they are an error in any case."""
    if pa.types.is_dictionary(type):
        return keeps_any_byte(type.value_type)
    return type in VIEWS or pa.types.is_fixed_size_binary(type) or type_code(type) in TEXTS


def _in_none_of(array: Any, taken: bytes) -> Iterator[str]:
    """One after the other, so that nobody looks for more than are wanted."""
    longer = (f"\x1f{number:06}\x1e" for number in count())
    return (text for text in chain(SEPARATORS, longer) if text.encode() != taken and not _is_in_one_of(array, text))


def _is_in_one_of(array: Any, text: str) -> bool:
    if isinstance(array, pa.Array | pa.ChunkedArray):
        values = array.cast(pa.large_binary()) if array.type in VIEWS else array
        is_text = values.type in (pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
        return is_text and bool(pc.any(pc.match_substring(values, text)).as_py())
    taken = text.encode()
    texts = (value.encode() if isinstance(value, str) else value for value in array if value is not None)
    return any(taken in memoryview(value).tobytes() for value in texts)


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
