"""Whose build is counted: this checkout's, another one's Python, or a commit built here with the compiler of today.

In: a Python, or a commit. Out: a Build, and its counts. Refuses to know: what they are compared with.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from bench.instructions.callgrind import ROOT, CountingFailed, Counts, build_switch, count, python_environment, ran_here
from bench.instructions.questions import INPUTS, QUESTIONS
from bench.instructions.records import Record

MODULE = "bench.instructions.ask"
STORED = ROOT / "bench" / "instructions" / f"{platform.machine()}.json"


@dataclass(frozen=True)
class Build:
    python: str
    environment: dict[str, str] = field(default_factory=dict)


def write_inputs(folder: Path, names: list[str]) -> dict[str, str]:
    """Each question's digest of its input."""
    digests: dict[str | None, str] = {None: ""}
    for name in dict.fromkeys(QUESTIONS[name].input for name in names):
        if name is not None:
            data = INPUTS[name]()
            (folder / name).write_bytes(data)
            digests[name] = hashlib.sha256(data).hexdigest()[:16]
    return {name: digests[QUESTIONS[name].input] for name in names}


def count_build(
    build: Build, folder: Path, inputs: dict[str, str], kernel: str, say: Callable[[str], None], all_of_them: bool
) -> tuple[Record, str]:
    """The counts, and the extension they were taken from. Answers are checked first; a question that an older build cannot
    answer is left out, unless all must be there."""
    environment = python_environment(kernel, build.environment)
    ask = [build.python, "-m", MODULE]
    ran = ran_here([*ask, "answers", str(folder), *inputs], environment)
    if ran.returncode:
        raise CountingFailed(f"{build.python} cannot answer:\n{ran.stderr[-2000:]}")
    found = json.loads(ran.stdout)
    say(f"counting {found['extension']}")
    for name, words in found["wrong"].items():
        if all_of_them:
            raise CountingFailed(f"{name}: wrong answer, nothing counted: {words}")
        say(f"  {name}: left out, not answered by that build: {words}")
    names = [name for name in inputs if name not in found["wrong"]]
    switch = build_switch(folder)

    def share(some: list[str]) -> dict[str, Counts]:
        return count([*ask, "counted", str(folder), str(switch), *some], folder, environment) if some else {}

    processes = os.cpu_count() or 1
    with ThreadPoolExecutor(processes) as pool:
        shares = pool.map(share, [names[first::processes] for first in range(processes)])
        counts = {name: found for some in shares for name, found in some.items()}
    record = Record(found["made_by"], {name: inputs[name] for name in names}, {name: counts[name] for name in names})
    return record, str(found["extension"])


def build_of_the_record(say: Callable[[str], None]) -> Build:
    """The commit the stored record belongs to, built here by the compiler of this machine; kept in build/, by its name."""
    commit = git("log", "-1", "--format=%H", "--", str(STORED))
    if not commit:
        raise CountingFailed(f"{STORED.name} is in no commit")
    if git("rev-parse", "--is-shallow-repository") == "true":
        raise CountingFailed("the clone is shallow; run: git fetch --unshallow")
    folder = ROOT / "build" / "counted" / commit
    if not list(folder.glob("src/formatter/_core.*.so")):
        say(f"building {commit[:12]}, the commit of the record, with the compiler of this machine")
        folder.mkdir(parents=True, exist_ok=True)
        packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=packed, check=True)
        plain = {name: value for name, value in os.environ.items() if not name.startswith("FORMATTER_")}
        build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        built = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False, env=plain)
        if built.returncode:
            raise CountingFailed(f"{commit[:12]} does not build here:\n{built.stderr[-2000:]}")
    return Build(sys.executable, {"PYTHONPATH": str(folder / "src")})


def git(*arguments: str) -> str:
    try:
        ran = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError as error:
        raise CountingFailed("no git, which finds the commit of the record; run: apt-get install git") from error
    if ran.returncode:
        raise CountingFailed(f"git {arguments[0]}: {ran.stderr.strip()}")
    return ran.stdout.strip()
