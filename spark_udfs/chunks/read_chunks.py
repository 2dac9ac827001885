"""Files as rows of raw chunks: DataFrame[origin, sequence, offset, payload].

In: paths. Out: one row per chunk; origin is the file, sequence counts its chunks from 1, offset is where the chunk
begins (in the decompressed bytes, if the file is compressed). The driver sends only stretches; tasks read the bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import formatter as fm
from spark_udfs.chunks.file_chunks import (
    CHUNK_SCHEMA,
    DEFAULT_CHUNK_BYTES,
    LARGEST_CHUNK_BYTES,
    Stretch,
    chunk_batches,
    stretches_of,
)
from spark_udfs.files.file_listing import Paths, list_files
from spark_udfs.types.spark_types import struct_of


def read_chunks(spark: SparkSession, path: Paths, *, chunk_bytes: int = DEFAULT_CHUNK_BYTES) -> DataFrame:
    """Chunks of files, directories or globs, on local disks or any filesystem pyarrow.fs knows."""
    if not 1 <= chunk_bytes <= LARGEST_CHUNK_BYTES:
        raise fm.OptionError(f"spark: chunk_bytes is 1 to {LARGEST_CHUNK_BYTES}, found {chunk_bytes}")
    stretches = tuple(stretches_of(list_files(path), chunk_bytes))
    tasks = spark.range(0, len(stretches), 1, max(1, len(stretches)))
    return tasks.mapInArrow(ReadStretches(stretches), struct_of(CHUNK_SCHEMA))


class ReadStretches:
    """Runs in a task: rows of stretches' numbers in, rows of chunks out."""

    def __init__(self, stretches: Sequence[Stretch]) -> None:
        self.stretches = stretches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield from chunk_batches(self.stretches[number], CHUNK_SCHEMA)
