"""`python -m bench.flow_bench`: what a hand-over costs, native and through Python, its latency and its throughput.

In: options. Out: a table against the targets, a record under bench/results. Loads: native, slices of 1,024 rows by
pointer through a ring of 1,024; Python, 1,024-row slices of 100-byte rows by reference; latency, one row every 3 ms,
policy 10 ms, from send() to the consumer's hands, beside what a thread of the same process oversleeps 10 ms by in the
same seconds: no bridge can be woken sooner. Everything is counted and checked before its time is shown.
"""

from __future__ import annotations

import argparse
import json
import platform
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pyarrow as pa

from bench.facts import machine_facts
from formatter import flow

ROOT = Path(__file__).resolve().parents[1]
ROWS, ROW_BYTES = 1024, 100
TARGETS = {  # measure: (limit, unit, what is better)
    "native hand-over, two threads": (150.0, "ns", "less"),
    "native push and pop, one thread": (150.0, "ns", "less"),
    "native capacity check": (20.0, "ns", "less"),
    "Python hand-over, two threads": (2000.0, "ns", "less"),
    "Python hand-over, one thread": (2000.0, "ns", "less"),
    "Python capacity check": (None, "ns", "less"),
    "throughput of 1024-row slices": (10.0, "GB/s", "more"),
    "latency p50 above the policy": (None, "ms", "less"),
    "latency p99 above the policy": (1.0, "ms", "less"),
    "this machine's oversleep p99": (None, "ms", "less"),
}


def native(items: int) -> dict[str, float]:
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        sys.exit("flow_bench: no C++ compiler found; run: apt-get install g++")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "flow_ring")
        sources = [ROOT / "bench/native/flow_ring.cpp", ROOT / "src/formatter/engine/flow/slice_ring.cpp"]
        flags = [
            "-std=c++17",
            "-O3",
            "-DNDEBUG",
            "-fno-exceptions",
            "-fno-rtti",
            "-pthread",
            f"-I{ROOT / 'src/formatter'}",
        ]
        subprocess.run([compiler, *flags, *sources, "-o", program], check=True)
        out = subprocess.run([program, str(items)], capture_output=True, text=True, check=True).stdout
    found = {name: float(ns) for name, ns in (line.split() for line in out.splitlines())}
    return {
        "native hand-over, two threads": found["hand_over_two_threads"],
        "native push and pop, one thread": found["push_and_pop_one_thread"],
        "native capacity check": found["capacity_check"],
    }


def hundred_byte_rows() -> pa.RecordBatch:
    """Ten int64 columns and one of 20 bytes: 100 bytes a row."""
    columns = {f"n{i}": pa.array(range(ROWS), pa.int64()) for i in range(10)}
    columns["raw"] = pa.array([b"x" * 20] * ROWS, pa.binary(20))
    batch = pa.record_batch(columns)
    assert batch.nbytes == ROWS * ROW_BYTES
    return batch


def hand_over_on_one_thread(batch: pa.RecordBatch, slices: int) -> flow.Bridge:
    bridge = flow.Bridge(batch.schema, policy=flow.BatchPolicy(max_rows=ROWS))
    send, consumer = bridge.producer.send, bridge.consumer
    for _ in range(slices):
        send(batch)
        next(consumer)
    return bridge


def through_python(slices: int) -> dict[str, float]:
    batch = hundred_byte_rows()
    began = time.perf_counter()
    bridge = hand_over_on_one_thread(batch, slices)
    one_thread = time.perf_counter() - began
    assert bridge.stats.delivered == slices * ROWS

    began = time.perf_counter()
    for _ in range(slices):
        bridge.producer.has_capacity  # noqa: B018
    check = time.perf_counter() - began

    bridge = flow.Bridge(batch.schema, policy=flow.BatchPolicy(max_rows=ROWS))

    def produce() -> None:
        with bridge.producer as producer:
            for _ in range(slices):
                producer.send(batch)

    thread = threading.Thread(target=produce)
    began = time.perf_counter()
    thread.start()
    rows = sum(action.num_rows for action in bridge.consumer)
    two_threads = time.perf_counter() - began
    thread.join()
    assert rows == slices * ROWS
    assert bridge.stats.balanced
    return {
        "Python hand-over, two threads": two_threads / slices * 1e9,
        "Python hand-over, one thread": one_thread / slices * 1e9,
        "Python capacity check": check / slices * 1e9,
        "throughput of 1024-row slices": rows * ROW_BYTES / two_threads / 1e9,
    }


def latency(samples: int, policy_ms: float = 10.0) -> dict[str, float]:
    """From send() to the consumer; each batch's first row waits longest, and it alone is taken."""
    schema = pa.schema([("sent_ns", pa.int64())])
    bridge = flow.Bridge(schema, policy=flow.BatchPolicy(max_latency_ms=policy_ms))

    def produce() -> None:
        with bridge.producer as producer:
            for _ in range(samples * 5):
                producer.send(pa.record_batch([pa.array([time.monotonic_ns()])], schema=schema))
                time.sleep(0.003)

    over = threading.Event()
    oversleeps: list[float] = []

    def sleep() -> None:
        while not over.is_set():
            began = time.monotonic_ns()
            time.sleep(policy_ms / 1e3)
            oversleeps.append((time.monotonic_ns() - began) / 1e6 - policy_ms)

    thread, sleeper = threading.Thread(target=produce), threading.Thread(target=sleep)
    thread.start()
    sleeper.start()
    above = []
    for action in bridge.consumer:
        waited = time.monotonic_ns() - action.batch.column(0)[0].as_py()
        above.append(waited / 1e6 - policy_ms)
    over.set()
    thread.join()
    sleeper.join()
    above = sorted(above[1:-1])  # the last batch is flushed by the end of the stream
    return {
        "latency p50 above the policy": above[len(above) // 2],
        "latency p99 above the policy": above[int(len(above) * 0.99)],
        "this machine's oversleep p99": sorted(oversleeps)[int(len(oversleeps) * 0.99)],
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.flow_bench", description=__doc__)
    parser.add_argument("--slices", type=int, default=300_000)
    parser.add_argument("--samples", type=int, default=300, help="batches whose latency is taken")
    parser.add_argument("--no-record", action="store_true", help="print only")
    chosen = parser.parse_args()
    facts = machine_facts()
    found = native(chosen.slices * 10) | through_python(chosen.slices) | latency(chosen.samples)
    print(f"{'measure':36} {'found':>9} {'target':>9}")
    for name, value in found.items():
        limit, unit, better = TARGETS[name]
        target = "" if limit is None else f"{'<=' if better == 'less' else '>='} {limit:g}"
        print(f"{name:36} {value:9.2f} {target:>9} {unit}")
    if not chosen.no_record:
        folder = ROOT / "bench/results" / platform.machine()
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{time.strftime('%Y-%m-%d')}-flow.json"
        path.write_text(json.dumps({"facts": facts, "options": vars(chosen), "found": found}, indent=1) + "\n")
        print(f"record: {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
