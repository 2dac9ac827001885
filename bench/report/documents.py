"""Numbers in README and docs: each stands in a block that names its figure, and is written from the committed record.

In: the record, documents with blocks `<!-- measured: NAME -->` ... `<!-- end -->`. Out: the documents, or what is not as the record
has it. Refuses to know: how a number was measured.
"""

from __future__ import annotations

import platform
import re
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from bench.record import Record, Result, best_of_ours, best_peer, ratio
from bench.report.figures import rate_text, seconds_text
from bench.stable import ROOT

RECORD = (
    ROOT / "bench" / "results" / (platform.machine() if platform.machine() == "aarch64" else "x86_64") / "record.jsonl"
)
PICTURES = ("ratios", "read-all", "chunks")
BLOCK = re.compile(r"(<!-- measured: ([\w -]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
DOCUMENTS = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]


def said_under(record: Record, *questions: str) -> str:
    command = "python -m bench " + " ".join(f"--only '{question}'" for question in questions)
    asked = [name for name in record.questions() if any(fnmatch(name, pattern) for pattern in questions)]
    if not asked:
        return f"`{command}` measures this; the record kept here lacks it."
    facts = record.run_of(asked[0]).facts
    taken = " and ".join(sorted({record.run_of(name).taken for name in asked}))
    results = [result for result in record.results if result.question in asked]
    loads = [result.load for result in results]
    busy = sum(result.clock == "cpu" for result in results) * 2 > len(results)
    return (
        f"`{command}`: {taken}, {facts['cpu']}, {facts['cpus']} CPUs, kernel {facts['active_kernel']}, "
        f"load average {min(loads):.1f} to {max(loads):.1f}; "
        f"{'seconds of CPU time, for the machine was busy; ' if busy else ''}~ is noise."
    )


def ratio_text(mine: Result, theirs: Result) -> str:
    found = ratio(mine, theirs)
    return f"{found.value:.1f}{' ~' if found.is_noise else ''}"


def rows(
    record: Record, question: str, wanted: Callable[[list[Result]], bool], what: Callable[[Result], str]
) -> list[str]:
    lines = []
    for race in record.races(question):
        mine, theirs = best_of_ours(race), best_peer(race)
        if mine and theirs and wanted(race):
            cells = (
                what(mine),
                rate_text(mine.rate()),
                f"{theirs.contestant} {rate_text(theirs.rate())}",
                ratio_text(mine, theirs),
            )
            lines.append("| " + " | ".join(cells) + " |")
    return lines


HEAD = ["| | ours | fastest peer | times as fast |", "|---|---|---|---|"]
NAMES = {
    "mixed": "CSV of 20 columns",
    "mixed json": "JSON of 20 keys",
    "plain": "plain CSV",
    "350 keys": "JSON of 350 keys",
}


def _workload(result: Result) -> str:
    name = str(result.point["workload"])
    return NAMES.get(name, name)


def _columns(result: Result) -> str:
    found = str(result.point.get("columns", "all"))
    return "all columns" if found == "all" else found


@dataclass(frozen=True)
class Doing:
    """What a user does: the races that say how much faster it is, each with what tells it from the others."""

    words: str
    question: str
    wanted: Callable[[Result], bool]
    apart: Callable[[Result], str] = _workload


def _of(columns: str) -> Callable[[Result], bool]:
    """Every column, a count, or few."""
    return lambda r: r.point["columns"] == columns or (columns == "few" and " of " in str(r.point["columns"]))


def _cold(stage: str, size: str) -> Callable[[Result], bool]:
    return lambda r: (r.point["stage"], r.point["size"], r.point["columns"]) == (stage, size, "all")


DOINGS = (
    Doing("files in Spark, every column", "spark files", _of("all")),
    Doing("files in Spark, few columns", "spark files", _of("few")),
    Doing("files in Spark, a count", "spark files", _of("count")),
    Doing(
        "wide, long and uneven files in Spark",
        "spark shapes",
        lambda r: True,
        lambda r: f"{_workload(r)}, {_columns(r)}",
    ),
    Doing("first action of a new session in Spark, 100 MB", "spark cold", _cold("first call", "100 MB")),
    Doing("whole script in Spark, 100 MB", "spark cold", _cold("whole process", "100 MB")),
    Doing("first action, after `su.faster_start()` once", "spark faster start", _cold("first call", "100 MB")),
    Doing("whole script in Spark, 1 GB", "spark cold", _cold("whole process", "1 GB")),
    Doing("records in Spark", "spark records", lambda r: True, lambda r: f"{_workload(r)}, {_columns(r)}"),
    Doing("CSV in Python, every column", "read", _of("all")),
    Doing("CSV in Python, few columns", "read", _of("few")),
    Doing("JSON in Python, every key", "json", _of("all")),
    Doing("JSON in Python, few keys", "json", _of("few")),
    Doing("chunks in any order, every column", "chunks", _of("all"), lambda r: f"{_workload(r)}, {r.point['buffers']}"),
)


def summary(record: Record) -> list[str]:
    """What users do, a line each: the race in the middle, and by name the one that is worst for ours and the one that is best."""
    lines = ["| times as fast as the fastest that is right | in the middle | at worst | at best |", "|---|---|---|---|"]
    for doing in DOINGS:
        races = [race for race in record.races(doing.question) if doing.wanted(race[0])]
        both = [(mine, theirs) for race in races if (mine := best_of_ours(race)) and (theirs := best_peer(race))]
        if both:
            both.sort(key=lambda pair: ratio(*pair).value)
            middle = statistics.median(ratio(*pair).value for pair in both)
            ends = [
                f"{ratio_text(*pair)} ({doing.apart(pair[0])}; {pair[1].contestant})" for pair in (both[0], both[-1])
            ]
            lines.append(f"| {doing.words} | {middle:.1f} | {ends[0]} | {ends[1] if len(both) > 1 else ''} |")
    return lines


def readme(record: Record) -> list[str]:
    lines = summary(record)
    asked = tuple(dict.fromkeys(doing.question for doing in DOINGS))
    lacking = [f"The record kept here lacks {name!r}." for name in asked if name not in record.questions()]
    return [*lines, "", said_under(record, *asked), *lacking]


def beside_peers(question: str) -> Callable[[Record], list[str]]:
    """Every race of a question."""

    def table(record: Record) -> list[str]:
        def what(result: Result) -> str:
            return ", ".join(
                _workload(result) if axis == "workload" else str(value) for axis, value in result.point.items()
            )

        found = rows(record, question, lambda race: True, what)
        return [*HEAD, *found, "", said_under(record, question)] if found else [said_under(record, question)]

    return table


def memory(record: Record) -> list[str]:
    races = list(record.races("memory"))
    if not races:
        return [said_under(record, "memory")]
    names = [str(race[0].point["workload"]) for race in races]
    lines = [f"| way | {' | '.join(names)} |", "|---" * (1 + len(names)) + "|"]
    for at, first in enumerate(races[0]):
        lines.append(f"| {first.contestant} | " + " | ".join(rate_text(race[at].rate()) for race in races) + " |")
    return [*lines, "", said_under(record, "memory")]


def plain(question: str) -> Callable[[Record], list[str]]:
    """Every entry of a question with what it took."""

    def table(record: Record) -> list[str]:
        if question not in record.questions():
            return [said_under(record, question)]
        lines = ["| at | entry | |", "|---|---|---|"]
        for race in record.races(question):
            where = ", ".join(f"{axis} {value}" for axis, value in race[0].point.items())
            for result in race:
                if result.valid:
                    value = (
                        rate_text(result.rate())
                        if result.unit == "B"
                        else f"{seconds_text(1 / result.rate())} a {result.unit}"
                    )
                    noise = " ~" if result.is_noise else ""
                    lines.append(f"| {where} | {result.contestant} | {value}{noise} |")
        return [*lines, "", said_under(record, question)]

    return table


BESIDE_PEERS = (
    "spark files", "spark shapes", "spark cold", "spark faster start", "spark records", "read", "json", "chunks", "needles",
    "declared",
)  # fmt: skip

BLOCKS: dict[str, Callable[[Record], list[str]]] = {
    "readme": readme,
    "memory": memory,
    "flow": plain("flow"),
    "shared": plain("shared"),
    "spark stitch": plain("spark stitch"),
    "spark hand-over": plain("spark hand-over"),
    "spark tasks": plain("spark tasks"),
    **{question: beside_peers(question) for question in BESIDE_PEERS},
}


def as_recorded(text: str, record: Record) -> str:
    return BLOCK.sub(lambda block: f"{block[1]}" + "\n".join(BLOCKS[block[2]](record)) + f"\n{block[4]}", text)


def write_documents() -> list[Path]:
    record = Record.load(RECORD)
    changed = []
    for path in DOCUMENTS:
        before = path.read_text(encoding="utf-8")
        after = as_recorded(before, record)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed
