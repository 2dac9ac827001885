"""What a query costs by byte, call, buffer, column, task and query: fitted from a record, held against what the fit left out.

In: a record. Out: constants, errors on sizes it was not fitted on, times for machines that are not here, what breaks first.
Refuses to know: other contestants, figures.

Each cost is the slope of one question: seconds = fixed + slope * amount, fitted so that relative errors count alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bench.record import Record, Result

WITHIN = 0.20
SPLIT_BYTES = 128 << 20  # what Spark gives a task by default
EXECUTOR_CORES = 1


@dataclass(frozen=True)
class Line:
    """seconds = fixed + slope * amount."""

    fixed: float
    slope: float

    def __call__(self, amount: float) -> float:
        return self.fixed + self.slope * amount


def fitted(points: Sequence[tuple[float, float]]) -> Line:
    """By least squares of relative errors, neither cost below nothing."""
    amounts, seconds = (np.array(column) for column in zip(*points, strict=True))
    for use in ((0, 1), (1,), (0,)):
        weighed = np.stack([1 / seconds, amounts / seconds], axis=1)[:, use]
        found = np.linalg.lstsq(weighed, np.ones(len(seconds)), rcond=None)[0]
        if (found >= 0).all():
            both = dict(zip(use, found.tolist(), strict=True))
            return Line(both.get(0, 0.0), both.get(1, 0.0))
    raise ValueError("seconds are not positive")


@dataclass
class Held:
    what: str
    measured: float
    predicted: float
    noisy: bool

    @property
    def error(self) -> float:
        return self.predicted / self.measured - 1


@dataclass
class Model:
    lines: dict[str, Line] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    cores: int = 2
    memory_rate: float = 0.0  # bytes a second that one thread reads

    def constants(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("cost of", "is", "fixed part")]
        units = {
            "byte": 1e9,
            "byte in Spark": 1e9,
            "buffer": 1,
            "column": 1,
            "task": 1,
            "byte in Spark, 1 executor": 1e9,
        }
        for name, line in self.lines.items():
            times = units.get(name, 1)
            rows.append((f"a {name}" if times == 1 else f"a GB, {name}", _time(line.slope * times), _time(line.fixed)))
        return rows

    def held_against(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("left out of the fit", "measured", "predicted", "error")]
        for held in self.held:
            rows.append(
                (
                    held.what,
                    _time(held.measured),
                    _time(held.predicted),
                    f"{held.error:+.0%}{' ~' if held.noisy else ''}",
                )
            )
        return rows

    def verdict(self) -> str:
        quiet = [held for held in self.held if not held.noisy]
        good = sum(abs(held.error) <= WITHIN for held in quiet)
        if not self.held:
            return "Nothing was measured that the fit had left out."
        noisy = len(self.held) - len(quiet)
        return f"{good} of {len(quiet)} predictions lie within {WITHIN:.0%}; {noisy} more are of noisy measurements."

    def seconds(self, size: float, slots: int) -> float:
        """A query of Spark over files, all columns, on so many cores, memory and driver allowing."""
        query, task = self.lines["byte in Spark"], self.lines.get("task", Line(0, 0))
        tasks = max(1.0, size / SPLIT_BYTES)
        waves = max(size * query.slope * self.cores / slots, tasks * task.slope)  # the driver starts tasks one by one
        return query.fixed + waves

    def predictions(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("files in Spark", "64 cores", "1,000 executors")]
        for name, size in (("10 GB", 1e10), ("1 TB", 1e12), ("100 TB", 1e14)):
            rows.append((name, _time(self.seconds(size, 64)), _time(self.seconds(size, 1000 * EXECUTOR_CORES))))
        return rows

    def breaks_first(self) -> str:
        slope = self.lines["byte in Spark"].slope * self.cores
        task = self.lines.get("task", Line(0, 0)).slope
        length = SPLIT_BYTES * slope
        words = f"A task of {SPLIT_BYTES >> 20} MiB keeps a core busy for {_time(length)}. "
        if task > 0:
            words += (
                f"One driver starts a task at most every {_time(task)} as measured here, where its work and the tasks' own start "
                f"are not told apart: so beyond {length / task:,.0f} cores the driver is what breaks first, and "
                f"longer tasks are the remedy. "
            )
        if self.memory_rate:
            words += (
                f"A core that parses reads {1 / slope / 1e9:.2g} GB/s of {self.memory_rate / 1e9:.3g} GB/s that one "
                f"core can read here: "
                "memory is not what breaks first, unless cores share less than that."
            )
        return words


def model_of(record: Record) -> Model | None:
    """None if the record lacks Spark by size."""
    model = Model(cores=min(2, int(record.last.facts["cpus"])))
    model.memory_rate = max(
        (r.rate() for r in record.results if r.contestant == "memory read" and r.valid), default=0.0
    )
    _fit(model, "byte", _points(record, "sizes", "formatter", lambda r: r.amount, "mixed"))
    _fit(model, "byte in Spark", _points(record, "spark sizes", "spark_udfs", lambda r: r.amount, "mixed"))
    _fit(model, "task", _points(record, "spark tasks", "spark_udfs", lambda r: float(r.point["tasks"])))
    _fit(model, "column", _points(record, "columns", "formatter", lambda r: float(r.point["columns"]), "wide"))
    _fit(model, "buffer", _points(record, "chunks", "formatter", _buffers, "taxi", per_byte=True), scale=True)
    _executors(model, record)
    return model if "byte in Spark" in model.lines else None


Points = list[tuple[float, float, Result]]


def _points(
    record: Record,
    question: str,
    contestant: str,
    amount: Callable[[Result], float],
    workload: str = "",
    per_byte: bool = False,
) -> Points:
    found = [
        (amount(r), r.best() / (r.amount if per_byte else 1.0), r)
        for r in record.results
        if (r.question, r.contestant) == (question, contestant)
        and r.valid
        and r.point.get("workload", workload) in ("", workload)
        and r.point.get("columns", "all") in ("all", r.point.get("columns") if question == "columns" else "all")
    ]
    return sorted(found, key=lambda point: point[0])


def _buffers(result: Result) -> float:
    """A byte."""
    size, unit = str(result.point["buffers"]).split()
    return 1.0 / (int(size) << (10 if unit == "KiB" else 20))


def _fit(model: Model, name: str, points: Points, scale: bool = False) -> None:
    """On the first, the last and every other of the rest; the others are held against it."""
    if len(points) < 2:
        return
    held = {at for at in range(1, len(points) - 1) if at % 2}
    model.lines[name] = fitted([(amount, seconds) for at, (amount, seconds, _) in enumerate(points) if at not in held])
    for at in sorted(held):
        amount, seconds, result = points[at]
        times = result.amount if scale else 1.0
        what = f"{result.question}: " + ", ".join(f"{axis} {value}" for axis, value in result.point.items())
        model.held.append(Held(what, seconds * times, model.lines[name](amount) * times, result.spread() > 0.1))


def _executors(model: Model, record: Record) -> None:
    """One executor gives the costs; two and four are predicted: the query's part stays, cores share the bytes'."""
    races = list(record.races("spark executors"))
    ones = [(r.amount, r.best()) for race in races for r in race if r.contestant == "1 executors" and r.valid]
    if len(ones) < 2:
        return
    line = model.lines["byte in Spark, 1 executor"] = fitted(ones)
    for race in races:
        for result in race:
            if result.valid and result.contestant != "1 executors":
                sharing = min(int(result.contestant.split()[0]), model.cores)
                predicted = line.fixed + line.slope * result.amount / sharing
                what = f"{result.contestant}, {result.point['size']}"
                model.held.append(Held(what, result.best(), predicted, result.spread() > 0.1))


def _time(seconds: float) -> str:
    for unit, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
