"""stress_ring.cpp, built here with ThreadSanitizer and with AddressSanitizer: real threads, exact set, no report."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "formatter"
COMPILER = shutil.which("g++") or shutil.which("clang++") or "g++"


@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_threads_on_one_ring_race_nowhere_and_claim_each_span_once(tmp_path, sanitizers):
    program = tmp_path / "stress_ring"
    sources = [HERE / "stress_ring.cpp", *sorted(PACKAGE.glob("engine/shred_*.cpp"))]
    flags = ["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-fsanitize={sanitizers}", "-pthread"]
    subprocess.run([COMPILER, *flags, f"-I{PACKAGE}", *sources, "-o", program], check=True, timeout=120)
    run = subprocess.run([program, "15000"], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout == "every span claimed exactly once\n"
    assert run.stderr == ""
