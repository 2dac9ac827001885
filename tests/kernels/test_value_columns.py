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
SANITIZED = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer"]
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


def build(folder: Path, mode: list[str]) -> Path:
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    assert compiler, "the value loops need a C++ compiler to be checked; run: apt-get install g++"
    common = [compiler, *LANGUAGE, *mode, f"-I{ROOT / 'src/formatter'}", "-c", str(SOURCE)]
    native = ["-fno-exceptions", "-fno-rtti"]
    commands = [[*common, "-o", str(folder / "main.o")]]
    for name, flags in kernel_flags().items():
        commands.append([*common, *native, *flags, f"-DFORMATTER_ISA={name}", "-o", str(folder / f"{name}.o")])
    with ThreadPoolExecutor(2) as pool:
        for done in pool.map(lambda command: subprocess.run(command, capture_output=True, text=True), commands):
            assert done.returncode == 0, done.stderr
    program = folder / "check"
    subprocess.run([compiler, *mode, *map(str, folder.glob("*.o")), "-o", str(program)], check=True)
    return program


def run(program: Path, seed: int, rounds: int) -> None:
    done = subprocess.run([program, str(seed), str(rounds)], capture_output=True, text=True)
    assert done.returncode == 0, f"seed {seed}: {done.stdout}{done.stderr}"


@pytest.fixture(scope="module", params=[SANITIZED, OPTIMISED], ids=["sanitized", "optimised"])
def check_program(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("value_columns"), request.param)


def test_every_kernel_gives_the_values_of_the_naive_oracles(check_program: Path) -> None:
    for seed in range(1, 4):
        run(check_program, seed, rounds=12)
