"""Syslog messages as RFC 5424 has them, one a line. In: nothing. Out: a declared format."""

from __future__ import annotations

import pyarrow as pa

from formatter.declared.named_places import places_of
from formatter.formats import Delimited, Level

SYSLOG = pa.schema(
    [
        ("priority", pa.uint8()),
        ("version", pa.uint8()),
        ("timestamp", pa.timestamp("us", "UTC")),
        ("hostname", pa.string()),
        ("app_name", pa.string()),
        ("procid", pa.string()),
        ("msgid", pa.string()),
        ("structured_data", pa.string()),
        ("message", pa.string()),
    ]
)
PLACES = {
    "priority": "0.0", "version": "0.1", "timestamp": "1", "hostname": "2", "app_name": "3", "procid": "4", "msgid": "5",
    "structured_data": "6", "message": "7+",
}  # fmt: skip


def syslog(schema: pa.Schema = SYSLOG) -> Delimited:
    """RFC 5424: `<priority>version timestamp hostname app-name procid msgid structured-data message`; "-" is null.

    Args:
        schema: Some of these columns (`SYSLOG` has all). The priority is 8 times the facility, and the severity. Structured
            data is kept as it is written.

    Returns:
        `fm.Delimited`.

    Raises:
        SchemaError: A column of another name.

    Example:
        >>> import formatter as fm
        >>> line = b'<34>1 2003-10-11T22:14:15.003Z host su - ID47 [x@1 a="b [\\\\]"] it failed\\n'
        >>> fm.read(line, fm.declared.syslog(), columns=["priority", "structured_data", "message"]).to_pylist()
        [{'priority': 34, 'structured_data': '[x@1 a="b [\\\\]"]', 'message': 'it failed'}]
    """
    return Delimited(
        schema,
        record_start="<",
        levels=[Level(" "), Level(">")],
        paths=places_of(schema, PLACES, "syslog"),
        marks=["[]"],
        kept_marks=["[]"],
        escapes={"\\]": "]", '\\"': '"', "\\\\": "\\"},
        bare_escapes=False,
        nulls=("", "-"),
        name="syslog",
    )
