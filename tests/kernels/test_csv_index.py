"""The CSV index of every CPU agrees with a byte-by-byte oracle and touches nothing outside its buffers.

The check is a C++ program beside this file, compiled with the very flags of the build. It places inputs and outputs
against forbidden pages, so a byte too far ends it with a signal.
"""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from native_programs import Object, build_settings, native_program

HERE = Path(__file__).parent
SETTINGS = build_settings()
FLAGS = [*SETTINGS["COMMON_FLAGS"], *SETTINGS["NATIVE_FLAGS"]]
CROSS_COMPILER, EMULATOR = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def objects_of(kernels: dict[str, list[str]]) -> list[Object]:
    parts = [
        Object(
            isa,
            HERE / "csv_index_part.cpp",
            (*flags, f"-DFORMATTER_ISA={isa}", f'-DISA_HEADER="kernels/isa/{isa}.hpp"'),
        )
        for isa, flags in kernels.items()
    ]
    return [Object("check", HERE / "csv_index_check.cpp"), *parts]


@pytest.mark.parametrize("seed", range(4))
def test_every_kernel_of_this_cpu_agrees_with_the_byte_by_byte_oracle(seed):
    report = run(native_program("csv_index", objects_of(SETTINGS["KERNEL_FLAGS"]), FLAGS, []), seed, 4000)
    assert "scalar" in report
    rows, input_ends, irregular_ends, wide_rows, agreed = map(int, re.findall(r"\d+(?= irregular| input|\n)", report))
    # the inputs are worth something only if they hold records, both kinds of ends, long separators, and quotes that all rules
    # take alike
    assert rows > 10_000
    assert min(input_ends, irregular_ends, wide_rows, agreed) > 400


if CROSS_COMPILER and EMULATOR:  # elsewhere the test does not exist, rather than pass for nothing

    def test_the_neon_kernel_agrees_with_the_byte_by_byte_oracle_under_emulation():
        objects = objects_of({"scalar": [], "neon": []})
        check = native_program("csv_index_neon", objects, FLAGS, ["-static"], CROSS_COMPILER)
        assert "neon" in run(EMULATOR, check, 5, 1500)
