"""Csv and its like: frozen options, checked when made. No I/O, no parsing, no native code."""

from __future__ import annotations

import codecs
from collections.abc import Collection, Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Literal

import pyarrow as pa

from formatter.errors import OptionError
from formatter.formats.checks import (
    UNMATCHED,
    as_bytes,
    check_choices,
    check_counts,
    check_flags,
    check_schema,
    spellings_of,
    with_rescue_column,
)
from formatter.formats.frozen import FrozenOptions
from formatter.mistaken_arguments import named_options

# The order is that of QuoteRule in kernels/kernel.hpp.
QUOTE_RULES = ("strict", "lenient", "sticky")
TABLE_ENDS = ("blank_line", "names")  # the order is that of TableEnd in engine/csv/table_end.hpp
HEADER_FLAGS = ("repeated_headers", "unique_names", "trim_names", "names_in_any_case")
ABOUT_A_HEADER = (*HEADER_FLAGS, "missing_columns")
RAGGED = ("error", "pad", "truncate", "fit")
MAX_SEPARATOR_BYTES = 8
# The numbers are those of TextEncoding in engine/records/text_encoding.hpp; a byte order mark may make "utf-16" big-endian.
ENCODINGS = {"utf-8": 0, "latin-1": 1, "utf-16-le": 2, "utf-16-be": 3, "utf-16": 2, "cp1252": 4}
# The order is that of TextErrors there.
TEXT_ERRORS = ("strict", "replace", "latin-1")


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Csv(FrozenOptions):
    """Delimited text.

    Args:
        schema: Every field of a record, in order, whether it is wanted or not.
        delimiter: What separates fields: one to eight bytes.
        record_delimiter: What ends records: one to eight bytes; "\\n" takes "\\r\\n", too.
        quote: What fields may stand in; a doubled one is one of it. None: no field is quoted.
        quotes: Which quote bytes are quotes: every second one ("strict"), or those at a field's start and the next that is
            not doubled ("lenient", as Python's csv module), or has a separator behind it ("sticky").
        newlines_in_quotes: Whether a quoted field may hold record ends; if not, each one ends a record.
        max_quoted_lines: Lines a quoted field may have: of one with more, the line that opens it is a bad record.
        max_quoted_bytes: The same in bytes between its quotes.
        escape: What makes the next character data. None: nothing does.
        header: Whether the first record names the columns, or the position of the one that does, or several whose
            words are joined; columns are then found by name.
        skip_lines: Lines in front of everything that are passed over, whatever is in them.
        skip_records: Records behind the header that are passed over.
        skip_footer: Records at the end of an input that are left out.
        table_end: Where the first of several tables in an input ends, behind which nothing is read: at the first blank line
            behind a record ("blank_line"), or in front of a record that names the columns again ("names").
        repeated_headers: Whether a record that reads like the header is none.
        unique_names: Whether later columns of a name are called name_2, name_3, and so on.
        trim_names: Whether blanks around names are dropped.
        names_in_any_case: Whether a name of the header may be written in other letters, large or small (of ASCII).
        missing_columns: What a column is that the header lacks: an "error", or "null" in every record.
        nulls: What null is written as, unquoted.
        quoted_nulls: Whether it may be that in quotes, too: in columns of other things than text and bytes (True), or
            "everywhere", where quotes say nothing because every field has some.
        true_values: What true is written as.
        false_values: What false is written as.
        decimal: The decimal point: "." or ",".
        timestamp_formats: How times are written, as for `strptime`, beside ISO 8601.
        trim: Whether blanks around fields are dropped, or on which side: "left" or "right".
        comment: A record that begins with this byte is none. None: all are.
        ragged: What a record with too few or too many fields is: an "error", or null and dropped fields by "pad",
            "truncate", or "fit" (both).
        encoding: "utf-8", "latin-1", "cp1252", "utf-16", "utf-16-le" or "utf-16-be".
        errors: What text that is no UTF-8 is: an error ("strict"), read with U+FFFD ("replace"), or byte by byte ("latin-1").
        rescue: Name of a column more, the last: what of a record has no column or does not fit its type, as JSON, or null.
        unmatched: What becomes of records whose bytes show that a filter drops them: they are "checked" like others, or
            only "counted" (docs/needles.md), which is faster.

    Raises:
        OptionError: An option is out of its range, or two exclude each other.
        SchemaError: A type that no field can have.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Csv(pa.schema([("id", pa.int64()), ("price", pa.float64())]), delimiter=";", decimal=",")
        >>> fm.read(b'1;"7,25"\\n2;\\n', format).to_pylist()
        [{'id': 1, 'price': 7.25}, {'id': 2, 'price': None}]
    """

    schema: pa.Schema
    _: KW_ONLY
    delimiter: str | bytes = ","
    record_delimiter: str | bytes = "\n"
    quote: str | bytes | None = '"'
    quotes: Literal["strict", "lenient", "sticky"] = "strict"
    newlines_in_quotes: bool = True
    max_quoted_lines: int | None = None
    max_quoted_bytes: int | None = None
    escape: str | bytes | None = None
    header: bool | int | Collection[int] = False
    skip_lines: int = 0
    skip_records: int = 0
    skip_footer: int = 0
    table_end: Literal["blank_line", "names"] | None = None
    repeated_headers: bool = False
    unique_names: bool = False
    trim_names: bool = False
    names_in_any_case: bool = False
    missing_columns: Literal["error", "null"] = "error"
    nulls: Sequence[str] = ("",)
    quoted_nulls: Literal[False, True, "everywhere"] = False
    true_values: Sequence[str] = ("true", "1")
    false_values: Sequence[str] = ("false", "0")
    decimal: str = "."
    timestamp_formats: Sequence[str] = ()
    trim: bool | Literal["left", "right"] = False
    comment: str | bytes | None = None
    ragged: Literal["error", "pad", "truncate", "fit"] = "error"
    encoding: str = "utf-8"
    errors: Literal["strict", "replace", "latin-1"] = "strict"
    rescue: str | None = None
    unmatched: Literal["checked", "counted"] = "checked"

    kind = "csv"

    def __post_init__(self) -> None:
        check_schema(self.schema, "Csv", least_columns=0)
        self._take(
            schema=with_rescue_column(self.schema, self.rescue, "Csv"),
            quote=self.quote or None,
            escape=self.escape or None,
            comment=self.comment or None,
            header=_header(self.header),
            encoding=_known_encoding(self.encoding),
            **spellings_of(self),
        )
        self._check_separators()
        check_choices(
            self,
            quotes=QUOTE_RULES,
            ragged=RAGGED,
            errors=TEXT_ERRORS,
            missing_columns=("error", "null"),
            unmatched=UNMATCHED,
        )
        check_choices(self, trim=("left", "right"), quoted_nulls=("everywhere",), or_flag=True)
        check_flags(self, "newlines_in_quotes", *HEADER_FLAGS)
        check_counts(self, "skip_lines", "skip_records", "skip_footer", most=2**32 - 1)
        check_counts(self, "max_quoted_lines", "max_quoted_bytes", least=1, or_none=True)
        self._check_table_end()
        if self.header is False:
            for name in ABOUT_A_HEADER:
                if getattr(self, name) not in (False, "error"):
                    raise OptionError(f"Csv: {name} is about a header; set header=True")
        if self.encoding != "utf-8":
            self._check_encodable()
        if self.unmatched == "counted":
            self._check_countable()

    def _check_table_end(self) -> None:
        if self.table_end is None:
            return
        check_choices(self, table_end=TABLE_ENDS)
        if self.table_end == "names" and self.header is False and not self.skip_records:
            raise OptionError(
                "Csv: table_end='names' is about a header; set header=True, or skip_records=1 to name its fields otherwise"
            )
        excluded = {
            "skip_footer": self.skip_footer > 0,
            "max_quoted_lines": self.max_quoted_lines is not None,
            "max_quoted_bytes": self.max_quoted_bytes is not None,
            "encoding": self.encoding.startswith("utf-16"),
        }
        for name in (name for name, is_set in excluded.items() if is_set):
            raise OptionError(
                f"Csv: table_end cannot be found with {name}={getattr(self, name)!r}; leave one of them out"
            )

    def _check_separators(self) -> None:
        special: dict[int, str] = {}
        separators = {name: as_bytes(getattr(self, name), name) for name in ("delimiter", "record_delimiter")}
        for name, separator in separators.items():
            if not 1 <= len(separator) <= MAX_SEPARATOR_BYTES:
                raise OptionError(
                    f"Csv: {name}: expected 1 to {MAX_SEPARATOR_BYTES} bytes, found {len(separator)}: {separator!r}"
                )
        if separators["delimiter"] == separators["record_delimiter"]:
            raise OptionError("Csv: delimiter and record_delimiter: expected two different ones, found the same")
        for name in ("quote", "escape", "comment"):
            value = getattr(self, name)
            if value is None:
                continue
            byte = as_bytes(value, name)
            if len(byte) != 1:
                raise OptionError(f"Csv: {name}: expected one byte, found {byte!r}")
            if byte[0] in special:
                raise OptionError(f"Csv: {name}: {byte!r} is already the {special[byte[0]]}")
            special[byte[0]] = name
            for separator_name, separator in separators.items():
                if byte in separator:
                    raise OptionError(f"Csv: {name}: {byte!r} is part of the {separator_name}")
        if self.decimal.encode() == separators["delimiter"] and self.quote is None:
            raise OptionError(
                "Csv: decimal: the decimal point is the delimiter and there is no quote to tell them apart"
            )

    def _check_countable(self) -> None:
        """Records can be counted without a look at them only where nothing but pairs of quotes hides their ends."""
        picky = self.quote is not None and self.quotes != "strict"
        found = {
            "escape": self.escape is not None,
            "comment": self.comment is not None,
            "repeated_headers": self.repeated_headers,
            "max_quoted_lines": self.max_quoted_lines is not None,
            "max_quoted_bytes": self.max_quoted_bytes is not None,
            "encoding": self.encoding != "utf-8",
            "delimiter": len(as_bytes(self.delimiter, "delimiter")) > 1,
            "record_delimiter": len(as_bytes(self.record_delimiter, "record_delimiter")) > 1,
            "quotes": picky and (self.newlines_in_quotes or self.trim),
        }
        hiding = [name for name, is_set in found.items() if is_set]
        if hiding:
            raise OptionError(
                f"Csv: unmatched: records cannot be counted by their bytes alone with {', '.join(hiding)} as given; use "
                "unmatched='checked', or leave those out"
            )

    def _check_encodable(self) -> None:
        """What separates stands in the source's characters: given as bytes it is their UTF-8."""
        for name in ("delimiter", "record_delimiter", "quote", "escape", "comment"):
            value = getattr(self, name)
            if value is None:
                continue
            try:
                as_bytes(value, name).decode().encode(self.encoding)
            except UnicodeError:
                raise OptionError(
                    f"Csv: {name}: expected characters of {self.encoding} (bytes are read as UTF-8), found {value!r}"
                ) from None

    @property
    def header_positions(self) -> list[int]:
        """Which records behind the skipped lines name the columns."""
        if isinstance(self.header, bool):
            return [0] if self.header else []
        return [self.header] if isinstance(self.header, int) else list(self.header)

    @property
    def field_names(self) -> list[str]:
        """The columns that fields of a record have: all but that of what is rescued."""
        return [name for name in self.schema.names if name != self.rescue]

    @property
    def has_preamble(self) -> bool:
        """Whether anything but blank lines and comments stands in front of the first record."""
        return self.header is not False or bool(self.skip_lines or self.skip_records)

    @property
    def is_bounded(self) -> bool:
        """Whether a quote that is open for too long is given up before the input ends."""
        return bool(self.quote and self.newlines_in_quotes and (self.max_quoted_lines or self.max_quoted_bytes))

    @property
    def body(self) -> Csv:
        """The same without what stands in front of the first record, whose columns then stand where the schema says."""
        if not self.has_preamble:
            return self
        return replace(
            self,
            header=False,
            skip_lines=0,
            skip_records=0,
            table_end=None,
            repeated_headers=False,
            unique_names=False,
            trim_names=False,
            names_in_any_case=False,
            missing_columns="error",
        )

    @property
    def record_end(self) -> bytes:
        """The record delimiter as it stands in the input."""
        encoding = "utf-16-le" if self.encoding == "utf-16" else self.encoding
        text = as_bytes(self.record_delimiter, "record_delimiter")
        return text if encoding == "utf-8" else text.decode().encode(encoding)


def check_byte_order(format: object, owner: str) -> None:
    """Where buffers or values come apart from the input's start, no byte order mark can tell how to read them."""
    if isinstance(format, Csv) and format.encoding == "utf-16":
        raise OptionError(
            f"{owner}: encoding: utf-16 is known by the mark at the start of a whole input; "
            "set encoding='utf-16-le' or 'utf-16-be' (a mark is then skipped)"
        )


def check_streamable(format: object, owner: str) -> None:
    """What only whole inputs tell: which records are the last, and how many bytes of text an encoding's are."""
    if isinstance(format, Csv) and format.skip_footer:
        raise OptionError(
            f"{owner}: skip_footer is for whole inputs: which records are the last is not known before the end"
        )
    if isinstance(format, Csv) and format.table_end:
        raise OptionError(
            f"{owner}: table_end is for whole inputs: whether a buffer is the first table's depends on all before it"
        )
    if isinstance(format, Csv) and format.is_bounded and format.encoding != "utf-8":
        raise OptionError(
            f"{owner}: max_quoted_lines and max_quoted_bytes count UTF-8; for {format.encoding} bound records by "
            "max_record_bytes, or set newlines_in_quotes=False"
        )


def in_stream(format: Any, max_record_bytes: int) -> Any:
    """The format as a stream reads it: a bounded quote never waits for more than a record may have."""
    if not isinstance(format, Csv) or not format.is_bounded:
        return format
    return replace(format, max_quoted_bytes=min(format.max_quoted_bytes or max_record_bytes, max_record_bytes))


def _header(header: object) -> bool | int | tuple[int, ...]:
    """True for the first record, a position, or several in order."""
    if isinstance(header, bool):
        return header
    positions = [header] if isinstance(header, int) else header
    if not isinstance(positions, Iterable) or isinstance(positions, str | bytes):
        positions = [None]
    listed = list(positions)
    fine = all(isinstance(p, int) and not isinstance(p, bool) and 0 <= p < 2**16 for p in listed)
    if not listed or not fine or sorted(set(listed)) != listed:
        raise OptionError(
            f"Csv: header: expected a bool, the position of a record (the first is 0) or several in order, found {header!r}"
        )
    return tuple(listed) if len(listed) > 1 else listed[0] or True


def _known_encoding(encoding: object) -> str:
    if isinstance(encoding, str) and encoding in ENCODINGS:
        return encoding
    try:
        name = codecs.lookup(encoding).name if isinstance(encoding, str) else ""
    except LookupError:
        name = ""
    name = {"iso8859-1": "latin-1", "ascii": "utf-8"}.get(name, name)
    if name not in ENCODINGS:
        raise OptionError(f"Csv: encoding: expected one of {', '.join(ENCODINGS)}, found {encoding!r}")
    return name
