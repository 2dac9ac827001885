"""Counts on disk, and what became of them: which question costs more than its record says, and by which function.

In: counts of two builds. Out: a table, and for each question beyond the limit a sentence that names what grew.
Refuses to know: how anything was counted.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.instructions.callgrind import Counts

MOST_NAMED = 4
LEAST_OF_GROWTH = 0.1  # a function is named if a tenth of the growth is its own


@dataclass(frozen=True)
class Record:
    made_by: dict[str, Any]
    inputs: dict[str, str]  # question -> digest of its input
    counts: dict[str, Counts]

    def save(self, path: Path) -> None:
        questions = {
            name: {"input": self.inputs[name], "ours": counts.ours, "whole": counts.whole, **asdict(counts)}
            for name, counts in self.counts.items()
        }
        path.write_text(json.dumps({"made_by": self.made_by, "questions": questions}, indent=1) + "\n")

    @staticmethod
    def load(path: Path) -> Record:
        read = json.loads(path.read_text())
        questions = read["questions"]
        return Record(
            read["made_by"],
            {name: question["input"] for name, question in questions.items()},
            {name: Counts(question["functions"], question["libraries"]) for name, question in questions.items()},
        )

    def updated_by(self, fresh: Record) -> Record:
        """This record with the questions of `fresh` in place of its own; both of one make."""
        return Record(fresh.made_by, {**self.inputs, **fresh.inputs}, {**self.counts, **fresh.counts})


def not_comparable(before: Record, now: Record) -> list[str]:
    """Why counts of these two say nothing about the sources: another compiler, interpreter, input."""
    facts = [
        f"{name}: {_only_in(before.made_by.get(name), value)} before, {_only_in(value, before.made_by.get(name))} now"
        for name, value in now.made_by.items()
        if before.made_by.get(name) != value
    ]
    inputs = [
        f"input of {name!r} is another one"
        for name, digest in now.inputs.items()
        if before.inputs.get(name, digest) != digest
    ]
    return facts + inputs


def _only_in(one: Any, other: Any) -> str:
    """Compilers come in lists; what both have says nothing."""
    if not isinstance(one, list):
        return str(one)
    return "; ".join(part for part in one if part not in (other or ())) or "no other"


def growth(before: int, now: int) -> float:
    """In percent."""
    return 100.0 * (now - before) / before if before else 0.0


def grown(before: Counts, now: Counts, limit: float) -> str | None:
    """None, or what grew beyond `limit` percent: our own code first; else the whole, by library."""
    if growth(before.ours, now.ours) > limit:
        return _sentence("our code", before.ours, now.ours, before.functions, now.functions)
    if growth(before.whole, now.whole) > limit:
        parts_before, parts_now = ({**counts.functions, **counts.libraries} for counts in (before, now))
        return _sentence("with what it calls", before.whole, now.whole, parts_before, parts_now)
    return None


def _sentence(of: str, before: int, now: int, parts_before: dict[str, int], parts_now: dict[str, int]) -> str:
    by = {
        name: parts_now.get(name, 0) - parts_before.get(name, 0)
        for name in sorted({*parts_before, *parts_now})
        if parts_now.get(name, 0) > parts_before.get(name, 0)
    }
    largest = sorted(by, key=lambda name: -by[name])
    named = [name for name in largest if by[name] >= LEAST_OF_GROWTH * (now - before)][:MOST_NAMED] or largest[:1]
    words = (f"{name} +{by[name]:,} ({_from(parts_before.get(name))})" for name in named)
    return f"{of} {before:,} -> {now:,} (+{growth(before, now):.1f}%): " + ", ".join(words)


def _from(before: int | None) -> str:
    return f"from {before:,}" if before else "new, or too small to be recorded"


def table(before: Record, now: Record) -> Iterator[str]:
    """Ratios: under 1 costs less than before."""
    yield f"{'question':34} {'before':>13} {'now':>13} {'ratio':>7}   {'whole':>13} {'ratio':>7}"
    for name, counts in now.counts.items():
        if was := before.counts.get(name):
            yield (
                f"{name:34} {was.ours:13,} {counts.ours:13,} {counts.ours / was.ours:7.4f}   "
                f"{counts.whole:13,} {counts.whole / was.whole:7.4f}"
            )
        else:
            yield f"{name:34} {'-':>13} {counts.ours:13,} {'-':>7}   {counts.whole:13,} {'-':>7}"
