"""Every column type and encoding in both text formats: the value, and the code of what is refused, from every front door.

In: a type, its metadata, how a value is written in CSV and in JSON. Out: verdicts for fm.read, fm.Stream, fm.parse_records.
"""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

import formatter as fm

PARIS = dt.timezone(dt.timedelta(hours=1))
HEX, BASE64, RAW = {b"encoding": b"hex"}, {b"encoding": b"base64"}, {b"raw": b"1"}


def unit(name: bytes) -> dict[bytes, bytes]:
    return {b"unit": name}


# type, metadata, in CSV (None: no such value there), in JSON, the value
ACCEPTED = [
    (pa.time32("s"), None, "01:02:03", '"01:02:03"', dt.time(1, 2, 3)),
    (pa.time32("ms"), None, "23:59:59.999", '"23:59:59.999"', dt.time(23, 59, 59, 999000)),
    (pa.time64("us"), None, "01:02", '"01:02"', dt.time(1, 2)),
    (pa.time64("ns"), None, "01:02:03.000001000", '"01:02:03.000001000"', dt.time(1, 2, 3, 1)),
    (pa.duration("us"), None, "-5", "-5", dt.timedelta(microseconds=-5)),
    (pa.date64(), None, "2024-01-02", '"2024-01-02"', dt.date(2024, 1, 2)),
    (pa.string_view(), None, "ab", '"ab"', "ab"),
    (pa.binary_view(), None, "ab", '"ab"', b"ab"),
    (pa.binary(), HEX, "0aFF", '"0aFF"', b"\n\xff"),
    (pa.large_binary(), BASE64, "aGk=", '"aGk="', b"hi"),
    (pa.binary_view(), BASE64, "aGk=", '"aGk="', b"hi"),
    (pa.binary(2), None, "ab", '"ab"', b"ab"),
    (pa.binary(2), HEX, "0aff", '"0aff"', b"\n\xff"),
    (pa.dictionary(pa.int32(), pa.string()), None, "x", '"x"', "x"),
    (pa.dictionary(pa.int8(), pa.large_string()), None, "x", '"x"', "x"),
    (pa.dictionary(pa.int32(), pa.int64()), None, "5", "5", 5),
    (pa.dictionary(pa.int32(), pa.binary(2)), None, "ab", '"ab"', b"ab"),
    (pa.dictionary(pa.int32(), pa.time32("s")), None, "01:02:03", '"01:02:03"', dt.time(1, 2, 3)),
    (pa.dictionary(pa.int32(), pa.date32()), unit(b"d"), "19000", "19000", dt.date(2022, 1, 8)),
    (pa.dictionary(pa.int32(), pa.float16()), None, "1.5", "1.5", 1.5),
    (pa.binary(0), None, '""', '""', b""),
    (pa.decimal128(10, 2), None, "1.2500", "1.25e0", Decimal("1.25")),
    (pa.decimal256(20, 2), None, "1.25", "1.25", Decimal("1.25")),
    (pa.decimal128(5, -2), None, "1200", "1200", Decimal("1.2E+3")),
    (pa.decimal128(5, -2), None, "-0100.00", "-100.00", Decimal("-1E+2")),
    (pa.decimal128(5, -2), None, "0", "0", Decimal("0E+2")),
    (pa.decimal128(38, 38), None, ".5", "0.5", Decimal("0.5")),
    (pa.float16(), None, "1.5", "1.5", 1.5),
    (pa.timestamp("ms", "UTC"), None, "2024-01-02T01:00+01", '"2024-01-02T01:00+01"', dt.datetime(2024, 1, 2, tzinfo=dt.UTC)),
    (pa.timestamp("us"), unit(b"ms"), "1700000000123", "1700000000123", dt.datetime(2023, 11, 14, 22, 13, 20, 123000)),
    (pa.timestamp("us"), unit(b"s"), "-1.5", "-1.5", dt.datetime(1969, 12, 31, 23, 59, 58, 500000)),
    (pa.timestamp("s"), unit(b"ns"), "1700000000000000000", "17e17", dt.datetime(2023, 11, 14, 22, 13, 20)),
    (pa.timestamp("us"), unit(b"ms"), "2024-01-02", '"2024-01-02"', dt.datetime(2024, 1, 2)),
    (pa.date32(), unit(b"d"), "19000", "19000", dt.date(2022, 1, 8)),
    (pa.date32(), unit(b"s"), "86400", "86400", dt.date(1970, 1, 2)),
    (pa.date64(), unit(b"d"), "1", "1", dt.date(1970, 1, 2)),
    (pa.string(), RAW, "a", '{"x": [1]}', None),
    (pa.binary(), RAW, '"q""x"', '{"x": [1]}', None),
    (pa.large_binary(), RAW, '"q""x"', "[1]", None),
    (pa.string_view(), RAW, '"q""x"', "true", None),
    (pa.map_(pa.string(), pa.time64("us")), None, None, '{"1":"01:02"}', [("1", dt.time(1, 2))]),
    (pa.list_(pa.time32("s")), None, None, '["01:02",null]', [dt.time(1, 2), None]),
    (pa.list_(pa.dictionary(pa.int32(), pa.string())), None, None, '["a","b","a"]', ["a", "b", "a"]),
    (pa.list_(pa.field("item", pa.timestamp("s"), metadata=unit(b"s"))), None, None, "[0]", [dt.datetime(1970, 1, 1)]),
    (pa.struct([pa.field("b", pa.binary(1), metadata=HEX), ("v", pa.string_view()), ("d", pa.duration("s"))]), None, None,
     '{"b":"ff","v":"x","d":4}', {"b": b"\xff", "v": "x", "d": dt.timedelta(seconds=4)}),
]  # fmt: skip
CASES = [
    pytest.param(kind, metadata, form, text, value, id=f"{form}-{kind}-{text}")
    for kind, metadata, csv, json, value in ACCEPTED
    for form, text in (("csv", csv), ("json", json))
    if text is not None
]  # fmt: skip


def format_of(form: str, kind: pa.DataType, metadata: dict[bytes, bytes] | None) -> fm.Csv | fm.Json:
    schema = pa.schema([pa.field("v", kind, metadata=metadata), pa.field("w", pa.int64())])
    return fm.Csv(schema) if form == "csv" else fm.Json(schema)


def record(form: str, text: str) -> bytes:
    return (f"{text},7\n" if form == "csv" else f'{{"v":{text},"w":7}}\n').encode()


@pytest.mark.parametrize(("kind", "metadata", "form", "text", "value"), CASES)
def test_a_value_comes_out_of_every_door(kind, metadata, form, text, value, kernel):
    if metadata is RAW:
        value = text if pa.types.is_string(kind) or kind == pa.string_view() else text.encode()
    format = format_of(form, kind, metadata)
    empty = b",7\n" if form == "csv" else b'{"v":null,"w":7}\n'
    data = record(form, text) * 70 + empty
    table = fm.read(data, format)
    table.validate(full=True)
    assert table.schema.equals(format.schema, check_metadata=True)
    got = [dict(v) if isinstance(v, dict) else v for v in table["v"].to_pylist()]
    assert got[:70] == [value] * 70
    assert got[70] is None or metadata is RAW
    stream = fm.Stream(format, ordered=True)
    batches = stream.push(data[9:], sequence=2) + stream.push(data[:9], sequence=1) + stream.finish()
    assert pa.Table.from_batches([b.data for b in batches]).combine_chunks().equals(table.combine_chunks())
    assert fm.parse_records([record(form, text)], format)["v"].to_pylist() == [value]


REFUSED = [
    (pa.time32("s"), None, "24:00:00", '"24:00:00"', "invalid"),
    (pa.time32("s"), None, "2024-01-01T01:00", '"2024-01-01T01:00"', "invalid"),
    (pa.time32("s"), None, "01:02:03.5", '"01:02:03.5"', "precision"),
    (pa.time64("us"), None, "01:02Z", '"01:02Z"', "invalid"),
    (pa.binary(2), None, "abc", '"abc"', "invalid"),
    (pa.binary(2), HEX, "0a", '"0a"', "invalid"),
    (pa.binary(0), None, "a", '"a"', "invalid"),
    (pa.dictionary(pa.int32(), pa.binary(2)), None, "abc", '"abc"', "invalid"),
    (pa.binary(), HEX, "0ag0", '"0ag0"', "invalid"),
    (pa.binary(), BASE64, "a", '"a"', "invalid"),
    (pa.decimal128(5, -2), None, "1250", "1250", "precision"),
    (pa.decimal128(2, -2), None, "12300", "12300", "overflow"),
    (pa.timestamp("s"), unit(b"ms"), "1500", "1500", "precision"),
    (pa.timestamp("ns"), unit(b"s"), "99999999999", "99999999999", "overflow"),
    (pa.date32(), unit(b"s"), "5", "5", "precision"),
    (pa.date32(), unit(b"d"), "9999999999", "9999999999", "overflow"),
    (pa.duration("s"), None, "1.5", "1.5", None),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "metadata", "csv", "json", "code"), REFUSED)
@pytest.mark.parametrize("form", ["csv", "json"])
def test_what_does_not_fit_has_its_code_and_takes_no_other_value_with_it(kind, metadata, csv, json, code, form):
    format = format_of(form, kind, metadata)
    bad = record(form, csv if form == "csv" else json)
    good = b",7\n" if form == "csv" else b'{"w":7}\n'
    rejects: list[pa.Table] = []
    table = fm.read(good + bad + good, format, on_error="collect", rejects=rejects)
    assert table["w"].to_pylist() == [7, 7]
    [reject] = rejects[0].to_pylist()
    assert code is None or reject["code"] == code
    assert (reject["column"], reject["record"]) == ("v", 1)
    nulled = fm.read(good + bad, format, on_error="null")
    assert nulled["v"].to_pylist() == [None, None]
    assert nulled["w"].to_pylist() == [7, 7]


@pytest.mark.parametrize("metadata", [None, HEX, BASE64])
def test_a_field_of_no_bytes_is_no_value_of_more_where_it_is_not_null(metadata, kernel):
    schema = pa.schema([("n", pa.int64()), pa.field("v", pa.binary(3), metadata=metadata)])
    format = fm.Csv(schema, nulls=(), ragged="pad")
    for data in (b"1,\n", b'1,""\n', b"1,"):
        with pytest.raises(fm.FormatError) as error:
            fm.read(data, format)
        assert (error.value.code, error.value.byte_offset) == ("invalid", 2)
        assert fm.read(data, format, on_error="null")["v"].to_pylist() == [None]
    assert fm.read(b"1\n", format)["v"].to_pylist() == [None], "a field that is missing is null"
    nothing = fm.Csv(pa.schema([("n", pa.int64()), pa.field("v", pa.binary(0), metadata=metadata)]), nulls=())
    assert fm.read(b'1,\n2,""\n', nothing)["v"].to_pylist() == [b"", b""]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.binary_view()], ids=str)
def test_values_without_a_row_are_null_in_columns_of_views_too(kind):
    texts = ["short", None, "a text of more than twelve bytes", "{"]
    records = [text if text in (None, "{") else f'{{"v":"{text}","l":[{{"v":"{text}"}}]}}' for text in texts]
    schema = pa.schema([("v", kind), ("l", pa.list_(pa.struct([("v", kind)])))])
    batch = fm.parse_records(pa.array(records, pa.string_view()), fm.Json(schema))
    batch.validate(full=True)
    expected = [text and (text if kind == pa.string_view() else text.encode()) for text in texts[:3]] + [None]
    assert batch.column("v").to_pylist() == expected
    assert batch.column("l").to_pylist() == [None if text is None else [{"v": text}] for text in expected]
    values = fm.parse_values(pa.array(texts, pa.string_view()), kind)
    assert values.type == kind
    assert values.to_pylist() == [text and (text if kind == pa.string_view() else text.encode()) for text in texts]


@pytest.mark.parametrize("form", ["csv", "json"])
def test_times_and_fixed_bytes_can_be_filtered(form):
    times = format_of(form, pa.time64("us"), None)
    texts = ["01:00", "02:00", "03:00"]
    data = b"".join(record(form, t if form == "csv" else f'"{t}"') for t in texts)
    assert fm.read(data, times, filters=[("v", ">", dt.time(1, 30))]).num_rows == 2
    fixed = format_of(form, pa.binary(2), None)
    data = b"".join(record(form, t if form == "csv" else f'"{t}"') for t in ("ab", "cd"))
    assert fm.read(data, fixed, filters=[("v", "==", b"cd")]).num_rows == 1


@pytest.mark.parametrize(
    ("form", "kind", "metadata", "message"),
    [
        ("csv", pa.int64(), unit(b"s"), "unit"), ("csv", pa.timestamp("s"), unit(b"d"), "unit"),
        ("json", pa.time32("s"), unit(b"s"), "unit"), ("csv", pa.int64(), HEX, "encoding"),
        ("csv", pa.binary(2), RAW, "raw"), ("json", pa.map_(pa.list_(pa.int8()), pa.string()), None, "map"),
        ("csv", pa.decimal256(60, 2), None, "cannot be parsed"), ("csv", pa.list_(pa.int8()), None, "cannot be parsed"),
        ("json", pa.list_view(pa.int8()), None, "cannot be parsed"),
    ],
)  # fmt: skip
def test_what_no_column_can_be_is_refused_with_a_remedy(form, kind, metadata, message):
    with pytest.raises(fm.SchemaError, match=message):
        fm.read(b"", format_of(form, kind, metadata))


def test_timestamp_formats_serve_dates_times_and_timestamps():
    schema = pa.schema([("d", pa.date32()), ("t", pa.time32("s")), ("at", pa.timestamp("s"))])
    format = fm.Csv(schema, timestamp_formats=("%d.%m.%Y", "%H.%M", "%d %b %Y %H:%M"))
    table = fm.read(b"31.12.2024,13.45,03 Feb 2024 10:11\n2024-12-31,13:45,2024-02-03 10:11\n", format)
    [first, second] = table.to_pylist()
    assert first == second == {"d": dt.date(2024, 12, 31), "t": dt.time(13, 45), "at": dt.datetime(2024, 2, 3, 10, 11)}


def test_filters_on_times_and_durations_travel_in_a_checkpoint():
    schema = pa.schema([("t", pa.time64("us")), ("d", pa.duration("s"))])
    filters = [("t", ">", dt.time(1, 30)), ("d", "<=", dt.timedelta(seconds=7))]
    stream = fm.Stream(fm.Csv(schema), filters=filters)
    batches = stream.append(b"01:00,1\n02:00,7\n02:")
    stream = fm.Stream.restore(fm.Csv(schema), stream.checkpoint())
    batches += stream.append(b"30,8\n03:00,-5\n") + stream.finish()
    assert [row for b in batches for row in b.data.to_pylist()] == [
        {"t": dt.time(2), "d": dt.timedelta(seconds=7)},
        {"t": dt.time(3), "d": dt.timedelta(seconds=-5)},
    ]
