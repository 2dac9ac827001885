"""Raw columns of records in an array keep their bytes, line ends and all: the value need not be one line."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm
from formatter.values import RecordParser, parse_records_with_errors

RAW = {b"raw": b"1"}
SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        pa.field("r", pa.string(), metadata=RAW),
        ("s", pa.struct([pa.field("q", pa.binary(), metadata=RAW)])),
        ("l", pa.list_(pa.struct([pa.field("e", pa.large_string(), metadata=RAW)]))),
    ]
)
spaces = st.text(" \t\r\n", max_size=4)
documents = st.recursive(
    st.none() | st.integers(-9, 99) | st.text('ab\n"\\é', max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("kl", max_size=2), inner, max_size=3),
    max_leaves=6,
)


@st.composite
def written(draw, document):
    """(a JSON text with any white space where some may be)"""
    space = lambda: draw(spaces)  # noqa: E731
    if isinstance(document, list):
        inner = ",".join(space() + draw(written(each)) + space() for each in document)
        return "[" + (inner or space()) + "]"
    if isinstance(document, dict):
        pairs = (space() + json.dumps(k) + space() + ":" + space() + draw(written(v)) for k, v in document.items())
        return "{" + (",".join(pair + space() for pair in pairs) or space()) + "}"
    return json.dumps(document)


@st.composite
def records(draw):
    raw = [draw(written(draw(documents))) for _ in range(3)]
    a, b, c, d = (draw(spaces) for _ in range(4))
    text = f'{{{a}"id":7,{b}"r":{raw[0]}{c},"s":{{"q"{a}:{raw[1]}}}{d},"l":[{b}{{"e":{raw[2]}{c}}}]{a}}}{d}'
    kept = [None if each == "null" else each for each in raw]
    q = None if kept[1] is None else kept[1].encode()
    return text, {"id": 7, "r": kept[0], "s": {"q": q}, "l": [{"e": kept[2]}]}


@settings(max_examples=60, deadline=None)
@given(st.lists(records() | st.none(), min_size=1, max_size=5))
def test_raw_values_are_the_bytes_between_their_ends(drawn):
    values = [None if one is None else one[0] for one in drawn]
    expected = [dict.fromkeys(SCHEMA.names) if one is None else one[1] for one in drawn]
    for array in (pa.array(values, pa.string()), pa.array([v and v.encode() for v in values], pa.large_binary())):
        assert fm.parse_records(array, fm.Json(SCHEMA)).to_pylist() == expected


@pytest.mark.parametrize(
    "array",
    [
        [b'{"r":[\n1,\r\n2]}\n', None],
        pa.chunked_array([pa.array(['{"r":[\n1,\r\n2]}\n']), pa.array([None], pa.string())]),
        pa.array(['{"r":[\n1,\r\n2]}\n', None], pa.string_view()),
        pa.array(["left out", '{"r":[\n1,\r\n2]}\n', None])[1:],
    ],
    ids=["list", "chunks", "views", "slice"],
)
def test_every_kind_of_array_keeps_its_line_ends(array):
    assert fm.parse_records(array, fm.Json(SCHEMA), columns=["r"]).to_pylist() == [{"r": "[\n1,\r\n2]"}, {"r": None}]


def test_a_line_end_inside_a_string_stays_an_error():
    rows = fm.parse_records(['{"id":1,"r":"a\nb"}', '{"id":2,"r":"a"}'], fm.Json(SCHEMA), columns=["id", "r"])
    assert rows.to_pylist() == [{"id": 1, "r": None}, {"id": 2, "r": '"a"'}]


def test_line_ends_are_space_where_no_raw_column_is_asked_for():
    assert fm.parse_records(['{"id":\n1}'], fm.Json(SCHEMA), columns=["id"]).to_pylist() == [{"id": 1}]


LINES = ['{"r":[\n1,\r2]}', '{"r":[\n1,\t2]}', '{"r":\n3}', '{"r":[ 1,2]}', None, '{"r":[\n1,\r2]}']
TEXTS = ["[\n1,\r2]", "[\n1,\t2]", "3", "[ 1,2]", None, "[\n1,\r2]"]


@pytest.mark.parametrize(
    "kind",
    [
        pa.binary(),
        pa.large_string(),
        pa.string_view(),
        pa.binary_view(),
        pa.dictionary(pa.int32(), pa.string()),
        pa.dictionary(pa.int8(), pa.binary()),
        pa.dictionary(pa.int16(), pa.large_binary()),
    ],
    ids=str,
)
@pytest.mark.parametrize("metadata", [RAW, {b"text": b"any"}], ids=["raw", "any"])
def test_every_kind_of_text_column_keeps_the_line_ends_of_its_own_record(kind, metadata):
    format = fm.Json(pa.schema([pa.field("r", kind, metadata=metadata)]))
    binary = pa.types.is_binary(kind.value_type if pa.types.is_dictionary(kind) else kind) or kind in (
        pa.large_binary(),
        pa.binary_view(),
        pa.dictionary(pa.int16(), pa.large_binary()),
    )
    expected = [text if text is None or not binary else text.encode() for text in TEXTS]
    batch = fm.parse_records(LINES, format)
    batch.validate(full=True)
    assert batch.column("r").to_pylist() == expected
    assert fm.parse_records(pa.array(LINES), format).column("r").to_pylist() == expected


def test_a_filter_on_a_raw_column_sees_its_line_ends():
    format = fm.Json(pa.schema([pa.field("r", pa.string(), metadata=RAW)]))
    parsed = RecordParser(format, filters=[("r", "==", "[\n1,\r2]")]).parse(LINES)
    assert parsed.kept.to_pylist() == [0, 5]
    assert parsed.data.column("r").to_pylist() == ["[\n1,\r2]"] * 2


def test_an_error_shows_the_line_end_that_stands_there(kernel):
    for schema in (SCHEMA, pa.schema([("id", pa.int64()), ("r", pa.string())])):
        parsed = parse_records_with_errors(['{"id":1,\n"r":"a\nb"}', '{"id":\n"x"\r\n}'], fm.Json(schema))
        assert [(error.byte_offset, error.found) for error in parsed.details] == [(15, "\nb"), (7, '"x"')]
    rejected = parse_records_with_errors(["{\n1}"], fm.Json(SCHEMA)).details[0]
    assert (rejected.byte_offset, rejected.found) == (2, "1}")
