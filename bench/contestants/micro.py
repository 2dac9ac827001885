"""The micro suites: one run of pytest-benchmark a process, whose rounds are handed out as turns."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

from bench.answers import Answer
from bench.contestant import Contestant, Prepared, Task

ROOT = Path(__file__).resolve().parents[2]


@cache
def rounds(longest_s: float) -> dict[str, list[float]]:
    """Seconds of every round of every suite; answers are asserted there."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rounds.json")
        told = [
            f"--benchmark-json={path}",
            "--benchmark-save-data",
            f"--benchmark-max-time={longest_s}",
            "--benchmark-min-rounds=5",
        ]
        command = [sys.executable, "-m", "pytest", "-q", "bench/micro", *told]
        ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        if ran.returncode:
            raise RuntimeError(ran.stdout[-400:])
        found: list[Any] = json.loads(path.read_text())["benchmarks"]
    return {one["name"]: one["stats"]["data"] for one in found}


def suite(task: Task) -> Prepared:
    seconds = rounds(float(task.options["longest_s"]))[task.options["name"]]
    turn = count()
    return Prepared(lambda: seconds[next(turn) % len(seconds)], lambda _: Answer(0), lambda found: found)


CONTESTANTS = [Contestant("suites", {"suite": suite}, "pytest-benchmark", role="ours")]
