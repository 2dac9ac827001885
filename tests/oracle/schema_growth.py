"""Whether a schema has only grown. In: one before and one after. Out: what moved, went away or became narrower, in words.

Says by itself what is wider than what: it is held against the library's own rules. Refuses to know: which values came.
"""

from __future__ import annotations

import pyarrow as pa
from pyarrow import types


def wrongly_grown(before: pa.Schema, after: pa.Schema, rescued: str) -> list[str]:
    known = [field for field in before if field.name != rescued]
    wrong = [f"{a.name}: {a.type} became {b.type}" for a, b in zip(known, after, strict=False) if not is_wider(a, b)]
    if len(known) >= len(after):
        wrong.append(f"{len(known)} columns became {len(after) - 1}")
    wrong += [f"{field.name}: new, and not nullable" for field in list(after)[len(known) :] if not field.nullable]
    return wrong


def is_wider(before: pa.Field, after: pa.Field) -> bool:
    """Or the same."""
    a, b = before.type, after.type
    if before.name != after.name or (before.nullable and not after.nullable):
        return False
    if types.is_string(b):
        return not _takes_any(before) or _takes_any(after)
    if types.is_struct(a) and types.is_struct(b):
        return len(a) <= len(b) and all(is_wider(one, other) for one, other in zip(a, b, strict=False))
    if types.is_list(a) and types.is_list(b):
        return is_wider(a.value_field, b.value_field)
    if types.is_signed_integer(a) and types.is_signed_integer(b):
        return a.bit_width <= b.bit_width
    if types.is_signed_integer(a) and types.is_float64(b):
        return a.bit_width < 64
    if (types.is_decimal(a) or types.is_signed_integer(a)) and types.is_decimal(b):
        whole, places = _digits(a)
        return b.precision - b.scale >= whole and b.scale >= places
    return a == b


def _digits(kind: pa.DataType) -> tuple[int, int]:
    if types.is_decimal(kind):
        return kind.precision - kind.scale, kind.scale
    return len(str(1 << kind.bit_width - 1)), 0


def _takes_any(field: pa.Field) -> bool:
    return (field.metadata or {}).get(b"text") == b"any"
