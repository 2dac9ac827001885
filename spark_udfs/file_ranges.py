"""Which files a path means, and which byte range of them each task reads.

In: a path, glob, directory, URI, or a list of these. Out: FileRange rows, small enough to travel with the task. Lists
and stats files on the driver; never opens one. Names that begin with '_' or '.' are hidden, as everywhere in Spark.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyarrow import fs

import formatter as fm

COMPRESSED_SUFFIXES = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4"}


@dataclass(frozen=True)
class FileRange:
    """`length` bytes of a file from `offset` on; its first chunk is number `sequence`. With a codec: all of it."""

    path: str
    offset: int
    length: int
    sequence: int
    codec: str | None = None


@dataclass(frozen=True)
class FoundFile:
    path: str
    size: int


def codec_of(path: str) -> str | None:
    return COMPRESSED_SUFFIXES.get(posixpath.splitext(path)[1])


def filesystem_of(path: str) -> tuple[fs.FileSystem, str]:
    """The filesystem a path belongs to, and the path as that filesystem spells it."""
    if "://" in path:
        return fs.FileSystem.from_uri(path)  # type: ignore[no-any-return]
    return fs.LocalFileSystem(), os.path.abspath(path)


def list_files(paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[FoundFile]:
    """Files behind the paths, each path's in order of name. A path that means no file is an error."""
    several = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    found = [file for path in several for file in _files_of(os.fspath(path))]
    if not found:
        raise fm.OptionError("spark: no paths are given to read")
    return found


def _files_of(path: str) -> list[FoundFile]:
    filesystem, inner = filesystem_of(path)
    if "://" in path and not path.endswith(inner):
        raise fm.OptionError(f"spark: {path!r} has parameters; give them in the environment or configuration instead")
    prefix = path[: -len(inner)] if "://" in path else ""
    folder = inner
    while any(character in folder for character in "*?["):
        folder = posixpath.dirname(folder)
    root = filesystem.get_file_info(folder)
    if root.type == fs.FileType.File:
        return [FoundFile(prefix + inner, root.size)]
    infos = filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True))
    files = [
        FoundFile(prefix + info.path, info.size)
        for info in infos
        if info.type == fs.FileType.File and _is_visible(info.path, folder) and _matches(info.path, inner, folder)
    ]
    if not files:
        raise FileNotFoundError(f"spark: no files at {path!r}")
    return sorted(files, key=lambda file: file.path)


def _is_visible(path: str, folder: str) -> bool:
    below = posixpath.relpath(path, folder).split("/")
    return not any(name.startswith(("_", ".")) for name in below)


def _matches(path: str, pattern: str, folder: str) -> bool:
    """Whether a glob means this file, or a folder above it; '*' stays inside one name."""
    if pattern == folder:
        return True
    wanted, names = pattern.split("/"), path.split("/")
    return len(names) >= len(wanted) and all(map(fnmatch.fnmatchcase, names, wanted))


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
