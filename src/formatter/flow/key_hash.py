"""The `key_hash` column: XXH64 over canonical bytes, the same on every machine and the same as Spark's `xxhash64`.

In: a record batch and the names of its key columns. Out: a uint64 array, one hash per row, never null.
Refuses to know: partitions, what the hash is for.

Canonical bytes, column after column, each hashed with the hash so far as seed (the first seed is 42); a null leaves the
hash as it is: bool, 8-, 16- and 32-bit integers and dates as 4 bytes; 64-bit integers and times as 8 (times in
microseconds, or as they are when in nanoseconds); floats as IEEE bits with one zero and one NaN; decimals of up to 18
digits as their 8-byte unscaled value, wider ones as the shortest big-endian two's complement; text and binary as is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from formatter import _core
from formatter.errors import SchemaError

KEY_HASH = "key_hash"
FIRST_SEED = 42  # Spark's, so that both engines agree on a key's partition
LONG_DECIMAL_DIGITS = 18  # what fits 8 bytes, and where Spark changes representation


def _is_bytes(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_binary_view(kind)
        or types.is_fixed_size_binary(kind)
    )


def _is_clock(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind))


def check_key_type(name: str, kind: pa.DataType) -> None:
    """Raise SchemaError unless values of this type have canonical bytes."""
    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    known = (
        types.is_boolean(kind)
        or types.is_integer(kind)
        or types.is_floating(kind)
        or types.is_date(kind)
        or types.is_decimal128(kind)
        or types.is_null(kind)
        or _is_bytes(kind)
        or _is_clock(kind)
    )
    if not known:
        raise SchemaError(f"key column '{name}': type {kind} has no canonical bytes; use a scalar column as key")


def _floats(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """Equal floats get equal bits: -0.0 becomes 0.0 and every NaN the same one."""
    width = pa.float64() if pa.types.is_float64(kind) else pa.float32()
    values = array.cast(width)
    one_zero = pc.if_else(pc.equal(values, pa.scalar(0.0, width)), pa.scalar(0.0, width), values)
    one_nan = pc.if_else(pc.is_nan(one_zero), pa.scalar(float("nan"), width), one_zero)
    return one_nan.view(pa.int64() if pa.types.is_float64(kind) else pa.int32())


def _decimals(array: pa.Array, kind: pa.DataType) -> pa.Array:
    words = array.buffers()[1]
    if kind.precision <= LONG_DECIMAL_DIGITS:
        pairs = np.frombuffer(words, dtype="<i8")[2 * array.offset : 2 * (array.offset + len(array))]
        return pa.array(
            np.ascontiguousarray(pairs[::2]), mask=np.asarray(array.is_null().to_numpy(zero_copy_only=False))
        )
    raw = words.to_pybytes()
    shortest = []
    for row in range(array.offset, array.offset + len(array)):
        unscaled = int.from_bytes(raw[16 * row : 16 * row + 16], "little", signed=True)
        magnitude = unscaled if unscaled >= 0 else ~unscaled
        shortest.append(unscaled.to_bytes(magnitude.bit_length() // 8 + 1, "big", signed=True))
    return pa.array(shortest, type=pa.large_binary(), mask=array.is_null().to_numpy(zero_copy_only=False))


def canonical(array: pa.Array) -> pa.Array:
    """The same values as int32, int64 or large_binary, whatever they came as."""
    types = pa.types
    if types.is_dictionary(array.type):
        array = array.dictionary_decode()
    kind = array.type
    if _is_bytes(kind):
        return array.cast(pa.binary()).cast(pa.large_binary()) if "view" in str(kind) else array.cast(pa.large_binary())
    if types.is_floating(kind):
        return _floats(array, kind)
    if types.is_decimal(kind):
        return _decimals(array, kind)
    if types.is_date(kind):
        return array.cast(pa.date32()).view(pa.int32())
    if types.is_timestamp(kind):
        return array.view(pa.int64()) if kind.unit == "ns" else array.cast(pa.timestamp("us", kind.tz)).view(pa.int64())
    if types.is_duration(kind):
        return array.view(pa.int64()) if kind.unit == "ns" else array.cast(pa.duration("us")).view(pa.int64())
    if types.is_time(kind):
        return array.view(pa.int64()) if kind.unit == "ns" else array.cast(pa.time64("us")).view(pa.int64())
    if types.is_uint64(kind):
        return array.view(pa.int64())
    return array.cast(pa.int64() if kind in (pa.int64(), pa.uint32()) else pa.int32())


def key_hashes(batch: pa.RecordBatch, columns: Sequence[str]) -> pa.Array:
    """One uint64 per row over the named columns, in the order named."""
    if batch.num_rows == 0:
        return pa.array([], type=pa.uint64())
    hashes = np.full(batch.num_rows, FIRST_SEED, dtype=np.uint64)
    for name in columns:
        source = batch.column(name)
        if pa.types.is_null(source.type):
            continue
        array = canonical(source)
        buffers = array.buffers()
        valid = buffers[0].address if buffers[0] is not None else 0
        if pa.types.is_large_binary(array.type):
            data = buffers[2].address if buffers[2] is not None else 0
            _core.hash_bytes(hashes, data, buffers[1].address, valid, array.offset)
        else:
            _core.hash_fixed(hashes, buffers[1].address, array.type.bit_width // 8, valid, array.offset)
    return pa.array(hashes, type=pa.uint64())
