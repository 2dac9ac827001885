"""Columns of Spark's VARIANT: the bytes of the oracle, wherever values stand, whatever the cuts, the order and the kernel."""

from __future__ import annotations

import json
import pickle
import random
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle.variant_oracle import variant_of

import formatter as fm
from formatter import _core
from formatter.variants import is_variant

SUITE = sorted((Path(__file__).parents[1] / "corpus" / "json-test-suite").glob("[yi]_*.json"))
WHOLE = fm.Json(pa.schema([("v", fm.variant())]), paths={"v": ""})


@pytest.fixture(autouse=True)
def _deep_enough():
    """For the oracle: Python's json module calls itself at each bracket."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def expected(text):
    try:
        return variant_of(text)
    except ValueError:
        return None


def found(documents, format=WHOLE, **options):
    """As the oracle gives them; None: refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.RejectsWarning)
        values = fm.parse_records(pa.array(documents, pa.string()), format, on_error="null", **options).column(0)
    return [value and (value["value"], value["metadata"]) for value in values.to_pylist()]


EDGES = [
    "0", "-0", "1", "-1", "127", "128", "-128", "-129", "32767", "32768", "2147483647", "2147483648", "-2147483649",
    "9223372036854775807", "9223372036854775808", "-9223372036854775808", "-9223372036854775809", "1.0", "-0.0", "0.000",
    "999999999.0", "0.999999999", "0.0000000001", "99999999.9", "999999999.9", "0.123456789012345678", "1234567890123456789.5",
    "99999999999999999999999999999999999999", "100000000000000000000000000000000000000", "1234567890123456789012345678901234567.8",
    "12345678901234567890123456789012345678.9", "0." + "0" * 38, "0." + "0" * 39, "0." + "0" * 37 + "1", "1e0", "1E5", "-1e-400",
    "1e400", "-1e400", "0e99999999999", "4.9e-324", "2" * 1000, '""', '"a"', '"' + "x" * 63 + '"', '"' + "x" * 64 + '"',
    '"' + "é" * 31 + '"', '"' + "é" * 32 + '"', '"' + "\\n" * 63 + '"', '"' + "\\u20ac" * 21 + '"', '"' + "\\u20ac" * 22 + '"',
    '"\\ud83d\\ude00"', '"\\/\\b\\f\\n\\r\\t\\"\\\\"', "true", "false", "null", "[]", "{}", "[[]]", '{"":{}}', " [ 1 , 2 ] ",
    '{"b":1,"a":2}', '{"\\uffff":1,"😀":2,"\\ue000":3,"\\ud7ff":4}', '{"a":1,"ab":2,"":3,"b":4,"a\\u0000":5}',
    '{"a":[{"b":1,"c":2},{"c":1,"b":2},{"b":{"a":0}}],"b":null}', "[" * 1000 + "]" * 1000, '{"a":' * 999 + "1" + "}" * 999,
    "[" + ",".join(["1"] * 255) + "]", "[" + ",".join(["1"] * 256) + "]", "[" + ",".join(["12345"] * 30_000) + "]",
    "{" + ",".join(f'"k{i}":{i}' for i in range(255)) + "}", "{" + ",".join(f'"k{i}":{i}' for i in range(300)) + "}",
    "{" + ",".join(f'"{i}":"{"x" * 300}"' for i in range(300)) + "}", '{"' + "k" * 70_000 + '":1}', '"' + "y" * 17_000_000 + '"',
]  # fmt: skip
SHORT = [document for document in EDGES if len(document) < 1000]
NO_VALUES = [
    "01", "-01", "1.", ".5", "+1", "-", "1e", "1e+", "0x1", "NaN", "Infinity", "tru", "nul", "[1", "[1,]", "[,]", "[1 2]", "{",
    '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", "{'a':1}", '"a', '"\\x"', '"\\u12"', '"\x01"', '"\\ud800"', '"\\ude00"',
    '{"\\ud800":1}',
    '{"a":1,"a":2}', '{"a":1,"\\u0061":2}', '{"a":{"b":1,"b":1}}', "[" * 1001 + "]" * 1001, "1 2", "[1]x", "]", ",", "{]",
]  # fmt: skip


@pytest.mark.parametrize("document", EDGES, ids=lambda text: text[:24])
def test_a_value_has_the_bytes_of_the_oracle(document):
    assert expected(document) is not None
    assert found([document]) == [expected(document)]


@pytest.mark.parametrize("document", NO_VALUES, ids=lambda text: text[:24])
def test_what_is_no_value_is_null_and_an_error(document):
    assert expected(document) is None
    assert found([document, "1"]) == [None, expected("1")]
    with pytest.raises(fm.FormatError):
        fm.parse_records(pa.array([document]), WHOLE, on_error="raise")


@pytest.mark.parametrize("path", SUITE, ids=lambda path: path.stem)
def test_the_suites_documents_have_the_bytes_of_the_oracle(path, kernel):
    try:
        text = path.read_bytes().decode()
    except UnicodeDecodeError:
        assert fm.parse_records(pa.array([path.read_bytes()]), WHOLE, on_error="null").column(0).null_count == 1
        return
    wanted = expected(text)
    assert found([text]) == [wanted]
    if path.stem.startswith("y_") and "duplicated" not in path.stem:
        assert wanted is not None


NUMBERS = st.one_of(
    st.integers(-(10**40), 10**40).map(str),
    st.integers(-(2**33), 2**33).map(str),
    st.decimals(allow_nan=False, allow_infinity=False, places=3).map(lambda d: f"{d:f}"),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.tuples(st.integers(-999, 999), st.integers(0, 45)).map(lambda two: f"{two[0]}.{'0' * two[1]}7"),
)
TEXTS = st.one_of(
    st.text(max_size=5), st.text(st.characters(codec="utf-8"), max_size=80), st.sampled_from(["a", "b", "key"])
)


@st.composite
def json_texts(draw, depth=3):
    """With any space and any escapes; keys may come twice."""
    space = lambda: draw(st.sampled_from(["", "", " ", "\t "]))  # noqa: E731
    written = lambda text: json.dumps(text, ensure_ascii=draw(st.booleans()))  # noqa: E731
    kind = draw(st.integers(0, 6 if depth else 3))
    if kind < 2:
        return draw(NUMBERS)
    if kind == 2:
        return written(draw(TEXTS))
    if kind == 3:
        return draw(st.sampled_from(["null", "true", "false", "[]", "{}"]))
    count = draw(st.integers(0, 6))
    values = [space() + draw(json_texts(depth=depth - 1)) + space() for _ in range(count)]
    if kind == 4:
        return "[" + ",".join(values) + "]"
    return "{" + ",".join(f"{space()}{written(draw(TEXTS))}{space()}:{value}" for value in values) + "}"


@settings(max_examples=400)
@given(st.lists(json_texts(), min_size=1, max_size=8))
def test_any_values_have_the_bytes_of_the_oracle(documents):
    """Several by one writer, which remembers keys and their order."""
    assert found(documents) == [expected(document) for document in documents]


def rows_of(format, data, **options):
    return fm.read(data, format, **options).column(0).to_pylist()


MIXED = fm.Json(
    pa.schema(
        [
            ("v", fm.variant()),
            ("s", pa.struct([("w", fm.variant()), ("n", pa.int64())])),
            ("l", pa.list_(fm.variant())),
            ("m", pa.map_(pa.string(), fm.variant())),
            ("f", pa.list_(fm.variant(), 2)),
            ("n", pa.int64()),
        ]
    )
)


def both(text):
    value, metadata = variant_of(text)
    return {"value": value, "metadata": metadata}


def test_variants_stand_inside_other_columns(kernel):
    lines = [
        '{"v": null, "s": {"w": {"a": [1]}, "n": 1}, "l": [1, null, {"b": 2.5}], "m": {"x": [], "y": "z"}, "f": [1, 2], "n": 7}',
        '{"n": 8, "l": [], "m": {}, "s": {}}',
        '{"n": 9, "v": {"k": {"k": 1}}, "s": null, "f": [null, [true]]}',
    ]
    rows = fm.read("\n".join(lines * 50).encode(), MIXED).to_pylist()
    assert rows[:3] == [
        {
            "v": both("null"),
            "s": {"w": both('{"a": [1]}'), "n": 1},
            "l": [both("1"), both("null"), both('{"b": 2.5}')],
            "m": [("x", both("[]")), ("y", both('"z"'))],
            "f": [both("1"), both("2")],
            "n": 7,
        },
        {"v": None, "s": {"w": None, "n": None}, "l": [], "m": [], "f": None, "n": 8},
        {"v": both('{"k": {"k": 1}}'), "s": None, "l": None, "m": None, "f": [both("null"), both("[true]")], "n": 9},
    ]
    assert rows == rows[:3] * 50


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.sampled_from([1, 2, 7, 63, 64, 65, 1000]))
def test_any_cuts_and_any_order_give_the_same(seed, size):
    chance = random.Random(seed)
    lines = [f'{{"v": {chance.choice(SHORT)}, "n": {i}}}' for i in range(6)]
    data = "\n".join(lines).encode() + b"\n"
    format = fm.Json(pa.schema([("v", fm.variant()), ("n", pa.int64())]))
    cuts = [(i + 1, data[at : at + size]) for i, at in enumerate(range(0, len(data), size))]
    chance.shuffle(cuts)
    stream = fm.Stream(format)
    batches = [batch for sequence, part in cuts for batch in stream.push(part, sequence=sequence)]
    batches += stream.finish()
    rows = sorted((row for batch in batches for row in batch.data.to_pylist()), key=lambda row: row["n"])
    assert rows == [{"v": both(json_line[6 : json_line.rindex(", ")]), "n": i} for i, json_line in enumerate(lines)]


def test_an_error_names_its_byte_and_what_is_wrong():
    data = b'{"id": 1, "v": {"a": 1}}\n{"id": 2, "v": {"a": 1, "b": 2, "a": 3}}\n'
    with pytest.raises(fm.FormatError, match="duplicate") as caught:
        fm.read(data, fm.Json(pa.schema([("id", pa.int64()), ("v", fm.variant())])))
    error = caught.value
    assert (error.record, error.column, error.code, error.byte_offset) == (1, "v", "duplicate_key", data.rindex(b'"a"'))


def test_a_line_may_be_any_value_where_all_of_it_is_asked_for():
    data = b'{"a": 1}\n[1]\n\n 3 \nnull\n"x"\n{bad\n1 2\n'
    with pytest.warns(fm.RejectsWarning):
        table = fm.read(data, WHOLE, on_error="skip")
    assert table.column("v").to_pylist() == [both(text) for text in ('{"a": 1}', "[1]", "3", "null", '"x"')]


def test_parts_of_a_record_have_types_of_their_own_beside_all_of_it():
    format = fm.Json(pa.schema([("v", fm.variant()), ("id", pa.int64())]), paths={"v": "", "id": "/a/id"})
    data = b'{"a": {"id": 5}}\n{"a": {}}\n'
    assert fm.read(data, format).to_pylist() == [
        {"v": both('{"a": {"id": 5}}'), "id": 5},
        {"v": both('{"a": {}}'), "id": None},
    ]
    with pytest.raises(fm.FormatError, match="object"):
        fm.read(b"[1]\n", format)


def test_columns_say_what_is_to_be_a_variant():
    schema = pa.schema([("id", pa.int64()), ("v", pa.struct([("a", pa.int64())]))])
    data = b'{"id": 1, "v": {"a": "x"}, "w": 2}\n'
    table = fm.read(data, fm.Json(schema), columns={"id": None, "v": "variant", "w": "variant"})
    assert table.to_pylist() == [{"id": 1, "v": both('{"a": "x"}'), "w": both("2")}]
    assert is_variant(table.schema.field("w").type)
    stream = fm.Stream(fm.Json(schema), columns={"v": "variant"})
    batches = [*stream.push(data, sequence=1), *stream.finish()]
    assert [row for batch in batches for row in batch.data.to_pylist()] == [{"v": both('{"a": "x"}')}]
    with pytest.raises(fm.SchemaError, match="expected 'variant'"):
        fm.read(data, fm.Json(schema), columns={"v": "json"})
    with pytest.raises(fm.OptionError, match=r"for fm\.Json"):
        fm.read(data, fm.Csv(schema.remove(1)), columns={"id": "variant"})


def test_what_a_variant_cannot_be_is_refused():
    schema = pa.schema([("v", fm.variant())])
    with pytest.raises(fm.SchemaError, match=r"made of a value of fm\.Json"):
        fm.read(b"1\n", fm.Csv(schema))
    with pytest.raises(fm.OptionError, match="not nested can be compared"):
        fm.read(b"{}\n", fm.Json(schema), filters=[("v", "is_null", None)])
    with pytest.raises(fm.SchemaError, match="has no members"):
        fm.read(b"{}\n", fm.Json(schema), columns=["v.value"])


def test_the_mark_survives_pickling_and_empty_inputs():
    format = pickle.loads(pickle.dumps(MIXED))
    table = fm.read(b"", format)
    assert is_variant(table.schema.field("v").type)
    assert rows_of(format, b'{"v": 1}\n') == [both("1")]
    assert fm.parse_records(pa.array([None, "", '{"v": 2}']), format).column(0).to_pylist() == [None, None, both("2")]


def test_a_struct_of_two_binaries_without_the_mark_is_a_struct():
    plain = pa.struct([pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False)])
    assert not is_variant(plain)
    rows = rows_of(fm.Json(pa.schema([("v", plain)])), b'{"v": {"value": "x", "metadata": "y"}}\n')
    assert rows == [{"value": b"x", "metadata": b"y"}]
    assert rows_of(fm.Json(pa.schema([("v", fm.variant())])), b'{"v": 1}\n') == [both("1")]
    with pytest.raises(fm.SchemaError, match="cannot be parsed from a field"):
        fm.read(b"1\n", fm.Csv(pa.schema([("v", plain)])))


def test_variants_longer_than_their_text_stay_within_the_offsets():
    documents = ["1", "{}", "[1e0,1e1,0.1,0.1]", "[[],[],[{}]]"] * 200
    before = _core.set_offsets_most(5000)
    try:
        table = fm.read("\n".join(documents).encode() + b"\n", WHOLE, threads=1)
        nested = "\n".join(f'{{"l": [{document}, {document}]}}' for document in documents).encode()
        lists = fm.read(nested, fm.Json(pa.schema([("l", pa.list_(fm.variant()))])), threads=1)
    finally:
        _core.set_offsets_most(before)
    assert table.column("v").to_pylist() == [both(document) for document in documents]
    assert lists.column("l").to_pylist() == [[both(document)] * 2 for document in documents]


def test_a_writer_that_has_met_many_keys_forgets_them():
    chance = random.Random(5)
    documents = [json.dumps({f"key {chance.random()}": i for i in range(2000)}) for _ in range(20)]
    assert found(documents * 2) == [expected(document) for document in documents * 2]
