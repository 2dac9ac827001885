"""Reads of files that yield fewer columns.

In: a task of files, positions of its output, predicates. Out: the task that reads no more than those ask for, where in
its output they stand, and what of its structs is still to be left out: all that is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyarrow import types

from formatter.filters import normalized
from formatter.plans import rescue_of
from spark_udfs.files.partitions import FolderFilter
from spark_udfs.files.read_task import FilePart, ReadTask
from spark_udfs.pushdown.predicates import Clauses, Nested, Tree, both, taken


def narrowed_task(
    task: ReadTask, columns: Sequence[int], nested: Nested, filters: Sequence[Tree]
) -> tuple[ReadTask, Sequence[int], Nested]:
    names, reading = task.names, task.reading
    folders = [field for field in task.folders if _is_plain_folder(field.type)]
    rescue = rescue_of(task.format)
    known = {field.name: field for field in (*task.format.schema, *folders) if field.name != rescue}
    fields = {at: known[name] for at, name in enumerate(names) if name in known}
    clauses = taken(filters, fields)
    wanted = [names[at] for at in columns]
    permissive = reading.on_error == "permissive" and reading.corrupt in wanted
    if reading.on_error in ("skip", "collect") or permissive or rescue in wanted:
        return NarrowedRead(task, names, clauses), columns, nested
    return NarrowedRead(task, wanted, clauses), range(len(wanted)), nested


def _is_plain_folder(type_: pa.DataType) -> bool:
    return bool(types.is_signed_integer(type_) or types.is_string(type_) or types.is_date32(type_))


class NarrowedRead(ReadTask):
    """Reads fewer columns, and of fewer files where the filters say enough of the folders."""

    def __init__(self, task: ReadTask, names: Sequence[str], clauses: Clauses) -> None:
        super().__init__(
            task.reading, names, task.folders, task.filters, task.storage, task.groups, task.reports, task.file_column
        )
        self.max_errors = task.max_errors
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
