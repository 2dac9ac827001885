"""Where whole inputs come from. In: bytes-like, a path, paths, a file object. Out: windows of bytes, first to last.

Memory is one window, looked at in place. Files are read (not mapped: mapped pages would count as resident memory) in
windows of bounded size, decompressed on the way if their suffix or `codec` says so.
"""

from __future__ import annotations

import errno
import glob
import io
import os
import stat
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.codecs import Decompressed, checked_codec, codec_of
from formatter.errors import FOUND_LIMIT, OptionError

NO_NAME = "the input"
PATH_LIMIT = 4096

Source = Any  # bytes-like, str, os.PathLike, a sequence of paths, or a binary file object


def is_bytes_like(source: object) -> bool:
    if isinstance(source, bytes | bytearray | memoryview | pa.Buffer):
        return True
    return hasattr(source, "__array_interface__") and hasattr(source, "nbytes")


def inputs(source: Source, codec: str | None) -> Iterator[Input]:
    """The separate inputs of a source; each may have its own header."""
    checked_codec(codec)
    if is_bytes_like(source):
        yield Memory(source, codec) if codec else Memory(source)
    elif isinstance(source, str | os.PathLike):
        yield File(source, codec)
    elif hasattr(source, "read"):
        yield Readable(source, codec)
    elif isinstance(source, Iterable):
        for item in source:
            yield from inputs(item, codec)
    else:
        raise OptionError(
            f"source: expected bytes, a path, paths or a binary file object, found {type(source).__name__}"
        )


class Input:
    """One input; `windows` yields (bytes so far unread, whether they are the last)."""

    name: str | None = None  # as errors call it
    codec: str | None = None
    contiguous = False

    def open(self, threads: int) -> Any:
        raise TypeError("contiguous inputs are not opened")

    def windows(self, size: int, threads: int = 1) -> Generator[tuple[memoryview, bool], int, None]:
        """The reader sends back how many bytes of the window it has used; the rest stands first in the next."""
        window = _take_window(size)
        carried = 0
        with closing(self.open(threads)) as stream:
            last = False
            while not last:
                if carried > len(window) // 2:  # a record longer than the window: look further
                    longer = memoryview(bytearray(3 * carried))
                    longer[:carried] = window[:carried]
                    window = longer
                filled, last = _fill(stream, window, carried)
                used = yield window[:filled], last
                carried = filled - used
                window[:carried] = window[used:filled]
        _give_window(window)


# Windows of finished inputs: fresh pages take longer to come by than the bytes in them take to parse.
_spare_windows: list[memoryview] = []
SPARE_WINDOWS_MOST = 2
SPARE_WINDOW_BYTES_MOST = 16 << 20


def _take_window(size: int) -> memoryview:
    try:
        window = _spare_windows.pop()
    except IndexError:  # none, or another thread was faster
        return memoryview(bytearray(size))
    return window if len(window) == size else memoryview(bytearray(size))


def _give_window(window: memoryview) -> None:
    if len(_spare_windows) < SPARE_WINDOWS_MOST and len(window) <= SPARE_WINDOW_BYTES_MOST:
        _spare_windows.append(window)


class Memory(Input):
    contiguous = True

    def __init__(self, data: Any, codec: str | None = None) -> None:
        view = memoryview(data)
        self.data = view if view.c_contiguous and view.format == "B" and view.ndim == 1 else view.cast("B")
        self.codec = codec
        if codec:
            self.contiguous = False

    def open(self, threads: int) -> Any:
        return Decompressed(pa.BufferReader(pa.py_buffer(self.data)), str(self.codec), NO_NAME)


class File(Input):
    def __init__(self, given: str | os.PathLike[str], codec: str | None) -> None:
        self.given = given
        self.path = Path(given)
        self.name = str(self.path)
        self.codec = codec or codec_of(self.path.name)

    def open(self, threads: int) -> Any:
        try:
            raw = open(self.path, "rb", buffering=0)  # noqa: SIM115  (windows() closes it)
        except OSError as error:
            if remedy := _instead_of_path(os.fspath(self.given), error):
                raise type(error)(error.errno, f"{error.strerror}; {remedy}", _shortened(self.given)) from None
            raise
        if self.codec:
            return Decompressed(raw, self.codec, str(self.path))
        return _Shared(raw, threads) if threads > 1 and stat.S_ISREG(os.fstat(raw.fileno()).st_mode) else raw


def _shortened(path: str | os.PathLike[str]) -> str:
    """A path as it was given, unless it is a whole text."""
    text = os.fspath(path)
    return text if len(text) < PATH_LIMIT else f"{text[:FOUND_LIMIT]}..."


def _instead_of_path(path: str, error: OSError) -> str:
    """What to give in place of a path that leads nowhere."""
    if isinstance(error, IsADirectoryError):
        return "give its files, as by sorted(pathlib.Path(folder).iterdir())"
    if error.errno not in (errno.ENOENT, errno.ENAMETOOLONG):
        return ""
    if "\n" in path or path[:1] in ("{", "["):
        return "a str is a path: give text itself as bytes, by .encode()"
    if "://" in path:
        return "a path is one of this machine: open another place as a file, as fsspec and pyarrow.fs do, and give that"
    if path.startswith("~"):
        return "give os.path.expanduser(path)"
    return "give glob.glob(pattern), a list" if glob.has_magic(path) else ""


class Readable(Input):
    """The caller's file object, which stays the caller's to close."""

    def __init__(self, stream: Any, codec: str | None) -> None:
        name = getattr(stream, "name", None)  # a number where a pipe or socket was opened by its handle
        self.name = name if isinstance(name, str) else None
        self.stream = stream
        self.codec = codec

    def open(self, threads: int) -> Any:
        raw = _Unclosed(self.stream)
        return Decompressed(raw, self.codec, self.name or NO_NAME) if self.codec else raw


class _Shared:
    """A file that several threads read at once, each another part of a window."""

    def __init__(self, file: io.FileIO, threads: int) -> None:
        self.file = file
        self.threads = threads
        self.at = 0

    def readinto(self, window: memoryview) -> int:
        got = _core.read_file(self.file.fileno(), self.at, window, self.threads)
        self.at += got
        return got

    def close(self) -> None:
        self.file.close()


class _Unclosed:
    closed = False

    def __init__(self, stream: Any) -> None:
        self.read = stream.read
        if hasattr(stream, "readinto"):
            self.readinto = stream.readinto

    def close(self) -> None:
        pass


def _fill(stream: Any, window: memoryview, filled: int) -> tuple[int, bool]:
    """Reads until the window is full or the stream ends."""
    readinto = getattr(stream, "readinto", None)
    while filled < len(window):
        if readinto is not None:
            got = readinto(window[filled:])
        else:
            data = stream.read(len(window) - filled)
            if isinstance(data, str):
                raise OptionError("source: expected a binary file object, found one in text mode; open it with 'rb'")
            got = len(data)
            window[filled : filled + got] = data
        if not got:
            return filled, True
        filled += got
    return filled, False
