"""The first of several tables in one input: where it ends, in whole reads and window by window.

In: tables behind each other. Out: the first one. A slow reading line by line is the oracle.
"""

import csv
import io
import random

import pyarrow as pa
import pytest

import formatter as fm

AB = pa.schema([("a", pa.string()), ("b", pa.string())])
NAMES = {"table_end": "names", "header": True, "ragged": "fit"}


@pytest.mark.parametrize(
    ("data", "options", "rows"),
    [
        (b"a,b\n1,2\n\n3,4\n", {"table_end": "blank_line", "header": True}, [("1", "2")]),
        (b"\n\n1,2\n\r\n3,4\n", {"table_end": "blank_line"}, [("1", "2")]),
        (b"1,2\n \n3,4\n", {"table_end": "blank_line", "ragged": "pad"}, [("1", "2"), (" ", None), ("3", "4")]),
        (b'1,"x\n\ny"\n\n3,4', {"table_end": "blank_line"}, [("1", "x\n\ny")]),
        (b'#"\n\n\n1,2\n\n3,4', {"table_end": "blank_line", "comment": "#"}, [("1", "2")]),
        (b"a,b\n#\n\n1,2\n#\n\n3,4", {"table_end": "blank_line", "comment": "#", "header": True}, [("1", "2")]),
        (b"\xef\xbb\xbf\n\n1,2\n\n3,4", {"table_end": "blank_line"}, [("1", "2")]),
        (b"\xef\xbb\xbf#\n\n1,2\n\n3,4", {"table_end": "blank_line", "comment": "#"}, [("1", "2")]),
        (b"#\n\n", {"table_end": "blank_line", "comment": "#"}, []),
        (b"a,b\n1,2\na,b\n3,4\n", NAMES, [("1", "2")]),
        (b'a,"b"\n1,2\n"a",b,c\n3,4,5\n', NAMES, [("1", "2")]),
        (b"a,b\r\n1,2\r\na,b\r\n3,4\r\n", NAMES, [("1", "2")]),
        (b"a,b\n1,2\na\n3,4\n", NAMES, [("1", "2"), ("a", None), ("3", "4")]),  # one name is no header of two
        (b"a,b\n1,2\na,x\n3,4", NAMES, [("1", "2"), ("a", "x"), ("3", "4")]),
        (b'a,b\n1,"\na,b\n"\na,b', NAMES, [("1", "\na,b\n")]),
        (b"a,b\na,b\n1,2\n", NAMES, []),
        (b"x,y\n1,2\nx,y\n3,4\n", {"table_end": "names", "skip_records": 1}, [("1", "2")]),
        (b"#c\nx,y\n-,-\n1,2\nx,y\n3,4", {"table_end": "names", "skip_records": 2, "comment": "#"}, [("1", "2")]),
        (b"t\n\na,b\n1,2\na,b", NAMES | {"skip_lines": 1}, [("1", "2")]),
        (b"a,b\n1,2\n a ,b\n", NAMES | {"trim": True}, [("1", "2")]),
        ("é;b\n1;2\né;b\n3;4\n".encode("cp1252"), {"delimiter": ";", "encoding": "cp1252"} | NAMES, [("1", "2")]),
    ],
)
def test_the_first_table_ends_there(data, options, rows):
    schema = AB if b"\xe9" not in data else pa.schema([("é", pa.string()), ("b", pa.string())])
    for source in (data, io.BytesIO(data)):
        table = fm.read(source, fm.Csv(schema, **options))
        assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == rows


def first_table(text, sign):
    lines = list(csv.reader(io.StringIO(text)))
    rows = lines[1:] if sign == "names" else lines
    kept = []
    for row in rows:
        if sign == "blank_line" and not row and kept:
            break
        if sign == "names" and row[:2] == ["a", "b"]:
            break
        if row:
            kept.append(tuple([*row, None, None][:2]))
    return kept


@pytest.mark.parametrize("rule", ["strict", "lenient", "sticky"])
@pytest.mark.parametrize("sign", ["blank_line", "names"])
def test_any_window_finds_the_end_that_lines_show(monkeypatch, kernel, rule, sign):
    for seed in range(60):
        chance = random.Random(f"{rule} {sign} {seed}")
        monkeypatch.setattr("formatter.readers.RANGE_BYTES", chance.choice((8, 30, 100)))
        parts = ["1,2\n", '"x,",y\n', '"\n\n","a,b\n"\n', 'q,"l\na,b\n"\n', "a,c\n", "aa,b\n"]
        signs = ["\n", "\n\n"] if sign == "blank_line" else ["a,b\n", '"a","b"\n', "a,b,c\n"]
        text = "a,b\n" if sign == "names" else ""
        for _ in range(chance.randrange(1, 60)):
            text += chance.choice(signs) if chance.random() < 0.03 else chance.choice(parts)
        comments = "".join(chance.choice(('# "c\n', "\n")) for _ in range(chance.randrange(9)))
        format = fm.Csv(
            AB,
            quotes=rule,
            nulls=(),
            table_end=sign,
            header=sign == "names",
            ragged="fit",
            comment="#" if comments else None,
        )
        data = (comments + text).encode()
        for source in (data, io.BytesIO(data)):
            table = fm.read(source, format, threads=1)
            assert list(zip(*(column.to_pylist() for column in table.columns), strict=True)) == first_table(text, sign)


def test_what_tells_no_end_is_refused():
    for options in (
        {"table_end": "end"},
        {"table_end": "names"},
        {"table_end": "blank_line", "skip_footer": 1},
        {"table_end": "blank_line", "max_quoted_lines": 2},
        {"table_end": "blank_line", "encoding": "utf-16"},
    ):
        with pytest.raises(fm.OptionError, match="table_end"):
            fm.Csv(AB, **options)
    with pytest.raises(fm.OptionError, match="whole inputs"):
        fm.Stream(fm.Csv(AB, table_end="blank_line"))


def test_values_by_themselves_have_no_table_to_end():
    format = fm.Csv(AB, table_end="names", header=True, decimal=",")
    assert fm.parse_values(["1,5"], pa.float64(), format=format).to_pylist() == [1.5]
