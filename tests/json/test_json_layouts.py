"""JSON documents in one array or one behind the other: Python's json module says what is in them, a table what is wrong.

In: texts. Out: verdicts, the same for every cut, order and kernel.
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path

import pyarrow as pa
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
from oracle.stream_runs import cut_departure, departure, pieces_of, shuffled, streamed, whole_read

import formatter as fm

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("items", pa.list_(pa.struct([("x", pa.float64())]))),
        ("raw", pa.string()),
    ]
).set(3, pa.field("raw", pa.string(), metadata={b"raw": b"1"}))
DOCUMENTS = [
    {"id": 1, "name": 'br}{][ ,"\\', "items": [{"x": 1.5}, None, {}], "raw": [1, {"a": "]"}]},
    {"id": 2, "name": "", "items": [], "raw": None},
    {},
    {"id": 3, "name": "\U0001f600é\n", "items": None, "raw": {"deep": [[[]]]}, "unknown": [{"id": 9}]},
] * 3


def rows_of(documents):
    return [
        {
            "id": d.get("id"), "name": d.get("name"),
            "items": None if d.get("items") is None else [i if i is None else {"x": i.get("x")} for i in d["items"]],
            "raw": d.get("raw"),
        }
        for d in documents
    ]  # fmt: skip


def texts(layout):
    dumped = {
        "compact": [json.dumps(d, separators=(",", ":")) for d in DOCUMENTS],
        "spaced": [json.dumps(d, ensure_ascii=False, indent="\t").replace("\n", "\r\n") for d in DOCUMENTS],
    }
    for name, documents in dumped.items():
        for space in ("", " ", "\n\n"):
            body = (f"{space},{space}" if layout == "array" else space).join(documents)
            if layout == "array":
                body = f"{space}[{space}{body}{space}]{space}"
            yield name + repr(space), body.encode()
            yield name + repr(space) + "marked", b"\xef\xbb\xbf" + body.encode()


CASES = [
    pytest.param(layout, data, id=f"{layout}-{name}")
    for layout in ("array", "concatenated")
    for name, data in texts(layout)
]


@pytest.mark.parametrize(("layout", "data"), CASES)
def test_documents_are_those_that_python_reads(layout, data, kernel):
    table = fm.read(data, fm.Json(SCHEMA, records=layout, validate="full"), threads=2)
    rows = [{**row, "raw": None if row["raw"] is None else json.loads(row["raw"])} for row in table.to_pylist()]
    assert rows == rows_of(DOCUMENTS)


@pytest.mark.parametrize(("layout", "data"), CASES[::3])
def test_every_cut_gives_what_the_whole_gives(layout, data):
    format = fm.Json(SCHEMA, records=layout)
    whole = whole_read(data, format, "collect")
    assert cut_departure(data, format, whole, "collect") is None


@pytest.mark.parametrize("size", [1, 2, 7, 63, 64, 65])
@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_buffers_are_taken_in_any_order(layout, size):
    data = dict(texts(layout))["spaced' '"]
    format = fm.Json(SCHEMA, records=layout)
    whole = whole_read(data, format, "collect")
    pieces = pieces_of(data, size)
    for seed in range(3):
        run = streamed(pieces, format, shuffled(len(pieces), seed), "collect", many=4 * seed or None)
        assert departure(run, whole, len(pieces)) is None


# text, the ids of its rows, (byte offset, record, code) of its rejects
BROKEN_ARRAYS = [
    ("", [], []), (" \n", [], []), ("[]", [], []), (" [ ] ", [], []),
    ("[", [], [(1, 0, "unterminated_array")]),
    ("[ ]x", [], [(3, 0, "trailing_data")]),
    ('[{"id":1}', [1], [(9, 1, "unterminated_array")]),
    ('[{"id":1},', [1], [(10, 1, "unterminated_array")]),
    ('[{"id":1}, \n', [1], [(12, 1, "unterminated_array")]),
    ('[{"id":1},]', [1], [(10, 1, "not_an_object")]),
    ('[,{"id":1}]', [1], [(1, 0, "not_an_object")]),
    ('[{"id":1},,{"id":2}]', [1, 2], [(10, 1, "not_an_object")]),
    ('[{"id":1} , , {"id":2}]', [1, 2], [(12, 1, "not_an_object")]),
    ('[{"id":1} {"id":2}]', [], [(10, 0, "trailing_data")]),
    ('[{"id":1} x,{"id":2}]', [2], [(10, 0, "trailing_data")]),
    ('[[{"id":1}],2,"x",null,{"id":2}]', [2],
     [(1, 0, "not_an_object"), (12, 1, "not_an_object"), (14, 2, "not_an_object"), (18, 3, "not_an_object")]),
    ('[{"id":1}] [{"id":2}]', [1], [(11, 1, "trailing_data")]),
    ('[{"id":1}] ,{"id":2}', [1], [(11, 1, "trailing_data")]),
    ('[{"id":1}]]', [1], [(10, 1, "trailing_data")]),
    ('[{"id":1},{"id', [1], [(11, 1, "unterminated_quote")]),
    ('[{"id":1},{"id":2', [1], [(17, 1, "malformed")]),
    ('[{"id":1],{"id":2}]', [2], [(8, 0, "malformed")]),
    ('[{"id":"x"},{"id":2},{"id":2.5}]', [2], [(7, 0, "wrong_type"), (27, 2, "precision")]),
    ('[{"id":1,"name":"a\nb"},{"id":2}]', [2], [(18, 0, "malformed")]),
    ('\ufeff[{"id":1},3]', [1], [(13, 1, "not_an_object")]),
]  # fmt: skip
BROKEN_SEQUENCES = [
    ("", [], []), ("\n \t", [], []),
    ('{"id":1}{"id":2}', [1, 2], []),
    ('{"id":1},{"id":2}', [1, 2], [(8, 1, "not_an_object")]),
    ('{"id":1} xyz {"id":2}', [1, 2], [(9, 1, "not_an_object")]),
    ('{"id":1} xyz{"id":2}', [1], [(9, 1, "not_an_object")]),
    ('[1]2 "x y"null\n{"id":3}', [3],
     [(0, 0, "not_an_object"), (3, 1, "not_an_object"), (5, 2, "not_an_object"), (10, 3, "not_an_object")]),
    ('{"id":1}}{"id":2}', [1, 2], [(8, 1, "not_an_object")]),
    ('{"id":1}{"id"', [1], [(13, 1, "malformed")]),
    ('{"id":1}{"id', [1], [(9, 1, "unterminated_quote")]),
    ('{"id":\n"x"}{"id":2}', [2], [(7, 0, "wrong_type")]),
]  # fmt: skip
BROKEN = [("array", *case) for case in BROKEN_ARRAYS] + [("concatenated", *case) for case in BROKEN_SEQUENCES]


@pytest.mark.parametrize(("layout", "text", "ids", "rejects"), BROKEN)
def test_what_is_wrong_is_told_where_it_stands_and_takes_nothing_with_it(layout, text, ids, rejects):
    data = text.encode()
    format = fm.Json(pa.schema([("id", pa.int64()), ("name", pa.string())]), records=layout)
    whole = whole_read(data, format, "collect")
    assert [r[0] for r in whole.rows] == ids
    assert [(r[0], r[1], r[3]) for r in whole.rejects] == rejects
    assert cut_departure(data, format, whole, "collect", sizes=(1, 2, 3) if data else ()) is None
    raised = whole_read(data, format, "raise").error
    assert (raised is not None) == bool(rejects)
    if rejects:
        assert (raised[0], raised[1], raised[3]) == rejects[0]


def test_an_input_that_is_no_array_is_told_at_once_with_the_remedy():
    with pytest.raises(fm.FormatError, match="records='lines'") as raised:
        fm.read(b'\n{"id":1}\n', fm.Json(SCHEMA, records="array"), on_error="skip")
    assert (raised.value.code, raised.value.byte_offset) == ("not_an_array", 1)


def test_a_big_file_that_is_no_array_is_not_taken_into_memory(tmp_path):
    path = tmp_path / "data.json"
    path.write_bytes(b'{"id":1}\n' * 2_000_000)
    with pytest.raises(fm.FormatError, match="records='lines'"):
        next(iter(fm.open(path, fm.Json(SCHEMA, records="array"))))


@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_rejects_name_the_buffer_in_which_their_record_ends(layout):
    between = "," if layout == "array" else " "
    documents = ['{"id": 1}', '{"id": "x" , "name": [ 1 , 2 ] }', '{"id": 3}', '{"id": true}', '{"id": 5}']
    data = between.join(documents)
    data = (f"[{data}]" if layout == "array" else data).encode()
    stream = fm.Stream(fm.Json(SCHEMA, records=layout), on_error="collect")
    pieces = pieces_of(data, 1)
    stream.push_many(pieces, sequences=list(range(1, len(pieces) + 1)))
    stream.finish()
    start = layout == "array"
    ends = [start + len(between.join(documents[: i + 1])) + (layout == "array") for i in (1, 3)]
    assert stream.rejects()["sequence"].to_pylist() == ends


@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_memory_stays_bounded_over_many_windows(layout, tmp_path):
    path = tmp_path / "data.json"
    rows = 700_000
    between = ",\n" if layout == "array" else "\n"
    text = between.join(f'{{"id": {i}, "name": "n{i % 9}"}}' for i in range(rows))
    path.write_text(f"[{text}]" if layout == "array" else text)
    reader = fm.open(path, fm.Json(SCHEMA, records=layout), columns=["id"], threads=1)
    assert [v for batch in reader for v in batch["id"].to_pylist()] == list(range(rows))


@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_a_record_longer_than_the_limit_is_rejected_alone(layout):
    between = "," if layout == "array" else " "
    data = between.join(['{"id":1}', '{"id":2,"name":"' + "x" * 500 + '"}', '{"id":3}'])
    data = (f"[{data}]" if layout == "array" else data).encode()
    for size in (1, 7, 64, 4096):
        stream = fm.Stream(fm.Json(SCHEMA, records=layout), on_error="collect", max_record_bytes=100)
        batches = []
        for i, piece in enumerate(pieces_of(data, size)):
            batches += stream.push(piece, sequence=i + 1)
        batches += stream.finish()
        assert [v for b in batches for v in b.data["id"].to_pylist()] == [1, 3]
        assert stream.rejects()["code"].to_pylist() == ["record_too_long"]


@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_a_checkpoint_goes_on_inside_a_document(layout):
    data = dict(texts(layout))["spaced' '"]
    format = fm.Json(SCHEMA, records=layout)
    expected = fm.read(data, format).to_pylist()
    for cut in range(0, len(data), 3):
        stream = fm.Stream(format)
        batches = stream.append(data[:cut])
        stream = fm.Stream.restore(format, stream.checkpoint())
        batches += stream.append(data[cut:]) + stream.finish()
        assert [row for b in batches for row in b.data.to_pylist()] == expected, cut


def test_projections_filters_and_single_values_work_in_every_layout():
    data = json.dumps(DOCUMENTS).encode()
    format = fm.Json(SCHEMA, records="array", paths={"name": "/raw/deep/0"})
    table = fm.read(data, format, columns=["items[].x"], filters=[("id", "==", 1)])
    assert table.to_pylist() == [{"items": [{"x": 1.5}, None, {"x": None}]}] * 3
    assert fm.parse_records(['{"id":4}', "[]"], format, columns=["id"])["id"].to_pylist() == [4, None]
    assert pickle.loads(pickle.dumps(format)) == format
    with pytest.raises(fm.OptionError, match="records"):
        fm.Json(SCHEMA, records="rows")


@pytest.mark.parametrize("end", [b"", b",", b" ,", b"\n", b"] x"])
def test_what_is_wrong_with_a_record_comes_before_what_is_wrong_with_the_arrays_end(end):
    data = b'[{"id":1},{"id":"x"},{"id":2},{"id":"y"}' + end
    format = fm.Json(SCHEMA, records="array")
    whole = whole_read(data, format)
    assert whole.error is not None
    assert whole.error[:4] == (16, 1, "id", "wrong_type")
    for size in (1, 2, 7, len(data)):
        pieces = pieces_of(data, size)
        for order in (range(len(pieces)), shuffled(len(pieces), size)):
            assert departure(streamed(pieces, format, list(order)), whole, len(pieces)) is None, size


@pytest.mark.parametrize(
    ("records", "data", "expected"),
    [
        ("lines", b"1", "an object a line"),
        ("concatenated", b"1 2", "an object"),
        ("array", b"[1]", "an object"),
        ("/x/*", b'{"x":[1]}', "an object"),
        ("lines", b"{} x", "nothing behind the object"),
        ("array", b"[{}] x", "nothing behind the object or the array"),
        ("lines", b'{"id":"x\n', "a closing quote before the end of the line"),
        ("concatenated", b'{"id":"x', "a closing quote before the end of the record"),
    ],
)
def test_an_error_speaks_of_lines_only_where_records_are_lines(records, data, expected):
    with pytest.raises(fm.FormatError) as caught:
        fm.read(data, fm.Json(pa.schema([("id", pa.int64())]), records=records))
    assert caught.value.expected == expected


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"])
@pytest.mark.parametrize("kind", [pa.float64(), pa.list_(pa.float64())])
def test_the_remedy_for_a_number_that_json_has_not_reads_null_for_it(number, kind):
    data = b'{"v": %s, "id": 1}' % (b"[%s]" % number if pa.types.is_list(kind) else number)
    format = fm.Json(pa.schema([("v", kind), ("id", pa.int64())]))
    with pytest.raises(fm.FormatError, match=r"JSON has no such number: .* on_error='null'"):
        fm.read(data, format)
    assert fm.read(data, format, on_error="null", rejects=[]).to_pylist() == [{"v": None, "id": 1}]


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_the_remedy_for_a_value_that_is_no_text_reads_it(kind):
    data = b'{"v": 1}\n{"v": "x"}'
    with pytest.raises(fm.FormatError, match=r"keep any value as text with .* \{b'text': b'any'\}"):
        fm.read(data, fm.Json(pa.schema([("v", kind)])))
    kept = fm.Json(pa.schema([pa.field("v", kind, metadata={b"text": b"any"})]))
    assert fm.read(data, kept)["v"].to_pylist() == ["1", "x"]
