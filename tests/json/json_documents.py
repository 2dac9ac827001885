"""Schemas, records that fit them, and the many ways to write one record as a line.

In: Hypothesis draws. Out: a pyarrow schema and lines. The oracle is Python's json, with int and Decimal for numbers.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

# A NUL ends a name in the Arrow C interface, so no column can have one.
letters = st.characters(codec="utf-8", exclude_characters="\0")
names = st.text(letters, max_size=6) | st.sampled_from(["id", "a", "b", "c", "value", "long_key_name_17_b"])
texts = st.text(st.characters(codec="utf-8"), max_size=20) | st.text(max_size=60, alphabet='ab"\\/\n\t{}[],: ')

SCALARS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int64(): st.integers(-(2**63), 2**63 - 1) | st.integers(-9, 9),
    pa.uint64(): st.integers(0, 2**64 - 1),
    pa.int8(): st.integers(-128, 127),
    pa.float64(): st.floats(allow_nan=False, allow_infinity=False),
    pa.bool_(): st.booleans(),
    pa.string(): texts,
    pa.large_string(): texts,
    pa.decimal128(38, 6): st.integers(-(10**30), 10**30).map(lambda n: Decimal(n).scaleb(-6)),
}


def nested(children: st.SearchStrategy[pa.DataType]) -> st.SearchStrategy[pa.DataType]:
    return (
        children.map(pa.list_)
        | children.map(pa.large_list)
        | children.map(lambda kind: pa.list_(kind, 2))
        | children.map(lambda kind: pa.map_(pa.string(), kind))
        | st.lists(st.tuples(names, children), max_size=3, unique_by=lambda pair: pair[0]).map(pa.struct)
    )


kinds = st.recursive(st.sampled_from(list(SCALARS)), nested, max_leaves=5)
schemas = st.lists(st.tuples(names, kinds), min_size=1, max_size=5, unique_by=lambda pair: pair[0]).map(pa.schema)


class Entries(dict[str, Any]):
    """The value of a map column: every key counts, so a writer adds none."""


def values(kind: pa.DataType) -> st.SearchStrategy[Any]:
    if kind in SCALARS:
        return st.none() | SCALARS[kind]
    if pa.types.is_struct(kind):
        members = {member.name: values(member.type) for member in kind}
        return st.none() | st.fixed_dictionaries({}, optional=members)
    if pa.types.is_map(kind):
        return st.none() | st.dictionaries(names, values(kind.item_type), max_size=3).map(Entries)
    if pa.types.is_fixed_size_list(kind):
        return st.none() | st.lists(values(kind.value_type), min_size=kind.list_size, max_size=kind.list_size)
    return st.none() | st.lists(values(kind.value_type), max_size=3)


def records(schema: pa.Schema) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional={field.name: values(field.type) for field in schema})


class Writer:
    """Writes records with the freedom the grammar gives: white space, escapes, key order, keys nobody asked for."""

    def __init__(self, random: Any) -> None:
        self.random = random

    def space(self) -> str:
        return self.random.choice(["", "", "", " ", "\t", "  "])

    def padded(self, text: str) -> str:
        return self.space() + text + self.space()

    def text(self, value: str) -> str:
        return json.dumps(value, ensure_ascii=self.random.random() < 0.3)

    def value(self, value: Any) -> str:
        if isinstance(value, dict):
            pairs = list(value.items())
            if self.random.random() < 0.3:
                self.random.shuffle(pairs)
            if not isinstance(value, Entries) and self.random.random() < 0.2:
                pairs.insert(self.random.randrange(len(pairs) + 1), ("no column's name", [{"x": "]}"}, None]))
            inner = ",".join(f"{self.padded(self.text(k))}:{self.padded(self.value(v))}" for k, v in pairs)
            return "{" + (inner or self.space()) + "}"
        if isinstance(value, list):
            return "[" + (",".join(self.padded(self.value(v)) for v in value) or self.space()) + "]"
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Decimal):
            return f"{value:f}"
        return json.dumps(value)

    def line(self, record: dict[str, Any]) -> bytes:
        return (self.space() + self.value(record) + self.space()).encode()


def read_back(line: bytes, schema: pa.Schema) -> dict[str, Any]:
    """What Python's json and the schema make of a line."""
    record = json.loads(line, parse_float=Decimal)
    return {field.name: _as(record.get(field.name), field.type) for field in schema}


def _as(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {member.name: _as(value.get(member.name), member.type) for member in kind}
    if pa.types.is_map(kind):
        return [(key, _as(item, kind.item_type)) for key, item in value.items()]
    if isinstance(value, list):
        return [_as(item, kind.value_type) for item in value]
    if pa.types.is_floating(kind):
        return float(value)
    return Decimal(value).quantize(Decimal(1).scaleb(-kind.scale)) if pa.types.is_decimal(kind) else value
