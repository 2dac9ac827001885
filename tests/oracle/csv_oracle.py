"""A slow, obvious CSV parser: the rules of docs/csv.md written down a second time, one byte at a time.

In: whole bytes and a Dialect. Out: an Outcome (columns of plain Python values, rejects, or the first error).
Refuses to know: buffers, kernels, speed, and any code of the package under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import pyarrow as pa
from oracle.csv_values import Bad, decode_value

BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Dialect:
    """The options of fm.Csv under the same names and with the same defaults."""

    schema: pa.Schema
    delimiter: str = ","
    record_delimiter: str = "\n"
    quote: str | None = '"'
    escape: str | None = None
    header: bool = False
    nulls: tuple[str, ...] = ("",)
    true_values: tuple[str, ...] = ("true", "1")
    false_values: tuple[str, ...] = ("false", "0")
    decimal: str = "."
    trim: bool = False
    comment: str | None = None
    ragged: str = "error"

    def options(self) -> dict[str, Any]:
        """What was set away from the defaults, as keyword arguments for fm.Csv."""
        return {f.name: getattr(self, f.name) for f in fields(self)[1:] if getattr(self, f.name) != f.default}


@dataclass(frozen=True)
class RawField:
    """One field as it stands in the input: its bytes, and for each byte whether an escape made it literal."""

    offset: int
    raw: bytes
    symbols: tuple[tuple[int, bool], ...]  # the bytes without their escapes, True where one was escaped


@dataclass
class RawRecord:
    offset: int
    raw: bytes = b""
    fields: list[RawField] = field(default_factory=list)
    open_quote: bool = False


@dataclass(frozen=True)
class Reject:
    byte_offset: int
    record: int
    column: str | None
    code: str
    raw: bytes  # of the record

    def position(self) -> tuple[int, int, str | None, str]:
        return (self.byte_offset, self.record, self.column, self.code)


@dataclass
class Outcome:
    schema: pa.Schema
    columns: dict[str, list[Any]]
    rejects: list[Reject] = field(default_factory=list)  # records dropped, in order, by whatever on_error
    error: Reject | None = None

    def table(self) -> pa.Table:
        arrays = [_array(self.columns[column.name], column.type) for column in self.schema]
        return pa.Table.from_arrays(arrays, schema=self.schema)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_dictionary(kind):
        return pa.array(values, kind.value_type).cast(kind)
    if pa.types.is_timestamp(kind):
        return pa.array(values, pa.int64()).cast(kind)
    if pa.types.is_date32(kind):
        return pa.array(values, pa.int32()).cast(kind)
    return pa.array(values, kind)


# ------------------------------------------------------------------------------------------------- structure


def split_records(data: bytes, dialect: Dialect) -> Iterator[RawRecord]:
    """Every line by quote parity, comments left out. Blank lines are in: whether they are records depends on arity."""
    at = len(BOM) if data.startswith(BOM) else 0
    while at < len(data):
        comment = bool(dialect.comment) and data.startswith(str(dialect.comment).encode(), at)
        end, after = _comment_end(data, at, dialect) if comment else _record_end(data, at, dialect)
        record = _split_fields(data, at, end, dialect)
        record.open_quote = after < 0
        at = after if after >= 0 else len(data)
        if not comment:
            yield record


def _comment_end(data: bytes, start: int, dialect: Dialect) -> tuple[int, int]:
    ender = dialect.record_delimiter.encode()
    end = data.find(ender, start)
    return (len(data), len(data)) if end < 0 else (end, end + len(ender))


def _record_end(data: bytes, start: int, dialect: Dialect) -> tuple[int, int]:
    """Where the record's bytes end and where the next record begins; -1 if an open quote or escape swallows the end."""
    ender = dialect.record_delimiter.encode()
    inside = False
    at = start
    while at < len(data):
        if _is(data, at, dialect.escape):
            at += 2
        elif _is(data, at, dialect.quote):
            inside = not inside
            at += 1
        elif not inside and data.startswith(ender, at):
            return at, at + len(ender)
        else:
            at += 1
    return len(data), -1 if inside or at > len(data) else len(data)


def _is(data: bytes, at: int, special: str | None) -> bool:
    return special is not None and data[at] == ord(special)


def _split_fields(data: bytes, start: int, end: int, dialect: Dialect) -> RawRecord:
    delimiter = dialect.delimiter.encode()
    record = RawRecord(start)
    inside = False
    at = field_start = start
    symbols: list[tuple[int, bool]] = []
    while at < end:
        if _is(data, at, dialect.escape) and at + 1 < end:
            symbols.append((data[at + 1], True))
            at += 2
            continue
        inside ^= _is(data, at, dialect.quote)
        if not inside and data.startswith(delimiter, at, end):
            record.fields.append(RawField(field_start, data[field_start:at], tuple(symbols)))
            symbols = []
            at += len(delimiter)
            field_start = at
        else:
            symbols.append((data[at], False))
            at += 1
    if dialect.record_delimiter == "\n" and not inside and symbols and symbols[-1] == (13, False):
        symbols.pop()
        end -= 1
    record.fields.append(RawField(field_start, data[field_start:end], tuple(symbols)))
    record.raw = data[start:end]
    return record


def content_of(raw: RawField, dialect: Dialect) -> tuple[bytes, bool]:
    """The field's content and whether it was quoted; Bad('stray_quote') if its quotes are not where they belong."""
    quote = ord(dialect.quote) if dialect.quote else None
    symbols = _trimmed(raw.symbols) if dialect.trim else list(raw.symbols)
    quotes = [i for i, symbol in enumerate(symbols) if symbol == (quote, False)]
    if not quotes:
        return bytes(byte for byte, _ in symbols), False
    if quotes[0] != 0 or len(quotes) < 2 or quotes[-1] != len(symbols) - 1:
        raise Bad("stray_quote")
    inner = symbols[1:-1]
    content = bytearray()
    at = 0
    while at < len(inner):
        if inner[at] == (quote, False):
            doubled = at + 1 < len(inner) and inner[at + 1] == (quote, False)
            if not doubled or dialect.escape:
                raise Bad("stray_quote")
            at += 1
        content.append(inner[at][0])
        at += 1
    return bytes(content), True


def _trimmed(symbols: Sequence[tuple[int, bool]]) -> list[tuple[int, bool]]:
    blank = {(32, False), (9, False)}
    kept = list(symbols)
    while kept and kept[0] in blank:
        del kept[0]
    while kept and kept[-1] in blank:
        del kept[-1]
    return kept


# ---------------------------------------------------------------------------------------------------- values


def field_value(raw: RawField, column: pa.Field, dialect: Dialect) -> Any:
    """One field as a plain value; None for null; Bad for everything that is wrong."""
    content, quoted = content_of(raw, dialect)
    nulls = {token.encode() for token in dialect.nulls}
    stringy = _keeps_bytes(column.type)
    if not quoted:
        bare = raw.raw.strip(b" \t") if dialect.trim else raw.raw
        if bare in nulls:
            return None
    elif not content and b"" in nulls and not stringy:
        return None
    return decode_value(content, column, dialect)


def _keeps_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _keeps_bytes(kind.value_type)
    tests = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary)
    return any(test(kind) for test in (*tests, pa.types.is_large_binary, pa.types.is_binary_view))


def _structure_code(record: RawRecord, dialect: Dialect, arity: int) -> str | None:
    if record.open_quote:
        return "unterminated_quote"
    if len(record.fields) < arity and dialect.ragged not in ("pad", "fit"):
        return "too_few_fields"
    if len(record.fields) > arity and dialect.ragged not in ("truncate", "fit"):
        return "too_many_fields"
    return None


def parse(data: bytes, dialect: Dialect, *, columns: Sequence[str] | None = None, on_error: str = "raise") -> Outcome:
    """The whole input. Only the wanted columns are looked into; arity and open quotes are always checked."""
    wanted = list(columns) if columns is not None else dialect.schema.names
    schema = pa.schema([dialect.schema.field(name) for name in wanted])
    outcome = Outcome(schema, {name: [] for name in wanted})
    places = {name: place for place, name in enumerate(dialect.schema.names)}
    arity = len(places)
    records = split_records(data, dialect)
    if dialect.header:
        header = next((record for record in records if record.raw or arity == 1), None)
        if header is None:
            return outcome
        names = [content_of(raw, dialect)[0].decode() for raw in header.fields]
        places = {name: names.index(name) for name in dialect.schema.names}
        arity = len(names)
    reading = _Reading(dialect, schema, places, arity, on_error)
    for number, record in enumerate(line for line in records if line.raw or arity == 1):
        problem, row = reading.one_row(record, number)
        if problem is None:
            for name in wanted:
                outcome.columns[name].append(row[name])
        elif on_error == "raise":
            outcome.error = problem
            break
        else:
            outcome.rejects.append(problem)
    return outcome


@dataclass(frozen=True)
class _Reading:
    dialect: Dialect
    schema: pa.Schema  # of the wanted columns
    places: dict[str, int]  # column name to field number
    arity: int
    on_error: str

    def one_row(self, record: RawRecord, number: int) -> tuple[Reject | None, dict[str, Any]]:
        """The row, or the problem that keeps it from being one: of the record, else of its leftmost bad field."""
        code = _structure_code(record, self.dialect, self.arity)
        if code and (self.on_error != "null" or record.open_quote):
            return Reject(record.offset, number, None, code, record.raw), {}
        row: dict[str, Any] = {}
        for column in sorted(self.schema, key=lambda column: self.places[column.name]):
            place = self.places[column.name]
            offset, value, code = record.offset + len(record.raw), None, None
            if place < len(record.fields):
                raw = record.fields[place]
                offset = raw.offset
                try:
                    value = field_value(raw, column, self.dialect)
                except Bad as bad:
                    code = bad.code
                    if self.on_error != "null":
                        return Reject(offset, number, column.name, code, record.raw), {}
            if value is None and not column.nullable:
                return Reject(offset, number, column.name, code or "missing_required", record.raw), {}
            row[column.name] = value
        return None, row
