"""stress_engine.cpp, built here with ThreadSanitizer and with AddressSanitizer: real threads, exact sets, no report.

In: a compiler. Out: a verdict. Refuses to know: CSV values.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "formatter"
COMPILER = shutil.which("g++") or shutil.which("clang++") or "g++"
SOURCES = [f"engine/{name}" for name in ("stream/*.cpp", "shred/shred_ring*.cpp", "records/framing.cpp")]
SOURCES += ["engine/csv/csv_structure.cpp", "engine/columns/buffer_pool.cpp", "kernels/kernel_scalar.cpp"]
RECORDS = "40000" if "FORMATTER_SOAK_SECONDS" in os.environ else "2000"


@pytest.mark.slow
@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_threads_on_one_engine_race_nowhere_and_give_each_record_once(tmp_path, sanitizers):
    program = tmp_path / "stress_engine"
    sources = [path for pattern in SOURCES for path in sorted(PACKAGE.glob(pattern))]
    flags = ["-std=c++17", "-O1", "-g1", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror", "-pthread"]
    command = [COMPILER, *flags, f"-fsanitize={sanitizers}", f"-I{PACKAGE}", HERE / "stress_engine.cpp", *sources]
    subprocess.run([*command, "-o", program], check=True, timeout=240)
    run = subprocess.run([program, RECORDS], capture_output=True, text=True, timeout=600, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "every record and every buffer exactly once\n"
    assert run.stderr == ""
