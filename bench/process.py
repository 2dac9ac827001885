"""One contestant alone in one process: `python -m bench.process NAME` prepares tasks and takes turns as it is told to.

In: requests, a line of JSON each, on standard input. Out: replies, a line each, on what was standard output; whatever a library
prints goes to standard error. Refuses to know: the other contestants, what a time means.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any, TextIO

SHORTEST_TIMED_S = 0.002  # shorter calls are timed several at a time
MOST_AT_A_TIME = 2_000
LONGEST_REWARMED_S = 0.2  # a longer call fills the caches itself; before others, one that does not count does
LEAST_WARM_S = 5.0  # of calls in a process, before any of its races that wants it warm
SETTLED_CALLS, SETTLED_BY = (
    3,
    0.03,
)  # so many calls in a row, none of them faster than any before by so much: it is warm


class Racer:
    """What is prepared, and the clocks around it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.race = ""
        self.prepared: dict[str, Any] = {}  # by label: an entry may share its process with others of the contestant
        self.warmed_s = 0.0
        self.took: dict[str, float] = {}  # by the call or calls before

    def prepare(self, told: dict[str, Any], label: str, race: str, answered: str = "values") -> dict[str, Any]:
        """The first call, from the import of the library on, and its answer, which takes time of its own, if it is asked for."""
        before_first = Clocks()
        from bench.answers import Answer
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
        if prepared.once:
            prepared.once()
        result = prepared.run()
        call = before_call.passed()
        first = before_first.passed()
        peak = peak_mb() - before
        own = prepared.seconds
        self.took[label] = call["wall"]
        found: dict[str, Any] = {"first": first, "peak_mb": round(peak, 1)}
        found["call"] = dict.fromkeys(call, own(result)) if own else call
        before_answer = Clocks()
        if answered:
            found["answer"] = (Answer(rows_of(result)) if answered == "rows" else prepared.answer(result)).to_json()
        return {**found, "answering_s": before_answer.passed()["wall"]}

    def warm(self, label: str, longest_s: float) -> dict[str, int]:
        """Calls until they become no faster, or the seconds are over."""
        taken = list[float]()
        while sum(taken) < longest_s and not (settled(taken) and self.warmed_s > LEAST_WARM_S):
            before = time.perf_counter()
            self.prepared[label].run()
            taken.append(time.perf_counter() - before)
            self.warmed_s += taken[-1]
        return {"calls": len(taken)}

    def turn(self, label: str, seconds: float) -> dict[str, float]:
        """Calls for so many seconds, at least one: by the clock the one in the middle, of CPU time their mean. Before short ones
        goes one that does not count, for another contestant had the caches."""
        prepared = self.prepared[label]
        if prepared.seconds:
            return dict.fromkeys(("wall", "cpu"), prepared.seconds(prepared.run()))
        if self.took[label] < LONGEST_REWARMED_S:
            prepared.run()
        together, timed = at_a_time(self.took[label]), list[float]()
        whole = Clocks()
        while not timed or sum(timed) * together < seconds:
            before = time.perf_counter()
            for _ in range(together):
                result = prepared.run()
            timed.append((time.perf_counter() - before) / together)
            del result
        self.took[label] = statistics.median(timed)
        return {"wall": self.took[label], "cpu": whole.passed()["cpu"] / len(timed) / together}

    def finish(self) -> None:
        for prepared in self.prepared.values():
            if prepared.finish:
                prepared.finish()
        self.prepared = {}


def rows_of(result: Any) -> int:
    return int(result.num_rows)


def at_a_time(call_s: float) -> int:
    return min(MOST_AT_A_TIME, max(1, round(SHORTEST_TIMED_S / max(call_s, 1e-7))))


def settled(taken: list[float]) -> bool:
    """The last calls are no faster than the fastest before them."""
    before, last = taken[:-SETTLED_CALLS], taken[-SETTLED_CALLS:]
    return bool(before) and min(last) > min(before) * (1 - SETTLED_BY)


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
                reply: dict[str, Any] = racer.prepare(
                    request["prepare"], label, request["race"], request.get("answered", "values")
                )
            elif "warm" in request:
                reply = racer.warm(label, request["warm"])
            else:
                reply = racer.turn(label, request["turn"])
        except Exception as error:  # a contestant's failure is a result, not the end of the run
            kind = "declined" if type(error).__name__ == "Declined" else "failed"
            reply = {kind: f"{type(error).__name__}: {error}"[:400] if kind == "failed" else str(error)}
        print(json.dumps(reply), file=replies, flush=True)
    racer.finish()


if __name__ == "__main__":
    main()
