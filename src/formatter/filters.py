"""Filters in pyarrow.parquet's style: what each clause asks, decided here once for every evaluator (docs/csv.md, section 5).

In: tuples of a column, an operator and a value. Out: plain dicts that the engine's predicates are made of: a bound that lies
between two values of the stored type, or beyond them all, has become one that asks the same of stored values. Refuses to
know: rows.
"""

from __future__ import annotations

import math
import numbers
import struct
from collections.abc import Collection, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import types
from formatter.errors import OptionError, SchemaError, names_shown, shown

# The order is that of Compare in engine/columns/row_filter.hpp.
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "is_null", "is_not_null",
             "starts_with", "ends_with", "contains")  # fmt: skip
LISTS = ("in", "not in")
NULL_TESTS = ("is_null", "is_not_null")
TEXT_TESTS = ("starts_with", "ends_with", "contains")
_ALIASES = {"=": "=="}
_PYTHON = frozenset({int, float, str, bytes, bool, type(None)})

Clause = tuple[Any, ...]
Filters = Sequence[Clause] | Sequence[Sequence[Clause]] | None


def normalized(filters: Filters) -> list[list[Clause]]:
    """As an OR of ANDs, empty when every row passes; nothing of it is the caller's to change or to use up."""
    if filters is None:
        return []
    if isinstance(filters, tuple) and filters and isinstance(filters[0], str):
        raise OptionError(
            f"filters: expected a list of (column, operator, value), found one tuple; write [{filters!r}]"
        )
    if not isinstance(filters, Sequence) or isinstance(filters, str | bytes):
        kind = type(filters).__name__
        raise OptionError(f"filters: expected a list like [('price', '>', 10)], found {kind} {shown(filters)}")
    if len(filters) == 0:
        return []
    alternatives = [filters] if isinstance(filters[0], tuple) else filters
    for each in alternatives:
        if isinstance(each, list) and each and isinstance(each[0], str):
            raise OptionError(
                f"filters: expected (column, operator, value), found a list; write the tuple {shown(tuple(each))}"
            )
        if not isinstance(each, list | tuple):
            raise OptionError(f"filters: expected (column, operator, value), found {shown(each)}")
    clauses = [[_clause(c) for c in conjunction] for conjunction in alternatives]
    return clauses if all(clauses) else []


def _clause(clause: Any) -> Clause:
    if not isinstance(clause, tuple) or len(clause) not in (2, 3) or not isinstance(clause[0], str):
        raise OptionError(f"filters: expected (column, operator, value), found {shown(clause)}")
    name, operator = clause[0], _ALIASES.get(clause[1], clause[1])
    if operator not in OPERATORS:
        raise OptionError(f"filters: operator: expected one of {', '.join(OPERATORS)}, found {clause[1]!r}")
    if operator in NULL_TESTS:
        return name, operator, None
    if len(clause) == 2:
        raise OptionError(f"filters: {name!r} {operator}: expected a value, found none")
    if operator in LISTS:
        if isinstance(clause[2], str | bytes) or not hasattr(clause[2], "__iter__"):
            raise OptionError(f"filters: {name!r} {operator}: expected a list of values, found {shown(clause[2])}")
        return name, operator, [_plain(value) for value in clause[2]]
    value = _plain(clause[2])
    if value is None:
        raise OptionError(f"filters: {name!r} {operator} None is never true; use is_null or is_not_null")
    return name, operator, value


def _plain(value: Any) -> Any:
    """Arrow's and numpy's values as Python's; times as Arrow's where Python's would lose nanoseconds."""
    if type(value) in _PYTHON:
        return value
    if isinstance(value, pa.Scalar):
        return value if pa.types.is_temporal(value.type) and value.is_valid else value.as_py()
    if getattr(value, "nanosecond", 0):
        value = value.to_datetime64()  # of pandas
    elif getattr(value, "nanoseconds", 0):
        value = value.to_timedelta64()
    if isinstance(value, bytearray | memoryview | pa.Buffer):
        return bytes(value)
    if isinstance(value, np.datetime64 | np.timedelta64):
        if np.isnat(value):
            return None
        unit = "ns" if np.datetime_data(value.dtype)[0] == "ns" else "us"
        kind = pa.timestamp(unit) if isinstance(value, np.datetime64) else pa.duration(unit)
        name = "datetime64" if isinstance(value, np.datetime64) else "timedelta64"
        return pa.scalar(int(value.astype(f"{name}[{unit}]").astype(np.int64)), kind)
    return value.item() if isinstance(value, np.generic) else value


def divided(clauses: list[list[Clause]], later: Collection[str]) -> tuple[list[list[Clause]], list[list[Clause]]]:
    """What can be asked at once, and what only when the columns of `later` have their values: both have to hold."""
    if not any(clause[0] in later for conjunction in clauses for clause in conjunction):
        return clauses, []
    if len(clauses) > 1:  # alternatives are asked together
        return [], clauses
    now = [clause for clause in clauses[0] if clause[0] not in later]
    return [now] if now else [], [[clause for clause in clauses[0] if clause[0] in later]]


def columns_of(filters: list[list[Clause]]) -> list[str]:
    return list(dict.fromkeys(clause[0] for conjunction in filters for clause in conjunction))


def check_columns(names: Sequence[str], schema: pa.Schema, what: str) -> None:
    for name in names:
        if not isinstance(name, str) or schema.get_field_index(name) < 0:
            raise SchemaError(f"{what}: no column {name!r}; the schema has {names_shown(schema.names, name)}")


def filters_text(filters: list[list[Clause]]) -> str:
    """As plans and streams show them, behind a space; nothing where nothing is filtered."""

    def clause(name: str, operator: str, value: Any) -> str:
        return f"{name} {operator}" if operator.startswith("is_") else f"{name} {operator} {value!r}"

    if not filters:
        return ""
    return " " + " or ".join(" and ".join(clause(*each) for each in conjunction) for conjunction in filters)


def described(
    filters: list[list[Clause]], columns: list[dict[str, Any]], schema: pa.Schema
) -> list[list[dict[str, Any]]]:
    """What plans.pxi makes predicates of; `columns` are the plan's, the filter's among them."""
    position = {column["name"]: i for i, column in enumerate(columns)}
    return [
        [_predicate(c, position[c[0]], columns[position[c[0]]]["type"], schema.field(c[0])) for c in conj]
        for conj in filters
    ]


# A comparison that no value passes, and one that every value but null does.
NEVER, ANY_VALUE = "in", "is_not_null"
BEYOND = 2**300  # every whole number that a column stores
MOST_DIGITS = 1000  # of a decimal: more say no more about any column's value, and take forever


def _predicate(clause: Clause, column: int, code: int, field: pa.Field) -> dict[str, Any]:
    name, operator, value = clause
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    predicate: dict[str, Any] = {
        "column": column, "compare": 0, "integers": [], "naturals": [], "floats": [], "texts": [], "holds_null": False,
        "holds_nan": False,
    }  # fmt: skip
    held = types.OPERANDS[code]
    values: list[Any] = []
    if operator not in NULL_TESTS:
        if operator in TEXT_TESTS and not (_is_text(kind) or pa.types.is_null(kind)):
            raise OptionError(f"filters: {name!r} is {kind}: {operator} asks of text and bytes alone")
        wanted = value if operator in LISTS else [value]
        predicate["holds_null"] = any(each is None for each in wanted)
        operands = [_operand(each, kind, name) for each in wanted if each is not None]
        if code == types.CODES[pa.date32()] and kind != pa.date32():  # stored by the day
            operands = [Fraction(each) * _nanoseconds(kind) / _nanoseconds(pa.date32()) for each in operands]
        if pa.types.is_null(kind):
            operator = operator if operator in LISTS else NEVER
        elif held == "floats":
            predicate["holds_nan"] = operator in LISTS and any(each != each for each in operands)
            operator, values = _among_floats(operator, operands, kind)
        elif operands and isinstance(operands[0], bytes):
            values = operands
        else:
            operator, values = _among_whole(operator, operands, _least_and_most(held))
    predicate["compare"] = OPERATORS.index(operator)
    values = sorted(set(values))
    if held == "wide":
        predicate["texts"] = [each.to_bytes(16, "little", signed=True) for each in values]
    elif held == "texts":
        predicate["texts"] = [each if isinstance(each, bytes) else sortable_bytes(each) for each in values]
    else:
        predicate[held] = values
    return predicate


def sortable_bytes(number: int) -> bytes:
    """256-bit numbers as texts of the same order."""
    return (number + 2**255).to_bytes(32, "big")


def _least_and_most(held: str) -> tuple[int, int]:
    """Of the whole numbers that a predicate of these operands can hold."""
    if held == "naturals":
        return 0, 2**64 - 1
    bits = {"wide": 128, "texts": 256}.get(held, 64)
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


# ------------------------------------------------------------------------------------------- what a value stands for


def _operand(value: Any, kind: pa.DataType, name: str) -> Any:
    """A value as columns of this type hold theirs: text as bytes, numbers and times as numbers of the type's unit, exact
    as long as they are whole ones or fractions."""
    for belongs, plural, convert in _FAMILIES:
        if belongs(kind):
            try:
                return convert(value, kind)
            except (TypeError, ValueError, ArithmeticError, pa.ArrowException) as error:
                raise OptionError(f"filters: {name!r} holds {plural}: cannot compare with {shown(value)}") from error
    raise OptionError(f"filters: {name!r} is {kind}: only values that are not nested can be compared")


def _boolean(value: Any, kind: pa.DataType) -> int:
    if not isinstance(value, bool):
        raise TypeError("not a boolean")
    return int(value)


def _text(value: Any, kind: pa.DataType) -> bytes:
    if isinstance(value, str):
        return value.encode()
    return bytes(memoryview(value))


def _integer(value: Any, kind: pa.DataType) -> Any:
    number = _number(value)
    return _exact(number) if isinstance(number, Decimal) else number


def _decimal(value: Any, kind: pa.DataType) -> Any:
    """In units of the last place. A float stands for the shortest decimal that denotes it, as it is written: 0.1 is 0.1."""
    number = _number(value)
    number = _exact(Decimal(repr(number)) if isinstance(number, float) else number)
    return number if isinstance(number, float) else number * Fraction(10) ** kind.scale


def _float(value: Any, kind: pa.DataType) -> Any:
    """A decimal stands for its nearest double; whole numbers and fractions stay what they are."""
    number = _number(value)
    return float(number) if isinstance(number, Decimal) else number


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal | numbers.Rational):
        raise TypeError("not a number")
    return value


def _exact(number: Any) -> Any:
    """Infinity and NaN, which are no fractions, stay floats; so do decimals of a magnitude that no column reaches."""
    if isinstance(number, Decimal):
        if not number.is_finite():
            return float(number)
        if number and abs(number.adjusted()) > MOST_DIGITS:
            tiny = Fraction(1, 10**MOST_DIGITS)
            return _infinity(number) if number.adjusted() > 0 else tiny if number > 0 else -tiny
    return number if isinstance(number, float) else Fraction(number)


def _infinity(number: Any) -> float:
    return math.inf if number > 0 else -math.inf


def _time(value: Any, kind: pa.DataType) -> Any:
    """Whole numbers count in the type's unit already."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    scalar = value if isinstance(value, pa.Scalar) else pa.scalar(value)
    if not _is_clock(scalar.type) or _clock(scalar.type) != _clock(kind):
        raise TypeError("another kind of time")
    return Fraction(scalar.value) * _nanoseconds(scalar.type) / _nanoseconds(kind)


def _clock(kind: pa.DataType) -> str:
    if pa.types.is_time(kind):
        return "time of day"
    return "duration" if pa.types.is_duration(kind) else "date and time"


def _nanoseconds(kind: pa.DataType) -> int:
    """Of the unit that a type of times counts in."""
    if pa.types.is_date(kind):
        return 86_400 * 10**9 if pa.types.is_date32(kind) else 10**6
    return {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[kind.unit]


def _anything(value: Any, kind: pa.DataType) -> int:
    return 0


def _is_text(kind: pa.DataType) -> bool:
    return types.type_code(types.storage_type(kind)) in types.TEXTS


def _is_clock(kind: pa.DataType) -> bool:
    t = pa.types
    return bool(t.is_date(kind) or t.is_timestamp(kind) or t.is_time(kind) or t.is_duration(kind))


_FAMILIES = (
    (pa.types.is_boolean, "booleans", _boolean),
    (pa.types.is_integer, "integers", _integer),
    (pa.types.is_floating, "floats", _float),
    (pa.types.is_decimal, "decimals", _decimal),
    (_is_clock, "times", _time),
    (_is_text, "texts", _text),
    (pa.types.is_null, "nulls", _anything),
)

# ------------------------------------------------------------------------------- the same question of stored values


def _among_whole(operator: str, operands: list[Any], limits: tuple[int, int]) -> tuple[str, list[int]]:
    """A comparison with a fraction, or with what no value of the type reaches, as one with a whole number that can be held."""
    least, most = limits
    if operator in LISTS:
        finite = [number for number in operands if number == number and abs(number) < BEYOND]
        return operator, [int(n) for n in finite if n == math.floor(n) and least <= n <= most]
    (number,) = operands
    if number != number:
        return (ANY_VALUE if operator == "!=" else NEVER), []
    if abs(number) > BEYOND:
        number = BEYOND if number > 0 else -BEYOND
    below = math.floor(number)
    if below != number:
        if operator in ("==", "!="):
            return (NEVER if operator == "==" else ANY_VALUE), []
        operator = "<=" if operator in ("<", "<=") else ">"
    if least <= below <= most:
        return operator, [below]
    holds = operator == "!=" or (operator != "==" and (operator in ("<", "<=")) == (below > most))
    return (ANY_VALUE if holds else NEVER), []


def _among_floats(operator: str, operands: list[Any], kind: pa.DataType) -> tuple[str, list[float]]:
    """Comparisons are those of doubles, which hold halves and singles exactly; lists hold values of the column's own type."""
    if operator in LISTS:
        held = [(_rounded(number, kind), number) for number in operands]
        return operator, [near for near, n in held if near == n or (isinstance(n, float) and near == near)]
    (number,) = operands
    near = _nearest_double(number)
    if isinstance(number, float) or near == number:
        return operator, [near]
    if operator in ("==", "!="):
        return (NEVER if operator == "==" else ANY_VALUE), []
    if operator in ("<", "<="):
        return ("<" if near > number else "<="), [near]
    return (">=" if near > number else ">"), [near]


def _nearest_double(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return _infinity(number)


def _rounded(number: Any, kind: pa.DataType) -> float:
    """To the type; NaN, which is equal to nothing, where that has no value near it."""
    letter = {16: "<e", 32: "<f", 64: "<d"}[kind.bit_width]
    try:
        (rounded,) = struct.unpack(letter, struct.pack(letter, _nearest_double(number)))
    except OverflowError:
        return math.nan
    return float(rounded)
