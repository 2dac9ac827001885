"""Every kind of value against the peers: `python -m bench.values_bench [--groups numbers,times,...] [--only text]`.

In: seeded inputs of bench.value_workloads. Out: a line a workload and projection: GB/s, the fastest peer's, and how many
times as fast that is; "below" marks what misses its target. One process, one thread, readers taking turns, CPU time, so
that a busy machine changes little. Ours is compared with Python's own reading of the first records, the peers with ours;
a peer that refuses or answers otherwise takes no part.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import io
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported

from bench.__main__ import whole_records
from bench.answers import difference
from bench.peers import READERS, Input
from bench.value_workloads import Workload, all_workloads

PEERS = ("pyarrow", "polars", "duckdb", "datafusion")
FULL = {"quotes": 2.5, "quoted": 2.5}
FEW = {"quotes": 4.0, "quoted": 4.0, "wide": 10.0}
ORACLE_RECORDS = 300


def python_value(text: str, kind: pa.DataType) -> Any:
    t = pa.types
    if text == "":
        return None
    if t.is_float32(kind):
        return float(np.float32(text))
    if t.is_decimal(kind):
        return Decimal(text)
    if t.is_boolean(kind):
        return text == "true"
    if t.is_date(kind):
        return datetime.date.fromisoformat(text)
    if t.is_timestamp(kind):
        found = datetime.datetime.fromisoformat(text)
        return found if kind.tz is None else found.astimezone(datetime.UTC)
    return int(text) if t.is_integer(kind) else float(text) if t.is_floating(kind) else text


def oracle_difference(data: bytes, table: pa.Table) -> str | None:
    text = io.StringIO(whole_records(data, 3_000_000).decode(), newline="")
    csv.field_size_limit(1 << 30)
    rows = zip(csv.reader(text), table.slice(0, ORACLE_RECORDS).to_pylist(), strict=False)
    for number, (fields, row) in enumerate(rows):
        for found, field, value in zip(fields, table.schema, row.values(), strict=True):
            expected = python_value(found, field.type)
            if value != expected:
                return f"record {number}, column {field.name}: {value!r} instead of {expected!r}"
    return None


def turns(work: dict[str, Callable[[], pa.Table]], rounds: int) -> dict[str, float]:
    best = dict.fromkeys(work, float("inf"))
    for _ in range(rounds):
        for name, run in work.items():
            for _ in range(3 if name == "formatter" else 1):
                start = time.process_time()
                table = run()
                best[name] = min(best[name], time.process_time() - start)
                del table
    return best


def measure(workload: Workload, data: bytes, path: str, rounds: int) -> Iterator[tuple[str, float, str, float]]:
    source = Input(data, path)
    for label, columns in (("all", list(workload.schema.names)), ("3", list(workload.few))):
        work: dict[str, Callable[[], pa.Table]] = {}
        ours = READERS["formatter"](workload, 1)
        reference = ours(source, columns)
        if label == "all" and (wrong := oracle_difference(data, reference)):
            raise SystemExit(f"{workload.name}: our own answer is wrong: {wrong[:300]}")
        for peer in PEERS:
            try:
                read = READERS[peer](workload, 1)
                wrong = difference(read(source, columns), reference)
            except Exception as error:  # a peer that cannot read this takes no part
                wrong = str(error)
            if wrong is None:
                work[peer] = lambda read=read, columns=columns: read(source, columns)  # type: ignore[misc]
            else:
                print(f"    {workload.name}, {label}: {peer} is out: {wrong[:120]}", file=sys.stderr)
        work["formatter"] = lambda ours=ours, columns=columns: ours(source, columns)  # type: ignore[misc]
        seconds = turns(work, rounds)
        speed = {name: len(data) / took / 1e9 for name, took in seconds.items()}
        best = max((name for name in speed if name != "formatter"), key=speed.__getitem__, default="")
        yield label, speed["formatter"], best, speed.get(best, float("nan"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.values_bench", description=__doc__)
    parser.add_argument("--groups", default="")
    parser.add_argument("--only", default="", help="a pattern that the workload's name holds")
    parser.add_argument("--size-mb", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mixes", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as folder:
        path = Path(folder, "values.csv")
        for group, workloads in all_workloads(chosen.mixes).items():
            if chosen.groups and group not in chosen.groups.split(","):
                continue
            for workload in workloads:
                if not re.search(chosen.only, workload.name):
                    continue
                data = workload.make(int(chosen.size_mb * (1 << 20)), chosen.seed)
                path.write_bytes(data)
                for label, ours, peer, theirs in measure(workload, data, str(path), chosen.rounds):
                    target = (FULL if label == "all" else FEW).get(group, 5.0 if label == "all" else 6.0)
                    mark = "" if ours / theirs >= target else f"  below {target:g}"
                    print(
                        f"{group:8} {workload.name:24} {label:4} {ours:6.2f} GB/s {peer:>10} {theirs:5.2f} "
                        f"{ours / theirs:5.1f}x{mark}",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
