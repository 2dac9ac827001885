"""Cache folders for sessions of ours: as any session before leaves one, and with the classes that su.faster_start() keeps.

In: a folder. Out: two folders to be told as XDG_CACHE_HOME; what the user's own holds is of no matter then.
Refuses to know: what sessions do.
"""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from pathlib import Path

from bench.stable import ROOT

MADE_BY = "from java_home import use_java; use_java(); import spark_udfs as su; su.faster_start()"
CLASSES = "*.jsa"


@functools.cache  # two questions ask
def session_caches(folder: Path) -> tuple[Path, Path]:
    """Made by a session of some twenty seconds, unless they are there for this Java and this Spark."""
    usual, faster = folder / "cache of sessions", folder / "cache of faster starts"
    seen = os.pathsep.join(str(path) for path in (ROOT / "src", ROOT, ROOT / "tools"))
    told = {**os.environ, "PYTHONPATH": seen, "XDG_CACHE_HOME": str(faster), "PYSPARK_PYTHON": sys.executable}
    subprocess.run([sys.executable, "-c", MADE_BY], env=told, check=True, capture_output=True)
    shutil.copytree(faster, usual, ignore=shutil.ignore_patterns(CLASSES), dirs_exist_ok=True)
    return usual, faster
