"""Where the records of a file's splits start, when that depends on every quote before them.

In: files whose format quotes or escapes, or has items of arrays. Out: for each, where the first record behind each grid line
starts, proven: every block between two lines is summarised by itself (on the driver's threads for local files, else by a small
Spark job) and the summaries are put together in order. What is found is remembered while path, size and time of a file stay the
same; a task still checks that its records end where its split does. Knows no fields.
"""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import fs
from pyspark.sql import SparkSession

from formatter.formats import Native
from formatter.splits import (
    SplitScan,
    SplitSummary,
    fixed_starts,
    proven_starts,
    record_starts,
    starts_are_guessed,
    tells_by_summaries,
)
from spark_udfs.files.file_listing import FoundFile, Storage
from spark_udfs.files.open_files import opened
from spark_udfs.tasks.sent_functions import mapped
from spark_udfs.types.spark_types import struct_of

GRID_BYTES = 4 << 20  # splits begin at the first record behind a multiple of this
# More than this, and not on the machine that runs the tasks: the tasks look for themselves.
DRIVER_BYTES_MOST = 64 << 20
BLOCKS_A_TASK = 8
REMEMBERED_FILES = 512
SUMMARY_SCHEMA = pa.schema([("block", pa.int32()), ("courses", pa.binary())])
NO_END = -1  # of a course

_remembered: OrderedDict[tuple[Any, ...], list[int]] = OrderedDict()


def split_starts(
    spark: SparkSession | None, files: Sequence[FoundFile], format: Any, storage: Storage
) -> dict[str, list[int]]:
    """By path: `starts[i]` is where the first record behind byte i * GRID_BYTES starts."""
    if isinstance(format, Native):
        return {file.path: fixed_starts(format, range(0, file.size, GRID_BYTES), file.size) for file in files}
    dialect = tuple(getattr(format, field.name) for field in fields(format) if field.name != "schema")
    where = repr(sorted(storage.options.items())), dialect
    keys = {file.path: (file.path, file.size, file.modified_ns, *where) for file in files}
    certain = storage.filesystem is None  # of a filesystem object nobody can tell whether it is the one of last time
    known = {path: _remembered[key] for path, key in keys.items() if certain and key in _remembered}
    unknown = [file for file in files if file.path not in known]
    found = _looked_up(spark, unknown, format, storage) if unknown else {}
    for file in files:
        if certain and file.modified_ns is not None:
            _remembered[keys[file.path]] = known.get(file.path) or found[file.path]
            _remembered.move_to_end(keys[file.path])
    while len(_remembered) > REMEMBERED_FILES:
        _remembered.popitem(last=False)
    return known | found


def _looked_up(
    spark: SparkSession | None, files: Sequence[FoundFile], format: Any, storage: Storage
) -> dict[str, list[int]]:
    if not tells_by_summaries(format):
        return {file.path: _followed(file, format, storage) for file in files}
    blocks = [
        (file.path, begin, min(begin + GRID_BYTES, file.size))
        for file in files
        for begin in range(0, max(file.size, 1), GRID_BYTES)
    ]
    scan = BlockScan(blocks, format, storage)
    if spark is None or _is_at_hand(spark, files, storage):
        with ThreadPoolExecutor(min(os.cpu_count() or 1, len(blocks))) as pool:
            summaries = list(pool.map(scan.summary, range(len(blocks))))
    else:
        summaries = scan.by_tasks(spark)
    per_file: dict[str, list[SplitSummary]] = {file.path: [] for file in files}
    for (path, _, _), summary in zip(blocks, summaries, strict=True):
        per_file[path].append(summary)
    if starts_are_guessed(format):
        return {file.path: _proven(file, per_file[file.path], format, storage) for file in files}
    starts = {file.path: record_starts(per_file[file.path], file.size) for file in files}
    return {file.path: starts[file.path] or _followed(file, format, storage) for file in files}


def _followed(file: FoundFile, format: Any, storage: Storage) -> list[int]:
    """Of a file whose quotes are bounded, or one of whose is never closed: here, in order."""
    with opened(storage, file.path, None) as stream:
        return SplitScan(format).follow(stream, range(0, max(file.size, 1), GRID_BYTES), file.size)


def _proven(file: FoundFile, summaries: Sequence[SplitSummary], format: Any, storage: Storage) -> list[int]:
    """Of a file whose starts were guessed; where a guess was wrong, records are followed here."""

    def next_start(start: int, line: int) -> int:
        with opened(storage, file.path, None) as stream:
            found = SplitScan(format).next_start(stream, start, line)
        assert found is not None  # it is told for certain where nothing bounds the way
        return found

    return proven_starts(summaries, range(0, max(file.size, 1), GRID_BYTES), file.size, next_start)


def _is_at_hand(spark: SparkSession, files: Sequence[FoundFile], storage: Storage) -> bool:
    """Whether this process reads the files as fast as the tasks would."""
    if sum(file.size for file in files) <= DRIVER_BYTES_MOST:
        return True
    on_disk = all(isinstance(storage.resolve(file.path)[0], fs.LocalFileSystem) for file in files)
    return on_disk and str(spark.conf.get("spark.master", "")).startswith("local[")


def _packed(summary: SplitSummary) -> bytes:
    courses = [(start, end, NO_END if first is None else first) for start, end, first in summary.courses]
    return np.array(courses, np.int64).tobytes()


def _unpacked(courses: bytes) -> SplitSummary:
    rows = np.frombuffer(courses, np.int64).reshape(-1, 3).tolist()
    return SplitSummary(tuple((start, end, None if first == NO_END else first) for start, end, first in rows))


class BlockScan:
    """Summaries of numbered blocks; as a callable, for tasks: block numbers in, rows of summaries out."""

    def __init__(self, blocks: Sequence[tuple[str, int, int]], format: Any, storage: Storage) -> None:
        self.blocks = list(blocks)
        self.format = format
        self.storage = storage
        self._scan = SplitScan(format)

    def __reduce__(self) -> tuple[Any, ...]:
        return BlockScan, (self.blocks, self.format, self.storage)

    def summary(self, block: int) -> SplitSummary:
        path, begin, end = self.blocks[block]
        with opened(self.storage, path, None) as file:
            return self._scan.summarize(file, begin, end)

    def by_tasks(self, spark: SparkSession) -> list[SplitSummary]:
        tasks = spark.range(0, len(self.blocks), 1, max(1, len(self.blocks) // BLOCKS_A_TASK))
        rows = mapped(tasks, self, struct_of(SUMMARY_SCHEMA)).collect()
        if len(rows) != len(self.blocks):
            raise RuntimeError(f"spark: expected {len(self.blocks)} summaries of blocks, found {len(rows)}")
        return [_unpacked(row.courses) for row in sorted(rows)]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            blocks = batch.column(0).to_pylist()
            found = [self.summary(block) for block in blocks]
            columns = [blocks, [_packed(one) for one in found]]
            arrays = [pa.array(column, field.type) for column, field in zip(columns, SUMMARY_SCHEMA, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=SUMMARY_SCHEMA)
