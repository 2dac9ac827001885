"""fm.infer of JSON takes for records what the reader takes for them, however long, deep or wrong they are."""

from __future__ import annotations

import io
import json
import warnings

import pyarrow as pa
import pytest

import formatter as fm
from formatter.inference.sample import LONGEST_SAMPLE, SAMPLE_BYTES
from formatter.inference.stretches import Stretch, infer_stretches


def inferred(source, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format = fm.infer(source, kind="json", **options)
    return format, " ".join(str(w.message) for w in caught)


@pytest.mark.parametrize(
    ("value", "evidence"),
    [
        ("1" * 5_000, "a: integers of 5000 digits, kept as text"),
        ("-" + "1" * 5_000, "a: integers of 5000 digits, kept as text"),
        ("1e999999999999999999999", "a: numbers beyond float64, kept as text"),
        ("[" * 900 + "]" * 900, "in more than 60 brackets, kept as text"),
        ('{"k":' * 900 + "1" + "}" * 900, "in more than 60 brackets, kept as text"),
    ],
)
def test_values_that_python_does_not_take_are_values_as_others(value, evidence):
    data = f'{{"a":{value}}}\n{{"a":null}}\n'.encode()
    format, doubts = inferred(data)
    assert evidence in doubts
    assert fm.read(data, format).num_rows == 2


def test_a_fraction_of_any_length_is_a_number():
    assert inferred(b'{"a":0.%s}' % (b"1" * 5_000))[0].schema.field("a").type == pa.float64()


def test_what_the_reader_refuses_is_told_as_the_reader_tells_it():
    data = b'{"a":1}\n{"a":NaN}\n{"a":"\xff"}\n{"a":%s}\n' % (b"[" * 1_100 + b"]" * 1_100)
    format, doubts = inferred(data)
    assert format == fm.Json(pa.schema([("a", pa.int64())]))
    assert "byte 13: expected JSON, found 'NaN}'" in doubts
    assert "3 of 4 records are no objects" in doubts
    rejects: list[pa.Table] = []
    assert fm.read(data, format, on_error="collect", rejects=rejects).to_pylist() == [{"a": 1}]


def test_bytes_that_are_no_utf8_make_no_other_layout():
    format, doubts = inferred(b'{"a":"\xff"}\n{"a":"x"}\n')
    assert format.records == "lines"
    assert "byte 6: expected valid UTF-8" in doubts


@pytest.mark.parametrize("record", [rb'{"\ud800":1,"b":2}', rb'{"v":{"\ud800":1}}', rb'{"v":[{"\ud800":1}]}'])
def test_a_key_with_half_a_surrogate_pair_is_told_and_replaced(record):
    format, doubts = inferred(record)
    assert format.surrogates == "replace"
    assert r"key '\ud800' has half a surrogate pair" in doubts
    assert fm.read(record, format).to_pylist() == [json.loads(record.replace(rb"\ud800", rb"\ufffd"))]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"1\n2\n", "byte 0 begins no object (found integer 1)"),
        (b"[1]", "byte 1 begins no object (found integer 1)"),
        (b'{"a":1\n', "byte 6: expected JSON"),
        (b'[{"a":1} {"a":2}]', "byte 9: expected nothing behind"),
        ('{"a":1}'.encode("utf-16"), "it looks like UTF-16"),
    ],
)
def test_where_there_is_no_record_the_error_says_what_is_there(data, why):
    with pytest.raises(fm.FormatError, match="expected JSON objects, found none") as caught:
        inferred(data)
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("data", "rows", "evidence"),
    [
        (b"", 0, "no object in 0 bytes"), (b" \n", 0, "no object in 2 bytes"), (b"[]", 0, "no object in 2 bytes"),
        (b"{}\n{}\n", 2, "no key in any object"),
    ],
)  # fmt: skip
def test_where_nothing_is_wrong_and_nothing_is_there_are_no_columns(data, rows, evidence):
    """As in CSV."""
    format, doubts = inferred(data)
    assert format.schema == pa.schema([])
    assert evidence in doubts
    assert fm.read(data, format).num_rows == rows


def test_no_input_at_all_is_told_as_that():
    for kind in ("csv", "json"):
        with pytest.raises(fm.OptionError, match="source: expected one input or more, found none"):
            fm.infer([], kind)


def sources(data: bytes, path):
    path.write_bytes(data)
    return data, io.BytesIO(data), path


@pytest.mark.parametrize("layout", ["lines", "array", "concatenated"])
def test_records_longer_than_the_usual_sample_are_looked_at(layout, tmp_path):
    objects = [json.dumps({"a": "x" * (SAMPLE_BYTES + 10)}), '{"a": "y"}']
    data = f"[{','.join(objects)}]" if layout == "array" else ("\n" if layout == "lines" else "").join(objects)
    for source in sources(data.encode(), tmp_path / "long.json"):
        format, doubts = inferred(source)
        assert (format, doubts) == (fm.Json(pa.schema([("a", pa.string())]), records=layout), "")


def test_a_record_that_ends_in_no_sample_is_an_error_and_not_a_format_of_no_columns(tmp_path):
    data = b'{"a": "%s"}\n' % (b"x" * LONGEST_SAMPLE)
    for source in sources(data, tmp_path / "long.json"):
        with pytest.raises(fm.FormatError, match=f"ends in the sample of {LONGEST_SAMPLE} bytes, found none"):
            inferred(source)
    with pytest.raises(fm.FormatError, match="ends in the sample of 1000 bytes, found none"):
        infer_stretches([Stretch("a", data[:1_000])], "json")


@pytest.mark.parametrize("keys", [["items"], ["a/b", "~"], ["", "\u00e9"]])
def test_a_document_longer_than_the_sample_is_read_by_the_array_it_ends_in(keys, tmp_path):
    """Keys of a record may be those of the path, too."""
    items = [{"id": i, keys[0]: i / 2, "text": "x" * 50} for i in range(70_000)]
    document = items
    for key in reversed(keys):
        document = {"before": [1, {"x": []}], key: document}
    data = json.dumps(document).encode()
    assert len(data) > SAMPLE_BYTES
    for source in sources(data, tmp_path / "wrapped.json"):
        format, doubts = inferred(source)
        assert format.schema == pa.schema([("id", pa.int64()), (keys[0], pa.float64()), ("text", pa.string())])
        assert "what stands beside them has no column" in doubts
        assert fm.read(data, format).to_pylist() == items


def test_the_one_document_with_an_array_of_objects_is_told_how_to_be_read_by_these():
    data = b'{"count": 3, "data": {"few": [{"b": 1}, {"b": 2}], "a/b": [{"a": 1}, {"a": 2}, {"a": 3}]}}'
    format, doubts = inferred(data)
    assert format.records == "lines"
    assert "an array of 3 objects in it: records='/data/a~1b/*' would read those" in doubts
    inside = fm.Json(pa.schema([("a", pa.int64())]), records="/data/a~1b/*")
    assert fm.read(data, inside)["a"].to_pylist() == [1, 2, 3]


def test_a_line_that_goes_on_is_a_document_unless_most_lines_are_records():
    assert inferred(b'{\n"a": 1\n}\n{\n"a": 2\n}\n')[0].records == "concatenated"
    format, doubts = inferred(b'{\n{"a":1}\n{"a":2}\n{"a":3}\n')
    assert format.records == "lines"
    assert "byte 1: expected JSON" in doubts


def test_no_more_of_a_sample_is_told_than_the_rows_that_are_looked_at():
    data = b'{"a":1}\n' * 5 + b"oops\n"
    assert inferred(data, rows=5)[1] == ""
    assert "byte 40 begins no object (found 'oops')" in inferred(data, rows=6)[1]


@pytest.mark.parametrize("layout", ["array", "concatenated"])
def test_an_explanation_does_not_tell_of_the_record_that_its_sample_cuts(layout):
    records = [json.dumps({"id": i, "text": "x" * 50}) for i in range(70_000)]
    records[3] = '{"id": "x", "text": ""}'
    text = f"[{','.join(records)}]" if layout == "array" else "\n \n".join(records)
    format = fm.Json(pa.schema([("id", pa.int64()), ("text", pa.string())]), records=layout)
    found = fm.explain(text.encode(), format)
    assert len(text) > SAMPLE_BYTES
    assert len(found.rejects) == 1
    assert "record 3, field 0 'id'" in found.rejects[0]
