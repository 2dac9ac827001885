"""The C++ of the benchmarks compiles against the kernels as they are, which nobody would notice until a benchmark ran."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
import simdjson
from native_programs import PACKAGE, ROOT

from bench import compiled

SOURCES = sorted(
    set((ROOT / "bench" / "native").glob("*.cpp")) - {ROOT / "bench/native/count_switch.cpp"}
)  # of valgrind
INCLUDED = (PACKAGE, ROOT / "bench/native", ROOT / "tests/kernels", Path(simdjson.__file__).parent)


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.stem)
def test_the_source_of_a_benchmark_compiles(source):
    compiler = shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")
    flags = [*compiled.FLAGS, *(f"-I{folder}" for folder in INCLUDED), "-fsyntax-only"]
    command = [str(compiler), *flags, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{shlex.join(command)}\n{done.stderr}"
