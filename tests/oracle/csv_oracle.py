"""A slow, obvious CSV parser: the rules of docs/csv.md written down a second time, one byte at a time.

In: whole bytes and a Dialect. Out: an Outcome (columns of plain Python values, rejects, or the first error).
Refuses to know: buffers, kernels, speed, and any code of the package under test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
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
    quotes: str = "strict"
    newlines_in_quotes: bool = True
    max_quoted_lines: int | None = None
    max_quoted_bytes: int | None = None
    escape: str | None = None
    header: bool = False
    nulls: tuple[str, ...] = ("",)
    quoted_nulls: bool | str = False
    true_values: tuple[str, ...] = ("true", "1")
    false_values: tuple[str, ...] = ("false", "0")
    decimal: str = "."
    trim: bool | str = False
    comment: str | None = None
    ragged: str = "error"

    @property
    def trims_left(self) -> bool:
        return self.trim in (True, "left")

    @property
    def trims_right(self) -> bool:
        return self.trim in (True, "right")

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
    """Every line by the dialect's quotes, comments left out. Blank lines are in: whether they are records depends on arity."""
    at = len(BOM) if data.startswith(BOM) else 0
    while at < len(data):
        comment = bool(dialect.comment) and data.startswith(str(dialect.comment).encode(), at)
        walk = _Walk(data, at, dialect) if not comment else None
        if walk is None:
            end, after = _line_end(data, at, dialect)
        elif walk.left_open and walk.opened is not None:
            end, after = _line_end(data, walk.opened + 1, dialect)
        else:
            end, after = walk.end, walk.after
        record = _split_fields(data, at, end, dialect, walk.separators if walk else [])
        record.open_quote = walk is not None and walk.left_open
        at = after
        if not comment:
            yield record


def _line_end(data: bytes, start: int, dialect: Dialect) -> tuple[int, int]:
    ender = dialect.record_delimiter.encode()
    end = data.find(ender, start)
    return (len(data), len(data)) if end < 0 else (end, end + len(ender))


class _Walk:
    """One record, a byte at a time: where it ends, which delimiters in it separate, and what is left open."""

    def __init__(self, data: bytes, start: int, dialect: Dialect) -> None:
        self.data, self.dialect = data, dialect
        self.separators: list[int] = []
        self.opened: int | None = None  # the quote that began the quoted part that is open, or was the last to be
        self.left_open = False
        self.end = self.after = len(data)
        at = start
        while at < len(data) and not self.left_open:
            field = at
            at = self._strict_field(at) if dialect.quotes == "strict" else self._field(at)
            if self.left_open or self.after != len(data) or at >= len(data):
                break
            self.separators.append(at)
            at += len(dialect.delimiter.encode())
            assert at > field

    def _begins(self, at: int, separator: str) -> bool:
        return self.data.startswith(separator.encode(), at)

    def _ends_record(self, at: int) -> bool:
        if not self._begins(at, self.dialect.record_delimiter):
            return False
        self.end, self.after = at, at + len(self.dialect.record_delimiter.encode())
        return True

    def _delimits(self, at: int) -> bool:
        """Record ends are found first: one that begins inside a delimiter leaves none there."""
        size = len(self.dialect.delimiter.encode())
        ends = (self._begins(at + k, self.dialect.record_delimiter) for k in range(size))
        return self._begins(at, self.dialect.delimiter) and not any(ends)

    def _strict_field(self, at: int) -> int:
        """Quotes toggle wherever they stand."""
        inside, closed = False, -2
        while at < len(self.data):
            if _is(self.data, at, self.dialect.escape):
                if inside and self._passes_bound(at):
                    return at
                self.left_open = at + 1 >= len(self.data)
                at += 2
                continue
            if _is(self.data, at, self.dialect.quote):
                if inside and self._passes_bound(at):
                    return at
                inside = not inside
                if not inside:
                    closed = at
                elif closed != at - 1:
                    self.opened = at
            elif inside and self._passes_bound(at):
                return at
            else:
                ends = (not inside or not self.dialect.newlines_in_quotes) and self._ends_record(at)
                if ends or (not inside and self._delimits(at)):
                    return at
            at += 1
        self.left_open |= inside and self.dialect.newlines_in_quotes
        return at

    def _field(self, at: int) -> int:
        """A quote opens at the field's start only; what follows the quoted part is text."""
        blank = b" \t" if self.dialect.trims_left else b""
        begin = at
        while begin < len(self.data) and self.data[begin : begin + 1] in [bytes([b]) for b in blank]:
            if self._ends_record(begin) or self._delimits(begin):
                return begin
            begin += 1
        if begin < len(self.data) and _is(self.data, begin, self.dialect.quote):
            at = self._quoted(begin)
            if self.left_open or self.after != len(self.data):
                return at
        while at < len(self.data):
            if _is(self.data, at, self.dialect.escape):
                self.left_open = at + 1 >= len(self.data)
                at += 2
            elif self._ends_record(at) or self._delimits(at):
                return at
            else:
                at += 1
        return at

    def _quoted(self, at: int) -> int:
        self.opened = at
        at += 1
        while at < len(self.data):
            if self._passes_bound(at):
                return at
            if _is(self.data, at, self.dialect.escape):
                self.left_open = at + 1 >= len(self.data)
                at += 2
            elif _is(self.data, at, self.dialect.quote):
                if not self.dialect.escape and at + 1 < len(self.data) and _is(self.data, at + 1, self.dialect.quote):
                    if self._passes_bound(at + 1, doubled=True):
                        return at
                    at += 2
                elif quote_closes(self.data[at + 1 :], self.dialect):
                    return at + 1
                else:
                    at += 1
            elif not self.dialect.newlines_in_quotes and self._ends_record(at):
                return at
            else:
                at += 1
        self.left_open |= self.dialect.newlines_in_quotes
        return at

    def _passes_bound(self, at: int, doubled: bool = False) -> bool:
        """Whether the quoted part has become too long before this byte."""
        assert self.opened is not None
        part = self.data[self.opened + 1 : at]
        most_lines, most_bytes = self.dialect.max_quoted_lines, self.dialect.max_quoted_bytes
        lines = most_lines is not None and _line_ends(part, self.dialect) >= most_lines
        long = most_bytes is not None and len(part) > most_bytes and not doubled
        self.left_open |= lines or long
        return lines or long


def _line_ends(part: bytes, dialect: Dialect) -> int:
    """Record ends in a quoted part; an escape makes what is behind it none."""
    ender = dialect.record_delimiter.encode()
    at = found = 0
    while at < len(part):
        ends = part.startswith(ender, at)
        found += ends
        at += len(ender) if ends else 2 if _is(part, at, dialect.escape) else 1
    return found


def quote_closes(behind: bytes, dialect: Dialect) -> bool:
    """Whether a quote inside quotes, which is not doubled, ends them, by what follows it."""
    if dialect.quotes == "lenient":
        return True
    separators = dialect.delimiter.encode()[:1] + dialect.record_delimiter.encode()[:1]
    separators += b"\r" if dialect.record_delimiter == "\n" else b""
    for byte in behind:
        if byte in separators or not dialect.trims_right or byte not in b" \t":
            return byte in separators
    return True


def _is(data: bytes, at: int, special: str | None) -> bool:
    return special is not None and data[at] == ord(special)


def _split_fields(data: bytes, start: int, end: int, dialect: Dialect, separators: Sequence[int]) -> RawRecord:
    record = RawRecord(start)
    size = len(dialect.delimiter.encode())
    begin = start
    for stop in [*(at for at in separators if at < end), end]:
        last = stop == end
        symbols = _symbols(data[begin:stop], dialect)
        if last and dialect.record_delimiter == "\n" and symbols and symbols[-1] == (13, False):
            symbols = symbols[:-1]
            stop, end = stop - 1, end - 1
        record.fields.append(RawField(begin, data[begin:stop], tuple(symbols)))
        begin = stop + size
    record.raw = data[start:end]
    return record


def _symbols(raw: bytes, dialect: Dialect) -> list[tuple[int, bool]]:
    symbols: list[tuple[int, bool]] = []
    at = 0
    while at < len(raw):
        escaped = _is(raw, at, dialect.escape) and at + 1 < len(raw)
        at += escaped
        symbols.append((raw[at], escaped))
        at += 1
    return symbols


def content_of(raw: RawField, dialect: Dialect) -> tuple[bytes, bool]:
    """The field's content and whether it was quoted; Bad('stray_quote') if its quotes are not where they belong."""
    quote = ord(dialect.quote) if dialect.quote else None
    symbols = _trimmed(raw.symbols, dialect)
    if dialect.quotes != "strict":
        return _content_by_place(symbols, quote, dialect)
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


def _content_by_place(symbols: list[tuple[int, bool]], quote: int | None, dialect: Dialect) -> tuple[bytes, bool]:
    if not symbols or symbols[0] != (quote, False):
        return bytes(byte for byte, _ in symbols), False
    content = bytearray()
    at, inside = 1, True
    while at < len(symbols):
        if inside and symbols[at] == (quote, False):
            if not dialect.escape and symbols[at + 1 : at + 2] == [(quote, False)]:
                at += 1
            else:
                behind = bytes(symbols[at + 1][:1]) if at + 1 < len(symbols) and not symbols[at + 1][1] else b""
                inside = not (
                    at + 1 == len(symbols)
                    or dialect.quotes == "lenient"
                    or (bool(behind) and quote_closes(behind, replace(dialect, trim=False)))
                )
                if not inside:
                    at += 1
                    continue
        content.append(symbols[at][0])
        at += 1
    return bytes(content), True


def _trimmed(symbols: Sequence[tuple[int, bool]], dialect: Dialect) -> list[tuple[int, bool]]:
    blank = {(32, False), (9, False)}
    kept = list(symbols)
    while dialect.trims_left and kept and kept[0] in blank:
        del kept[0]
    while dialect.trims_right and kept and kept[-1] in blank:
        del kept[-1]
    return kept


# ---------------------------------------------------------------------------------------------------- values


def field_value(raw: RawField, column: pa.Field, dialect: Dialect) -> Any:
    """One field as a plain value; None for null; Bad for everything that is wrong."""
    content, quoted = content_of(raw, dialect)
    nulls = {token.encode() for token in dialect.nulls}
    stringy = _keeps_bytes(column.type)
    if not quoted:
        bare = raw.raw.lstrip(b" \t") if dialect.trims_left else raw.raw
        bare = bare.rstrip(b" \t") if dialect.trims_right else bare
        if bare in nulls:
            return None
    elif content in nulls and (
        dialect.quoted_nulls == "everywhere" or (not stringy and (dialect.quoted_nulls or not content))
    ):
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
