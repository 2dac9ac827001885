"""fm.infer of JSON: types merge path by path, conflicts are told with examples, and the sample reads without rejects."""

from __future__ import annotations

import json
import warnings

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm


def inferred(data: str | bytes, **options):
    raw = data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format = fm.infer(raw, kind="json", **options)
    return format, " ".join(str(w.message) for w in caught)


def type_of(*values: str) -> tuple[str, str]:
    format, doubts = inferred("\n".join(f'{{"v":{value}}}' for value in values))
    field = format.schema.field("v")
    kept = {None: "", b"text": "any ", b"raw": "raw "}[next(iter(field.metadata or {}), None)]
    return kept + str(field.type), doubts


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2", "null"], "int64"), (["1", "2.5"], "double"), (["1.0"], "double"),
        (["18446744073709551615"], "uint64"), (["true", "null"], "bool"), (['"a"', '""'], "string"),
        (["[1]", "[]", "[2.5,null]", "null"], "list<item: double>"),
        (['{"a":1}', '{"b":"x"}', '{"a":2.5,"b":null}'], "struct<a: double, b: string>"),
        (['[{"a":1}]', '[{"b":[true]}]'], "list<item: struct<a: int64, b: list<item: bool>>>"),
        (['"2024-01-01"', '"2024-02-29"', '"2023-12-31"'], "date32[day]"),
        (['"2024-01-01"', '"2024-02-30"', '"2023-12-31"'], "string"),
        (['"2024-01-01T00:00:00Z"'] * 3, "timestamp[us, tz=UTC]"),
        (['"2024-01-01 00:00"'] * 3, "timestamp[us]"),
        (['"2024-01-01T00:00:00.123456789"'] * 3, "timestamp[ns]"),
        (['"2024-01-01"', '"2024-02-29"', '"soon"'], "string"),
    ],
)  # fmt: skip
def test_values_widen_without_doubt(values, kind):
    assert type_of(*values) == (kind, "")


@pytest.mark.parametrize(
    ("values", "kind", "evidence"),
    [
        (["1", '"x"'], "any string", ["v: integer (1 times, as 1), string (1 times, as 'x')"]),
        (["[1]", '{"a":1}'], "any string", ["array (1 times, as [1 items])", "object (1 times, as {'a': ...})"]),
        (['{"a":[1]}', '{"a":["x"]}'], "struct<a: list<item: string>>", ["v.a[]: integer (1 times, as 1), string"]),
        (["null"], "any string", ["v: no value but null"]),
        (["[]"], "list<item: string>", ["only empty arrays"]),
        (["{}"], "any string", ["only empty objects"]),
        (["1e400"], "any string", ["beyond float64"]),
        (["-1", "12345678901234567890"], "decimal128(38, 0)", ["20 digits"]),
        (["1" * 60], "any string", ["60 digits"]),
        (["9007199254740993", "0.5"], "double", ["9007199254740993", "float64 rounds"]),
        (['"2024-01-01"'], "date32[day]", ["1 values, like '2024-01-01'"]),
        (['"2024-01-01T00:00Z"', '"2024-01-01T00:00"'], "timestamp[us, tz=UTC]", ["1 of 2 times have an offset"]),
        (['{"a":1,"a":2}'], "struct<a: int64>", ["key 'a' stands twice"]),
        ([r'"\ud800"'], "raw string", ["valid UTF-8"]),
    ],
)
def test_doubts_name_paths_and_examples(values, kind, evidence):
    found, doubts = type_of(*values)
    assert found == kind
    for part in evidence:
        assert part in doubts


def test_objects_with_keys_of_their_own_are_maps():
    data = "\n".join(f'{{"m":{{"k{i}":{i},"j{i}":0.5}}}}' for i in range(200))
    format, doubts = inferred(data)
    assert format.schema.field("m").type == pa.map_(pa.string(), pa.float64())
    assert "400 different keys" in doubts


@pytest.mark.parametrize("layout", ["lines", "array", "concatenated"])
def test_objects_of_other_keys_each_time_are_proven_on_the_first_ones_only(layout):
    """All of them would be as many values as their number squared."""
    objects = [f'{{"k{i}":{i}}}' for i in range(3_000)]
    text = {"lines": "\n".join(objects), "array": f"[{','.join(objects)}]", "concatenated": " ".join(objects)}
    with pytest.warns(
        fm.InferenceWarning, match="records of 3000 different keys: proven on the first 1398 of each sample"
    ):
        format = fm.infer(text[layout].encode(), "json")
    assert format.schema == pa.schema([(f"k{i}", pa.int64()) for i in range(3_000)])


@pytest.mark.parametrize(
    ("text", "records"),
    [
        ('{"a":1}\n{"a":2}\n', "lines"), ('\ufeff{"a":1}\n', "lines"), ('[{"a":1},\n{"a":2}]', "array"),
        ('{\n"a":1}\n{\n"a":2}', "concatenated"), ('{"a":1}{"a":2}', "concatenated"),
    ],
)  # fmt: skip
def test_the_layout_is_found(text, records):
    format, doubts = inferred(text)
    assert (format.records, doubts) == (records, "")
    assert fm.read(text.encode(), format)["a"].to_pylist() == [1, 2][: text.count("a")]


def test_what_is_no_object_is_counted_and_the_first_one_placed():
    _, doubts = inferred('{"a":1}\noops\n[1]\n{"a":2}\n')
    assert "byte 8 begins no object" in doubts
    assert "2 of 4 records" in doubts
    with pytest.raises(fm.FormatError, match="found none"):
        inferred("oops\n1\n")


@pytest.mark.parametrize("between", ["\n", " ", ","])
def test_a_sample_cut_inside_a_document_does_not_mislead(between, tmp_path):
    text = between.join(json.dumps({"id": i, "text": "x" * 50, "tags": [i / 2]}) for i in range(80_000))
    text = f"[{text}]" if between == "," else text
    path = tmp_path / "big.json"
    path.write_text(text)
    assert path.stat().st_size > 4 << 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for rows in (7, 1_000_000):
            format = fm.infer(path, kind="json", rows=rows)
            assert [str(f.type) for f in format.schema] == ["int64", "string", "list<item: double>"]
    assert fm.read(path, format).num_rows == 80_000


values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8) | st.dates().map(str) | st.datetimes().map(str),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd") | st.text(max_size=3), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip
documents = st.lists(
    st.dictionaries(st.sampled_from(["id", "x", "y", "z"]), values, min_size=1, max_size=4), min_size=1, max_size=6
)


@given(documents, st.sampled_from(["lines", "array", "concatenated"]))
@settings(max_examples=80, deadline=None)
def test_the_format_reads_its_own_sample_without_rejects(found, layout):
    dumped = [json.dumps(d) for d in found]
    text = f"[{','.join(dumped)}]" if layout == "array" else ("\n" if layout == "lines" else "").join(dumped)
    format, _ = inferred(text)
    rejects: list[pa.Table] = []
    table = fm.read(text.encode(), format, on_error="collect", rejects=rejects)
    assert rejects[0].num_rows == 0
    assert table.num_rows == len(found)


def test_kinds_beside_strings_are_kept_as_the_text_a_reader_expects():
    data = b'{"title": "The \\"Land\\" Girls", "tags": ["a", 1]}\n{"title": 1776, "tags": [{"b": null}]}\n'
    with pytest.warns(fm.InferenceWarning):
        format = fm.infer(data, kind="json")
    assert fm.read(data, format).to_pylist() == [
        {"title": 'The "Land" Girls', "tags": ["a", "1"]},
        {"title": "1776", "tags": ['{"b": null}']},
    ]


@pytest.mark.parametrize("text", [b"[" * 3000, b'{"a":' + b"[" * 5000, b'{"a":' * 3000, b'[{"a":' * 3000 + b'"]}"'])
@pytest.mark.parametrize("behind", [b"", b'\n{"a":1}\n', b"]}" * 100])
def test_brackets_that_nobody_closes_are_refused_in_words(text, behind):
    with pytest.raises(fm.FormatError, match="expected JSON objects, found none"):
        fm.infer(text + behind, "json")
