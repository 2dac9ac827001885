"""Two C++ programs built with sanitizers: threads on one ring, blocks against single buffers. No report allowed."""

import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "src" / "formatter"
COMPILER = shutil.which("g++") or shutil.which("clang++") or "g++"


def build_and_run(folder, name, sanitizers, argument):
    sources = [HERE / f"{name}.cpp", *sorted(PACKAGE.glob("engine/shred/shred_*.cpp"))]
    flags = ["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", f"-fsanitize={sanitizers}", "-pthread"]
    subprocess.run([COMPILER, *flags, f"-I{PACKAGE}", *sources, "-o", folder / name], check=True, timeout=120)
    run = subprocess.run([folder / name, argument], capture_output=True, text=True, timeout=120, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    return run.stdout


@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_threads_on_one_ring_race_nowhere_and_claim_each_span_once(tmp_path, sanitizers):
    assert build_and_run(tmp_path, "stress_ring", sanitizers, "15000") == "every span claimed exactly once\n"


def test_a_block_does_what_its_buffers_do_one_by_one(tmp_path):
    assert build_and_run(tmp_path, "merge_check", "address,undefined", "3000") == "blocks and single buffers agree\n"
