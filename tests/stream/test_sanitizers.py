"""stress_engine.cpp, built here with ThreadSanitizer and with AddressSanitizer: real threads, exact sets, no report.

In: a compiler. Out: a verdict. Refuses to know: CSV values.
"""

import os
import subprocess
from pathlib import Path

import pytest
from native_programs import PACKAGE, native_program, objects_of

HERE = Path(__file__).parent
SOURCES = [f"engine/{name}" for name in ("stream/*.cpp", "shred/shred_ring*.cpp", "records/record_ending.cpp")]
SOURCES += [
    "engine/csv/csv_scanner.cpp",
    "engine/csv/csv_structure.cpp",
    "engine/records/text_encoding.cpp",
    "engine/columns/buffer_pool.cpp",
    "engine/threads/fork_watch.cpp",
    "kernels/kernel_scalar.cpp",
]
FLAGS = ["-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-pthread"]
RECORDS = "40000" if "FORMATTER_SOAK_SECONDS" in os.environ else "2000"


@pytest.mark.slow
@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_threads_on_one_engine_race_nowhere_and_give_each_record_once(sanitizers):
    sources = [path for pattern in SOURCES for path in sorted(PACKAGE.glob(pattern))]
    objects = objects_of(HERE / "stress_engine.cpp", *sources)
    program = native_program(f"stress_engine_{sanitizers[:7]}", objects, [*FLAGS, f"-fsanitize={sanitizers}"])
    run = subprocess.run([program, RECORDS], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "every record and every buffer exactly once\n"
    assert run.stderr == ""
