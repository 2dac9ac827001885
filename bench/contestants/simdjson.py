"""simdjson's C++ front ends by hand: On-Demand into columns, and the DOM, which only parses. The program has a clock of its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from bench.answers import Answer
from bench.contestant import Contestant, Declined, Prepared, Task

BY_HAND = {("flat", "all"), ("flat", "few"), ("shuffled", "all"), ("shuffled", "few"), ("tweets", "few")}


def table(front_end: str) -> Callable[[Task], Prepared]:
    def prepare(task: Task) -> Prepared:
        from bench.compiled import on_demand

        source = task.input
        few = "few" if task.columns else "all"
        if (source.name, few) not in BY_HAND and front_end == "on-demand":
            raise Declined("nobody has written this one by hand")
        if source.kind != "json":
            raise Declined("reads JSON only")
        what = few if front_end == "on-demand" else front_end
        command = [str(on_demand()), source.name, what, source.path]

        def run() -> list[str]:
            ran = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
            return ran.stdout.split()

        return Prepared(run, lambda found: Answer(int(found[1])), lambda found: float(found[0]))

    return prepare


CONTESTANTS = [
    Contestant(
        "simdjson On-Demand",
        {"table": table("on-demand")},
        "pysimdjson",
        handicap="C++ written for this very input; columns are vectors that keep their memory; only its rows are checked; CPU time",
    ),
    Contestant(
        "simdjson DOM",
        {"table": table("dom")},
        "pysimdjson",
        role="limit",
        handicap="parses into its tape and makes no columns; CPU time",
    ),
]
