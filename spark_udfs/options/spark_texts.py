"""What texts mean where Spark's csv reader has read them: quotes do not keep a null from being one.

In: rows of text columns as formatter parses them, where only what is not quoted may be null. Out: the same rows, where what is
written as null is null also in quotes, and an empty text in quotes is what the option emptyValue says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from pyarrow import types


def is_text(type_: pa.DataType) -> bool:
    return bool(types.is_string(type_) or types.is_large_string(type_))


def text_places(schema: pa.Schema) -> list[int]:
    return [at for at, type_ in enumerate(schema.types) if is_text(type_)]


@dataclass(frozen=True)
class SparkTexts:
    null: str = ""
    empty: str = ""

    def meant(self, rows: pa.RecordBatch, places: Sequence[int]) -> pa.RecordBatch:
        """`places`: where columns of text stand (text_places)."""
        for at in places:
            column = rows.column(at)
            if (meant := self._column(column)) is not column:
                rows = rows.set_column(at, rows.schema.field(at), meant)
        return rows

    def _column(self, column: pa.Array) -> pa.Array:
        empty = None if self.empty == self.null else self.empty
        has_others = empty != "" and has_empty(column)
        if not (has_others or self.null):
            return column
        import pyarrow.compute as pc  # workers start faster without it, and few jobs need it

        if has_others:
            column = pc.if_else(pc.equal(column, ""), pa.scalar(empty, column.type), column)
        if self.null:
            column = pc.if_else(pc.equal(column, self.null), pa.scalar(None, column.type), column)
        return column


def has_empty(column: pa.Array) -> bool:
    """Whether a value is there and has no bytes."""
    _, offsets, _ = column.buffers()
    if not len(column):
        return False
    width = np.int64 if types.is_large_string(column.type) else np.int32
    bounds = np.frombuffer(offsets, width)[column.offset : column.offset + len(column) + 1]
    without_bytes = bounds[1:] == bounds[:-1]
    if column.null_count and without_bytes.any():
        without_bytes &= column.is_valid().to_numpy(zero_copy_only=False)
    return bool(without_bytes.any())
