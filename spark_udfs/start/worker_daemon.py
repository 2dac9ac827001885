"""Spark's own daemon of Python workers, which has imported what our tasks need before it forks the first worker: a worker then
imports nothing, and all of them share the memory.

In: what Spark gives pyspark.daemon (`spark.python.daemon.module`, which su.configure sets where tasks run by the Python of the
program itself). Out: the same workers. A process with threads must not fork, so where an import has started one, Spark's daemon
takes over as it is. Refuses to know what workers do.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.machinery
import importlib.util
import os
import site
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

MODULE = "spark_udfs.start.worker_daemon"
DAEMON = "spark.python.daemon.module"
SETTINGS = {
    DAEMON: MODULE,
    # An allocator that comes with Arrow starts a thread when it is loaded, though nobody uses it, and a process with threads
    # must not fork.
    "spark.executorEnv.JE_ARROW_MALLOC_CONF": "background_thread:false",
}
SPARKS = "pyspark.daemon"
IMPORTED = (
    "pyspark.worker",
    "spark_udfs.files.read_task",
    "spark_udfs.pushdown.narrowing",
    "spark_udfs.pushdown.narrowed_reads",
)
ARCHIVE = "/python/lib/pyspark.zip"
THREADS = "/proc/self/task"
ENOUGH = 1  # what a worker ends with then, as without us: it is not used again


def can_serve() -> bool:
    """Whether this process's Python finds this module when it is started anew, not by what a program has done to its path."""
    if not os.path.isdir(THREADS) or os.environ.get("ARROW_DEFAULT_MEMORY_POOL") == "jemalloc":
        return False
    found_by_itself = [
        *os.environ.get("PYTHONPATH", "").split(os.pathsep),
        *site.getsitepackages(),
        site.getusersitepackages(),
    ]
    if importlib.machinery.PathFinder.find_spec("spark_udfs", [path for path in found_by_itself if path]):
        return True
    editable = [finder for finder in sys.meta_path if "__editable__" in getattr(finder, "__module__", "")]
    return any(finder.find_spec("spark_udfs", None) for finder in editable)


def serve() -> None:
    with quickly_found():
        for name in IMPORTED:
            importlib.import_module(name)
    if len(os.listdir(THREADS)) > 1:
        os.execv(sys.executable, [sys.executable, "-m", SPARKS, *sys.argv[1:]])
    gc.collect()
    gc.freeze()  # no collection writes to what workers share
    daemon: Any = importlib.import_module(SPARKS)
    daemon.worker = until_enough(daemon.worker)
    daemon.manager()


@contextmanager
def quickly_found() -> Iterator[None]:
    """Spark has its workers import PySpark out of an archive of sources, which are compiled each time. Where that lies inside of
    the installed package that it is an archive of, the package is what is imported."""
    before = sys.path[:]
    for path in before:
        installed = path.removesuffix(ARCHIVE)
        if installed != path:
            sys.path.remove(path)
            found = importlib.util.find_spec("pyspark")
            origin = None if found is None else found.origin
            if not origin or not is_same_file(origin, os.path.join(installed, "__init__.py")):
                sys.path[:] = before
    yield
    sys.path[:] = before


def is_same_file(one: str, other: str) -> bool:
    """An environment has more than one name where a link leads to it."""
    return os.path.realpath(one) == os.path.realpath(other)


def until_enough(worker: Callable[..., int]) -> Callable[..., int]:
    """Spark closes a worker's socket when a query has the rows it wants (`limit`, `show`). That is no failure to tell of on a
    user's screen in a traceback, as the daemon would."""

    @functools.wraps(worker)
    def ending(*arguments: Any) -> int:
        try:
            return worker(*arguments)
        except BrokenPipeError:
            return ENOUGH

    return ending


if __name__ == "__main__":
    serve()
