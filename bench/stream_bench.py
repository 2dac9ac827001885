"""Streams against whole reads of the same bytes: `python -m bench.stream_bench [megabytes]`.

In: the CSV workloads, cut into buffers and shuffled in windows of 64, pushed 1,024 (4 KiB) or 64 (64 KiB) at a time, and
one by one from two threads. Out: ratios to fm.read in the same process, on the CPU's clock for one thread and on the
wall's for two, beside their CPU time and what two independent whole reads gain. Every result is compared with the whole
read's before it is timed. Refuses to know: other libraries.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import formatter as fm
from bench.workloads import WORKLOADS, Workload

WINDOW = 64
ROUNDS = 7
TARGETS = {"4 KiB": 0.85, "64 KiB": 0.95, "two threads": 1.8}


@dataclass(frozen=True)
class Pushes:
    """Calls of push_many: buffers with their sequences."""

    calls: list[tuple[list[bytes], list[int]]]
    buffers: int


def shuffled_pushes(data: bytes, size: int, per_call: int, seed: int = 1, window: int = WINDOW) -> Pushes:
    """Buffers leave their places by less than `window`: 1 keeps them in order."""
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    order = list(range(len(pieces)))
    chance = random.Random(seed)
    for begin in range(0, len(order), window):
        part = order[begin : begin + window]
        chance.shuffle(part)
        order[begin : begin + window] = part
    parts = [order[i : i + per_call] for i in range(0, len(order), per_call)]
    return Pushes([([pieces[i] for i in part], [i + 1 for i in part]) for part in parts], len(pieces))


def through_push_many(format: fm.Csv, pushes: Pushes, **options: Any) -> list[fm.Batch]:
    stream = fm.Stream(format, **options)
    batches: list[fm.Batch] = []
    for buffers, sequences in pushes.calls:
        batches += stream.push_many(buffers, sequences=sequences)
    return batches + stream.finish(last_sequence=pushes.buffers)


def through_threads(format: fm.Csv, pushes: Pushes, threads: int) -> list[fm.Batch]:
    """One buffer a push, the threads taking turns through the list."""
    stream = fm.Stream(format)
    flat = [pair for buffers, sequences in pushes.calls for pair in zip(buffers, sequences, strict=True)]
    found: list[list[fm.Batch]] = [[] for _ in range(threads)]

    def work(number: int) -> None:
        for buffer, sequence in flat[number::threads]:
            found[number] += stream.push(buffer, sequence=sequence)

    running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return [b for part in found for b in part] + stream.finish(last_sequence=pushes.buffers)


def read_twice(data: bytes, format: fm.Csv, threads: int) -> None:
    """Two whole reads, one after the other or at once: what a second thread is worth on this machine right now."""
    running = [threading.Thread(target=fm.read, args=(data, format), kwargs={"threads": 1}) for _ in range(2)]
    for begin in range(0, 2, threads):
        for thread in running[begin : begin + threads]:
            thread.start()
        for thread in running[begin : begin + threads]:
            thread.join()


def check(workload: Workload, batches: list[fm.Batch], whole: pa.Table) -> None:
    """The same rows, in whatever order."""
    table = pa.Table.from_batches([b.data for b in batches], schema=whole.schema)
    keys = [(name, "ascending") for name in whole.schema.names]
    if not table.sort_by(keys).equals(whole.sort_by(keys)):
        raise SystemExit(f"{workload.name}: the stream's rows are not the whole read's")
    covered = sorted(s for b in batches for first, last in b.spans for s in range(first, last + 1))
    if covered != list(range(1, len(covered) + 1)):
        raise SystemExit(f"{workload.name}: buffers are missing or twice in the batches' spans")


def best(calls: dict[str, Callable[[], object]], clock: Callable[[], float]) -> dict[str, float]:
    """The least time of each, taken in turns so that all see the same machine."""
    seconds = dict.fromkeys(calls, float("inf"))
    for _ in range(ROUNDS):
        for name, call in calls.items():
            begin = clock()
            call()
            seconds[name] = min(seconds[name], clock() - begin)
    return seconds


def measure(workload: Workload, megabytes: int) -> list[str]:
    data = workload.make(megabytes << 20, seed=1)
    format = fm.Csv(workload.schema)
    whole = fm.read(data, format, threads=1)
    small, large = shuffled_pushes(data, 4 << 10, 1024), shuffled_pushes(data, 64 << 10, 64)
    for pushes in (small, large):
        check(workload, through_push_many(format, pushes), whole)
    check(workload, through_threads(format, large, 2), whole)
    one = best(
        {
            "read": lambda: fm.read(data, format, threads=1),
            "4 KiB": lambda: through_push_many(format, small),
            "64 KiB": lambda: through_push_many(format, large),
        },
        time.process_time,
    )
    two = best(
        {"one": lambda: through_threads(format, large, 1), "two": lambda: through_threads(format, large, 2)},
        time.perf_counter,
    )
    control = best(
        {"one": lambda: read_twice(data, format, 1), "two": lambda: read_twice(data, format, 2)}, time.perf_counter
    )
    cpu = best(
        {"one": lambda: through_threads(format, large, 1), "two": lambda: through_threads(format, large, 2)},
        time.process_time,
    )
    ratios = {name: one["read"] / one[name] for name in ("4 KiB", "64 KiB")} | {"two threads": two["one"] / two["two"]}
    lines = [f"{workload.name}: fm.read {len(data) / one['read'] / 1e9:.2f} GB/s on one thread"]
    for name, ratio in ratios.items():
        base = "one thread" if name == "two threads" else "fm.read"
        lines.append(f"  {name:12} {ratio:5.2f} of {base} (wanted {TARGETS[name]:.2f})")
    lines.append(f"  (CPU time of the two threads together: {cpu['two'] / cpu['one']:.2f} of one thread's)")
    lines.append(
        f"  (two whole reads at once gain {control['one'] / control['two']:.2f} over one after the other here, now)"
    )
    return lines


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 48
    for workload in WORKLOADS.values():
        print("\n".join(measure(workload, megabytes)), flush=True)


if __name__ == "__main__":
    main()
