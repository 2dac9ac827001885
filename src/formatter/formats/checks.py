"""Checks that all formats share. In: arguments as callers gave them. Out: the same, or an error that says the remedy."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Literal

import pyarrow as pa

from formatter.errors import OptionError, SchemaError

OnError = Literal["raise", "null", "skip", "collect"]
UNMATCHED = ("checked", "counted")
TIME_DIRECTIVES = "YymdjbBaAHIMSfpz%"  # those of engine/values/exact_times.cpp
ON_ERROR = ("raise", "null", "skip", "collect")


def as_bytes(value: str | bytes, name: str, *, owner: str = "Csv") -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise OptionError(f"{owner}: {name}: expected str or bytes, found {value!r}")


def texts_of(values: Iterable[str], name: str, owner: str) -> tuple[str, ...]:
    if isinstance(values, str | bytes):
        raise OptionError(f"{owner}: {name}: expected a sequence of strings, found {values!r}; write ({values!r},)")
    if not isinstance(values, Iterable):
        raise OptionError(f"{owner}: {name}: expected a sequence of strings, found {values!r}; write () for none")
    texts = tuple(values)
    for text in texts:
        if not isinstance(text, str):
            raise OptionError(f"{owner}: {name}: expected strings, found {text!r}")
    return texts


def time_patterns_of(values: Iterable[str], owner: str) -> tuple[str, ...]:
    """Patterns of times, of directives that the engine knows: another one would only make every value a wrong one."""
    patterns = texts_of(values, "timestamp_formats", owner)
    for pattern in patterns:
        directives = re.findall("%(.?)", pattern)
        unknown = next((f"%{letter}" for letter in directives if letter not in {*TIME_DIRECTIVES}), None)
        if unknown or not directives:
            known = " ".join(f"%{letter}" for letter in TIME_DIRECTIVES)
            found = f"{unknown!r} in {pattern!r}" if unknown else f"{pattern!r}, which has none"
            raise OptionError(
                f"{owner}: timestamp_formats: expected patterns of {known}, as strptime has them, found {found}"
            )
    return patterns


def spellings_of(format: Any) -> dict[str, tuple[str, ...]]:
    """How values are written, as a text format was told, checked."""
    owner = type(format).__name__
    names = ("nulls", "true_values", "false_values")
    texts = {name: texts_of(getattr(format, name), name, owner) for name in names}
    texts["timestamp_formats"] = time_patterns_of(format.timestamp_formats, owner)
    check_choices(format, decimal=(".", ","))
    overlap = {*texts["true_values"]} & {*texts["false_values"]}
    if overlap:
        raise OptionError(f"{owner}: true_values and false_values share {sorted(overlap)!r}")
    return texts


def check_choices(format: object, *, or_flag: bool = False, **choices: tuple[str, ...]) -> None:
    """Options that have one of a few values. `or_flag`: or are a bool."""
    for name, allowed in choices.items():
        value = getattr(format, name)
        if value not in allowed and not (or_flag and isinstance(value, bool)):
            named = ["a bool"] * or_flag + [repr(choice) for choice in allowed]
            expected = f"{', '.join(named[:-1])} or {named[-1]}" if named[1:] else named[0]
            raise OptionError(f"{type(format).__name__}: {name}: expected {expected}, found {value!r}")


def check_flags(format: object, *names: str) -> None:
    for name in names:
        if not isinstance(getattr(format, name), bool):
            raise OptionError(f"{type(format).__name__}: {name}: expected a bool, found {getattr(format, name)!r}")


def check_counts(format: object, *names: str, least: int = 0, most: int = 2**63 - 1, or_none: bool = False) -> None:
    for name in names:
        count = getattr(format, name)
        if count is None and or_none:
            continue
        if isinstance(count, bool) or not isinstance(count, int) or not least <= count <= most:
            none = ", or None" if or_none else ""
            raise OptionError(
                f"{type(format).__name__}: {name}: expected a whole number from {least}{none}, found {count!r}"
            )


def check_on_error(on_error: str) -> None:
    if on_error not in ON_ERROR:
        raise OptionError(f"on_error: expected one of {', '.join(ON_ERROR)}, found {on_error!r}")


def check_schema(schema: object, owner: str, *, least_columns: int = 1) -> None:
    if not isinstance(schema, pa.Schema):
        raise SchemaError(
            f"{owner}: schema: expected a pyarrow.Schema, found {type(schema).__name__}; use pa.schema([...])"
        )
    if len(schema) < least_columns:
        raise SchemaError(f"{owner}: schema: expected at least one column, found none")
    names = schema.names
    if len(set(names)) != len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise SchemaError(f"{owner}: schema: column {twice!r} stands twice; names must be unique")
    has_nul = any("\0" in name for name in names)
    for field in schema:
        if has_nul or pa.types.is_nested(field.type):
            _check_names(field, owner)


def _check_names(field: pa.Field, owner: str) -> None:
    if "\0" in field.name:
        raise SchemaError(f"{owner}: schema: {field.name!r}: a name of Arrow's C interface ends at a NUL; rename it")
    if pa.types.is_nested(field.type):
        for i in range(field.type.num_fields):
            _check_names(field.type.field(i), owner)


def with_rescue_column(schema: pa.Schema, rescue: object, owner: str) -> pa.Schema:
    """The schema with the column of what is rescued, unless it has that already."""
    if rescue is None:
        return schema
    if not isinstance(rescue, str) or not rescue or "\0" in rescue:
        raise OptionError(f"{owner}: rescue: expected the name of a column, found {rescue!r}")
    place = schema.get_field_index(rescue)
    if place < 0:
        return schema.append(pa.field(rescue, pa.string()))
    field = schema.field(place)
    if field.type != pa.string() or not field.nullable:
        raise SchemaError(
            f"{owner}: rescue: column {rescue!r} is {field.type}{'' if field.nullable else ' not null'}; what is rescued is a "
            "string, or null: give it a name of its own"
        )
    return schema
