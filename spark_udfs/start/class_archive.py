"""Classes that a session loads, kept as the JVM wants them in memory (its "class data sharing"): the next sessions map a file
where they would read, check and link ten thousand classes, which is half of what a start costs.

In: the Java and the Spark of this process. Out: an archive in the user's cache folder, and the options by which a JVM uses it. The
JVM checks that an archive is of itself and of the same jars, and starts without it if not. Refuses to know what sessions do.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pyspark.find_spark_home import (
    _find_spark_home as spark_home,  # nothing public tells where a session's JVM is to come from
)

import formatter as fm
from spark_udfs.jvm.kept_classes import cache_folder, stamp_of

OPTIONS = "SPARK_SUBMIT_OPTS"  # of the environment, for a JVM that is launched; beside what any configuration says
QUIET = "-Xlog:disable -Xlog:all=error:stderr"  # of an archive that does not fit; without it classes are loaded as ever
LONGEST_MINUTES = 10
DIGITS = 32


def faster_start() -> Path:
    """Has sessions of `su.configure` start faster on this machine from now on: their JVM finds its classes ready.

    Runs a session of its own, some twenty seconds, and keeps the classes that it has loaded, some 150 MB, in the user's cache
    folder. It is for one Java and one Spark; where those are others it is called anew, and where they are the same it has
    nothing to do.

    Returns:
        The file. Whoever deletes it has sessions that start as before.

    Raises:
        OptionError: No Java, or one that can keep no classes, or nowhere to keep them.

    Example:
        >>> import spark_udfs as su
        >>> su.faster_start().suffix
        '.jsa'
    """
    kept = archive_path()
    if kept is None:
        raise fm.OptionError("spark: no Java is found: set JAVA_HOME, or have `java` in PATH")
    if not os.path.exists(kept):
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise fm.OptionError(
                f"spark: classes cannot be kept ({error}); set XDG_CACHE_HOME to a folder of yours"
            ) from error
        with tempfile.TemporaryDirectory(dir=kept.parent) as folder:
            made = Path(folder, kept.name)
            _run_session(f"-XX:ArchiveClassesAtExit={made}")
            made.replace(kept)
    return kept


def use_class_archive() -> None:
    """For the JVM that this process is going to launch, if there is an archive for it."""
    kept, given = archive_path(), os.environ.get(OPTIONS, "")
    if kept is not None and os.path.exists(kept) and "SharedArchiveFile" not in given:
        os.environ[OPTIONS] = f"{given} {_option(f'-XX:SharedArchiveFile={kept}')} -Xshare:auto {QUIET}".strip()


def archive_path() -> Path | None:
    """Where that of this Java and this Spark is kept; None without a Java."""
    java = _java()
    if java is None:
        return None
    real = java.resolve()
    parts = [stamp_of(str(path)) for path in (java, real, real.parent.parent / "lib" / "modules")]
    parts += sorted(stamp_of(entry.path) for entry in os.scandir(Path(spark_home(), "jars")))
    return cache_folder() / f"classes-{hashlib.sha256(chr(0).join(parts).encode()).hexdigest()[:DIGITS]}.jsa"


def _java() -> Path | None:
    """As Spark's launcher looks for it."""
    if home := os.environ.get("JAVA_HOME"):
        return Path(home, "bin", "java")
    found = shutil.which("java")
    return Path(found) if found else None


def _run_session(option: str) -> None:
    """One that loads what sessions load, in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if name != OPTIONS}
    environment[OPTIONS] = f"{_option(option)} {QUIET}"
    environment["PYSPARK_PYTHON"] = sys.executable
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-m", "spark_udfs.sample_session"]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=LONGEST_MINUTES * 60, check=False
    )
    made = Path(option.partition("=")[2])
    if done.returncode or not made.exists():
        said = (done.stderr.strip() or done.stdout.strip() or "nothing was said").splitlines()
        raise fm.OptionError(f"spark: this Java keeps no classes ({said[-1]}); sessions start as before")


def _option(text: str) -> str:
    """As Spark's launcher reads a list of options: quotes keep a path with blanks together."""
    return shlex.quote(text) if text != shlex.quote(text) else text
