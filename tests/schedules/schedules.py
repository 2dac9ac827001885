"""Runs the engine's threads under schedules that seeds decide (`make schedules`). A seed that finds something finds it again.

In: how many seeds, from which on. Out: a line of figures, or what is wrong by which seed, and exit code 1. Refuses to know: what
threads do.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from native_programs import PACKAGE, Object, native_program  # noqa: E402

SOURCES = [
    "engine/stream/*.cpp", "engine/shred/shred_ring*.cpp", "engine/threads/*.cpp", "engine/flow/slice_ring.cpp",
    "engine/whole/range_crew.cpp", "engine/whole/range_reader.cpp", "engine/whole/file_bytes.cpp", "engine/whole/chunk_survey.cpp",
    "engine/records/record_ending.cpp", "engine/records/text_encoding.cpp", "engine/csv/csv_scanner.cpp",
    "engine/csv/csv_structure.cpp", "engine/columns/buffer_pool.cpp", "kernels/kernel_scalar.cpp",
]  # fmt: skip
FLAGS = [
    "-std=c++17",
    "-O2",
    "-g1",
    "-Wall",
    "-Wextra",
    "-Wno-missing-field-initializers",
    "-Wno-clobbered",
    "-pthread",
]
FLAGS += ["-DFORMATTER_SCHEDULED", f"-I{HERE}"]


def program() -> Path:
    engine = [path for pattern in SOURCES for path in sorted(PACKAGE.glob(pattern))]
    objects = [Object(f"{path.parent.name}_{path.stem}", path) for path in (*engine, *sorted(HERE.glob("*.cpp")))]
    return native_program("schedules", objects, FLAGS)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([program(), *arguments], capture_output=True, text=True, check=False)


if __name__ == "__main__":
    seeds, first = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else "1"
    ran = run(first, seeds)
    print(ran.stdout + ran.stderr, end="")
    sys.exit(ran.returncode)
