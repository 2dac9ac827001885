"""Declared and registered formats beside what people read such text with today. In: a scale. Out: races."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contestant import Task
from bench.question import Question, Race, Scale, entries
from bench.workloads.declared_texts import WORKLOADS

PEERS = (
    "fm.declared", "duckdb by expressions", "polars by expressions", "pandas read_fwf", "spark by expressions", "logfmt",
    "python-hl7", "a loop in Python", "a scanner by hand",
)  # fmt: skip
MEGABYTES = {"logfmt": 4.0, "hl7": 4.0}  # libraries in Python take seconds for each


def declared(scale: Scale) -> Iterator[Race]:
    for workload in scale.chosen(WORKLOADS):
        source = scale.write(workload, MEGABYTES.get(workload.name, 16.0))
        for label, columns in (("all", ()), ("few", workload.few)):
            task = Task("declared", source, columns)
            yield Race(
                {"workload": workload.name, "columns": label},
                entries(PEERS, task),
                source.size,
                seconds=1.0,
                sampled=False,
            )


QUESTIONS = [Question("declared", "formats that are declared or registered", declared, 200)]
