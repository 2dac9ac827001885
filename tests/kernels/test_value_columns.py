"""Compiles and runs value_columns_check.cpp: every kernel this machine can run, against naive oracles.

In: setup.py's flags, a seed. Out: the check program agrees. Refuses to know the extension: nothing of it is imported.
"""

import subprocess
from pathlib import Path

from native_programs import Object, build_settings, native_program

SOURCE = Path(__file__).with_name("value_columns_check.cpp")
SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
OPTIMISED = ["-O3", "-DNDEBUG"]
LANGUAGE = ["-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]


def check_program(name: str, mode: list[str]) -> Path:
    """The oracles, never optimised much, and the loops of every kernel, with the flags they ship with."""
    kernels = build_settings()["KERNEL_FLAGS"]
    loops = ("-fno-exceptions", "-fno-rtti", *mode)
    objects = [Object("oracles", SOURCE, ("-O1",))]
    objects += [Object(isa, SOURCE, (*loops, *flags, f"-DFORMATTER_ISA={isa}")) for isa, flags in kernels.items()]
    return native_program(f"value_columns_{name}", objects, LANGUAGE, mode)


def run(program: Path, seed: int, rounds: int) -> None:
    done = subprocess.run([program, str(seed), str(rounds)], capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"


def test_every_kernel_gives_the_values_of_the_naive_oracles() -> None:
    program = check_program("optimised", OPTIMISED)
    for seed in range(1, 5):
        run(program, seed, rounds=12)


def test_no_kernel_touches_a_byte_outside_its_buffers() -> None:
    run(check_program("sanitized", SANITIZED), seed=5, rounds=16)
