"""Few records wanted: those that hold a text are read, the others are only counted."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contestant import Task
from bench.question import Entry, Question, Race, Scale, entries
from bench.questions.reading import filtered
from bench.workloads.needle_texts import SHARES, WORKLOADS

MEGABYTES = 60.0
PEERS = ("polars", "duckdb", "datafusion", "formatter")
LIMITS = ("memory read", "index only")


def needles(scale: Scale) -> Iterator[Race]:
    for workload in scale.chosen(WORKLOADS):
        source = scale.write(workload, MEGABYTES)
        for share, city in SHARES.items():
            options = {"filters": [["city", "==", city]]}
            task = Task("table", source, options=options)
            counted = Task("table", source, options={**options, "unmatched": "counted"})
            peers = [label for label in PEERS if source.kind == "csv" or label in ("duckdb", "formatter")]
            made = (*entries(peers, task), Entry("formatter, counted", counted, "formatter"), *entries(LIMITS, task))
            yield Race({"workload": workload.name, "rows kept": share}, made, source.size, expected=filtered)


QUESTIONS = [Question("needles", "records that hold a text among others, which are only counted", needles, 120)]
