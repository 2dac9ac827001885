"""A hand-over between threads: native, through Python, what it waits for a policy of latency. Everything is counted."""

from __future__ import annotations

import subprocess
import threading
import time
from typing import Any

import pyarrow as pa

from bench.answers import Answer
from bench.contestant import Contestant, Prepared, Task

ROWS, ROW_BYTES = 1024, 100


def hundred_byte_rows() -> pa.RecordBatch:
    """Ten int64 columns and one of 20 bytes: 100 bytes a row."""
    columns = {f"n{i}": pa.array(range(ROWS), pa.int64()) for i in range(10)}
    columns["raw"] = pa.array([b"x" * 20] * ROWS, pa.binary(20))
    batch = pa.record_batch(columns)
    assert batch.nbytes == ROWS * ROW_BYTES
    return batch


def hand_over_on_one_thread(batch: pa.RecordBatch, slices: int) -> Any:
    from formatter import flow

    bridge = flow.Bridge(batch.schema, policy=flow.BatchPolicy(max_rows=ROWS))
    send, consumer = bridge.producer.send, bridge.consumer
    for _ in range(slices):
        send(batch)
        next(consumer)
    return bridge


def hand_over_on_two_threads(batch: pa.RecordBatch, slices: int) -> Any:
    from formatter import flow

    bridge = flow.Bridge(batch.schema, policy=flow.BatchPolicy(max_rows=ROWS))

    def produce() -> None:
        with bridge.producer as producer:
            for _ in range(slices):
                producer.send(batch)

    thread = threading.Thread(target=produce)
    thread.start()
    consumer: Any = bridge.consumer
    for action in consumer:
        assert action.num_rows == ROWS
    thread.join()
    assert bridge.stats.balanced
    return bridge


def delivered(bridge: Any) -> Answer:
    return Answer(bridge.stats.delivered)


def python(task: Task) -> Prepared:
    batch, slices = hundred_byte_rows(), int(task.options["slices"])
    over = {1: hand_over_on_one_thread, 2: hand_over_on_two_threads}[task.threads]
    return Prepared(lambda: over(batch, slices), delivered)


def capacity(task: Task) -> Prepared:
    from formatter import flow

    producer, slices = flow.Bridge(hundred_byte_rows().schema).producer, int(task.options["slices"])

    def run() -> int:
        for _ in range(slices):
            producer.has_capacity  # noqa: B018
        return slices * ROWS

    return Prepared(run, Answer)


def native(task: Task) -> Prepared:
    """A program in C++ with a clock of its own: nanoseconds an item."""
    from bench.compiled import flow_ring

    program, items, measure = flow_ring(), int(task.options["slices"]), str(task.options["measure"])

    def run() -> dict[str, float]:
        ran = subprocess.run([str(program), str(items)], capture_output=True, text=True, check=True)
        return {name: float(ns) for name, ns in (line.split() for line in ran.stdout.splitlines())}

    return Prepared(run, lambda _: Answer(items * ROWS), lambda found: found[measure] * items * 1e-9)


def latency(task: Task) -> Prepared:
    """From send() to the consumer, of each batch's first row; or how long a sleep of the policy's length takes."""
    from formatter import flow

    samples, policy_ms, share = (
        int(task.options["samples"]),
        float(task.options["policy_ms"]),
        float(task.options["share"]),
    )

    def run() -> list[float]:
        bridge = flow.Bridge(SENT, policy=flow.BatchPolicy(max_latency_ms=policy_ms))
        thread = threading.Thread(target=_send, args=(bridge, samples))
        thread.start()
        consumer: Any = bridge.consumer
        waited = [time.monotonic_ns() - action.batch.column(0)[0].as_py() for action in consumer]
        thread.join()
        return sorted(ns / 1e9 for ns in waited[1:-1])  # the last batch is flushed by the end

    def sleep() -> list[float]:
        slept = []
        for _ in range(samples):
            began = time.monotonic_ns()
            time.sleep(policy_ms / 1e3)
            slept.append((time.monotonic_ns() - began) / 1e9)
        return sorted(slept)

    return Prepared(
        sleep if task.options.get("sleep") else run,
        lambda _: Answer(samples),
        lambda found: found[int(len(found) * share)],
    )


SENT = pa.schema([("sent_ns", pa.int64())])


def _send(bridge: Any, samples: int) -> None:
    with bridge.producer as producer:
        for _ in range(samples * 5):
            producer.send(pa.record_batch([pa.array([time.monotonic_ns()])], schema=SENT))
            time.sleep(0.003)


CONTESTANTS = [
    Contestant("bridge", {"python": python, "capacity": capacity, "native": native, "latency": latency}, role="ours")
]
