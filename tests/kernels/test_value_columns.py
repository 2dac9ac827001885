"""Compiles and runs value_columns_check.cpp: every kernel this machine can run, against naive oracles.

In: setup.py's flags, a seed. Out: the check program agrees. Refuses to know the extension: nothing of it is imported.
"""

import ast
import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests/kernels/value_columns_check.cpp"
SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
OPTIMISED = ["-O3", "-DNDEBUG"]
LANGUAGE = ["-std=c++17", "-ffp-contract=off", "-Wall", "-Wextra", "-Wno-missing-field-initializers", "-Werror"]


def kernel_flags() -> dict[str, list[str]]:
    """KERNEL_FLAGS as the build has it: the statements of setup.py above its first function."""
    statements = ast.parse((ROOT / "setup.py").read_text()).body
    first_function = next(i for i, node in enumerate(statements) if isinstance(node, ast.FunctionDef))
    names: dict[str, object] = {}
    exec(compile(ast.Module(statements[:first_function], []), "setup.py", "exec"), names)
    flags = names["KERNEL_FLAGS"]
    assert isinstance(flags, dict)
    return flags


def compile_all(jobs: dict[Path, list[str]]) -> None:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    assert compiler, "the value loops need a C++ compiler to be checked; run: apt-get install g++"

    def compile_one(job: tuple[Path, list[str]]) -> subprocess.CompletedProcess[str]:
        target, arguments = job
        return subprocess.run([compiler, *arguments, "-o", str(target)], capture_output=True, text=True)

    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(compile_one, jobs.items()):
            assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The check program with sanitized loops and with loops as they ship; the oracles are compiled once for both."""
    folder = tmp_path_factory.mktemp("value_columns")
    source = [*LANGUAGE, f"-I{ROOT / 'src/formatter'}", "-c", str(SOURCE)]
    modes = {"sanitized": SANITIZED, "optimised": OPTIMISED}
    objects = {folder / "main.o": [*source, "-O1"]}
    for mode, mode_flags in modes.items():
        for name, flags in kernel_flags().items():
            loops = [*source, "-fno-exceptions", "-fno-rtti", *mode_flags, *flags, f"-DFORMATTER_ISA={name}"]
            objects[folder / f"{mode}_{name}.o"] = loops
    compile_all(objects)
    parts = {mode: [str(folder / "main.o"), *map(str, folder.glob(f"{mode}_*.o"))] for mode in modes}
    compile_all({folder / mode: [*mode_flags, *parts[mode]] for mode, mode_flags in modes.items()})
    return {mode: folder / mode for mode in modes}


def run(program: Path, seed: int, rounds: int) -> None:
    done = subprocess.run([program, str(seed), str(rounds)], capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"


def test_every_kernel_gives_the_values_of_the_naive_oracles(programs: dict[str, Path]) -> None:
    for seed in range(1, 5):
        run(programs["optimised"], seed, rounds=12)


def test_no_kernel_touches_a_byte_outside_its_buffers(programs: dict[str, Path]) -> None:
    run(programs["sanitized"], seed=5, rounds=16)
