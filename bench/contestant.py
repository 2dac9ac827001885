"""Who races, and what it is asked to do: one small adapter a contestant, one process each.

In: a Task. Out: what is prepared for it: a call to time, and how its result becomes an Answer.
Refuses to know: the other contestants, turns, clocks.
"""

from __future__ import annotations

import importlib.metadata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.inputs import Input


class Declined(Exception):
    """This contestant cannot be asked this; it says why, and takes no part."""


@dataclass(frozen=True)
class Task:
    job: str
    source: Input | None = None
    columns: tuple[str, ...] = ()
    threads: int = 1
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def input(self) -> Input:
        if self.source is None:
            raise Declined(f"{self.job} has no input")
        return self.source

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "source": self.source.to_json() if self.source else None}

    @staticmethod
    def from_json(told: Mapping[str, Any]) -> Task:
        source = Input.from_json(told["source"]) if told["source"] else None
        return Task(told["job"], source, tuple(told["columns"]), told["threads"], told["options"])


def table_answer(result: pa.Table) -> Answer:
    return answer_of(result)


@dataclass(frozen=True)
class Prepared:
    run: Callable[[], Any]
    answer: Callable[[Any], Answer] = table_answer
    seconds: Callable[[Any], float] | None = (
        None  # of the result, where a program in C++ or a latency has a clock of its own
    )
    finish: Callable[[], object] | None = None
    once: Callable[[], object] | None = None  # what a user does once before, as part of the first call


@dataclass(frozen=True)
class Contestant:
    name: str
    jobs: Mapping[str, Callable[[Task], Prepared]]
    package: str = ""  # the distribution it needs besides ours
    role: str = "peer"  # or "ours", or "limit": what nobody can be faster than, whose answer is not looked at
    handicap: str = ""  # what the race takes from it, or gives it
    environment: Callable[[int], Mapping[str, str]] = lambda threads: {}

    @property
    def version(self) -> str | None:
        """None if it is not installed."""
        if not self.package:
            return "ours" if self.role == "ours" else ""
        try:
            return importlib.metadata.version(self.package)
        except importlib.metadata.PackageNotFoundError:
            return None
