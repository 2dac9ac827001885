"""HL7 version 2: messages of segments, fields, repetitions, components, subcomponents. In: a schema, and where its columns stand
by HL7's own counting. Out: a declared format."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

import pyarrow as pa

from formatter.declared.spelled_bytes import Escapes, spelled
from formatter.errors import OptionError
from formatter.formats import Delimited, Level
from formatter.formats.delimited import Step

FRAMING = {"mllp": ("\x0b", "\x1c\r"), "lines": ("", "\n")}
LEVELS = (Level("\r", key="|"), Level("|"), Level("~"), Level("^"), Level("&"))
MEANT: Escapes = {
    "\\F\\": "|",
    "\\S\\": "^",
    "\\T\\": "&",
    "\\R\\": "~",
    "\\E\\": "\\",
    "\\.br\\": "\n",
    "\\X0D0A\\": "\r\n",
    "\\X0d0a\\": "\r\n",
}
ESCAPES: Escapes = {**spelled("\\X", "\\"), **MEANT}
TIMES = (
    "%Y%m%d%H%M%S",
    "%Y%m%d%H%M",
    "%Y%m%d%H",
    "%Y%m%d%H%M%S%z",
    "%Y%m%d%H%M%S.%f%z",
    "%Y%m%d%H%M%S.%f",
    "%Y%m%d%H%M%z",
    "%Y%m%d%H%z",
    "%Y%m%d",
    "%Y%m",
    "%Y",
)
_PATH = re.compile(r"([A-Z][A-Z0-9]{2})(?:\[(\d+)\])?(?:\.(\d+)(?:\[(\d+)\])?(?:\.(\d+)(?:\.(\d+))?)?)?")


def hl7(schema: pa.Schema, paths: Mapping[str, str], *, framing: Literal["mllp", "lines"] = "mllp") -> Delimited:
    """HL7 version 2 with the usual separators: a message a row.

    Args:
        schema: The columns. Times are read as HL7 writes them; what one leaves out is the first: 2024 is 2024-01-01. A message with
            other separators lacks all that is asked for: have a column that no message lacks, such as MSH.10, not nullable.
        paths: Where each stands, by HL7's counting from 1: `PID.5.1` is segment, field and component, `PID.5.1.2` a
            subcomponent, `PID.3[2].1` of the field's second repetition, `OBX[2].5` of the second such segment, `PID.8`
            the whole field, and `PID` what stands behind a segment's name.
        framing: "mllp": each message between 0x0B and 0x1C 0x0D, maybe line ends between messages. "lines": a message a line.
            In both 0x0D stands between segments.

    Returns:
        `fm.Delimited`. What a message lacks is null, as is `""`.

    Raises:
        OptionError: A path that is none, or a column without one.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("id", pa.string()), ("family", pa.string()), ("born", pa.date32())])
        >>> format = fm.declared.hl7(schema, {"id": "MSH.10", "family": "PID.5.1", "born": "PID.7"})
        >>> message = b"\\x0bMSH|^~\\\\&|A|B|C|D|2024||ADT^A01|7|P|2.5\\rPID|1||9^^^H||DOE^JO||19800229\\r\\x1c\\r"
        >>> fm.read(message, format).to_pylist()
        [{'id': '7', 'family': 'DOE', 'born': datetime.date(1980, 2, 29)}]
    """
    if framing not in FRAMING:
        raise OptionError(f"hl7: framing: expected 'mllp' or 'lines', found {framing!r}")
    missing = [name for name in schema.names if name not in paths]
    if missing:
        raise OptionError(f"hl7: paths: none for {', '.join(map(repr, missing))}; write {{{missing[0]!r}: 'PID.5.1'}}")
    start, end = FRAMING[framing]
    return Delimited(
        schema,
        record_start=start,
        record_end=end,
        levels=LEVELS,
        paths={column: _steps(column, path) for column, path in paths.items()},
        escapes=ESCAPES,
        nulls=("", '""'),
        timestamp_formats=TIMES,
        name="hl7",
    )


def _steps(column: str, path: str) -> tuple[Step, ...]:
    found = _PATH.fullmatch(path)
    if found is None:
        raise OptionError(f"hl7: paths: {column!r}: expected one like 'PID.5.1', found {path!r}")
    segment, occurrence, field, repetition, component, part = found.groups()
    steps: list[Step] = [(segment, _from_one(column, path, occurrence))]
    if field is None:
        return tuple(steps)
    # The separator behind MSH is its first field.
    steps.append(_from_one(column, path, field) - (segment == "MSH"))
    if repetition is not None or component is not None:
        steps.append(_from_one(column, path, repetition))
    steps += [_from_one(column, path, number) for number in (component, part) if number is not None]
    if steps[1] == -1:
        raise OptionError(f"hl7: paths: {column!r}: MSH.1 is the separator itself")
    return tuple(steps)


def _from_one(column: str, path: str, number: str | None) -> int:
    if number == "0":
        raise OptionError(f"hl7: paths: {column!r}: HL7 counts from 1, found {path!r}")
    return 0 if number is None else int(number) - 1
