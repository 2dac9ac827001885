"""One contestant alone in one process: `python -m bench.process NAME` prepares tasks and takes turns as it is told to.

In: requests, a line of JSON each, on standard input. Out: replies, a line each, on what was standard output; whatever a library
prints goes to standard error. Refuses to know: the other contestants, what a time means.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any, TextIO

SHORTEST_TURN_S = 0.002  # shorter calls are repeated within a turn
TURN_CALLS = 2_000


class Racer:
    """What is prepared, and the clocks around it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.race = ""
        self.prepared: dict[str, Any] = {}  # by label: an entry may share its process with others of the contestant
        self.calls: dict[str, int] = {}

    def prepare(self, told: dict[str, Any], label: str, race: str) -> dict[str, Any]:
        """The first call, from the import of the library on, and its answer."""
        before_first = Clocks()
        from bench.contestant import Task
        from bench.contestants import contestant

        task = Task.from_json(told)
        if race != self.race:
            self.finish()
            self.race = race
        jobs = contestant(self.name).jobs
        if task.job not in jobs:
            return {"declined": f"no adapter for {task.job!r}"}
        prepared = self.prepared[label] = jobs[task.job](task)
        forget_peak()
        before = resident_mb()
        before_call = Clocks()
        result = prepared.run()
        call = before_call.passed()
        first = before_first.passed()
        peak = peak_mb() - before
        own = prepared.seconds
        self.calls[label] = 1 if own else min(TURN_CALLS, max(1, round(SHORTEST_TURN_S / max(call["wall"], 1e-7))))
        answer = prepared.answer(result).to_json()
        return {
            "answer": answer,
            "first": first,
            "call": dict.fromkeys(call, own(result)) if own else call,
            "peak_mb": round(peak, 1),
        }

    def turn(self, label: str) -> dict[str, float]:
        prepared, calls = self.prepared[label], self.calls[label]
        before = Clocks()
        for _ in range(calls - 1):
            prepared.run()
        result = prepared.run()
        passed = before.passed()
        if prepared.seconds:
            return dict.fromkeys(passed, prepared.seconds(result))
        return {clock: seconds / calls for clock, seconds in passed.items()}

    def finish(self) -> None:
        for prepared in self.prepared.values():
            if prepared.finish:
                prepared.finish()
        self.prepared = {}


class Clocks:
    """Seconds by the clock, and of the CPU: of this process and, where it has a JVM or other children, of theirs."""

    def __init__(self) -> None:
        self.children = children_cpu(os.getpid())
        self.own = time.process_time()
        self.wall = time.perf_counter()

    def passed(self) -> dict[str, float]:
        wall, own = time.perf_counter() - self.wall, time.process_time() - self.own
        return {"wall": wall, "cpu": own + children_cpu(os.getpid()) - self.children}


def children_cpu(process: int) -> float:
    """What living children and theirs have used, in the clock ticks of the system."""
    seconds = 0.0
    for listed in Path(f"/proc/{process}/task").glob("*/children"):
        for child in _read(listed).split():
            fields = _read(Path(f"/proc/{child}/stat")).rpartition(")")[2].split()
            if fields:
                seconds += sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK") + children_cpu(int(child))
    return seconds


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # it has ended meanwhile
        return ""


def forget_peak() -> None:
    """Starts the kernel's count of peak memory again."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_mb() -> float:
    return _status("VmHWM:")


def resident_mb() -> float:
    return _status("VmRSS:")


def _status(name: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name):
            return int(line.split()[1]) / 1024
    raise SystemExit(f"bench: /proc/self/status does not tell {name}")


def main() -> None:
    replies: TextIO = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    racer = Racer(sys.argv[1])
    for line in sys.stdin:
        request = json.loads(line)
        try:
            label = request["as"]
            if "prepare" in request:
                reply: dict[str, Any] = racer.prepare(request["prepare"], label, request["race"])
            else:
                reply = racer.turn(label)
        except Exception as error:  # a contestant's failure is a result, not the end of the run
            kind = "declined" if type(error).__name__ == "Declined" else "failed"
            reply = {kind: f"{type(error).__name__}: {error}"[:400] if kind == "failed" else str(error)}
        print(json.dumps(reply), file=replies, flush=True)
    racer.finish()


if __name__ == "__main__":
    main()
