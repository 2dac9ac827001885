"""A column that is kept raw and finished by fm.parse_values has the values of one that was read at once: every text format.

In: values with quotes, escapes, null markers, blanks. Out: verdicts.
"""

from __future__ import annotations

import pyarrow as pa
import pytest

import formatter as fm

RAW = pa.schema([pa.field("v", pa.binary(), metadata={"raw": "1"}), ("n", pa.int64())])


def of(kind):
    return pa.schema([("v", kind), ("n", pa.int64())])


TEXT, WHOLE, REAL, TIME = pa.string(), pa.int64(), pa.float64(), pa.timestamp("us")
ESCAPES = {'\\"': '"', "\\\\": "\\"}
WAYS = {
    "csv text": (TEXT, lambda s: fm.Csv(s), ['"a ""b"""', "plain", '""', "", '"x\ny"', '"a,b"', " c "]),
    "csv numbers": (REAL, lambda s: fm.Csv(s, nulls=("", "NA"), trim=True), ["1.5", '"2"', "NA", "", " 3 ", "1e3"]),
    "csv, other marks": (
        REAL, lambda s: fm.Csv(s, delimiter=";", quote="'", decimal=",", header=True), ["1,5", "'2,25'", ""],
    ),
    "csv escapes": (TEXT, lambda s: fm.Csv(s, escape="\\", nulls=()), ["a\\,b", '"a\\"b"', "", "\\\\"]),
    "csv lenient": (TEXT, lambda s: fm.Csv(s, quotes="lenient", record_delimiter="<>"), ['a"b', '"a"b', '"a\nb"']),
    "csv times": (TIME, lambda s: fm.Csv(s, timestamp_formats=["%d.%m.%Y"]), ["29.02.2024", '"2024-02-29 10:00"', ""]),
    "json text": (TEXT, lambda s: fm.Json(s), ['"a\\n\\u00e9\\"b"', "null", '""', '"x"']),
    "json numbers": (REAL, lambda s: fm.Json(s, on_duplicate_key="first"), ["1.5", "null", "-2e3"]),
    "json lists": (
        pa.list_(pa.struct([("k", TEXT)])), lambda s: fm.Json(s), ['[{"k":"x"},{}]', "[]", "null", '[{"k":null}]'],
    ),
    "logfmt": (
        TEXT, lambda s: fm.Delimited(s, levels=[fm.Level(" ", key="=")], marks=['""'], escapes=ESCAPES, nulls=("-",)),
        ['"a \\"b\\" c"', "plain", "-", '""', "x\\\\y", '"-"'],
    ),
    "kept marks": (
        TEXT, lambda s: fm.Delimited(s, levels=[fm.Level(" ", key="=")], marks=["[]", '""'], kept_marks=["[]"]),
        ["[a b]", '"a b"', "c"],
    ),
    "delimited numbers": (
        WHOLE, lambda s: fm.Delimited(s, levels=[fm.Level("|", key=":")], trim=True, record_start="\v", nulls=("", "?")),
        [" 7 ", "?", "", "-3"],
    ),
}  # fmt: skip


def written(format, value, n):
    if isinstance(format, fm.Json):
        return f'{{"v":{value},"n":{n}}}\n'
    if isinstance(format, fm.Csv):
        end = format.record_delimiter
        return f"{value}{format.delimiter}{n}{end if isinstance(end, str) else end.decode()}"
    level = format.levels[0]
    key, separator = level.key.decode(), level.separator.decode()
    return f"{format.record_start.decode()}v{key}{value}{separator}n{key}{n}\n"


@pytest.mark.parametrize("name", WAYS)
def test_what_is_finished_later_is_what_would_have_been_read(name):
    kind, format_of, values = WAYS[name]
    raw, typed = format_of(RAW), format_of(of(kind))
    data = "".join(written(raw, value, n) for n, value in enumerate(values * 50))
    if getattr(raw, "header", False):
        data = f"v{raw.delimiter}n\n{data}"
    kept = fm.read(data.encode(), raw)
    expected = fm.read(data.encode(), typed)
    assert kept["n"] == expected["n"]
    assert fm.parse_values(kept["v"], kind, format=raw).to_pylist() == expected["v"].to_pylist()


def test_a_value_that_cannot_be_finished_is_told_and_binary_rows_have_none():
    format = fm.Csv(RAW)
    with pytest.raises(fm.FormatError, match=r"value 1.*expected int64, found 'x'"):
        fm.parse_values([b"1", b"x"], pa.int64(), format=format)
    with pytest.raises(fm.OptionError, match="binary rows hold no text"):
        fm.parse_values([b"1"], pa.int64(), format=fm.Native(of(pa.int32())))


def test_plans_and_shared_streams_say_which_columns_are_raw():
    plan = fm.pipeline().source("buffers", []).parse(fm.Csv(RAW)).select(["v"])
    assert "columns=[v] raw=[v]" in plan.explain()
    assert "raw=" not in fm.pipeline().source("buffers", []).parse(fm.Csv(RAW)).select(["n"]).explain()
    shared = fm.SharedStream(fm.Csv(RAW))
    with shared.subscribe(["n"], name="numbers"):
        assert "raw=" not in shared.explain()
        with shared.subscribe(["v"], name="values"):
            assert "raw=[v]" in shared.explain()


ANY_BYTES = [b"a\nb", b"a\r\n", b"\n", b"a\x1fb", b"\x1e\x1d", b"\r", bytes(range(1, 32)), b"\x1f000000\x1e"]


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.binary(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())], ids=str
)
@pytest.mark.parametrize("how", ["array", "list", "iterator"])
def test_text_is_all_of_the_value_whatever_bytes_it_holds(kind, how):
    values = {"array": pa.array(ANY_BYTES), "list": ANY_BYTES, "iterator": iter(ANY_BYTES)}[how]
    fm.register_format("in no need of bounds", lambda data, fields: None)
    registered = fm.Registered(pa.schema([("x", pa.string())]), "in no need of bounds")
    found = fm.parse_values(values, kind, format=registered)
    assert [value if isinstance(value, bytes) else value.encode() for value in found.to_pylist()] == ANY_BYTES


def test_bytes_of_fixed_width_may_be_line_ends():
    assert fm.parse_values([b"\n\r\n", b"a\x1fb"], pa.binary(3)).to_pylist() == [b"\n\r\n", b"a\x1fb"]


def test_a_format_may_end_records_with_what_separates_elsewhere():
    schema = pa.schema([("x", pa.int64())])
    assert fm.parse_values([b"7"], pa.int64(), format=fm.Csv(schema, record_delimiter="\x1f")).to_pylist() == [7]
    text = [b"a\x1eb\x1d"]
    format = fm.Csv(pa.schema([("x", pa.string())]), record_delimiter="\x1f", quote=None)
    assert fm.parse_values(text, pa.string(), format=format).to_pylist() == ["a\x1eb\x1d"]
