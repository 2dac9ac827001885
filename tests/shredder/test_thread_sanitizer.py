"""Two C++ programs built with sanitizers: threads on one ring, blocks against single buffers. No report allowed."""

import subprocess
from pathlib import Path

import pytest
from native_programs import PACKAGE, native_program, objects_of

HERE = Path(__file__).parent
FLAGS = ["-std=c++17", "-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread"]


def run(name, sanitizers, argument):
    objects = objects_of(HERE / f"{name}.cpp", *sorted(PACKAGE.glob("engine/shred/shred_*.cpp")))
    program = native_program(f"{name}_{sanitizers[:7]}", objects, [*FLAGS, f"-fsanitize={sanitizers}"])
    run = subprocess.run([program, argument], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stderr == ""
    return run.stdout


@pytest.mark.parametrize("sanitizers", ["thread", "address,undefined"])
def test_threads_on_one_ring_race_nowhere_and_claim_each_span_once(sanitizers):
    assert run("stress_ring", sanitizers, "15000") == "every span claimed exactly once\n"


def test_a_block_does_what_its_buffers_do_one_by_one():
    assert run("merge_check", "address,undefined", "3000") == "blocks and single buffers agree\n"
