"""Predicates of Spark's that are decided here exactly as Spark decides them.

In: predicates as pushdown_rule.java offers them, or as Spark tells a data source of them. Out: clauses as formatter's filters
take them. A predicate is an offer: Spark filters again, so whatever might be answered otherwise is left to it.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from decimal import Decimal
from itertools import product
from typing import Any

import pyarrow as pa
from pyarrow import types

from formatter.filters import NULL_TESTS, TEXT_TESTS, normalized

MOST_ALTERNATIVES = 16  # of an OR of ANDs; a filter that needs more is left to Spark
EPOCH = datetime.datetime(1970, 1, 1)

Tree = list[Any]
Nested = Mapping[int, Sequence[int]]  # of struct columns, by position: the fields that are read of them
Clauses = list[list[tuple[Any, ...]]]


def both(first: Any, second: Clauses) -> Any:
    """Filters of which both hold, as an OR of ANDs."""
    if not second:
        return first
    return [[*one, *other] for one, other in product(normalized(first) or [[]], second)]


def taken(offered: Sequence[Tree], fields: dict[int, pa.Field]) -> Clauses:
    """The offered predicates that are decided here as Spark decides them, as an OR of ANDs; empty for none."""
    clauses: Clauses = [[]]
    for tree in offered:
        alternatives = _alternatives(tree, fields)
        if alternatives is None or len(alternatives) * len(clauses) > MOST_ALTERNATIVES:
            continue
        clauses = [[*one, *other] for one, other in product(clauses, alternatives)]
    return [] if clauses == [[]] else clauses


def _alternatives(tree: Tree, fields: dict[int, pa.Field]) -> Clauses | None:
    """None where nothing can be said. Of an AND a part will do: it drops less."""
    operator = tree[0]
    if operator in ("and", "or"):
        left, right = (_alternatives(side, fields) for side in tree[1:])
        if operator == "or":
            return None if left is None or right is None else left + right
        if left is None or right is None:
            return right if left is None else left
        return [[*one, *other] for one, other in product(left, right)]
    at, *rest = tree[1:]
    if at not in fields:
        return None
    try:
        values = [_value(fields[at].type, one) for one in (rest[0] if operator == "in" else rest)]
    except (TypeError, ValueError, OverflowError, ArithmeticError):
        return None
    decided = clause(operator, fields[at], values if operator == "in" else next(iter(values), None))
    return None if decided is None else [[decided]]


def clause(operator: str, field: pa.Field, value: Any) -> tuple[Any, ...] | None:
    """The clause that is true wherever Spark's predicate is, or None."""
    if operator in NULL_TESTS:
        return (field.name, operator) if is_comparable(field) else None
    values = [one for one in value if one is not None] if operator == "in" else [value]
    if any(one is None for one in values) or not is_decided_alike(operator, field, values):
        return None
    return field.name, operator, values if operator == "in" else value


def is_decided_alike(operator: str, field: pa.Field, values: Sequence[Any]) -> bool:
    """Whether a comparison with these values, of the column's type and none of them null, keeps here what it keeps in Spark."""
    if operator in TEXT_TESTS and not (types.is_string(field.type) or types.is_large_string(field.type)):
        return False
    if not types.is_floating(field.type):
        return is_comparable(field)
    # Spark's NaN equals itself and is greater than all numbers; here it is neither.
    return is_comparable(field) and operator not in ("!=", ">", ">=") and all(value == value for value in values)


def is_comparable(field: pa.Field) -> bool:
    """Types whose values have one order and one equality here and in Spark."""
    type_ = field.type
    if field.metadata and (b"raw" in field.metadata or b"encoding" in field.metadata):
        return False
    if types.is_timestamp(type_):
        return bool(type_.unit == "us")
    plain = (types.is_signed_integer, types.is_boolean, types.is_string, types.is_large_string, types.is_date32)
    small_unsigned = types.is_unsigned_integer(type_) and type_.bit_width < 64
    floats = types.is_float32(type_) or types.is_float64(type_)
    return small_unsigned or floats or types.is_decimal128(type_) or any(is_type(type_) for is_type in plain)


def _value(type_: pa.DataType, value: Any) -> Any:
    """A value of the rule's as formatter's filters take it. Spark counts days and microseconds from 1970."""
    if types.is_date(type_):
        return EPOCH.date() + datetime.timedelta(days=value)
    if types.is_timestamp(type_):
        at = EPOCH + datetime.timedelta(microseconds=value)
        return at if type_.tz is None else at.replace(tzinfo=datetime.UTC)
    if types.is_decimal(type_):
        number = Decimal(value)
        pa.scalar(number, type_)  # of another precision: refused
        return number
    if types.is_boolean(type_):
        if not isinstance(value, bool):
            raise TypeError(value)
        return value
    return value


COMPARISONS = {
    "EqualTo": "==",
    "EqualNullSafe": "==",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "In": "in",
    "StringStartsWith": "starts_with",
    "StringEndsWith": "ends_with",
    "StringContains": "contains",
    "IsNull": "is_null",
    "IsNotNull": "is_not_null",
}
NEGATED = {"EqualTo": "!=", "IsNull": "is_not_null", "IsNotNull": "is_null"}  # not EqualNullSafe: a null passes that


def clause_of(pushed: Any, fields: dict[str, pa.Field]) -> tuple[Any, ...] | None:
    """Of a filter as a Python data source gets it."""
    operators = COMPARISONS
    if type(pushed).__name__ == "Not":
        pushed, operators = pushed.child, NEGATED
    path: tuple[str, ...] = getattr(pushed, "attribute", ())
    operator = operators.get(type(pushed).__name__)
    if operator is None or len(path) != 1 or path[0] not in fields:
        return None
    return clause(operator, fields[path[0]], getattr(pushed, "value", None))
