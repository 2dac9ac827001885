"""Records of keys with values: logfmt, LTSV, query strings, blocks of lines. In: a schema. Out: a declared format."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from formatter.declared.spelled_bytes import Escapes, spelled
from formatter.formats import Delimited, Level

SHORT = {
    '"': '"',
    "\\": "\\",
    "/": "/",
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "a": "\a",
    "v": "\v",
    "ufffd": "\ufffd",
}
QUOTED: Escapes = {**{f"\\{written}": meant for written, meant in SHORT.items()}, **spelled("\\x"), **spelled("\\u00")}


def logfmt(schema: pa.Schema, **options: Any) -> Delimited:
    """logfmt: `key=value key="some text"`, a record a line. A key alone has no value: null.

    Between quotes a backslash begins an escape, as JSON and Go write it for ASCII: `\\n`, `\\x1b`, `\\u001b`; others stay as they
    are written. Outside it is itself: `path=C:\\new`.

    Args:
        schema: The columns, named as their keys. With `paths` of `fm.Delimited` they may be named otherwise.
        options: Of `fm.Delimited`.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A type that no value can have.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("level", pa.string()), ("msg", pa.string()), ("ms", pa.float64())])
        >>> fm.read(b'ms=1.5 level=info msg="it\\\\"s on"\\n', fm.declared.logfmt(schema)).to_pylist()
        [{'level': 'info', 'msg': 'it"s on', 'ms': 1.5}]
    """
    declared: dict[str, Any] = {"levels": [Level(" ", key="=")], "marks": ['""'], "escapes": QUOTED, "name": "logfmt"}
    return Delimited(schema, **declared | {"bare_escapes": False} | options)


def ltsv(schema: pa.Schema, **options: Any) -> Delimited:
    """LTSV: `key:value` between tabs, a record a line.

    Args:
        schema: The columns, named as their keys.
        options: Of `fm.Delimited`.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A type that no value can have.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("host", pa.string()), ("size", pa.int64())])
        >>> fm.read(b"size:12\\thost:a\\n", fm.declared.ltsv(schema)).to_pylist()
        [{'host': 'a', 'size': 12}]
    """
    declared: dict[str, Any] = {"levels": [Level("\t", key=":")], "nulls": ("", "-"), "name": "ltsv"}
    return Delimited(schema, **declared | options)


def query_strings(schema: pa.Schema, **options: Any) -> Delimited:
    """Query strings: `a=1&b=some+text%21`, a record a line.

    Args:
        schema: The columns, named as their keys are written.
        options: Of `fm.Delimited`.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A type that no value can have.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
        >>> fm.read(b"b=some+text%21&a=7\\n", fm.declared.query_strings(schema)).to_pylist()
        [{'a': 7, 'b': 'some text!'}]
    """
    escapes = {**spelled("%", of=range(256)), "+": " "}
    declared: dict[str, Any] = {"levels": [Level("&", key="=")], "escapes": escapes, "name": "query_string"}
    return Delimited(schema, **declared | options)


def blocks(schema: pa.Schema, **options: Any) -> Delimited:
    """Blocks of `key: value` lines, as headers, INI sections and control files have them; an empty line ends a record.

    A line that goes on with the value of the one before is none of that value.

    Args:
        schema: The columns, named as their keys.
        options: Of `fm.Delimited`; `levels=[fm.Level("\\n", key="=")]` for `key = value`,
            `record_end="\\r\\n\\r\\n", levels=[fm.Level("\\r\\n", key=":")]` where lines end so.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A type that no value can have.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("Package", pa.string()), ("Size", pa.int64())])
        >>> fm.read(b"Package: a\\nSize: 7\\n\\nPackage: b\\n", fm.declared.blocks(schema)).to_pylist()
        [{'Package': 'a', 'Size': 7}, {'Package': 'b', 'Size': None}]
    """
    declared: dict[str, Any] = {"record_end": "\n\n", "levels": [Level("\n", key=":")], "trim": True, "name": "blocks"}
    return Delimited(schema, **declared | options)
