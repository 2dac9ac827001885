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
        self.prepared: Any = None
        self.calls = 1

    def prepare(self, told: dict[str, Any]) -> dict[str, Any]:
        """The first call, from the import of the library on, and its answer."""
        began, began_cpu = time.perf_counter(), process_cpu()
        from bench.contestant import Task
        from bench.contestants import contestant

        task = Task.from_json(told)
        self.finish()
        jobs = contestant(self.name).jobs
        if task.job not in jobs:
            return {"declined": f"no adapter for {task.job!r}"}
        self.prepared = jobs[task.job](task)
        forget_peak()
        before = resident_mb()
        called, called_cpu = time.perf_counter(), process_cpu()
        result = self.prepared.run()
        ended, ended_cpu = time.perf_counter(), process_cpu()
        peak = peak_mb() - before
        own = self.prepared.seconds
        self.calls = 1 if own else min(TURN_CALLS, max(1, round(SHORTEST_TURN_S / max(ended - called, 1e-7))))
        answer = self.prepared.answer(result).to_json()
        return {
            "answer": answer,
            "first": {"wall": ended - began, "cpu": ended_cpu - began_cpu},
            "call": {"wall": own(result) if own else ended - called, "cpu": ended_cpu - called_cpu},
            "peak_mb": round(peak, 1),
        }

    def turn(self) -> dict[str, float]:
        prepared = self.prepared
        began, began_cpu = time.perf_counter(), process_cpu()
        for _ in range(self.calls - 1):
            prepared.run()
        result = prepared.run()
        wall, cpu = time.perf_counter() - began, process_cpu() - began_cpu
        if prepared.seconds:
            wall = prepared.seconds(result)
        return {"wall": wall / self.calls, "cpu": cpu / self.calls}

    def finish(self) -> None:
        if self.prepared is not None and self.prepared.finish:
            self.prepared.finish()
        self.prepared = None


def process_cpu() -> float:
    """Of this process and, where it has a JVM or other children, of theirs."""
    return time.process_time() + children_cpu(os.getpid())


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
            reply: dict[str, Any] = racer.prepare(request["prepare"]) if "prepare" in request else racer.turn()
        except Exception as error:  # a contestant's failure is a result, not the end of the run
            kind = "declined" if type(error).__name__ == "Declined" else "failed"
            reply = {kind: f"{type(error).__name__}: {error}"[:400] if kind == "failed" else str(error)}
        print(json.dumps(reply), file=replies, flush=True)
    racer.finish()


if __name__ == "__main__":
    main()
