"""Whole inputs into tables: every workload, kinds of values, threads, columns wanted, rows wanted, sizes, first calls, gzip."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bench.contestant import Task
from bench.inputs import Input
from bench.question import Entry, Question, Race, Scale, entries
from bench.record import Point
from bench.workload import Workload
from bench.workloads import WORKLOADS, of_kind
from bench.workloads.csv_kinds import all_workloads

TABLE_READERS = ("pyarrow", "polars", "duckdb", "datafusion", "pandas", "chdb", "formatter")
JSON_LOOPS = ("orjson", "msgspec", "pysimdjson")
JSON_READERS = ("pyarrow", "polars", "duckdb", "datafusion", "chdb", *JSON_LOOPS, "simdjson On-Demand", "formatter")
LIMITS = ("memory read", "newline count", "index only")
READ_MB = 24.0


def both_projections(source: Input) -> list[tuple[str, tuple[str, ...]]]:
    return [("all", ()), (f"{len(source.few)} of {len(source.schema)}", source.few)]


def race_on(source: Input, point: Point, columns: tuple[str, ...], labels: tuple[str, ...], threads: int = 1) -> Race:
    return Race(point, entries(labels, Task("table", source, columns, threads)), source.size)


def tables(scale: Scale, workloads: dict[str, Workload], labels: tuple[str, ...]) -> Iterator[Race]:
    for workload in scale.chosen(workloads):
        source = scale.write(workload, READ_MB)
        for label, columns in both_projections(source):
            limits = LIMITS if label == "all" else LIMITS[2:]
            yield race_on(source, {"workload": workload.name, "columns": label}, columns, (*labels, *limits))


def csv(scale: Scale) -> Iterator[Race]:
    yield from tables(scale, of_kind("csv", "rows"), TABLE_READERS)


def json(scale: Scale) -> Iterator[Race]:
    yield from tables(scale, of_kind("json"), (*JSON_READERS, "simdjson DOM"))


def values(scale: Scale) -> Iterator[Race]:
    """One kind of value each, and seeded mixes of kinds."""
    readers = ("pyarrow", "polars", "duckdb", "datafusion", "formatter")
    for group, workloads in all_workloads(mixes=scale.count(4)).items():
        for workload in workloads:
            source = scale.write(workload, 4.0)
            yield race_on(source, {"group": group, "workload": workload.name.strip(), "columns": "all"}, (), readers)


def validation(scale: Scale) -> Iterator[Race]:
    """Full validation of what the projection skips, beside none."""
    for name in ("flat", "tweets"):
        source = scale.write(WORKLOADS[name], READ_MB)
        for label, columns in both_projections(source):
            plain = Task("table", source, columns)
            full = replace(plain, options={"validate": "full"})
            made = (Entry("formatter", plain), Entry("formatter, full", full, "formatter"))
            yield Race({"workload": name, "columns": label}, made, source.size)


def threads(scale: Scale) -> Iterator[Race]:
    for name in ("taxi", "quoted", "wide", "flat", "mixed"):
        source = scale.write(WORKLOADS[name], READ_MB)
        labels = (
            TABLE_READERS
            if source.kind == "csv"
            else ("pyarrow", "polars", "duckdb", "datafusion", "chdb", "formatter")
        )
        for count in (1, 2, 4):
            yield replace(race_on(source, {"workload": name, "threads": count}, (), labels, count), clock="wall")


def kernels(scale: Scale) -> Iterator[Race]:
    import formatter as fm

    for name in ("taxi", "quoted", "wide", "flat", "tweets"):
        source = scale.write(WORKLOADS[name], READ_MB)
        task = Task("table", source)
        made = tuple(Entry(k, task, "formatter", {"FORMATTER_KERNEL": k}) for k in fm.kernels())
        yield Race({"workload": name}, made, source.size)


def columns(scale: Scale) -> Iterator[Race]:
    """Spread evenly over the record, so that neighbours give nothing away."""
    for name in ("wide", "taxi", "350 keys"):
        source = scale.write(WORKLOADS[name], READ_MB)
        names = source.schema.names
        readers = ("pyarrow", "polars", "duckdb", "formatter")
        for count in (1, 3, 10, 30, 100, len(names)):
            if count <= len(names):
                wanted = tuple(names[(2 * i + 1) * len(names) // (2 * count)] for i in range(count))
                yield race_on(source, {"workload": name, "columns": count}, wanted, readers)


FILTERED = {"taxi": "total", "quoted": "score", "wide": "c011"}


def filters(scale: Scale) -> Iterator[Race]:
    """All columns of the rows where one is above a bound."""
    for name, column in FILTERED.items():
        source = scale.write(WORKLOADS[name], READ_MB)
        head = source.sample(2 << 20)
        import formatter as fm

        found = fm.read(head.data, head.format(), columns=[column])
        for keeps in (0.0, 0.01, 0.1, 0.5, 1.0):
            bound = float(pc.quantile(found[column], 1 - keeps)[0].as_py()) + (
                1.0 if keeps == 0 else -1e9 if keeps == 1 else 0.0
            )
            task = Task("table", source, options={"filters": [[column, ">", bound]]})
            labels = ("pyarrow", "polars", "duckdb", "datafusion", "formatter")
            point: Point = {"workload": name, "rows kept": f"{keeps:.0%}"}
            yield Race(point, entries(labels, task), source.size, expected=filtered)


def filtered(table: pa.Table, task: Task) -> pa.Table:
    compared = {">": pc.greater, "==": pc.equal}
    for column, operator, value in task.options["filters"]:
        table = table.filter(compared[operator](table[column], value))
    return table


LARGEST_HASHED = 64 << 20
SIZED_READERS = ("pyarrow", "polars", "duckdb", "datafusion", "chdb", "formatter")
SIZES = (1 << 10, 16 << 10, 256 << 10, 4 << 20, 64 << 20, 1 << 30)


def size_name(size: int) -> str:
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size >= unit:
            return f"{size // unit} {name}"
    return f"{size} B"


def sized(scale: Scale, workload: Workload, size: int) -> Input:
    folder = scale.memory if size <= 64 << 20 else scale.disk
    return workload.write(folder, size, scale.seed)


def by_size(scale: Scale, fewest: int) -> Iterator[tuple[int, Race]]:
    """The same records from a kilobyte on, at `fewest` sizes or more, whole answers only."""
    for name in ("mixed", "mixed json"):
        for size in SIZES[: fewest + scale.steps(4)]:
            source = sized(scale, WORKLOADS[name], size)
            # Of those whose turn takes 20 s it is known by then where the curve goes.
            slow = ("polars",) if source.kind == "json" and size > LARGEST_HASHED else ()
            labels = tuple(label for label in SIZED_READERS if label not in slow)
            race = race_on(source, {"workload": name, "size": size_name(size)}, (), labels, threads=2)
            yield size, replace(race, sampled=False, answered="values" if size <= LARGEST_HASHED else "rows")


def sizes(scale: Scale) -> Iterator[Race]:
    """The same records, from a kilobyte on."""
    for size, race in by_size(scale, 2):
        yield replace(race, seconds=0.5 if size < 1 << 20 else 2.0)


def cold(scale: Scale) -> Iterator[Race]:
    """The first call of a process; of JSON at fewer sizes, for every turn starts one."""
    for size, race in by_size(scale, 1):
        if size != SIZES[1] and (race.point["workload"] == "mixed" or size in SIZES[::2]):
            yield replace(race, fresh=True, seconds=0.0)


def compressed(scale: Scale) -> Iterator[Race]:
    """taxi.csv.gz, from the path: each by its own decompression, and behind rapidgzip where one is handed bytes."""
    source = scale.write(WORKLOADS["taxi"], READ_MB)
    path = Path(f"{source.path}.gz")
    if not path.exists():
        path.write_bytes(gzip.compress(source.data, 6))
    for count in (1, 2):
        task = Task("table", source, (), count, {"path": str(path)})
        labels = ("pyarrow", "polars", "duckdb", "pandas", "pyarrow + rapidgzip", "polars + rapidgzip", "formatter")
        made = tuple(
            Entry(
                label,
                replace(task, options={**task.options, "by": label.partition(" + ")[2]}),
                label.partition(" + ")[0],
            )
            for label in labels
        )
        yield Race({"workload": "taxi.csv.gz", "threads": count}, made, source.size, sampled=False)


def files(scale: Scale) -> Iterator[Race]:
    """The user's own: inferred, then read by everyone."""
    from bench.user_files import inferred_all

    for source in inferred_all(scale.files):
        readers = TABLE_READERS if source.kind == "csv" else JSON_READERS
        for label, wanted in both_projections(source):
            yield race_on(source, {"workload": source.name, "columns": label}, wanted, (*readers, *LIMITS[1:]))


QUESTIONS = [
    Question("read", "CSV and packed rows in memory into a table, one thread", csv, 480),
    Question("json", "JSON lines in memory into a table, one thread", json, 670),
    Question("values", "one kind of value at a time, one thread", values, 265),
    Question("validation", "what checking everything costs JSON", validation, 13),
    Question("threads", "one, two and four threads", threads, 215),
    Question("kernels", "each kernel this CPU runs", kernels, 33),
    Question("columns", "how many columns are wanted", columns, 115),
    Question("filter", "how many rows are kept by a filter", filters, 140),
    Question("sizes", "a kilobyte to a gigabyte, warm, two threads", sizes, 865),
    Question("cold start", "a kilobyte to 64 MB, as the first call of a process", cold, 385),
    Question("gzip", "a compressed file, from its path", compressed, 65),
]
FILES = Question("files", "your own files", files, 30)  # seconds a file
