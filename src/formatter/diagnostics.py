"""What the engine found wrong, in words. In: findings. Out: FormatError and the rejects table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, NamedTuple

import pyarrow as pa

from formatter._core import Finding, codes_of_stream
from formatter.errors import FormatError, SchemaError, counted, shorten
from formatter.formats import Csv, Delimited, Framed, Native, Registered
from formatter.mistaken_bytes import (
    ENDS_IN_RETURN,
    mistaken_header,
    mistaken_record,
    mistaken_start,
    names_the_column,
    other_delimiter,
)
from formatter.plans import Format
from formatter.types import as_numbers

REJECTS_SCHEMA = pa.schema(
    [
        ("origin", pa.string()),
        ("sequence", pa.uint64()),
        ("byte_offset", pa.int64()),
        ("record", pa.uint64()),
        ("column", pa.string()),
        ("code", pa.string()),
        ("message", pa.string()),
        ("raw", pa.binary()),
    ]
)

_EXPECTED = {
    "overflow": "{type} within its range",
    "precision": "{type} without losing digits",
    "bad_utf8": "valid UTF-8",
    "missing_required": "a value (the column is not nullable)",
    "stray_quote": "quotes around the whole field only, doubled inside",
    "unterminated_quote": "a closing {mark} before the end of {end}",
    "record_too_long": "a record of at most max_record_bytes, and less than 2 GiB",
    "lost": "the bytes of every buffer of the record (one was declared lost)",
    "several_records": "one record in the value",
    "header": "a header that names every wanted column",
    "malformed": "JSON",
    "not_an_object": "an object{unit}",
    "trailing_data": "nothing behind the {whole}",
    "duplicate_key": "each key once",
    "unknown_key": "a key of the schema",
    "too_deep": "at most 1024 levels of nesting",
    "not_an_array": "'[', for records={records!r}",
    "unterminated_record": "all bytes of the last record before the end of the input",
    "wrong_length": "a record of {width} bytes",
    "no_record_start": "a record that begins with {start}",
    "unreadable_record": "a record that the indexer can read",
    "indexer_failed": "records and fields from the indexer",
    "unterminated_array": "']' before the end of the input",
}

_CHECK_NAMES = (
    "check the names (case and spaces count), set missing_columns='null' for those that may be absent, or header=False for data "
    "without one"
)
_OF_STREAM = frozenset(codes_of_stream())
_NO_NUMBER = re.compile(rb"-?(NaN|Infinity)\b")
_TEXTS = (pa.string(), pa.large_string())
_LONE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def describe(
    finding: Finding,
    format: Format,
    names: tuple[str, ...],
    *,
    origin: int | str | None = None,
    place: str | None = None,
    numbered: bool = True,
) -> FormatError:
    """One finding in words, as Describer has them."""
    return Describer(format, names).describe(finding, origin=origin, place=place, numbered=numbered)


class _Kind(NamedTuple):
    """What findings of one code in one column have in common."""

    name: str | None
    field: pa.Field | None
    where: str
    expected: str
    mark: str  # what should have closed what stands first


class Describer:
    """FormatErrors with their positions, for the findings of one format; `names` are the plan's columns, which they count by."""

    def __init__(self, format: Format, names: tuple[str, ...]) -> None:
        self._format = format
        self._names = names
        self._kinds: dict[tuple[str, int, bytes], _Kind] = {}

    def describe(
        self, finding: Finding, *, origin: int | str | None = None, place: str | None = None, numbered: bool = True
    ) -> FormatError:
        """
        `place`: which file, or buffer of which origin, as the message names it.
        `numbered`: whether anybody has counted the records before those that the finding counts.
        """
        code, found_bytes, offset = finding.code, finding.found, finding.byte_offset
        kind = self._kind_of(finding)
        record = finding.record if numbered else None
        expected = kind.expected
        if code in ("too_few_fields", "too_many_fields"):
            expected = counted(finding.expected_fields, "field")
            found = counted(finding.found_fields, "field")
            shown = f"{found} in {shorten(found_bytes)}"
        else:
            found = found_bytes.decode("utf-8", "backslashreplace")
            shown = shorten(found_bytes)
        of_record = "" if record is None else f"record {record}, "
        message = f"{self._format.kind}: {of_record}{kind.where}byte {offset}: expected {expected}, found {shown}"
        if finding.opened:
            what = "quote" if kind.mark == "quote" else "mark"
            message += f"; the {what} opened at byte {offset + finding.opened}"
        if remedy := _remedy(finding, found_bytes, kind.field, self._format, self._names):
            message += f"; {remedy}"
        if place:
            message = f"{place}: {message}"
        return FormatError(
            message, code=code, origin=origin, sequence=finding.sequence or None, byte_offset=offset,
            record=record, column=kind.name, expected=expected, found=found,
        )  # fmt: skip

    def _kind_of(self, finding: Finding) -> _Kind:
        format, column = self._format, finding.column
        opened = finding.found[:1] if isinstance(format, Delimited) else b""
        known = self._kinds.get((finding.code, column, opened))
        if known is not None:
            return known
        name = self._names[column] if column >= 0 else None
        field = as_numbers(format.schema.field(name)) if name is not None else None
        where = f"field {format.schema.get_field_index(name)} {name!r}, " if name is not None else ""
        mark = _closing_mark(opened, format)
        kind = _Kind(name, field, where, _expected(finding.code, field, format, mark), mark)
        self._kinds[finding.code, column, opened] = kind
        return kind


def _expected(code: str, field: pa.Field | None, format: Format, mark: str) -> str:
    type_name = str(field.type) if field is not None else "record"
    start = shorten(getattr(format, "record_start", b""))
    records = getattr(format, "records", "")
    if code == "wrong_type" and field is None:
        type_name = f"an array, for records={records!r}"
    return _EXPECTED.get(code, "{type}").format(
        type=type_name, end=_quotes_end(format), width=_width(format), start=start, records=records, mark=mark,
        unit=" a line" if records == "lines" else "",
        whole="object or the array" if getattr(format, "layout", "") == "array" else "object",
    )  # fmt: skip


def _quotes_end(format: Format) -> str:
    """Where a quote must have been closed."""
    if not isinstance(format, Csv):
        return "the line" if getattr(format, "records", "") == "lines" else "the record"
    bounds = [f"{format.max_quoted_lines} lines" if format.max_quoted_lines else ""]
    bounds += [f"{format.max_quoted_bytes} bytes" if format.max_quoted_bytes else ""]
    return " or of ".join(["input", *filter(None, bounds)])


def _closing_mark(opened: bytes, format: Format) -> str:
    """What should have closed what stands first."""
    marks = format.marks if isinstance(format, Delimited) else ()
    return next((shorten(mark[1:]) for mark in marks if mark[:1] == opened[:1] != b'"'), "quote")


def _width(format: Format) -> str:
    """Bytes of a binary row, as an error names them."""
    inner = format.inner if isinstance(format, Framed) else format
    if not isinstance(inner, Native):
        return "any"
    return f"{inner.row_width} or more" if inner.has_rest else str(inner.row_width)


def _remedy(finding: Finding, found: bytes, field: pa.Field | None, format: Format, names: tuple[str, ...]) -> str:
    code, raw = finding.code, finding.raw or found
    if isinstance(format, Native) or (isinstance(format, Framed) and isinstance(format.inner, Native)):
        return "check the schema, endian and length against what wrote the data" if code != "bad_utf8" else ""
    if finding.record == 0 and (mistaken := mistaken_start(raw, format)):
        return mistaken
    if not isinstance(format, Csv | Delimited | Registered):
        return mistaken_record(code, found, raw, format) or _json_remedy(code, found, field, format)
    text = found.strip()
    if code == "no_record_start":
        return "check record_start against what wrote the data"
    if code == "too_few_fields":
        several = finding.found_fields == 1 and other_delimiter(raw, finding.expected_fields, format)
        return several or "set ragged='pad'"
    if code == "too_many_fields":
        return "set ragged='truncate'"
    if code == "header":
        wanted = [name for name in names if name != getattr(format, "rescue", None)]
        return (mistaken_header(raw, wanted, format) if isinstance(format, Csv) else "") or _CHECK_NAMES
    if code == "missing_required":
        return "make the column nullable or set on_error"
    if code == "bad_utf8" and isinstance(format, Csv) and format.encoding == "utf-8":
        return "set encoding='cp1252' or 'latin-1', or errors='replace'"
    if code != "invalid" or field is None:
        return ""
    if finding.record == 0 and names_the_column(text, field.name, format):
        return "set header=True"
    if text != found and isinstance(format, Csv | Delimited) and format.trim is not True:
        return "set trim=True"
    number = pa.types.is_floating(field.type) or pa.types.is_decimal(field.type)
    if number and text.count(b",") == 1 and b"." not in text and format.decimal == ".":
        return "set decimal=','"
    if text.upper() in (b"NULL", b"NA", b"N/A", b"NONE", b"\\N", b"-"):
        return f"add {text.decode()!r} to nulls"
    return _time_remedy(format) if pa.types.is_temporal(field.type) else ""


def _time_remedy(format: Format) -> str:
    given = getattr(format, "timestamp_formats", ())
    return (
        f"none of timestamp_formats={given!r} reads it: add its own"
        if given
        else "give its format in timestamp_formats"
    )


def _json_remedy(code: str, found: bytes, field: pa.Field | None, format: Format) -> str:
    if code == "missing_required":
        return "make the column nullable or set on_error"
    if code == "unknown_key":
        return "set unknown='ignore'"
    if code == "not_an_array":
        return "set records='lines' or 'concatenated'"
    if code == "duplicate_key":
        return "set on_duplicate_key='last' or 'first'"
    if code == "bad_utf8" and _LONE_SURROGATE.search(found):
        return "set surrogates='replace' to read U+FFFD for a surrogate without its partner"
    if code == "invalid" and field is not None and pa.types.is_temporal(field.type):
        return _time_remedy(format.inner if isinstance(format, Framed) else format)
    if code == "malformed" and field is not None and _NO_NUMBER.match(found):
        return "JSON has no such number: have null written, or read it as null with on_error='null'"
    if code != "wrong_type" or field is None:
        return ""
    if pa.types.is_temporal(field.type) and found[:1] in b"-0123456789":
        return "give the number's unit in the field's metadata: {b'unit': b'ms'}"
    if field.type in _TEXTS:
        return "keep any value as text with the field's metadata {b'text': b'any'}"
    return ""


def always_raised(code: str) -> bool:
    """Errors of the whole stream rather than of a record: no on_error passes over them."""
    return code in _OF_STREAM


def rejects_table(errors: Iterable[tuple[FormatError, bytes]]) -> pa.Table:
    rejects = list(errors)
    told = [error for error, _ in rejects]
    columns: dict[str, list[Any]] = {
        name: [getattr(error, name) for error in told]
        for name in ("sequence", "byte_offset", "record", "column", "code")
    }
    columns["origin"] = [None if error.origin is None else str(error.origin) for error in told]
    columns["message"] = [str(error) for error in told]
    columns["raw"] = [raw for _, raw in rejects]
    return pa.table([columns[name] for name in REJECTS_SCHEMA.names], schema=REJECTS_SCHEMA)


def too_large_batch(schema: pa.Schema) -> SchemaError:
    return SchemaError(
        "parse_records: expected at most 2 GiB of text or items in a column of one batch, found more; give fewer values at "
        f"once, or large_string, large_binary or large_list for what is large of {', '.join(map(repr, schema.names[:5]))}"
    )


def missing_in_header(format: Csv, missing: list[str], header: bytes, start: bytes, place: str | None) -> SchemaError:
    """`header`: the lines that name the columns. `start`: the input's first bytes.
    `place`: which file, if it is one."""
    columns = ", ".join(map(repr, missing[:5]))
    remedy = mistaken_start(start, format) or mistaken_header(header, missing, format) or _CHECK_NAMES
    where = f"{place}: " if place else ""
    return SchemaError(f"{where}csv: header: expected the columns {columns}, found {shorten(header)}; {remedy}")


def unending_header(start: bytes, place: str | None) -> FormatError:
    """Of a header that would be passed over with every line behind it."""
    where = f"{place}: " if place else ""
    expected = "a line end of '\\n' or '\\r\\n'"
    return FormatError(
        f"{where}csv: header: expected {expected}, found {shorten(start)}; {ENDS_IN_RETURN}",
        code="header", origin=place, expected=expected, found=shorten(start),
    )  # fmt: skip
