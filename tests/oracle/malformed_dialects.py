"""Inputs whose dialect decides: other quotes, comments, escapes, null tokens, trimming, long delimiters, headers.

In: nothing. Out: a table, decided by hand from docs/csv.md. Refuses to know: the oracle and the engine.
"""

import pyarrow as pa
from oracle.malformed_structure import Shape

TWO_LINES = pa.schema([("a\n", pa.int64()), ("b", pa.string())])

SHAPES = [
    Shape("nothing but quotes", b'1,""""""\n', [(1, '""')]),
    Shape("a NUL in text", b"1,a\0b\n", [(1, "a\0b")]),
    Shape("a NUL as a record", b"\0\n", [], [(0, 0, None, "too_few_fields")], [(None, None)]),
    Shape("no quoting", b'1,"x\n2,y"\n', [(1, '"x'), (2, 'y"')], options={"quote": None}),
    Shape("another quote", b"1,'x,\"y'''\n", [(1, "x,\"y'")], options={"quote": "'"}),
    Shape(
        "comments",
        b'#1,x\n2,y\n#"\n3,#z\n #4,w\n',
        [(2, "y"), (3, "#z")],
        [(17, 2, "a", "invalid")],
        [(2, "y"), (3, "#z"), (None, "w")],
        options={"comment": "#"},
    ),
    Shape("a comment without end", b'1,x\n#"', [(1, "x")], options={"comment": "#"}),
    Shape(
        "a record end whose beginning stands before it",
        b"1,xaaab2,yaaaaab3,zaab",
        [(1, "xa"), (2, "yaaa"), (3, "z")],
        options={"record_delimiter": "aab"},
    ),
    Shape(
        "a delimiter whose beginning stands before it",
        b"x,,,;y\nz,,;\n",
        [("x,", "y"), ("z", None)],
        schema=pa.schema([("a", pa.string()), ("b", pa.string())]),
        options={"delimiter": ",,;"},
    ),
    Shape("escaped quote", b'1,"x\\"y"\n2,a\\,b\n', [(1, 'x"y'), (2, "a,b")], options={"escape": "\\"}),
    Shape("escaped line end", b"1,x\\\ny\n2,z\n", [(1, "x\ny"), (2, "z")], options={"escape": "\\"}),
    Shape("escaped escape", b'1,"x\\\\"\n2,\\\\\n', [(1, "x\\"), (2, "\\")], options={"escape": "\\"}),
    Shape("escaped carriage return stays", b"1,x\\\r\n", [(1, "x\r")], options={"escape": "\\"}),
    Shape(
        "with an escape quotes are not doubled",
        b'1,"x""y"\n',
        [],
        [(2, 0, "b", "stray_quote")],
        [(1, None)],
        options={"escape": "\\"},
    ),
    Shape("an escape at the end", b"1,x\\", [], [(0, 0, None, "unterminated_quote")], options={"escape": "\\"}),
    Shape(
        "a null token with an escape",
        b"1,\\N\n2,N\n",
        [(1, None), (2, "N")],
        options={"escape": "\\", "nulls": ("\\N",)},
    ),
    Shape(
        "an escaped null token is text",
        b"1,\\NA\n2,NA\n",
        [(1, "NA"), (2, None)],
        options={"escape": "\\", "nulls": ("NA",)},
    ),
    Shape("a quoted null token is text", b'1,"NA"\nNA,NA\n', [(1, "NA"), (None, None)], options={"nulls": ("NA",)}),
    Shape(
        "a quoted null token is no number",
        b'"NA",x\n',
        [],
        [(0, 0, "a", "invalid")],
        [(None, "x")],
        options={"nulls": ("NA",)},
    ),
    Shape(
        "empty is not null",
        b',x\n1,\n2,""\n',
        [(1, ""), (2, "")],
        [(0, 0, "a", "invalid")],
        [(None, "x"), (1, ""), (2, "")],
        options={"nulls": ("NA",)},
    ),
    Shape("trimmed", b' 1\t, x y \n2," z "\n3,  "w"\t\n', [(1, "x y"), (2, " z "), (3, "w")], options={"trim": True}),
    Shape("trimmed in front", b' 1, x y \n2,  " z "\n', [(1, "x y "), (2, " z ")], options={"trim": "left"}),
    Shape("trimmed behind", b'1\t, x y \n2," z " \t\n', [(1, " x y"), (2, " z ")], options={"trim": "right"}),
    Shape("trimmed to null", b"  ,\t\n1, NA\n", [(None, None), (1, None)], options={"trim": True, "nulls": ("", "NA")}),
    Shape("an escaped blank is not trimmed", b"1, x\\ \n", [(1, "x ")], options={"trim": True, "escape": "\\"}),
    Shape("semicolons", b'1;"x;y"\n2;a,b\n', [(1, "x;y"), (2, "a,b")], options={"delimiter": ";"}),
    Shape("tabs", b"1\tx y\n2\t\n", [(1, "x y"), (2, None)], options={"delimiter": "\t"}),
    Shape(
        "long delimiters",
        b'1||x|y||\n2||"||"\n',
        [(2, "||")],
        [(0, 0, None, "too_many_fields")],
        [(1, "x|y"), (2, "||")],
        options={"delimiter": "||"},
    ),
    Shape(
        "overlapping long delimiters",
        b"1||||2\n3||||||\n",
        [],
        [(0, 0, None, "too_many_fields"), (7, 1, None, "too_many_fields")],
        [(1, None), (3, None)],
        options={"delimiter": "||"},
    ),
    Shape(
        "record delimiter of two bytes",
        b"1,x\n\r\n2,y\r\r\n3,z",
        [(1, "x\n"), (2, "y\r"), (3, "z")],
        options={"record_delimiter": "\r\n"},
    ),
    Shape(
        "record delimiter that begins like itself",
        b"1,x##@2,y#@3,z##@",
        [(1, "x#"), (2, "y"), (3, "z#")],
        options={"record_delimiter": "#@"},
    ),
    Shape(
        "record delimiter, carriage return stays",
        b"1,x\r;2,y\n;",
        [(1, "x\r"), (2, "y\n")],
        options={"record_delimiter": ";"},
    ),
    Shape(
        "eight bytes of record delimiter",
        b"1,x<--end->2,y<--end--end->",
        [(1, "x"), (2, "y<--end--end->")],
        options={"record_delimiter": "<--end->"},
    ),
    Shape("header", b"a,b\n1,x\n", [(1, "x")], options={"header": True}),
    Shape("header behind a byte order mark", b'\xef\xbb\xbf"a",b\r\n1,x\r\n', [(1, "x")], options={"header": True}),
    Shape("header alone", b"a,b", [], options={"header": True}),
    Shape("header over two lines", b'"a\n",b\n1,x\n', [(1, "x")], schema=TWO_LINES, options={"header": True}),
    Shape(
        "records are counted behind the header",
        b"a,b\nq,x\n",
        [],
        [(4, 0, "a", "invalid")],
        [(None, "x")],
        options={"header": True},
    ),
    Shape("header in another order", b"b,c,a\nx,9,1\n", [(1, "x")], options={"header": True}),
    Shape("header behind blank lines", b"\n\r\na,b\n1,x\n", [(1, "x")], options={"header": True}),
    Shape(
        "header behind comments",
        b'#"\na,b\n1,x\n',
        [(1, "x")],
        options={"header": True, "comment": "#"},
    ),
    Shape(
        "a bound of quotes that end with their line holds for the last one, too",
        b'1,"xyz"\n2,"wxyz"',
        [(1, "xyz")],
        [(8, 1, None, "unterminated_quote")],
        options={"max_quoted_bytes": 3, "newlines_in_quotes": False},
    ),
    Shape(
        "a bound holds for a quote that seemed to close behind blanks, too",
        b'1,"y" "\n2,"x" z"\n3,"w" \n',
        [(3, "w")],
        [(0, 0, None, "unterminated_quote"), (8, 1, None, "unterminated_quote")],
        [(3, "w")],
        options={"max_quoted_bytes": 1, "quotes": "sticky", "trim": "right", "escape": "\\"},
    ),
]

# What stands before an end may be its beginning, whatever else the dialect has bytes looked at for.
BESIDE = {
    "lenient": {"quotes": "lenient"},
    "sticky": {"quotes": "sticky"},
    "escapes": {"escape": "\\"},
    "comments": {"comment": "#"},
    "bounds": {"max_quoted_lines": 3},
    "a header": {"header": True},
}
for _name, _options in BESIDE.items():
    _header = [b"a,baaab", b"a,b\n"] if "header" in _options else [b"", b""]
    SHAPES += [
        Shape(
            f"a record end whose beginning stands before it, with {_name}",
            _header[0] + b"1,xaaab2,yaaaaab3,zaab",
            [(1, "xa"), (2, "yaaa"), (3, "z")],
            schema=pa.schema([("a", pa.int64()), ("ba" if _header[0] else "b", pa.string())]),
            options={"record_delimiter": "aab", **_options},
        ),
        Shape(
            f"a delimiter whose beginning stands before it, with {_name}",
            _header[1].replace(b",", b",,;") + b"x,,,;y\nz,,;\n",
            [("x,", "y"), ("z", None)],
            schema=pa.schema([("a", pa.string()), ("b", pa.string())]),
            options={"delimiter": ",,;", **_options},
        ),
    ]
