"""What a filter keeps, said plainly: one Python value at a time, as docs/csv.md has it.

In: a value of a column, or None, and a clause. Out: whether the clause is true of it. Refuses to know: arrays, the engine.
"""

from __future__ import annotations

import datetime as dt
import math
import operator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa

COMPARE = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
TEXT_TESTS = {"starts_with": bytes.startswith, "ends_with": bytes.endswith, "contains": bytes.__contains__}
EPOCH = dt.datetime(1970, 1, 1)
MICROSECOND = dt.timedelta(microseconds=1)
UNITS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


def holds(value: Any, kind: pa.DataType, clause: tuple[Any, ...]) -> bool:
    _, compare, *rest = clause
    if compare in ("is_null", "is_not_null"):
        return (value is None) == (compare == "is_null")
    if compare in ("in", "not in"):
        return _is_listed(value, kind, rest[0]) == (compare == "in")
    if value is None:
        return False
    if compare in TEXT_TESTS:
        return TEXT_TESTS[compare](*_same_terms(value, rest[0], kind))
    return bool(COMPARE[compare](*_same_terms(value, rest[0], kind)))


def passes(value: Any, kind: pa.DataType, alternatives: list[list[tuple[Any, ...]]]) -> bool:
    return any(all(holds(value, kind, clause) for clause in clauses) for clauses in alternatives)


def _is_listed(value: Any, kind: pa.DataType, listed: Any) -> bool:
    """A list holds values of the column's type: NaN is itself there, and zero has one sign."""
    if value is None:
        return any(each is None for each in listed)
    for each in listed:
        if each is None:
            continue
        one, other = _same_terms(value, each, kind)
        if pa.types.is_floating(_plain_type(kind)) and isinstance(other, float):
            other = _in_type(other, _plain_type(kind))
        if one == other or (one != one and other != other):
            return True
    return False


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _in_type(number: float, kind: pa.DataType) -> float | None:
    with np.errstate(over="ignore"):
        held = float(np.array([number]).astype({16: "f2", 32: "f4", 64: "f8"}[kind.bit_width])[0])
    return None if math.isinf(held) and not math.isinf(number) else held


def _same_terms(value: Any, operand: Any, kind: pa.DataType) -> tuple[Any, Any]:
    kind = _plain_type(kind)
    if isinstance(value, str | bytes):
        return _bytes(value), _bytes(operand)
    if isinstance(value, bool):
        return value, operand
    if pa.types.is_temporal(kind):
        return _nanoseconds(value, kind), _nanoseconds(operand, kind)
    if isinstance(operand, np.generic | pa.Scalar):
        operand = operand.as_py() if isinstance(operand, pa.Scalar) else operand.item()
    if isinstance(operand, Decimal) and not operand.is_finite():
        operand = float(operand)
    if isinstance(value, float):
        return value, float(operand) if isinstance(operand, Decimal) else operand
    if isinstance(operand, float) and isinstance(value, Decimal) and math.isfinite(operand):
        operand = Decimal(repr(operand))
    if isinstance(operand, Decimal):
        return Decimal(value), operand
    return Fraction(value), operand


def _bytes(text: Any) -> bytes:
    return text.encode() if isinstance(text, str) else bytes(text)


def _nanoseconds(value: Any, kind: pa.DataType) -> int:
    if isinstance(value, int):
        unit = 86_400 * 10**9 if kind == pa.date32() else 10**6 if kind == pa.date64() else UNITS[kind.unit]
        return value * unit
    if isinstance(value, pa.Scalar):
        return int(value.value) * UNITS[value.type.unit]
    if isinstance(value, np.datetime64):
        return int(value.astype("datetime64[ns]").astype(np.int64))
    if isinstance(value, dt.datetime):
        extra = getattr(value, "nanosecond", 0)
        if value.tzinfo is not None:
            value = value.astimezone(dt.UTC).replace(tzinfo=None)
        return (dt.datetime(*value.timetuple()[:6], value.microsecond) - EPOCH) // MICROSECOND * 1000 + extra
    if isinstance(value, dt.date):
        return (value - EPOCH.date()).days * 86_400 * 10**9
    if isinstance(value, dt.time):
        return (((value.hour * 60 + value.minute) * 60 + value.second) * 10**6 + value.microsecond) * 1000
    return value // MICROSECOND * 1000
