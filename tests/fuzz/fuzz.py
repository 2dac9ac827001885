"""Fuzzes the seams of the engine and what users call, target by target: libFuzzer looks for bytes that crash them or make
their ways differ. Targets in Python are run by atheris.

In: minutes for all targets together, names of targets (none: all). Out: a line of figures a target; what was found lies in
build/fuzz, and the exit code is 1. Every seed runs first: put there what was once found. Refuses to know: what a target compares.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from native_programs import PACKAGE, ROOT, Object, build_settings, native_program  # noqa: E402

TARGETS = ("csv", "json", "binary", "numbers", "shredder", "shredder_image", "checkpoint")
PYTHON_TARGETS = ("options", "json_options", "infer", "indexer", "python_checkpoint")
KEPT = ROOT / "build" / "fuzz"
LARGEST_INPUT = 4096
FLAGS = ["-std=c++17", "-O1", "-g1", "-ffp-contract=off", "-Wall", "-Wno-missing-field-initializers", "-pthread"]
SOURCES = sorted([*PACKAGE.glob("engine/*/*.cpp"), PACKAGE / "kernels" / "dispatch.cpp"])


def objects(*without: str) -> list[Object]:
    kernels = build_settings()["KERNEL_FLAGS"]
    assert isinstance(kernels, dict)
    own = [path for path in sorted(HERE.glob("*.cpp")) if path.name not in without]
    found = [Object(f"{path.parent.name}_{path.stem}", path) for path in (*SOURCES, *own)]
    return found + [
        Object(f"kernel_{name}", PACKAGE / "kernels" / f"kernel_{name}.cpp", tuple(flags))
        for name, flags in kernels.items()
    ]


def fuzzer() -> Path:
    compiler = clang()
    assert compiler, "no clang found; run: apt-get install clang  (or set CLANGXX)"
    sanitizers = "-fsanitize=fuzzer,address,undefined"
    flags = [*FLAGS, sanitizers.replace("fuzzer", "fuzzer-no-link"), "-fno-sanitize-recover=undefined", f"-I{HERE}"]
    return native_program("fuzz_targets", objects("run_seeds.cpp"), flags, [*flags, sanitizers], compiler=compiler)


def clang() -> str | None:
    """As CLANGXX says, else the newest on PATH: distributions name it by its version, too."""
    if "CLANGXX" in os.environ:
        return shutil.which(os.environ["CLANGXX"])
    names = ["clang++", *(f"clang++-{version}" for version in range(30, 10, -1))]
    return next((found for found in map(shutil.which, names) if found), None)


def seed_runner() -> Path:
    """The targets without a fuzzer, by any compiler."""
    flags = [*FLAGS, "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined", f"-I{HERE}"]
    return native_program("fuzz_seeds", objects(), flags)


def fuzz(program: list[Path | str], target: str, seconds: int) -> bool:
    corpus, found = KEPT / target, KEPT / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    command = [*program, corpus, HERE / "seeds" / target, f"-max_total_time={seconds}", f"-max_len={LARGEST_INPUT}",
               f"-artifact_prefix={found}/{target}-", "-print_final_stats=1", "-timeout=60", "-rss_limit_mb=4096"]  # fmt: skip
    ran = subprocess.run(
        [str(part) for part in command],
        env=os.environ | {"FUZZ_TARGET": target},
        capture_output=True,
        text=True,
        check=False,
    )
    figures = dict(re.findall(r"stat::(\w+):\s+(\d+)", ran.stderr))
    inputs, covered = figures.get("number_of_executed_units", "?"), re.findall(r"cov: (\d+)", ran.stderr)[-1:]
    verdict = "FOUND" if ran.returncode else "nothing found"
    print(
        f"{target}: {inputs} inputs, {''.join(covered) or '?'} edges, {len(list(corpus.iterdir()))} kept, {verdict}",
        flush=True,
    )
    if ran.returncode:
        print(ran.stderr[-4000:])
    return ran.returncode == 0


if __name__ == "__main__":
    chosen = sys.argv[2:] or [*TARGETS, *PYTHON_TARGETS]
    share = max(1, int(float(sys.argv[1]) * 60 / len(chosen)))
    native: list[Path | str] = [fuzzer()] if set(chosen) & set(TARGETS) else []
    in_python: list[Path | str] = [sys.executable, HERE / "python_fuzzer.py"]
    clean = [fuzz(in_python if target in PYTHON_TARGETS else native, target, share) for target in chosen]
    sys.exit(not all(clean))
