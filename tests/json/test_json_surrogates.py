"""Surrogates without a partner: an error of their value, or U+FFFD with surrogates="replace"; Python's decoder is the oracle."""

from __future__ import annotations

import json
from random import Random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm

TEXT = pa.schema([("v", pa.string()), ("id", pa.int64())])
UNITS = st.lists(
    st.sampled_from(["\\ud83d", "\\ude00", "\\uD800", "\\uDFFF", "a", "é", "\\n", "\\u0041", "x" * 40]), max_size=12
)


def replaced(text: str) -> str:
    """A lone surrogate in Python's string is one that json.loads could not pair."""
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


@settings(max_examples=300, deadline=None)
@given(st.lists(UNITS, min_size=1, max_size=70), st.sampled_from(["touched", "full"]))
def test_each_lone_surrogate_becomes_one_replacement_character(values, validate):
    texts = ["".join(units) for units in values]
    lines = [f'{{"v":"{text}","id":{i}}}' for i, text in enumerate(texts)]
    table = fm.read("\n".join(lines).encode(), fm.Json(TEXT, surrogates="replace", validate=validate))
    assert table["v"].to_pylist() == [replaced(json.loads(f'"{text}"')) for text in texts]
    assert table["id"].to_pylist() == list(range(len(texts)))


@pytest.mark.parametrize(
    "kind", [pa.list_(pa.string()), pa.map_(pa.string(), pa.string()), pa.dictionary(pa.int8(), pa.string())]
)
def test_replacement_reaches_items_keys_and_dictionaries(kind):
    value, expected = {
        "list": (rb'["\ud83d", "b"]', ["\ufffd", "b"]),
        "map": (rb'{"\udc00k": "\ud83dv"}', [("\ufffdk", "\ufffdv")]),
        "dict": (rb'"\ud83d"', "\ufffd"),
    }[str(kind).partition("<")[0].removesuffix("ionary")]
    format = fm.Json(pa.schema([("v", kind)]), surrogates="replace")
    assert fm.read(b'{"v":' + value + b"}\n", format)["v"].to_pylist() == [expected]


@pytest.mark.parametrize(
    ("record", "kind", "expected"),
    [
        (rb'{"\ud800": 1, "v": 2}', pa.int64(), 2),
        (rb'{"v": {"\ud800": 1, "k": 2}}', pa.struct([("k", pa.int64())]), {"k": 2}),
        (rb'{"v": {"\ud800k": 1}}', pa.struct([("\ufffdk", pa.int64())]), {"\ufffdk": 1}),
        (rb'{"v": [{"a\udc00": 1}]}', pa.list_(pa.struct([("a\ufffd", pa.int64())])), [{"a\ufffd": 1}]),
        (rb'{"v": {"\ud800": "\udc00"}}', fm.variant(), {"\ufffd": "\ufffd"}),
    ],
)
def test_the_option_reaches_keys_as_the_error_without_it_says(record, kind, expected):
    schema = pa.schema([("v", kind)])
    for data in (record, record + b"\n", (record + b"\n") * 70):  # by its text, by structure, by the shape of others
        with pytest.raises(fm.FormatError, match="surrogates='replace'"):
            fm.read(data, fm.Json(schema))
        found = fm.read(data, fm.Json(schema, surrogates="replace"))["v"]
        if kind == fm.variant():
            plain = json.dumps({"v": expected}).encode()
            assert found.to_pylist() == fm.read(plain, fm.Json(schema))["v"].to_pylist() * len(found)
        else:
            assert found.to_pylist() == [expected] * len(found)


def test_a_key_that_is_replaced_is_unknown_or_found_as_any_other():
    data = rb'{"\ud800": 1, "id": 2}'
    schema = pa.schema([("id", pa.int64())])
    with pytest.raises(fm.FormatError) as caught:
        fm.read(data, fm.Json(schema, surrogates="replace", unknown="error"))
    assert caught.value.code == "unknown_key"
    rescued = fm.read(data, fm.Json(schema, surrogates="replace", rescue="rest"))
    assert rescued.to_pylist() == [{"id": 2, "rest": r'{"\ud800":1}'}]


def test_without_the_option_it_is_an_error_of_the_value_alone():
    data = rb'{"v":"\ud83d","id":1}' + b"\n" + rb'{"v":"b","id":2}'
    assert fm.read(data, fm.Json(TEXT), columns=["id"])["id"].to_pylist() == [1, 2]
    assert fm.read(data, fm.Json(TEXT), on_error="null")["v"].to_pylist() == [None, "b"]
    with pytest.raises(fm.FormatError, match="surrogates='replace'") as caught:
        fm.read(data, fm.Json(TEXT))
    assert caught.value.code == "bad_utf8"


def test_the_option_is_checked():
    with pytest.raises(fm.OptionError, match="surrogates: expected 'error' or 'replace', found 'ignore'"):
        fm.Json(TEXT, surrogates="ignore")


PIECES = (
    "\\u6771",
    "\\ud83d\\ude80",
    "\\u00E9",
    "\\u0041",
    "\\u0000",
    " ",
    ",",
    "a",
    "é",
    "\\n",
    '\\"',
    "\\\\",
    "x" * 61,
)
BROKEN = ("\\ud83d", "\\ude80", "\\u12", "\\u12g4", "\\u-123", "\\x", "\t")


@pytest.mark.by_kernel
@pytest.mark.parametrize("seed", range(4))
def test_runs_of_escaped_characters_with_others_between_read_as_python_reads_them(seed):
    random = Random(seed)
    texts = ["".join(random.choices(PIECES + BROKEN * (i % 2), k=random.randrange(1, 40))) for i in range(800)]
    data = "".join(f'{{"t":"{text}"}}\n' for text in texts).encode()
    table = fm.read(data, fm.Json(pa.schema([("t", pa.string())])), on_error="null")
    assert table["t"].to_pylist() == [read_by_python(text) for text in texts]


def read_by_python(text):
    try:
        found = json.loads(f'"{text}"')
        found.encode()
    except ValueError:  # half a pair is one, too, when it is encoded
        return None
    return found
