"""Files as rows of raw chunks: DataFrame[origin, sequence, offset, payload].

In: paths. Out: one row per chunk; origin is the file, sequence counts its chunks from 1, offset is where the chunk
begins (in the decompressed bytes, if the file is compressed). The driver sends only ranges; tasks read the bytes.
Knows nothing of records: a chunk ends wherever it ends.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import formatter as fm
from spark_udfs.file_listing import list_files
from spark_udfs.file_ranges import FileRange, file_ranges
from spark_udfs.open_files import payloads_of

CHUNK_ROWS = "origin STRING NOT NULL, sequence BIGINT NOT NULL, offset BIGINT NOT NULL, payload BINARY NOT NULL"
CHUNK_SCHEMA = pa.schema(
    [
        pa.field("origin", pa.string(), nullable=False),
        pa.field("sequence", pa.int64(), nullable=False),
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("payload", pa.binary(), nullable=False),
    ]
)

DEFAULT_CHUNK_BYTES = 1 << 20
LARGEST_CHUNK_BYTES = 1 << 30  # an Arrow binary column counts its bytes in 31 bits
RANGE_BYTES = 32 << 20  # one task's share: a second of parsing at most, thousands of times the cost of a task
BATCH_BYTES = 4 << 20  # of payload handed to Spark at once


def read_chunks(
    spark: SparkSession,
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    chunk_bytes: int = DEFAULT_CHUNK_BYTES,
) -> DataFrame:
    """Chunks of files, directories or globs, on local disks or any filesystem pyarrow.fs knows."""
    if not 1 <= chunk_bytes <= LARGEST_CHUNK_BYTES:
        raise fm.OptionError(f"spark: chunk_bytes is 1 to {LARGEST_CHUNK_BYTES}, found {chunk_bytes}")
    ranges = tuple(file_ranges(list_files(path), chunk_bytes=chunk_bytes, range_bytes=RANGE_BYTES))
    tasks = spark.range(0, len(ranges), 1, max(1, len(ranges)))
    return tasks.mapInArrow(ReadRanges(ranges, chunk_bytes), CHUNK_ROWS)


class ReadRanges:
    """Runs in a task: rows of range numbers in, rows of chunks out."""

    def __init__(self, ranges: tuple[FileRange, ...], chunk_bytes: int) -> None:
        self.ranges = ranges
        self.chunk_bytes = chunk_bytes

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from self._batches(self.ranges[number])

    def _batches(self, file_range: FileRange) -> Iterator[pa.RecordBatch]:
        first, offset, payloads, held = file_range.sequence, file_range.offset, [], 0
        end = file_range.offset + file_range.length
        for payload in payloads_of(file_range.path, file_range.codec, file_range.offset, end, self.chunk_bytes):
            payloads.append(payload)
            held += len(payload)
            if held >= BATCH_BYTES:
                yield self._batch(file_range.path, first, offset, payloads)
                first, offset, payloads, held = first + len(payloads), offset + held, [], 0
        if payloads:
            yield self._batch(file_range.path, first, offset, payloads)

    def _batch(self, path: str, first: int, offset: int, payloads: list[bytes]) -> pa.RecordBatch:
        offsets = [offset]
        for payload in payloads[:-1]:
            offsets.append(offsets[-1] + len(payload))
        columns = [[path] * len(payloads), range(first, first + len(payloads)), offsets, payloads]
        arrays = [pa.array(values, field.type) for values, field in zip(columns, CHUNK_SCHEMA, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=CHUNK_SCHEMA)
