"""on_error="null" in JSON: what became null is told per record where someone asks, and rows stay with their values."""

from __future__ import annotations

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("user", pa.struct([("age", pa.int8()), ("tags", pa.list_(pa.int8()))])),
        ("name", pa.string()),
    ]
)
VALUES = [
    '{"id":1,"user":{"age":2,"tags":[1]},"name":"a"}',
    '{"id":"x","user":{"age":2,"tags":[1]},"name":"a"}',
    "[]",
    '{"id":1,"user":{"age":300,"tags":[1,"y",3]},"name":5}',
    None,
    '{"id":1',
    '{"id":1,"name":7,"user":null}',
]


def test_each_value_has_its_row_and_its_error():
    parsed = fm.parse_records_with_errors(VALUES, fm.Json(SCHEMA))
    assert parsed.data.to_pylist() == [
        {"id": 1, "user": {"age": 2, "tags": [1]}, "name": "a"},
        {"id": None, "user": {"age": 2, "tags": [1]}, "name": "a"},
        {"id": None, "user": None, "name": None},
        {"id": 1, "user": {"age": None, "tags": [1, None, 3]}, "name": None},
        {"id": None, "user": None, "name": None},
        {"id": None, "user": None, "name": None},
        {"id": 1, "user": None, "name": None},
    ]
    errors = parsed.errors.to_pylist()
    assert errors[0] is None
    assert errors[4] is None
    assert "value 1" in errors[1]
    assert "'id', byte 6" in errors[1]
    assert '"x"' in errors[1]
    assert "value 2" in errors[2]
    assert "an object" in errors[2]
    assert "'user', byte 22" in errors[3]
    assert "300" in errors[3]
    assert "value 5, byte 7: expected JSON" in errors[5]
    assert "'name', byte 15" in errors[6]


def test_what_costs_the_row_is_told_before_what_only_became_null():
    schema = pa.schema([("id", pa.int64()), pa.field("name", pa.string(), nullable=False)])
    parsed = fm.parse_records_with_errors(['{"id":"x","name":1}', '{"id":2,"name":"b"}'], fm.Json(schema))
    assert parsed.data["name"].to_pylist() == [None, "b"]
    assert "'name'" in parsed.errors[0].as_py()
    assert parsed.errors[1].as_py() is None


REQUIRED = pa.field("k", pa.binary(3), nullable=False)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (pa.struct([REQUIRED]), b'{"k": "abc"}', {"k": b"abc"}),
        (pa.list_(REQUIRED, 2), b'["abc", "def"]', [b"abc", b"def"]),
        (pa.list_(pa.struct([REQUIRED]), 1), b'[{"k": "abc"}]', [{"k": b"abc"}]),
        (pa.struct([("in", pa.struct([REQUIRED]))]), b'{"in": {"k": "abc"}}', {"in": {"k": b"abc"}}),
    ],
)
def test_below_a_null_binaries_of_one_length_that_may_not_be_null_are_zeros(kind, value, expected):
    """They have their length there, too: nothing shorter can be one of them."""
    lines = [b'{"v": %s}' % value, b'{"v": null}', b"{}", b'{"v": 1}', b'{"v": %s}' % value]
    format = fm.Json(pa.schema([("v", kind)]))
    for repeats in (1, 40):
        table = fm.read(b"\n".join(lines * repeats), format, on_error="null")
        table.validate(full=True)
        assert table["v"].to_pylist() == [expected, None, None, None, expected] * repeats


def test_many_bad_values_cost_no_more_than_their_number():
    values = ['{"id":"x","user":{"age":"y"},"name":1}'] * 20_000
    parsed = fm.parse_records_with_errors(values, fm.Json(SCHEMA))
    assert parsed.errors.null_count == 0
    assert parsed.data["id"].null_count == len(values)
