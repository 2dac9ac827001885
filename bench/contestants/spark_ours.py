"""Ours in Spark: files, records, chunks in any order, the bridge of a task; and what its operator can carry at most."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from bench.answers import Answer
from bench.contestant import Contestant, Prepared, Task
from bench.contestants import spark_devices
from bench.contestants.spark_session import payloads, session, written
from bench.inputs import Input

CHUNKS = pa.schema([("origin", pa.string()), ("sequence", pa.int64()), ("payload", pa.binary())])
PARTITIONS = 16


def files(task: Task) -> Prepared:
    """A script attaches pushdown behind the making of its session: that is part of its first action."""
    spark = session(task.threads, ours=True, attached=False)
    import spark_udfs as su

    source, format = task.input, task.input.format()
    columns = None if task.options.get("count") else list(task.columns) or None
    return written(
        spark,
        lambda: su.read(spark, source.path, format, columns=columns),
        task,
        once=lambda: su.enable_pushdown(spark),
    )


def records(task: Task) -> Prepared:
    spark = session(task.threads, ours=True)
    import spark_udfs as su

    df, format, columns = payloads(spark, task), task.input.format(), list(task.columns) or None
    names = [*(columns or format.schema.names), "key"]
    told: dict[str, Any] = {"payload": "value", "unit": "record", "keep": ["key"], "error": None}
    frames = {
        "parse": lambda: su.parse(df, format, columns=columns, **told),
        "column": lambda: su.parse_column(df, "value", format, columns=columns).select("v.*", "key"),
        "pushed": lambda: su.parse(df, format, **told).select(*names),
    }
    return written(spark, frames[str(task.options.get("how", "parse"))], task, ("key",))


def any_json() -> Any:
    """A record is one value, whatever it is."""
    import formatter as fm

    return fm.Json(pa.schema([("v", fm.variant())]), paths={"v": ""})


def variants(task: Task) -> Prepared:
    spark = session(task.threads, ours=True)
    import spark_udfs as su

    df = payloads(spark, task)
    return written(spark, lambda: su.parse_column(df, "value", any_json()).select("v.*", "key"), task, ("key",))


# ------------------------------------------------------------------------------------------------- chunks


def stitched(task: Task) -> Prepared:
    """stitch="none": cut at record ends; otherwise anywhere; rows in random order over partitions, cached by Spark."""
    spark = session(task.threads, ours=True)
    import spark_udfs as su

    stitch: Any = task.options["stitch"]
    source, format = task.input, task.input.format()
    size = int(task.options["chunk_bytes"])
    chunks = chunk_rows(spark, aligned(source, size) if stitch == "none" else cut(source.data, size))
    columns = list(task.columns) or None
    return written(spark, lambda: su.parse(chunks, format, columns=columns, stitch=stitch), task)


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def aligned(source: Input, size: int) -> list[bytes]:
    """Whole records, about so many bytes a chunk."""
    pieces, rest = [], source.data
    while rest:
        head = rest[: 2 * size]
        whole = source.whole_records(head, size) if len(rest) > size else rest
        pieces.append(whole or source.whole_records(rest, len(rest)))
        rest = rest[len(pieces[-1]) :]
    return pieces


def chunk_rows(spark: Any, pieces: list[bytes]) -> Any:
    rows = [("one", number, piece) for number, piece in enumerate(pieces, 1)]
    random.Random(1).shuffle(rows)
    with tempfile.TemporaryDirectory() as folder:
        for part in range(PARTITIONS):
            if some := rows[part::PARTITIONS]:
                columns = [pa.array(c, f.type) for c, f in zip(zip(*some, strict=True), CHUNKS, strict=True)]
                pq.write_table(pa.table(columns, schema=CHUNKS), Path(folder, f"{part}.parquet"), compression="none")
        held = spark.read.parquet(folder).select(*CHUNKS.names).repartition(PARTITIONS).cache()
        held.count()
    return held


def handed_over(task: Task) -> Prepared:
    """The rows of a task by the bridge between parsing and Spark, or yielded directly."""
    spark = session(task.threads, ours=True)
    from spark_udfs.chunks.chunk_rows import ChunkColumns
    from spark_udfs.chunks.parse_task import ParseRun, ParseTask

    told: dict[str, Any] = {"columns": None, "filters": None, "on_error": "raise", "keep": None, "arrival": "aligned"}
    work = ParseTask(task.input.format(), ChunkColumns(), **told)
    way = work if task.options["way"] == "bridge" else ParseRun(work).rows
    chunks = chunk_rows(spark, aligned(task.input, int(task.options["chunk_bytes"])))
    return written(spark, lambda: chunks.mapInArrow(way, work.schema), task)


# ------------------------------------------------------------------------------------------------ the ceiling


class NoRows:
    """In a task: nothing, by the operator that runs ours."""

    __name__ = "formatter.nothing"

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            yield from ()


def tasks(task: Task) -> Prepared:
    spark, count = session(task.threads, ours=True), int(task.options["tasks"])
    frame = spark.range(0, count, 1, count).mapInArrow(NoRows(), "id long")
    return Prepared(written(spark, lambda: frame, task).run, lambda _: Answer(0))


def empty_tasks(task: Task) -> Prepared:
    """No Python: what the driver and an executor's thread cost."""
    spark, count = session(task.threads, ours=False), int(task.options["tasks"])
    return Prepared(written(spark, lambda: spark.range(0, count, 1, count), task).run, lambda _: Answer(count))


class ReadyBatches:
    """In a task: its share of the batches in a file of Arrow's, which is mapped: nobody parses, and nobody copies but Spark."""

    __name__ = "formatter.ready"  # so that it runs by the same operator as ours, direct rows where they are on

    def __init__(self, path: str, tasks: int) -> None:
        self.path = path
        self.tasks = tasks

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        with pa.memory_map(self.path) as mapped:
            ready = pa.ipc.open_file(mapped)
            shares = [ready.num_record_batches * share // self.tasks for share in range(self.tasks + 1)]
            for batch in batches:
                for share in batch.column(0).to_pylist():
                    yield from (ready.get_batch(at) for at in range(shares[share], shares[share + 1]))


def ready(task: Task) -> Prepared:
    """The rows of the file themselves as ready batches, in as many tasks as su.read has."""
    spark = session(task.threads, ours=True)
    import formatter as fm
    import spark_udfs as su
    from spark_udfs.types.spark_types import SparkColumns

    source, format, columns = task.input, task.input.format(), list(task.columns) or None
    df = su.read(spark, source.path, format, columns=columns)
    tasks = df.rdd.getNumPartitions()
    folder = tempfile.TemporaryDirectory(prefix="bench-ready-")
    path, rows = str(Path(folder.name, "rows.arrow")), 0
    batches = fm.open(source.path, format, columns=columns, threads=1)
    made = SparkColumns.of(batches.schema)
    with pa.ipc.new_file(path, made.arrow) as file:
        for batch in batches:
            file.write_batch(made.convert(batch))
            rows += batch.num_rows
    work = ReadyBatches(path, tasks)
    frame = written(spark, lambda: spark.range(0, tasks, 1, tasks).mapInArrow(work, df.schema), task)
    return Prepared(frame.run, lambda _: Answer(rows), finish=folder.cleanup)


def ready_records(task: Task) -> Prepared:
    return ready_rows(task, task.input.format())


def ready_variants(task: Task) -> Prepared:
    return ready_rows(task, any_json())


def ready_rows(task: Task, format: Any) -> Prepared:
    """The same rows' worth of ready rows for the same records: the least that any function in Python can take."""
    spark = session(task.threads, ours=True)
    from pyspark.sql.types import LongType

    import formatter as fm
    from spark_udfs.types.spark_types import SparkColumns, struct_of

    df, columns = payloads(spark, task), list(task.columns) or None
    payload = pa.array(task.input.data.splitlines()[: spark_devices.READY_ROWS], pa.binary())
    parsed = fm.parse_records(payload, format, columns=columns)
    wanted = parsed.select(columns) if columns else parsed
    made = SparkColumns.of(wanted.schema).convert(wanted)
    work, schema = spark_devices.ReadyRows(made, ("key",)), struct_of(wanted.schema).add("key", LongType())
    frame = written(spark, lambda: df.mapInArrow(work, schema), task)
    return Prepared(frame.run, lambda _: Answer(df.count()))


CONTESTANTS = [
    Contestant(
        "spark_udfs",
        {
            "files": files,
            "records": records,
            "variants": variants,
            "stitched": stitched,
            "handed over": handed_over,
            "tasks": tasks,
            "devices": spark_devices.ours,
        },
        "pyspark",
        role="ours",
        handicap="a session of its own, by su.configure",
    ),
    Contestant(
        "empty tasks",
        {"tasks": empty_tasks},
        "pyspark",
        role="limit",
        handicap="Spark's own range of one row a task, no Python",
    ),
    Contestant(
        "ready batches",
        {
            "files": ready,
            "records": ready_records,
            "variants": ready_variants,
            "devices": spark_devices.ready,
        },
        "pyspark",
        role="limit",
        handicap="the operator of ours, with nothing to parse",
    ),
]
