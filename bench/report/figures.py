"""What the report shows: a figure for each thing a user asks, from the results of the questions that found it.

In: a record. Out: Figures: a title, a sentence, a chart, what was wrong. A question that was not asked gives none.
Refuses to know: HTML around a figure, where it is written.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bench.record import Ratio, Record, Result, best_of_ours, best_peer, ratio
from bench.report import charts

SAID = 160  # of what went wrong
ROLES = ("ours", "peer", "limit")
PEERS = ("pyarrow", "polars", "duckdb", "datafusion", "pandas", "chdb", "spark")


@dataclass
class Figure:
    key: str  # its anchor, and the name of its picture
    title: str
    sentence: str
    question: str
    chart: str
    legend: str
    table: list[tuple[str, ...]]
    wrong: list[str] = field(default_factory=list)
    cells: int = 0
    noisy: int = 0
    doubt: float = 0.0  # of the point in the middle
    busy: bool = False  # most of it is CPU time

    @property
    def command(self) -> str:
        return f"python -m bench --only '{self.question}'"


Races = list[list[Result]]


def figures(record: Record) -> list[Figure]:
    found = [make(record) for make in FIGURES]
    return [figure for figure in found if figure is not None]


# ---------------------------------------------------------------------------------------------------- helpers


def by_cpu(result: Result) -> str:
    return ", of CPU time" if result.clock == "cpu" else ""


def rate_text(rate: float) -> str:
    for unit, name in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "KB/s")):
        if rate >= unit:
            return f"{rate / unit:.3g} {name}"
    return f"{rate:.3g} B/s"


def seconds_text(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def times_text(value: float) -> str:
    return f"{value:.3g}x"


def by_contestant(
    races: Iterable[list[Result]],
    step: Callable[[Result], str],
    value: Callable[[Result], float],
    text: Callable[[float], str],
) -> list[charts.Series]:
    """A series for each contestant, ours first."""
    points: dict[str, list[charts.Point]] = {}
    wrong: dict[str, list[charts.Point]] = {}
    for race in races:
        for result in race:
            if result.wrong:
                points.setdefault(result.contestant, [])
                wrong.setdefault(result.contestant, []).append(
                    charts.Point(step(result), 0.0, said=f"{step(result)}: {result.wrong[:SAID]}")
                )
            if result.valid:
                said = f"{step(result)}: {text(value(result))} ±{result.doubt():.0%}, {len(result.turns)} turns{by_cpu(result)}"
                point = charts.Point(step(result), value(result), result.is_noise, said)
                points.setdefault(result.contestant, []).append(point)
    roles = {r.contestant: r.role for race in races for r in race}
    usual = {name: number for number, name in enumerate(PEERS)}
    names = sorted(points, key=lambda name: (ROLES.index(roles[name]), usual.get(name, len(usual))))
    letters = {name: "" if roles[name] != "limit" else name[0].upper() for name in names}
    return [
        charts.Series(name, points[name], number, letters[name], wrong.get(name, ()))
        for number, name in enumerate(names)
    ]


def made(
    key: str,
    title: str,
    sentence: str,
    races: Races,
    series: Sequence[charts.Series],
    chart: str,
    text: Callable[[float], str],
) -> Figure | None:
    if not any(one.points for one in series):
        return None
    results = [result for race in races for result in race]
    valid = [result for result in results if result.valid]
    wrong = [f"{r.contestant}, {place(r)}: {r.wrong}" for r in results if r.wrong]
    noisy = sum(point.noisy for one in series for point in one.points)
    table = [("", *(one.name for one in series))]
    for row in charts.rows_of(series):
        cells = []
        for one in series:
            here = next((point for point in one.points if point.row == row), None)
            failed = any(point.row == row for point in one.wrong)
            cells.append(f"{text(here.value)}{' ~' if here.noisy else ''}" if here else "wrong" if failed else "")
        table.append((row, *cells))
    doubt = statistics.median(result.doubt() for result in valid) if valid else 0.0
    count = sum(len(one.points) for one in series)
    busy = sum(result.clock == "cpu" for result in valid) * 2 > len(valid)
    return Figure(
        key,
        title,
        sentence,
        results[0].question,
        chart,
        charts.legend(series),
        table,
        wrong,
        count,
        noisy,
        doubt,
        busy,
    )


def place(result: Result) -> str:
    return ", ".join(f"{axis} {value}" for axis, value in result.point.items())


def races_where(record: Record, question: str, **point: Any) -> Races:
    return [
        race
        for race in record.races(question)
        if all(race[0].point.get(axis) == value for axis, value in point.items())
    ]


def is_all(race: list[Result]) -> bool:
    return race[0].point.get("columns") == "all"


def workload(result: Result) -> str:
    return str(result.point["workload"])


# ---------------------------------------------------------------------------------------------------- figures


def ratios(record: Record) -> Figure | None:
    """The headline: ours to the fastest peer, whatever peer that is."""
    wanted = {"spark files": "files in Spark", "spark records": "records in Spark", "read": "CSV in Python"}
    wanted |= {"json": "JSON in Python", "chunks": "shuffled chunks"}
    columns: dict[str, list[charts.Point]] = {"all columns": [], "few columns": []}
    races: Races = []
    for question, name in wanted.items():
        groups: dict[str, list[Ratio]] = {}
        for race in record.races(question):
            mine, theirs = best_of_ours(race), best_peer(race)
            if mine and theirs and race[0].point["columns"] != "count":
                races.append(race)
                label = "all columns" if is_all(race) else "few columns"
                groups.setdefault(label, []).append(ratio(mine, theirs))
        for label, found in groups.items():
            middle = statistics.median(one.value for one in found)
            low, high = min(one.value for one in found), max(one.value for one in found)
            said = f"{name}, {question}: median of {len(found)} races {middle:.1f}x, from {low:.1f}x to {high:.1f}x"
            noisy = sum(one.is_noise for one in found) * 2 > len(found)
            columns[label].append(charts.Point(name, middle, noisy, said))
    series = [charts.Series(name, points, number) for number, (name, points) in enumerate(columns.items()) if points]
    if not series:
        return None
    sentence = (
        "How many times as fast as the fastest peer that answers rightly; the median over all inputs of a question."
    )
    figure = made(
        "ratios", "Beside the fastest peer", sentence, races, series, charts.dots(series, times_text), times_text
    )
    if figure:
        figure.question, figure.wrong = "*", []
    return figure


def throughput(question: str, all_columns: bool, title: str) -> Callable[[Record], Figure | None]:
    def make(record: Record) -> Figure | None:
        races = [
            race
            for race in record.races(question)
            if is_all(race) == all_columns and race[0].point.get("columns") != "count"
        ]
        series = by_contestant(races, workload, Result.rate, rate_text)
        columns = "Every column" if all_columns else "A few columns"
        sentence = (
            f"{columns} of each input; bytes of input a second, more is better. Letters are limits, not contestants."
        )
        key = f"{question.replace(' ', '-')}-{'all' if all_columns else 'few'}"
        return made(key, title, sentence, races, series, charts.dots(series, rate_text), rate_text)

    return make


def stepped(
    question: str,
    axis: str,
    title: str,
    sentence: str,
    key: str,
    only: dict[str, Any] | None = None,
    seconds: bool = False,
) -> Callable[[Record], Figure | None]:
    """A line for each contestant over the steps of one axis."""

    def make(record: Record) -> Figure | None:
        races = races_where(record, question, **(only or {}))
        text = seconds_text if seconds else rate_text
        value: Callable[[Result], float] = Result.seconds if seconds else Result.rate
        series = by_contestant(races, lambda r: str(r.point[axis]), value, text)
        return made(key, title, sentence, races, series, charts.lines(series, text), text)

    return make


def memory(record: Record) -> Figure | None:
    """Of fresh processes: one that has read before has memory left."""
    races = races_where(record, "cold start", workload="mixed", stage="first call")
    least = 64 << 10  # below that it is what libraries bring along
    races = [race for race in races if race[0].amount >= least]
    series = by_contestant(
        races, lambda r: str(r.point["size"]), lambda r: max(0.01, r.peak_mb * 1e6 / r.amount), times_text
    )
    sentence = "The most memory a first read took beyond what was there, as a multiple of the input; less is better."
    return made("memory", "Memory", sentence, races, series, charts.lines(series, times_text), times_text)


def limits(record: Record) -> Figure | None:
    """Ours as a share of what nobody can be faster than."""
    races = [race for question in ("read", "json") for race in record.races(question) if is_all(race)]
    points: dict[str, list[charts.Point]] = {}
    for race in races:
        mine = best_of_ours(race)
        for limit in race:
            if mine and limit.role == "limit" and limit.valid:
                found = ratio(mine, limit)
                said = f"{workload(mine)}: {found.value:.1%} of {limit.contestant}"
                points.setdefault(limit.contestant, []).append(
                    charts.Point(workload(mine), found.value, found.is_noise, said)
                )
    series = [charts.Series(name, found, number) for number, (name, found) in enumerate(points.items())]
    sentence = "Ours as a share of reading the memory, counting newlines, and of our own index without any value."
    return made("limits", "Beside the limits", sentence, races, series, charts.dots(series, percent_text), percent_text)


def percent_text(share: float) -> str:
    return f"{share:.3g}x" if share >= 10 else f"{share:.2%}" if share < 0.01 else f"{share:.0%}"


def stages(question: str, title: str, key: str, name: str) -> Callable[[Record], Figure | None]:
    """Seconds by size: of a first call, of a whole process."""

    def make(record: Record) -> Figure | None:
        races = races_where(record, question, workload=name, columns="all") or races_where(
            record, question, workload=name
        )
        races = [race for race in races if race[0].point["stage"] == "whole process"]
        series = by_contestant(races, lambda r: str(r.point["size"]), Result.seconds, seconds_text)
        sentence = "Seconds from the start of a process to its end, by size of the input; less is better."
        return made(key, title, sentence, races, series, charts.lines(series, seconds_text), seconds_text)

    return make


FIGURES: list[Callable[[Record], Figure | None]] = [
    ratios,
    throughput("spark files", True, "Files in Spark, warm: every column"),
    throughput("spark files", False, "Files in Spark, warm: few columns"),
    stages("spark cold", "Files in Spark: a whole script", "spark-cold", "mixed"),
    stepped("spark cold", "size", "Files in Spark: the first action", "Seconds of the first query of a session; less is better.",
            "spark-first", {"workload": "mixed", "stage": "first call", "columns": "all"}, seconds=True),
    stepped("spark sizes", "size", "Files in Spark by size, warm", "Seconds of a warm query; less is better.", "spark-sizes",
            {"workload": "mixed"}, seconds=True),
    throughput("spark records", True, "Records in Spark, warm: every field"),
    throughput("spark records", False, "Records in Spark, warm: few fields"),
    throughput("read", True, "CSV and packed rows in Python: every column"),
    throughput("read", False, "CSV and packed rows in Python: few columns"),
    throughput("json", True, "JSON lines in Python: every key"),
    throughput("json", False, "JSON lines in Python: few keys"),
    throughput("files", True, "Your files: every column"),
    throughput("files", False, "Your files: few columns"),
    stepped("chunks", "buffers", "Chunks in random order, by their size", "taxi, every column; bytes of input a second.",
            "chunks", {"workload": "taxi", "columns": "all"}),
    limits,
    stepped("threads", "threads", "Threads", "taxi, every column; bytes of input a second by threads, more is better.", "threads",
            {"workload": "taxi"}),
    stepped("columns", "columns", "Columns wanted", "Of 200, spread over the record; bytes of input a second, more is better.",
            "columns", {"workload": "wide"}),
    stepped("filter", "rows kept", "Rows kept by a filter", "taxi, every column of rows above a bound; bytes of input a second.",
            "filter", {"workload": "taxi"}),
    stepped("sizes", "size", "Size of the input, warm", "20 mixed columns, two threads; bytes of input a second, more is better.",
            "sizes", {"workload": "mixed"}),
    stages("cold start", "The first call of a process", "cold", "mixed"),
    memory,
    throughput("records", True, "Records one a value, every key"),
    throughput("validation", True, "JSON checked throughout"),
    stepped("growth", "times", "An input that grows", "fm.open over 8 MB so many times: the cost of a byte stays.", "growth",
            {"workload": "taxi"}),
]  # fmt: skip
