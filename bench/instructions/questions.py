"""What is counted: every question by name, its input, what runs, and how its answer is checked.

In: nothing but the names; inputs are those of the benchmarks, seeded. Out: QUESTIONS and INPUTS.
Refuses to know: callgrind, records, how often it runs. Nothing here uses a second thread: counts would depend on turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pyarrow as pa

import formatter as fm
from bench.answers import answer_of, difference, projected
from bench.contestant import Task
from bench.contestants.bridge import hand_over_on_one_thread, hundred_byte_rows
from bench.contestants.pyarrow import csv_reader, json_table
from bench.contestants.shredder import shred, wrong_claims
from bench.contestants.streams import through_push_many
from bench.inputs import Input
from bench.oracle import python_table
from bench.schedules import Flags, shuffled_pushes
from bench.workload import Workload
from bench.workloads import WORKLOADS

INPUT_BYTES = 2 << 20
SEED = 1
ORACLE_BYTES = 64 << 10
BUFFERS_A_CALL = 16
FILTER = ("total", ">", 60.0)  # one taxi record in a hundred
SCHEDULE = (1 << 16, 512, 0.5)  # buffers, window of their disorder, share with a delimiter
SLICES = 10_000
NO_CLOCK = fm.BatchPolicy(max_latency_ms=None)  # batches that leave by age are more the slower the machine


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


def make(name: str) -> bytes:
    data = WORKLOADS[name].make(INPUT_BYTES, SEED)
    return whole_lines(data) if WORKLOADS[name].kind == "json" else data


INPUTS: dict[str, Callable[[], bytes]] = {
    **{f"{name}.csv": partial(make, name) for name in ("taxi", "quoted", "wide", "skewed")},
    **{f"{name}.ndjson": partial(make, name) for name in ("flat", "tweets")},
    "ticks.rows": partial(make, "ticks"),
}


def input_of(workload: Workload, data: bytes) -> Input:
    """The bytes as they are, without a file."""
    source = Input(workload.name, workload.kind, "", workload.schema, workload.few, workload.newlines_in_values)
    source.__dict__["data"] = data
    return source


def wrong_table(found: pa.Table, right: pa.Table, ordered: bool = True) -> str | None:
    return difference(answer_of(found, ordered), answer_of(right, ordered))


# ---------------------------------------------------------------------------------------------------- whole reads


def reference_csv(workload: Workload, data: bytes, columns: list[str]) -> pa.Table:
    """pyarrow's reading, itself checked against Python's csv module."""
    source = input_of(workload, data)
    table = csv_reader(source, 1)(data, tuple(workload.schema.names))
    head = python_table(input_of(workload, source.whole_records(data, ORACLE_BYTES)))
    if wrong := wrong_table(table.slice(0, head.num_rows), head):
        raise SystemExit(f"bench.instructions: the reference answer for {workload.name} is wrong: {wrong}")
    return table.select(columns)


def read_csv(name: str, few: bool, data: bytes, **dialect: Any) -> Asked:
    workload = WORKLOADS[name]
    columns = list(workload.few if few else workload.schema.names)
    csv = fm.Csv(workload.schema, **dialect)
    return Asked(
        lambda: fm.read(data, csv, columns=columns, threads=1),
        lambda table: wrong_table(table, reference_csv(workload, data, columns)),
    )


def filter_csv(data: bytes) -> Asked:
    workload = WORKLOADS["taxi"]
    csv = fm.Csv(workload.schema)
    column, _, limit = FILTER

    def wrong(table: pa.Table) -> str | None:
        whole = reference_csv(workload, data, workload.schema.names)
        return wrong_table(table, whole.filter(pa.compute.greater(whole[column], limit)))

    return Asked(lambda: fm.read(data, csv, filters=[FILTER], threads=1), wrong)


def reference_json(workload: Workload, data: bytes, columns: list[str]) -> pa.Table:
    table = json_table(input_of(workload, data), (), 1).run()
    return projected(table, Task("table", columns=tuple(columns)))


def read_json(name: str, few: bool, data: bytes) -> Asked:
    workload = WORKLOADS[name]
    columns = list(workload.few if few else workload.schema.names)
    lines = fm.Json(workload.schema)
    return Asked(
        lambda: fm.read(data, lines, columns=columns, threads=1),
        lambda table: wrong_table(table, reference_json(workload, data, columns)),
    )


def read_rows(data: bytes) -> Asked:
    workload = WORKLOADS["ticks"]
    rows = fm.Native(workload.schema)
    return Asked(
        lambda: fm.read(data, rows, threads=1),
        lambda table: wrong_table(table, python_table(input_of(workload, data))),
    )


# -------------------------------------------------------------------------------------------------------- buffers


def push_buffers(name: str, buffer_bytes: int, shuffled: bool, data: bytes, **dialect: Any) -> Asked:
    workload = WORKLOADS[name]
    csv = fm.Csv(workload.schema, **dialect)
    window = -(-len(data) // buffer_bytes) if shuffled else 1
    pushes = shuffled_pushes(data, buffer_bytes, BUFFERS_A_CALL, window=window)

    def wrong(batches: list[fm.Batch]) -> str | None:
        table = pa.Table.from_batches([batch.data for batch in batches], schema=workload.schema)
        return wrong_table(table, reference_csv(workload, data, workload.schema.names), ordered=False)

    return Asked(lambda: through_push_many(csv, pushes, batch=NO_CLOCK), wrong)


# ---------------------------------------------------------------------------------------- values, and what joins


def parse_records(data: bytes) -> Asked:
    workload = WORKLOADS["flat"]
    records = pa.array(data.splitlines(), pa.binary())
    lines = fm.Json(workload.schema)
    return Asked(
        lambda: fm.parse_records(records, lines),
        lambda batch: wrong_table(
            pa.Table.from_batches([batch]), reference_json(workload, data, workload.schema.names)
        ),
    )


def parse_values(data: bytes) -> Asked:
    """One column of doubles, one of timestamps, as the bytes of their fields."""
    schema = WORKLOADS["taxi"].schema
    names = schema.names
    lines = data.splitlines()
    wanted = {name: schema.field(name).type for name in ("total", "pickup_at")}
    fields = {name: pa.array([line.split(b",")[names.index(name)] for line in lines], pa.binary()) for name in wanted}

    def wrong(columns: list[pa.Array]) -> str | None:
        whole = reference_csv(WORKLOADS["taxi"], data, list(wanted))
        return wrong_table(pa.table(columns, names=list(wanted)), whole)

    return Asked(lambda: [fm.parse_values(fields[name], type) for name, type in wanted.items()], wrong)


def shred_buffers(_: bytes) -> Asked:
    flags = Flags(*SCHEDULE)
    return Asked(lambda: shred(flags, 4096), lambda _: wrong_claims(flags, shred(flags, 4096, keep=True)))


def hand_over(_: bytes) -> Asked:
    batch = hundred_byte_rows()

    def wrong(bridge: fm.Bridge) -> str | None:
        rows = SLICES * batch.num_rows
        return None if bridge.stats.delivered == rows else f"{bridge.stats.delivered} rows instead of {rows}"

    return Asked(lambda: hand_over_on_one_thread(batch, SLICES), wrong)


QUESTIONS: dict[str, Question] = {
    **{
        f"csv {name} {label}": Question(f"{name}.csv", partial(read_csv, name, few))
        for name, columns in (("taxi", 19), ("quoted", 8), ("wide", 200))
        for label, few in ((f"{columns} of {columns}", False), (f"3 of {columns}", True))
    },
    "csv taxi filtered": Question("taxi.csv", filter_csv),
    "csv skewed 2 of 2": Question("skewed.csv", partial(read_csv, "skewed", False)),  # records longer than what is looked at
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
    **{
        f"{question} {rule}": Question("quoted.csv", partial(asked, quotes=rule))
        for rule in ("lenient", "sticky")
        for question, asked in (
            ("csv quoted 8 of 8", partial(read_csv, "quoted", False)),
            ("stream quoted 4 KiB in order", partial(push_buffers, "quoted", 4 << 10, False)),
            ("stream quoted 4 KiB shuffled", partial(push_buffers, "quoted", 4 << 10, True)),
        )
    },
    "csv quoted 8 of 8 trimmed": Question("quoted.csv", partial(read_csv, "quoted", False, trim=True)),
    "csv quoted 8 of 8 trimmed lenient": Question(
        "quoted.csv", partial(read_csv, "quoted", False, trim=True, quotes="lenient")
    ),
    "native rows": Question("ticks.rows", read_rows),
    "parse_records json": Question("flat.ndjson", parse_records),
    "parse_values": Question("taxi.csv", parse_values),
    "shredder process_many": Question(None, shred_buffers),
    "bridge hand-over": Question(None, hand_over),
}  # fmt: skip
