"""What a number means nothing without: the machine, the versions, the commit.

In: nothing. Out: a dictionary for the record. Refuses to know: any result.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from pathlib import Path
from typing import Any

LIBRARIES = (
    "numpy", "pyarrow", "polars", "duckdb", "datafusion", "pandas", "chdb", "orjson", "msgspec", "pysimdjson",
    "rapidgzip", "pyspark",
)  # fmt: skip


def _matching_line(path: str, key: str) -> str:
    for line in Path(path).read_text().splitlines():
        if line.startswith(key):
            return line.split(":", 1)[1].strip()
    return "unknown"


def _version(library: str) -> str:
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return "unknown"


def _commit() -> str:
    try:
        said = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
    except OSError:  # no git
        said = ""
    return said.strip() or "unknown"


def machine_facts() -> dict[str, Any]:
    import formatter as fm

    return {
        "cpu": _matching_line("/proc/cpuinfo", "model name"),
        "cpus": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "memory": _matching_line("/proc/meminfo", "MemTotal"),
        "huge_pages": _read("/sys/kernel/mm/transparent_hugepage/enabled"),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
        "libraries": {name: _version(name) for name in LIBRARIES},
        "formatter": fm.__version__,
        "kernels": list(fm.kernels()),
        "active_kernel": fm.active_kernel(),
        "commit": _commit(),
    }
