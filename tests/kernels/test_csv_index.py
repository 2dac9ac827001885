"""The CSV index of every CPU agrees with a byte-by-byte oracle and touches nothing outside its buffers.

The check is a C++ program beside this file, compiled with the very flags of the build. It places inputs and outputs
against forbidden pages, so a byte too far ends it with a signal.
"""

import ast
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SOURCES = ROOT / "src" / "formatter"


def build_settings() -> dict:
    """What setup.py sets before its first definition; running all of it would build."""
    tree = ast.parse((ROOT / "setup.py").read_text())
    first = next(i for i, node in enumerate(tree.body) if isinstance(node, ast.FunctionDef))
    settings: dict = {}
    exec(compile(ast.Module(tree.body[:first], []), "setup.py", "exec"), settings)
    return settings


SETTINGS = build_settings()
CROSS_COMPILER, EMULATOR = shutil.which("aarch64-linux-gnu-g++"), shutil.which("qemu-aarch64")


def run(*command: object) -> str:
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def check_program(folder: Path, compiler: str, kernels: dict[str, list[str]], *link_flags: str) -> Path:
    flags = [*SETTINGS["COMMON_FLAGS"], *SETTINGS["NATIVE_FLAGS"], f"-I{SOURCES}", f"-I{HERE}"]
    jobs = [([], HERE / "csv_index_check.cpp", folder / "check.o")]
    for name, kernel_flags in kernels.items():
        isa = [*kernel_flags, f"-DFORMATTER_ISA={name}", f'-DISA_HEADER="kernels/isa/{name}.hpp"']
        jobs.append((isa, HERE / "csv_index_part.cpp", folder / f"{name}.o"))
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda job: run(compiler, *flags, *job[0], "-c", job[1], "-o", job[2]), jobs))
    run(compiler, *link_flags, *(target for _, _, target in jobs), "-o", folder / "check")
    return folder / "check"


@pytest.fixture(scope="session")
def native_check(tmp_path_factory):
    compiler = shutil.which("g++") or shutil.which("c++")
    assert compiler, "no C++ compiler found"
    return check_program(tmp_path_factory.mktemp("csv_index"), compiler, SETTINGS["KERNEL_FLAGS"])


@pytest.mark.parametrize("seed", range(4))
def test_every_kernel_of_this_cpu_agrees_with_the_byte_by_byte_oracle(native_check, seed):
    report = run(native_check, seed, 4000)
    assert "scalar" in report
    rows, input_ends, irregular_ends = map(int, re.findall(r"\d+(?= irregular| input|\n)", report))
    # the inputs are worth something only if they hold records, and both kinds of ends
    assert rows > 10_000
    assert min(input_ends, irregular_ends) > 400


if CROSS_COMPILER and EMULATOR:  # elsewhere the test does not exist, rather than pass for nothing

    def test_the_neon_kernel_agrees_with_the_byte_by_byte_oracle_under_emulation(tmp_path):
        check = check_program(tmp_path, CROSS_COMPILER, {"scalar": [], "neon": []}, "-static")
        assert "neon" in run(EMULATOR, check, 5, 1500)
