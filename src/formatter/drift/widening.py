"""Types that only grow. In: a field, and a value as JSON has it. Out: the least field above it that holds the value, too.

Whole numbers become longer ones, then doubles where those hold every value (below 64 bits, or none stored yet), else decimals;
structs gain members at their end; lists and maps what their items need; everything else becomes text. Refuses to know: where
values come from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pyarrow as pa
from pyarrow import types

MOST_DIGITS = 38
LONG = pa.int64()
BEYOND_DOUBLE = {b"whole": b"beyond double"}  # of a long: numbers were seen that no double holds. Leaves with `usable`
NUMBER = re.compile(r"[+-]?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


@dataclass(frozen=True)
class Rules:
    """`typed`: whether the format tells texts from other values. `fresh`: no value has been stored by the type so far, so that
    a long number may still become a double, if one holds those that were seen."""

    typed: bool
    fresh: bool


class Number(str):
    """As it is written."""


class Members(list[tuple[str, Any]]):
    """An object's members: a key may stand twice."""


def read_text(text: str | None) -> Any:
    """What a field of CSV says: a number if it looks like one."""
    return Number(text) if text is not None and NUMBER.fullmatch(text) else text


def widened(field: pa.Field, value: Any, rules: Rules) -> pa.Field:
    kind = field.type
    if value is None:
        return field
    if types.is_null(kind):
        return _first(field, value, rules)
    if types.is_struct(kind) and isinstance(value, Members):
        return field.with_type(pa.struct(with_members(list(kind), value, rules)))
    if types.is_map(kind) and isinstance(value, Members):
        item = _of_all(kind.item_field, (member for _, member in value), rules)
        return field.with_type(pa.map_(kind.key_field, item))
    if (
        (types.is_list(kind) or types.is_large_list(kind))
        and isinstance(value, list)
        and not isinstance(value, Members)
    ):
        make = pa.list_ if types.is_list(kind) else pa.large_list
        return field.with_type(make(_of_all(kind.value_field, value, rules)))
    if types.is_boolean(kind) and isinstance(value, bool):
        return field
    if isinstance(value, Number):
        number = _number_type(field, value, rules)
        if number is not None:
            return _marked(field.with_type(number), value, rules)
    if _is_text(kind) and (
        not rules.typed or (isinstance(value, str) and not isinstance(value, Number)) or _takes_any(field)
    ):
        return field
    return as_text(field, rules)


def with_members(fields: list[pa.Field], members: Iterable[tuple[str, Any]], rules: Rules) -> list[pa.Field]:
    """The order of what is known is kept; what is new comes behind it."""
    places = {field.name: place for place, field in enumerate(fields)}
    for name, value in members:
        if name not in places:
            places[name] = len(fields)
            fields.append(pa.field(name, pa.null()))
        fields[places[name]] = widened(fields[places[name]], value, rules)
    return fields


def as_text(field: pa.Field, rules: Rules) -> pa.Field:
    return pa.field(field.name, pa.string(), field.nullable, {b"text": b"any"} if rules.typed else None)


def usable(field: pa.Field) -> pa.Field | None:
    """Without what no value has told the type of; None if that is all of it."""
    kind = field.type
    if types.is_null(kind):
        return None
    if types.is_struct(kind):
        members = [member for member in map(usable, kind) if member is not None]
        return field.with_type(pa.struct(members)) if members else None
    if types.is_list(kind) or types.is_large_list(kind):
        item = usable(kind.value_field)
        return None if item is None else field.with_type((pa.list_ if types.is_list(kind) else pa.large_list)(item))
    return field.remove_metadata() if field.metadata == BEYOND_DOUBLE else field


def sql_type(kind: pa.DataType) -> str:
    """As DDL says it."""
    if types.is_struct(kind):
        return f"STRUCT<{', '.join(f'{quoted(member.name)}: {sql_type(member.type)}' for member in kind)}>"
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return f"ARRAY<{sql_type(kind.value_type)}>"
    if types.is_map(kind):
        return f"MAP<{sql_type(kind.key_type)}, {sql_type(kind.item_type)}>"
    if types.is_decimal(kind):
        return f"DECIMAL({kind.precision},{kind.scale})"
    if types.is_timestamp(kind):
        return "TIMESTAMP" if kind.tz else "TIMESTAMP_NTZ"
    names = {
        "bool": "BOOLEAN", "int8": "TINYINT", "int16": "SMALLINT", "int32": "INT", "int64": "BIGINT", "uint8": "SMALLINT",
        "uint16": "INT", "uint32": "BIGINT", "uint64": "DECIMAL(20,0)", "float": "FLOAT", "double": "DOUBLE",
        "date32[day]": "DATE", "binary": "BINARY", "large_binary": "BINARY",
    }  # fmt: skip
    return names.get(str(kind), "STRING")


def quoted(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z_]\w*", name) else "`" + name.replace("`", "``") + "`"


def _first(field: pa.Field, value: Any, rules: Rules) -> pa.Field:
    if isinstance(value, Members):
        return field.with_type(pa.struct(with_members([], value, rules)))
    if isinstance(value, list):
        return field.with_type(pa.list_(_of_all(pa.field("item", pa.null()), value, rules)))
    if isinstance(value, bool):
        return field.with_type(pa.bool_())
    if isinstance(value, Number):
        kind = _number_type(field.with_type(LONG if _is_whole(value) else pa.float64()), value, rules)
        return as_text(field, rules) if kind is None else _marked(field.with_type(kind), value, rules)
    return field.with_type(pa.string())


def _marked(field: pa.Field, number: Number, rules: Rules) -> pa.Field:
    is_beyond = rules.fresh and field.type == LONG and not _is_as_double(number)
    return field.with_metadata(BEYOND_DOUBLE) if is_beyond else field


def _is_as_double(whole: Number) -> bool:
    """Whether a double says the same number when it is written again."""
    return len(whole) <= 15 or Decimal(repr(float(whole))) == Decimal(whole)


def _of_all(field: pa.Field, values: Iterable[Any], rules: Rules) -> pa.Field:
    for value in values:
        field = widened(field, value, rules)
    return field


def _is_whole(number: Number) -> bool:
    return not set(number) & set(".eE")


def _number_type(field: pa.Field, number: Number, rules: Rules) -> pa.DataType | None:
    """None: only text holds both."""
    kind, value = field.type, Decimal(number)
    digits, exponent = value.as_tuple()[1:]
    if not isinstance(exponent, int) or abs(value.adjusted()) > MOST_DIGITS * 8:
        return kind if types.is_floating(kind) and math.isfinite(float(number)) else None
    scale = max(0, -exponent) if value != value.to_integral_value() else 0
    whole_digits = max(1, len(digits) + exponent)
    if types.is_integer(kind):
        if scale == 0:
            return _integer_type(kind, int(value), whole_digits)
        if kind.bit_width < 64 or (rules.fresh and field.metadata != BEYOND_DOUBLE):
            return pa.float64() if math.isfinite(float(number)) else None
        return _decimal(20 if types.is_unsigned_integer(kind) else 19, 0, whole_digits, scale)
    if types.is_floating(kind):
        if rules.fresh and scale == 0 and not _is_as_double(number):
            return None
        fits = math.isfinite(float(number)) and (types.is_float64(kind) or _is_finite_as(kind, float(number)))
        return kind if fits else pa.float64() if math.isfinite(float(number)) else None
    if types.is_decimal(kind):
        fits = whole_digits <= kind.precision - kind.scale and scale <= kind.scale
        return kind if fits else _decimal(kind.precision - kind.scale, kind.scale, whole_digits, scale)
    return None


def _integer_type(kind: pa.DataType, value: int, whole_digits: int) -> pa.DataType | None:
    signed = types.is_signed_integer(kind)
    low, high = (-(1 << kind.bit_width - 1), 1 << kind.bit_width - 1) if signed else (0, 1 << kind.bit_width)
    if low <= value < high:
        return kind
    if -(1 << 63) <= value < 1 << 63 and kind != pa.uint64():
        return LONG
    return _decimal(20 if kind == pa.uint64() else 19, 0, whole_digits, 0)


def _decimal(whole: int, scale: int, other_whole: int, other_scale: int) -> pa.DataType | None:
    whole, scale = max(whole, other_whole), max(scale, other_scale)
    return pa.decimal128(whole + scale, scale) if whole + scale <= MOST_DIGITS else None


def _is_finite_as(kind: pa.DataType, value: float) -> bool:
    return math.isfinite(pa.scalar(value, pa.float64()).cast(kind, safe=False).as_py())


def _is_text(kind: pa.DataType) -> bool:
    return bool(types.is_string(kind) or types.is_large_string(kind))


def _takes_any(field: pa.Field) -> bool:
    metadata = field.metadata or {}
    return metadata.get(b"text") == b"any" or metadata.get(b"raw") == b"1"
