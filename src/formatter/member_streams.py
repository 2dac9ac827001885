"""Compressed files of members, one put behind another, that Python's own libraries read: `.deflate` and `.xz`.

In: a binary stream, from its beginning. Out: a stream of its content, so much in memory at a time however little it was
compressed to. Refuses to know: paths; `name` is for messages.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any, Protocol

from formatter.block_stream import READ_BYTES, BlockStream, damaged

DEFLATE, XZ = "deflate", "xz"


class Member(Protocol):
    """One member being unpacked, as `lzma.LZMADecompressor` does it."""

    eof: bool
    needs_input: bool
    unused_data: bytes

    def decompress(self, data: bytes, max_length: int = -1) -> bytes: ...


class _Inflated:
    """A member of deflate, which zlib would have its caller keep the rest of."""

    def __init__(self) -> None:
        self._zlib = zlib.decompressobj()

    @property
    def eof(self) -> bool:
        return self._zlib.eof

    @property
    def needs_input(self) -> bool:
        return not self._zlib.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._zlib.unused_data

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        return self._zlib.decompress(self._zlib.unconsumed_tail + data, max_length)


def inflated(raw: Any, name: str) -> BlockStream:
    return BlockStream(_content(raw, name, DEFLATE, _Inflated, zlib.error), raw)


def unpacked_xz(raw: Any, name: str) -> BlockStream:
    import lzma  # some builds of Python lack it

    return BlockStream(_content(raw, name, XZ, lzma.LZMADecompressor, lzma.LZMAError, padding=b"\0"), raw)


def _content(
    raw: Any, name: str, codec: str, new_member: Callable[[], Any], broken: type[Exception], padding: bytes = b""
) -> Iterator[bytes]:
    """padding: what may stand between members."""
    member: Member | None = None
    try:
        while block := raw.read(READ_BYTES):
            while block:
                if member is None:
                    block = block.lstrip(padding)
                    if not block:
                        break
                    member = new_member()
                yield member.decompress(block, READ_BYTES)
                while not (member.eof or member.needs_input):
                    yield member.decompress(b"", READ_BYTES)
                block = member.unused_data
                if member.eof:
                    member = None
    except broken as error:
        raise damaged(name, codec, str(error)) from error
    if member is not None:
        raise damaged(name, codec, "it ends in the middle")
