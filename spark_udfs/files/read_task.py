"""What a task of su.read runs: groups of file parts in, batches of their rows out.

In: everything the driver has settled, picklable. Out: batches in the columns declared, neither tiny nor huge. Opens files,
nothing else: where parts begin, which columns and filters, is decided.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

import formatter as fm
from formatter.filters import columns_of
from formatter.row_choice import BatchFilter
from formatter.splits import Part, SplitReader
from spark_udfs.files.file_listing import Storage
from spark_udfs.files.open_files import opened
from spark_udfs.files.task_rows import Groups, projected_bytes
from spark_udfs.options.reading import Reading
from spark_udfs.options.spark_texts import is_text, text_places
from spark_udfs.tasks.counted_task import CountedTask
from spark_udfs.tasks.metrics import Reports
from spark_udfs.tasks.rejects import drained
from spark_udfs.types.spark_types import SparkColumns, plain_schema

BLANKS, BLANKS_READ_BYTES = b" \t\r\n" + BOM_UTF8, 4_096  # what may stand before a document
ROWS_PER_BATCH_LEAST = 4_096  # Spark's Arrow reader is fastest between 4k and 16k rows a batch
BYTES_PER_BATCH_LEAST = 1 << 20  # or so many bytes: to put them together is to copy them


@dataclass(frozen=True, slots=True)
class FilePart:
    """A part of a file, with what is known of it. `filters`: which of the task's."""

    path: str
    part: Part
    size: int
    codec: str | None
    header: bytes
    partition: tuple[Any, ...]
    filters: int
    file_size: int
    modified_ns: int | None

    @property
    def begin(self) -> int:
        return self.part.begin

    @property
    def described(self) -> dict[str, Any]:
        """As Spark's own readers describe a file in `_metadata`."""
        name = self.path.rpartition("/")[2]
        changed = None if self.modified_ns is None else self.modified_ns // 1000
        return {
            "file_path": self.path, "file_name": name, "file_size": self.file_size, "file_block_start": self.part.begin,
            "file_block_length": self.size, "file_modification_time": changed,
        }  # fmt: skip


FILE_TYPE = pa.struct(
    [("file_path", pa.string()), ("file_name", pa.string()), ("file_size", pa.int64()), ("file_block_start", pa.int64()),
     ("file_block_length", pa.int64()), ("file_modification_time", pa.timestamp("us", "UTC"))]
)  # fmt: skip


class ReadTask(CountedTask):
    __name__ = "formatter.read"  # in query plans; pushdown_rule.java knows what is ours by it

    def __init__(
        self,
        reading: Reading,
        names: Sequence[str],
        folders: pa.Schema,
        filters: Sequence[list[list[Any]]],
        storage: Storage,
        groups: Groups,
        reports: Reports | None = None,
        file_column: str | None = None,
    ) -> None:
        self.reading = reading
        self.names = list(names)
        self.folders = folders
        self.filters = list(filters)
        self.storage = storage
        self.groups = groups
        self.reports = reports
        self.file_column = file_column
        self.task_count = len(groups)
        self.format = reading.format_with(plain_schema(reading.format.schema))
        fields = {field.name: field for field in (*self.format.schema, *folders)}
        if reading.corrupt is not None:
            fields[reading.corrupt] = pa.field(reading.corrupt, pa.string())
        if file_column is not None:
            fields[file_column] = pa.field(file_column, FILE_TYPE)
        self._texts = {field.name for field in self.format.schema if is_text(field.type)}
        in_files = frozenset(self.format.schema.names)
        self._parsed = [name for name in self.names if name in in_files]
        # Without columns, rows are only counted: nothing leaves for Spark but how many there are.
        self._columns = SparkColumns.of(pa.schema([fields[name] for name in self.names])) if self.names else None
        self.schema = StructType() if self._columns is None else self._columns.struct
        for wanted in self.filters or [
            []
        ]:  # a filter of the wrong type, a column that cannot be parsed: both raise here
            self.filter_of_rows(wanted, self.reader(wanted))

    def filters_rows(self, filters: list[list[Any]]) -> bool:
        """Whether rows are filtered that are parsed already: a bad record stays a row, or texts are not yet what they mean."""
        texts = self.reading.texts is not None and any(name in self._texts for name in columns_of(filters))
        return texts or self.reading.on_error == "permissive"

    def filter_of_rows(self, filters: list[list[Any]], reader: SplitReader) -> BatchFilter | None:
        return BatchFilter(filters, reader.schema) if filters and self.filters_rows(filters) else None

    def reader(self, filters: list[list[Any]], on_error: str | None = None, layout: str | None = None) -> SplitReader:
        """For rows as the mode has them; or, with an on_error of one's own, for what is found on the way to them. `layout`: how
        documents stand in a file of JSON, where files differ in it."""
        corrupt, filtered = self.reading.corrupt, columns_of(filters)
        columns, filters_there, raw_column = self._parsed, filters or None, None
        if on_error is None:
            if self.filters_rows(filters):
                filters_there = None
                columns = list(dict.fromkeys([*columns, *(name for name in filtered if name != corrupt)]))
            if self.reading.on_error != "permissive":
                if corrupt in filtered:
                    raise fm.OptionError(f"filters: {corrupt!r} is null in every row unless the mode is PERMISSIVE")
                on_error = "skip" if self.reading.on_error == "collect" else self.reading.on_error
            else:
                on_error = "keep"
                if corrupt is not None and corrupt in (*self.names, *filtered):
                    raw_column = corrupt
                    columns = (
                        self.format.schema.names
                    )  # whether a record is bad does not depend on what else is asked for
        format = self.format if layout is None else replace(self.format, records=layout)
        return SplitReader(
            format, columns=columns, filters=filters_there, on_error=on_error, raw_column=raw_column,
            header_by_position=self.reading.header_by_position,
        )  # fmt: skip

    @property
    def size_bytes(self) -> int:
        """What Spark is to plan with: what is read of the files, as far as it is of the columns that leave."""
        known = pa.schema([*self.format.schema, *self.folders])
        stored = frozenset(known.names)
        leaving = pa.schema([known.field(name) for name in self.names if name in stored])
        return projected_bytes(self.groups.size_bytes, leaving, known)

    def run(self) -> ReadRun:
        return ReadRun(self)

    def delivered(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Small batches together; large ones as they are."""
        if self._columns is None:
            yield from rows
            return
        waiting: list[pa.RecordBatch] = []
        waiting_rows = 0
        for batch in rows:
            is_large = batch.num_rows >= ROWS_PER_BATCH_LEAST or batch.nbytes >= BYTES_PER_BATCH_LEAST
            if not is_large:
                waiting.append(batch)
                waiting_rows += batch.num_rows
            if waiting_rows and (is_large or waiting_rows >= ROWS_PER_BATCH_LEAST):
                yield together(waiting)
                waiting, waiting_rows = [], 0
            if is_large:
                yield batch
        if waiting_rows:
            yield together(waiting)

    def rejects(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The records that are no rows, or not whole ones, and why."""
        run = ReadRun(self, "collect")
        for part in self.parts(batches):
            reader = run.reader(part)
            for _ in run.parsed(reader, part):
                if len(reader.found) >= ROWS_PER_BATCH_LEAST:
                    yield from drained(reader.found)
            yield from drained(reader.found)

    def parts(self, batches: Iterable[pa.RecordBatch]) -> Iterator[FilePart]:
        """Of the groups that come in."""
        return self.groups.meant(batches)

    def shaped(self, rows: pa.RecordBatch, part: FilePart) -> pa.RecordBatch:
        """Parsed rows in the columns declared, those of the folders beside them."""
        if self._columns is None:
            return rows
        if rows.schema.names != self.names:
            constants = zip(self.folders.names, part.partition, strict=True)
            beside = {name: pa.scalar(value, self.folders.field(name).type) for name, value in constants}
            if self.reading.corrupt is not None and self.reading.corrupt not in rows.schema.names:
                beside[self.reading.corrupt] = pa.scalar(None, pa.string())
            if self.file_column is not None:
                beside[self.file_column] = pa.scalar(part.described, FILE_TYPE)
            arrays = [
                pa.repeat(beside[name], rows.num_rows) if name in beside else rows.column(name) for name in self.names
            ]
            rows = pa.RecordBatch.from_arrays(arrays, names=self.names)
        return self._columns.convert(rows)


def together(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


class ReadRun:
    """The rows of the parts that a task gets, by one reader for each of its filters."""

    def __init__(self, task: ReadTask, on_error: str | None = None) -> None:
        self._task = task
        self._on_error = on_error
        self._readers: dict[tuple[int, str | None], SplitReader] = {}
        self._left_out = 0  # of the rows that were parsed

    def counts(self) -> Iterator[dict[str, int]]:
        yield from (reader.counts for reader in self._readers.values())
        yield {"rows": -self._left_out, "filtered": self._left_out}

    def reader(self, part: FilePart) -> SplitReader:
        key = part.filters, self._layout_of(part)
        if key not in self._readers:
            self._readers[key] = self._task.reader(self._task.filters[part.filters], self._on_error, key[1])
        return self._readers[key]

    def _layout_of(self, part: FilePart) -> str | None:
        """A file that begins with a bracket is an array of documents, any other holds the documents themselves."""
        if not self._task.reading.documents:
            return None
        with opened(self._task.storage, part.path, part.codec) as stream:
            start = b"\n"
            while start and not start.strip(BLANKS):
                start = stream.read(BLANKS_READ_BYTES)
        return "array" if start.lstrip(BLANKS).startswith(b"[") else "concatenated"

    def parsed(self, reader: SplitReader, part: FilePart) -> Iterator[pa.RecordBatch]:
        with opened(self._task.storage, part.path, part.codec) as stream:
            yield from reader.batches(stream, part.part, origin=part.path, header=part.header)

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for part in self._task.parts(batches):
            task, reader = self._task, self.reader(part)
            kept = task.filter_of_rows(task.filters[part.filters], reader)
            texts = text_places(reader.schema)
            for rows in self.parsed(reader, part):
                reader.found.clear()
                if task.reading.texts is not None:
                    rows = task.reading.texts.meant(rows, texts)
                if kept is not None:
                    before, rows = rows.num_rows, kept.kept(rows)
                    self._left_out += before - rows.num_rows
                yield task.shaped(rows, part)
