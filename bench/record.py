"""What was found: a Result is one contestant in one race; a Record has the results of runs, and the machine each ran on.

In: results, facts. Out: a JSON file, a line a result, that comes back as it was; rates, ratios, and which of them are noise.
Refuses to know: how anything was measured.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from bench.doubt import doubt_of

Point = Mapping[str, str | int | float]
NOISY = 0.05  # a figure that is known no better than by this much, either way, is noise
DIGITS = 4
LEAST_S = 1e-9


@dataclass
class Result:
    question: str
    point: Point
    contestant: str
    role: str
    amount: float = 0.0
    unit: str = "B"
    wall_s: list[float] = field(default_factory=list)  # turn by turn, in the order of the rounds
    cpu_s: list[float] = field(default_factory=list)
    peak_mb: float = 0.0
    rows: int = 0
    wrong: str | None = None  # it answered, and not rightly; or failed
    declined: str | None = None  # it takes no part
    load: float = 0.0  # the machine's load average when it began
    clock: str = "wall"  # or "cpu", where the machine was busy and turns wait for others more than for themselves

    @property
    def race(self) -> tuple[str, str]:
        return self.question, json.dumps(self.point)

    @property
    def valid(self) -> bool:
        return bool(self.wall_s) and self.wrong is None

    @property
    def turns(self) -> list[float]:
        return self.cpu_s if self.clock == "cpu" else self.wall_s

    def seconds(self) -> float:
        """Of the turn in the middle: half were faster, half slower."""
        return max(statistics.median(self.turns), LEAST_S)

    def rate(self) -> float:
        """Amount a second."""
        return self.amount / self.seconds()

    def doubt(self) -> float:
        """How far `seconds` may lie beside what other turns would have given, either way, as a share of it."""
        return doubt_of(self.turns)

    @property
    def is_noise(self) -> bool:
        return self.doubt() > NOISY


@dataclass(frozen=True)
class Ratio:
    """How many times as fast as another in the same race, and how well that is known."""

    value: float
    doubt: float  # either way, as a share of the value

    @property
    def is_noise(self) -> bool:
        return self.doubt > NOISY


def ratio(mine: Result, theirs: Result) -> Ratio:
    """Of the turns in the middle; its doubt is that of turns taken side by side, which a machine that slows down slows alike."""
    return Ratio(theirs.seconds() / mine.seconds(), doubt_of(mine.turns, theirs.turns))


@dataclass(frozen=True)
class Run:
    """When, by which command and on what machine some questions were asked."""

    taken: str
    command: str
    facts: dict[str, Any]
    questions: list[str]
    took_s: float = 0.0


@dataclass
class Record:
    runs: list[Run]
    results: list[Result] = field(default_factory=list)

    @property
    def last(self) -> Run:
        return self.runs[-1]

    def run_of(self, question: str) -> Run:
        return next(run for run in reversed(self.runs) if question in run.questions)

    def races(self, question: str | None = None) -> Iterator[list[Result]]:
        """The results of each race, in the order they were run."""
        by_race: dict[tuple[str, str], list[Result]] = {}
        for result in self.results:
            if question in (None, result.question):
                by_race.setdefault(result.race, []).append(result)
        yield from by_race.values()

    def find(self, question: str, contestant: str, point: Point) -> Result:
        for result in self.results:
            same = (result.question, result.contestant) == (question, contestant)
            if same and point.items() <= result.point.items():
                return result
        raise LookupError(f"the record has no {contestant!r} in {question!r} at {dict(point)}")

    def questions(self) -> list[str]:
        return list(dict.fromkeys(result.question for result in self.results))

    def updated_by(self, fresh: Record) -> Record:
        """This record with the questions that `fresh` asked in place of its own."""
        asked = set(fresh.questions())
        kept = [result for result in self.results if result.question not in asked]
        runs = [replace(run, questions=[name for name in run.questions if name not in asked]) for run in self.runs]
        return Record([run for run in runs if run.questions] + fresh.runs, kept + fresh.results)

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps([asdict(run) for run in self.runs]), *(to_line(result) for result in self.results)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")

    @staticmethod
    def load(path: Path) -> Record:
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        return Record([Run(**run) for run in json.loads(head)], [from_line(line) for line in lines])


def to_line(result: Result) -> str:
    plain = asdict(result)
    for clock in ("wall_s", "cpu_s"):
        plain[clock] = [float(f"{seconds:.{DIGITS}g}") for seconds in plain[clock]]
    return json.dumps({name: value for name, value in plain.items() if value not in (None, "", 0, 0.0, [])})


def from_line(line: str) -> Result:
    return Result(**json.loads(line))


def best_peer(race: Iterable[Result]) -> Result | None:
    """The fastest contestant other than ours that answered rightly."""
    peers = [result for result in race if result.role == "peer" and result.valid]
    return min(peers, key=Result.seconds, default=None)


def best_of_ours(race: Iterable[Result]) -> Result | None:
    ours = [result for result in race if result.role == "ours" and result.valid]
    return min(ours, key=Result.seconds, default=None)
