"""Columns and what is rescued beside them rebuild every value of the input: nothing is lost, at every cut, in every order."""

from __future__ import annotations

import csv
import io
import json
import random
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

import formatter as fm

NESTED = pa.struct([("a", pa.int64()), ("b", pa.string()), ("deep", pa.struct([("x", pa.int32())]))])
SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("name", pa.string()),
        ("user", NESTED),
        ("tags", pa.list_(pa.int64())),
        ("items", pa.list_(pa.struct([("n", pa.int64())]))),
        ("more", pa.map_(pa.string(), pa.int64())),
    ]
)
JSON = fm.Json(SCHEMA, rescue="_rescued")
FLAT = fm.Json(pa.schema([SCHEMA.field("id"), SCHEMA.field("name")]), rescue="_rescued")

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
numbers = st.integers(-(2**40), 2**40) | st.sampled_from([0, 1, 2**31, 2**63, 10**30]) | st.decimals(-9, 9, places=3)
scalars = st.none() | st.booleans() | numbers | texts
keys = st.sampled_from(["id", "name", "user", "tags", "items", "more", "a", "b", "x", "n", "deep"]) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4), max_leaves=6
)
chances = st.integers(0, 999).map(random.Random)
small = st.integers(-9, 9) | st.none()
fitting = {
    "id": small,
    "name": texts | st.none(),
    "user": st.fixed_dictionaries(
        {}, optional={"a": small, "b": texts, "deep": st.fixed_dictionaries({}, optional={"x": small})}
    ),
    "tags": st.lists(small, max_size=3),
    "items": st.lists(st.fixed_dictionaries({}, optional={"n": small}), max_size=3),
    "more": st.dictionaries(texts, small, max_size=3),
}
records = st.fixed_dictionaries({}, optional={name: one | values for name, one in fitting.items()}).flatmap(
    lambda known: st.dictionaries(keys, values, max_size=2).map(lambda more: {**more, **known})
)


class Number(str):
    """As it is written: one that is rescued keeps every digit."""


def parsed(text: str) -> Any:
    return json.loads(text, parse_int=Number, parse_float=Number)


def written(record: dict[str, Any], rng: random.Random) -> str:
    """With blanks where JSON allows them, and escapes where nobody needs them."""
    blank, colon = rng.choice(["", " ", "\t"]), rng.choice([":", " : "])
    text = json.dumps(record, default=lambda number: Plain(number), ensure_ascii=rng.random() < 0.5,
                      separators=(f",{blank}", colon))  # fmt: skip
    return f"{blank}{text}{blank}"


class Plain(float):
    """A decimal that json writes with the digits it has."""

    def __repr__(self) -> str:
        return format(float(self), ".3f")


def read_off(value: Any, kind: pa.DataType) -> Any:
    """A column's value as JSON: without what is null, for that and what is not there are the same to a column."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        members = {field.name: read_off(value[field.name], field.type) for field in kind}
        return {name: member for name, member in members.items() if member is not None}
    if pa.types.is_map(kind):
        return {key: read_off(item, kind.item_type) for key, item in value}
    if pa.types.is_list(kind):
        return [read_off(item, kind.value_type) for item in value]
    return value if isinstance(value, str) else Number(value)


def merged(column: Any, rescued: Any) -> Any:
    """What is rescued goes into objects, and takes the place of everything else."""
    if isinstance(column, dict) and isinstance(rescued, dict):
        names = {**column, **rescued}
        return {name: merged(column.get(name), rescued[name]) if name in rescued else column[name] for name in names}
    return rescued


def rebuilt(row: dict[str, Any], schema: pa.Schema) -> dict[str, Any]:
    columns = {field.name: read_off(row[field.name], field.type) for field in schema if field.name != "_rescued"}
    rescued = parsed(row["_rescued"]) if row["_rescued"] is not None else {}
    return as_known(merged({name: value for name, value in columns.items() if value is not None}, rescued), schema)


def without_nulls(value: Any, kind: pa.DataType | None) -> Any:
    """The same of a record: null where a column says no more than that."""
    if kind is not None and pa.types.is_struct(kind) and isinstance(value, dict):
        kinds = {field.name: field.type for field in kind}
        members = {name: without_nulls(member, kinds.get(name)) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not None or name not in kinds}
    if kind is not None and pa.types.is_list(kind) and isinstance(value, list):
        return [without_nulls(item, kind.value_type) for item in value]
    return value


def as_known(record: Any, schema: pa.Schema) -> Any:
    return without_nulls(record, pa.struct([field for field in schema if field.name != "_rescued"]))


@given(st.lists(records, min_size=1, max_size=6), st.sampled_from([JSON, FLAT]), chances)
def test_a_json_record_is_rebuilt_from_its_columns_and_what_is_rescued(drawn, format, rng):
    lines = [written(record, rng) for record in drawn] * rng.choice([1, 1, 20])
    data = "\n".join(lines).encode()
    rows = fm.read(data, format, threads=1).to_pylist()
    assert [rebuilt(row, format.schema) for row in rows] == [as_known(parsed(line), format.schema) for line in lines]
    for row, line in zip(rows, lines, strict=True):
        if row["_rescued"] is None:
            continue
        assert parsed(row["_rescued"]), line  # nothing is rescued as nothing


def streamed_rows(data: bytes, format: fm.Csv | fm.Json, size: int, rng: Any) -> list[dict[str, Any]]:
    """Those of a stream of buffers of that size, in random order."""
    buffers = [data[at : at + size] for at in range(0, len(data), size)]
    stream = fm.Stream(format, ordered=True)
    batches = []
    for i in rng.sample(range(len(buffers)), len(buffers)):
        batches += stream.push(buffers[i], sequence=i + 1)
    batches += stream.finish()
    return [row for batch in batches for row in batch.data.to_pylist()]


@given(st.lists(records, min_size=1, max_size=6), st.integers(1, 70), chances)
def test_what_is_rescued_of_json_is_the_same_at_every_cut_in_every_order_and_by_itself(drawn, size, rng):
    lines = [written(record, rng).encode() for record in drawn] * rng.choice([1, 10])
    data = b"\n".join(lines)
    whole = fm.read(data, JSON, threads=1).to_pylist()
    assert streamed_rows(data, JSON, size, rng) == whole
    assert fm.parse_records(lines, JSON).to_pylist() == whole
    array = b"[" + b",\n".join(lines) + b"]"
    assert fm.read(array, fm.Json(SCHEMA, records="array", rescue="_rescued")).to_pylist() == whole


fields = st.sampled_from(["", "1", "-7", "99999999999", "1.5", "x", "a b", 'q"q', "é", "a,b", "two\nlines"])
csv_records = st.lists(fields, min_size=2, max_size=6)
CSV_SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string()), ("price", pa.float64())])


def as_csv(rows: list[list[str]]) -> list[bytes]:
    texts = []
    for row in rows:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow(row)
        texts.append(out.getvalue().encode())
    return texts


def fields_of(row: dict[str, Any], names: list[str]) -> list[str]:
    """The fields of a record, from its row: null is what nothing is written as."""
    rescued = json.loads(row["_rescued"]) if row["_rescued"] is not None else {}
    found = []
    for i, name in enumerate(names):
        if name in row and name not in rescued:
            value = row[name]
            found.append("" if value is None else value if isinstance(value, str) else format(value, ".12g"))
        elif name in rescued and not (name in row and rescued[name] is None):
            found.append(rescued[name] or "")
        else:
            assert all(later in rescued for later in names[i:] if later in row)
            break
    extra = [rescued[str(i)] or "" for i in range(len(names), len(names) + len(rescued)) if str(i) in rescued]
    return found + extra


@given(st.lists(csv_records, min_size=1, max_size=6), st.booleans(), st.integers(1, 70), chances)
def test_a_csv_record_is_rebuilt_from_its_columns_and_what_is_rescued(drawn, header, size, rng):
    names = ["id", "other", "name", "price"] if header else CSV_SCHEMA.names
    format = fm.Csv(CSV_SCHEMA, header=header, rescue="_rescued")
    rows = drawn * rng.choice([1, 40])
    data = b"".join(as_csv([names, *rows] if header else rows))
    read = fm.read(data, format, threads=1).to_pylist()
    assert [fields_of(row, names) for row in read] == rows
    assert streamed_rows(data, format, size, rng) == read
    if not header:
        assert fm.parse_records([record.rstrip(b"\n") for record in as_csv(rows)], format).to_pylist() == read
