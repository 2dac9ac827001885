"""What cannot be meant is refused where it is given, in words: what was expected, what was found. In: calls. Out: verdicts."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import formatter as fm
from formatter import Level

ONE = pa.schema([("x", pa.int64())])
TEXT = pa.schema([("x", pa.string())])
NESTED = pa.schema([("o", pa.struct([("a", pa.int64())])), ("l", pa.list_(pa.int64()))])
ROWS = b"1\n"


def read(**options):
    return lambda: fm.read(ROWS, fm.Csv(ONE), **options)


def csv(**options):
    return lambda: fm.Csv(ONE, **options)


def delimited(levels=(), **options):
    return lambda: fm.Delimited(TEXT, levels=[Level(level) for level in levels], **options)


def json_columns(*columns):
    return lambda: fm.read(b"{}", fm.Json(NESTED), columns=list(columns))


REFUSED = {
    # filters
    "filters: expected a list of (column, operator, value), found one tuple": read(filters=("x", ">", 1)),
    "filters: expected a list like [('price', '>', 10)], found str": read(filters="x > 1"),
    "filters: expected (column, operator, value), found a list; write the tuple": read(filters=[["x", ">", 1]]),
    "filters: expected (column, operator, value), found 7": read(filters=[7]),
    "filters: expected (column, operator, value), found ('x',)": read(filters=[("x",)]),
    "filters: operator: expected one of": read(filters=[("x", "like", 1)]),
    "filters: 'x' >: expected a value, found none": read(filters=[("x", ">")]),
    "filters: 'x' in: expected a list of values, found 3": read(filters=[("x", "in", 3)]),
    "filters: 'x' == None is never true; use is_null": read(filters=[("x", "==", None)]),
    # columns
    "columns: expected a list of names, found 'x'; write ['x']": read(columns="x"),
    "columns: expected names, found 7": json_columns(7),
    "columns: 'o' stands twice": json_columns("o", "o"),
    "columns: 'o[]': struct<a: int64> is no list; leave out the []": json_columns("o[]"),
    "columns: 'l.a': list<item: int64> has no members; write [] for a list's items": json_columns("l.a"),
    "columns: 'l[]a': expected '.name' or '[]' at 'a'": json_columns("l[]a"),
    # CSV
    "Csv: delimiter: expected str or bytes, found 7": csv(delimiter=7),
    "Csv: delimiter: expected 1 to 8 bytes, found 0": csv(delimiter=""),
    "Csv: delimiter and record_delimiter: expected two different ones": csv(delimiter="\n"),
    "Csv: quote: expected one byte, found b'ab'": csv(quote="ab"),
    "Csv: escape: b'\"' is already the quote": csv(escape='"'),
    "Csv: comment: b',' is part of the delimiter": csv(comment=","),
    "Csv: decimal: the decimal point is the delimiter": csv(decimal=",", quote=None),
    "Csv: nulls: expected a sequence of strings, found 'NA'; write ('NA',)": csv(nulls="NA"),
    "Csv: nulls: expected a sequence of strings, found 7; write () for none": csv(nulls=7),
    "Csv: nulls: expected strings, found 7": csv(nulls=(7,)),
    "Csv: true_values and false_values share ['1']": csv(false_values=("1",)),
    "Csv: timestamp_formats: expected patterns of": csv(timestamp_formats=("%Q",)),
    "Csv: skip_lines: expected a whole number from 0, found -1": csv(skip_lines=-1),
    "Csv: ragged: expected 'error'": csv(ragged="maybe"),
    "Csv: schema: expected a pyarrow.Schema, found list": lambda: fm.Csv(["x"]),
    "Csv: schema: column 'x' stands twice": lambda: fm.Csv(pa.schema([("x", pa.int64()), ("x", pa.string())])),
    "a name of Arrow's C interface ends at a NUL": lambda: fm.Csv(pa.schema([("x\0y", pa.int64())])),
    # JSON
    "Json: paths: expected a dict of column to JSON pointer": lambda: fm.Json(ONE, paths=7),
    "Json: paths: no column 'y'": lambda: fm.Json(ONE, paths={"y": "/a"}),
    "Json: column 'o': two members of one name": lambda: fm.read(
        b"{}", fm.Json(pa.schema([("o", pa.struct([("a", pa.int64()), ("a", pa.int64())]))]))
    ),
    # declared formats
    "Delimited: paths: 'x' has none, and there are no levels to find it by": delimited(),
    "Delimited: paths: no column 'y'": delimited(",", paths={"y": 1}),
    "Delimited: paths: expected a dict, found 7": delimited(",", paths=7),
    "Delimited: marks: expected an opening and a closing byte": delimited(",", marks=["("]),
    "Delimited: kept_marks: expected some of marks": delimited(",", kept_marks=["()"]),
    "Delimited: marks: two begin alike": delimited(",", marks=["()", "(]"]),
    "Delimited: escapes: expected no more bytes meant than written": delimited(",", escapes={"a": "bb"}),
    "different bytes; at most": delimited(",", escapes={letter: letter for letter in "abcdefghijklmnop"}),
    "Delimited: levels: expected several fm.Level, found ','; write [fm.Level(',')]": lambda: fm.Delimited(
        TEXT, levels=","
    ),
    "Delimited: levels: expected up to": lambda: fm.Delimited(TEXT, levels=[7]),
    "separator: expected 1 to": lambda: Level(""),
    "hl7: framing: expected 'mllp' or 'lines', found 'x'": lambda: fm.declared.hl7(TEXT, {"x": "PID.1"}, framing="x"),
    "hl7: paths: none for 'x'; write {'x': 'PID.5.1'}": lambda: fm.declared.hl7(TEXT, {}),
    "hl7: paths: 'x': expected one like 'PID.5.1', found 'name'": lambda: fm.declared.hl7(TEXT, {"x": "name"}),
    "hl7: paths: 'x': MSH.1 is the separator itself": lambda: fm.declared.hl7(TEXT, {"x": "MSH.1"}),
    "hl7: paths: 'x': HL7 counts from 1, found 'PID.0'": lambda: fm.declared.hl7(TEXT, {"x": "PID.0"}),
    # reading, streams, flow
    "threads: expected a whole number from 1, or None for every core, found 0": read(threads=0),
    "on_error: expected one of": read(on_error="ignore"),
    "Stream: batch: expected fm.BatchPolicy(...), found int": lambda: fm.Stream(fm.Csv(ONE), batch=7),
    "Bridge: schema: expected a pyarrow.Schema, found list": lambda: fm.Bridge(["x"]),
    "pipeline: parse: expected to follow a source of raw buffers": lambda: (
        fm.pipeline().source("rows", pa.table({"x": [1]})).select(["x"]).parse(fm.Csv(ONE))
    ),
    "pipeline: parse: threads: expected 1 or more, found 0": lambda: (
        fm.pipeline().source("rows", [(1, ROWS)]).parse(fm.Csv(ONE), threads=0)
    ),
    "pipeline: select: expected a list of columns, found 'x'": lambda: (
        fm.pipeline().source("rows", pa.table({"x": [1]})).select("x")
    ),
    "pipeline: merge: expected at least one other stage": lambda: (
        fm.pipeline().source("rows", pa.table({"x": [1]})).merge()
    ),
    "pipeline: filter: expected at least one (column, operator, value), found none": lambda: (
        fm.pipeline().source("rows", pa.table({"x": [1]})).filter([])
    ),
    "per_value: function: expected a function of one text, found 7": lambda: fm.per_value(7),
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_cannot_be_meant_is_refused_in_words(words):
    with pytest.raises((fm.OptionError, fm.SchemaError, fm.FlowError), match=re.escape(words)):
        REFUSED[words]()


def test_a_kernel_that_this_machine_has_not_is_named(monkeypatch):
    from formatter.kernel import choose_kernel

    monkeypatch.setenv("FORMATTER_KERNEL", "quantum")
    with pytest.raises(fm.OptionError, match="quantum"):
        choose_kernel()


def test_a_batch_larger_than_a_spill_may_be_is_refused_with_the_limit(tmp_path: Path):
    mode = fm.SpillToDisk(tmp_path, max_bytes=4000)
    bridge = fm.Bridge(TEXT, capacity=1, backpressure=mode)
    bridge.producer.send(pa.record_batch([pa.array(["x"])], schema=TEXT))
    with pytest.raises(fm.BackpressureError, match="max_bytes is 4000; raise it"):
        bridge.producer.send(pa.record_batch([pa.array(["x" * 9000])], schema=TEXT))
