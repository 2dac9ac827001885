"""Snappy files to their bytes. In: a binary stream in one of the three ways such files are written: one raw block; Hadoop's
(and Spark's own) blocks, each behind its two sizes; the framed format of the snappy tools. Out: a stream of the content, a
block in memory at a time where there are several. Refuses to know: paths; `name` is for messages.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from formatter._core import crc32c
from formatter.block_stream import BlockStream, hadoop_blocks, up_to
from formatter.errors import FormatError

CODEC = "snappy"
FRAMED = b"\xff\x06\x00\x00sNaPpY"
STORED, COMPRESSED, FIRST_SKIPPABLE = 1, 0, 128  # kinds of chunks of the framed format
MOST_VARINT_BYTES = 5


def snappy_stream(raw: Any, name: str) -> BlockStream:
    """What a snappy stream holds, read from its beginning; closes what it reads from."""
    return BlockStream(_blocks(raw, name), raw)


def _blocks(raw: Any, name: str) -> Iterator[bytes]:
    start = up_to(raw, len(FRAMED))
    if not start:
        return
    if start == FRAMED:
        yield from _framed(raw, name)
        return
    # Nothing marks Hadoop's blocks: they are those whose first part is a block of the sizes before it.
    start += up_to(raw, 2 * 4 + MOST_VARINT_BYTES - len(start))
    part = int.from_bytes(start[4:8], "big")
    if part > 0 and 0 < _content_size(start[8:]) <= int.from_bytes(start[:4], "big"):
        start += up_to(raw, 8 + part - len(start))
        if _decompressed(start[8 : 8 + part]) is not None:
            yield from _hadoop(raw, start, name)
            return
    block = _decompressed(start + up_to(raw, -1))
    if block is None:
        raise _damaged(f"{name}: expected snappy: a raw block, Hadoop's blocks or framed ones; found none of them")
    yield block


def _framed(raw: Any, name: str) -> Iterator[bytes]:
    """Chunks: a kind, three bytes of size, and four of checksum before the content."""
    at = len(FRAMED)
    while head := up_to(raw, 4):
        kind, size = head[0], int.from_bytes(head[1:], "little")
        body = up_to(raw, size)
        if len(head) < 4 or len(body) < size:
            raise _cut(name)
        if kind in (COMPRESSED, STORED):
            block = body[4:] if kind == STORED else _decompressed(body[4:])
            if block is None or size < 4:
                raise _broken(name, at)
            expected, found = int.from_bytes(body[:4], "little"), masked(crc32c(block))
            if found != expected:
                raise _damaged(
                    f"{name}: snappy: the chunk at byte {at}: expected the checksum {expected:#010x}, found {found:#010x} of "
                    "its content; the file was damaged"
                )
            yield block
        elif kind < FIRST_SKIPPABLE:
            raise _damaged(
                f"{name}: snappy: the chunk at byte {at} is of kind {kind}, which nobody may pass over; the file was damaged, "
                "or is of a later format"
            )
        elif kind == FRAMED[0] and head + body != FRAMED:
            raise _broken(name, at)
        at += 4 + size


def masked(checksum: int) -> int:
    """As the format stores it, so that a checksum of what holds checksums is still a good one."""
    return ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF


def _hadoop(raw: Any, start: bytes, name: str) -> Iterator[bytes]:
    def decoded(part: bytes, most: int) -> bytes:
        block = _decompressed(part)
        if block is None or len(block) > most:
            raise _damaged(f"{name}: snappy: a block does not decompress; the file was damaged")
        return block

    return hadoop_blocks(raw, start, decoded, lambda: _cut(name))


def _content_size(block: bytes) -> int:
    """A block begins with the size of its content; -1 where it does not."""
    size = 0
    for i, byte in enumerate(block[:MOST_VARINT_BYTES]):
        size |= (byte & 127) << 7 * i
        if byte < 128:
            return size
    return -1


def _decompressed(block: bytes) -> bytes | None:
    size = _content_size(block)
    # A snappy block holds at most 64 bytes a copy of three: a size beyond that is not one, and would only take memory.
    if size < 0 or size > 64 * len(block):
        return None
    try:
        content: bytes = pa.decompress(block, decompressed_size=size, codec=CODEC, asbytes=True)
    except (ValueError, OSError, pa.ArrowException):
        return None
    return content


def _cut(name: str) -> FormatError:
    return _damaged(f"{name}: snappy: expected the rest of a block, found the end of the file; it was cut")


def _broken(name: str, at: int) -> FormatError:
    return _damaged(f"{name}: snappy: the chunk at byte {at} does not decompress; the file was damaged")


def _damaged(message: str) -> FormatError:
    return FormatError(message, code="bad_compression")
