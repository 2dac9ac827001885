"""The native ring, without Python: two threads under a race detector."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from native_programs import PACKAGE, native_program, objects_of

HERE = Path(__file__).parent
FLAGS = ["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-fno-exceptions", "-fno-rtti", "-pthread"]


@pytest.mark.slow
@pytest.mark.parametrize("sanitizer", ["thread", "address,undefined"])
def test_two_threads_hand_over_every_slice_in_order_and_without_a_race(sanitizer):
    objects = objects_of(HERE / "ring_stress.cpp", PACKAGE / "engine/flow/slice_ring.cpp")
    program = native_program(f"ring_stress_{sanitizer[:7]}", objects, [*FLAGS, f"-fsanitize={sanitizer}"])
    for slices, capacity in ((30_000, 1), (100_000, 8), (200_000, 1024)):
        done = subprocess.run([program, str(slices), str(capacity)], capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        assert f"{slices} slices" in done.stdout
