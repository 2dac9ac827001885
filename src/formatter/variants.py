"""Spark's VARIANT in Arrow: a struct of two binaries, marked as Spark marks it. In: types, and arrays as the engine makes them,
where the two stand behind each other in one binary. Out: which types are variants, and arrays of them. Refuses to know JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.errors import OptionError, SchemaError

Columns = Sequence[str] | Mapping[str, str | None] | None  # names; as a mapping, what each is to be read as

MARK = {b"variant": b"true"}
STORED = pa.binary()  # four bytes that say how long the value is, the value, its metadata
_FIELDS = [pa.field("value", pa.binary(), False), pa.field("metadata", pa.binary(), False, metadata=MARK)]


def variant() -> pa.DataType:
    """The type of columns that hold any JSON value, as Spark's VARIANT: a marked struct of the binaries `value` and `metadata`.

    The bytes are those that Spark's parse_json makes. `fm.Json` reads such columns, at the top and inside nested ones.

    Returns:
        A `pyarrow.DataType`.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Json(pa.schema([("id", pa.int64()), ("v", fm.variant())]))
        >>> fm.read(b'{"id": 1, "v": [true, null]}\\n', format).column("v")[0].as_py()["value"]
        b'\\x03\\x02\\x00\\x01\\x02\\x04\\x00'
    """
    return pa.struct(_FIELDS)


def is_variant(kind: pa.DataType) -> bool:
    if not pa.types.is_struct(kind) or kind.num_fields != 2:
        return False
    fields = {field.name: field for field in kind}
    mark = fields["metadata"].metadata if "metadata" in fields else None
    return "value" in fields and mark is not None and mark.get(b"variant") == b"true"


def holds_variant(kind: pa.DataType) -> bool:
    """Whether a variant is in it, at any depth."""
    if not pa.types.is_nested(kind):
        return False
    return is_variant(kind) or any(holds_variant(kind.field(i).type) for i in range(kind.num_fields))


def as_variants(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """An array as the engine makes it, in the type that the schema says."""
    if is_variant(wanted):
        return _split(array, wanted)
    if not holds_variant(wanted):
        return array if array.type == wanted else array.cast(wanted)
    if pa.types.is_struct(wanted):
        members = [as_variants(array.field(i), field.type) for i, field in enumerate(wanted)]
        return pa.StructArray.from_arrays(members, fields=list(wanted), mask=array.is_null())
    buffers = array.buffers()[: 1 if pa.types.is_fixed_size_list(wanted) else 2]
    if pa.types.is_map(wanted):
        entries = pa.struct([wanted.key_field, wanted.item_field])
        pairs = [as_variants(array.keys, wanted.key_type), as_variants(array.items, wanted.item_type)]
        inner: pa.Array = pa.StructArray.from_arrays(pairs, fields=list(entries))
    else:
        inner = as_variants(array.values, wanted.value_type)
    return pa.Array.from_buffers(wanted, len(array), buffers, array.null_count, array.offset, children=[inner])


def _split(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    count = len(array)
    validity, offsets, framed = array.buffers()
    if framed is None or framed.size == 0 or offsets is None:
        empty = pa.py_buffer(bytes(4 * (count + 1)))
        children = [pa.Array.from_buffers(pa.binary(), count, [None, empty, pa.py_buffer(b"")])] * 2
    else:
        ends = [pa.allocate_buffer(4 * (count + 1)) for _ in range(2)]
        texts = memoryview(framed).cast("B")
        places = memoryview(offsets).cast("B").cast("i")[array.offset : array.offset + count + 1]
        value_bytes, metadata_bytes = _core.variant_sizes(places, texts, *(memoryview(one).cast("B") for one in ends))
        parts = [pa.allocate_buffer(value_bytes), pa.allocate_buffer(metadata_bytes)]
        _core.split_variants(places, texts, *(memoryview(one).cast("B") for one in parts))
        children = [
            pa.Array.from_buffers(pa.binary(), count, [None, end, part]) for end, part in zip(ends, parts, strict=True)
        ]
    if array.null_count and array.offset:
        validity = array.is_valid().buffers()[1]
    named = {"value": children[0], "metadata": children[1]}
    return pa.Array.from_buffers(
        wanted,
        count,
        [validity if array.null_count else None],
        array.null_count,
        children=[named[f.name] for f in wanted],
    )


def asked_as(format: Any, columns: Columns) -> tuple[Any, Sequence[str] | None]:
    """The format and the names of columns, where some are asked for as variants: {"id": None, "v": "variant"}."""
    if not isinstance(columns, Mapping):
        if columns is not None and not isinstance(columns, Iterable):
            raise OptionError(f"columns: expected a list of names, found {columns!r}")
        return format, columns
    inner = getattr(format, "inner", format)
    if getattr(inner, "kind", None) != "json":
        raise OptionError(
            f"columns: kinds of columns are for fm.Json, found {type(format).__name__}; give a list of names"
        )
    schema = inner.schema
    for name, kind in columns.items():
        place = schema.get_field_index(name)
        if kind == "variant":
            field = pa.field(name, variant())
            schema = schema.append(field) if place < 0 else schema.set(place, field)
        elif kind is not None:
            raise SchemaError(
                f"columns: {name!r}: expected 'variant', or None for what the schema says, found {kind!r}"
            )
    changed = replace(inner, schema=schema)
    return (changed if inner is format else replace(format, inner=changed)), list(columns)
