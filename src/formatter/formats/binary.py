"""Native and Framed: binary rows, and records behind their length. Frozen options, checked when made. No I/O, no parsing."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

import pyarrow as pa

from formatter.errors import OptionError, SchemaError
from formatter.formats.checks import check_choices, check_schema
from formatter.formats.frozen import FrozenOptions
from formatter.formats.json import Json
from formatter.mistaken_arguments import kind_of, named_options

ENDIANS = ("little", "big")
VARINT = 255
# Bytes of the length, and whether the highest comes first.
LENGTHS = {
    "u8": (1, False), "u16le": (2, False), "u16be": (2, True), "u32le": (4, False), "u32be": (4, True),
    "u64le": (8, False), "u64be": (8, True), "varint": (VARINT, False),
}  # fmt: skip
UNFRAMED = (0, False)
MAX_ROW_BYTES = 1 << 30


def native_width(kind: pa.DataType) -> int | None:
    """Bytes of a value in a row; None: not of one width."""
    if pa.types.is_boolean(kind):
        return 1
    if pa.types.is_interval(kind):
        return None
    if pa.types.is_decimal(kind):
        return int(kind.byte_width) if kind.byte_width <= 16 else None
    if pa.types.is_primitive(kind) or pa.types.is_fixed_size_binary(kind):
        return int(kind.byte_width)
    return None


def takes_rest(kind: pa.DataType) -> bool:
    texts = (pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.string_view(), pa.binary_view())
    return kind in texts


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Native(FrozenOptions):
    """Rows of fixed width, packed: each column's bytes one behind the other, in the schema's order, nothing between.

    Inside fm.Framed the last column may be text or binary: it takes what is left of the frame.

    Args:
        schema: The columns, in order: numbers, booleans (a byte), times, decimals, fixed_size_binary.
        endian: Which byte of a number comes first: that of the "little" or the "big" end.

    Raises:
        OptionError: `endian` is neither.
        SchemaError: A column without a fixed width.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Native(pa.schema([("id", pa.int16()), ("flag", pa.bool_())]))
        >>> fm.read(b"\\x01\\x00\\x01\\x02\\x00\\x00", format).to_pylist()
        [{'id': 1, 'flag': True}, {'id': 2, 'flag': False}]
    """

    schema: pa.Schema
    _: KW_ONLY
    endian: Literal["little", "big"] = "little"

    kind = "native"

    def __post_init__(self) -> None:
        check_schema(self.schema, "Native")
        check_choices(self, endian=ENDIANS)
        for i, field in enumerate(self.schema):
            if native_width(field.type) is None and not (takes_rest(field.type) and i == len(self.schema) - 1):
                remedy = (
                    "only a last column may have any length" if takes_rest(field.type) else "use a type of fixed width"
                )
                raise SchemaError(f"Native: column {field.name!r}: {field.type} has no fixed width; {remedy}")
            for name in field.metadata or {}:
                if name in (b"encoding", b"raw", b"unit"):
                    raise SchemaError(
                        f"Native: column {field.name!r}: {name.decode()}: binary rows are read as they are"
                    )
        if not self.has_rest and not 1 <= self.row_width <= MAX_ROW_BYTES:
            raise SchemaError(f"Native: schema: expected rows of 1 to {MAX_ROW_BYTES} bytes, found {self.row_width}")

    @property
    def row_width(self) -> int:
        """Bytes of the columns of fixed width."""
        return sum(native_width(field.type) or 0 for field in self.schema)

    @property
    def has_rest(self) -> bool:
        """Whether the last column takes what is left of a frame."""
        return native_width(self.schema.field(len(self.schema) - 1).type) is None


@named_options
@dataclass(frozen=True, slots=True, repr=False)
class Framed(FrozenOptions):
    """Records of `inner`, each behind a number that tells how many bytes it has.

    Args:
        inner: What a record is: `fm.Native` or `fm.Json`.
        length: How the number is written: "u8", "u16le", "u16be", "u32le", "u32be", "u64le", "u64be" or "varint".

    Raises:
        OptionError: An option is out of its range.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Framed(fm.Native(pa.schema([("id", pa.int8()), ("name", pa.string())])), length="u8")
        >>> fm.read(b"\\x03\\x01ab\\x01\\x02", format).to_pylist()
        [{'id': 1, 'name': 'ab'}, {'id': 2, 'name': ''}]
    """

    inner: Native | Json
    length: str = "u32le"

    kind = "framed"

    def __post_init__(self) -> None:
        inner = self.inner
        if not isinstance(inner, Native | Json):
            raise OptionError(f"Framed: inner: expected fm.Native(...) or fm.Json(...), found {kind_of(inner)}")
        if isinstance(inner, Json) and inner.records != "lines":
            raise OptionError(
                f"Framed: inner: a frame holds one record, records={inner.records!r} says otherwise; leave it out"
            )
        if isinstance(inner, Json) and inner.unmatched == "counted":
            raise OptionError("Framed: inner: only lines can be counted by their bytes alone; leave out unmatched")
        check_choices(self, length=tuple(LENGTHS))

    @property
    def schema(self) -> pa.Schema:
        """Of the records."""
        return self.inner.schema


def length_of(format: object) -> tuple[int, bool]:
    """How long the number in front of a record is, as LENGTHS has it."""
    return LENGTHS[format.length] if isinstance(format, Framed) else UNFRAMED
