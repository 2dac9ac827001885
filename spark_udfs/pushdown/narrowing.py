"""A task that yields many columns becomes one that yields a few: what a pushed projection and predicates mean here.

In: one of our tasks, and positions of its output columns with predicates as pushdown_rule.java offers them. Out: a task
that yields exactly those columns, and no rows that the predicates it takes (predicates.py) drop. A mode in which every error
counts parses everything still.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyarrow import types

from formatter.filters import normalized
from formatter.plans import rescue_of
from spark_udfs.chunks.parse_task import ParseTask
from spark_udfs.files.partitions import FolderFilter
from spark_udfs.files.read_task import FilePart, ReadTask
from spark_udfs.pushdown.partial_results import PartialResults
from spark_udfs.pushdown.predicates import Clauses, Tree, both, taken
from spark_udfs.records.record_task import RecordTask
from spark_udfs.stitch.stitch_global import GlobalParse

Nested = dict[int, Sequence[int]]  # of struct columns, by position: the fields that are read of them
OTHER_TYPES_BITS = 1_000  # what decoding a value without a width is taken for


def narrowed(command: bytes, request: bytes) -> tuple[Callable[..., Any], Any]:
    """Called by the command that the rule writes, while a Python worker unpickles it: the function to run instead."""
    from pyspark.serializers import CPickleSerializer

    unpickle: Callable[[bytes], Any] = CPickleSerializer().loads
    loaded = unpickle(command)
    task, return_type = loaded if isinstance(loaded, tuple) else unpickle(loaded.value)  # a long one is a broadcast
    asked = json.loads(request)
    nested = {int(at): fields for at, fields in asked["nested"].items()}
    rows = narrowed_task(task, asked["columns"], nested, asked["filters"])
    if asked["partials"] is None:
        return rows, return_type
    return PartialResults(rows, asked["columns"], asked["filters"], asked["partials"], asked["groups"]), return_type


def narrowed_task(task: Any, columns: Sequence[int], nested: Nested, filters: Sequence[Tree]) -> Emitting:
    narrow: RecordTask | ParseTask | GlobalParse | ReadTask
    emitted: Sequence[int]
    if isinstance(task, RecordTask):
        narrow, emitted = _narrowed_records(task, columns, nested, filters), range(len(columns))
        nested = {at: chosen for at, chosen in nested.items() if task.outputs[at].kind != "struct"}
    elif isinstance(task, ParseTask):
        narrow, emitted = _narrowed_chunks(task, columns, filters)
    elif isinstance(task, GlobalParse):
        parse, emitted = _narrowed_chunks(task.task, columns, filters)
        narrow = task.narrowed(parse)
    elif isinstance(task, ReadTask):
        narrow, emitted = _narrowed_read(task, columns, filters)
    else:
        raise TypeError(
            f"spark: a task of type {type(task).__name__} cannot be narrowed; set su.disable_pushdown(spark)"
        )
    return Emitting(narrow, emitted, {place: nested[at] for place, at in enumerate(columns) if at in nested})


def _narrowed_records(task: RecordTask, columns: Sequence[int], nested: Nested, filters: Sequence[Tree]) -> RecordTask:
    schema = task.format.schema
    rescue = rescue_of(task.format)
    fields = {
        at: schema.field(output.name)
        for at, output in enumerate(task.outputs)
        if output.kind == "parsed" and output.name != rescue
    }
    structs = {at: chosen for at, chosen in nested.items() if task.outputs[at].kind == "struct"}
    return task.narrowed(columns, structs, both(task.filters, taken(filters, fields)))


def _narrowed_chunks(
    task: ParseTask, columns: Sequence[int], filters: Sequence[Tree]
) -> tuple[ParseTask, Sequence[int]]:
    """A task that decodes no more than it must, and where in its output the wanted columns stand."""
    names = task.schema.names
    parsed_count = len(names) - len(task.keep)
    fields = {at: task.format.schema.field(names[at]) for at in range(parsed_count)}
    rescue = rescue_of(task.format)
    askable = {at: field for at, field in fields.items() if field.name != rescue}
    wanted = both(task.filters, taken(filters, askable))
    # A record is dropped for an error in any of its columns, wanted or not, and misfits of all of them are rescued.
    if task.on_error == "skip" or rescue in [names[at] for at in columns]:
        return task.narrowed(names[:parsed_count], task.keep, wanted), columns
    decoded = [at for at in columns if at < parsed_count] or [_cheapest(fields)]
    kept = [at for at in columns if at >= parsed_count]
    positions = [*decoded, *kept]
    narrow = task.narrowed([names[at] for at in decoded], [names[at] for at in kept], wanted)
    return narrow, [positions.index(at) for at in columns]


def _narrowed_read(task: ReadTask, columns: Sequence[int], filters: Sequence[Tree]) -> tuple[ReadTask, Sequence[int]]:
    names, reading = task.names, task.reading
    folders = [field for field in task.folders if _is_plain_folder(field.type)]
    rescue = rescue_of(task.format)
    known = {field.name: field for field in (*task.format.schema, *folders) if field.name != rescue}
    fields = {at: known[name] for at, name in enumerate(names) if name in known}
    clauses = taken(filters, fields)
    wanted = [names[at] for at in columns]
    permissive = reading.on_error == "permissive" and reading.corrupt in wanted
    if reading.on_error in ("skip", "collect") or permissive or rescue in wanted:
        return NarrowedRead(task, names, clauses), columns
    return NarrowedRead(task, wanted, clauses), range(len(wanted))


def _is_plain_folder(type_: pa.DataType) -> bool:
    return bool(types.is_signed_integer(type_) or types.is_string(type_) or types.is_date32(type_))


class NarrowedRead(ReadTask):
    """Reads fewer columns, and of fewer files where the filters say enough of the folders."""

    def __init__(self, task: ReadTask, names: Sequence[str], clauses: Clauses) -> None:
        super().__init__(
            task.reading, names, task.folders, task.filters, task.storage, task.groups, task.reports, task.file_column
        )
        self._of_folders = FolderFilter(normalized(clauses), task.folders)

    def parts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[FilePart]:
        numbers: dict[
            tuple[Any, int], int | None
        ] = {}  # by folders and filters: those with ours, None where no row can pass
        for part in super().parts(batches):
            key = (part.partition, part.filters)
            if key not in numbers:
                left = self._of_folders.left(part.partition)
                numbers[key] = None if left is None else len(self.filters)
                self.filters += [] if left is None else [normalized(both(self.filters[part.filters], left))]
            if (number := numbers[key]) is not None:
                yield replace(part, filters=number)


def _cheapest(fields: dict[int, pa.Field]) -> int:
    """The column to decode where only the number of rows is wanted."""

    def cost(at: int) -> tuple[int, int]:
        type_ = fields[at].type
        return (type_.bit_width if types.is_primitive(type_) else OTHER_TYPES_BITS), at

    return min(fields, key=cost)


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
