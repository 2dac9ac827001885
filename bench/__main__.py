"""`python -m bench`: all contestants on all inputs, a table on the screen, a record on disk.

In: options. Out: one line a result, ratios against the fastest peer of the same run.
Refuses to know: how a contestant works; each runs in a process of its own (bench.contest).
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from bench import report
from bench.answers import oracle_difference
from bench.contest import Contest
from bench.facts import machine_facts
from bench.peers import READERS, SINGLE_THREADED, Input, read_pyarrow
from bench.workloads import WORKLOADS

MIB = 1 << 20
CHUNK_SLICES = {4 << 10: 4 * MIB, 64 << 10: 16 * MIB, 1 << 20: 64 * MIB}  # small chunks cost the stitchers most
ORACLE_RECORDS = 1_000
PARTS = ("read", "kernels", "chunks", "filter")
GROWTH_BLOCK = 8 * MIB


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--size-mb", type=int, default=64, help="bytes of each input, in MiB")
    parser.add_argument("--workloads", default=",".join(WORKLOADS))
    parser.add_argument("--contestants", default=",".join(READERS))
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--parts", default=",".join(PARTS), help="also: growth (10 MB, 100 MB, ... on the fly)")
    parser.add_argument("--growth-gb", type=float, default=1.0, help="largest input of the part growth")
    parser.add_argument("--repeats", type=int, default=3, help="timed runs of each cell, at least")
    parser.add_argument("--budget-s", type=float, default=0.3, help="go on repeating up to this many seconds a cell")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is busy")
    parser.add_argument("--no-record", action="store_true", help="print only")
    return parser.parse_args()


def memory_directory() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> int:
    chosen = options()
    facts = machine_facts()
    print(f"{facts['cpu']}, {facts['cpus']} CPUs, kernel {facts['active_kernel']}", flush=True)
    print(report.HEADING, flush=True)
    rows: list[report.Row] = []
    with tempfile.TemporaryDirectory(dir=memory_directory()) as folder:
        for name in chosen.workloads.split(","):
            data = WORKLOADS[name].make(chosen.size_mb * MIB, chosen.seed)
            for contest, kernel in contests(name, data, Path(folder), chosen):
                fresh = run_alone(contest, kernel)
                rows += fresh
                report.add_ratios(rows)
                print("\n".join(map(report.line, fresh)), flush=True)
    print("\nours, against the fastest peer of this run:")
    print("\n".join(report.line(row) for row in rows if row["contestant"].startswith("formatter")))
    if not chosen.no_record:
        print("record:", report.save(rows, facts, vars(chosen)))
    return 1 if any(row["wrong"] and row["contestant"].startswith("formatter") for row in rows) else 0


def contests(name: str, data: bytes, folder: Path, chosen: argparse.Namespace) -> Iterator[tuple[Contest, str | None]]:
    """Every race of one input. Peers come before ours, so that ours is printed with its ratios."""
    parts = chosen.parts.split(",")
    threads = [int(count) for count in chosen.threads.split(",")]
    paths = write_input(name, data, folder)

    def contest(part: str, contestant: str, thread_count: int, paths: tuple[str, str], chunk: int = 0) -> Contest:
        repeats, budget = chosen.repeats, chosen.budget_s
        return Contest(part, name, contestant, thread_count, *paths, chunk, repeats, budget, chosen.seed, chosen.clock)

    if "read" in parts:
        for thread_count in threads:
            for contestant in sorted(chosen.contestants.split(","), key=lambda c: c == "formatter"):
                if thread_count == 1 or contestant not in SINGLE_THREADED:
                    yield contest("read", contestant, thread_count, paths), None
    if "kernels" in parts:
        import formatter as fm

        for kernel in fm.kernels():
            yield contest("read", "formatter", 1, paths), kernel
    if "filter" in parts:
        yield contest("filter", "formatter", 1, paths), None
    if "growth" in parts:
        growth_paths = write_input(name, whole_records(data, GROWTH_BLOCK), folder)
        times = 1
        while times * GROWTH_BLOCK <= chosen.growth_gb * 1e9:
            yield replace(contest("growth", "formatter", 1, growth_paths), times=times), None
            times *= 10
    if "chunks" in parts:
        for chunk, limit in CHUNK_SLICES.items():
            slice_paths = write_input(name, whole_records(data, limit), folder)
            for contestant in ("stitched pyarrow", "formatter"):
                yield contest("chunks", contestant, 1, slice_paths, chunk), None


def whole_records(data: bytes, limit: int) -> bytes:
    """At most `limit` bytes, cut behind a record end: one with an even number of quotes before it."""
    cut = data.rfind(b"\n", 0, limit) + 1
    while data.count(b'"', 0, cut) % 2:
        cut = data.rfind(b"\n", 0, cut - 1) + 1
    return data[:cut]


def write_input(name: str, data: bytes, folder: Path) -> tuple[str, str]:
    """The input and the right answer as files in memory: pyarrow's, itself checked against Python's csv module."""
    workload = WORKLOADS[name]
    data_path, reference_path = str(folder / f"{name}.csv"), str(folder / f"{name}.arrow")
    Path(data_path).write_bytes(data)
    reference = read_pyarrow(workload, 1)(Input(data, data_path), workload.schema.names)
    if wrong := oracle_difference(data, reference, ORACLE_RECORDS):
        raise SystemExit(f"bench: the reference answer for {name} is wrong: {wrong}")
    with pa.ipc.new_file(reference_path, reference.schema) as writer:
        writer.write_table(reference)
    return data_path, reference_path


def run_alone(contest: Contest, kernel: str | None) -> list[report.Row]:
    environment = {**os.environ, "POLARS_MAX_THREADS": str(contest.threads)}
    if kernel:
        environment["FORMATTER_KERNEL"] = kernel
    ran = subprocess.run(
        [sys.executable, "-m", "bench.contest"],
        input=json.dumps(asdict(contest)),
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    if ran.returncode:
        raise SystemExit(f"bench: {contest.contestant} on {contest.workload} died:\n{ran.stderr[-2000:]}")
    rows: list[dict[str, Any]] = json.loads(ran.stdout)
    if kernel:
        for row in rows:
            row.update(part="kernels", contestant=f"formatter {kernel}")
    return rows


if __name__ == "__main__":
    sys.exit(main())
