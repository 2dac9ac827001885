"""Filters in pyarrow.parquet's style to the engine's predicates. In: tuples. Out: plain dicts of typed values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from formatter import types
from formatter.errors import OptionError, SchemaError, shown

# The order is that of Compare in engine/columns/row_filter.hpp.
OPERATORS = ("==", "!=", "<", "<=", ">", ">=", "in", "not in", "is_null", "is_not_null")
_ALIASES = {"=": "=="}

Clause = tuple[Any, ...]
Filters = Sequence[Clause] | Sequence[Sequence[Clause]] | None


def normalized(filters: Filters) -> list[list[Clause]]:
    """As an OR of ANDs; empty when there is nothing to filter."""
    if filters is None or len(filters) == 0:
        return []
    if isinstance(filters, tuple) and isinstance(filters[0], str):
        raise OptionError(
            f"filters: expected a list of (column, operator, value), found one tuple; write [{filters!r}]"
        )
    if isinstance(filters[0], tuple):
        return [[_clause(c) for c in filters]]
    return [[_clause(c) for c in conjunction] for conjunction in filters]


def _clause(clause: Any) -> Clause:
    if not isinstance(clause, tuple) or len(clause) not in (2, 3) or not isinstance(clause[0], str):
        raise OptionError(f"filters: expected (column, operator, value), found {shown(clause)}")
    operator = _ALIASES.get(clause[1], clause[1])
    if operator not in OPERATORS:
        raise OptionError(f"filters: operator: expected one of {', '.join(OPERATORS)}, found {clause[1]!r}")
    if len(clause) == 2 and not operator.startswith("is_"):
        raise OptionError(f"filters: {clause[0]!r} {operator}: expected a value, found none")
    return clause[0], operator, _plain(clause[2]) if len(clause) == 3 else None


def _plain(value: Any) -> Any:
    """Arrow's scalars and arrays as Python's values."""
    if isinstance(value, pa.Scalar):
        return value.as_py()
    return value.to_pylist() if isinstance(value, pa.Array | pa.ChunkedArray) else value


def columns_of(filters: list[list[Clause]]) -> list[str]:
    return list(dict.fromkeys(clause[0] for conjunction in filters for clause in conjunction))


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


def _predicate(clause: Clause, column: int, code: int, field: pa.Field) -> dict[str, Any]:
    name, operator, value = clause
    predicate: dict[str, Any] = {
        "column": column, "compare": OPERATORS.index(operator), "integers": [], "naturals": [], "floats": [], "texts": [],
        "holds_null": False,
    }  # fmt: skip
    if operator.startswith("is_"):
        return predicate
    if operator in ("in", "not in"):
        if isinstance(value, str | bytes) or not hasattr(value, "__iter__"):
            raise OptionError(f"filters: {name!r} {operator}: expected a list of values, found {shown(value)}")
        values = [_plain(v) for v in value]
        predicate["holds_null"] = any(v is None for v in values)
        values = [v for v in values if v is not None]
    elif value is None:
        raise OptionError(f"filters: {name!r} {operator} None is never true; use is_null or is_not_null")
    else:
        values = [value]
    if code in types.SIGNED and pa.types.is_temporal(field.type):
        values = [_as_number(v, field, name) for v in values]
    if code in types.SIGNED or code in types.UNSIGNED:
        operator, numbers = _whole_numbers(operator, values, name)
        limits = (-(2**63), 2**63 - 1) if code in types.SIGNED else (0, 2**64 - 1)
        operator, numbers = _within(operator, numbers, *limits)
        predicate["compare"] = OPERATORS.index(operator)
        if operator == "not in" and clause[1] != "not in":
            predicate["holds_null"] = True  # it stands for a comparison that is true of every value, but not of null
        predicate["integers" if code in types.SIGNED else "naturals"] = numbers
        return predicate
    # Times compare as what they are, not as the timestamps they are stored as.
    kind = field.type if pa.types.is_time(field.type) else types.storage_type(field.type)
    for v in values:
        try:
            if code in types.FLOATS:
                # As in pyarrow: compared as doubles, but looked for in lists of the column's own type.
                in_list = operator in ("in", "not in")
                predicate["floats"].append(pa.scalar(float(v), kind).as_py() if in_list else float(v))
            elif code in types.TEXTS:
                predicate["texts"].append(v.encode() if isinstance(v, str) else bytes(v))
            elif code == types.DECIMAL128:
                unscaled = int(pa.scalar(v, kind).as_py().scaleb(kind.scale))
                predicate["texts"].append(unscaled.to_bytes(16, "little", signed=True))
            elif code == types.BOOLEAN:
                if not isinstance(v, bool):
                    raise TypeError("not a bool")
                predicate["integers"].append(int(v))
            else:
                predicate["integers"].append(pa.scalar(v, kind).value)
        except (TypeError, ValueError, pa.ArrowException) as error:
            raise OptionError(f"filters: {name!r} is {field.type}: cannot compare with {shown(v)} ({error})") from error
    return predicate


def _as_number(value: Any, field: pa.Field, name: str) -> int:
    """A time as the number that its type stores."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    try:
        return int(pa.scalar(value, field.type).value)
    except (TypeError, ValueError, pa.ArrowException) as error:
        raise OptionError(f"filters: {name!r} is {field.type}: cannot compare with {shown(value)} ({error})") from error


def _whole_numbers(operator: str, values: list[Any], name: str) -> tuple[str, list[int]]:
    """Comparisons of an integer column with fractions, as comparisons with integers."""
    numbers: list[int] = []
    for v in values:
        if isinstance(v, bool) or (not isinstance(v, int | float) and not hasattr(v, "__int__")):
            raise OptionError(f"filters: {name!r} holds integers: cannot compare with {shown(v)}")
        if isinstance(v, float) and math.isnan(v):
            return ("not in" if operator in ("!=", "not in") else "in"), []
        if isinstance(v, float) and math.isinf(v):
            v = 2**70 if v > 0 else -(2**70)
        if v == int(v):
            numbers.append(int(v))
        elif operator in ("<", "<="):
            return "<=", [math.floor(v)]
        elif operator in (">", ">="):
            return ">=", [math.ceil(v)]
        elif operator in ("==", "!="):
            return ("in" if operator == "==" else "not in"), []
    return operator, numbers


def _within(operator: str, numbers: list[int], low: int, high: int) -> tuple[str, list[int]]:
    """Bounds no value of the type can reach decide at once."""
    if operator in ("in", "not in"):
        return operator, [n for n in numbers if low <= n <= high]
    number = numbers[0]
    if low <= number <= high:
        return operator, numbers
    always = operator == "!=" or ((operator in ("<", "<=")) == (number > high) and operator != "==")
    return ("not in" if always else "in"), []


def check_columns(names: Sequence[str], schema: pa.Schema, what: str) -> None:
    for name in names:
        if not isinstance(name, str) or schema.get_field_index(name) < 0:
            raise SchemaError(f"{what}: no column {name!r}; the schema has {', '.join(map(repr, schema.names[:20]))}")
