"""Maps whose keys are no strings: the text of a key is read as the key's type, with the errors its values would have."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm


def entries(text: str, key: pa.DataType | pa.Field, **options):
    schema = pa.schema([("m", pa.map_(key, pa.int64()))])
    return fm.read(f'{{"m":{text}}}\n'.encode(), fm.Json(schema, **options))["m"].to_pylist()[0]


ACCEPTED = [
    ("-12", pa.int8(), -12), ("1.0", pa.int64(), 1), ("1e3", pa.int32(), 1000),
    ("18446744073709551615", pa.uint64(), 2**64 - 1),
    ("-9223372036854775808", pa.int64(), -(2**63)), ("\\u0031", pa.int64(), 1), ("1.5", pa.float64(), 1.5),
    ("0.5", pa.float32(), 0.5),
    ("5e-324", pa.float64(), 5e-324), ("123.45", pa.decimal128(10, 2), Decimal("123.45")), ("true", pa.bool_(), True),
    ("false", pa.bool_(), False), ("2024-02-29", pa.date32(), dt.date(2024, 2, 29)),
    ("2024-02-29T01:02:03.5Z", pa.timestamp("ms"), dt.datetime(2024, 2, 29, 1, 2, 3, 500000)),
    ("01:02:03", pa.time32("s"), dt.time(1, 2, 3)), ("x", pa.string(), "x"), ("x", pa.large_string(), "x"),
    ("x", pa.binary(), b"x"),
    ("a\\nb", pa.string_view(), "a\nb"), ("90", pa.duration("s"), dt.timedelta(seconds=90)), ("", pa.string(), ""),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "value"), ACCEPTED, ids=lambda v: str(v)[:40])
def test_a_key_is_read_as_its_type(text, kind, value):
    assert entries(f'{{"{text}":1}}', kind) == [(value, 1)]
    schema = pa.schema([("l", pa.list_(pa.struct([("m", pa.map_(kind, pa.int64()))])))])
    read = fm.read(f'{{"l":[{{"m":{{"{text}":1}}}},{{}}]}}\n'.encode(), fm.Json(schema))
    assert read.schema == schema
    assert read["l"].to_pylist() == [[{"m": [(value, 1)]}, {"m": None}]]


REFUSED = [
    ("1.5", pa.int64(), "precision"), ("128", pa.int8(), "overflow"), ("-1", pa.uint64(), "overflow"),
    ("", pa.int64(), "invalid"),
    ("one", pa.int64(), "invalid"), ("01", pa.int64(), "invalid"), (" 1", pa.int64(), "invalid"), ("null", pa.int64(), "invalid"),
    ("1e400", pa.float64(), "overflow"), ("NaN", pa.float64(), "invalid"), ("1.005", pa.decimal128(10, 2), "precision"),
    ("x", pa.decimal128(10, 2), "invalid"), ("1", pa.bool_(), "invalid"), ("True", pa.bool_(), "invalid"),
    ("soon", pa.timestamp("s"), "invalid"),
    ("1700000000", pa.timestamp("s"), "invalid"), ("2024-02-30", pa.date32(), "invalid"), ("\\ud800", pa.int64(), "bad_utf8"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "code"), REFUSED, ids=lambda v: str(v)[:40])
def test_a_key_that_does_not_fit_is_an_error_where_it_stands(text, kind, code):
    with pytest.raises(fm.FormatError) as caught:
        entries(f'{{"{text}":1}}', kind)
    assert (caught.value.code, caught.value.byte_offset) == (code, len('{"m":{'))


def test_what_is_wrong_further_left_speaks_first():
    with pytest.raises(fm.FormatError) as caught:
        entries('{"1":"a value of another type","x":2}', pa.int64())
    assert (caught.value.code, caught.value.byte_offset) == ("wrong_type", len('{"m":{"1":'))


def test_a_bad_key_makes_its_map_null_where_errors_do():
    schema = pa.schema([("m", pa.map_(pa.int64(), pa.int64())), ("n", pa.int64())])
    read = fm.read(b'{"m":{"1":1,"x":2},"n":1}\n{"m":{"1":1},"n":2}\n', fm.Json(schema), on_error="null")
    assert read.to_pylist() == [{"m": None, "n": 1}, {"m": [(1, 1)], "n": 2}]


def test_two_spellings_of_one_key_are_one_key():
    assert entries('{"1":1,"2":2,"1.0":3,"1e0":4}', pa.int64()) == [(1, 4), (2, 2)]
    assert entries('{"1":1,"2":2,"1.0":3,"1e0":4}', pa.int64(), on_duplicate_key="first") == [(1, 1), (2, 2)]
    assert entries('{"0.0":1,"-0.0":2}', pa.float64()) == [(0.0, 2)]
    assert entries('{"2024-01-01":1,"2024-01-01T00:00:00Z":2}', pa.timestamp("us")) == [(dt.datetime(2024, 1, 1), 2)]
    with pytest.raises(fm.FormatError, match="duplicate"):
        entries('{"1":1,"1.0":3}', pa.int64(), on_duplicate_key="error")


def test_epoch_numbers_are_keys_where_the_field_names_a_unit():
    key = pa.field("key", pa.timestamp("ms"), nullable=False, metadata={b"unit": b"s"})
    found = entries('{"1700000000":1,"2024-01-01":2}', key)
    assert found == [(dt.datetime(2023, 11, 14, 22, 13, 20), 1), (dt.datetime(2024, 1, 1), 2)]


def test_a_nested_type_is_no_key():
    with pytest.raises(fm.SchemaError, match="key"):
        entries("{}", pa.struct([("a", pa.int64())]))


ORACLES = {
    pa.int64(): (st.integers(-(2**63), 2**63 - 1), str, int),
    pa.float64(): (st.floats(allow_nan=False, allow_infinity=False), json.dumps, float),
    pa.decimal128(38, 6): (
        st.integers(-(10**30), 10**30).map(lambda n: Decimal(n).scaleb(-6)),
        lambda n: f"{n:f}",
        Decimal,
    ),
    pa.bool_(): (st.booleans(), json.dumps, lambda text: text == "true"),
    pa.date32(): (st.dates(), dt.date.isoformat, dt.date.fromisoformat),
    pa.string(): (st.text(st.characters(codec="utf-8"), max_size=40), str, str),
}


@pytest.mark.parametrize("kind", list(ORACLES), ids=str)
@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_maps_equal_what_python_makes_of_the_text(kind, data):
    keys, spell, read = ORACLES[kind]
    made = data.draw(
        st.lists(st.none() | st.dictionaries(keys.map(spell), st.none() | st.integers(-9, 9), max_size=4), max_size=8)
    )
    lines = "".join(json.dumps({"m": m}) + "\n" for m in made).encode()
    found = fm.read(lines, fm.Json(pa.schema([("m", pa.map_(kind, pa.int64()))])))["m"].to_pylist()
    assert found == [m if m is None else list({read(k): v for k, v in m.items()}.items()) for m in made]
