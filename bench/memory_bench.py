"""`python -m bench.memory_bench`: what the memory of results costs, by where it comes from.

In: options. Out: one line a way: GB/s of input read into a table that is released (CPU time), and fresh blocks a read.
Ways: the pool as it is, whose blocks come back warm when the consumer releases a batch; the pool with every table kept,
as by a consumer that collects; the C library's heap, by emptying the pool before each read; pages from the system for
every block, by telling the C library to keep none; the same with huge pages forbidden.
Refuses to know: other contestants.
"""

from __future__ import annotations

import argparse
import ctypes
import resource
import statistics
import subprocess
import sys
import time

import formatter as fm
from bench.workloads import WORKLOADS
from formatter import _core

PR_SET_THP_DISABLE = 41
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
SMALLEST_MAPPED = 64 << 10
MIB = 1 << 20


# fresh: the pool is emptied before each read; mapped: the C library keeps no memory; small: no huge pages
WAYS = {
    "pool, released": "",
    "pool, kept": "keep",
    "C library's heap": "fresh",
    "system pages": "fresh mapped",
    "small system pages": "fresh mapped small",
}


def measure(name: str, data: bytes, csv: fm.Csv, repeats: int) -> str:
    way = WAYS[name].split()
    library = ctypes.CDLL(None)
    if "mapped" in way:
        library.mallopt(M_MMAP_THRESHOLD, SMALLEST_MAPPED)
        library.mallopt(M_TRIM_THRESHOLD, SMALLEST_MAPPED)
    if "small" in way:
        library.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    times, held = [], []
    for _ in range(repeats + 1):
        if "fresh" in way:
            _core.pool_trim()
        blocks = _core.pool_stats()["fresh_blocks"]
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
        begin = time.process_time()
        table = fm.read(data, csv, threads=1)
        times.append(time.process_time() - begin)
        blocks = _core.pool_stats()["fresh_blocks"] - blocks
        faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults
        if "keep" in way:
            held.append(table)
        del table
    rate = len(data) / statistics.median(times[1:]) / 1e9
    return f"{name:20} {rate:6.2f} GB/s {blocks:6d} fresh blocks, {faults:6d} page faults in the last read"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.memory_bench", description=__doc__)
    parser.add_argument("--workload", default="taxi", choices=list(WORKLOADS))
    parser.add_argument("--size-mb", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--way", choices=list(WAYS), help="only this one; otherwise each in a process of its own")
    chosen = parser.parse_args()
    if chosen.way is None:
        for way in WAYS:
            subprocess.run([sys.executable, "-m", "bench.memory_bench", *sys.argv[1:], "--way", way], check=True)
        return
    workload = WORKLOADS[chosen.workload]
    data = workload.make(chosen.size_mb * MIB, 1)
    print(measure(chosen.way, data, fm.Csv(workload.schema), chosen.repeats), flush=True)


if __name__ == "__main__":
    main()
