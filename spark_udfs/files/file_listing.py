"""Which files a path means, and what their folders' names say of them.

In: a path, glob, directory, URI, or a list of these. Out: files with size, time and partition values (`k=v` folders), in
order of name. Lists and stats on the driver; never opens a file. Names that begin with '_' or '.' are hidden, as
everywhere in Spark.
"""

from __future__ import annotations

import fnmatch
import os
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any
from urllib.parse import quote, unquote

from pyarrow import fs

import formatter as fm
from formatter.errors import shown

HADOOPS_S3 = re.compile("^s3[an]://")  # its names for what others call s3
HDFS_NEEDS = (
    "set JAVA_HOME, HADOOP_HOME and CLASSPATH (`hadoop classpath --glob`), here and on executors, or give filesystem="
)
PARAMETERS = re.compile(r"\?\w+=")  # of a URI; elsewhere '?' is any character of a name
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"

Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


@dataclass(frozen=True)
class FoundFile:
    """`path` as tasks open it. `partition`: the names and raw values of the k=v folders between its root and itself.
    `plain_folders`: how many folders of other names are between what was asked for and itself. `root`: where those of k=v begin."""

    path: str
    size: int
    modified_ns: int | None = None
    partition: tuple[tuple[str, str | None], ...] = ()
    plain_folders: int = 0
    root: str = ""


@dataclass(frozen=True)
class Storage:
    """Where paths are looked up. Travels with tasks, so a filesystem given here must pickle, as those of pyarrow do."""

    filesystem: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, filesystem: Any, options: Mapping[str, Any] | None) -> Storage:
        if filesystem is None or isinstance(filesystem, fs.FileSystem):
            return cls(filesystem, dict(options or {}))
        if hasattr(filesystem, "open") and hasattr(filesystem, "find"):
            return cls(fs.PyFileSystem(fs.FSSpecHandler(filesystem)), dict(options or {}))
        found = type(filesystem).__name__
        raise fm.OptionError(f"spark: filesystem is one of pyarrow.fs or of fsspec, found {found}")

    def resolve(self, path: str) -> tuple[fs.FileSystem, str]:
        """The filesystem a path belongs to, and the path as that filesystem spells it."""
        if self.filesystem is not None:
            return self.filesystem, path
        if "://" not in path:
            return fs.LocalFileSystem(), os.path.abspath(
                path.removeprefix("file:") if path.startswith("file:/") else path
            )
        if self.options:
            return self._by_fsspec(path)
        try:
            return fs.FileSystem.from_uri(_escaped(HADOOPS_S3.sub("s3://", path)))  # type: ignore[no-any-return]
        except OSError as error:  # a library that it needs goes on for pages
            needs = HDFS_NEEDS if path.startswith(("hdfs:", "viewfs:")) else "give storage_options= or filesystem="
            raise fm.OptionError(f"spark: {path!r} cannot be reached: {str(error).splitlines()[0]}; {needs}") from None
        except (ValueError, NotImplementedError) as error:
            try:
                return self._by_fsspec(path)
            except ValueError:
                scheme = path.partition("://")[0]
                raise fm.OptionError(
                    f"spark: {path!r}: neither pyarrow.fs nor fsspec knows {scheme!r}; install the package that does, or give "
                    "filesystem="
                ) from error

    def _by_fsspec(self, path: str) -> tuple[fs.FileSystem, str]:
        try:
            from fsspec.core import url_to_fs  # type: ignore[import-untyped]
        except ImportError:
            scheme = path.partition("://")[0]
            raise fm.OptionError(f"spark: {path!r}: {scheme!r} needs fsspec; run: pip install fsspec") from None
        try:
            filesystem, inner = url_to_fs(path, **self.options)
        except ImportError as error:  # which names the package that is missing
            raise fm.OptionError(f"spark: {path!r}: {error}, here and on executors, or give filesystem=") from None
        return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), inner


LOCAL = Storage()


def list_files(
    paths: Paths,
    *,
    storage: Storage = LOCAL,
    base_path: str | os.PathLike[str] | None = None,
    may_be_empty: bool = False,
) -> list[FoundFile]:
    """Files behind the paths, each path's in order of name. A path that means no file is an error.

    may_be_empty: a folder without files is none. base_path: where partition folders begin; without it, at each path (or at
    each folder a glob matches).
    """
    return [file for path in listed(paths) for file in _files_of(path, storage, base_path, may_be_empty)]


def listed(paths: Paths) -> list[str]:
    """Each path as text, whatever they were given as."""
    several = list(paths) if isinstance(paths, Iterable) and not isinstance(paths, (str, bytes)) else [paths]
    for path in several:
        if not isinstance(path, (str, os.PathLike)):
            raise fm.OptionError(
                f"spark: a path is a text or a pathlib.Path, several are a list of them, found {shown(path)}"
            )
    if not several:
        raise fm.OptionError("spark: no paths are given to read")
    return [os.fspath(path) for path in several]


def _files_of(path: str, storage: Storage, base_path: Any, may_be_empty: bool) -> list[FoundFile]:
    patterns = list(dict.fromkeys(_alternatives(path)))
    if len(patterns) == 1 or _exists(path, storage):
        patterns = [path]  # its braces are its own
    found = [_files_at(pattern, storage, base_path, may_be_empty) for pattern in patterns]
    if all(files is None for files in found):
        raise FileNotFoundError(f"spark: no files at {path!r}")
    return sorted((file for files in found for file in files or ()), key=lambda file: file.path)


def _exists(path: str, storage: Storage) -> bool:
    if "://" in path:
        return False  # a URI has no braces
    filesystem, inner = storage.resolve(path)
    return bool(filesystem.get_file_info(inner).type != fs.FileType.NotFound)


def _files_at(path: str, storage: Storage, base_path: Any, may_be_empty: bool) -> list[FoundFile] | None:
    """Of one file, folder or glob; None where it means nothing."""
    filesystem, inner = storage.resolve(path)
    inner = inner.rstrip("/") or inner[:1]
    base = None if base_path is None else _base(path, inner, os.fspath(base_path), storage)
    start = _uri_start(path, inner) if storage.filesystem is None and "://" in path else ("", "")
    folder = inner
    exact = filesystem.get_file_info(inner)
    if exact.type == fs.FileType.File:
        return [_found(exact, start, posixpath.dirname(inner) if base is None else base)]
    is_glob = exact.type == fs.FileType.NotFound and any(character in inner for character in "*?[")
    while is_glob and any(character in folder for character in "*?["):
        folder = posixpath.dirname(folder)
    depth = len(inner.split("/")) if inner else 0
    files = []
    for info in filesystem.get_file_info(fs.FileSelector(folder, allow_not_found=True, recursive=True)):
        if info.type != fs.FileType.File or not _is_visible(info.path, folder):
            continue
        if is_glob and not _matches(info.path, inner):
            continue
        asked = "/".join(info.path.split("/")[:depth])
        files.append(_found(info, start, asked if base is None else base, asked))
    return files if files or (may_be_empty and exact.type == fs.FileType.Directory) else None


def _base(path: str, inner: str, base_path: str, storage: Storage) -> str:
    """Where k=v folders begin, as the filesystem spells it: a folder, at the path or above it."""
    filesystem, base = storage.resolve(base_path)
    base = base.rstrip("/") or base[:1]
    if filesystem.get_file_info(base).type == fs.FileType.File:
        raise fm.OptionError(f"spark: base path {base_path!r}: expected a folder, found a file")
    if base and not f"{inner}/".startswith(base if base.endswith("/") else f"{base}/"):
        raise fm.OptionError(
            f"spark: base path {base_path!r}: expected a folder at or above {path!r}; name the one where k=v begins"
        )
    return base


def _alternatives(pattern: str) -> list[str]:
    """`a/{b,c}.csv` means two patterns, as in Hadoop's globs."""
    opened = depth = -1
    commas: list[int] = []
    for at, character in enumerate(pattern):
        if character == "{":
            depth += 1
            if depth == 0:
                opened, commas = at, []
        elif character == "," and depth == 0:
            commas.append(at)
        elif character == "}" and depth >= 0:
            depth -= 1
            if depth < 0:
                cuts = [opened, *commas, at]
                each = (pattern[begin + 1 : end] for begin, end in pairwise(cuts))
                return [one for text in each for one in _alternatives(pattern[:opened] + text + pattern[at + 1 :])]
    return [pattern]


def _escaped(uri: str) -> str:
    """So that all of its path stands for itself, as in Hadoop's paths: folders of Spark's own have `%3A` in their names."""
    scheme, _, rest = uri.partition("://")
    authority, slash, path = rest.partition("/")
    return f"{scheme}://{authority}{slash}{quote(path)}"


def _uri_start(path: str, inner: str) -> tuple[str, str]:
    """What URIs of this filesystem begin with, and what its own paths begin with in place of that."""
    bare = path.rstrip("/")
    if bare == inner:  # http's do not
        return "", ""
    scheme, _, rest = bare.partition("://")
    authority, slash, below = rest.partition("/")
    if PARAMETERS.search(below):
        raise fm.OptionError(
            f"spark: {path!r} has parameters; give them in storage_options= or in the environment instead"
        )
    if bare.endswith(inner):
        return bare.removesuffix(inner), ""
    if inner.endswith(slash + below):
        return f"{scheme}://{authority}", inner.removesuffix(slash + below)
    raise fm.OptionError(
        f"spark: {path!r} is {inner!r} to its filesystem, whose other files nobody could name then; give filesystem="
    )


def _found(info: fs.FileInfo, start: tuple[str, str], root: str, asked: str | None = None) -> FoundFile:
    between = [] if asked is None else info.path[len(asked) :].strip("/").split("/")[:-1]
    plain = sum("=" not in name for name in between)
    path = start[0] + info.path.removeprefix(start[1])
    return FoundFile(path, info.size or 0, info.mtime_ns, _partition_of(info.path, root), plain, root)


def _is_visible(path: str, folder: str) -> bool:
    below = posixpath.relpath(path, folder).split("/")
    hidden = (name.startswith(".") or (name.startswith("_") and "=" not in name) for name in below)
    return not any(hidden)


def _matches(path: str, pattern: str) -> bool:
    """Whether a glob means this file, or a folder above it; '*' stays inside one name."""
    wanted, names = pattern.replace("[^", "[!").split("/"), path.split("/")
    return len(names) >= len(wanted) and all(map(fnmatch.fnmatchcase, names, wanted))


def _partition_of(path: str, root: str) -> tuple[tuple[str, str | None], ...]:
    above = f"{root}/" if root else ""
    if not path.startswith(above):
        return ()
    pairs = (name.partition("=") for name in path[len(above) :].split("/")[:-1])
    return tuple(
        (unquote(key), None if value == NO_VALUE else unquote(value)) for key, equals, value in pairs if equals and key
    )
