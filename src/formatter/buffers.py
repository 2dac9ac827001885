"""Where the bytes of Python and Arrow values lie. In: binary arrays or bytes-like objects. Out: addresses and sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core
from formatter.errors import OptionError, shown
from formatter.mistaken_arguments import kind_of

EXPECTED = "values: expected a binary or string array, or a list of bytes"
Numbers = np.ndarray[Any, np.dtype[np.uint64]]


def addresses_of(values: Any) -> tuple[Numbers, Numbers, np.ndarray[Any, np.dtype[np.uint8]], Any]:
    """(addresses, sizes, validity as bytes, what keeps the memory alive)"""
    if isinstance(values, pa.ChunkedArray):
        values = values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
        if isinstance(values, pa.ChunkedArray):
            values = pa.concat_arrays(values.chunks)
    if isinstance(values, pa.Array):
        return _in_arrow(values)
    if isinstance(values, str | bytes | bytearray | memoryview | pa.Buffer):
        raise OptionError(f"{EXPECTED}, found one value, {shown(values)}; write [value]")
    if hasattr(values, "columns"):
        raise OptionError(f"{EXPECTED}, found {kind_of(values)}; name one of its columns")
    if not isinstance(values, Iterable) or isinstance(values, Mapping):
        raise OptionError(f"{EXPECTED}, found {kind_of(values)}")
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind not in "OSUTV":
        raise OptionError(f"{EXPECTED}, found an array of {values.dtype}")  # whose numbers are bytes, too
    return _in_objects(list(values))


def _in_arrow(values: pa.Array) -> tuple[Numbers, Numbers, np.ndarray[Any, np.dtype[np.uint8]], Any]:
    kinds = pa.types
    wide = kinds.is_large_binary(values.type) or kinds.is_large_string(values.type)
    if not wide and not kinds.is_binary(values.type) and not kinds.is_string(values.type):
        if hasattr(kinds, "is_binary_view") and (
            kinds.is_binary_view(values.type) or kinds.is_string_view(values.type)
        ):
            values, wide = values.cast(pa.large_binary()), True
        else:
            raise OptionError(f"{EXPECTED}, found {values.type}")
    count = len(values)
    if count == 0:
        return np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.uint8), values
    _, offsets_buffer, data = values.buffers()
    every_offset = np.frombuffer(offsets_buffer, np.int64 if wide else np.int32)
    offsets = every_offset[values.offset : values.offset + count + 1].astype(np.uint64)
    base = np.uint64(data.address if data is not None else 0)
    valid = np.ones(count, np.uint8)
    if values.null_count:
        valid = values.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8)
    return offsets[:-1] + base, np.diff(offsets), valid, values


def _in_objects(values: list[Any]) -> tuple[Numbers, Numbers, np.ndarray[Any, np.dtype[np.uint8]], Any]:
    values = [value.encode() if isinstance(value, str) else value for value in values]
    count = len(values)
    addresses, sizes, valid = np.empty(count, np.uint64), np.empty(count, np.uint64), np.empty(count, np.uint8)
    return addresses, sizes, valid, _core.hold_buffers(values, addresses, sizes, valid)
