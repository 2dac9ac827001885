"""Numbers in README and docs: each stands in a block that names its figure, and is written from the committed record.

In: the record, documents with blocks `<!-- measured: NAME -->` ... `<!-- end -->`. Out: the documents, or what is not as the record
has it. Refuses to know: how a number was measured.
"""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
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
LEADING = ("spark files", "spark cold", "spark records", "read", "json", "chunks")
README_INPUTS = ("taxi", "quoted", "wide", "sparse", "log lines", "dirty", "flat", "tweets", "geojson", "350 keys")


def _columns(result: Result) -> str:
    found = str(result.point.get("columns", "all"))
    return "all columns" if found == "all" else "count" if found == "count" else found


def readme(record: Record) -> list[str]:
    """What users do, in this order: files in Spark, warm and cold, records in Spark, files in Python, chunks."""
    name = {
        "mixed": "CSV",
        "mixed json": "JSON",
        "plain": "plain CSV",
        "quoted": "quoted CSV",
        "350 keys": "JSON of 350 keys",
    }

    def spark(kind: str) -> Callable[[Result], str]:
        return lambda r: f"{kind} in Spark, {r.amount / 1e6:.0f} MB of {name[str(r.point['workload'])]}, {_columns(r)}"

    def cold(stage: str, words: str) -> list[str]:
        wanted = lambda race: race[0].point["stage"] == stage and race[0].point["columns"] == "all"  # noqa: E731
        return rows(
            record,
            "spark cold",
            wanted,
            lambda r: f"files in Spark, {words}, {name[str(r.point['workload'])]}, {r.point['size']}",
        )

    def python(race: list[Result]) -> bool:
        return race[0].point["workload"] in README_INPUTS

    def chunk(race: list[Result]) -> bool:
        return race[0].point["columns"] == "all"

    return [
        *HEAD,
        *rows(record, "spark files", lambda race: True, spark("files")),
        *cold("first call", "first action"),
        *cold("whole process", "whole script"),
        *rows(record, "spark records", lambda race: True, spark("records")),
        *rows(record, "read", python, lambda r: f"CSV in Python, {r.point['workload']}, {_columns(r)}"),
        *rows(record, "json", python, lambda r: f"JSON in Python, {r.point['workload']}, {_columns(r)}"),
        *rows(record, "chunks", chunk, lambda r: f"chunks in any order, {r.point['workload']}, {r.point['buffers']}"),
        "",
        said_under(record, "spark *", "read", "json", "chunks"),
        *[f"The record kept here lacks {name!r}." for name in LEADING if name not in record.questions()],
    ]


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
                    noise = " ~" if result.spread() > 0.1 else ""
                    lines.append(f"| {where} | {result.contestant} | {value}{noise} |")
        return [*lines, "", said_under(record, question)]

    return table


BLOCKS: dict[str, Callable[[Record], list[str]]] = {
    "readme": readme,
    "memory": memory,
    "flow": plain("flow"),
    "shared": plain("shared"),
    "spark stitch": plain("spark stitch"),
    "spark hand-over": plain("spark hand-over"),
    "spark tasks": plain("spark tasks"),
}


def as_recorded(text: str, record: Record) -> str:
    return BLOCK.sub(lambda block: f"{block[1]}" + "\n".join(BLOCKS[block[2]](record)) + f"\n{block[4]}", text)


def write_documents() -> list[Path]:
    record = Record.load(RECORD)
    changed = []
    for path in DOCUMENTS:
        before = path.read_text()
        after = as_recorded(before, record)
        if after != before:
            path.write_text(after)
            changed.append(path)
    return changed
