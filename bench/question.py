"""What is asked: a Question is a family of races along one axis; a Race is one point of it that all its entries run.

In: a Scale. Out: Races. Refuses to know: how they are run, what they find.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench.answers import Answer, projected
from bench.contestant import Task
from bench.inputs import Input
from bench.record import Point
from bench.workload import Workload

MIB = 1 << 20
LEAST_BYTES = 64 << 10


@dataclass(frozen=True)
class Scale:
    """How much of everything: what a question plans to take is for 1.0, on two quiet cores."""

    part: float
    seed: int
    memory: Path  # a folder in memory
    disk: Path  # one for what is too large for it
    only_workloads: frozenset[str] = frozenset()
    files: tuple[str, ...] = ()  # the user's

    def bytes(self, mebibytes: float) -> int:
        return max(LEAST_BYTES, int(mebibytes * MIB * self.part))

    def count(self, whole: int, least: int = 1) -> int:
        return max(least, int(whole * self.part))

    def steps(self, most: int) -> int:
        """Of sizes that grow tenfold or more: the largest cost most, so a smaller report has fewer."""
        return max(1, most - sum(self.part < bound for bound in (0.15, 0.05, 0.01)))

    def write(self, workload: Workload, mebibytes: float, on_disk: bool = False) -> Input:
        return workload.write(self.disk if on_disk else self.memory, self.bytes(mebibytes), self.seed)

    def wants(self, workload: object) -> bool:
        return not self.only_workloads or workload is None or workload in self.only_workloads

    def chosen(self, workloads: Mapping[str, Workload]) -> list[Workload]:
        return [workload for workload in workloads.values() if self.wants(workload.name)]


@dataclass(frozen=True)
class Entry:
    """One contestant in a race, under the name the report shows."""

    label: str
    task: Task
    contestant: str = ""  # if it is not the label
    environment: Mapping[str, str] = field(default_factory=dict)
    role: str = ""  # if it is not its contestant's: a part of the work, which nobody can be faster than, is a "limit"
    alone: bool = True  # or in one process with others of its contestant, where starting one takes long (a JVM)

    @property
    def who(self) -> str:
        return self.contestant or self.label


@dataclass(frozen=True)
class Race:
    point: Point  # where on the axes: workload, columns, threads, buffer, size
    entries: tuple[Entry, ...]
    amount: float  # what one turn goes through
    unit: str = "B"
    seconds: float = 2.0  # of turns, all together
    truth: Answer | None = None  # else most contestants decide
    sampled: bool = True  # answers on a sample are held against Python's own
    expected: Callable[[pa.Table, Task], pa.Table] = projected  # of Python's reading of the sample
    clock: str = ""  # "wall" where the clock is what is asked for; else by how busy the machine is
    fresh: bool = False  # every turn is the first of a new process
    answered: str = (
        "values"  # what the whole answer is held against the others by; or "rows", where the values would take minutes
    )
    warm_s: float = 0.0  # calls before the turns, at most so long for each: what a JVM needs

    @property
    def key(self) -> str:
        return ", ".join(f"{axis} {value}" for axis, value in self.point.items())


@dataclass(frozen=True)
class Question:
    name: str
    asks: str
    races: Callable[[Scale], Iterable[Race]]
    seconds: float  # of the whole, at scale 1
    least_bytes: int = 0
    kept: bool = False  # its processes serve the next question, too: starting them takes as long as the question


def entries(labels: Iterable[str], task: Task, **options: Any) -> tuple[Entry, ...]:
    """The same task for each."""
    told = Task(task.job, task.source, task.columns, task.threads, {**task.options, **options})
    return tuple(Entry(label, told) for label in labels)
