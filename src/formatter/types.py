"""Arrow types as the engine knows them. In: a pyarrow field. Out: a column description, or a SchemaError with a remedy.

Some types are decoded as a close relative, the storage type, and turned into the wanted one per batch.
"""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.errors import SchemaError
from formatter.parsers.registry import METADATA_KEY, parser_named
from formatter.variants import STORED, as_variants, holds_variant, is_variant

# The engine's table (engine/types/column_types.hpp): a code is a place in it. Those with parameters are told by their kind.
_NAMES, OPERANDS = zip(*_core.column_types(), strict=True)
DECIMAL128 = _NAMES.index("decimal128")
TIMESTAMP = _NAMES.index("timestamp")
CODES = {getattr(pa, name)(): code for code, name in enumerate(_NAMES) if code not in (DECIMAL128, TIMESTAMP)}
_UNITS = ("s", "ms", "us", "ns")
# The order is that of EpochUnit in engine/columns/columns.hpp.
EPOCHS = {b"d": 1, b"s": 2, b"ms": 3, b"us": 4, b"ns": 5}
# The order is that of BinaryEncoding in engine/columns/columns.hpp.
_ENCODINGS = {b"base64": 1, b"hex": 2}
VARIANT_ENCODING = 3
TEXTS = {code for code, operands in enumerate(OPERANDS) if operands == "texts"}


def storage_type(wanted: pa.DataType) -> pa.DataType:
    """The type that is decoded; equal to `wanted` for most."""
    if wanted in CODES:
        return wanted
    if is_variant(wanted):
        return STORED
    t = pa.types
    if t.is_dictionary(wanted):
        return storage_type(wanted.value_type)
    if t.is_string_view(wanted) if hasattr(t, "is_string_view") else False:
        return pa.string()
    if t.is_binary_view(wanted) if hasattr(t, "is_binary_view") else False:
        return pa.binary()
    if t.is_date64(wanted):
        return pa.date32()
    if t.is_duration(wanted):
        return pa.int64()
    if t.is_time(wanted):
        return pa.timestamp(wanted.unit)  # on the first day
    if t.is_fixed_size_binary(wanted):
        return pa.binary()
    if t.is_decimal(wanted) and not t.is_decimal128(wanted) and wanted.precision <= 38:
        return pa.decimal128(wanted.precision, wanted.scale)
    return wanted


# The order is that of TextLayout in engine/columns/columns.hpp.
OFFSETS, VIEW, DICTIONARY = range(3)
VIEWS = {getattr(pa, name)() for name in ("string_view", "binary_view") if hasattr(pa, name)}


def text_layout(field: pa.Field) -> int:
    """How the engine makes the text of a CSV column: views and dictionaries are built there, encoded ones are not."""
    kind = field.type
    if kind in CODES or (kind not in VIEWS and not pa.types.is_dictionary(kind)):
        return OFFSETS
    metadata = field.metadata or {}
    if b"encoding" in metadata or b"raw" in metadata or b"text" in metadata:
        return OFFSETS
    if kind in VIEWS:
        return VIEW
    return DICTIONARY if type_code(kind.value_type) in TEXTS else OFFSETS


def laid_out(field: pa.Field) -> pa.DataType:
    """The type the engine's batches have: the storage type, in the layout of the wanted one."""
    if field.type in CODES:
        return field.type
    layout = text_layout(field)
    if layout == DICTIONARY:
        return pa.dictionary(pa.int32(), field.type.value_type, field.type.ordered)
    return field.type if layout == VIEW else storage_type(field.type)


def type_code(storage: pa.DataType) -> int | None:
    if pa.types.is_timestamp(storage):
        return TIMESTAMP
    if pa.types.is_decimal128(storage):
        return DECIMAL128
    return CODES.get(storage)


# By type and nullability: wide schemas repeat a few, and a plan should not take as long as reading a megabyte.
_described: dict[tuple[pa.DataType, bool], dict[str, Any]] = {}
DESCRIBED_MOST = 256


def column_description(field: pa.Field, *, owner: str, place: int = 0) -> dict[str, Any]:
    """What plans.pxi makes a ColumnSpec of. `place`: of the field in a record, where fields are counted."""
    if field.metadata is not None or is_variant(field.type):  # whose mark types do not compare
        description = _described_anew(field, owner)
    else:
        key = field.type, field.nullable
        known = _described.get(key)
        if known is None:
            known = _described_anew(field, owner)
            if len(_described) >= DESCRIBED_MOST:
                _described.clear()
            _described[key] = known
        description = known.copy()
    description["name"] = field.name
    description["field"] = place
    return description


def _described_anew(field: pa.Field, owner: str) -> dict[str, Any]:
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    storage = storage_type(kind)
    code = type_code(storage)
    if code is None:
        raise SchemaError(
            f"{owner}: column {field.name!r}: {field.type} cannot be parsed from a field; "
            "use string and cast, or leave the column out of columns="
        )
    metadata = field.metadata or {}
    encoding = metadata.get(b"encoding")
    if encoding is not None and (
        encoding not in _ENCODINGS or (not pa.types.is_binary(storage) and not pa.types.is_large_binary(storage))
    ):
        raise SchemaError(
            f"{owner}: column {field.name!r}: encoding: expected base64 or hex on a binary column, "
            f"found {encoding.decode('utf-8', 'replace')!r} on {field.type}"
        )
    variant = is_variant(kind)
    if variant and (owner != "Json" or encoding is not None):
        raise SchemaError(
            f"{owner}: column {field.name!r}: a variant is made of a value of fm.Json, and of no encoding"
        )
    raw = metadata.get(b"raw") == b"1" or variant
    if raw and (code not in TEXTS or pa.types.is_fixed_size_binary(kind)):
        raise SchemaError(
            f"{owner}: column {field.name!r}: raw=1 keeps bytes, expected a binary column, found {field.type}"
        )
    parser = parser_named(metadata[METADATA_KEY].decode()) if METADATA_KEY in metadata else None
    return {
        "check": parser.failed if parser else None,
        "number": _number(metadata),
        "any_value": _takes_any_value(field, kind, code, owner) or (parser is not None and owner == "Json"),
        "time_of_day": pa.types.is_time(kind),
        "plain": _is_plain(field, owner),
        "zoned": pa.types.is_timestamp(kind) and kind.tz is not None,
        "epoch": epoch_unit(field, owner),
        "byte_width": kind.byte_width if pa.types.is_fixed_size_binary(kind) else -1,
        "type": code,
        "unit": _UNITS.index(storage.unit) if code == TIMESTAMP else 0,
        "precision": storage.precision if code == DECIMAL128 else 0,
        "scale": storage.scale if code == DECIMAL128 else 0,
        "encoding": VARIANT_ENCODING if variant else _ENCODINGS[encoding] if encoding else 0,
        "nullable": field.nullable,
        "raw": raw,
        "type_name": "variant" if variant else str(as_numbers(field).type),
    }


# Of a column of binaries whose values are numbers of another type and stay text: `number_metadata` says which.
NUMBER_KEY = b"formatter.number"


def number_metadata(kind: pa.DataType, decimal: str) -> dict[bytes, bytes] | None:
    """None where the type is none of numbers."""
    storage = storage_type(kind)
    numeric = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    code = type_code(storage) if numeric else None
    if code is None:
        return None
    precision, scale = (storage.precision, storage.scale) if code == DECIMAL128 else (0, 0)
    return {NUMBER_KEY: f"{code} {precision} {scale} {ord(decimal)} {kind}".encode()}


def as_numbers(field: pa.Field) -> pa.Field:
    """A column of numbers that stay text, as one of numbers; any other as it is."""
    if NUMBER_KEY not in (field.metadata or {}):
        return field
    name, *parameters = re.split(r"[(),]+ *", field.metadata[NUMBER_KEY].decode().split(" ", 4)[4].rstrip(")"))
    return field.with_type(getattr(pa, name)(*map(int, parameters)) if parameters else pa.type_for_alias(name))


def _number(metadata: dict[bytes, bytes]) -> tuple[int, ...] | None:
    return tuple(map(int, metadata[NUMBER_KEY].split()[:4])) if NUMBER_KEY in metadata else None


def _takes_any_value(field: pa.Field, kind: pa.DataType, code: int, owner: str) -> bool:
    wanted = (field.metadata or {}).get(b"text")
    if wanted is None:
        return False
    if wanted != b"any" or owner != "Json" or code not in TEXTS or pa.types.is_fixed_size_binary(kind):
        raise SchemaError(
            f"{owner}: column {field.name!r}: text: expected 'any' on a text column of JSON, found "
            f"{wanted.decode('utf-8', 'replace')!r} on {field.type}"
        )
    return True


def _is_plain(field: pa.Field, owner: str) -> bool:
    """Whether values are written in one way only."""
    wanted = (field.metadata or {}).get(b"spelling")
    if wanted not in (None, b"plain"):
        found = wanted.decode("utf-8", "replace")
        raise SchemaError(f"{owner}: column {field.name!r}: spelling: expected 'plain', found {found!r}")
    return wanted is not None


def epoch_unit(field: pa.Field, owner: str) -> int:
    """Of the numbers in a time column: 0 if its metadata names none."""
    unit = (field.metadata or {}).get(b"unit")
    if unit is None:
        return 0
    kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
    is_date = pa.types.is_date(kind)
    if unit not in EPOCHS or not (is_date or pa.types.is_timestamp(kind)) or (unit == b"d" and not is_date):
        raise SchemaError(
            f"{owner}: column {field.name!r}: unit: expected s, ms, us or ns on a timestamp or date (d on a date "
            f"too), found {unit.decode('utf-8', 'replace')!r} on {field.type}"
        )
    return EPOCHS[unit]


def raw_text(schema: pa.Schema) -> str:
    """Which columns are kept as they are written, as plans and streams show them, behind a space."""
    kept = [field.name for field in schema if (field.metadata or {}).get(b"raw") == b"1"]
    return f" raw=[{', '.join(kept)}]" if kept else ""


def to_wanted(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """A decoded array as the type the schema asks for."""
    if holds_variant(wanted):
        return as_variants(array, wanted)
    if array.type == wanted:
        return array
    if pa.types.is_dictionary(wanted):
        if not pa.types.is_dictionary(array.type):
            array = to_wanted(array, wanted.value_type).dictionary_encode()
        if array.type == wanted:
            return array
        try:
            codes = array.indices.cast(wanted.index_type)
        except pa.ArrowInvalid as error:
            raise SchemaError(
                f"{len(array.dictionary)} distinct values in a batch: too many for {wanted}; take a wider index type"
            ) from error
        return pa.DictionaryArray.from_arrays(codes, array.dictionary, ordered=wanted.ordered)
    if pa.types.is_duration(wanted):
        return array.view(wanted)
    return array.cast(wanted)
