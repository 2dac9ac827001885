"""A task that yields many columns becomes one that yields a few: what a pushed projection and predicates mean here.

In: one of our tasks, and positions of its output columns with predicates as pushdown_rule.java offers them. Out: a task
that yields exactly those columns, and no rows that the predicates it takes (predicates.py) drop. A mode in which every error
counts parses everything still. What that is for each kind of task, its own file says, which alone is imported: a worker's first
task waits for imports.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa

from spark_udfs.pushdown.predicates import Nested, Tree

# The file that has `narrowed_task` for a class of tasks.
NARROWED_BY = {
    "ReadTask": "narrowed_reads",
    "ParseTask": "narrowed_chunks",
    "GlobalParse": "narrowed_chunks",
    "RecordTask": "narrowed_records",
}


def narrowed(loaded: Any, request: bytes) -> tuple[Callable[..., Any], Any]:
    """Called by the command that the rule writes, while a Python worker unpickles it: the function to run instead. `loaded`: what
    the command was before."""
    task, return_type = sent_with_type(loaded)
    asked = json.loads(request)
    nested = {int(at): fields for at, fields in asked["nested"].items()}
    rows = narrowed_task(task, asked["columns"], nested, asked["filters"])
    if asked["partials"] is None:
        return rows, return_type
    from spark_udfs.pushdown.partial_results import PartialResults

    return PartialResults(rows, asked["columns"], asked["filters"], asked["partials"], asked["groups"]), return_type


def sent_with_type(loaded: Any) -> tuple[Callable[..., Any], Any]:
    """A function, and the type of what it yields; a long one is a broadcast of both, pickled."""
    if isinstance(loaded, tuple):
        return loaded
    from pyspark.serializers import CPickleSerializer

    unpickle: Callable[[bytes], tuple[Callable[..., Any], Any]] = CPickleSerializer().loads
    return unpickle(loaded.value)


def narrowed_task(task: Any, columns: Sequence[int], nested: Nested, filters: Sequence[Tree]) -> Emitting:
    known = [NARROWED_BY[class_.__name__] for class_ in type(task).__mro__ if class_.__name__ in NARROWED_BY]
    if not known:
        raise TypeError(
            f"spark: a task of type {type(task).__name__} cannot be narrowed; set su.disable_pushdown(spark)"
        )
    of_kind = importlib.import_module(f"spark_udfs.pushdown.{known[0]}")
    narrow, emitted, left = of_kind.narrowed_task(task, columns, nested, filters)
    return Emitting(narrow, emitted, {place: left[at] for place, at in enumerate(columns) if at in left})


class Emitting:
    """What another task yields, less some columns and some fields of its structs."""

    def __init__(self, task: Any, emitted: Sequence[int], struct_fields: Nested) -> None:
        self.task = task
        self.emitted = tuple(emitted)
        self.struct_fields = struct_fields

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in self.task(batches):
            if not self.emitted:  # only how many rows there are, in the column that the rule has put there
                yield pa.RecordBatch.from_arrays([pa.nulls(batch.num_rows, pa.bool_())], names=["rows"])
            elif self.struct_fields or self.emitted != tuple(range(batch.num_columns)):
                yield self._batch(batch)
            else:
                yield batch

    def _batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays, fields = [], []
        for place, at in enumerate(self.emitted):
            column, field = batch.column(at), batch.schema.field(at)
            if place in self.struct_fields:
                column = fields_of(column, self.struct_fields[place])
            arrays.append(column)
            fields.append(field.with_type(column.type))
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields))


def fields_of(column: pa.StructArray, chosen: Sequence[int]) -> pa.StructArray:
    """The same structs with fewer fields."""
    fields = [column.type.field(i) for i in chosen]
    mask = column.is_null() if column.null_count else None
    # field() follows the offset of a slice, but not the structs that are null: a mask says those again
    return pa.StructArray.from_arrays([column.field(i) for i in chosen], fields=fields, mask=mask)
