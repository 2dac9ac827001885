"""How many lines of the library the quick tests run, of Python and of C++.

In: what pytest is told on the command line. Out: figures by folder, lines that nothing ran in build/coverage/missing.txt; exit
code 1 if there are fewer than wanted. The package is built a second time, under build/coverage, without optimisation of the
native parts. Refuses to know: which tests there are, and lines of Cython, which hand on what the others decide.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "build" / "coverage"
BUILT, OBJECTS, COUNTS = PLACE / "lib", PLACE / "temp", PLACE / "counts"
PYTHON_LEAST, NATIVE_LEAST = 0.95, 0.90
CONFIG = f"""
[run]
data_file = {COUNTS}
parallel = true
patch = subprocess
source = {BUILT}/formatter
disable_warnings = no-data-collected,module-not-imported
[report]
exclude_also =
    if TYPE_CHECKING:
    def .*: \\.\\.\\.$
"""
Lines = dict[str, tuple[int, list[int]]]  # by file: how many there are, and those that did not run


def run(*command: str, **environment: str) -> int:
    return subprocess.run(command, cwd=ROOT, env=os.environ | environment, check=False).returncode


def build() -> None:
    for old in [*PLACE.glob("counts*"), *OBJECTS.rglob("*.gcda")]:
        old.unlink()
    places = ("--build-temp", str(OBJECTS), "--build-lib", str(BUILT))
    failed = run(sys.executable, "setup.py", "--quiet", "build", *places, FORMATTER_COVERAGE="1")
    assert not failed, "the package does not compile for coverage; the compiler's words stand above"


def python_lines(config: Path) -> Lines:
    report = PLACE / "python.json"
    for step in (["combine", "--quiet"], ["json", "--quiet", "-o", str(report)]):
        assert not run(sys.executable, "-m", "coverage", step[0], f"--rcfile={config}", *step[1:])
    files = json.loads(report.read_text())["files"]
    return {
        name.replace(str(BUILT.relative_to(ROOT)), "src"): (about["summary"]["num_statements"], about["missing_lines"])
        for name, about in files.items()
    }


def native_lines() -> Lines:
    """A line that several CPUs' kernels or templates have ran if it did in one of them."""
    report = PLACE / "native.json"
    failed = run(
        *(sys.executable, "-m", "gcovr", "--root", str(ROOT), "--filter", "src/formatter/(engine|kernels)/"),
        *("--gcov-ignore-parse-errors=negative_hits.warn_once_per_file", "--gcov-suspicious-hits-threshold=0"),
        *("--merge-mode-functions=separate", "--exclude-throw-branches", "--json", str(report), str(OBJECTS)),
    )
    assert not failed, "gcovr failed; its words stand above"
    found: Lines = {}
    for file in json.loads(report.read_text())["files"]:
        counts: dict[int, int] = defaultdict(int)
        for line in file["lines"]:
            counts[line["line_number"]] += line["count"]
        found[file["file"]] = len(counts), sorted(number for number, count in counts.items() if not count)
    return found


def told(what: str, lines: Lines, least: float) -> bool:
    """Prints a line a folder; whether enough ran in all of them together."""
    folders: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for name, (count, missing) in lines.items():
        for key in (str(Path(name).parent), f"all {what}"):
            folders[key][0] += count
            folders[key][1] += len(missing)
    for folder, (count, missed) in sorted(folders.items()):
        print(f"{folder:34} {count:6} lines, {missed:5} did not run: {1 - missed / max(1, count):6.1%}")
    count, missed = folders[f"all {what}"]
    return count > 0 and 1 - missed / count >= least


def main(arguments: list[str]) -> int:
    PLACE.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(BUILT, ignore_errors=True)  # modules that are gone would count
    config = PLACE / "coverage.ini"
    config.write_text(CONFIG)
    build()
    failed = run(
        *(sys.executable, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q", "-p", "no:benchmark"),
        *arguments,
        PYTHONPATH=str(BUILT),
    )
    python, native = python_lines(config), native_lines()
    with (PLACE / "missing.txt").open("w") as missing:
        for name, (_, numbers) in sorted({**python, **native}.items()):
            print(name, *numbers, file=missing)
    enough = [told("Python", python, PYTHON_LEAST), told("C++", native, NATIVE_LEAST)]
    if failed:
        print("some tests failed under coverage: their lines may be missing")
    return 0 if all(enough) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
