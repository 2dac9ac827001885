"""Raw columns of records in an array keep their bytes, line ends and all: the value need not be one line."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm

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


def test_values_without_raw_columns_are_read_once(monkeypatch):
    from formatter import values

    monkeypatch.setattr(values, "with_tabs", None)
    assert fm.parse_records(['{"id":\n1}'], fm.Json(SCHEMA), columns=["id"]).to_pylist() == [{"id": 1}]
