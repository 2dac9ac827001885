"""What one session has compiled and tried, for the sessions after it: compiling takes half a second of a start, trying a query.

In: what a class is made of and runs on (its sources, the Spark, the Java). Out: its jar in the user's cache folder, and beside
it, once the class was shown to do what it is for, the proof: a digest of that very jar. Files are written whole or not at all, so
sessions that start together do no harm; a folder that cannot be written, or a file that is damaged, costs time and nothing else.
Refuses to know the JVM.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
import zipfile
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import formatter as fm

DIGITS = 32  # of a digest in a file's name


def cache_folder() -> Path:
    """The user's; one that cannot be, where the user has none (a number without a name, in a container)."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):  # the convention passes over others
        return Path(given, "formatter")
    try:
        return Path.home() / ".cache" / "formatter"
    except RuntimeError:
        return Path(os.devnull, "formatter")


def stamp_of(path: str) -> str:
    """A file that is another has another, also where it has the same name."""
    try:
        status = os.stat(path)
    except OSError:  # not on this machine
        return path
    return f"{path} {status.st_size} {status.st_mtime_ns}"


@dataclass(frozen=True)
class KeptClasses:
    jar: Path

    @property
    def proof(self) -> Path:
        return self.jar.with_suffix(".proven")

    def keep(self, classes: Mapping[str, Any]) -> None:
        with suppress(OSError):  # nowhere to keep it
            self.jar.parent.mkdir(parents=True, exist_ok=True)
            write_jar(self.jar, classes)

    def is_whole(self) -> bool:
        """Every class as it was written: the JVM looks at one when it needs it, and by then a rule is attached that cannot work."""
        with suppress(Exception), zipfile.ZipFile(self.jar) as jar:  # whatever is there instead of one
            return jar.testzip() is None
        return False

    def is_proven(self) -> bool:
        try:
            return self.proof.read_text(encoding="utf-8") == _digest(self.jar.read_bytes())
        except (OSError, UnicodeDecodeError):
            return False

    def prove(self) -> None:
        with suppress(OSError):
            _write_whole(self.proof, _digest(self.jar.read_bytes()).encode())


def kept_classes(name: str, made_of: Iterable[str]) -> KeptClasses:
    """By everything that could make a difference."""
    told = "\0".join((fm.__version__, *made_of))
    return KeptClasses(cache_folder() / f"{name}-{_digest(told.encode())[:DIGITS]}.jar")


def write_jar(path: Path, classes: Mapping[str, Any]) -> None:
    """The same classes make the same jar."""
    part = io.BytesIO()
    with zipfile.ZipFile(part, "w") as archive:
        for name, code in classes.items():
            archive.writestr(
                zipfile.ZipInfo(name.replace(".", "/") + ".class"), bytes(code)
            )  # at no time: the same bytes again
    _write_whole(path, part.getvalue())


def _write_whole(path: Path, content: bytes) -> None:
    """All of it or nothing, whoever else writes it."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        part = Path(folder, path.name)
        part.write_bytes(content)
        part.replace(path)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
