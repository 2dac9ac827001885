"""A function of ours in the shape that operators like to read: called by what direct_rows.java writes, while a worker unpickles it.

In: a function, and a request. Out: one of batches. `kept`: it was one of payloads alone, and columns go along with it;
`apart`: of structs, by position, the fields that leave in their place. Refuses to know what the function does.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from spark_udfs.pushdown.narrowing import sent_with_type
from spark_udfs.records.record_task import RecordsBeside

Batches = Iterable[pa.RecordBatch]


def reshaped(loaded: Any, request: bytes) -> tuple[Callable[[Batches], Iterator[pa.RecordBatch]], Any]:
    """The function, and the type it was sent with: what its rows are is what was planned."""
    function: Any
    function, type_ = sent_with_type(loaded)
    asked = json.loads(request)
    if "kept" in asked:
        return RecordsBeside(function.records, asked["kept"]), type_
    return Apart(function, {int(at): ordinals for at, ordinals in asked["apart"].items()}), type_


class Apart:
    """What another function yields, fields of its structs as columns."""

    def __init__(
        self, function: Callable[[Batches], Iterable[pa.RecordBatch]], apart: Mapping[int, Sequence[int]]
    ) -> None:
        self.function = function
        self.apart = dict(apart)

    def __call__(self, batches: Batches) -> Iterator[pa.RecordBatch]:
        for batch in self.function(batches):
            arrays: list[pa.Array] = []
            fields: list[pa.Field] = []
            for at, column in enumerate(batch.columns):
                field = batch.schema.field(at)
                if at not in self.apart:
                    arrays.append(column)
                    fields.append(field)
                    continue
                inner = column.flatten()  # null where the struct is
                for ordinal in self.apart[at]:
                    one = column.type.field(ordinal)
                    arrays.append(inner[ordinal])
                    fields.append(pa.field(f"{field.name}.{one.name}", one.type, metadata=one.metadata))
            yield pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))
