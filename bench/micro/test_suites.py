"""Suites of small pieces: the shredder, the index, parsers, streams, the bridge. What is timed is what the gate counts.

In: the inputs and answers of bench/instructions/questions.py. Out: pytest-benchmark's rounds. Refuses to know: what was before.
"""

from __future__ import annotations

from typing import Any

import pytest

import formatter as fm
from bench.instructions.questions import INPUT_BYTES, INPUTS, QUESTIONS, SEED
from bench.workloads import WORKLOADS

PARSERS = [name for name in QUESTIONS if name.startswith(("csv ", "json ", "native ", "parse_"))]
STREAMS = [name for name in QUESTIONS if name.startswith("stream ")]


def asked(benchmark: Any, name: str) -> None:
    question = QUESTIONS[name]
    task = question.prepare(INPUTS[question.input]() if question.input else b"")
    assert not task.wrong(task.run())
    benchmark(task.run)


@pytest.mark.parametrize("name", PARSERS)
def test_parser(benchmark: Any, name: str) -> None:
    asked(benchmark, name)


@pytest.mark.parametrize("name", STREAMS)
def test_stream(benchmark: Any, name: str) -> None:
    asked(benchmark, name)


@pytest.mark.parametrize("name", ["taxi", "quoted", "wide", "flat", "tweets"])
def test_indexer(benchmark: Any, name: str) -> None:
    """A read of no column: fields are found, none is decoded."""
    workload = WORKLOADS[name]
    data = workload.make(INPUT_BYTES, SEED)
    format = fm.Json(workload.schema) if workload.kind == "json" else fm.Csv(workload.schema)
    rows = fm.read(data, format, threads=1).num_rows
    assert benchmark(fm.read, data, format, columns=[], threads=1).num_rows == rows


def test_shredder(benchmark: Any) -> None:
    asked(benchmark, "shredder process_many")


def test_bridge(benchmark: Any) -> None:
    asked(benchmark, "bridge hand-over")
