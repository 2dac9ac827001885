"""Compressed inputs as streams of their content: which codec a name means, and how each is opened.

In: a binary stream that stands at its beginning, and a codec. Out: a stream of the content, whose errors name the input. Every
reader of compressed bytes opens them here. Refuses to know: filesystems, records.
"""

from __future__ import annotations

import io
import posixpath
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from formatter.errors import OptionError
from formatter.lz4_stream import lz4_stream
from formatter.member_streams import inflated, unpacked_xz
from formatter.snappy_stream import snappy_stream

_OF_SUFFIX = {
    ".gz": "gzip", ".gzip": "gzip", ".bz2": "bz2", ".zst": "zstd", ".zstd": "zstd", ".lz4": "lz4", ".snappy": "snappy",
    ".br": "brotli", ".deflate": "deflate", ".xz": "xz",
}  # fmt: skip
CODECS = tuple(dict.fromkeys(_OF_SUFFIX.values()))


def codec_of(path: str) -> str | None:
    """What a file's name says of how it is compressed."""
    return _OF_SUFFIX.get(posixpath.splitext(path)[1].lower())


def checked_codec(codec: str | None) -> str | None:
    if codec is not None and codec not in CODECS:
        raise OptionError(f"codec: expected one of {', '.join(CODECS)}, found {codec!r}")
    return codec


class Decompressed(io.RawIOBase):
    """The content of `raw`, which is closed with it. Offsets are those of the content."""

    def __init__(self, raw: Any, codec: str, name: str) -> None:
        self._stream = _STREAMS.get(codec, _by_arrow)(raw, codec, name)
        self._codec = codec
        self._name = name

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        try:
            return int(self._stream.readinto(into))
        except (OSError, pa.ArrowException) as error:
            raise OSError(
                f"{self._name}: expected {self._codec}, found other or missing bytes ({error}); name the codec it was written "
                "with in codec=, or bring the whole file"
            ) from error

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def _by_arrow(raw: Any, codec: str, name: str) -> Any:
    return pa.CompressedInputStream(raw if isinstance(raw, pa.NativeFile) else pa.PythonFile(raw, mode="r"), codec)


def _lz4(raw: Any, codec: str, name: str) -> Any:
    return lz4_stream(raw, name, lambda frames: _by_arrow(frames, codec, name))


_STREAMS: dict[str, Callable[[Any, str, str], Any]] = {
    "snappy": lambda raw, codec, name: snappy_stream(raw, name),
    "deflate": lambda raw, codec, name: inflated(raw, name),
    "xz": lambda raw, codec, name: unpacked_xz(raw, name),
    "lz4": _lz4,
}
