"""Binary columns by where their values begin and end.

In: Arrow arrays, positions. Out: offsets and bytes as numpy has them, and arrays made of such. Knows nothing of chunks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa


def one_array(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays([pa.array([], column.type), *column.chunks])


def offsets_of(values: pa.Array) -> Any:
    """Where each value begins in the array's buffer, and where the last one ends."""
    wide = pa.types.is_large_binary(values.type)
    every = np.frombuffer(values.buffers()[1], np.int64 if wide else np.int32)
    return every[values.offset :][: len(values) + 1].astype(np.int64)


def bytes_of(values: pa.Array) -> pa.Buffer:
    """Those of all values, one behind the other."""
    offsets, data = offsets_of(values), values.buffers()[2]
    return pa.py_buffer(b"") if data is None else data.slice(int(offsets[0]), int(offsets[-1] - offsets[0]))


def binaries(sizes: Any, data: Any) -> pa.Array:
    """Values of these sizes, which stand one behind the other in `data`."""
    offsets = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(data))]
    return pa.Array.from_buffers(pa.large_binary(), len(sizes), buffers)


def pieces(values: pa.Array, begins: Any, ends: Any) -> pa.Array:
    """Bytes [begin, end) of each value."""
    offsets, data = offsets_of(values), np.frombuffer(bytes_of(values), np.uint8)
    first = offsets[:-1] - offsets[0]
    cuts = zip((first + begins).tolist(), (first + ends).tolist(), strict=True)
    return binaries(ends - begins, np.concatenate([data[begin:end] for begin, end in cuts]))
