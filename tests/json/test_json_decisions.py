"""What a value of one JSON type gives in a column of another: each case where readers differ, decided once."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

import formatter as fm


def one(text: str, kind: pa.DataType, metadata: dict[bytes, bytes] | None = None, **options):
    schema = pa.schema([pa.field("v", kind, metadata=metadata)])
    return fm.read(f'{{"v":{text}}}\n'.encode(), fm.Json(schema, **options))["v"].to_pylist()[0]


ACCEPTED = [
    ("1.0", pa.int64(), 1), ("1e3", pa.int32(), 1000), ("-0", pa.int8(), 0), ("12300e-2", pa.uint8(), 123),
    ("9223372036854775807", pa.int64(), 2**63 - 1), ("18446744073709551615", pa.uint64(), 2**64 - 1),
    ("-9223372036854775808.0", pa.int64(), -(2**63)), ("1", pa.float64(), 1.0), ("-0.0", pa.float64(), -0.0),
    ("1E-400", pa.float64(), 0.0), ("0.1", pa.float32(), 0.10000000149011612), ("5e-324", pa.float64(), 5e-324),
    ("123.45", pa.decimal128(10, 2), Decimal("123.45")), ("1.5e2", pa.decimal128(10, 2), Decimal("150.00")),
    ('"123.45"', pa.decimal128(10, 2), Decimal("123.45")), ("1.50", pa.decimal128(3, 1), Decimal("1.5")),
    ("12345678901234567890123456789012345678", pa.decimal128(38, 0), Decimal("12345678901234567890123456789012345678")),
    ('"a\\"b\\\\\\/\\b\\f\\n\\r\\t"', pa.string(), 'a"b\\/\b\f\n\r\t'), ('"\\ud83d\\ude00"', pa.large_string(), "\U0001f600"),
    ('"\\u0000"', pa.string(), "\0"), ('""', pa.string(), ""), ('"x"', pa.binary(), b"x"),
    ("null", pa.string(), None), ("null", pa.list_(pa.int8()), None), ("true", pa.bool_(), True),
    ('"2024-02-29"', pa.date32(), dt.date(2024, 2, 29)), ('"x"', pa.dictionary(pa.int32(), pa.string()), "x"),
    ('"2024-02-29T01:02:03.5Z"', pa.timestamp("ms"), dt.datetime(2024, 2, 29, 1, 2, 3, 500000)),
    ("[]", pa.list_(pa.int8()), []), ("[1,null]", pa.large_list(pa.int8()), [1, None]),
    ("[1,2]", pa.list_(pa.int8(), 2), [1, 2]), ('{"a":1,"b":2,"a":3}', pa.map_(pa.string(), pa.int8()), [("a", 3), ("b", 2)]),
    ('{"b":[{"c":"x"},null,{}]}', pa.struct([("b", pa.list_(pa.struct([("c", pa.string())])))]),
     {"b": [{"c": "x"}, None, {"c": None}]}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "value"), ACCEPTED, ids=lambda v: str(v)[:40])
def test_a_value_that_fits_without_loss_is_accepted(text, kind, value):
    assert one(text, kind) == value
    nested = one(f"[{text}]", pa.list_(kind))
    assert nested == [value]


REFUSED = [
    ("1.5", pa.int64(), "precision"), ('"1"', pa.int64(), "wrong_type"), ("true", pa.int8(), "wrong_type"),
    ("128", pa.int8(), "overflow"), ("-1", pa.uint64(), "overflow"), ("9223372036854775808", pa.int64(), "overflow"),
    ("1e400", pa.float64(), "overflow"), ('"1.5"', pa.float64(), "wrong_type"), ("1.005", pa.decimal128(10, 2), "precision"),
    ("123", pa.decimal128(2, 0), "overflow"), ("5", pa.string(), "wrong_type"), ("true", pa.string(), "wrong_type"),
    ("{}", pa.string(), "wrong_type"), ("1", pa.bool_(), "wrong_type"), ('"true"', pa.bool_(), "wrong_type"),
    ("1700000000", pa.timestamp("s"), "wrong_type"), ('"soon"', pa.timestamp("s"), "invalid"),
    ("{}", pa.list_(pa.int8()), "wrong_type"),
    ("[]", pa.struct([("a", pa.int8())]), "wrong_type"), ("[1]", pa.list_(pa.int8(), 2), "invalid"),
    ('"\\ud800"', pa.string(), "bad_utf8"), ('"\\ud800\\u0041"', pa.string(), "bad_utf8"),
    ("01", pa.int64(), "malformed"), ("-01.5", pa.float64(), "malformed"), ("+1", pa.int64(), "malformed"),
    (".5", pa.float64(), "malformed"), ("5.", pa.float64(), "malformed"), ("NaN", pa.float64(), "malformed"),
    ("True", pa.bool_(), "malformed"), ("1 2", pa.int64(), "malformed"), ('"a" "b"', pa.string(), "malformed"),
    ('"a\tb"', pa.string(), "malformed"), ('"\\x"', pa.string(), "malformed"), ("[1,]", pa.list_(pa.int8()), "malformed"),
    ('{"a" 1}', pa.struct([("a", pa.int8())]), "malformed"), ("", pa.int64(), "malformed"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind", "code"), REFUSED, ids=lambda v: str(v)[:40])
def test_a_value_of_another_type_is_refused_with_its_code_and_place(text, kind, code):
    with pytest.raises(fm.FormatError) as caught:
        one(text, kind)
    assert caught.value.code == code
    assert caught.value.record == 0
    assert 5 <= caught.value.byte_offset <= 5 + len(text)


@pytest.mark.parametrize(
    ("text", "unit", "kind", "value"),
    [
        ("1700000000", b"s", pa.timestamp("us"), dt.datetime(2023, 11, 14, 22, 13, 20)),
        ("1700000000123", b"ms", pa.timestamp("us"), dt.datetime(2023, 11, 14, 22, 13, 20, 123000)),
        ("1700000000.25", b"s", pa.timestamp("ms"), dt.datetime(2023, 11, 14, 22, 13, 20, 250000)),
        ("1700000000000000000", b"ns", pa.timestamp("s"), dt.datetime(2023, 11, 14, 22, 13, 20)),
        ('"2023-11-14"', b"s", pa.timestamp("s"), dt.datetime(2023, 11, 14)),
        ("19675", b"d", pa.date32(), dt.date(2023, 11, 14)),
        ("1699920000", b"s", pa.date32(), dt.date(2023, 11, 14)),
    ],
)
def test_numbers_are_times_when_the_field_names_their_unit(text, unit, kind, value):
    assert one(text, kind, {b"unit": unit}) == value


@pytest.mark.parametrize(("encoding", "text"), [(b"base64", '"AAH/"'), (b"hex", '"0001ff"')])
def test_binary_columns_may_be_encoded(encoding, text):
    assert one(text, pa.binary(), {b"encoding": encoding}) == b"\x00\x01\xff"


@pytest.mark.parametrize("text", ["1.50", '"a\\u0041"', '{"a": [1, {}]}', "[ ]", "true"])
def test_a_raw_column_keeps_any_value_as_it_is_written(text):
    assert one(text, pa.string(), {b"raw": b"1"}) == text
    assert one("null", pa.string(), {b"raw": b"1"}) is None


def test_duplicate_keys_follow_the_option():
    schema = pa.schema([("v", pa.int64()), ("s", pa.struct([("x", pa.int64())]))])
    data = b'{"v":1,"s":{"x":1,"x":2},"\\u0076":2}\n'
    assert fm.read(data, fm.Json(schema)).to_pylist() == [{"v": 2, "s": {"x": 2}}]
    assert fm.read(data, fm.Json(schema, on_duplicate_key="first")).to_pylist() == [{"v": 1, "s": {"x": 1}}]
    with pytest.raises(fm.FormatError, match="set on_duplicate_key") as caught:
        fm.read(data, fm.Json(schema, on_duplicate_key="error"))
    assert (caught.value.code, caught.value.byte_offset) == ("duplicate_key", data.index(b'"\\u0076'))


def test_unknown_keys_are_ignored_or_an_error_whatever_is_projected():
    schema = pa.schema([("v", pa.int64()), ("s", pa.struct([("x", pa.int64()), ("y", pa.int64())]))])
    data = b'{"v":1,"s":{"x":1,"y":2}}\n{"v":1,"w":2}\n'
    assert fm.read(data, fm.Json(schema)).num_rows == 2
    strict = fm.Json(schema, unknown="error")
    for columns in (None, ["v"], ["s.x"]):
        with pytest.raises(fm.FormatError) as caught:
            fm.read(data, strict, columns=columns)
        assert (caught.value.code, caught.value.byte_offset) == ("unknown_key", data.index(b'"w"'))
    with pytest.raises(fm.FormatError, match="unknown"):
        fm.read(b'{"s":{"z":1}}\n', strict)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b"[1]", "not_an_object"), (b"null", "not_an_object"), (b'{"v":1} x', "trailing_data"),
        (b'{"v":1}{"v":2}', "trailing_data"), (b'{"v":1,}', "malformed"), (b'{"v":1', "malformed"),
        (b'{"v":[1}', "malformed"), (b'{"w":"a', "unterminated_quote"), (b'{"w":' + b"[" * 20_000, "too_deep"),
        (b'{"w":"\xff"}', "bad_utf8"), (b"{v:1}", "malformed"),
    ],
)  # fmt: skip
def test_one_bad_record_takes_no_other_with_it(line, code):
    schema = pa.schema([("v", pa.int64())])
    data = b'{"v":1}\n' + line + b'\n\n{"v":3}'
    rejects: list[pa.Table] = []
    table = fm.read(data, fm.Json(schema), on_error="collect", rejects=rejects)
    assert table["v"].to_pylist() == [1, 3]
    (reject,) = rejects[0].to_pylist()
    assert (reject["code"], reject["record"], reject["raw"]) == (code, 1, line)
    assert 8 <= reject["byte_offset"] <= 8 + len(line)
    assert fm.read(data, fm.Json(schema), on_error="skip")["v"].to_pylist() == [1, 3]
    assert fm.read(data, fm.Json(schema), on_error="null")["v"].to_pylist() == [1, 3]


def test_a_bad_value_becomes_null_where_the_schema_allows_it():
    inner = pa.struct([pa.field("a", pa.int8(), nullable=False), ("b", pa.int8())])
    schema = pa.schema([("v", pa.int8()), ("s", pa.list_(inner))])
    data = b'{"v":999,"s":[{"a":1,"b":"x"},{"a":"x","b":1},{"b":1}]}\n'
    table = fm.read(data, fm.Json(schema), on_error="null")
    table.validate(full=True)
    assert table.to_pylist() == [{"v": None, "s": [{"a": 1, "b": None}, None, None]}]


def test_blank_lines_byte_order_mark_and_carriage_returns_are_no_records():
    schema = pa.schema([("v", pa.int64())])
    data = b'\xef\xbb\xbf{"v":1}\r\n\r\n \t\n{"v":2}\r\n{"v": 3 }'
    assert fm.read(data, fm.Json(schema))["v"].to_pylist() == [1, 2, 3]


def test_pointers_reach_into_objects_and_arrays():
    schema = pa.schema(
        [("b", pa.int64()), ("c", pa.string()), ("whole", pa.struct([("k", pa.int64())])), ("t", pa.int64())]
    )
    format = fm.Json(schema, paths={"b": "/a/1/b", "c": "/x~1y/m~0n", "whole": ""})
    data = b'{"a":[0,{"b":5}],"x/y":{"m~n":"z"},"k":7,"t":1}\n{"a":{"b":1},"x/y":3}\n{"a":[]}\n'
    assert fm.read(data, format).to_pylist() == [
        {"b": 5, "c": "z", "whole": {"k": 7}, "t": 1},
        {"b": None, "c": None, "whole": {"k": None}, "t": None},
        {"b": None, "c": None, "whole": {"k": None}, "t": None},
    ]


def test_a_projection_keeps_only_the_named_parts_of_nested_columns():
    item = pa.struct([("sku", pa.string()), ("price", pa.float64())])
    user = pa.struct([("id", pa.int64()), ("name", pa.string())])
    schema = pa.schema([("id", pa.int64()), ("user", user), ("items", pa.list_(item))])
    data = b'{"id":1,"user":{"id":2,"name":5},"items":[{"sku":5,"price":1.5},null]}\n'
    table = fm.read(data, fm.Json(schema), columns=["items[].price", "user.id"])
    assert table.to_pylist() == [{"items": [{"price": 1.5}, None], "user": {"id": 2}}]
    for wrong in ("user.nope", "id.x", "items.price", "user[]", "nope"):
        with pytest.raises(fm.SchemaError):
            fm.read(data, fm.Json(schema), columns=[wrong])


def test_filters_decide_before_other_columns_are_read():
    schema = pa.schema([("a", pa.int64()), ("s", pa.struct([("x", pa.int64())])), ("t", pa.string())])
    data = b"".join(b'{"a":%d,"s":{"x":%d},"t":"t%d"}\n' % (i, i * 10, i) for i in range(1000))
    table = fm.read(data, fm.Json(schema), columns=["s", "t"], filters=[("a", ">=", 997)])
    assert table.to_pylist() == [{"s": {"x": i * 10}, "t": f"t{i}"} for i in (997, 998, 999)]
    with pytest.raises(fm.OptionError, match="not nested"):
        fm.read(data, fm.Json(schema), filters=[("s", "==", 1)])
