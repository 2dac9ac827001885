"""Records in arrays that documents wrap: Python's json module says what they are, a table what is wrong around them.

In: texts, paths. Out: verdicts, the same for every cut, order, kernel and number of threads.
"""

from __future__ import annotations

import json
import pickle
import random
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracle.stream_runs import (
    SIZES,
    cut_departure,
    departure,
    pieces_at,
    pieces_of,
    resumed_at_every_cut,
    row_tuples,
    shuffled,
    streamed,
    whole_read,
)
from oracle.wrapped_records import as_plain, items_of

import formatter as fm
from formatter import readers

SCHEMA = pa.schema([("id", pa.int64()), pa.field("v", pa.string(), metadata={b"raw": b"1"})])
ESCAPED = r'"\u0052ec\u006Frds"'


def wrapped(*ids, more=""):
    items = ",".join(f'{{"id":{i}}}' for i in ids)
    return f'{{"Records":[{items}]{more}}}'


# text, path, the ids of its rows
SOUND = {
    "one document": (wrapped(1, 2, 3), "/Records/*", [1, 2, 3]),
    "a document a line": (f"{wrapped(1)}\n{wrapped()}\n{wrapped(2, 3)}\n", "/Records/*", [1, 2, 3]),
    "documents without space between": (wrapped(1) + wrapped(2) + wrapped(), "/Records/*", [1, 2]),
    "text in front and behind": (
        '{"version": 1.5e3, "of": [{"Records": [{"id": 7}]}], "Records": [ {"id": 1} , {"id": 2} ] , "next": null}',
        "/Records/*", [1, 2],
    ),
    "a key with escapes": (f'{{ {ESCAPED} : [{{"id":1}}]}}', "/Records/*", [1]),
    "a key in a string": ('{"a":"\\"Records\\":[{\\"id\\":7}]","Records":[{"id":1,"v":"]}"}]}', "/Records/*", [1]),
    "keys that only look alike": (
        '{"records":[{"id":7}],"Record":[{"id":7}],"Recordss":[7],"\\u0052\\u0065":[7],"Records":[{"id":1}]}', "/Records/*", [1],
    ),
    "the key as a value, and as an item": ('{"a":"Records","b":["Records",[{"id":7}]],"Records":[{"id":1}]}', "/Records/*", [1]),
    "the key on another level": ('{"a":{"Records":[{"id":7}]},"b":[{"Records":[{"id":7}]}]}', "/Records/*", []),
    "no key, and nothing at the key": ('{}{"a":1}{"Records":null}\n' + wrapped(1), "/Records/*", [1]),
    "deeper": (
        '{"a":{"x":0,"b":[{"id":1},{"id":2}]},"b":[{"id":7}]}{"a":{"b":[]}}{"a":[]}{"a":{"b":[{"id":3}]}}',
        "/a/b/*", [1, 2, 3],
    ),
    "the same key twice on the way": ('{"a":{"a":[{"id":1}],"b":{"a":[7]}}}', "/a/a/*", [1]),
    "keys with slash, tilde and beyond ASCII": (
        '{"/~":{"\\ud83d\\ude00":[{"id":1}]}} {"\\u002f~":{"\U0001f600":[{"id":2}]}} {"/~":{"\\ud83d":[7]}}',
        "/~1~0/\U0001f600/*", [1, 2],
    ),
    "an empty key": ('{"":[{"id":1}],"a":[{"id":7}]}', "//*", [1]),
    "a number as key": ('{"0":[{"id":1}],"a":[{"id":7}]}', "/0/*", [1]),
    "an array at the top": ('[{"id":1}, {"id":2}]', "/*", [1, 2]),
    "an empty array at the top": (" [ ] ", "/*", []),
    "nothing": (" \r\n\t", "/Records/*", []),
    "a byte order mark": ("\ufeff" + wrapped(1, 2), "/Records/*", [1, 2]),
}  # fmt: skip


def grid(data, format, range_bytes, threads, on_error="collect"):
    """As fm.open reads it, range by range."""
    rejects = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(readers, "RANGE_BYTES", range_bytes)
        patch.setattr(readers, "SMALLEST_RANGE_BYTES", 1)
        patch.setattr(readers, "SMALLEST_BYTES_A_COLUMN", 1)
        batches = list(fm.open(data, format, threads=threads, on_error=on_error, rejects=rejects))
    return row_tuples(batches), [row for table in rejects for row in table.to_pylist()]


@pytest.mark.parametrize("name", SOUND)
def test_items_are_those_that_python_finds_whatever_the_cuts(name, kernel):
    text, path, ids = SOUND[name]
    data, format = text.encode(), fm.Json(SCHEMA, records=path)
    assert [item["id"] for item in map(as_plain, items_of(text, format.array_path))] == ids
    assert fm.read(data, format)["id"].to_pylist() == ids
    whole = whole_read(data, format, "collect")
    assert (sorted(row[0] for row in whole.rows), whole.rejects) == (ids, [])
    assert cut_departure(data, format, whole, "collect", sizes=SIZES if data else ()) is None
    for size in SIZES if data else ():
        assert [row[0] for row in grid(data, format, size, 3)[0]] == ids, size


# text, the ids of its rows, (byte offset, record, code) of its rejects
BROKEN = [
    ("[]", [], [(0, 0, "not_an_object")]),
    ("7 " + wrapped(1), [1], [(0, 0, "not_an_object")]),
    (wrapped(1) + " x " + wrapped(2), [1, 2], [(23, 1, "not_an_object")]),
    (wrapped(1) + "," + wrapped(2), [1, 2], [(22, 1, "not_an_object")]),
    (wrapped(1) + "]" + wrapped(2), [1, 2], [(22, 1, "not_an_object")]),
    ('{"Records":[{"id":1}]', [1], [(21, 1, "malformed")]),
    ('{"Records":[{"id":1}', [1], [(20, 1, "unterminated_array")]),
    ('{"Records":[{"id":1},', [1], [(21, 1, "unterminated_array")]),
    ('{"Records":[', [], [(12, 0, "unterminated_array")]),
    ('{"Records"', [], [(10, 0, "unterminated_array")]),
    ('{"Records":', [], [(11, 0, "malformed")]),
    ('{"Rec', [], [(5, 0, "unterminated_quote")]),
    ('{"Records":[{"id":1},]}', [1], [(21, 1, "not_an_object")]),
    ('{"Records":[,{"id":1}]}', [1], [(12, 0, "not_an_object")]),
    ('{"Records":[{"id":1}],}' + wrapped(2), [1, 2], [(22, 1, "malformed")]),
    ('{"Records":[{"id":1}] "a":2}' + wrapped(2), [1, 2], [(22, 1, "malformed")]),
    ('{"a" 1,"Records":[{"id":1}]}', [1], [(5, 0, "malformed")]),
    ('{"a":01,"Records":[{"id":1}]}', [1], [(6, 0, "malformed")]),
    ('{"a":nope,"Records":[{"id":1}]}', [1], [(5, 0, "malformed")]),
    ('{"a":"\\x","Records":[{"id":1}]}', [1], [(6, 0, "malformed")]),
    ('{"Records":7}' + wrapped(1), [1], [(11, 0, "wrong_type")]),
    ('{"Records":{"id":7}}' + wrapped(1), [1], [(11, 0, "wrong_type")]),
    ('{"Records":"[{}]"}', [], [(11, 0, "wrong_type")]),
    ('{"Records":[{"id":1}],"Records":[{"id":7}]}' + wrapped(2), [1, 2], [(22, 1, "duplicate_key")]),
    ('{"Records":null,' + ESCAPED + ':[{"id":7}]}', [], [(16, 0, "duplicate_key")]),
    ('{"Records":[{"id":1},2,"x",null,[{"id":7}],{"id":3}]}', [1, 3],
     [(21, 1, "not_an_object"), (23, 2, "not_an_object"), (27, 3, "not_an_object"), (32, 4, "not_an_object")]),
    ('{"Records":[{"id":1} {"id":2},{"id":3}]}', [3], [(21, 0, "trailing_data")]),
    ('{"Records":[{"id":"x"},{"id":2}]}', [2], [(18, 0, "wrong_type")]),
    ('{"Records":[{"id":1}},{"id":2}]}', [2], [(20, 0, "trailing_data")]),
    ('{"Records":[{"id":1}]}} {"Records":[{"id":2}]}', [1, 2], [(22, 1, "not_an_object")]),
    ('{"Records":[{"id":1}],"a":\n"b\nc"}' + wrapped(2), [1, 2], [(29, 1, "malformed")]),
    ('{"Records":[{"id":1}],"a":"' + "\\" * 3 + wrapped(2), [1], [(29, 1, "malformed")]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "ids", "rejects"), BROKEN)
def test_what_is_wrong_around_arrays_is_told_where_it_stands(text, ids, rejects, kernel):
    data, format = text.encode(), fm.Json(SCHEMA, records="/Records/*")
    whole = whole_read(data, format, "collect")
    assert sorted(row[0] for row in whole.rows) == ids
    assert [(r[0], r[1], r[3]) for r in whole.rejects] == rejects
    assert cut_departure(data, format, whole, "collect", sizes=(1, 2, 3)) is None
    for size in (1, 2, 3):
        rows, found = grid(data, format, size, 2)
        assert [row[0] for row in rows] == ids
        assert [(r["byte_offset"], r["record"], r["code"]) for r in found] == rejects
    raised = whole_read(data, format, "raise").error
    assert raised is not None
    assert (raised[0], raised[1], raised[3]) == rejects[0]
    for on_error in ("skip", "null"):
        with pytest.warns(fm.RejectsWarning):
            rows = fm.read(data, format, on_error=on_error)["id"].to_pylist()
        assert [row for row in rows if row is not None] == ids


@pytest.mark.parametrize("variants", [False, True])
def test_no_text_around_an_array_becomes_a_record(variants):
    schema = pa.schema([("v", fm.variant())]) if variants else SCHEMA
    format = fm.Json(schema, records="/Records/*", paths={"v": ""} if variants else {})
    data = b'{"a":1 "Records":[{"id":1}]}{"x"}{"Records":[{"id":2}]} true'
    rejects: list[pa.Table] = []
    assert fm.read(data, format, on_error="collect", rejects=rejects).num_rows == 1
    assert rejects[0]["byte_offset"].to_pylist() == [7, data.index(b"true")]
    assert rejects[0]["raw"].to_pylist() == [data[7 : data.rindex(b":[")], b"true"]


keys = st.sampled_from(["Records", "a", "b", "", "Rec\\u006frds", "\\u0061", "Records\\n", "\\ud83d\\ude00", "[{"])
scalars = st.sampled_from(["1", "-0.5e3", "null", "true", '"Records"', '"\\"Records\\":[{"', '"}],"', '"\\\\"', '""'])
spaces = st.sampled_from(["", "", " ", "\n", "\r\n\t "])


@st.composite
def objects(draw, values):
    names = draw(st.lists(keys, max_size=4, unique_by=lambda key: json.loads(f'"{key}"')))
    space = draw(spaces)
    members = [f'"{name}"{space}:{draw(spaces)}{draw(values)}' for name in names]
    return "{" + space + f"{space},".join(members) + draw(spaces) + "}"


def arrays(values):
    return st.builds(
        lambda items, space: f"[{space}" + f"{space},".join(items) + f"{space}]", st.lists(values, max_size=4), spaces
    )


values = st.recursive(scalars, lambda inner: objects(inner) | arrays(inner) | arrays(objects(inner)), max_leaves=12)
documents = st.lists(objects(values | arrays(objects(values))), max_size=4)
paths = st.sampled_from(["/Records/*", "/a/*", "/a/b/*", "/Records/a/*", "//*", "/\U0001f600/*", "/b/a/Records/*"])


def in_order(rows):
    """Of raw values, what they mean."""
    return [None if row is None else json.loads(row) for row in rows]


@settings(max_examples=300)
@given(documents, paths, spaces, st.randoms(use_true_random=False))
def test_any_documents_give_what_python_finds_in_any_pieces(texts, path, space, chance):
    text = space.join(texts)
    format = fm.Json(pa.schema([pa.field("v", pa.string(), metadata={b"raw": b"1"})]), paths={"v": ""}, records=path)
    expected = [as_plain(item) for item in items_of(text, format.array_path)]
    data = text.encode()
    objects_only = [item for item in expected if isinstance(item, dict)]
    whole = whole_read(data, format, "collect")
    known = {code for _, _, _, code, _, _ in whole.rejects}
    assert known <= {"not_an_object", "wrong_type"}
    rejects: list[pa.Table] = []
    table = fm.read(data, format, on_error="collect", rejects=rejects)
    assert in_order(table["v"].to_pylist()) == objects_only
    cuts = sorted(chance.choices(range(len(data) + 1), k=chance.randrange(6)))
    pieces = pieces_at(data, cuts)
    order = list(range(len(pieces)))
    chance.shuffle(order)
    assert departure(streamed(pieces, format, order, "collect"), whole, len(pieces)) is None
    rows, found = grid(data, format, chance.randrange(1, 40), 3)
    assert in_order([row[0] for row in rows]) == objects_only
    assert [row["byte_offset"] for row in found] == [row[0] for row in whole.rejects]


@settings(max_examples=300)
@given(documents.filter(bool), st.data())
def test_damaged_documents_give_the_same_in_any_pieces(texts, data):
    text = bytearray("\n".join(texts).encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.sampled_from(b'{}[],:"\\ \nx1R\xff'))
    format = fm.Json(pa.schema([pa.field("v", pa.string(), metadata={b"raw": b"1"})]), paths={"v": ""}, records="/a/*")
    whole = whole_read(bytes(text), format, "collect")
    for size in (1, data.draw(st.integers(2, 50))):
        pieces = pieces_of(bytes(text), size)
        run = streamed(pieces, format, shuffled(len(pieces), size), "collect")
        assert departure(run, whole, len(pieces)) is None
        rows, found = grid(bytes(text), format, size, 2)
        assert sorted(rows, key=repr) == whole.rows
        assert sorted(row["byte_offset"] for row in found) == sorted(row[0] for row in whole.rejects)


def test_paths_that_are_none_are_refused_with_the_remedy():
    for path in ("Records/*", "/Records", "/", "/a~2/*", "/a/b", 7, "/" + "k" * 4096 + "/*", "/a" * 9 + "/*"):
        with pytest.raises(fm.OptionError, match="records"):
            fm.Json(SCHEMA, records=path)
    format = fm.Json(SCHEMA, records="/" + "k" * 4095 + "/a" * 7 + "/*")
    assert pickle.loads(pickle.dumps(format)) == format


def test_the_path_of_a_top_level_array_says_what_the_array_layout_says():
    for text in ("[]", '[{"id":1},', '[{"id":1}] x', '[{"id":1},7,{"id":2}]', ""):
        runs = [whole_read(text.encode(), fm.Json(SCHEMA, records=records), "collect") for records in ("/*", "array")]
        assert runs[0] == runs[1]
    with pytest.raises(fm.FormatError, match=r"records='/\*'") as raised:
        fm.read(b'{"id":1}', fm.Json(SCHEMA, records="/*"), on_error="skip")
    assert raised.value.code == "not_an_array"


def test_an_error_names_the_path():
    with pytest.raises(fm.FormatError, match=r"expected an array, for records='/Records/\*', found '7}'"):
        fm.read(b'{"Records":7}', fm.Json(SCHEMA, records="/Records/*"))


def test_a_checkpoint_goes_on_inside_a_wrapper():
    text, path, _ = SOUND["keys with slash, tilde and beyond ASCII"]
    data, format = text.encode(), fm.Json(SCHEMA, records=path)
    expected = fm.read(data, format).to_pylist()
    for cut, batches in resumed_at_every_cut(data, format):
        assert [row for b in batches for row in b.data.to_pylist()] == expected, cut


@pytest.mark.parametrize("records", ["/Records/*", "/*"])
def test_guesses_of_threads_hold_for_records_of_a_kind(records):
    """A wrong guess costs time and no row, so it shows in counts of ranges alone: here it is asked for directly."""
    chance = random.Random(7)
    items = [
        {
            "id": i,
            "v": {"t": "\\" * (i % 5) + '",{"' + "x" * chance.randrange(200), "l": [{"a": 1}, {"b": [2, {"c": 3}]}]},
        }
        for i in range(40_000)
    ]
    body = json.dumps(items, separators=(",", ":")) if records == "/*" else "\n".join(
        json.dumps({"at": i, "Records": items[i : i + 50], "end": {"k": [1, {"z": 2}]}}) for i in range(0, len(items), 50)
    )  # fmt: skip
    format = fm.Json(SCHEMA, records=records)
    reader = fm._core.RangeReader(readers._plan(format, None, None, "raise").engine, 2, 16_384, 16 << 20)
    data = body.encode()
    ids: list[int] = []
    plan = readers._plan(format, None, None, "raise")
    reader.begin(data, 0, 1 << 17, input_ends=True, byte_offset=0)
    while (result := reader.next()) is not None:
        ids += [value for capsule in result[1] for value in plan.batch(capsule).column("id").to_pylist()]
    assert ids == list(range(len(items)))


@pytest.mark.parametrize("size", range(14, 50))
def test_a_string_that_never_closes_is_told_as_such_however_long_it_is(size):
    """Where its bytes came out even, the byte behind them was taken for one of the string."""
    text = '{"a":"' + "x" * size
    for format, data in (
        (fm.Json(SCHEMA, records="/Records/*"), text), (fm.Json(SCHEMA, validate="full"), text + "\n"),
    ):  # fmt: skip
        rejects: list[pa.Table] = []
        fm.read(data.encode(), format, on_error="collect", rejects=rejects)
        assert [(r["code"], r["byte_offset"]) for r in rejects[0].to_pylist()] == [("unterminated_quote", len(text))]
