"""Access logs of web servers as their `common` and `combined` formats write them. In: nothing. Out: a declared format."""

from __future__ import annotations

import pyarrow as pa

from formatter.declared.named_places import places_of
from formatter.declared.spelled_bytes import Escapes, spelled
from formatter.formats import Delimited, Level

COMMON = pa.schema(
    [
        ("host", pa.string()),
        ("ident", pa.string()),
        ("user", pa.string()),
        ("time", pa.timestamp("s", "UTC")),
        ("method", pa.string()),
        ("target", pa.string()),
        ("protocol", pa.string()),
        ("status", pa.int16()),
        ("bytes", pa.int64()),
    ]
)
COMBINED = pa.schema([*COMMON, ("referer", pa.string()), ("agent", pa.string())])
SHORT = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "r": "\r", "b": "\b", "v": "\v"}
ESCAPES: Escapes = {**spelled("\\x"), **{f"\\{written}": meant for written, meant in SHORT.items()}}
PLACES = {
    "host": "0", "ident": "1", "user": "2", "time": "3", "request": "4", "method": "4.0", "target": "4.1",
    "protocol": "4.2", "status": "5", "bytes": "6", "referer": "7", "agent": "8",
}  # fmt: skip


def common_log(schema: pa.Schema = COMMON) -> Delimited:
    """The `common` format: `host ident user [time] "method target protocol" status bytes`; "-" is null.

    What servers write as escapes is read as what it means, `\\"` and `\\x22` alike; bytes beyond ASCII, one of which alone is no
    text, stay as they are written: `\\xe9`.

    Args:
        schema: Some of the columns above, in any order, and `request` for the request line as a whole. Of types to taste.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A column of another name.

    Example:
        >>> import formatter as fm
        >>> line = b'::1 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 2326\\n'
        >>> fm.read(line, fm.declared.common_log(), columns=["target", "status"]).to_pylist()
        [{'target': '/a', 'status': 200}]
    """
    return _access_log(schema, "common_log")


def combined_log(schema: pa.Schema = COMBINED) -> Delimited:
    """The `combined` format: `common`, and then `"referer" "agent"`. Escapes are read as `common_log` reads them.

    Args:
        schema: As `common_log` takes it, with `referer` and `agent`.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A column of another name.

    Example:
        >>> import formatter as fm
        >>> line = b'::1 - - [10/Oct/2000:13:55:36 +0000] "GET /a HTTP/1.0" 200 26 "-" "curl/8 \\\\"x\\\\""\\n'
        >>> fm.read(line, fm.declared.combined_log(), columns=["time", "agent"]).to_pylist()[0]["agent"]
        'curl/8 "x"'
    """
    return _access_log(schema, "combined_log")


def _access_log(schema: pa.Schema, name: str) -> Delimited:
    return Delimited(
        schema,
        levels=[
            Level(" "),
            Level(" ", marks=False),
        ],  # the second one cuts the request line, which quotes keep together at the first: what stands there may be anything
        paths=places_of(schema, PLACES, name),
        marks=['""', "[]"],
        escapes=ESCAPES,
        nulls=("", "-"),
        timestamp_formats=("%d/%b/%Y:%H:%M:%S %z",),
        name=name,
    )
