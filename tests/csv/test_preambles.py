"""What stands around a table: lines in front of it, headers of any place and number of lines, footers, names.

In: small inputs whose tables are plain to see. Out: the same table from whole reads, windows and streams of any cut and order.
"""

import io
import random

import pyarrow as pa
import pytest
from oracle.stream_runs import departure, pieces_at, streamed, whole_read

import formatter as fm

AB = pa.schema([("a", pa.string()), ("b", pa.int64())])
BA = pa.schema([("b", pa.int64()), ("a", pa.string())])
ROWS = [("x", 1), ("y", 2)]

CASES = {
    "lines with quotes in front": (BA, b'Report "x\n\nother,\na,b\nx,1\ny,2\n', {"skip_lines": 3, "header": True}),
    "lines in front, no header": (AB, b'a "title\nx,1\ny,2', {"skip_lines": 1}),
    "a later header, and a line of units": (
        BA, b"junk\n#c\na,b\nunits,m\nx,1\ny,2\n", {"header": 1, "comment": "#", "skip_records": 1},
    ),
    "two lines of header": (
        pa.schema([("second n", pa.int64()), ("first name", pa.string())]),
        b"first, second\nname,n\nx,1\ny,2\n", {"header": (0, 1)},
    ),
    "two lines of header, one between": (
        pa.schema([("second n", pa.int64()), ("first", pa.string())]),
        b"first,second\n--,--\n,n\nx,1\ny,2\n", {"header": (0, 2)},
    ),
    "one name twice": (pa.schema([("n_2", pa.int64()), ("n", pa.string())]), b"n,n\nx,1\ny,2\n",
                       {"header": True, "unique_names": True}),
    "a name that is taken": (
        pa.schema([("n", pa.string()), ("n_2", pa.int64()), ("n_3", pa.int64())]),
        b"n,n_2,n\nx,1,1\ny,2,2\n", {"header": True, "unique_names": True},
    ),
    "blanks around names": (BA, b" a ,\tb\nx,1\ny,2\n", {"header": True, "trim_names": True}),
    "names in any case": (BA, b"A,B\nx,1\ny,2\n", {"header": True, "names_in_any_case": True}),
    "headers again": (BA, b"a,b\r\nx,1\r\na,b\r\na,b\r\ny,2\r\na,b", {"header": True, "repeated_headers": True}),
    "headers again, by the long way": (
        BA, b"a,b\nx,1\na,b\ny,2\n", {"header": True, "repeated_headers": True, "comment": "#"},
    ),
    "records to pass over": (AB, b"1,2,3\n\nunits\nx,1\ny,2\n", {"skip_records": 2}),
    "a mark in front of all": (BA, b"\xef\xbb\xbf1\na,b\nx,1\ny,2\n", {"skip_lines": 1, "header": True}),
    "carriage returns": (BA, b"t\ra,b\rx,1\ry,2\r", {"skip_lines": 1, "header": True, "record_delimiter": "\r"}),
    "long record ends": (BA, b't"|;a,b|;x,1|;y,2', {"skip_lines": 1, "header": True, "record_delimiter": "|;"}),
    "UTF-16": (BA, 't"\na,b\nx,1\ny,2\n'.encode("utf-16-le"),
               {"skip_lines": 1, "header": True, "encoding": "utf-16-le"}),
    "an open quote in a record to pass over": (AB, b'a,"b\nx,1\ny,2', {"skip_records": 1}),
    "an open quote in the second one, and a bound": (
        AB, b't\n"a,b\nx,1\ny,2\n', {"skip_records": 2, "quotes": "lenient", "max_quoted_lines": 1},
    ),
    "an open quote in front of a header": (BA, b'"t\na,b\nx,1\ny,2\n', {"header": 1, "quotes": "sticky"}),
    "an open quote in front of a header, in UTF-16": (
        BA, '"t\na,b\nx,1\ny,2\n'.encode("utf-16-le"), {"header": 1, "encoding": "utf-16-le"},
    ),
    "names longer than quoted text may be": (
        pa.schema([("name", pa.string()), ("b", pa.int64())]), b't\n"name",b\nx,1\n"name",b\ny,2\n',
        {"header": 1, "max_quoted_bytes": 2, "repeated_headers": True},
    ),
    "lenient quotes": (BA, b't\n"a",b\nx,1\ny,2\n', {"skip_lines": 1, "header": True, "quotes": "lenient"}),
}  # fmt: skip
FOOTERS = {
    "a footer": (AB, b"x,1\ny,2\nTotal\n\n", {"skip_footer": 1}),
    "a footer without end": (AB, b"x,1\ny,2\nTotal\nend,,,", {"skip_footer": 2}),
    "a footer of an open quote": (AB, b'x,1\ny,2\nTotal\n"end,,,\n', {"skip_footer": 2}),
    "a footer below a header": (BA, b"a,b\nx,1\ny,2\nTotal\n", {"skip_footer": 1, "header": True}),
}


def rows_of(table, schema):
    names = sorted(schema.names, key=lambda name: not pa.types.is_string(schema.field(name).type))[:2]
    return list(zip(*(table[name].to_pylist() for name in names), strict=True))


@pytest.mark.parametrize("case", {**CASES, **FOOTERS}.values(), ids={**CASES, **FOOTERS}.keys())
def test_the_table_is_what_stands_between(kernel, case):
    schema, data, options = case
    format = fm.Csv(schema, **options)
    assert rows_of(fm.read(data, format), schema) == ROWS
    assert rows_of(fm.read(io.BytesIO(data), format, threads=1), schema) == ROWS


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("size", [1, 2, 5, 64])
def test_streams_of_any_cut_and_order_find_the_same_table(case, size):
    schema, data, options = case
    buffers = [data[i : i + size] for i in range(0, len(data), size)]
    for seed in range(4):
        order = list(range(len(buffers)))
        random.Random(seed).shuffle(order)
        stream = fm.Stream(fm.Csv(schema, **options), ordered=True)
        batches = []
        for done, index in enumerate(order):
            batches += stream.push(buffers[index], sequence=index + 1)
            if done == len(order) // 2:  # in the middle of it all
                state = stream.checkpoint()
                stream = fm.Stream.restore(fm.Csv(schema, **options), state)
        batches += stream.finish(last_sequence=len(buffers))
        table = pa.Table.from_batches([batch.data for batch in batches], schema=schema)
        assert rows_of(table, schema) == ROWS


ONE, SEVERAL = pa.schema([("a", pa.string())]), pa.schema([("a", pa.string()), ("b", pa.string())])
ODD = {
    "a blank line counts by the schema, whatever the header says": (
        ONE, b"a,b\n\n1,2\n3,4\n", {"header": True, "skip_records": 1}, 2),
    "a blank line in front counts by the schema": (ONE, b"\na,b\n1,2\n3,4\n", {"header": 1}, 2),
    "fewer records than are skipped": (SEVERAL, b"a,b\n1,2\n", {"header": True, "skip_records": 3}, 0),
    "fewer records than are skipped, the last without an end": (SEVERAL, b"1,2\n3", {"skip_records": 3}, 0),
    "a quote that a bound would close": (
        SEVERAL, b'a"\n1\n2\n3\n4,5\n', {"skip_records": 3, "max_quoted_lines": 1}, None),
    "a header's last delimiter is no part of the record end": (
        ONE, b"a\r\n1\r\n", {"header": True, "delimiter": "\r"}, 1),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "data", "options", "rows"), ODD.values(), ids=ODD.keys())
def test_odd_preambles_end_where_they_end_for_every_cut(kernel, schema, data, options, rows):
    """Rows None: an error, the same for every cut."""
    format = fm.Csv(schema, **options)
    whole = whole_read(data, format)
    assert (whole.error is None) == (rows is not None)
    assert len(whole.rows) == (rows or 0)
    for cut in range(len(data)):
        pieces = pieces_at(data, [cut] if cut else [])
        assert departure(streamed(pieces, format), whole, len(pieces)) is None, cut


LACKING = {  # a schema of columns that the header has, and has not
    "one in front": (["z", "a", "b"], {}),
    "one behind, without a word for null": (["a", "b", "z"], {"nulls": ()}),
    "all but one": (["x", "b", "y", "z"], {}),
    "all": (["y", "z"], {"nulls": ()}),
    "among lenient quotes": (["z", "a"], {"quotes": "lenient"}),
    "by the long way": (["z", "a"], {"comment": "#", "trim": "left"}),
    "where fields are rescued": (["z", "b"], {"rescue": "left over"}),
}
KINDS = {
    "a": pa.string(),
    "b": pa.int64(),
    "x": pa.dictionary(pa.int32(), pa.string()),
    "y": pa.large_string(),
    "z": pa.bool_(),
}


@pytest.mark.parametrize("case", LACKING.values(), ids=LACKING.keys())
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_columns_that_a_header_lacks_are_null_where_that_is_asked_for(kernel, case, end):
    names, options = case
    schema = pa.schema([(name, KINDS[name]) for name in names])
    lines = [b"a,b", *(b'"t %d",%d' % (n, n) for n in range(300)), b",", b"u,7"]
    data = (end or b"\n").join(lines) + end
    there = {"a": [*(f"t {n}" for n in range(300)), None, "u"], "b": [*range(300), None, 7]}
    format = fm.Csv(schema, header=True, missing_columns="null", **options)
    if options.get("nulls") == ():
        there["a"][-2] = ""
        data = data.replace(b",\n", b",0\n").replace(b",\r\n", b",0\r\n")
        there["b"][-2] = 0
    for table in (fm.read(data, format), fm.read(io.BytesIO(data), format, threads=1)):
        for name in names:
            assert table[name].to_pylist() == there.get(name, [None] * 302)
    if "rescue" in options:
        assert fm.read(data, format)["left over"].to_pylist()[0] == '{"a":"t 0"}'
    for name in set(names) - {"a", "b"}:
        assert fm.read(data, format, filters=[(name, "is_null")]).num_rows == 302
        assert fm.read(data, format, filters=[(name, "is_not_null")]).num_rows == 0


def test_a_column_that_may_not_be_null_is_bad_in_every_record_where_the_header_lacks_it():
    schema = pa.schema([("a", pa.string()), pa.field("z", pa.int64(), nullable=False)])
    format = fm.Csv(schema, header=True, missing_columns="null")
    with pytest.raises(fm.FormatError, match="'z'"):
        fm.read(b"a\nx\n", format)
    assert fm.read(b"a\nx\n", format, on_error="collect", rejects=(found := [])).num_rows == 0
    assert found[0]["code"].to_pylist() == ["missing_required"]


def test_missing_columns_are_an_error_unless_they_are_null_and_mean_nothing_without_a_header():
    with pytest.raises(fm.SchemaError, match="'b'"):
        fm.read(b"a\nx\n", fm.Csv(AB, header=True))
    with pytest.raises(fm.OptionError, match="missing_columns: expected 'error' or 'null'"):
        fm.Csv(AB, header=True, missing_columns="skip")
    with pytest.raises(fm.OptionError, match="missing_columns is about a header"):
        fm.Csv(AB, missing_columns="null")
    with pytest.raises(fm.OptionError, match="trim: expected a bool, 'left' or 'right'"):
        fm.Csv(AB, trim="both")


def test_values_are_parsed_by_a_format_that_has_a_header_with_rules_of_its_own():
    format = fm.Csv(AB, header=True, unique_names=True, trim_names=True, missing_columns="null", decimal=",")
    assert fm.parse_values(["1,5"], pa.float64(), format=format).to_pylist() == [1.5]


def test_footers_of_many_windows_are_kept_back(monkeypatch):
    monkeypatch.setattr("formatter.readers.RANGE_BYTES", 50)
    data = b"".join(b"r,%d\n" % i for i in range(20_000)) + b"Total\nend\n"
    table = fm.read(io.BytesIO(data), fm.Csv(AB, skip_footer=2), threads=1)
    assert table["b"].to_pylist() == list(range(20_000))
    assert fm.read(data, fm.Csv(AB, skip_footer=20_002)).num_rows == 0


def test_a_header_that_is_not_there_is_an_error_and_nothing_at_all_is_none():
    with pytest.raises(fm.FormatError, match="a header"):
        fm.read(b"a\nb\n", fm.Csv(AB, header=5))
    assert fm.read(b"", fm.Csv(AB, header=5)).num_rows == 0
    assert fm.read(b"a\n", fm.Csv(AB, skip_lines=5)).num_rows == 0


@pytest.mark.parametrize("end", ["\n", "\r\n", ""])
@pytest.mark.parametrize("schema", [pa.schema([("a", pa.string())]), AB], ids=["one column", "two"])
def test_an_input_that_ends_in_front_of_its_header_is_an_error_whatever_else_is_passed_over(schema, end):
    data = ("a,b\n1,2" + end).encode()
    for options in ({}, {"skip_footer": 2}, {"skip_footer": 5}, {"table_end": "blank_line"}, {"encoding": "cp1252"}):
        format = fm.Csv(schema, header=(0, 2), **options)
        for source in (data, io.BytesIO(data)):
            with pytest.raises(fm.FormatError, match="a header"):
                fm.read(source, format)
        if not {"skip_footer", "table_end"} & options.keys():
            stream = fm.Stream(format)
            stream.push(data, sequence=1)
            with pytest.raises(fm.FormatError, match="a header"):
                stream.finish()


def test_a_column_that_the_header_lacks_is_missing_where_the_record_ends_whatever_is_cut_from_it():
    schema = pa.schema([("a", pa.string()), pa.field("z", pa.string(), nullable=False)])
    format = fm.Csv(schema, header=True, missing_columns="null", ragged="fit")
    rejects = []
    fm.read(b"a,b\nx\nx,y\r\nx,y\nx,y,12\r\n", format, on_error="collect", rejects=rejects)
    assert rejects[0]["byte_offset"].to_pylist() == [5, 9, 14, 21]


@pytest.mark.parametrize(
    ("record", "found", "remedy"),
    [
        (b"1,2", "2 fields", "set ragged='pad'"),
        (b"1,2,3,4", "4 fields", "set ragged='truncate'"),
        (b"1;2;3", "1 field", "set delimiter=';'"),
    ],
)
def test_a_record_of_another_width_is_held_against_the_header_not_the_schema(record, found, remedy):
    format = fm.Csv(AB, header=True)
    expected = f"expected 3 fields, found {found} in .*{remedy}"
    with pytest.raises(fm.FormatError, match=expected):
        fm.read(b"a,b,c\n" + record, format)
    stream = fm.Stream(format, on_error="collect")
    stream.push(b"a,b,c\n" + record + b"\n", sequence=1)
    stream = fm.Stream.restore(format, stream.checkpoint())
    stream.finish()
    (row,) = stream.rejects().to_pylist()
    assert f"expected 3 fields, found {found}" in row["message"]


@pytest.mark.parametrize("quotes", ["strict", "lenient", "sticky"])
@pytest.mark.parametrize("line", [b'u,"v', b"u,v\\"])
def test_a_line_of_the_header_that_its_end_leaves_open_names_what_stands_in_it(quotes, line):
    options = {"quotes": quotes, "escape": "\\" if line.endswith(b"\\") else None}
    schema = pa.schema([("a u", pa.string())])
    for data in (b"a,b\n" + line, b"\xef\xbb\xbfa,b\n" + line):
        assert fm.read(data, fm.Csv(schema, header=(0, 1), **options)).num_rows == 0
        with pytest.raises(fm.SchemaError, match="'a'"):
            fm.read(data, fm.Csv(AB, header=(0, 1), **options))
        assert fm.read(data, fm.Csv(AB, skip_records=2, **options)).num_rows == 0


def test_what_a_stream_cannot_do_is_refused():
    with pytest.raises(fm.OptionError, match="whole inputs"):
        fm.Stream(fm.Csv(AB, skip_footer=1))
    with pytest.raises(fm.OptionError, match="count UTF-8; for latin-1"):
        fm.Stream(fm.Csv(AB, max_quoted_lines=2, encoding="latin-1"))


@pytest.mark.parametrize(
    ("header", "normal"), [(0, True), (1, 1), ([0], True), ([1, 3], (1, 3)), (True, True), (False, False)]
)
def test_a_header_has_one_way_to_be_written(header, normal):
    assert fm.Csv(AB, header=header).header == normal
    assert fm.Csv(AB, header=header) == fm.Csv(AB, header=normal)


@pytest.mark.parametrize("header", [-1, "a", (), (2, 1), (1, 1), (True,), None])
def test_a_header_of_no_sense_is_refused(header):
    with pytest.raises(fm.OptionError, match="header"):
        fm.Csv(AB, header=header)


def test_text_that_is_no_utf8_is_kept_value_by_value(kernel):
    texts = [
        b"plain",
        b"x\xff",
        b"\xc3\xa9\x80",
        b"\xe2\x82",
        b"\xed\xa0\x80",
        b"\xf0\x9f\x98\x80",
        b"\xf4\x90\x80\x80y",
        b"",
    ]
    data = b"".join(b'"%s",%d\n' % (text, i) for i, text in enumerate(texts)) * 100
    for kind in (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string()), pa.string_view()):
        schema = pa.schema([("a", kind), ("b", pa.int64())])
        replaced = fm.read(data, fm.Csv(schema, errors="replace"))["a"].to_pylist()
        assert replaced == [text.decode("utf-8", "replace") for text in texts] * 100
        latin = fm.read(data, fm.Csv(schema, errors="latin-1"))["a"].to_pylist()
        valid = {b"\xf0\x9f\x98\x80": "\U0001f600"}
        assert latin == [valid.get(text, text.decode("latin-1")) for text in texts] * 100
    wanted = [("a", "==", "x\ufffd")]
    assert fm.read(data, fm.Csv(AB, errors="replace"), filters=wanted)["b"].to_pylist() == [1] * 100


def test_cp1252_is_read_as_it_is_written_on_the_web(kernel):
    every = bytes(b for b in range(256) if b not in b'\n\r,"')
    data = every + b",1\n"
    left_open = {0x81: "\x81", 0x8D: "\x8d", 0x8F: "\x8f", 0x90: "\x90", 0x9D: "\x9d"}
    text = "".join(left_open.get(b) or bytes([b]).decode("cp1252") for b in every)
    assert fm.read(data, fm.Csv(AB, encoding="cp1252"))["a"].to_pylist() == [text]
    rejects = []
    fm.read("€€,1\n€,x\n".encode("cp1252"), fm.Csv(AB, encoding="cp1252"), on_error="collect", rejects=rejects)
    assert rejects[0]["byte_offset"].to_pylist() == [7]
