"""Which rows of a batch a filter keeps, by the evaluator that parsing uses, and rows of a batch by their positions.

In: record batches of any type, whoever made them. Out: the rows that pass. Refuses to know: parsing, and what a clause
means (filters.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core, types
from formatter.filters import Filters, check_columns, columns_of, described, normalized
from formatter.plain_arrays import row_numbers


class BatchFilter:
    """A filter on batches of one schema; its clauses are checked when it is made."""

    def __init__(self, filters: Filters, schema: pa.Schema) -> None:
        self.clauses = normalized(filters)
        self._names = columns_of(self.clauses)
        check_columns(self._names, schema, "filters")
        self._types = [schema.field(name).type for name in self._names]
        codes = [_code(kind) for kind in self._types]
        columns = [{"name": name, "type": code} for name, code in zip(self._names, codes, strict=True)]
        self._predicate = _core.RowPredicate(described(self.clauses, columns, schema), codes)

    def kept(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows that pass."""
        if not self.clauses:
            return batch
        count, passes = self.passing(batch)
        return batch if count == batch.num_rows else chosen_rows(batch, passes)

    def passing(self, batch: pa.RecordBatch) -> tuple[int, pa.Array]:
        """(how many rows pass, which)"""
        columns = [batch.column(name) for name in self._names]
        if [column.type for column in columns] != self._types:
            return BatchFilter(self.clauses, batch.schema).passing(batch)
        readable = pa.RecordBatch.from_arrays(list(map(_readable, columns)), names=self._names)
        _, capsule = readable.__arrow_c_array__()
        count, bits = self._predicate.passing(capsule)
        return count, mask_of(bits, batch.num_rows)

    def keeps_nulls(self) -> bool:
        """Whether a row of nulls passes."""
        nulls = [pa.nulls(1, kind) for kind in self._types]
        return not self.clauses or self.passing(pa.RecordBatch.from_arrays(nulls, names=self._names))[0] == 1


def mask_of(bits: bytes, count: int) -> pa.Array:
    return pa.Array.from_buffers(pa.bool_(), count, [None, pa.py_buffer(bits)])


# --------------------------------------------------------------------------- columns as the engine's predicates read them

_BOOLEAN, _LARGE_BINARY = types.CODES[pa.bool_()], types.CODES[pa.large_binary()]
_WHOLE = {32: types.CODES[pa.int32()], 64: types.CODES[pa.int64()]}


def _code(kind: pa.DataType) -> int:
    """Of the type in which the values of _readable() are stored."""
    t = pa.types
    if t.is_dictionary(kind) or t.is_run_end_encoded(kind):
        return _code(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        return _code(kind.storage_type)
    if t.is_decimal(kind) and kind.bit_width != 128:
        return _WHOLE.get(kind.bit_width, _LARGE_BINARY)
    if t.is_date64(kind) or t.is_time(kind) or t.is_duration(kind):
        return _WHOLE[kind.bit_width]
    if _is_laid_out_otherwise(kind):
        return _LARGE_BINARY
    code = types.type_code(kind)
    return _BOOLEAN if code is None else code


def _is_laid_out_otherwise(kind: pa.DataType) -> bool:
    return kind in types.VIEWS or pa.types.is_fixed_size_binary(kind)


def _readable(array: pa.Array) -> pa.Array:
    """An array of the same values in a plain layout; of values that cannot be compared, which of them are null."""
    import pyarrow.compute as pc  # it takes a fifth of the import of this package, and few filters need it

    kind, t = array.type, pa.types
    if t.is_dictionary(kind):
        return _readable(array.dictionary).take(array.indices)
    if t.is_run_end_encoded(kind):
        return _readable(pc.run_end_decode(array))
    if isinstance(kind, pa.BaseExtensionType):
        return _readable(array.storage)
    if t.is_decimal(kind) and kind.bit_width > 128:
        return _sortable(array)
    if _is_laid_out_otherwise(kind):
        return array.cast(pa.large_binary())
    if _code(kind) == _BOOLEAN and not t.is_boolean(kind):
        return pc.if_else(pc.is_valid(array), pa.scalar(True), pa.scalar(None, pa.bool_()))
    return array


def _sortable(array: pa.Array) -> pa.Array:
    """As filters.sortable_bytes() has them: the highest byte first, and negative ones below the others."""
    validity, values = array.buffers()
    end = array.offset + len(array)
    turned = np.frombuffer(values, np.uint8, 32 * end).reshape(-1, 32)[:, ::-1].copy()
    turned[:, 0] ^= 0x80
    fixed = pa.Array.from_buffers(pa.binary(32), len(array), [validity, pa.py_buffer(turned)], offset=array.offset)
    return fixed.cast(pa.large_binary())


# ------------------------------------------------------------------------------------------------ rows by their positions


def chosen_rows(batch: pa.RecordBatch, mask: pa.Array) -> pa.RecordBatch:
    """The rows whose bit is set, of every type a batch can have."""
    try:
        return batch.filter(mask)
    except pa.ArrowNotImplementedError:  # there are types of which pyarrow does not choose
        return taken_rows(batch, row_numbers(np.flatnonzero(mask.to_numpy(zero_copy_only=False))))


def taken_rows(batch: pa.RecordBatch, positions: pa.Array) -> pa.RecordBatch:
    """The rows at these positions, a row of nulls where one is null."""
    schema = batch.schema
    if positions.null_count:
        schema = pa.schema([field.with_nullable(True) for field in schema], metadata=schema.metadata)
    return pa.RecordBatch.from_arrays([_taken(column, positions) for column in batch.columns], schema=schema)


def _taken(array: pa.Array, positions: pa.Array) -> pa.Array:
    if array.type in types.VIEWS:
        # A view is sixteen bytes whatever it refers to, and that stays where it is.
        validity, views, *texts = array.buffers()
        fixed = pa.Array.from_buffers(pa.binary(16), len(array), [validity, views], array.null_count, array.offset)
        taken = fixed.take(positions)
        buffers = [*taken.buffers(), *texts]
        return pa.Array.from_buffers(array.type, len(taken), buffers, taken.null_count, taken.offset)
    try:
        return array.take(positions)
    except pa.ArrowNotImplementedError:
        return _pieced(array, positions)


def _pieced(array: pa.Array, positions: pa.Array) -> pa.Array:
    """By neighbours at a time: every type can be sliced."""
    rows = positions.fill_null(-1).to_numpy()
    if not len(rows):
        return array.slice(0, 0)
    steps = np.where(rows[:-1] < 0, rows[1:] < 0, np.diff(rows) == 1)
    runs = np.split(rows, np.flatnonzero(~steps) + 1)
    pieces: list[Any] = [
        array.slice(int(run[0]), len(run)) if run[0] >= 0 else pa.nulls(len(run), array.type) for run in runs
    ]
    return pa.concat_arrays(pieces)
