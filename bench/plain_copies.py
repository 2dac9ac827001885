"""A messy file as a plain one that every contestant can be told of: UTF-8, records and nothing else, a line feed behind each.

In: a path, the format `fm.infer` found. Out: the path where its file is plain already, else that of a copy, and what it lacks.
Refuses to know: who reads it; and our own readers, which are among them: lines are sorted by Python's csv and json.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

import formatter as fm

WIDEST_FIELD = 1 << 30
HEADER_BYTES = 1 << 20


def plain_csv(path: Path, format: fm.Csv, folder: Path) -> tuple[Path, list[str]]:
    """The records' own text, byte for byte but for its encoding; without lines that others take for records."""
    raw = path.read_bytes()
    taken = [
        words
        for words, there in (
            (
                f"encoding {format.encoding}",
                (format.encoding, format.errors) != ("utf-8", "strict") or raw.startswith(b"\xef\xbb\xbf"),
            ),
            (f"{format.skip_lines} lines in front", format.skip_lines > 0),
            (f"comments by {format.comment!r}", format.comment is not None),
            ("the header", format.header not in (True, False) or (format.header is True and _told_badly(raw, format))),
            (f"{format.skip_records} records behind it", format.skip_records > 0),
            ("headers that come again", format.repeated_headers),
            (f"{format.skip_footer} records at the end", format.skip_footer > 0),
            ("carriage returns as line ends", format.record_delimiter == "\r"),
            ("blank lines", b"\n\n" in raw or b"\n\r\n" in raw),
        )
        if there
    ]
    if not taken:
        return path, []
    text = raw.decode("utf-8-sig" if format.encoding == "utf-8" else format.encoding, format.errors)
    records = list(_records(text, format))
    behind_header = records[max(format.header_positions) + 1 :] if format.header is not False else records
    header = records[max(format.header_positions)] if format.header is not False else None
    kept = [
        record for record in behind_header[format.skip_records :] if not format.repeated_headers or record != header
    ]
    kept = kept[: len(kept) - format.skip_footer]
    to = folder / f"{path.name}.plain.csv"
    to.write_text("".join(record.rstrip("\r\n") + "\n" for record in kept), encoding="utf-8", newline="")
    return to, [*taken, *(["the header"] if header is not None and "the header" not in taken else [])]


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("latin-1", _as_latin_1)


def plain_format(format: fm.Csv) -> fm.Csv:
    """Of a plain copy."""
    names = plain_names(format.schema.names)
    schema = pa.schema(list(zip(names, format.schema.types, strict=True)))
    return replace(
        format.body,
        schema=schema,
        encoding="utf-8",
        errors="strict",
        comment=None,
        skip_footer=0,
        record_delimiter="\n",
    )


def plain_names(names: Sequence[str]) -> list[str]:
    """Names that every dialect of SQL takes between its quotes without a meaning of their own, each there once."""
    found: list[str] = []
    for at, name in enumerate(names):
        plain = re.sub(r"\W+", "_", name).strip("_") or f"f{at}"
        while plain.lower() in map(str.lower, found):
            plain += "_"
        found.append(plain)
    return found


def _told_badly(raw: bytes, format: fm.Csv) -> bool:
    """Whether the names are none that others can be told, or others than those of the schema, which was given better ones."""
    head = raw[:HEADER_BYTES].decode(format.encoding, "ignore").removeprefix("\ufeff")
    names = next(csv.reader(io.StringIO(head, newline=""), **_dialect(format)), [])
    return list(names) != format.schema.names or plain_names(names) != list(names)


def _dialect(format: fm.Csv) -> dict[str, Any]:
    told: dict[str, Any] = {"delimiter": str(format.delimiter), "quoting": csv.QUOTE_NONE}
    if format.quote:
        told |= {"quotechar": str(format.quote), "quoting": csv.QUOTE_MINIMAL}
    return told | ({"escapechar": str(format.escape)} if format.escape else {})


def _records(text: str, format: fm.Csv) -> Iterator[str]:
    """The text of each record behind the skipped lines that is neither blank nor a comment."""
    csv.field_size_limit(WIDEST_FIELD)
    lines = iter(io.StringIO(text, newline=""))
    for _ in range(format.skip_lines):
        next(lines, None)
    held: list[str] = []

    def followed() -> Iterator[str]:
        for line in lines:
            if held or not (format.comment and line.startswith(str(format.comment))):
                held.append(line)
                yield line

    for row in csv.reader(followed(), **_dialect(format)):
        if row:
            yield "".join(held)
        held.clear()


def plain_json(path: Path, format: fm.Json, folder: Path) -> tuple[Path, list[str]]:
    """A record a line."""
    if format.records == "lines":
        return path, []
    text, decoder = path.read_text("utf-8"), json.JSONDecoder()
    documents, at = [], 0
    while at < len(text.rstrip()):
        document, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        documents.append(document)
    way = {"array": ["*"], "concatenated": []}.get(format.records, format.records.split("/")[1:])
    for step in way:
        documents = [item for document in documents for item in (document if step == "*" else [document[step]])]
    to = folder / f"{path.name}.plain.json"
    to.write_text("".join(json.dumps(record) + "\n" for record in documents), encoding="utf-8")
    return to, [f"records as {format.records!r}, which are a line each now"]
