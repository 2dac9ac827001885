"""Something that is no format where one is expected: the error says what to make of it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64())])
TAKERS = {
    "read": lambda format: fm.read(b"", format),
    "open": lambda format: fm.open(b"", format),
    "Stream": fm.Stream,
    "a stream by origin": lambda format: fm.Stream({"a": format}),
    "SharedStream": fm.SharedStream,
    "parse_records": lambda format: fm.parse_records([b"1"], format),
    "a pipeline": lambda format: fm.pipeline().source("chunks", []).parse(format),
}


@pytest.mark.parametrize("taker", TAKERS)
@pytest.mark.parametrize(
    ("given", "words"),
    [
        (fm.Csv, r"found the class Csv; make one of a schema: fm\.Csv\(schema\)"),
        (fm.Json, r"found the class Json; make one of a schema: fm\.Json\(schema\)"),
        (SCHEMA, r"found Schema; say how its fields are written: fm\.Csv\(schema\), fm\.Json\(schema\)"),
        ("csv", r"found str; make one of a schema, as fm\.Csv\(schema\), or let fm\.infer\(source\) propose one"),
        (None, r"found NoneType; make one of a schema"),
    ],
)
def test_what_is_no_format_is_refused_with_what_makes_one(taker, given, words):
    with pytest.raises(fm.OptionError, match=words):
        TAKERS[taker](given)


@pytest.mark.parametrize("taker", [fm.Stream, fm.SharedStream])
def test_no_formats_by_origin_are_refused(taker):
    with pytest.raises(fm.OptionError, match="expected formats by origin, found none"):
        taker({})


def test_the_class_of_a_format_is_named_where_some_are_taken():
    for refused in (lambda: fm.Framed(fm.Json), lambda: fm.explain(b"a", fm.Csv), lambda: fm.SchemaWatch(fm.Csv)):
        with pytest.raises(fm.OptionError, match=r"found the class (Json|Csv)"):
            refused()
    with pytest.raises(fm.OptionError, match=r"to: .* found the class Json"):
        fm.rewrite(b"1\n", fm.Csv(SCHEMA), to=fm.Json)
