"""Which byte range of which file each task that makes chunks reads.

In: files as file_listing.py finds them. Out: FileRange rows, small enough to travel with the task. Knows no records.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from formatter.codecs import codec_of
from spark_udfs.file_listing import FoundFile


@dataclass(frozen=True)
class FileRange:
    """`length` bytes of a file from `offset` on; its first chunk is number `sequence`. With a codec it is the whole file, and
    offsets of its chunks are those of its content."""

    path: str
    offset: int
    length: int
    sequence: int
    codec: str | None = None


def file_ranges(files: Sequence[FoundFile], *, chunk_bytes: int, range_bytes: int) -> Iterator[FileRange]:
    """Ranges of whole chunks, about range_bytes long; a compressed file is one range, read through its codec."""
    chunks_per_range = max(1, range_bytes // chunk_bytes)
    for file in files:
        if codec := codec_of(file.path):
            yield FileRange(file.path, 0, file.size, 1, codec)
            continue
        step = chunks_per_range * chunk_bytes
        for number, offset in enumerate(range(0, file.size, step)):
            length = min(step, file.size - offset)
            yield FileRange(file.path, offset, length, 1 + number * chunks_per_range)
