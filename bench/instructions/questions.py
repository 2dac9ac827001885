"""What is counted: every question by name, its input, what runs, and how its answer is checked.

In: nothing but the names; inputs are those of the benchmarks, seeded. Out: QUESTIONS and INPUTS.
Refuses to know: callgrind, records, how often it runs. Nothing here uses a second thread: counts would depend on turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

import formatter as fm
from bench import flow_bench, json_workloads, shredder_bench, workloads
from bench.answers import difference, oracle_difference, unordered_difference
from bench.peers import READERS, Input
from bench.stream_bench import shuffled_pushes, through_push_many

INPUT_BYTES = 2 << 20
SEED = 1
ORACLE_RECORDS = 300
BUFFERS_A_CALL = 16
FILTER = ("total", ">", 60.0)  # one taxi record in a hundred
SCHEDULE = (1 << 16, 512, 0.5)  # buffers, window of their disorder, share with a delimiter
SLICES = 10_000
NO_CLOCK = fm.BatchPolicy(max_latency_ms=None)  # batches that leave by age are more the slower the machine

# Packed rows: nothing between the fields.
TICKS = pa.schema(
    [
        ("at", pa.timestamp("us")),
        ("price", pa.float64()),
        ("volume", pa.uint32()),
        ("venue", pa.binary(4)),
        ("buy", pa.bool_()),
    ]
)
TICK = np.dtype([("at", "<i8"), ("price", "<f8"), ("volume", "<u4"), ("venue", "V4"), ("buy", "?")])


@dataclass(frozen=True)
class Asked:
    """`run` is what is counted; `wrong` says what is wrong with its result, or None, and may be slow."""

    run: Callable[[], Any]
    wrong: Callable[[Any], str | None]


@dataclass(frozen=True)
class Question:
    input: str | None
    prepare: Callable[[bytes], Asked]


# ------------------------------------------------------------------------------------------------------- inputs


def whole_lines(data: bytes) -> bytes:
    return data[: data.rfind(b"\n", 0, INPUT_BYTES) + 1]


def ticks() -> bytes:
    rows = INPUT_BYTES // TICK.itemsize
    random = np.random.default_rng(SEED)
    made = np.empty(rows, TICK)
    made["at"] = 1_700_000_000_000_000 + np.cumsum(random.integers(1, 5_000, rows))
    made["price"] = np.round(random.normal(100, 9, rows), 2)
    made["volume"] = random.integers(1, 10_000, rows)
    made["venue"] = random.choice(np.array([b"XNYS", b"XPAR", b"XTKS"], "V4"), rows)
    made["buy"] = random.random(rows) < 0.5
    return made.tobytes()


INPUTS: dict[str, Callable[[], bytes]] = {
    **{
        f"{name}.csv": partial(workloads.WORKLOADS[name].make, INPUT_BYTES, SEED) for name in ("taxi", "quoted", "wide")
    },
    **{
        f"{name}.ndjson": lambda name=name: whole_lines(json_workloads.WORKLOADS[name].make(INPUT_BYTES, SEED))
        for name in ("flat", "tweets")
    },
    "ticks.rows": ticks,
}

# ---------------------------------------------------------------------------------------------------- whole reads


def reference_csv(workload: workloads.Workload, data: bytes, columns: list[str]) -> pa.Table:
    """pyarrow's reading, itself checked against Python's csv module."""
    table = READERS["pyarrow"](workload, 1)(Input(data, ""), workload.schema.names)
    if wrong := oracle_difference(data, table, ORACLE_RECORDS):
        raise SystemExit(f"bench.instructions: the reference answer for {workload.name} is wrong: {wrong}")
    return table.select(columns)


def read_csv(name: str, few: bool, data: bytes) -> Asked:
    workload = workloads.WORKLOADS[name]
    columns = list(workload.few if few else workload.schema.names)
    csv = fm.Csv(workload.schema)
    return Asked(
        lambda: fm.read(data, csv, columns=columns, threads=1),
        lambda table: difference(table, reference_csv(workload, data, columns)),
    )


def filter_csv(data: bytes) -> Asked:
    workload = workloads.WORKLOADS["taxi"]
    csv = fm.Csv(workload.schema)
    column, _, limit = FILTER

    def wrong(table: pa.Table) -> str | None:
        whole = reference_csv(workload, data, workload.schema.names)
        return difference(table, whole.filter(pa.compute.greater(whole[column], limit)))

    return Asked(lambda: fm.read(data, csv, filters=[FILTER], threads=1), wrong)


def reference_json(workload: json_workloads.JsonWorkload, data: bytes, columns: list[str]) -> pa.Table:
    from pyarrow import json

    options = json.ParseOptions(explicit_schema=workload.schema, unexpected_field_behavior="ignore")
    reading = json.ReadOptions(use_threads=False, block_size=len(data))
    table = json.read_json(pa.BufferReader(data), reading, options)

    def leaf(name: str) -> pa.ChunkedArray:
        first, *rest = name.split(".")
        return pa.compute.struct_field(table[first], rest) if rest else table[first]

    return pa.table({name: leaf(name) for name in columns})


def read_json(name: str, few: bool, data: bytes) -> Asked:
    workload = json_workloads.WORKLOADS[name]
    columns = list(workload.few if few else workload.schema.names)
    lines = fm.Json(workload.schema)
    return Asked(
        lambda: fm.read(data, lines, columns=columns, threads=1),
        lambda table: difference(table.flatten() if few else table, reference_json(workload, data, columns)),
    )


def read_rows(data: bytes) -> Asked:
    rows = fm.Native(TICKS)

    def wrong(table: pa.Table) -> str | None:
        made = np.frombuffer(data, TICK)
        venues = pa.Array.from_buffers(pa.binary(4), len(made), [None, pa.py_buffer(made["venue"].tobytes())])
        columns = [
            venues if field.name == "venue" else pa.array(made[field.name].copy()).cast(field.type) for field in TICKS
        ]
        return difference(table, pa.table(columns, schema=TICKS))

    return Asked(lambda: fm.read(data, rows, threads=1), wrong)


# -------------------------------------------------------------------------------------------------------- buffers


def push_buffers(name: str, buffer_bytes: int, shuffled: bool, data: bytes) -> Asked:
    workload = workloads.WORKLOADS[name]
    csv = fm.Csv(workload.schema)
    window = -(-len(data) // buffer_bytes) if shuffled else 1
    pushes = shuffled_pushes(data, buffer_bytes, BUFFERS_A_CALL, window=window)

    def wrong(batches: list[fm.Batch]) -> str | None:
        table = pa.Table.from_batches([batch.data for batch in batches], schema=workload.schema)
        return unordered_difference(table, reference_csv(workload, data, workload.schema.names))

    return Asked(lambda: through_push_many(csv, pushes, batch=NO_CLOCK), wrong)


# ---------------------------------------------------------------------------------------- values, and what joins


def parse_records(data: bytes) -> Asked:
    workload = json_workloads.WORKLOADS["flat"]
    records = pa.array(data.splitlines(), pa.binary())
    lines = fm.Json(workload.schema)
    return Asked(
        lambda: fm.parse_records(records, lines),
        lambda batch: difference(pa.Table.from_batches([batch]), reference_json(workload, data, workload.schema.names)),
    )


def parse_values(data: bytes) -> Asked:
    """One column of doubles, one of timestamps, as the bytes of their fields."""
    names = workloads.TAXI.names
    lines = data.splitlines()
    wanted = {name: workloads.TAXI.field(name).type for name in ("total", "pickup_at")}
    fields = {name: pa.array([line.split(b",")[names.index(name)] for line in lines], pa.binary()) for name in wanted}

    def wrong(columns: list[pa.Array]) -> str | None:
        whole = reference_csv(workloads.WORKLOADS["taxi"], data, list(wanted))
        return difference(pa.table(columns, names=list(wanted)), whole)

    return Asked(lambda: [fm.parse_values(fields[name], type) for name, type in wanted.items()], wrong)


def shred(_: bytes) -> Asked:
    schedule = shredder_bench.Schedule(*SCHEDULE)

    def wrong(_: object) -> str | None:
        _, claims = schedule.run(4096, keep=True)  # once more: keeping them costs more than finding them
        return shredder_bench.difference(claims, shredder_bench.all_claims(schedule.delimited)[:-1])

    return Asked(lambda: schedule.run(4096), wrong)


def hand_over(_: bytes) -> Asked:
    batch = flow_bench.hundred_byte_rows()

    def wrong(bridge: fm.Bridge) -> str | None:
        rows = SLICES * batch.num_rows
        return None if bridge.stats.delivered == rows else f"{bridge.stats.delivered} rows instead of {rows}"

    return Asked(lambda: flow_bench.hand_over_on_one_thread(batch, SLICES), wrong)


QUESTIONS: dict[str, Question] = {
    **{
        f"csv {name} {label}": Question(f"{name}.csv", partial(read_csv, name, few))
        for name, columns in (("taxi", 19), ("quoted", 8), ("wide", 200))
        for label, few in ((f"{columns} of {columns}", False), (f"3 of {columns}", True))
    },
    "csv taxi filtered": Question("taxi.csv", filter_csv),
    **{
        f"json {name} {label}": Question(f"{name}.ndjson", partial(read_json, name, few))
        for name, whole, part in (("flat", "12 of 12", "4 of 12"), ("tweets", "all", "4 leaves"))
        for label, few in ((whole, False), (part, True))
    },
    **{
        f"stream {name} {size} KiB {order}": Question(f"{name}.csv", partial(push_buffers, name, size << 10, order == "shuffled"))
        for name in ("taxi", "quoted")
        for size in (4, 64)
        for order in ("in order", "shuffled")
    },
    "native rows": Question("ticks.rows", read_rows),
    "parse_records json": Question("flat.ndjson", parse_records),
    "parse_values": Question("taxi.csv", parse_values),
    "shredder process_many": Question(None, shred),
    "bridge hand-over": Question(None, hand_over),
}  # fmt: skip
