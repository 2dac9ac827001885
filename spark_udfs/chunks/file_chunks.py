"""Files as rows of raw chunks: DataFrame[origin, sequence, offset, payload].

In: paths. Out: one row per chunk; origin is the file, sequence counts its chunks from 1, offset is where the chunk begins (in
the decompressed bytes, if the file is compressed). The driver sends only stretches of files; tasks read the bytes. Knows no
records: a chunk ends wherever it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import formatter as fm
from formatter.codecs import codec_of
from spark_udfs.files.file_listing import FoundFile, Paths, list_files
from spark_udfs.files.open_files import payloads_of
from spark_udfs.files.task_rows import Groups, task_rows
from spark_udfs.tasks.sent_functions import mapped, told_plainly
from spark_udfs.types.spark_types import struct_of

DEFAULT_CHUNK_BYTES = 1 << 20
LARGEST_CHUNK_BYTES = 1 << 30  # an Arrow binary column counts its bytes in 31 bits
TASK_BYTES = 32 << 20  # one task's share: a second of parsing at most, thousands of times the cost of a task
LAST_READ = -1
BATCH_BYTES = 4 << 20  # of payload handed to Spark at once

CHUNK_TYPES = {"origin": pa.string(), "sequence": pa.int64(), "offset": pa.int64(), "payload": pa.binary()}
CHUNK_SCHEMA = pa.schema([pa.field(name, type_, nullable=False) for name, type_ in CHUNK_TYPES.items()])
STREAM_SCHEMA = pa.schema([*(field.with_nullable(True) for field in CHUNK_SCHEMA), ("last_sequence", pa.int64())])


def read_chunks(spark: SparkSession, path: Paths, *, chunk_bytes: int = DEFAULT_CHUNK_BYTES) -> DataFrame:
    """Chunks of files, on local disks or any filesystem pyarrow.fs knows.

    Args:
        spark: The session.
        path: A file, directory or glob, or a list of these.
        chunk_bytes: How large a chunk is.

    Returns:
        A DataFrame of rows (origin, sequence, offset, payload), for `su.parse`.

    Raises:
        OptionError: A size out of its range.
        FileNotFoundError: A path behind which nothing stands.

    Example:
        >>> import tempfile, spark_udfs as su
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = open(f"{folder}/a.csv", "w").write("1,2\\n" * 10)
        ...     su.read_chunks(spark, folder, chunk_bytes=16).count()
        3
    """
    if not 1 <= chunk_bytes <= LARGEST_CHUNK_BYTES:
        raise fm.OptionError(f"spark: chunk_bytes is 1 to {LARGEST_CHUNK_BYTES}, found {chunk_bytes}")
    stretches = tuple(stretches_of(list_files(path), chunk_bytes))
    groups = Groups(((stretch,) for stretch in stretches), sum(stretch.end - stretch.begin for stretch in stretches))
    return mapped(task_rows(spark, groups, groups.size_bytes), ReadStretches(groups), struct_of(CHUNK_SCHEMA))


class ReadStretches:
    """Runs in a task: rows of stretches in, rows of chunks out."""

    def __init__(self, stretches: Groups) -> None:
        self.stretches = stretches

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for stretch in self.stretches.meant(batches):
            yield from chunk_batches(stretch, CHUNK_SCHEMA)


@dataclass(frozen=True)
class Stretch:
    """Bytes [begin, end) of a file as chunks from number `sequence` on; of a compressed file, all that is in it.

    origin: what the chunks belong to. last_sequence: the origin's, where that is known, or LAST_READ: that of the last chunk.
    """

    path: str
    begin: int
    end: int
    sequence: int
    chunk_bytes: int
    origin: str
    last_sequence: int | None = None


def stretches(
    path: str, begin: int, end: int, sequence: int, chunk_bytes: int, last_sequence: int | None = None
) -> Iterator[Stretch]:
    """Of whole chunks, a task's share each."""
    step = max(1, TASK_BYTES // chunk_bytes) * chunk_bytes
    for at in range(begin, end, step):
        number = sequence + (at - begin) // chunk_bytes
        yield Stretch(path, at, min(at + step, end), number, chunk_bytes, path, last_sequence)


def stretches_of(files: Sequence[FoundFile], chunk_bytes: int) -> Iterator[Stretch]:
    for file in files:
        if codec_of(file.path):
            yield Stretch(file.path, 0, file.size, 1, chunk_bytes, file.path)
        else:
            yield from stretches(file.path, 0, file.size, 1, chunk_bytes)


@told_plainly
def chunk_batches(stretch: Stretch, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A few MB at a time, in the columns of CHUNK_SCHEMA or of STREAM_SCHEMA."""
    rows, held = [], 0
    for sequence, offset, payload, is_last in _chunks(stretch):
        last = stretch.last_sequence
        if last == LAST_READ:
            last = sequence if is_last else None
        rows.append((stretch.origin, sequence, offset, payload, last))
        held += len(payload)
        if held >= BATCH_BYTES or is_last:
            arrays = [
                pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), schema, strict=False)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
            rows, held = [], 0


def _chunks(stretch: Stretch) -> Iterator[tuple[int, int, bytes, bool]]:
    """(sequence, offset, payload, whether it is the last)"""
    sequence, offset, before = stretch.sequence, stretch.begin, b""
    for payload in payloads_of(stretch.path, codec_of(stretch.path), stretch.begin, stretch.end, stretch.chunk_bytes):
        if before:
            yield sequence, offset, before, False
            sequence, offset = sequence + 1, offset + len(before)
        before = payload
    if before or stretch.last_sequence is not None:  # an empty chunk says where its origin ends
        yield sequence, offset, before, True
