"""A text column with `text=any` takes every value: strings by their content, others as they are written."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm

ANY = {b"text": b"any"}
SCHEMA = pa.schema(
    [
        ("n", pa.int64()),
        pa.field("t", pa.string(), metadata=ANY),
        ("s", pa.struct([pa.field("u", pa.large_string(), metadata=ANY), ("k", pa.int64())])),
        ("l", pa.list_(pa.field("item", pa.string(), metadata=ANY))),
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text('ab"\\é\n]}{[,: ', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("kl}", max_size=2), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


def text_of(value, written):
    return None if value is None else value if isinstance(value, str) else written


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(values, values, st.lists(values, max_size=3)), min_size=1, max_size=30),
    st.sampled_from([", ", ","]), st.sampled_from(["touched", "full"]), st.sampled_from([False, True]),
)  # fmt: skip
def test_every_value_gives_its_text(drawn, comma, validate, by_value):
    lines, expected = [], []
    for n, (t, u, items) in enumerate(drawn):
        written = [json.dumps(value, separators=(comma, ":"), ensure_ascii=n % 2 == 0) for value in (t, u, *items)]
        lines.append(f'{{"n":{n},"t":{written[0]},"s":{{"u": {written[1]} ,"k":1}},"l":[{comma.join(written[2:])}]}}')
        texts = [text_of(value, text) for value, text in zip((t, u, *items), written, strict=True)]
        expected.append({"n": n, "t": texts[0], "s": {"u": texts[1], "k": 1}, "l": texts[2:]})
    format = fm.Json(SCHEMA, validate=validate)
    rows = fm.parse_records(lines, format, on_error="raise") if by_value else fm.read("\n".join(lines).encode(), format)
    assert rows.to_pylist() == expected


def test_filters_see_the_text():
    data = b'{"t":12}\n{"t":"12"}\n{"t":[1]}\n{"t":"x"}\n{"t":null}\n{}\n'
    format = fm.Json(SCHEMA)
    assert fm.read(data, format, columns=["t"], filters=[("t", "==", "12")])["t"].to_pylist() == ["12", "12"]
    assert fm.read(data, format, columns=["t"], filters=[("t", "in", ["[1]", "x"])])["t"].to_pylist() == ["[1]", "x"]
    assert fm.read(data, format, columns=["t"], filters=[("t", "is_null")]).num_rows == 2


@pytest.mark.parametrize("text", ["tru", "01", "[1,]", "{1}", "nul", "-"])
def test_what_is_no_json_is_an_error(text):
    for line in (f'{{"n":1,"t":{text}}}', f'{{"n":1,"s":{{"u":{text}}}}}', f'{{"n":1,"l":[{text}]}}'):
        with pytest.raises(fm.FormatError):
            fm.read(line.encode() + b"\n", fm.Json(SCHEMA))


def test_it_is_for_text_in_json():
    with pytest.raises(fm.SchemaError, match="expected 'any' on a text column of JSON, found 'any' on int64"):
        fm.read(b"{}", fm.Json(pa.schema([pa.field("a", pa.int64(), metadata=ANY)])))
    with pytest.raises(fm.SchemaError, match="found 'some' on string"):
        fm.read(b"{}", fm.Json(pa.schema([pa.field("a", pa.string(), metadata={b"text": b"some"})])))
    with pytest.raises(fm.SchemaError, match="on a text column of JSON"):
        fm.read(b"a", fm.Csv(pa.schema([pa.field("a", pa.string(), metadata=ANY)])))
