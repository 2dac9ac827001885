"""Payloads that wrap arrays: a row for each of their records, with the value it is from, as Python's json module finds them.

In: values, paths. Out: rows, sources, what was wrong.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracle.wrapped_records import as_plain, items_of

import formatter as fm
from formatter.values import RecordParser

SCHEMA = pa.schema([("id", pa.int64()), ("t", pa.string())])
FORMAT = fm.Json(SCHEMA, records="/Records/*")
PAYLOADS = [
    b'{"Records":[{"id":1,"t":"a"},{"id":2}]}',
    None,
    b"",
    b'{"Records":[]}',
    b'{"Records":[{"id":"x","t":"b"},7,{"id":4}]} x',
    b"nope",
    b'{"Records":[{"id":5}]}\n{"Records":[{"id":6}]}\n',
]
ROWS = [1, 2, None, None, 4, None, None, 5, 6]
SOURCES = [0, 0, 4, 4, 4, 4, 5, 6, 6]


@pytest.mark.parametrize("make", [list, lambda v: pa.array(v, pa.binary()), lambda v: pa.array(v, pa.large_binary())])
def test_every_record_of_a_value_is_a_row_that_says_its_value(make, kernel):
    batch = fm.parse_records(make(PAYLOADS), FORMAT, source="from")
    assert batch.schema.names == ["id", "t", "from"]
    assert (batch["id"].to_pylist(), batch["from"].to_pylist()) == (ROWS, SOURCES)
    assert batch["t"].to_pylist() == ["a", None, "b", *[None] * 6]


def test_what_is_wrong_names_the_value_and_the_byte_in_it():
    parsed = fm.parse_records_with_errors(PAYLOADS, FORMAT)
    told = [(error.record, error.byte_offset, error.code) for error in parsed.details]
    assert told == [(4, 18, "wrong_type"), (4, 31, "not_an_object"), (4, 44, "not_an_object"), (5, 0, "not_an_object")]
    assert parsed.detail_rows == (2, 3, 5, 6)
    assert parsed.kept.to_pylist() == SOURCES
    assert [error is None for error in parsed.errors.to_pylist()] == [True] * 4 + [False, False, True]
    with pytest.raises(fm.FormatError, match="value 4, field 0 'id', byte 18"):
        fm.parse_records(PAYLOADS, FORMAT, on_error="raise")


def test_what_is_no_record_is_rescued_whole():
    rescued = fm.parse_records(PAYLOADS, FORMAT, rescue="_r")["_r"].to_pylist()
    assert rescued == [None, None, '{"id":"x"}', '{"_r":"7"}', None, '{"_r":"x"}', '{"_r":"nope"}', None, None]


def test_filters_drop_records_and_not_values():
    for filters, ids in (
        ([("id", ">", 1)], [2, 4, 5, 6]),
        ([("id", "is_null", None)], [None] * 4),
        ([("t", "==", "b")], [None]),
    ):
        parsed = RecordParser(FORMAT, filters=filters).parse(PAYLOADS)
        assert parsed.data["id"].to_pylist() == ids
        wanted = [source for row, source in zip(ROWS, SOURCES, strict=True) if row in ids]
        assert parsed.kept.to_pylist() == (wanted if ids != [None] or filters[0][0] == "id" else [4])


def test_the_source_is_there_for_every_format():
    lines = fm.parse_records([b'{"id":1}', None], fm.Json(SCHEMA), columns=["id"], source="from")
    assert lines.to_pydict() == {"id": [1, None], "from": [0, 1]}
    top = fm.parse_records([b'[{"id":1},{"id":2}]', b"[]"], fm.Json(SCHEMA, records="/*"), columns=[], source="from")
    assert top.to_pydict() == {"from": [0, 0]}
    with pytest.raises(fm.SchemaError, match="source"):
        fm.parse_records([b"{}"], FORMAT, source="id")


@given(
    st.lists(
        st.lists(st.one_of(st.integers(-9, 9), st.none(), st.lists(st.integers(0, 3), max_size=2)), max_size=5),
        max_size=30,
    )
)
def test_any_payloads_give_what_python_finds(documents):
    payloads = [json.dumps({"of": items, "Records": [{"id": 0, "v": item} for item in items]}) for items in documents]
    format = fm.Json(pa.schema([pa.field("v", pa.string(), metadata={b"raw": b"1"})]), records="/Records/*")
    batch = fm.parse_records(pa.array(payloads, pa.string()), format, source="from")
    expected = [
        (at, as_plain(item)["v"]) for at, text in enumerate(payloads) for item in items_of(text, format.array_path)
    ]
    found = [None if value is None else json.loads(value) for value in batch["v"].to_pylist()]
    assert list(zip(batch["from"].to_pylist(), found, strict=True)) == expected


def test_many_payloads_of_any_size_keep_their_records_apart():
    sizes = [n * 37 % 400 for n in range(2_000)]
    ids = iter(range(sum(sizes)))
    payloads = [
        json.dumps({"Records": [{"id": next(ids), "t": "x" * (n % 90)} for n in range(size)]}) for size in sizes
    ]
    batch = fm.parse_records(payloads_of(payloads), FORMAT, source="from")
    assert batch["id"].to_pylist() == list(range(sum(sizes)))
    assert batch["from"].to_pylist() == [value for value, size in enumerate(sizes) for _ in range(size)]


def payloads_of(texts):
    return pa.array([text.encode() for text in texts], pa.binary())
