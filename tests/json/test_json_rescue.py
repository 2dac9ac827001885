"""What of a JSON record has no column or does not fit arrives as one object, wherever records are read."""

from __future__ import annotations

import json
import pickle
import warnings

import pyarrow as pa
import pytest

import formatter as fm

FLAT = pa.schema([("id", pa.int32()), ("name", pa.string())])
USER = pa.struct([("a", pa.int64()), ("b", pa.string())])
FORMAT = fm.Json(FLAT, rescue="_rescued")


def rescued(text: str, schema: pa.Schema = FLAT, columns: list[str] | None = None, **options) -> str | None:
    table = fm.read(text.encode(), fm.Json(schema, rescue="_rescued", **options), columns=columns)
    return table.column("_rescued").to_pylist()[0]


def test_the_column_is_the_last_one_and_null_where_everything_fitted():
    table = fm.read(b'{"id": 1, "name": "x"}\n{"id": null}\n', FORMAT)
    assert table.schema.names == ["id", "name", "_rescued"]
    assert table.column("_rescued").to_pylist() == [None, None]


def test_unknown_members_and_misfits_stand_in_it_as_they_were_written():
    text = '{"id": 99999999999, "new": 1.50, "name": 7, "more": {"k" : [1, 2.0e5 ]}, "\\u00e9": "\\u00e9"}'
    assert rescued(text) == '{"id":99999999999,"new":1.50,"name":7,"more":{"k":[1,2.0e5]},"\\u00e9":"\\u00e9"}'


@pytest.mark.parametrize("validate", ["touched", "full"])
def test_known_shapes_with_unknown_members_are_noticed_in_every_record(validate):
    lines = ['{"id":1,"name":"a"}', '{"id":2,"name":"b","x":7}', '{"x":8,"id":3,"name":"c"}'] * 400
    table = fm.read("\n".join(lines).encode(), fm.Json(FLAT, rescue="_rescued", validate=validate))
    assert table.column("_rescued").to_pylist() == [None, '{"x":7}', '{"x":8}'] * 400


def test_members_in_any_order_are_noticed_too(kernel):
    names = [f"n{i}" for i in range(12)]
    schema = pa.schema([(name, pa.int64()) for name in names[:-1]])
    lines = []
    for i in range(600):
        turned = names[i % 12 :] + names[: i % 12] if i % 3 else names[:-1][::-1]
        lines.append("{" + ",".join(f'"{name}":{i}' for name in turned) + "}")
    table = fm.read("\n".join(lines).encode(), fm.Json(schema, rescue="_rescued"))
    assert table.column("_rescued").to_pylist() == [f'{{"n11":{i}}}' if i % 3 else None for i in range(600)]


def test_objects_are_gone_into_and_lists_are_kept_whole():
    schema = pa.schema([("user", USER), ("items", pa.list_(USER)), ("by_key", pa.map_(pa.string(), USER))])
    assert rescued('{"user": {"a": 1, "new": 2}}', schema) == '{"user":{"new":2}}'
    assert rescued('{"user": {"a": "x", "b": "y"}}', schema) == '{"user":{"a":"x","b":"y"}}'
    assert rescued('{"items": [{"a": 1}, {"a": 2, "new": 3}]}', schema) == '{"items":[{"a":1},{"a":2,"new":3}]}'
    assert rescued('{"by_key": {"k": {"new": 3}}}', schema) == '{"by_key":{"k":{"new":3}}}'
    assert rescued('{"user": 5, "items": {}, "by_key": []}', schema) == '{"user":5,"items":{},"by_key":[]}'
    assert rescued('{"user": null, "items": [null, {}], "by_key": {"k": null}}', schema) is None


def test_pointers_leave_what_stands_beside_them():
    paths = {"id": "/home/id", "name": "/names/0"}
    assert rescued('{"home": {"id": 1, "zip": 2}, "names": ["a"]}', paths=paths) == '{"home":{"zip":2}}'
    assert rescued('{"home": {"id": "x"}, "names": ["a", "b"]}', paths=paths) == '{"home":{"id":"x"},"names":["a","b"]}'
    assert rescued('{"home": 5, "names": null}', paths=paths) == '{"home":5}'
    assert rescued('{"home": {"id": 1, "zip": 2}}', columns=["name", "_rescued"], paths=paths) == '{"home":{"zip":2}}'


def test_what_only_pointers_that_are_not_wanted_go_into_is_kept_whole_where_it_is_broken():
    paths, text = {"id": "/home/id"}, '{"home": {"id": 1, "a\tb": 2 3}}'
    found = rescued(text, columns=["_rescued"], paths=paths)
    assert json.loads(found) == {"home": '{"id": 1, "a\tb": 2 3}'}


def test_columns_that_are_not_wanted_are_not_rescued():
    text = '{"id": "x", "name": 5, "new": 1}'
    assert rescued(text, columns=["name", "_rescued"]) == '{"name":5,"new":1}'
    assert rescued(text, columns=["_rescued"]) == '{"new":1}'
    assert fm.read(text.encode(), FORMAT, columns=["id"]).to_pylist() == [{"id": None}]


def test_of_two_equal_keys_the_one_that_does_not_count_is_rescued():
    assert rescued('{"id": 1, "id": 2, "new": 1, "new": 2}') == '{"id":1,"new":1,"new":2}'
    assert rescued('{"id": 1, "id": 2}', on_duplicate_key="first") == '{"id":2}'
    assert rescued('{"id": "x", "id": "y"}') == '{"id":"x","id":"y"}'
    assert rescued('{"user": {"a": 1, "a": 2}}', pa.schema([("user", USER)])) == '{"user":{"a":1}}'
    maps = pa.schema([("m", pa.map_(pa.string(), pa.int64()))])
    assert rescued('{"m": {"k": 1, "k": 2}}', maps) == '{"m":{"k":1,"k":2}}'


def test_a_value_that_is_no_json_is_kept_as_a_string_of_its_text():
    assert rescued('{"id": 1x, "new": tru, "name": "a"}') == '{"id":"1x","new":"tru"}'


@pytest.mark.parametrize(
    ("text", "code"), [("{", "malformed"), ("[]", "not_an_object"), ('{"id": 1} x', "trailing_data")]
)
def test_a_record_that_is_broken_stays_an_error(text, code):
    with pytest.raises(fm.FormatError) as raised:
        rescued(text)
    assert raised.value.code == code


def test_a_column_that_may_not_be_null_stays_an_error():
    schema = pa.schema([pa.field("id", pa.int32(), nullable=False)])
    with pytest.raises(fm.FormatError, match="expected int32, found '\"x\"'"):
        rescued('{"id": "x"}', schema)


def test_nothing_is_told_of_as_null_and_nothing_counts_as_an_error():
    data = b'{"id": "x"}\n' * 50
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        table = fm.read(data, FORMAT, on_error="null", max_errors=0)
    assert table.column("_rescued").null_count == 0
    stream = fm.Stream(FORMAT)
    stream.push(data, sequence=1)
    stream.finish()
    assert (stream.stats.nulled, stream.stats.rejects) == (0, 0)


def test_rows_that_a_filter_drops_leave_nothing_and_misfits_are_null_to_it():
    lines = [{"id": i if i % 3 else "x", "name": "n", "new": i} for i in range(300)]
    data = "\n".join(map(json.dumps, lines)).encode()
    above = fm.read(data, FORMAT, filters=[("id", ">", 100)])
    assert above.column("_rescued").to_pylist() == [f'{{"new":{i}}}' for i in range(101, 300) if i % 3]
    missing = fm.read(data, FORMAT, columns=["name", "_rescued"], filters=[("id", "is_null")])
    assert missing.column("_rescued").to_pylist() == [f'{{"new":{i}}}' for i in range(0, 300, 3)]
    with pytest.raises(fm.OptionError, match="is what is rescued"):
        fm.read(data, FORMAT, filters=[("_rescued", "is_not_null")])


def test_a_value_of_an_array_that_is_no_record_is_rescued_under_the_columns_name():
    values = [b'{"id": 1}', b"oops", None, b'{"id": "x"}', b"\xff", b'{"a": 1}\n{"a": 2}']
    found = fm.parse_records(values, FORMAT).column("_rescued").to_pylist()
    assert found == [
        None, '{"_rescued":"oops"}', None, '{"id":"x"}', '{"_rescued":"\\\\xff"}',
        '{"_rescued":"{\\"a\\": 1}\\n{\\"a\\": 2}"}',
    ]  # fmt: skip


def test_a_column_of_no_name_is_none_of_what_is_rescued():
    """An empty key is a key like others; without `rescue` nothing is put into any column."""
    records = [b'{"": 7}', b"oops", b'{"": "x"}']
    numbers, texts = (fm.Json(pa.schema([("", kind)])) for kind in (pa.int64(), pa.string()))
    assert fm.parse_records(records, numbers).column(0).to_pylist() == [7, None, None]
    assert fm.parse_records(records, texts).column(0).to_pylist() == [None, None, "x"]


def test_readers_take_the_name_in_place_of_the_format():
    plain, data = fm.Json(FLAT), b'{"id": "x"}\n'
    expected = ['{"id":"x"}']
    assert fm.read(data, plain, rescue="_rescued").column("_rescued").to_pylist() == expected
    assert fm.open(data, plain, rescue="_rescued").read_all().column("_rescued").to_pylist() == expected
    assert fm.parse_records([data], plain, rescue="_rescued").column("_rescued").to_pylist() == expected
    stream = fm.Stream(plain, rescue="_rescued")
    assert stream.format == FORMAT
    batches = stream.push(data[:5], sequence=1)
    stream = fm.Stream.restore(plain, stream.checkpoint())
    batches += stream.push(data[5:], sequence=2) + stream.finish()
    assert [value for batch in batches for value in batch.column("_rescued").to_pylist()] == expected


def test_who_subscribes_to_it_has_every_column_parsed():
    shared = fm.SharedStream(fm.Json(FLAT), rescue="_rescued")
    ids, rest = shared.subscribe(["id"]), shared.subscribe(["_rescued"])
    assert shared.decoding_columns == ("id", "name", "_rescued")
    shared.push(b'{"id": 1, "name": 2}\n', sequence=1)
    shared.finish()
    assert [batch.column("_rescued").to_pylist() for batch in rest] == [['{"name":2}']]
    assert [batch.column("id").to_pylist() for batch in ids] == [[1]]


def test_framed_records_and_documents_of_any_layout_have_it_too():
    record = b'{"id": 1, "new": [1,\n2]}'
    framed = fm.Framed(fm.Json(FLAT), length="u32le")
    data = len(record).to_bytes(4, "little") + record
    assert fm.read(data, framed, rescue="_rescued").column("_rescued").to_pylist() == ['{"new":[1,2]}']
    for layout, text in (("array", b"[" + record + b"]"), ("concatenated", record + record)):
        found = fm.read(text, fm.Json(FLAT, records=layout, rescue="_rescued")).column("_rescued").to_pylist()
        assert set(found) == {'{"new":[1,2]}'}


def test_the_format_is_the_same_when_pickled_or_given_its_own_schema_again():
    assert pickle.loads(pickle.dumps(FORMAT)) == FORMAT
    assert fm.Json(FORMAT.schema, rescue="_rescued") == FORMAT
    assert hash(FORMAT) != hash(fm.Json(FORMAT.schema)) or fm.Json(FORMAT.schema) != FORMAT


def test_what_cannot_be_rescued_is_refused():
    with pytest.raises(fm.SchemaError, match="column 'id' is int32; what is"):
        fm.Json(FLAT, rescue="id")
    with pytest.raises(fm.OptionError, match="expected the name of a column, found 5"):
        fm.Json(FLAT, rescue=5)
    with pytest.raises(fm.SchemaError, match="which stands nowhere"):
        fm.Json(FLAT, rescue="_rescued", paths={"_rescued": "/x"})
    with pytest.raises(fm.OptionError, match="expected one name"):
        fm.read(b"", FORMAT, rescue="other")
    with pytest.raises(fm.OptionError, match=r"expected fm\.Csv or fm\.Json, found Native"):
        fm.read(b"", fm.Native(pa.schema([("id", pa.int32())])), rescue="_rescued")
