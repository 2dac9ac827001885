"""An array of records reads as its values would one by one: rows in their places, nulls and errors with their values."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

import formatter as fm
from formatter.values import RecordParser, parse_records_with_errors

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
CSV = fm.Csv(SCHEMA)
JSON = fm.Json(SCHEMA)
CSV_VALUES = [
    b"1,x,2.5", b'2,"y, z",3', b'3,"two\nlines",4', b'4,"""",5', b"", b"\n", b" ", b"5,x", b"q,x,1", b'"6,x,1', b"7,x,1\n",
    b"8,x,1\r\n", b"9,x,1\n10,y,2", b"\xff,x,1", b"11,\xff,1", b'1"2,x,3', b"12,x,1,2", None, b"a" * 300_000, b'13,"x",1',
]  # fmt: skip
JSON_VALUES = [
    b'{"a":1,"b":"x","c":2.5}', b'{"a":2,\n "b":"y"}', b'\n\n{"a":3}\n', b"", b" \n ", b"{", b"[]", b'{"a":"q","b":"z"}',
    b'{"b":"raw\nline"}', b'{"a":4} trailing', b'{"a":1}\n{"a":2}', None, b'{"b":"' + b"x" * 300_000 + b'"}', b'{"c":1e400}',
    b'{"b":"\xff"}', b'{"a":5,"a":6}', b"null", b'  {"a":7}',
]  # fmt: skip
CASES = [(CSV, CSV_VALUES), (JSON, JSON_VALUES)]


def alone(value, format, columns=None):
    parsed = parse_records_with_errors(pa.array([value], pa.binary()), format, columns=columns)
    return parsed.data.to_pylist()[0], parsed.errors[0].as_py()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("format", "values"), CASES, ids=["csv", "json"])
@pytest.mark.parametrize("columns", [None, ["c"], ["b", "a"]])
def test_a_value_reads_the_same_among_others_as_alone(format, values, columns, seed):
    mixed = random.Random(seed).choices(values, k=400)
    parsed = parse_records_with_errors(pa.array(mixed, pa.binary()), format, columns=columns)
    expected = {value: alone(value, format, columns) for value in set(mixed)}
    assert parsed.data.to_pylist() == [expected[value][0] for value in mixed]
    for at, (value, message) in enumerate(zip(mixed, parsed.errors.to_pylist(), strict=True)):
        wanted = expected[value][1]
        assert message == (wanted and wanted.replace("value 0", f"value {at}", 1))


def test_a_line_end_inside_a_json_record_is_space():
    text = json.dumps({"a": 1, "b": "x\ny", "c": 2}, indent=2)
    assert fm.parse_records([text], JSON).to_pylist() == [{"a": 1, "b": "x\ny", "c": 2.0}]
    assert alone(b'{"a":\n1}\n\n', JSON) == ({"a": 1, "b": None, "c": None}, None)


def test_a_raw_line_end_inside_a_json_string_is_an_error_as_in_a_file():
    row, error = alone(b'{"b":"raw\nline"}', JSON)
    assert row == {"a": None, "b": None, "c": None}
    assert "expected JSON" in error or "byte 9" in error


def test_two_records_in_a_value_are_an_error_in_both_formats():
    assert alone(b"9,x,1\n10,y,2", CSV)[1].startswith("csv: value 0, byte 0: expected one record")
    row, error = alone(b'{"a":1}\n{"a":2}', JSON)
    assert row == {"a": None, "b": None, "c": None}
    assert "nothing behind the object" in error


def test_errors_of_values_that_became_null_are_told_in_json_too():
    values = [b'{"a":"q","b":"kept"}', b'{"b":"fine"}']
    parsed = parse_records_with_errors(pa.array(values), JSON)
    assert parsed.data.to_pylist() == [{"a": None, "b": "kept", "c": None}, {"a": None, "b": "fine", "c": None}]
    (error,) = parsed.details
    assert (error.code, error.column, error.record, error.byte_offset) == ("wrong_type", "a", 0, 5)


def test_an_error_deep_in_a_nested_value_is_told_where_it_stands():
    format = fm.Json(pa.schema([("l", pa.list_(pa.int64()))]))
    parsed = parse_records_with_errors(pa.array([b'{"l":[1,"x",3]}']), format)
    assert parsed.data.to_pylist() == [{"l": [1, None, 3]}]
    assert [(error.column, error.byte_offset) for error in parsed.details] == [("l", 8)]


@pytest.mark.parametrize(("format", "values"), CASES, ids=["csv", "json"])
@pytest.mark.parametrize(
    ("filters", "passes"),
    [
        ([("a", ">", 1)], lambda row: row["a"] is not None and row["a"] > 1),
        ([("a", "is_null")], lambda row: row["a"] is None),
        ([("b", "not in", ["x"])], lambda row: row["b"] != "x"),
        ([("b", "in", ["x", None])], lambda row: row["b"] in ("x", None)),
        ([[("a", "==", 1)], [("c", "<", 2)]], lambda row: row["a"] == 1 or (row["c"] is not None and row["c"] < 2)),
    ],
)
def test_a_filter_keeps_the_values_whose_rows_pass_and_says_which(format, values, filters, passes):
    mixed = random.Random(1).choices(values, k=300)
    array = pa.array(mixed, pa.binary())
    every = RecordParser(format).parse(array).data.to_pylist()
    kept = [at for at, row in enumerate(every) if passes(row)]
    parsed = RecordParser(format, filters=filters).parse(array)
    assert parsed.data.to_pylist() == [every[at] for at in kept]
    assert (parsed.kept.to_pylist() if parsed.kept is not None else list(range(len(mixed)))) == kept


def test_raise_tells_the_first_bad_value():
    with pytest.raises(fm.FormatError, match="value 1, field 0 'a'") as caught:
        fm.parse_records([b"1,x,1", b"q,x,1", b"r,x,1"], CSV, on_error="raise")
    assert caught.value.record == 1


def test_no_columns_and_no_values_are_fine():
    assert RecordParser(CSV, columns=[]).parse(pa.array(CSV_VALUES, pa.binary())).value_count == len(CSV_VALUES)
    assert fm.parse_records(pa.array([], pa.binary()), JSON).num_rows == 0


@pytest.mark.parametrize("type", [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view()])
def test_every_text_type_and_slice_is_read_in_place(type):
    array = pa.array(["0,a,0", "1,b,1", None, "3,d,3"], pa.string()).cast(type)
    assert fm.parse_records(array.slice(1), CSV, columns=["a"]).to_pydict() == {"a": [1, None, 3]}


def test_binary_records_keep_a_last_byte_that_looks_like_a_line_end():
    format = fm.Native(pa.schema([pa.field("n", pa.int32(), nullable=False)]))
    numbers = [7, 0x0A000000, 10, -1]
    values = [number.to_bytes(4, "little", signed=True) for number in numbers]
    assert fm.parse_records(values, format).column("n").to_pylist() == numbers


def test_values_in_another_encoding_keep_their_rows_however_many_there_are():
    """Rows of rewritten text were looked for among the values as if all had been rewritten since the last block."""
    format = fm.Csv(pa.schema([("n", pa.int64()), ("t", pa.string())]), encoding="latin-1")
    values = [f"{n},\xe9{'x' * 50}".encode("latin-1") for n in range(20_000)]
    values[7], values[15_000] = b"zz,1", b"3,4,5"
    found = fm.parse_records(values, format)["n"].to_pylist()
    assert [n for n, value in enumerate(found) if value != n] == [7, 15_000]


def test_a_value_may_end_with_a_part_of_a_record_end_that_overlaps_itself():
    format = fm.Csv(pa.schema([("a", pa.int64()), ("b", pa.string())]), record_delimiter=";;")
    values = ["1,a;", "2,b;;", "3,;", "", ";", None, "4,c" + ";" * 7 + "5,d", "6,e"]
    parsed = parse_records_with_errors(values, format)
    assert parsed.data.column("b").to_pylist() == ["a;", "b", ";", None, None, None, None, "e"]
    assert fm.read(b"1,a;;2,b;", format)["b"].to_pylist() == ["a", "b;"]
