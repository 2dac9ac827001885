"""Stretches of files as numbered chunks.

In: files, or the stretch of one that a task reads. Out: stretches, small enough to travel; in a task, batches of chunks.
Knows no records: a chunk ends wherever it ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa

from spark_udfs.files.file_listing import LOCAL, FoundFile, codec_of
from spark_udfs.files.read_task import opened

DEFAULT_CHUNK_BYTES = 1 << 20
LARGEST_CHUNK_BYTES = 1 << 30  # an Arrow binary column counts its bytes in 31 bits
TASK_BYTES = 32 << 20  # one task's share: a second of parsing at most, thousands of times the cost of a task
BATCH_BYTES = 4 << 20  # of payload handed to Spark at once

CHUNK_SCHEMA = pa.schema(
    [
        pa.field(name, type_, nullable=False)
        for name, type_ in (
            ("origin", pa.string()),
            ("sequence", pa.int64()),
            ("offset", pa.int64()),
            ("payload", pa.binary()),
        )
    ]
)
STREAM_SCHEMA = pa.schema([*(field.with_nullable(True) for field in CHUNK_SCHEMA), ("last_sequence", pa.int64())])


@dataclass(frozen=True)
class Stretch:
    """Bytes [begin, end) of a file as chunks from number `sequence` on; of a compressed file, all that is in it.

    origin: what the chunks belong to. last_sequence: the origin's, where that is known; LAST_READ: that of the last chunk here.
    """

    path: str
    begin: int
    end: int
    sequence: int
    chunk_bytes: int
    origin: str
    last_sequence: int | None = None


LAST_READ = -1


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
    """(sequence, offset, payload, whether it is the last); of an empty stretch one empty chunk."""
    sequence, offset = stretch.sequence, stretch.begin
    if codec := codec_of(stretch.path):
        with opened(LOCAL, stretch.path, codec) as stream:
            payload = stream.read(stretch.chunk_bytes)
            while payload:
                following = stream.read(stretch.chunk_bytes)
                yield sequence, offset, payload, not following
                sequence, offset, payload = sequence + 1, offset + len(payload), following
        return
    if offset == stretch.end:
        yield sequence, offset, b"", True
        return
    filesystem, inner = LOCAL.resolve(stretch.path)
    with filesystem.open_input_file(inner) as file:
        while offset < stretch.end:
            wanted = min(stretch.chunk_bytes, stretch.end - offset)
            payload = file.read_at(wanted, offset)
            if len(payload) != wanted:
                raise OSError(
                    f"spark: {stretch.path!r} has shrunk since it was listed: expected {wanted} bytes at {offset}, found "
                    f"{len(payload)}; write a new file instead, and run the query anew"
                )
            yield sequence, offset, payload, offset + wanted == stretch.end
            sequence, offset = sequence + 1, offset + wanted
