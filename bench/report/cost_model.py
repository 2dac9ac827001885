"""What a query costs by byte, buffer, column, task, query and session: fitted from a record, held against what the fit left out.

In: a record. Out: constants, errors on sizes it was not fitted on, times for machines that are not here, what breaks first.
Refuses to know: other contestants, figures.

Each cost is a curve of one question: a sum of terms with a reason each (`cost_curves`). Of the points of a question every other
one is left out of the fit, but for the first and the last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from bench.record import Record, Result
from bench.report.cost_curves import EACH, ONCE, Curve, Term, at_most, beyond, fitted, misfit, settling

WITHIN = 0.20
SPLIT_BYTES = 128 << 20  # what Spark gives a task by default
EXECUTOR_CORES = 1
KEPT_BYTES = (
    512 << 20
)  # the pool keeps so much for the next result; what is larger has new pages each time (buffer_pool.cpp)
BLOCK_BYTES = 64  # of text that the index looks at together: wanted fields in one share its cost
COMPILED_AFTER = (
    10e6,
    30e6,
    100e6,
    300e6,
    1e9,
)  # bytes by which a young JVM is through with most of its compiling: the best is taken

PYTHON, SPARK, FIRST, SCRIPT = (
    "a byte in Python",
    "a byte in Spark, warm",
    "the first action of a session",
    "a whole script",
)
TASK, EMPTY, COLUMN, BUFFER = "a task with Python", "a task without Python", "a column", "a buffer"
ONE_EXECUTOR = "a byte in Spark, one executor"
BYTES = {PYTHON, SPARK, ONE_EXECUTOR}  # told by the gigabyte


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
    curves: dict[str, Curve] = field(default_factory=dict)
    held: list[Held] = field(default_factory=list)
    cores: int = 2
    shared_by: int = 2  # cores the seconds of a query were spent on at a time: one, where they are CPU time
    memory_rate: float = 0.0  # bytes a second that one thread reads

    def constants(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("cost of", "term", "is")]
        for name, curve in self.curves.items():
            for term, cost in zip(curve.terms, curve.costs, strict=True):
                by_gigabyte = name in BYTES and term.name.startswith("each")
                rows.append(
                    (name, term.name + (", a GB" if by_gigabyte else ""), _time(cost * (1e9 if by_gigabyte else 1)))
                )
        return rows

    def held_against(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("left out of the fit", "measured", "predicted", "error")]
        for held in self.held:
            error = f"{held.error:+.0%}{' ~' if held.noisy else ''}"
            rows.append((held.what, _time(held.measured), _time(held.predicted), error))
        return rows

    def verdict(self) -> str:
        if not self.held:
            return "Nothing was measured that the fit had left out."
        good = sum(abs(held.error) <= WITHIN for held in self.held)
        bad = [held.what for held in self.held if abs(held.error) > WITHIN]
        words = f"{good} of {len(self.held)} predictions lie within {WITHIN:.0%}"
        return f"{words}; not so: {'; '.join(bad)}." if bad else f"{words}."

    def seconds(self, size: float, slots: int) -> float:
        """A query of Spark over files, all columns, on so many cores, memory and driver allowing."""
        query = self.curves[SPARK]
        tasks = max(1.0, size / SPLIT_BYTES)
        bytes_s = size * query.cost("each") * self.shared_by / slots
        return query.cost("once") + max(bytes_s, tasks * self.driver_s)  # the driver starts tasks one by one

    @property
    def driver_s(self) -> float:
        """A task's part of the driver, at most: an empty one's whole cost."""
        return self.curves[EMPTY].cost("each") if EMPTY in self.curves else 0.0

    def predictions(self) -> list[tuple[str, ...]]:
        rows: list[tuple[str, ...]] = [("files in Spark, warm", "64 cores", "1,000 executors")]
        for name, size in (("10 GB", 1e10), ("1 TB", 1e12), ("100 TB", 1e14)):
            rows.append((name, _time(self.seconds(size, 64)), _time(self.seconds(size, 1000 * EXECUTOR_CORES))))
        return rows

    def breaks_first(self) -> str:
        slope = self.curves[SPARK].cost("each") * self.shared_by
        length = SPLIT_BYTES * slope
        words = f"A task of {SPLIT_BYTES >> 20} MiB keeps a core busy for {_time(length)}. "
        if self.driver_s > 0:
            words += (
                f"A task that does nothing, without Python, takes {_time(self.driver_s)}, most of it the driver's: beyond "
                f"{length / self.driver_s:,.0f} cores the driver is what breaks first, and longer tasks are the remedy. "
            )
        if TASK in self.curves and (own := self.curves[TASK].cost("each")) > self.driver_s:
            words += f"With Python a task takes {_time(own - self.driver_s)} more on these {self.cores} cores. "
        if self.memory_rate:
            words += (
                f"A core that parses reads {1 / slope / 1e9:.2g} GB/s of {self.memory_rate / 1e9:.3g} GB/s that one core can "
                "read here: memory is not what breaks first, unless cores share less than that."
            )
        return words


def model_of(record: Record) -> Model | None:
    """None if the record lacks Spark by size."""
    model = Model(cores=min(2, int(record.last.facts["cpus"])))
    model.memory_rate = max(
        (r.rate() for r in record.results if r.contestant == "memory read" and r.valid), default=0.0
    )
    by_cpu = any(r.clock == "cpu" for r in record.results if r.question == "spark sizes")
    model.shared_by = 1 if by_cpu else model.cores
    kept = beyond("each beyond what the pool keeps", KEPT_BYTES)
    _fit(model, PYTHON, _points(record, "sizes", "formatter", _amount, workload="mixed"), (ONCE, EACH, kept))
    _fit(model, SPARK, _points(record, "spark sizes", "spark_udfs", _amount, workload="mixed"))
    _cold(model, record)
    _fit(model, TASK, _points(record, "spark tasks", "spark_udfs", lambda r: float(r.point["tasks"])))
    _fit(model, EMPTY, _points(record, "spark tasks", "empty tasks", lambda r: float(r.point["tasks"])))
    columns = _points(record, "columns", "formatter", lambda r: float(r.point["columns"]), workload="wide")
    _fit(model, COLUMN, columns, (ONCE, EACH, at_most("each block of a record", _blocks(columns))))
    _fit(model, BUFFER, _points(record, "chunks", "formatter", _buffers, workload="taxi", columns="all"), scale=True)
    _executors(model, record)
    return model if SPARK in model.curves else None


Points = list[tuple[float, float, Result]]


def _amount(result: Result) -> float:
    return result.amount


def _points(record: Record, question: str, contestant: str, amount: Callable[[Result], float], **where: str) -> Points:
    found = [
        (amount(result), result.seconds(), result)
        for result in record.results
        if (result.question, result.contestant) == (question, contestant)
        and result.valid
        and where.items() <= dict(result.point).items()
    ]
    return sorted(found, key=lambda point: point[0])


def _buffers(result: Result) -> float:
    """A byte."""
    size, unit = str(result.point["buffers"]).split()
    return 1.0 / (int(size) << (10 if unit == "KiB" else 20))


def _blocks(points: Points) -> float:
    """That a record has: so many wanted columns each have one to themselves."""
    return max((r.amount / r.rows / BLOCK_BYTES for *_, r in points if r.rows), default=1.0)


def _place(result: Result) -> str:
    who = f", {result.contestant}" if result.role == "limit" else ""
    return f"{result.question}{who}: " + ", ".join(f"{axis} {value}" for axis, value in result.point.items())


def _left_out(points: Points) -> set[int]:
    return {at for at in range(1, len(points) - 1) if at % 2}


def _fit(model: Model, name: str, points: Points, terms: Sequence[Term] = (ONCE, EACH), scale: bool = False) -> None:
    """`scale`: by the byte of each point."""
    if len(points) < 2:
        return
    held = _left_out(points)
    of = [(amount, seconds / (r.amount if scale else 1.0)) for amount, seconds, r in points]
    curve = model.curves[name] = fitted([point for at, point in enumerate(of) if at not in held], terms)
    for at in sorted(held):
        amount, seconds, result = points[at]
        predicted = curve(amount) * (result.amount if scale else 1.0)
        model.held.append(Held(_place(result), seconds, predicted, result.is_noise))


def _cold(model: Model, record: Record) -> None:
    """The first action is a warm query, what a session pays once, and compiling, which is paid less and less. A script has its
    imports, session and end besides, the same at every size: its shortest one tells them."""
    where = {"workload": "mixed", "columns": "all"}
    points = _points(record, "spark cold", "spark_udfs", _amount, stage="first call", **where)
    if SPARK not in model.curves or len(points) < 2:
        return
    warm, held = model.curves[SPARK], _left_out(points)
    used = [(amount, seconds) for at, (amount, seconds, _) in enumerate(points) if at not in held]
    tried = [fitted(used, (ONCE, settling("compiling", scale)), warm) for scale in COMPILED_AFTER]
    extra = model.curves[FIRST] = min(tried, key=lambda curve: misfit(curve, used, warm))
    for at in sorted(held):
        amount, seconds, result = points[at]
        model.held.append(Held(_place(result), seconds, warm(amount) + extra(amount), result.is_noise))
    scripts = _points(record, "spark cold", "spark_udfs", _amount, stage="whole process", **where)
    if len(scripts) != len(points):
        return
    around = max(0.0, scripts[0][1] - warm(scripts[0][0]) - extra(scripts[0][0]))
    model.curves[SCRIPT] = Curve((Term("imports, session and end", lambda amount: 1.0),), (around,))
    for amount, seconds, result in scripts[1:]:
        model.held.append(Held(_place(result), seconds, warm(amount) + extra(amount) + around, result.is_noise))


def _executors(model: Model, record: Record) -> None:
    """One executor gives the costs; two and four are predicted: the query's part stays, cores share the bytes'."""
    races = list(record.races("spark executors"))
    ones = [(r.amount, r.seconds()) for race in races for r in race if r.contestant == "1 executors" and r.valid]
    if len(ones) < 2:
        return
    curve = model.curves[ONE_EXECUTOR] = fitted(ones)
    for race in races:
        for result in race:
            if result.valid and result.contestant != "1 executors":
                sharing = min(int(result.contestant.split()[0]), model.cores)
                predicted = curve.cost("once") + curve.cost("each") * result.amount / sharing
                model.held.append(
                    Held(f"{result.contestant}, {result.point['size']}", result.seconds(), predicted, result.is_noise)
                )


def _time(seconds: float) -> str:
    for unit, name in ((3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"
