"""LZ4 files, in frames or in the blocks that Hadoop writes without any.

In: a binary stream, from its beginning. Out: a stream of its content, a block in memory at a time. Refuses to know: paths;
`name` is for messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from formatter.block_stream import BlockStream, damaged, hadoop_blocks, up_to

LZ4 = "lz4"
LZ4_FRAME = b"\x04\x22\x4d\x18"
LZ4_SKIPPABLE = b"\x2a\x4d\x18"  # behind a byte from 0x50 on: a frame that readers pass over


def lz4_stream(raw: Any, name: str, frames: Callable[[Any], Any]) -> Any:
    """frames: opens a stream of frames, which begin with what marks one; blocks begin with their size."""
    start = up_to(raw, len(LZ4_FRAME))
    if start == LZ4_FRAME or start[1:] == LZ4_SKIPPABLE:
        return frames(Resumed(start, raw))
    return BlockStream(_lz4_blocks(raw, name, start), raw)


class Resumed:
    """A stream of which the first bytes were read already."""

    closed = False

    def __init__(self, start: bytes, raw: Any) -> None:
        self._start = start
        self._raw = raw

    def read(self, size: int = -1) -> bytes:
        if not self._start:
            return bytes(self._raw.read(size))
        taken = self._start if size < 0 else self._start[:size]
        self._start = self._start[len(taken) :]
        return taken if size >= 0 else taken + bytes(self._raw.read())

    def close(self) -> None:
        self.closed = True
        self._raw.close()


def _lz4_blocks(raw: Any, name: str, start: bytes) -> Iterator[bytes]:
    def decoded(part: bytes, most: int) -> bytes:
        size = _lz4_size(part)
        if size is None or size > most:
            raise damaged(name, LZ4, "a part of a block is no LZ4")
        try:
            return bytes(pa.decompress(part, size, codec="lz4_raw", asbytes=True))
        except (OSError, pa.ArrowException) as error:
            raise damaged(name, LZ4, str(error)) from error

    return hadoop_blocks(raw, start, decoded, lambda: damaged(name, LZ4, "it ends in the middle"))


def _lz4_size(part: bytes) -> int | None:
    """How long a part is when it is decoded, by a walk over its tokens; None if it is none."""
    at, size, end = 0, 0, len(part)
    try:
        while at < end:
            token = part[at]
            at += 1
            literals, at = _length(part, at, token >> 4)
            size += literals
            at += literals
            if at >= end:
                return size if at == end else None
            at += 2  # how far back the copy begins
            copied, at = _length(part, at, token & 15)
            size += copied + 4
    except IndexError:
        return None
    return None


def _length(part: bytes, at: int, nibble: int) -> tuple[int, int]:
    if nibble < 15:
        return nibble, at
    while True:
        more = part[at]
        at += 1
        nibble += more
        if more < 255:
            return nibble, at
