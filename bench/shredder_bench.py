"""What a buffer costs the shredder. Run: python bench/shredder_bench.py [--quick]

In: nothing. Out: ns a buffer for each delimiter probability and window, two threads against one by elapsed and CPU
time, a long record against a short one, bits a slot. Every schedule's claims are compared with the slow oracle's before
it is timed; times are the best of several runs taken in turn, because other work on the machine only ever adds to them.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from formatter._core import SequenceShredder

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from oracle.span_oracle import all_claims, difference

PROBABILITIES = (1.0, 0.5, 0.1, 0.02)
WINDOWS = (1, 64, 512, 4096, 65_536)
TARGET_NS = 25


class Schedule:
    """Buffers 1..n, shuffled in windows, with random delimiters or given ones."""

    def __init__(self, buffers: int, window: int, probability: float = 0.0, every: int = 0) -> None:
        random = np.random.default_rng(buffers + window)
        order = np.arange(1, buffers + 1, dtype=np.uint64)
        whole = buffers - buffers % window
        order[:whole] = random.permuted(order[:whole].reshape(-1, window), axis=1).ravel()
        order[whole:] = random.permutation(order[whole:])
        flags = random.random(buffers) < probability
        if every:
            flags[every - 1 :: every] = True
        self.sequences, self.flags, self.delimited = order, flags[order - np.uint64(1)], flags

    def run(self, batch: int, threads: int = 1, keep: bool = False) -> tuple[float, list[tuple[int, int]]]:
        shredder = SequenceShredder()
        found: list[tuple[int, int]] = []

        def work(first: int) -> None:
            for start in range(first * batch, len(self.sequences), threads * batch):
                claims = shredder.process_many(self.sequences[start : start + batch], self.flags[start : start + batch])
                if keep:
                    found.extend(map(tuple, claims.tolist()))

        others = [threading.Thread(target=work, args=(i,)) for i in range(1, threads)]
        begin = time.perf_counter()
        for thread in others:
            thread.start()
        work(0)
        for thread in others:
            thread.join()
        return (time.perf_counter() - begin) / len(self.sequences) * 1e9, found

    def verify(self, batch: int) -> None:
        for threads in (1, 2):
            _, found = self.run(batch, threads, keep=True)
            wrong = difference(found, all_claims(self.delimited)[:-1])
            if wrong:
                sys.exit(f"shredder_bench: {threads} threads, batches of {batch}: {wrong}")


def best_of(runs: int, *contestants: Callable[[], float]) -> list[float]:
    """The best time of each, run in turn so that all meet the same noise."""
    times = [[run() for run in contestants] for _ in range(runs)]
    return [min(column) for column in zip(*times, strict=True)]


def best_of_both(runs: int, schedule: Schedule, batch: int) -> list[float]:
    """Elapsed and CPU time of one thread, then of two that share the work; the best of each, run in turn."""
    times = []
    for _ in range(runs):
        row = []
        for threads in (1, 2):
            cpu = time.process_time()
            row += [schedule.run(batch, threads)[0], time.process_time() - cpu]
        times.append(row)
    return [min(column) for column in zip(*times, strict=True)]


def single_calls(schedule: Schedule) -> float:
    shredder = SequenceShredder()
    buffers = list(zip(schedule.sequences.tolist(), schedule.flags.tolist(), strict=True))
    begin = time.perf_counter()
    for sequence, flag in buffers:
        shredder.process(sequence, flag)
    return (time.perf_counter() - begin) / len(buffers) * 1e9


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--quick", action="store_true", help="fewer buffers and runs")
    quick = arguments.parse_args().quick
    buffers, runs = (1 << 17, 5) if quick else (1 << 19, 9)
    load = os.getloadavg()[0]
    print(f"machine {platform.machine()}, {os.cpu_count()} CPUs, load {load:.1f}, Python {platform.python_version()}")

    print(f"\nns a buffer, process_many in batches of 4096 and of 64, one thread (target {TARGET_NS})")
    print("window      " + "".join(f"   p={p:<12g}" for p in PROBABILITIES))
    for window in WINDOWS:
        row = []
        for probability in PROBABILITIES:
            schedule = Schedule(buffers, window, probability)
            schedule.verify(1000)
            large, small = best_of(runs, lambda s=schedule: s.run(4096)[0], lambda s=schedule: s.run(64)[0])
            row.append(f"{large:7.2f} {small:7.2f}")
        print(f"{window:<12}" + " ".join(row))

    print(
        "\ntwo threads against one, the same buffers once through one shredder: elapsed time of both together over one"
    )
    print(
        "alone (target at most 1.00), and in brackets CPU time; with other work on the machine only the latter counts"
    )
    for batch in (512, 4096, 65_536):
        ratios = []
        for probability in PROBABILITIES:
            schedule = Schedule(1 << 21, 4096, probability)  # milliseconds of work: more than starting a thread takes
            one, one_cpu, two, two_cpu = best_of_both(runs, schedule, batch)
            ratios.append(f"p={probability:g} {two / one:.2f} ({two_cpu / one_cpu:.2f})")
        print(f"batches of {batch:<8}" + "   ".join(ratios))

    print("\nlong records in random order, against records over 100 buffers (target: a ratio under 1.5)")
    for length in (65_536, 1 << 20) if quick else (65_536, 1 << 20, 10_000_000):
        total = length if length > buffers else buffers
        short, long = (
            Schedule(total // 100 * 100, 100, every=100),
            Schedule(total // length * length, length, every=length),
        )
        if length <= 1 << 20:
            short.verify(4096)
            long.verify(4096)
        for batch in (256, 4096):
            a, b = best_of(
                runs if length < 1 << 20 else 3,
                lambda s=short, n=batch: s.run(n)[0],
                lambda s=long, n=batch: s.run(n)[0],
            )
            print(f"{length:>10} buffers, batches of {batch:<5} {b:6.2f} ns against {a:6.2f}: {b / a:.2f}")

    print("\nprocess, one call a buffer (p = 0.5, windows of 64)")
    print(f"{best_of(3, lambda: single_calls(Schedule(50_000, 64, 0.5)))[0]:.0f} ns a call")

    print("\nbits a slot, the object included (target: at most 8)")
    for capacity in (512, 4096, 65_536, 2**20, 2**26):
        shredder = SequenceShredder(capacity)
        print(f"{capacity:>10} slots {shredder.nbytes * 8 / shredder.capacity:6.2f}")


if __name__ == "__main__":
    main()
