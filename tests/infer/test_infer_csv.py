"""fm.infer of CSV: what is found in a sample, what it says of its doubts, and that it reads its own sample."""

from __future__ import annotations

import codecs
import random
import warnings

import pyarrow as pa
import pytest

import formatter as fm


def inferred(data: str | bytes, **options):
    """(the format, its doubts); the sample is read by it without a reject."""
    raw = data.encode() if isinstance(data, str) else data
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        format = fm.infer(raw, **options)
    rejects: list[pa.Table] = []
    fm.read(raw, format, on_error="collect", rejects=rejects)
    assert rejects[0].num_rows == 0, rejects[0].to_pylist()
    assert all(issubclass(w.category, fm.InferenceWarning) for w in caught)
    return format, " ".join(str(w.message) for w in caught)


def types_of(data, **options):
    return {f.name: str(f.type) for f in inferred(data, **options)[0].schema}


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2"], "int64"), (["1", "2.5"], "double"), (["1", ""], "int64"), (["1e3", "NaN"], "double"),
        (["18446744073709551615", "1"], "uint64"), (["2024-02-29", "2024-01-01"], "date32[day]"),
        (["2024-02-29 01:02:03", "2024-01-01T00:00"], "timestamp[us]"),
        (["2024-02-29T01:02:03Z", "2024-01-01T00:00+02"], "timestamp[us, tz=UTC]"),
        (["2024-02-29T01:02:03.123456789", "2024-01-01"], "timestamp[ns]"), (["true", "false"], "bool"),
        (["TRUE", "FALSE"], "bool"), (["a", "1"], "string"), (["0", "1"], "int64"),
    ],
)  # fmt: skip
def test_a_column_has_the_narrowest_type_that_all_its_values_parse_as(values, kind):
    data = "id,v\n" + "".join(f"{i},{v}\n" for i, v in enumerate(values))
    assert types_of(data) == {"id": "int64", "v": kind}


@pytest.mark.parametrize("delimiter", [",", "\t", ";", "|", ":"])
def test_the_delimiter_is_the_one_that_makes_records_alike(delimiter):
    data = "".join(f"{i}{delimiter}name {i}{delimiter}{i / 2}\n" for i in range(10))
    assert inferred(data)[0].delimiter == delimiter


DOUBTS = [
    ("zip,n\n00501,1\n12345,2\n", {"zip": "string", "n": "int64"}, ["zip", "00501", "zeros"]),
    ("a,b\n1, 2\n3, 4\n", {"a": "int64", "b": "int64"}, ["'b'", "trim=True"]),
    ("# note\na,b\n1,2\n3,4\n", {"a": "int64", "b": "int64"}, ["# note", "comments"]),
    ("a,b,c\n1,2,3\n4,5\n6,7,8\n", {"a": "int64", "b": "int64", "c": "int64"}, ["record 1 with 2", "ragged='pad'"]),
    ("a,b\n1,2\n4,5,6\n6,7\n", {"a": "int64", "b": "int64"}, ["record 1 with 3", "ragged='truncate'"]),
    (",x,x\n0,1,2\n1,2,3\n", {"": "int64", "x": "int64", "x_2": "int64"}, ["2 columns are named 'x'"]),
    ("n,s\nNA,NA\n1,x\n", {"n": "int64", "s": "string"}, ["'NA' is null in column 'n'", "'s'"]),
    ('a,b\n1,5 "in\n2,6"\n3,x\n', {"a": "int64", "b": "string"}, ["quote=None", "byte 8"]),
    ("a,b\n1,\n2,\n", {"a": "int64", "b": "string"}, ["'b'", "no value"]),
    ("a,b\nx,y\n", {"a": "string", "b": "string"}, ["['a', 'b']", "header"]),
    ("1,2\n", {"f0": "int64", "f1": "int64"}, ["one record only"]),
    ("a;b\n1;2,5\n2;3.5\n", {"a": "int64", "b": "string"}, []),
    ("a;b;c\n1;2,5;2.5\n2;3;1.5\n", {"a": "int64", "b": "string", "c": "double"}, ["decimal comma"]),
    ("a,b\n12345678901234567890123,1\n1,2\n", {"a": "decimal128(38, 0)", "b": "int64"}, ["beyond 64 bits"]),
    ("a,t\n1,2024-01-01T00:00Z\n2,2024-01-01T00:00\n", {"a": "int64", "t": "timestamp[us, tz=UTC]"}, ["1 of 2 times"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "types", "evidence"), DOUBTS)
def test_doubts_name_their_evidence(data, types, evidence):
    format, doubts = inferred(data)
    assert {f.name: str(f.type) for f in format.schema} == types
    for part in evidence:
        assert part in doubts


def test_a_sample_without_doubts_gives_no_warning():
    format, doubts = inferred('id,name,at\n1,"a, b",2024-01-01\n2,,2024-01-02\n')
    assert not doubts
    assert format.header
    assert format == fm.Csv(format.schema, header=True)


def test_a_decimal_comma_is_found_where_it_is_not_the_delimiter():
    format, _ = inferred("a;b\n1,5;x\n2,25;y\n")
    assert format.decimal == ","
    assert fm.read(b"a;b\n1,5;x\n", format)["a"].to_pylist() == [1.5]


def test_a_mark_in_front_of_latin_1_is_no_part_of_the_first_name():
    data = codecs.BOM_UTF8 + "id,name\n1,zo\xeb\n2,x\n".encode("latin-1")
    with pytest.warns(fm.InferenceWarning, match="taken as latin-1"):
        format = fm.infer(data)
    assert (format.encoding, format.schema.names) == ("latin-1", ["id", "name"])
    assert fm.read(data, format).to_pylist() == [{"id": 1, "name": "zo\xeb"}, {"id": 2, "name": "x"}]


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_the_encoding_is_found_and_said_where_no_mark_tells_it(encoding):
    data = "id,name\n1,né\n2,b\n".encode(encoding)
    format, doubts = inferred(data)
    assert fm.read(data, format)["name"].to_pylist() == ["né", "b"]
    assert bool(doubts) == (encoding in ("latin-1", "utf-16-le", "utf-16-be"))


def test_a_sample_cut_inside_a_record_does_not_mislead(tmp_path):
    path = tmp_path / "big.csv"
    chance = random.Random(5)
    rows = "".join(f'{i},"te\nxt {i}",{chance.random()}\n' for i in range(200_000))
    path.write_text("id,name,x\n" + rows)
    assert path.stat().st_size > 4 << 20
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        format = fm.infer(path, rows=1_000_000)
    assert [str(f.type) for f in format.schema] == ["int64", "string", "double"]


def test_arguments_are_checked():
    for options in ({"kind": "xml"}, {"rows": 0}, {"rows": True}):
        with pytest.raises(fm.OptionError):
            fm.infer(b"a,b\n1,2\n", **options)


@pytest.mark.parametrize("data", [b"", b"\n", b"\r\n\r\n", b"\xef\xbb\xbf"])
def test_an_empty_input_has_no_columns_and_reads_as_no_records(data):
    format, doubts = inferred(data)
    assert (len(format.schema), doubts) == (0, "")
    assert fm.read(data, format).shape == (0, 0)


@pytest.mark.parametrize("data", [b'{"a": 1, "b": [1, 2]}\n{"a": 2, "b": []}\n', b'[\n {"a": 1},\n {"a": 2}\n]'])
def test_json_taken_for_csv_is_told(data):
    with pytest.warns(fm.InferenceWarning, match="looks like a JSON object; kind='json' reads those"):
        fm.infer(data)


GIVEN = [
    ({"delimiter": "|"}, b"1,2|3,4\n5,6|7,8\n", {"f0": "double", "f1": "double"}),
    ({"delimiter": "::"}, b"a::b\n1::x,y\n2::z,w\n", {"a": "int64", "b": "string"}),
    ({"quote": None}, b'a,b\n"x,1\ny",2\n', {"a": "string", "b": "int64"}),
    ({"quote": "'"}, b"a;b\n'x;y';1\nz;2\n", {"a": "string", "b": "int64"}),
    ({"escape": "\\"}, b"a,b\nx\\,y,1\nz,2\n", {"a": "string", "b": "int64"}),
    ({"comment": ";"}, b"a,b\n;note\nx,1\ny,2\n", {"a": "string", "b": "int64"}),
    ({"record_delimiter": "\r"}, b"a,b\r1,x\r2,y\r", {"a": "int64", "b": "string"}),
    ({"newlines_in_quotes": False}, b'a,b\n1,x\n2,"y\n3,z\n', {"a": "int64", "b": "string"}),
]


@pytest.mark.parametrize(("given", "data", "types"), GIVEN, ids=lambda v: str(v)[:30])
def test_what_is_given_of_a_dialect_stands_and_the_rest_is_found(given, data, types):
    format, _ = inferred(data, **given)
    assert {f.name: str(f.type) for f in format.schema} == types
    assert {name: getattr(format, name) for name in given} == given


@pytest.mark.parametrize("quotes", ["strict", "lenient", "sticky"])
def test_a_quote_rule_that_is_given_stands_and_stray_quotes_are_told(quotes):
    with pytest.warns(fm.InferenceWarning, match=f"none belong in 1 fields.*quotes='{quotes}'"):
        format = fm.infer(b'a,b\n1,"x"y"\n2,"z"\n3,"w"\n', quotes=quotes)
    assert format.quotes == quotes


@pytest.mark.parametrize(
    "given", [{"delimiter": ""}, {"quote": "''"}, {"header": True}, {"kind": "json", "quote": "'"}]
)
def test_what_cannot_be_given_is_refused(given):
    with pytest.raises(fm.OptionError):
        fm.infer(b"a,b\n1,2\n", **given)
