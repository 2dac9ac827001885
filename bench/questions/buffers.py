"""Buffers instead of whole inputs: chunks in any order, streams, one record a value, shared streams, the shredder, hand-overs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from bench.contestant import Task
from bench.question import MIB, Entry, Question, Race, Scale, entries
from bench.questions.reading import both_projections
from bench.record import Point
from bench.workload import Workload
from bench.workloads import WORKLOADS
from bench.workloads.csv_tables import csv_workload, ints

KIB = 1 << 10
CHUNKS = {4 * KIB: 2.0, 64 * KIB: 12.0, MIB: 24.0}  # buffer: megabytes; small ones cost the stitchers most


def buffer_name(size: int) -> str:
    return f"{size >> 10} KiB" if size < MIB else f"{size >> 20} MiB"


def chunks(scale: Scale) -> Iterator[Race]:
    """All shuffled, against what a user writes by hand today."""
    for name in ("taxi", "quoted", "wide", "mixed"):
        for size, megabytes in CHUNKS.items():
            source = scale.write(WORKLOADS[name], megabytes)
            for label, columns in both_projections(source):
                task = Task("chunks", source, columns, options={"buffer_bytes": size})
                ordered = replace(task, options={**task.options, "ordered": True})
                made = (*entries(("pyarrow by hand", "polars by hand"), task),)
                ours = (Entry("formatter", task, "streams"), Entry("formatter, in order", ordered, "streams"))
                point: Point = {"workload": name, "columns": label, "buffers": buffer_name(size)}
                yield Race(point, (*made, *ours), source.size, seconds=1.5)


def streams(scale: Scale) -> Iterator[Race]:
    """Against a whole read of the same bytes: buffers out of order within windows of 64, one thread; one a push, two threads."""
    for name in ("taxi", "quoted", "wide", "flat"):
        source = scale.write(WORKLOADS[name], 24.0)
        table = Task("table", source)
        made = [Entry("fm.read", table, "formatter")]
        for size, a_call in ((4 * KIB, 1024), (64 * KIB, 64)):
            options = {"buffer_bytes": size, "a_call": a_call, "window": 64}
            made.append(Entry(f"stream, {buffer_name(size)}", Task("chunks", source, options=options), "streams"))
        yield Race({"workload": name, "threads": 1}, tuple(made), source.size)
        options = {"buffer_bytes": 64 * KIB, "a_call": 64, "window": 64}
        pushed = [Entry("stream, two threads", Task("chunks", source, threads=2, options=options), "streams")]
        reads = Task("whole reads", source)
        pushed += [
            Entry("two reads in turn", reads, "streams"),
            Entry("two reads at once", replace(reads, threads=2), "streams"),
        ]
        yield Race({"workload": name, "threads": 2}, (made[2], *pushed), source.size, clock="wall")


def records(scale: Scale) -> Iterator[Race]:
    """One record a value, as queues and tables have them."""
    for name in ("flat", "tweets", "mixed json", "350 keys"):
        source = scale.write(WORKLOADS[name], 12.0)
        for label, columns in both_projections(source):
            task, loops = Task("records", source, columns), Task("table", source, columns)
            made = (*entries(("orjson", "msgspec", "pysimdjson"), loops), Entry("formatter", task))
            yield Race({"workload": name, "columns": label}, made, source.size)


SHARED_COLUMNS = 100
UNIONS = (3, 10, 30, 100)


def hundred_columns() -> Workload:
    schema = pa.schema([(f"c{i}", pa.int64()) for i in range(SHARED_COLUMNS)])
    made = csv_workload(
        "hundred", "a hundred columns of small integers", schema, ("c20", "c70"),
        lambda random, rows: [ints(random.integers(0, 10 ** (1 + i % 6), rows)) for i in range(SHARED_COLUMNS)],
    )  # fmt: skip
    return replace(made, told={"quote": ""})


def three_columns(union: int, consumers: int = 100) -> list[list[str]]:
    """Three columns each, so that all together need the first `union`."""
    return [[f"c{(3 * i + k) % union}" for k in range(3)] for i in range(consumers)]


def shared(scale: Scale) -> Iterator[Race]:
    source = scale.write(hundred_columns(), 24.0)
    push: dict[str, Any] = {"buffer_bytes": 64 * KIB, "a_call": 64, "window": 1}

    def entry(label: str, job: str, consumers: list[list[str]], look: bool = False) -> Entry:
        task = Task(job, source, options={**push, "consumers": consumers, "look": look})
        return Entry(label, task, "shared stream")

    two = ["c20", "c70"]
    alone = [entry("plain", "plain", [two]), entry("one consumer", "shared", [two])]
    alone += [entry("one that looks", "shared", [two], True), entry("two consumers", "shared", [two, two])]
    alone.append(entry("a hundred", "shared", [two] * 100))
    yield Race({"columns": 2}, tuple(alone), source.size, sampled=False)
    for union in UNIONS:
        wanted = three_columns(union)
        made = (entry("plain", "plain", wanted), entry("a hundred of three", "shared", wanted))
        yield Race({"columns": union}, made, source.size, sampled=False)
    coming = Task("coming and going", options={"times": scale.count(300, 20), "columns": SHARED_COLUMNS})
    yield Race(
        {"consumer": "comes and goes"}, (Entry("shared stream", coming),), coming.options["times"], "subscription", 0.5
    )


PROBABILITIES = (1.0, 0.5, 0.1, 0.02)


def shredder(scale: Scale) -> Iterator[Race]:
    """Nanoseconds a buffer by window and delimiter probability; two threads; records over very many buffers; single calls."""

    def entry(label: str, **told: Any) -> Entry:
        threads = told.pop("threads", 1)
        return Entry(label, Task("many", threads=threads, options=told), "shredder")

    buffers = scale.count(1 << 18, 1 << 12)
    for window in (1, 64, 512, 4096, 65_536):
        for probability in PROBABILITIES:
            told = {"buffers": max(buffers, 1 << 12), "window": min(window, buffers), "probability": probability}
            made = (entry("calls of 4,096", **told, batch=4096), entry("calls of 64", **told, batch=64))
            yield Race({"window": window, "delimiters": probability}, made, told["buffers"], "buffer", 0.5)
    for batch in (512, 4096):
        told = {"buffers": buffers, "window": 4096, "probability": 0.5, "batch": batch}
        made = (entry("one thread", **told), entry("two threads", **told, threads=2))
        yield Race({"calls of": batch, "delimiters": 0.5}, made, buffers, "buffer", 0.5, clock="wall")
    for length in (65_536, 1 << 20):
        total = max(length, buffers)
        long = {"buffers": total // length * length, "window": length, "every": length, "batch": 4096}
        short = {"buffers": total // length * length, "window": 100, "every": 100, "batch": 4096}
        made = (entry("a record over 100 buffers", **short), entry("a long record", **long))
        yield Race({"record over": length}, made, long["buffers"], "buffer", 0.5)
    single = Task("one by one", options={"buffers": scale.count(50_000, 2_000), "window": 64, "probability": 0.5})
    yield Race(
        {"calls of": 1, "delimiters": 0.5}, (Entry("shredder", single),), single.options["buffers"], "buffer", 0.5
    )


def flow(scale: Scale) -> Iterator[Race]:
    """1,024 rows of 100 bytes a slice: through Python, natively, and how a policy of 10 ms is kept."""
    slices = scale.count(60_000, 500)

    def entry(label: str, job: str, **told: Any) -> Entry:
        threads = told.pop("threads", 1)
        return Entry(label, Task(job, threads=threads, options={"slices": slices, **told}), "bridge")

    python = (
        entry("one thread", "python"),
        entry("two threads", "python", threads=2),
        entry("capacity check", "capacity"),
    )
    yield Race({"hand-over": "Python"}, python, slices, "slice", clock="wall")
    native = tuple(
        entry(label, "native", measure=measure)
        for label, measure in (
            ("one thread", "push_and_pop_one_thread"),
            ("two threads", "hand_over_two_threads"),
            ("capacity check", "capacity_check"),
        )
    )
    yield Race({"hand-over": "native"}, native, slices, "slice")
    samples = scale.count(200, 20)
    for share in (0.5, 0.99):
        late = {"samples": samples, "policy_ms": 10.0, "share": share}
        made = (entry("bridge", "latency", **late), entry("time.sleep", "latency", **late, sleep=True))
        yield Race({"waits at most, at 10 ms": f"{share:.0%} of batches"}, made, 1, "batch", 0.5)


QUESTIONS = [
    Question("chunks", "raw chunks in random order, against stitching by hand", chunks, 160),
    Question("stream", "streams against whole reads", streams, 55),
    Question("records", "one record a value, against Python's loops", records, 60),
    Question("shredder", "what a buffer costs the shredder", shredder, 55),
    Question("shared", "many consumers of one stream", shared, 40),
    Question("flow", "hand-overs between threads, and latency", flow, 95),
]
