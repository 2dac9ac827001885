"""Bytes that are another kind of thing than the format says: the error names the option that reads them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from dataclasses import replace

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string())])
CSV, HEADED, JSON = fm.Csv(SCHEMA), fm.Csv(SCHEMA, header=True), fm.Json(SCHEMA)
TEXT = b"id,name\n1,Oslo\n2,Rome\n"
LINES = b'{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n'
WRITERS = {
    "gzip": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zstd": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, codec="lz4", asbytes=True),
}


def said_of(data, format):
    """By a reader and by a stream, whose remedies must be the same."""
    said = []
    with pytest.raises((fm.FormatError, fm.SchemaError)) as raised:
        fm.read(data, format)
    said.append(str(raised.value))
    stream = fm.Stream(format)
    with pytest.raises((fm.FormatError, fm.SchemaError)) as raised:
        (stream.push(data, sequence=1), stream.finish())
    said.append(str(raised.value))
    remedies = {text.rsplit("; ", 1)[1] for text in said}
    assert len(remedies) == 1
    return remedies.pop()


@pytest.mark.parametrize("codec", WRITERS)
@pytest.mark.parametrize(
    ("format", "data"), [(CSV, TEXT), (HEADED, TEXT), (JSON, LINES)], ids=["csv", "header", "json"]
)
def test_compressed_bytes_taken_for_text_name_their_codec(codec, format, data):
    packed = WRITERS[codec](data * 20)
    assert said_of(packed, format) == f"it begins as {codec} does: set codec={codec!r}, or decompress what is pushed"
    if format is not CSV:
        assert fm.read(packed, format, codec=codec, on_error="skip").num_rows > 1


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["\ufeff", ""], ids=["marked", "unmarked"])
def test_text_in_utf_16_names_the_encoding_that_reads_it(encoding, mark):
    data = (mark + TEXT.decode()).encode(encoding)
    assert said_of(data, HEADED) == f"it looks like UTF-16: set encoding={encoding!r}"
    assert fm.read(data, fm.Csv(SCHEMA, header=True, encoding=encoding)).num_rows == 2
    assert said_of((mark + LINES.decode()).encode(encoding), JSON) == "it looks like UTF-16: transcode it to UTF-8"


OBJECTS = [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}]


@pytest.mark.parametrize(
    ("data", "remedy", "records"),
    [
        (json.dumps(OBJECTS), "set records='array' for the items of an array", "array"),
        (json.dumps(OBJECTS, indent=2), "set records='array' for the items of an array", "array"),
        (json.dumps(OBJECTS[0], indent=2), "set records='concatenated' for objects of several lines", "concatenated"),
        (
            "".join(map(json.dumps, OBJECTS)),
            "set records='concatenated' for objects one behind the other",
            "concatenated",
        ),
    ],
)
def test_json_that_is_no_lines_names_the_option_that_reads_it(data, remedy, records):
    assert said_of(data.encode(), JSON) == remedy
    assert fm.read(data.encode(), fm.Json(SCHEMA, records=records)).num_rows == len(data.split('"id"')) - 1


def test_json_and_other_delimiters_taken_for_csv_are_told():
    assert said_of(LINES, CSV) == "it looks like JSON: read it with fm.Json"
    assert said_of(b"1;a\n", CSV) == "set delimiter=';'"
    assert said_of(b"1\ta\n", CSV) == "set delimiter='\\t'"
    assert said_of(b"1 a\n", CSV) == "set ragged='pad'"
    assert said_of(b"PAR1" + bytes(40), CSV) == "it begins as Parquet does, which is no text"
    assert said_of(b"BZh,a,b\n", CSV) == "set ragged='truncate'"


def test_lines_that_end_in_a_lone_return_name_the_option_that_reads_them():
    remedy = "its lines seem to end in a lone '\\r': set record_delimiter='\\r'"
    for format, data in ((CSV, b"1,Oslo\r2,Rome\r"), (HEADED, b"id,name\r1,Oslo\r2,Rome")):
        assert said_of(data, format) == remedy
        assert fm.read(data, replace(format, record_delimiter="\r")).num_rows == 2
    assert said_of(b'1,"a\rb",x\n', CSV) == "set ragged='truncate'"  # in quotes it is text
    assert said_of(b"1,a,x\r\r\n", CSV) == "set ragged='truncate'"


def test_what_stands_behind_the_first_record_is_not_taken_for_another_kind():
    with pytest.raises(fm.FormatError, match="set ragged='pad'"):
        fm.read(b"1,a\n\x1f\x8b\n", CSV)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"1,M\xfcnster\n", r"found b'M\xfcnster'; set encoding='cp1252' or 'latin-1', or errors='replace'"),
        ("Ærø,a\n".encode(), "found 'Ærø'"),
        (b"\xff1,a\n", r"found b'\xff1'"),
    ],
)
def test_bytes_that_are_no_text_are_shown_as_bytes(data, shown):
    with pytest.raises(fm.FormatError) as raised:
        fm.read(data, CSV)
    assert str(raised.value).endswith(shown)
    assert isinstance(raised.value.found, str)


@pytest.mark.parametrize("data", [b"id,name\n1,Oslo\n", b'"ID","NAME"\n1,Oslo\n', b" id ,name\n1,Oslo\n"])
def test_a_header_that_is_read_as_data_is_told_by_its_option(data):
    assert said_of(data, CSV) == "set header=True"


def test_a_name_further_down_is_no_header():
    with pytest.raises(fm.FormatError, match=r"found 'id'$"):
        fm.read(b"1,Oslo\nid,Rome\n", CSV)


@pytest.mark.parametrize(
    ("data", "remedy"),
    [
        (b"ID,Name\n1,Oslo\n", "set names_in_any_case=True"),
        (b" id, name\n1,Oslo\n", "set trim_names=True"),
        (b" ID, name\n1,Oslo\n", "set trim_names=True, names_in_any_case=True"),
        (b'"ID","NAME"\n1,Oslo\n', "set names_in_any_case=True"),
        (b"id;name\n1;Oslo\n", "set delimiter=';'"),
        (b"id;town\n1;Oslo\n", "set delimiter=';'"),
        (b"key,name\n1,Oslo\n", None),
        (b"1,Oslo\n", None),
    ],
)
def test_a_header_whose_names_are_almost_the_columns_is_told_by_the_option_that_finds_them(data, remedy):
    said = said_of(data, HEADED)
    assert (
        said == remedy
        if remedy
        else said.startswith("check the names (case and spaces count), set missing_columns='null'")
    )


def test_what_the_header_says_is_shown():
    with pytest.raises(fm.SchemaError, match="expected the columns 'name', found 'id,naem'"):
        fm.read(b"id,naem\n1,Oslo\n", HEADED)


def test_a_pattern_that_reads_nothing_is_not_recommended_anew():
    times = pa.schema([("day", pa.date32())])
    assert said_of(b"31-12-2024\n", fm.Csv(times)) == "give its format in timestamp_formats"
    given = fm.Csv(times, timestamp_formats=["%d/%m/%Y"])
    assert said_of(b"31-12-2024\n", given) == "none of timestamp_formats=('%d/%m/%Y',) reads it: add its own"


def test_a_value_that_is_no_text_is_told_by_the_metadata_that_takes_it_and_keeps_texts_as_they_are():
    assert "{b'text': b'any'}" in said_of(b'{"id":1,"name":5}\n', JSON)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_an_encoding_that_is_set_already_is_not_recommended(encoding):
    with pytest.raises(fm.SchemaError, match="; check the names"):
        fm.read("\ufeffid\n1\n".encode("utf-16-le"), fm.Csv(SCHEMA, header=True, encoding=encoding))
