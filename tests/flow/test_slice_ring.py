"""The native ring, without Python: two threads under a race detector."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = [ROOT / "tests/flow/ring_stress.cpp", ROOT / "src/formatter/engine/flow/slice_ring.cpp"]
FLAGS = ["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-pthread"]


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_two_threads_hand_over_every_slice_in_order_and_without_a_race(sanitizer, tmp_path):
    compiler = shutil.which("g++") or shutil.which("c++")
    assert compiler, "a C++ compiler is needed, as it is to build the package"
    program = tmp_path / "ring_stress"
    command = [compiler, *FLAGS, f"-fsanitize={sanitizer}", f"-I{ROOT / 'src/formatter'}", *SOURCES, "-o", program]
    subprocess.run(command, check=True)
    for slices, capacity in ((30_000, 1), (100_000, 8), (200_000, 1024)):
        done = subprocess.run([program, str(slices), str(capacity)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{slices} slices" in done.stdout
