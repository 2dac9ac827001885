"""Input made to break a reader: it ends in a clear error or in the right value, in memory and time in proportion."""

from __future__ import annotations

import pyarrow as pa
import pytest

import formatter as fm

RAW = pa.schema([pa.field("v", pa.string(), metadata={b"raw": b"1"})])


def code_of(data: bytes, schema: pa.Schema, **options) -> str:
    with pytest.raises(fm.FormatError) as caught:
        fm.read(data, fm.Json(schema, **options), threads=1)
    return caught.value.code


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_nesting_without_end_meets_a_limit(opening):
    data = b'{"v":' + opening * 20_000
    assert code_of(data, RAW) == "too_deep"
    assert code_of(data, pa.schema([("w", pa.int8())])) == "too_deep"
    assert code_of(data, pa.schema([("v", pa.list_(pa.list_(pa.int8())))])) in ("too_deep", "wrong_type")
    assert code_of(data, RAW, validate="full") == "too_deep"


def test_a_thousand_levels_that_close_are_fine():
    value = "[" * 1000 + "]" * 1000
    assert fm.read(f'{{"v":{value}}}'.encode(), fm.Json(RAW, validate="full"))["v"].to_pylist() == [value]


@pytest.mark.parametrize(("validate", "most"), [("touched", 1024), ("full", 1023)])  # which counts the record's own
@pytest.mark.parametrize("schema", [RAW, pa.schema([("w", pa.int8())])], ids=["taken", "passed over"])
def test_the_limit_of_nesting_is_met_at_one_bracket_more(schema, validate, most):
    fine, deep = (b'{"v":' + b"[" * n + b"]" * n + b"}\n" for n in (most, most + 1))
    assert fm.read(fine, fm.Json(schema, validate=validate)).num_rows == 1
    assert code_of(deep, schema, validate=validate) == "too_deep"


@pytest.mark.parametrize(
    ("kind", "code"), [(pa.int64(), "overflow"), (pa.float64(), "overflow"), (pa.decimal128(38, 2), "overflow")]
)
def test_a_number_of_a_million_digits_overflows(kind, code):
    assert code_of(b'{"v":' + b"9" * 1_000_000 + b"}", pa.schema([("v", kind)])) == code


def test_a_million_digits_behind_the_point_are_rounded():
    data = b'{"v":0.' + b"3" * 1_000_000 + b"}"
    assert fm.read(data, fm.Json(pa.schema([("v", pa.float64())])))["v"].to_pylist() == [1 / 3]


def test_an_exponent_of_a_million_digits_is_no_loop():
    data = b'{"v":1e' + b"9" * 1_000_000 + b"}"
    assert code_of(data, pa.schema([("v", pa.int64())])) == "overflow"
    assert code_of(data, pa.schema([("v", pa.float64())])) == "overflow"


def test_a_string_of_many_megabytes_is_a_value():
    text = "x" * (32 << 20)
    table = fm.read(f'{{"v":"{text}"}}'.encode(), fm.Json(pa.schema([("v", pa.string())])))
    assert table["v"].to_pylist() == [text]


def test_a_record_beyond_the_streams_limit_is_an_error_not_memory():
    stream = fm.Stream(fm.Json(pa.schema([("v", pa.string())])), max_record_bytes=1 << 16)

    def push_without_end() -> None:
        for sequence in range(1, 1000):
            stream.push(b'{"v":"' if sequence == 1 else b"x" * 4096, sequence=sequence)
        stream.finish(last_sequence=999)

    with pytest.raises(fm.FormatError, match="max_record_bytes"):
        push_without_end()


def test_many_keys_cost_what_they_weigh():
    keys = ",".join(f'"k{i}":{i}' for i in range(300_000))
    line = ('{"m":{' + keys + '},"last":1}').encode()
    schema = pa.schema([("m", pa.map_(pa.string(), pa.int64())), ("last", pa.int64()), ("k7", pa.int64())])
    (row,) = fm.read(line, fm.Json(schema)).to_pylist()
    assert (len(row["m"]), row["m"][-1], row["last"], row["k7"]) == (300_000, ("k299999", 299_999), 1, None)
    flat = ("{" + keys + "}").encode()
    assert fm.read(flat, fm.Json(schema))["k7"].to_pylist() == [7]


@pytest.mark.parametrize("cut", range(1, 60))
def test_a_record_that_stops_anywhere_is_rejected_once(cut):
    whole = b'{"v":[{"a":"x\\u00e9\\"","b":-1.5e3},true,null,{"c":[]}]}'
    found: list[pa.Table] = []
    table = fm.read((whole + b" " * 9)[:cut], fm.Json(RAW), on_error="collect", rejects=found)
    assert (table.num_rows, found[0].num_rows) == ((1, 0) if cut >= len(whole) else (0, 1))
