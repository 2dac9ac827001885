"""Loops of the kernels alone, by programs in C++ with clocks of their own: the CSV index, and values of one kind."""

from __future__ import annotations

import subprocess

from bench.answers import Answer
from bench.contestant import Contestant, Prepared, Task

REPEATS = "5"


def _last_number(command: list[str]) -> float:
    """The table's row that was asked for, by its only column."""
    ran = subprocess.run(command, capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    return float(ran.stdout.splitlines()[1].split()[-1])


def index(task: Task) -> Prepared:
    from bench.compiled import csv_index

    command = [str(csv_index()), REPEATS, str(task.options["load"]), str(task.options["kernel"])]
    amount = float(task.options["amount"])
    return Prepared(lambda: _last_number(command), lambda _: Answer(0), lambda rate: amount / rate / 1e9)


def values(task: Task) -> Prepared:
    from bench.compiled import value_columns

    command = [str(value_columns()), str(task.options["kernel"]), str(task.options["load"])]
    amount = float(task.options["amount"])
    return Prepared(lambda: _last_number(command), lambda _: Answer(0), lambda ns: amount * ns * 1e-9)


CONTESTANTS = [Contestant("native loops", {"index": index, "values": values}, role="ours")]
