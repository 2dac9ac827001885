"""One format from many places: types hold what any stretch has, and a stretch that begins inside quotes is never misread."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import formatter as fm
from formatter.inference.stretches import Stretch, infer_records, infer_stretches


def types(format):
    return {field.name: str(field.type) for field in format.schema}


def test_types_of_json_hold_what_any_stretch_has():
    first = Stretch("a", b'{"n": 1, "at": {"x": 1}}\n{"n": 2}\n', ends=True)
    middle = Stretch("b", b': 9}\n{"n": 2.5, "at": {"y": [1]}}\n{"n": "cut', offset=100)
    format, doubts = infer_stretches([first, middle], "json")
    assert types(format) == {"n": "double", "at": "struct<x: int64, y: list<item: int64>>"}
    assert doubts == []


def test_kinds_that_do_not_merge_are_told_with_their_counts():
    stretches = [Stretch("a", b'{"n": 1}\n' * 3, ends=True), Stretch("b", b'{"n": "x"}\n', ends=True)]
    format, doubts = infer_stretches(stretches, "json")
    assert format.schema.field("n").metadata == {b"text": b"any"}
    assert doubts == ["n: integer (3 times, as 1), string (1 times, as 'x'): kept as text"]


def test_a_bad_record_is_told_with_its_file_and_byte():
    stretches = [Stretch("a", b'{"n": 1}\n', ends=True), Stretch("b", b'7\n{"n": 1}\n[2]\n', offset=50, ends=True)]
    assert infer_stretches(stretches, "json")[1] == ["b: byte 61 begins no object (found array [1 items])"]


def test_arrays_of_several_files_are_merged():
    stretches = [Stretch("a", b'[{"n": 1}]', ends=True), Stretch("b", b'[{"n": 2.5}, {"m": tru')]
    format, _ = infer_stretches(stretches, "json")
    assert format.records == "array"
    assert types(format) == {"n": "double"}


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 400), st.booleans())
def test_a_stretch_of_csv_counts_from_its_first_whole_record(seed, offset, is_half):
    """Line ends inside quotes are no records: only values that stand in the column decide its type."""
    chance = random.Random(seed)
    text = "".join(
        f'{i},"line {chance.random()}\n{chance.choice(["x", "1,2", ",,", ""])}",{i + 0.5 if is_half else i}\n'
        for i in range(60)
    ).encode()
    head = b"id,note,value\n" + b'1,"a\nb",2\n' * 20
    end = min(len(text), offset + 800)
    stretch = Stretch("b", text[offset:end], offset + len(head), end == len(text))
    format, doubts = infer_stretches([Stretch("a", head, ends=True), stretch], "csv")
    assert types(format) == {"id": "int64", "note": "string", "value": "double" if is_half else "int64"} or doubts
    assert format.header


def test_headers_of_other_files_are_no_values():
    stretches = [Stretch(name, b"id,city\n1,Oslo\n2,Rome\n", ends=True) for name in "abc"]
    format, doubts = infer_stretches(stretches, "csv")
    assert types(format) == {"id": "int64", "city": "string"}
    assert doubts == []


def test_a_file_with_another_header_is_left_out_and_told():
    stretches = [Stretch("a", b"id,city\n1,Oslo\n2,Rome\n", ends=True), Stretch("b", b"city,id\nOslo,x\n", ends=True)]
    format, doubts = infer_stretches(stretches, "csv")
    assert types(format)["id"] == "int64"
    assert doubts == ["b: in 1 place no such records were found as a begins with"]


def test_titles_above_the_header_may_differ_in_length_from_file_to_file():
    stretches = [
        Stretch("a", b"Report of May\n\nid,price\n1,2\n2,3\n3,4\n", ends=True),
        Stretch("b", b"Report of September, final\n\nid,price\n1,2.5\n", ends=True),
    ]
    assert types(infer_stretches(stretches, "csv")[0]) == {"id": "int64", "price": "double"}


@pytest.mark.parametrize(("text", "why"), [("id,x\n1,2\n2,3\n".encode("utf-16"), "is in UTF-16")])
def test_what_cannot_be_looked_at_elsewhere_is_told(text, why):
    other = Stretch("b", "9.5,2\n".encode("utf-16-le"), offset=77)
    format, doubts = infer_stretches([Stretch("a", text, ends=True), other], "csv")
    assert types(format) == {"id": "int64", "x": "int64"}
    assert any(doubt.startswith(f"a {why}") for doubt in doubts)


def test_records_of_an_array_have_no_header():
    format, _ = infer_records([b"id;1,5", b"x;2,5"], "csv")
    assert (format.header, format.delimiter, format.decimal) == (False, ";", ",")
    assert types(format) == {"f0": "string", "f1": "double"}


def test_a_record_of_an_array_may_have_line_ends():
    format, doubts = infer_records([b'{"a":\n1}', b'{"a": 2.5}'], "json")
    assert types(format) == {"a": "double"}
    assert doubts == []


def test_all_of_a_file_reads_by_the_format_of_its_stretches():
    text = b"".join(b'%d,"a\nb",%d\n' % (i, i) for i in range(5000))
    data = b"id,note,value\n" + text
    stretches = [
        Stretch("a", data[:4000]),
        Stretch("a", data[20_000:24_000], 20_000),
        Stretch("a", data[60_000:64_000], 60_000),
    ]
    format, _ = infer_stretches(stretches, "csv")
    assert fm.read(data, format).num_rows == 5000


def test_samples_of_unequal_length_are_proven_whole_where_all_of_them_are_few_values():
    line = b'{"n": 1, "s": "x"}\n'
    stretches = [Stretch("a", line * 40_000, ends=True), *(Stretch("b", line * 20, 77 + at, True) for at in range(60))]
    format, doubts = infer_stretches(stretches, "json")
    assert (types(format), doubts) == ({"n": "int64", "s": "string"}, [])
