"""The kinds of values that the engine tells apart at a glance (engine/sample/value_kind.hpp), and what they have in common."""

from __future__ import annotations

VALUE_KINDS = (
    "empty", "null_marker", "nan", "boolean", "integer", "natural", "wide_integer", "long_digits", "zero_led", "plus_led",
    "real", "long_real", "comma_real", "comma_group", "grouped", "point_grouped", "date", "timestamp", "zoned", "time",
    "dated", "text",
)  # fmt: skip

VOID = frozenset({"empty", "null_marker"})
WHOLE = frozenset({"integer", "natural", "wide_integer"})
NUMBERS = WHOLE | {
    "nan",
    "long_digits",
    "zero_led",
    "plus_led",
    "real",
    "long_real",
    "comma_real",
    "comma_group",
    "grouped",
    "point_grouped",
}
DATES = frozenset({"date", "timestamp", "zoned", "dated"})

# What a header's words are not: by this a record of names differs from the values below it.
_FAMILIES = {
    **dict.fromkeys(VOID, "void"), **dict.fromkeys(NUMBERS, "number"), **dict.fromkeys(DATES, "date"),
    "time": "time", "boolean": "boolean", "text": "text",
}  # fmt: skip
FAMILY = tuple(_FAMILIES[name] for name in VALUE_KINDS)
