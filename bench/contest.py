"""One contestant in one process: check the answer, then time it.

In: a Contest as JSON on standard input. Out: a list of results as JSON on standard output, one a projection.
Refuses to know: the other contestants.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bench.answers import difference, unordered_difference
from bench.chunks import shuffled_chunks, stitch_pyarrow, stream_formatter
from bench.growth import forget_peak, peak_mb, rows_through_open
from bench.peers import READERS, UNORDERED, Input
from bench.workloads import WORKLOADS, Workload

FILTERED_COLUMN = {"taxi": "total", "quoted": "score", "wide": "c011"}
FILTER_KEEPS = 0.01
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


@dataclass(frozen=True)
class Contest:
    part: str  # "read", "chunks", "filter" or "growth"
    workload: str
    contestant: str
    threads: int
    data_path: str
    reference_path: str  # Arrow file with the right answer, all columns
    chunk_bytes: int
    repeats: int
    budget_s: float
    seed: int
    clock: str  # "wall", or "cpu": of all threads, for a machine that others use too
    times: int = 1  # growth: how often the input is repeated


@dataclass
class Result:
    part: str
    workload: str
    contestant: str
    threads: int
    columns: str  # "all" or the number
    chunk_bytes: int
    size_bytes: int
    best_s: float = 0.0
    gb_s: float = 0.0
    peak_mb: int = 0
    wrong: str | None = None


Cell = tuple[str, Callable[[], pa.Table], Callable[[pa.Table], str | None]]


def main() -> None:
    contest = Contest(**json.load(sys.stdin))
    json.dump([asdict(result) for result in run(contest)], sys.stdout)


def run(contest: Contest) -> list[Result]:
    workload = WORKLOADS[contest.workload]
    data = Path(contest.data_path).read_bytes()
    with pa.memory_map(contest.reference_path) as source:
        reference = pa.ipc.open_file(source).read_all()
    if contest.part == "growth":
        return [_grow(contest, workload, data, reference.num_rows)]
    cells = {"read": _read_cells, "chunks": _chunk_cells, "filter": _filter_cells}[contest.part]
    results = []
    for columns, work, check in cells(contest, workload, data, reference):
        result = Result(
            contest.part, contest.workload, contest.contestant, contest.threads, columns, contest.chunk_bytes, len(data)
        )
        _check_then_time(result, contest, work, check)
        results.append(result)
    return results


def _grow(contest: Contest, workload: Workload, block: bytes, rows: int) -> Result:
    """Peak memory is what it took beyond what was there before."""
    size = len(block) * contest.times
    result = Result("growth", contest.workload, contest.contestant, 1, "all", 0, size)
    rows_through_open(workload, block, 1)  # imports, first pages
    before = forget_peak()
    now = CLOCKS[contest.clock]
    times: list[float] = []
    while not times or sum(times) < contest.budget_s:
        begin = now()
        found = rows_through_open(workload, block, contest.times)
        times.append(now() - begin)
        if found != rows * contest.times:
            result.wrong = f"{found} rows instead of {rows * contest.times}"
    result.best_s = min(times)
    result.gb_s = size / result.best_s / 1e9
    result.peak_mb = round(peak_mb() - before)
    return result


def _check_then_time(result: Result, contest: Contest, work: Callable[[], pa.Table], check: Callable[..., Any]) -> None:
    try:
        result.wrong = check(work())
    except Exception as error:  # a contestant's failure is a result, not the end of the run
        result.wrong = f"{type(error).__name__}: {error}"[:300]
    if result.wrong:
        return
    now = CLOCKS[contest.clock]
    times: list[float] = []
    while len(times) < contest.repeats or (sum(times) < contest.budget_s and len(times) < 5 * contest.repeats):
        begin = now()
        table = work()
        times.append(now() - begin)
        del table
    result.best_s = min(times)
    result.gb_s = result.size_bytes / result.best_s / 1e9
    result.peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _projections(workload: Workload) -> list[tuple[str, list[str]]]:
    return [("all", workload.schema.names), (str(len(workload.few)), list(workload.few))]


def _read_cells(contest: Contest, workload: Workload, data: bytes, reference: pa.Table) -> list[Cell]:
    reader = READERS[contest.contestant](workload, contest.threads)
    source = Input(data, contest.data_path)
    loose = contest.contestant in UNORDERED and contest.threads > 1
    compare = unordered_difference if loose else difference
    return [
        (label, partial(reader, source, columns), partial(compare, reference=reference.select(columns)))
        for label, columns in _projections(workload)
    ]


def _chunk_cells(contest: Contest, workload: Workload, data: bytes, reference: pa.Table) -> list[Cell]:
    chunks = shuffled_chunks(data, contest.chunk_bytes, contest.seed)
    if contest.contestant == "formatter":
        reader = stream_formatter(workload, ordered=False)
        in_order = stream_formatter(workload, ordered=True)
    else:
        reader = in_order = stitch_pyarrow(workload)

    def check(table: pa.Table, columns: list[str]) -> str | None:
        right = reference.select(columns)
        return unordered_difference(table, right) or difference(in_order(chunks, columns), right)

    return [
        (label, partial(reader, chunks, columns), partial(check, columns=columns))
        for label, columns in _projections(workload)
    ]


def _filter_cells(contest: Contest, workload: Workload, data: bytes, reference: pa.Table) -> list[Cell]:
    import formatter as fm

    csv = fm.Csv(workload.schema)
    column = FILTERED_COLUMN[workload.name]
    limit = float(pc.quantile(reference[column], 1 - FILTER_KEEPS)[0].as_py())
    filters = [(column, ">", limit)]
    right = reference.filter(pc.greater(reference[column], limit))
    return [
        ("all", partial(fm.read, data, csv, threads=contest.threads), partial(difference, reference=reference)),
        (
            f"all where {column} > {limit:g}",
            partial(fm.read, data, csv, filters=filters, threads=contest.threads),
            partial(difference, reference=right),
        ),
    ]


if __name__ == "__main__":
    main()
