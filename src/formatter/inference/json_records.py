"""The records of a sample of JSON, as the reader sees them. In: the first bytes of an input. Out: how its documents stand, the text
of each record, and in words what is none. Refuses to know types.

What is a record, and what is wrong with the others, is asked of the parser that will read the rest: so both are the same.
"""

from __future__ import annotations

import json
import re
from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from formatter.errors import FormatError, OptionError, shorten
from formatter.formats import Json
from formatter.inference.json_values import kind_of, shown, value_of
from formatter.readers import read

RAW = {b"raw": b"1"}  # what is written, of strings too
FIRST_BYTES = 64 << 10  # in which records are looked for first
_WHOLE = Json(
    pa.schema([pa.field("record", pa.binary(), metadata=RAW)]),
    paths={"record": ""},
    validate="full",
    surrogates="replace",
)
_POSITION = re.compile(r"json: (record \d+, )?byte \d+: ")
_TOKENS = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}:]', re.DOTALL)


@dataclass(frozen=True)
class JsonSample:
    """Bytes that begin with a record. `whole`: the input ends with them. `name`: of the input, where there are several."""

    data: bytes
    whole: bool
    name: str = ""
    offset: int = 0  # of these bytes in the input


@dataclass(frozen=True)
class Records:
    texts: list[bytes]  # of the objects
    bad: list[str]  # what the others are

    @property
    def count(self) -> int:
        return len(self.texts) + len(self.bad)


def records_of(sample: JsonSample, layout: str, most: int) -> Records:
    """The first `most` records of a sample, by no more of it than they need. The last one of a sample that ends before the input
    does may be cut: it is left out if it is bad.
    """
    format = replace(_WHOLE, records=layout)
    name = f"{sample.name}: " if sample.name else ""
    size = FIRST_BYTES
    while True:
        all_of_it = size >= len(sample.data)
        rejects: list[pa.Table] = []
        try:
            table = read(memoryview(sample.data)[:size], format, on_error="collect", rejects=rejects, threads=1)
        except FormatError as error:  # of the input as a whole
            return Records([], [f"{name}byte {sample.offset + (error.byte_offset or 0)}: {_said(str(error))}"])
        count = table.num_rows + rejects[0].num_rows
        if all_of_it or count > most:
            break
        size *= 4
    certain = min(most, count if all_of_it and sample.whole else count - 1)
    bad = [row for row in rejects[0].to_pylist() if row["record"] < certain]
    rows = table.num_rows if count <= most else most - len(bad)
    return Records(
        table.column("record").slice(0, rows).to_pylist(),
        [f"{name}byte {sample.offset + row['byte_offset']}{_what(row)}" for row in bad],
    )


def _what(reject: dict[str, Any]) -> str:
    if reject["code"] != "not_an_object":
        return f": {_said(reject['message'])}"
    try:
        value = value_of(reject["raw"].decode())
        found = f"{kind_of(value)} {shown(value)}"
    except ValueError:
        found = shorten(reject["raw"])
    remedy = reject["message"].partition("; ")[2]
    return f" begins no object (found {found})" + (f"; {remedy}" if remedy.startswith("it ") else "")


def _said(message: str) -> str:
    return _POSITION.sub("", message)


def layout_of(sample: JsonSample) -> str:
    """As `records` of fm.Json. A path, of a document that does not end in the sample: to the array it ends in."""
    text = sample.data.removeprefix(BOM_UTF8).lstrip()
    if text.startswith(b"["):
        return "array"
    line = text.split(b"\n", 1)[0]
    if _is_json(line):
        return "lines"
    first = records_of(sample, "concatenated", 1)
    if first.texts:  # of more than a line, or one of several on a line
        return "concatenated"
    if not first.count and not sample.whole:
        path = _array_at_end(sample.data)
        if path is not None and records_of(sample, path, 1).texts:
            return path
    goes_on = line.rstrip()[-1:] in (b"{", b"[", b",", b":")
    return "concatenated" if goes_on and not _mostly_lines(sample) else "lines"


def _is_json(line: bytes) -> bool:
    if records_of(JsonSample(line, True), "lines", 1).texts:
        return True
    try:
        value_of(line.decode())
    except ValueError:
        return False
    return True


def _mostly_lines(sample: JsonSample) -> bool:
    lines = records_of(sample, "lines", len(sample.data))
    return len(lines.texts) > len(lines.bad)


def _array_at_end(data: bytes) -> str | None:
    """The pointer to the items of the outermost array that the bytes end in, if keys alone lead there."""
    path: list[str] | None = None
    keys: list[str] = []
    depth = 0
    text = key = b'""'
    for token in _TOKENS.finditer(data):
        match data[token.start()]:
            case 0x22:  # a string
                text = token[0]
            case 0x3A:  # a colon
                key = text
            case 0x7B | 0x5B:  # an opening bracket
                depth += 1
                if path is None:
                    keys.append(key.decode("utf-8", "replace"))
                    path = keys.copy() if token[0] == b"[" else None
            case _:
                depth -= 1
                if path is None or depth < len(path):
                    path = None
                    del keys[max(depth, 0) :]
    if path is None:
        return None
    try:
        return replace(_WHOLE, records=pointer_to([json.loads(key) for key in path[1:]])).records
    except (OptionError, ValueError):  # too long, or no text
        return None


def pointer_to(keys: list[str]) -> str:
    """As `records` of fm.Json: to the items of the array that the keys lead to."""
    return "/".join(["", *(key.replace("~", "~0").replace("/", "~1") for key in keys), "*"])


def holds_record(data: bytes) -> bool:
    """Whether a sample of an input that goes on is long enough to tell anything."""
    sample = JsonSample(data, False)
    return records_of(sample, layout_of(sample), 1).count > 0
