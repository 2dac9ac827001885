"""Fuzzes the seams of the engine and what users call, target by target: libFuzzer looks for bytes that crash them or make
their ways differ. Targets in Python are run by atheris, over an engine that tells it which ways it takes.

In: minutes of CPU for all targets together, names of targets (none: all). Out: a line of figures a target, of this run and of all
since build/fuzz was made; what was found lies there, and the exit code is 1. Every seed runs first: put there what was once found.
Refuses to know: what a target compares.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import sysconfig
from dataclasses import asdict, dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from native_programs import PACKAGE, ROOT, Object, build_settings, native_program  # noqa: E402

TARGETS = ("csv", "json", "binary", "numbers", "shredder", "shredder_image", "checkpoint")
PYTHON_TARGETS = (
    "options", "json_options", "infer", "indexer", "python_checkpoint",
    "csv_values", "json_values", "declared", "framed", "values", "codecs", "spill", "properties",
)  # fmt: skip
KEPT = ROOT / "build" / "fuzz"
FUZZED = ROOT / "build" / "fuzzed"
LARGEST_INPUT = 4096
# Files that others wrote are seeds, too: behind what decides how they are read.
SUITES = {
    "json_values": ("json-test-suite/*.json", bytes(11)),
    "csv_values": ("csv-spectrum/csvs/*.csv", bytes([0, 2, 1, 0, 1, 0, 1, 0, *bytes(7)])),
}
LONGEST_RUN_S = 600  # by the clock; the clock runs on while others have the CPU, so there may be several
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


def instrumented_package() -> tuple[list[str | Path], dict[str, str]]:
    """What runs a target in Python over a build of the package whose engine the fuzzer follows, and in what environment."""
    compiler = clang()
    assert compiler, "no clang found; run: apt-get install clang  (or set CLANGXX)"
    built = ["build", "--build-temp", str(FUZZED / "temp"), "--build-lib", str(FUZZED / "lib")]
    command = [sys.executable, "setup.py", "--quiet", *built]
    subprocess.run(command, cwd=ROOT, env=os.environ | {"FORMATTER_FUZZED": compiler}, check=True)
    environment = {
        "PYTHONPATH": os.pathsep.join([str(FUZZED / "lib"), str(ROOT)]),
        "LD_PRELOAD": str(Path(sysconfig.get_paths()["platlib"], "asan_with_fuzzer.so")),
        "ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1",  # Python leaves what it holds to the system
    }
    return [sys.executable, HERE / "python_fuzzer.py"], environment


@dataclass(frozen=True)
class Spent:
    """On one target, since build/fuzz was made."""

    cpu_seconds: float = 0.0
    inputs: int = 0
    edges: int = 0
    found: int = 0


def spent_on(target: str) -> Spent:
    path = KEPT / f"{target}.json"
    return Spent(**json.loads(path.read_text())) if path.exists() else Spent()


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(program: list[Path | str], environment: dict[str, str], target: str, seconds: float) -> bool:
    """Until the target has had its seconds of CPU, or something is found."""
    begin, inputs, clean = cpu_of_children(), 0, True
    while clean and (left := seconds - (cpu_of_children() - begin)) > 1:
        before = cpu_of_children()
        ran, done = run(program, environment, target, min(LONGEST_RUN_S, round(left) + 1))
        inputs, clean, so_far = inputs + done.inputs, ran.returncode == 0, spent_on(target)
        so_far = replace(
            so_far,
            cpu_seconds=so_far.cpu_seconds + cpu_of_children() - before,
            inputs=so_far.inputs + done.inputs,
            edges=max(so_far.edges, done.edges),
            found=so_far.found + (not clean),
        )
        (KEPT / f"{target}.json").write_text(json.dumps(asdict(so_far)))
        if not clean:
            print(ran.stderr[-4000:])
    now = spent_on(target)
    print(
        f"{target}: {cpu_of_children() - begin:.0f} s of CPU, {inputs} inputs, {'nothing found' if clean else 'FOUND'}; in all "
        f"{now.cpu_seconds / 60:.0f} min, {now.inputs} inputs, {now.edges} edges, {len(list((KEPT / target).iterdir()))} kept, "
        f"{now.found} found",
        flush=True,
    )
    return clean


def seeds_of(target: str) -> list[Path]:
    folders = [HERE / "seeds" / target]
    if target in SUITES:
        folders.append(KEPT / "suites" / target)
        folders[1].mkdir(parents=True, exist_ok=True)
        pattern, decisions = SUITES[target]
        for path in (HERE.parent / "corpus").glob(pattern):
            (folders[1] / path.name).write_bytes(decisions + path.read_bytes())
    return folders


def run(
    program: list[Path | str], environment: dict[str, str], target: str, seconds: int
) -> tuple[subprocess.CompletedProcess[str], Spent]:
    corpus, found = KEPT / target, KEPT / "found"
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    command = [*program, corpus, *seeds_of(target), f"-max_total_time={seconds}", f"-max_len={LARGEST_INPUT}",
               f"-artifact_prefix={found}/{target}-", "-print_final_stats=1", "-timeout=60", "-rss_limit_mb=4096"]  # fmt: skip
    ran = subprocess.run(
        [str(part) for part in command],
        env=os.environ | environment | {"FUZZ_TARGET": target},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )
    inputs, edges = (
        re.findall(r"stat::number_of_executed_units:\s+(\d+)", ran.stderr),
        re.findall(r"cov: (\d+)", ran.stderr),
    )
    return ran, Spent(inputs=int(inputs[-1]) if inputs else 0, edges=int(edges[-1]) if edges else 0)


if __name__ == "__main__":
    chosen = sys.argv[2:] or [*TARGETS, *PYTHON_TARGETS]
    share = max(1.0, float(sys.argv[1]) * 60 / len(chosen))
    native: tuple[list[Path | str], dict[str, str]] = ([fuzzer()], {}) if set(chosen) & set(TARGETS) else ([], {})
    in_python = instrumented_package() if set(chosen) & set(PYTHON_TARGETS) else ([], {})
    clean = [fuzz(*(in_python if target in PYTHON_TARGETS else native), target, share) for target in chosen]
    sys.exit(not all(clean))
