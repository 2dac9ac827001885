"""What a task of su.read runs: numbers of groups of file parts in, batches of their rows out.

In: everything the driver has settled, picklable. Out: batches in the columns declared, neither tiny nor huge. Opens files,
nothing else: where parts begin, which columns and filters, is decided.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import fs

import formatter as fm
from formatter import snappy_stream
from formatter.filters import columns_of
from formatter.splits import Part, SplitReader
from spark_udfs.files import hadoop_files
from spark_udfs.files.file_listing import Storage
from spark_udfs.files.partitions import COMPARE
from spark_udfs.options.reading import Reading
from spark_udfs.tasks.metrics import Measure, Reports, metrics_batch
from spark_udfs.tasks.rejects import rejects_of
from spark_udfs.tasks.worker_process import settle
from spark_udfs.types.spark_types import SparkColumns, plain_schema

ROWS_PER_BATCH_LEAST = 4_096  # Spark's Arrow reader is fastest between 4k and 16k rows a batch


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a file, with what is known of it."""

    path: str
    part: Part
    size: int
    codec: str | None
    header: bytes
    partition: tuple[Any, ...]
    filters: int


class ReadTask:
    """Picklable; what is wrong with its options is said when it is made, not in a task."""

    __name__ = "formatter.read"  # in plans; pushdown_rule.java knows what is ours by it

    def __init__(
        self,
        reading: Reading,
        names: Sequence[str],
        folders: pa.Schema,
        filters: Sequence[list[list[Any]]],
        storage: Storage,
        groups: Sequence[Sequence[Unit]],
        reports: Reports | None = None,
    ) -> None:
        self.reading = reading
        self.names = tuple(names)
        self.folders = folders
        self.filters = list(filters)
        self.storage = storage
        self.groups = groups
        self.reports = reports
        self._format = reading.format_with(plain_schema(reading.format.schema))
        self._permissive = reading.on_error == "permissive"
        fields = {field.name: field for field in (*self._format.schema, *folders)}
        if reading.corrupt is not None:
            fields[reading.corrupt] = pa.field(reading.corrupt, pa.string())
        self._parsed = [name for name in self.names if name in self._format.schema.names]
        self._columns = SparkColumns.of(pa.schema([fields[name] for name in self.names]))
        self.schema = self._columns.struct
        for wanted in self.filters or [[]]:
            self._reader(wanted)  # a filter of the wrong type, a column that cannot be parsed: both raise here

    @property
    def parsed_schema(self) -> pa.Schema:
        return self._format.schema

    def _reader(self, filters: list[list[Any]]) -> SplitReader:
        positional = self.reading.header_by_position
        corrupt = self.reading.corrupt
        filtered = columns_of(filters)
        if not self._permissive:
            if corrupt in filtered:
                raise fm.OptionError(f"filters: {corrupt!r} is null in every row unless the mode is PERMISSIVE")
            on_error = "skip" if self.reading.on_error == "collect" else self.reading.on_error
            return SplitReader(
                self._format, columns=self._parsed, filters=filters or None, on_error=on_error,
                header_by_position=positional,
            )  # fmt: skip
        # A record that is bad stays a row, so filters see the rows, not the records.
        needed = list(dict.fromkeys([*self._parsed, *(name for name in filtered if name != corrupt)]))
        wants_raw = corrupt is not None and (corrupt in self.names or corrupt in filtered)
        if wants_raw:
            needed = self._format.schema.names  # whether a record is bad does not depend on what else is asked for
        return SplitReader(
            self._format, columns=needed, on_error="keep", header_by_position=positional,
            raw_column=corrupt if wants_raw else None,
        )  # fmt: skip

    def _rejects_reader(self, filters: list[list[Any]]) -> SplitReader:
        return SplitReader(
            self._format, columns=self._parsed, filters=filters or None, on_error="collect",
            header_by_position=self.reading.header_by_position,
        )  # fmt: skip

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        readers: dict[int, SplitReader] = {}
        measure = Measure(self.reports, len(self.groups))
        waiting: list[pa.RecordBatch] = []
        waiting_rows = 0
        for unit in self._units(batches):
            if unit.filters not in readers:
                readers[unit.filters] = self._reader(self.filters[unit.filters])
            for parsed in measure.timed(self._rows(readers[unit.filters], unit)):
                if not waiting and parsed.num_rows >= ROWS_PER_BATCH_LEAST:
                    yield parsed
                    continue
                waiting.append(parsed)
                waiting_rows += parsed.num_rows
                if waiting_rows >= ROWS_PER_BATCH_LEAST:
                    yield pa.concat_batches(waiting)
                    waiting, waiting_rows = [], 0
        if waiting_rows:
            yield pa.concat_batches(waiting)
        measure.report(reader.counts for reader in readers.values())

    def _units(self, batches: Iterable[pa.RecordBatch]) -> Iterator[Unit]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self.groups[number]

    def rejects(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The records that are no rows, or not whole ones, and why."""
        readers: dict[int, SplitReader] = {}
        for unit in self._units(batches):
            if unit.filters not in readers:
                readers[unit.filters] = self._rejects_reader(self.filters[unit.filters])
            reader = readers[unit.filters]
            with opened(self.storage, unit.path, unit.codec) as stream:
                for _ in reader.batches(stream, unit.part, origin=unit.path, header=unit.header):
                    if len(reader.found) >= ROWS_PER_BATCH_LEAST:
                        yield from rejects_of(reader.found)
                        reader.found.clear()
            yield from rejects_of(reader.found)
            reader.found.clear()

    def measured(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row of counts for what this task reads."""
        readers: dict[int, SplitReader] = {}
        measure = Measure(None, len(self.groups))
        for unit in self._units(batches):
            if unit.filters not in readers:
                readers[unit.filters] = self._reader(self.filters[unit.filters])
            for _ in measure.timed(self._rows(readers[unit.filters], unit)):
                pass
        yield metrics_batch([measure.counted(reader.counts for reader in readers.values())])

    def _rows(self, reader: SplitReader, unit: Unit) -> Iterator[pa.RecordBatch]:
        beside = {
            field.name: pa.scalar(value, field.type)
            for field, value in zip(self.folders, unit.partition, strict=True)
            if field.name in self.names
        }
        if self.reading.corrupt in self.names and not self._permissive:
            beside[self.reading.corrupt] = pa.scalar(None, pa.string())
        wanted = filter_expression(self.filters[unit.filters]) if self._permissive else None
        with opened(self.storage, unit.path, unit.codec) as stream:
            for batch in reader.batches(stream, unit.part, origin=unit.path, header=unit.header):
                reader.found.clear()
                if wanted is not None:
                    batch = batch.filter(wanted)
                if batch.schema.names != list(self.names):
                    constants = {name: pa.repeat(value, batch.num_rows) for name, value in beside.items()}
                    arrays = [constants[name] if name in constants else batch.column(name) for name in self.names]
                    batch = pa.RecordBatch.from_arrays(arrays, names=list(self.names))
                yield self._columns.convert(batch)


def filter_expression(filters: list[list[Any]]) -> pc.Expression | None:
    """An OR of ANDs for rows that are parsed already, by the rules of the engine's filters."""
    either = [functools.reduce(operator.and_, map(_clause_expression, all_of)) for all_of in filters]
    return functools.reduce(operator.or_, either) if either else None


def _clause_expression(clause: Any) -> pc.Expression:
    name, compare, value = clause
    column = pc.field(name)
    if compare in ("is_null", "is_not_null"):
        return column.is_null() if compare == "is_null" else column.is_valid()
    if compare in ("in", "not in"):
        inside = column.isin(list(value))
        return inside if compare == "in" else ~inside
    return COMPARE[compare](column, value)


@contextmanager
def opened(storage: Storage, path: str, codec: str | None) -> Iterator[Any]:
    """What an error says of reading names the file."""
    try:
        with _opened(storage, path, codec) as stream:
            yield stream
    except OSError as error:
        if path in str(error) or (str(error.filename or "") in path and error.filename):
            raise
        raise OSError(f"{path}: {error}") from error


@contextmanager
def _opened(storage: Storage, path: str, codec: str | None) -> Iterator[Any]:
    filesystem, inner = storage.resolve(path)
    if codec == hadoop_files.DEFLATE:
        with filesystem.open_input_stream(inner, compression=None) as file:
            yield hadoop_files.inflated(file, path)
        return
    if codec == hadoop_files.LZ4:
        with filesystem.open_input_stream(inner, compression=None) as file:
            start = file.read(len(hadoop_files.LZ4_FRAME))
            if start and start != hadoop_files.LZ4_FRAME:
                yield hadoop_files.lz4_blocks(file, path, start)
                return
    if codec == snappy_stream.CODEC:
        with filesystem.open_input_stream(inner, compression=None) as file:
            yield snappy_stream.snappy_stream(file, path)
    elif codec is not None:
        with filesystem.open_input_stream(inner, compression=codec) as stream:
            yield stream
    elif isinstance(filesystem, fs.LocalFileSystem):
        with open(inner, "rb", buffering=0) as file:  # reads into the window, without a buffer between
            yield file
    else:
        with filesystem.open_input_file(inner) as file:
            yield file
