"""Both ways to be short of memory, each in processes of its own: single allocations that fail, and a limit on all.

In: on the command line a number of runs under a limit; every allocation of every scenario fails besides. Out: a line for each,
and an exit code. Refuses to know: what the scenarios do.
"""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
from native_programs import native_program, objects_of  # noqa: E402
from scenarios import SCENARIOS  # noqa: E402

# What is given back has to reach the system, and nothing may be reserved before: else the limit is met by malloc alone.
MALLOC_SETTINGS = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": "65536",
    "MALLOC_TRIM_THRESHOLD_": "65536",
    "MALLOC_TOP_PAD_": "0",
}


def failing_malloc() -> Path:
    compiler = shutil.which(os.environ.get("CC", "gcc")) or shutil.which("cc")
    assert compiler, "no C compiler found; run: apt-get install gcc  (or set CC)"
    flags = ["-O2", "-Wall", "-Wextra", "-Werror", "-fPIC", "-shared"]
    return native_program("failing_malloc.so", objects_of(HERE / "failing_malloc.c"), flags, compiler=compiler)


def run(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(HERE / script), *map(str, arguments)]
    return subprocess.run(command, env=os.environ | environment, capture_output=True, text=True, check=False)


def fail_allocations(scenario: str, points: int, whose: str = "ours") -> subprocess.CompletedProcess[str]:
    return run("failing_allocations.py", scenario, points, whose, LD_PRELOAD=str(failing_malloc()))


def limit_memory(runs: int, seed: int) -> subprocess.CompletedProcess[str]:
    return run("limited_memory.py", runs, seed, **MALLOC_SETTINGS)


if __name__ == "__main__":
    wrong = 0
    for name, whose in itertools.product(SCENARIOS, ("ours", "arrow's")):
        done = fail_allocations(name, 1_000_000, whose)
        print(f"{name}, {whose}: {done.stdout}{done.stderr}", end="", flush=True)
        wrong += done.returncode != 0
    done = limit_memory(int(sys.argv[1]), 1)
    print(f"under a limit: {done.stdout}{done.stderr}", end="")
    sys.exit(wrong + done.returncode != 0)
