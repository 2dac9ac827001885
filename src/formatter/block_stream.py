"""Blocks of bytes as one stream, and the blocks that Hadoop's codecs write. In: an iterator of blocks; a binary stream. Out: a
stream that reads as a file does, a block in memory at a time. Refuses to know: codecs and paths; names are for messages.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

from formatter.errors import FormatError

SIZE_BYTES = 4
READ_BYTES = 1 << 20


class BlockStream(io.RawIOBase):
    """`raw`: what the blocks are made of, closed with the stream."""

    def __init__(self, blocks: Iterator[bytes], raw: Any = None) -> None:
        self._blocks = blocks
        self._raw = raw
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        target = memoryview(into).cast("B")
        while not self._left:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._left = memoryview(block)
        count = min(len(target), len(self._left))
        target[:count] = self._left[:count]
        self._left = self._left[count:]
        return count

    def close(self) -> None:
        if self._raw is not None and not self.closed:
            self._raw.close()
        super().close()


def hadoop_blocks(
    raw: Any, start: bytes, decoded: Callable[[bytes, int], bytes], cut: Callable[[], Exception]
) -> Iterator[bytes]:
    """Blocks: the content's size, then parts behind their own sizes until that much has come; big-endian.

    start: what was read of `raw` already. decoded: a part's content, given how much of it there may be; raises what it finds
    wrong. cut: what to raise where the stream ends in the middle.
    """
    ahead = start

    def take(size: int) -> bytes:
        nonlocal ahead
        if len(ahead) < size:
            ahead += up_to(raw, size - len(ahead))
        taken, ahead = ahead[:size], ahead[size:]
        return taken

    def number() -> int | None:
        digits = take(SIZE_BYTES)
        if 0 < len(digits) < SIZE_BYTES:
            raise cut()
        return int.from_bytes(digits, "big") if digits else None

    while (left := number()) is not None:
        while left > 0:
            size = number()
            if size is None or len(part := take(size)) < size:
                raise cut()
            content = decoded(part, left)
            yield content
            left -= len(content)


def up_to(raw: Any, size: int) -> bytes:
    """`size` bytes (all that are left if negative), or fewer at the end."""
    parts: list[bytes] = []
    while size:
        got = raw.read(size if size > 0 else READ_BYTES)
        if not got:
            break
        parts.append(bytes(got))
        size = size - len(got) if size > 0 else size
    return b"".join(parts)


def damaged(name: str, codec: str, why: str) -> FormatError:
    return FormatError(
        f"{name}: expected {codec}, found other bytes ({why}); the file was damaged, or written by another codec",
        code="bad_compression",
    )
