"""Records that are wrong as a whole, and records that only look so: input, dialect, and what must come out.

In: nothing. Out: a table, decided by hand from docs/csv.md. Refuses to know: the oracle and the engine.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

Row = tuple[Any, ...]
Problem = tuple[int, int, str | None, str]  # byte offset, record, column, code

PAIR = pa.schema([("a", pa.int64()), ("b", pa.string())])
ONE = pa.schema([("a", pa.string())])


@dataclass(frozen=True)
class Shape:
    name: str
    data: bytes
    rows: list[Row]  # with on_error="collect"
    problems: list[Problem] = field(default_factory=list)
    nulled: list[Row] | None = None  # with on_error="null", where that differs from `rows`
    schema: pa.Schema = PAIR
    options: dict[str, Any] = field(default_factory=dict)


SHAPES = [
    Shape("nothing at all", b"", []),
    Shape("only a byte order mark", b"\xef\xbb\xbf", []),
    Shape("byte order mark", b"\xef\xbb\xbf1,x\n", [(1, "x")]),
    Shape("byte order mark before a quote", b'\xef\xbb\xbf1,x\n2,"y"\n', [(1, "x"), (2, "y")]),
    Shape(
        "byte order mark later is data",
        b"1,x\n\xef\xbb\xbf2,y\n",
        [(1, "x")],
        [(4, 1, "a", "invalid")],
        [(1, "x"), (None, "y")],
    ),
    Shape("part of a byte order mark is data", b"\xef\xbb,x\n", [], [(0, 0, "a", "invalid")], [(None, "x")]),
    Shape("no last terminator", b"1,x\n2,y", [(1, "x"), (2, "y")]),
    Shape("no last terminator but a carriage return", b"1,x\r\n2,y\r", [(1, "x"), (2, "y")]),
    Shape("ends behind a delimiter", b"1,x\n2,", [(1, "x"), (2, None)]),
    Shape("line ends of both kinds", b"1,x\r\n2,y\n3,z\r\n", [(1, "x"), (2, "y"), (3, "z")]),
    Shape("two carriage returns drop one", b"1,x\r\r\n", [(1, "x\r")]),
    Shape("a carriage return inside a line is data", b"1,x\ry\n", [(1, "x\ry")]),
    Shape("a carriage return between quote and line end", b'1,"x"\r\n2,""\r\n', [(1, "x"), (2, "")]),
    Shape("empty last field before a carriage return", b"1,\r\n2,\r\n", [(1, None), (2, None)]),
    Shape("blank lines are no records", b"\n1,x\n\n\r\n2,y\n\n", [(1, "x"), (2, "y")]),
    Shape(
        "blank lines do not count", b"\n\n1,x\n\nq,y\n", [(1, "x")], [(7, 1, "a", "invalid")], [(1, "x"), (None, "y")]
    ),
    Shape("only blank lines", b"\n\n\r\n", []),
    Shape(
        "a line of a space is a record",
        b"1,x\n \n",
        [(1, "x")],
        [(4, 1, None, "too_few_fields")],
        [(1, "x"), (None, None)],
    ),
    Shape("blank lines of one column are records", b"\nx\n\r\n", [(None,), ("x",), (None,)], schema=ONE),
    Shape("one column, quoted empty", b'""\n"a"\n', [("",), ("a",)], schema=ONE),
    Shape(
        "too few",
        b"1,x\n2\n3,z\n",
        [(1, "x"), (3, "z")],
        [(4, 1, None, "too_few_fields")],
        [(1, "x"), (2, None), (3, "z")],
    ),
    Shape(
        "too many",
        b"1,x\n2,y,z\n3,z\n",
        [(1, "x"), (3, "z")],
        [(4, 1, None, "too_many_fields")],
        [(1, "x"), (2, "y"), (3, "z")],
    ),
    Shape("a delimiter at the end is a field", b"1,x,\n", [], [(0, 0, None, "too_many_fields")], [(1, "x")]),
    Shape("too few at the end", b"1,x\n2", [(1, "x")], [(4, 1, None, "too_few_fields")], [(1, "x"), (2, None)]),
    Shape("too few, and its value is wrong", b"q\n", [], [(0, 0, None, "too_few_fields")], [(None, None)]),
    Shape("padded", b"1\n2,y\n", [(1, None), (2, "y")], options={"ragged": "pad"}),
    Shape(
        "padded, too many",
        b"1,x,y\n2\n",
        [(2, None)],
        [(0, 0, None, "too_many_fields")],
        [(1, "x"), (2, None)],
        options={"ragged": "pad"},
    ),
    Shape("truncated", b"1,x,y\n2,y,,,\n", [(1, "x"), (2, "y")], options={"ragged": "truncate"}),
    Shape("truncated, the extra is stray", b'1,x,a"b"\n', [(1, "x")], options={"ragged": "truncate"}),
    Shape(
        "truncated, too few",
        b"1\n2,y,z\n",
        [(2, "y")],
        [(0, 0, None, "too_few_fields")],
        [(1, None), (2, "y")],
        options={"ragged": "truncate"},
    ),
    Shape("fitted", b"1,x,y\n2\n3,z\n", [(1, "x"), (2, None), (3, "z")], options={"ragged": "fit"}),
    Shape("truncated before a carriage return", b"1,x\r,y\r\n", [(1, "x\r")], options={"ragged": "truncate"}),
    Shape(
        "padded, but required",
        b"1,x\n2\n3,z\n",
        [(1, "x"), (3, "z")],
        [(5, 1, "b", "missing_required")],
        schema=pa.schema([("a", pa.int64()), pa.field("b", pa.string(), nullable=False)]),
        options={"ragged": "pad"},
    ),
    Shape("unterminated quote", b'1,x\n2,"y\n3,z\n', [(1, "x"), (3, "z")], [(4, 1, None, "unterminated_quote")]),
    Shape("unterminated at once", b'"', [], [(0, 0, None, "unterminated_quote")]),
    Shape("unterminated, and too few", b'1,x\n"2\n', [(1, "x")], [(4, 1, None, "unterminated_quote")]),
    Shape("unterminated after a doubled quote", b'1,"x""\n', [], [(0, 0, None, "unterminated_quote")]),
    Shape(
        "a quote in text spans to the next quote",
        b'1,x"y\n2,z"w\n3,q\n',
        [(3, "q")],
        [(2, 0, "b", "stray_quote")],
        [(1, None), (3, "q")],
    ),
    Shape(
        "stray quotes in one field", b'1,x"y"\n2,z\n', [(2, "z")], [(2, 0, "b", "stray_quote")], [(1, None), (2, "z")]
    ),
    Shape("text behind a quote", b'1,"x"y\n2,z\n', [(2, "z")], [(2, 0, "b", "stray_quote")], [(1, None), (2, "z")]),
    Shape("two problems, the leftmost speaks", b'q,x"y"\n', [], [(0, 0, "a", "invalid")], [(None, None)]),
    Shape(
        "two bad records",
        b"q,x\n1,y\nw,z\n",
        [(1, "y")],
        [(0, 0, "a", "invalid"), (8, 2, "a", "invalid")],
        [(None, "x"), (1, "y"), (None, "z")],
    ),
    Shape("quoted line ends and delimiters", b'1,"a\nb"\n2,"c,\r\nd"\n', [(1, "a\nb"), (2, "c,\r\nd")]),
]
