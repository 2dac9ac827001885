"""Columns at JSON pointers (RFC 6901): its own examples, escapes, indices, and how they share a record with others."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm

RAW = {b"raw": b"1"}
# The document and the pointers of RFC 6901, section 5.
DOCUMENT = {
    "foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, 'k"l': 6, " ": 7, "m~n": 8,
}  # fmt: skip
POINTERS = {
    "": DOCUMENT, "/foo": ["bar", "baz"], "/foo/0": "bar", "/": 0, "/a~1b": 1, "/c%d": 2, "/e^f": 3, "/g|h": 4, "/i\\j": 5,
    '/k"l': 6, "/ ": 7, "/m~0n": 8,
}  # fmt: skip


def raw_format(pointers, **options) -> fm.Json:
    schema = pa.schema([pa.field(f"c{i}", pa.string(), metadata=RAW) for i in range(len(pointers))])
    return fm.Json(schema, paths={f"c{i}": pointer for i, pointer in enumerate(pointers)}, **options)


@pytest.mark.parametrize("validate", ["touched", "full"])
@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("records", ["lines", "array", "concatenated"])
def test_the_pointers_of_the_standard_find_what_it_says(validate, ascii_only, records, kernel):
    text = json.dumps(DOCUMENT, ensure_ascii=ascii_only)
    data = {"lines": f"{text}\n" * 3, "array": f"[{text},{text},{text}]", "concatenated": text * 3}[records].encode()
    table = fm.read(data, raw_format(POINTERS, validate=validate, records=records))
    for row in table.to_pylist():
        assert [json.loads(v) for v in row.values()] == list(POINTERS.values())
    alone = fm.read(data, raw_format(POINTERS, records=records), columns=["c4", "c2"])
    assert [json.loads(v) for v in alone.to_pylist()[2].values()] == [1, "bar"]


@pytest.mark.parametrize(
    ("pointer", "found"),
    [
        ("/a/1/b", 5), ("/a/01/b", None), ("/a/-", None), ("/a/2", None), ("/a/x", None), ("/a/1/b/c", None), ("/~01", "t"),
        ("/~1~0~1", "s"), ("/é/0/0", [1]), ("/a/0/0/0/0", 9), ("/n/x", None), ("/n", None),
    ],
)  # fmt: skip
def test_indices_escapes_and_what_is_not_there(pointer, found):
    document = {"a": [[[[9]]], {"b": 5}], "~1": "t", "/~/": "s", "é": [[[1]]], "n": None}
    for ascii_only in (True, False):
        line = json.dumps(document, ensure_ascii=ascii_only).encode() + b"\n"
        for value in fm.read(line * 5, raw_format([pointer]))["c0"].to_pylist():
            assert value is None if found is None else json.loads(value) == found


def test_pointers_share_a_record_with_keys_and_with_each_other():
    schema = pa.schema(
        [
            ("id", pa.int64()),
            ("first", pa.float64()),
            ("user", pa.struct([("name", pa.string())])),
            ("name", pa.string()),
        ]
    )
    format = fm.Json(schema, paths={"first": "/items/0/price", "name": "/user/name"})
    lines = [
        '{"id":1,"items":[{"price":1.5},{"price":2}],"user":{"name":"a"}}',
        '{"user":{"name":"b","name":"c"},"items":[],"id":2}',
        '{"items":{"0":{"price":3}},"user":null}',
        '{"items":[{"x":[{"price":7}],"price":4}],"items":[{"price":5}]}',
    ]
    assert fm.read("\n".join(lines).encode(), format).to_pylist() == [
        {"id": 1, "first": 1.5, "user": {"name": "a"}, "name": "a"},
        {"id": 2, "first": None, "user": {"name": "c"}, "name": "c"},
        {"id": None, "first": 3.0, "user": None, "name": None},
        {"id": None, "first": 5.0, "user": None, "name": None},
    ]


@pytest.mark.parametrize("pointer", ["a", "a/b", "/~", "/a~2", "/~x/b", 5])
def test_what_is_no_pointer_is_refused(pointer):
    with pytest.raises(fm.OptionError, match="JSON pointer"):
        fm.Json(pa.schema([("c", pa.int64())]), paths={"c": pointer})


PARTS = {"whole": "/s", "x": "/s/x", "deep": "/s/t/y", "part": "/s/t", "other": "/o"}
PART_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text('ab\\"{}[]:, ', max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xyst"), inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150)
@given(
    st.lists(st.dictionaries(st.sampled_from(["s", "o", "z"]), PART_VALUES, max_size=3), min_size=1, max_size=70),
    st.permutations(list(PARTS)),
    st.sampled_from(["", " "]),
    st.sampled_from(["first", "last", "error"]),
    st.sampled_from(["", ', "s": {"x": 7}', ', "s": 1']),
)
def test_a_value_and_parts_of_it_are_read_together_as_one_by_one(records, order, space, duplicates, more):
    separators = ("," + space, ":" + space)
    texts = [json.dumps(record, separators=separators, ensure_ascii=False) for record in records]
    texts += [
        f'{{"s": {{"x": 1, "x": 2}}{more}}}',
        '{"s": {"x": 01, "t": {"y": tru}}}',
        '{"s": {"t": {"y": 1}, "t": 2}}',
    ]
    schema = pa.schema([pa.field(name, pa.string(), metadata={"text": "any"}) for name in order])
    format = fm.Json(schema, paths=PARTS, on_duplicate_key=duplicates)
    together = fm.parse_records_with_errors(texts, format)
    for name in order:
        alone = fm.parse_records_with_errors(texts, format, columns=[name])
        wrong = {error.record for error in together.details} ^ {error.record for error in alone.details}
        kept = [number for number in range(len(texts)) if number not in wrong]
        assert together.data.column(name).take(kept).equals(alone.data.column(name).take(kept))


@pytest.mark.by_kernel
@pytest.mark.parametrize("before", [b'"', b"\n", b"7"])
@pytest.mark.parametrize(
    ("kind", "metadata"),
    [
        (pa.string(), {b"text": b"any"}),
        (pa.large_string(), {b"text": b"any"}),
        (pa.string(), None),
        (pa.time64("ns"), None),
    ],
)
def test_a_whole_record_is_the_same_whatever_stands_in_front_of_its_bytes(kind, metadata, before):
    """A quote in memory before a buffer opens nothing in it."""
    format = fm.Json(pa.schema([pa.field("all", kind, metadata=metadata)]), paths={"all": ""})
    for record in (b"{}", b'{"a":1}', b'{"a": "x"}  '):
        data = memoryview(before + record)[1:]
        wanted = [{"all": record.decode().strip()}] if metadata else []
        rejects: list[pa.Table] = []
        assert fm.read(data, format, on_error="collect", rejects=rejects).to_pylist() == wanted
        assert rejects[0]["code"].to_pylist() == ([] if metadata else ["wrong_type"])
        stream = fm.Stream(format, on_error="collect")
        batches = stream.push(data, sequence=1) + stream.finish()
        assert [row for batch in batches for row in batch.data.to_pylist()] == wanted
        assert stream.rejects()["code"].to_pylist() == rejects[0]["code"].to_pylist()
