"""Arrays out of numpy's numbers and Python's bytes, by their buffers: `pyarrow.array` imports pandas to ask whether it was given
one, which costs a worker process more than the parsing of a hundred megabytes.

In: whole numbers, bytes. Out: arrays. Refuses to know what they mean.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa


def row_numbers(values: npt.NDArray[np.int64], missing: npt.NDArray[np.bool_] | None = None) -> pa.Int64Array:
    valid = None if missing is None else _bits(~missing)
    return pa.Int64Array.from_buffers(
        pa.int64(), len(values), [valid, pa.py_buffer(np.ascontiguousarray(values, np.int64))]
    )


def binaries(values: Sequence[bytes | None], type_: pa.DataType) -> pa.Array:
    """`type_`: large_binary or large_string."""
    sizes = np.array([0, *(0 if value is None else len(value) for value in values)], np.int64)
    missing = np.array([value is None for value in values], bool)
    text = b"".join(value for value in values if value is not None)
    buffers = [_bits(~missing) if missing.any() else None, pa.py_buffer(np.cumsum(sizes)), pa.py_buffer(text)]
    return pa.Array.from_buffers(type_, len(values), buffers)


def _bits(valid: npt.NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(valid, bitorder="little"))
