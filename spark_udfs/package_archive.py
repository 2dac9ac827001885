"""The built package as an archive that Spark unpacks on executors, which then need no compiler, no pip and no install.

In: a target path. Out: a .tar.gz of formatter with its compiled core, spark_udfs, and any packages they shall bring along.
It suits executors of the same platform and Python version as the process that writes it. Knows nothing of sessions.
"""

from __future__ import annotations

import importlib.util
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

import formatter as fm

OURS = ("formatter", "spark_udfs")
FOLDER = "formatter_archive"  # what executors find it unpacked as
LEFT_OUT = {".cpp", ".hpp", ".h", ".pxi", ".pyx", ".pxd", ".pyc", ".a", ".o"}
FOLDERS_LEFT_OUT = {"__pycache__", "tests", "include", "src"}


def archive(target: str | os.PathLike[str], *, packages: Sequence[str] = ()) -> Path:
    """Writes this package, and others if wanted, as an archive that executors unpack.

    Args:
        target: The file to write.
        packages: Others to bring along, e.g. ("numpy", "pyarrow") for executors whose Python has nothing at all.

    Returns:
        Its path, for `su.configure(..., archive=...)`.

    Raises:
        ImportError: A package that is not installed here.

    Example:
        >>> import os, tempfile, spark_udfs as su
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     os.path.getsize(su.archive(os.path.join(folder, "formatter.tar.gz"))) > 100_000
        True
    """
    path = Path(target)
    if not path.name.endswith((".tar.gz", ".tgz")):
        raise fm.OptionError(f"spark: archive: expected a path that ends with .tar.gz, found {path.name!r}")
    with tarfile.open(path, "w:gz", compresslevel=1) as tar:
        for name in (*OURS, *packages):
            for folder in _folders_of(name):
                tar.add(folder, folder.name, filter=_kept)
    return path


def archive_settings(path: str | os.PathLike[str]) -> dict[str, str]:
    """The Spark settings that unpack an archive on each executor and let its Python find it first."""
    return {"spark.archives": f"{os.fspath(path)}#{FOLDER}", "spark.executorEnv.PYTHONPATH": f"./{FOLDER}"}


def _folders_of(name: str) -> list[Path]:
    """A package's folder, and the one that wheels put its shared libraries in."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None or not spec.submodule_search_locations:
        raise fm.OptionError(f"spark: archive: {name!r} is no package that is installed here")
    folder = Path(spec.origin).parent
    libraries = folder.with_name(f"{name}.libs")
    return [folder, libraries] if libraries.is_dir() else [folder]


def _kept(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
    path = Path(info.name)
    if path.suffix in LEFT_OUT or (path.parts[0] in OURS and path.name == "__pycache__"):
        return None
    if info.isdir() and len(path.parts) > 1 and path.name in FOLDERS_LEFT_OUT and path.parts[0] not in OURS:
        return None
    info.uid = info.gid = 0
    info.uname = info.gname = ""
    return info
