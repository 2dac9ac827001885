"""Questions under callgrind: only what runs between the two calls of the switch is counted.

In: a command that asks. Out: Counts a question: instructions in our own extension by function,
elsewhere (interpreter, C library, Arrow) by library. Refuses to know: what is asked, what the counts are compared with.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HEADER = "#include <valgrind/callgrind.h>\n"
OPTIONS = ("--tool=callgrind", "--instr-atstart=no", "--dump-line=no", "--compress-strings=no", "--compress-pos=no")
OURS = re.compile(r"/formatter/_core\.[^/]*$")
LEAST_SHARE = 0.005  # functions and libraries below it are counted together
OTHERS = "(others)"


class CountingFailed(Exception):
    """The question could not be asked; the text says why."""


@dataclass(frozen=True)
class Counts:
    functions: dict[str, int]  # in our own extension
    libraries: dict[str, int]  # everywhere else

    @property
    def ours(self) -> int:
        return sum(self.functions.values())

    @property
    def whole(self) -> int:
        return self.ours + sum(self.libraries.values())


def missing_tool() -> str | None:
    """What is not on this machine, with the remedy."""
    if shutil.which("valgrind") is None:
        return "valgrind not found; run: apt-get install valgrind"
    if (compiler := compiler_found()) is None:
        return "no C++ compiler found; run: apt-get install g++  (or set CXX)"
    command = [compiler, "-x", "c++", "-fsyntax-only", "-"]
    if subprocess.run(command, input=HEADER, capture_output=True, text=True, check=False).returncode:
        return "valgrind's header callgrind.h not found; install valgrind from a package: apt-get install valgrind"
    return None


def compiler_found() -> str | None:
    return shutil.which(os.environ.get("CXX") or "g++") or shutil.which("c++")


def build_switch(folder: Path) -> Path:
    switch = folder / "count_switch.so"
    source = ROOT / "bench" / "native" / "count_switch.cpp"
    subprocess.run([str(compiler_found()), "-O2", "-shared", "-fPIC", str(source), "-o", str(switch)], check=True)
    return switch


def ran_here(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """A command run at the checkout's root, with nothing to read and everything it says kept."""
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )


def count(command: list[str], folder: Path, environment: dict[str, str]) -> dict[str, Counts]:
    """`command` asks its questions in processes of their own and says which was for which."""
    profile = folder / "profile"
    ran = ran_here(["valgrind", *OPTIONS, f"--callgrind-out-file={profile}.%p", *command], environment)
    if ran.returncode:
        words = [line for line in ran.stderr.splitlines() if not line.startswith("==")]
        raise CountingFailed("\n".join(words[-12:]))
    counts: dict[str, Counts] = {}
    for process, question in (line.split("\t") for line in ran.stdout.splitlines()):
        with Path(f"{profile}.{process}").open() as lines:
            counts[question] = read_counts(lines)
    return counts


def read_counts(lines: Iterable[str]) -> Counts:
    """callgrind's profile: self cost by function; the inclusive cost behind a `calls=` line belongs to the callee."""
    functions: Counter[str] = Counter()
    libraries: Counter[str] = Counter()
    library = function = ""
    of_callee = False
    for line in lines:
        if line.startswith("ob="):
            library = line[3:].strip()
        elif line.startswith("fn="):
            function = line[3:].strip()
        elif line.startswith("calls="):
            of_callee = True
        elif line[:1].isdigit():
            if not of_callee:
                instructions = int(line.split()[1])
                if OURS.search(library):
                    functions[short_name(function)] += instructions
                else:
                    libraries[short_library(library)] += instructions
            of_callee = False
    if not functions:
        raise CountingFailed("callgrind saw no instruction of our extension")
    return Counts(largest(functions, sum(functions.values())), largest(libraries, sum(functions.values())))


def largest(counts: Counter[str], whole: int) -> dict[str, int]:
    kept = {name: n for name, n in counts.most_common() if n >= LEAST_SHARE * whole}
    rest = sum(counts.values()) - sum(kept.values())
    return {**kept, OTHERS: rest} if rest else kept


def short_library(path: str) -> str:
    """libpython3.11.so.1.0 and libarrow.so.2600 without what a minor version changes."""
    return re.sub(r"\.so[.\d]*$|\.cpython-.*$|-[\d.]+\.so.*$", "", Path(path).name) or "???"


def short_name(function: str) -> str:
    """Without arguments, return type, recursion depth and clone number: `ns::decode<true>`, as one would say it."""
    name = re.sub(r"'\d+$|\s*\[clone [^\]]*\]", "", function).replace("(anonymous namespace)", "{anonymous}")
    name = re.sub(r"\)( const)?( [&]{1,2})?$", ")", name)
    if name.endswith(")"):
        name = name[: _opening(name)]
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] in ">)") - (name[at] in "<(")
        if name[at] == " " and depth == 0 and not name[:at].endswith("operator"):
            return name[at + 1 :]
    return name


def _opening(name: str) -> int:
    """Where the parenthesis that the last character closes was opened."""
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if depth == 0:
            return at
    return len(name)


def python_environment(kernel: str, extra: dict[str, str]) -> dict[str, str]:
    """Nothing of the caller's that moves a count: hash seed, kernel, import path are the same every time."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FORMATTER_"))}
    return {**kept, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "FORMATTER_KERNEL": kernel, **extra}


if sys.platform != "linux":
    raise SystemExit("bench.instructions: callgrind is used on Linux only")
