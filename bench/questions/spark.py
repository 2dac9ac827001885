"""In Spark: files, records, chunks in any order, the first action and the whole script, executors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from bench.contestant import Task
from bench.contestants import spark_devices
from bench.question import MIB, Entry, Question, Race, Scale, entries
from bench.questions.reading import both_projections, size_name
from bench.record import Point
from bench.session_caches import session_caches
from bench.workloads import WORKLOADS

CORES = 2
FILE_MB = 800.0
WARM_S = 12.0  # of calls before the turns of a session, at most; they end when calls become no faster
LARGEST_HASHED = 100 * MIB  # of larger files, which repeat the same bytes, the rows alone are held against the other's
COLD_SIZES = (10 * MIB, 100 * MIB, 1 << 30, 4 << 30)


def files(scale: Scale) -> Iterator[Race]:
    """Warm: all columns, few, and a count."""
    yield from files_of(("mixed", "mixed json", "plain", "quoted"), scale)


def shapes(scale: Scale) -> Iterator[Race]:
    """The same of files whose records are long, or have many columns, or are now one and now the other."""
    yield from files_of(("skewed", "wide", "long text"), scale)


def files_of(names: tuple[str, ...], scale: Scale) -> Iterator[Race]:
    for name in names:
        source = scale.write(WORKLOADS[name], FILE_MB, on_disk=True)
        asked = [(label, Task("files", source, columns, CORES)) for label, columns in both_projections(source)]
        asked.append(("count", Task("files", source, (), CORES, {"count": True})))
        for label, task in asked:
            labels = (
                ("spark", "spark_udfs") if label == "count" else ("spark", "spark_udfs", "ready batches", "fm.open")
            )
            point: Point = {"workload": name, "columns": label}
            yield Race(point, entries(labels, task), source.size, seconds=12.0, sampled=label != "count", warm_s=WARM_S)


def records(scale: Scale) -> Iterator[Race]:
    """A record a value, warm, beside from_json and from_csv and, of JSON, variants; and whole records as variants."""
    for name in ("mixed json", "mixed", "350 keys"):
        source = scale.write(WORKLOADS[name], 128.0, on_disk=True)
        for label, columns in both_projections(source):
            task = Task("records", source, columns, CORES)

            def entry(label: str, who: str, how: str, task: Task = task) -> Entry:
                return Entry(label, replace(task, options={"how": how}), who, alone=False)

            own = [entry("from_csv" if source.kind == "csv" else "from_json", "spark", "function")]
            own += [entry("variant", "spark", "variant")] if source.kind == "json" else []
            made = [*own, entry("su.parse", "spark_udfs", "parse"), entry("su.parse_column", "spark_udfs", "column")]
            made += [entry("su.parse, pushed down", "spark_udfs", "pushed")] if columns else []
            made += [entry("ready batches", "ready batches", "ready")]
            yield Race({"workload": name, "columns": label}, tuple(made), source.size, seconds=8.0, warm_s=WARM_S)
        if source.kind == "json":
            task = Task("variants", source, (), CORES)
            who = (("parse_json", "spark"), ("su.parse_column", "spark_udfs"), ("ready batches", "ready batches"))
            raced = tuple(Entry(label, task, each, alone=False) for label, each in who)
            point: Point = {"workload": name, "columns": "one variant"}
            yield Race(point, raced, source.size, seconds=8.0, sampled=False, warm_s=WARM_S)


DEVICES = 2_000_000


def devices(scale: Scale) -> Iterator[Race]:
    """Records written and read in one query; what writing them costs alone is to be taken off, and no function in Python can do
    better than batches that are ready."""
    rows = scale.count(DEVICES, 1000)
    for query in spark_devices.QUERIES:

        def entry(label: str, who: str, how: str, role: str = "", query: str = query) -> Entry:
            task = Task("devices", None, (), CORES, {"query": query, "how": how, "rows": rows})
            return Entry(label, task, who, role=role, alone=False)

        if "path" in query:
            made = [entry("get_json_object", "spark", "function"), entry("su.get_json", "spark_udfs", "ours")]
            made += [entry("get_json_object, shared", "spark", "shared")] if query == "five paths" else []
        else:
            made = [entry("from_json", "spark", "function"), entry("su.parse_column", "spark_udfs", "ours")]
            made += [entry('compat="spark"', "spark_udfs", "compat")]
        made += [entry("to_json alone", "spark", "writer", "limit"), entry("ready batches", "ready batches", "ready")]
        yield Race({"query": query}, tuple(made), rows, "record", seconds=12.0, sampled=False, warm_s=WARM_S)


def stitch(scale: Scale) -> Iterator[Race]:
    """Chunks of 1 MiB in random order, against aligned ones that need no stitching."""
    for name in ("quoted", "mixed"):
        source = scale.write(WORKLOADS[name], 128.0, on_disk=True)
        task = Task("stitched", source, (), CORES, {"chunk_bytes": MIB})
        made = tuple(
            Entry(label, replace(task, options={**task.options, "stitch": how}), "spark_udfs", alone=False)
            for label, how in (("aligned, none", "none"), ("global", "global"), ("origin", "origin"))
        )
        yield Race({"workload": name, "buffers": "1 MiB"}, made, source.size, seconds=8.0, warm_s=WARM_S)


def hand_over(scale: Scale) -> Iterator[Race]:
    for chunk_bytes in (16 << 10, MIB):
        source = scale.write(WORKLOADS["quoted"], 64.0, on_disk=True)
        task = Task("handed over", source, (), CORES, {"chunk_bytes": chunk_bytes})
        made = tuple(
            Entry(way, replace(task, options={**task.options, "way": way}), "spark_udfs", alone=False)
            for way in ("direct", "bridge")
        )
        yield Race({"buffers": f"{chunk_bytes >> 10} KiB"}, made, source.size, seconds=6.0, warm_s=WARM_S)


def cold(scale: Scale) -> Iterator[Race]:
    """The first action of a fresh session, the same with the session before it, and the whole script."""
    cache, _ = session_caches(scale.disk)
    for name in ("mixed", "mixed json"):
        few = WORKLOADS[name].few
        for size in COLD_SIZES[: scale.steps(4 if name == "mixed" else 2)]:
            for columns in ((), few):
                if size == COLD_SIZES[1] or (not columns and name == "mixed"):
                    yield first_action(scale, name, size, columns, cache)


def faster(scale: Scale) -> Iterator[Race]:
    """The same where su.faster_start() was called before, once."""
    _, cache = session_caches(scale.disk)
    for columns in ((), WORKLOADS["mixed"].few):
        yield first_action(scale, "mixed", COLD_SIZES[1], columns, cache)


def first_action(scale: Scale, name: str, size: int, columns: tuple[str, ...], cache: Path) -> Race:
    source = WORKLOADS[name].write(scale.disk, size, scale.seed)
    task = Task("files", source, columns, CORES, {"rows": True} if size > LARGEST_HASHED else {})
    label = f"{len(columns)} of {len(source.schema)}" if columns else "all"
    point: Point = {"workload": name, "columns": label, "size": size_name(size)}
    made = (Entry("spark", task), Entry("spark_udfs", task, environment={"XDG_CACHE_HOME": str(cache)}))
    return Race(point, made, source.size, sampled=False, fresh=True, seconds=0.0)


def warm(scale: Scale) -> Iterator[Race]:
    """By size, for curves beside those of the cold start and for what a query costs before its first byte."""
    for name in ("mixed", "mixed json"):
        for size in (MIB, *COLD_SIZES)[: 1 + scale.steps(3)]:
            source = WORKLOADS[name].write(scale.disk, size, scale.seed)
            task = Task("files", source, (), CORES, {"rows": True} if size > LARGEST_HASHED else {})
            made = entries(("spark", "spark_udfs"), task)
            point: Point = {"workload": name, "size": size_name(size)}
            yield Race(point, made, source.size, sampled=False, seconds=8.0, warm_s=WARM_S)


def tasks(scale: Scale) -> Iterator[Race]:
    """Tasks that do nothing: what the driver and Python's workers cost."""
    for count in (2, 8, 32, 128):
        task = Task("tasks", None, (), CORES, {"tasks": count})
        yield Race(
            {"tasks": count},
            entries(("spark_udfs", "empty tasks"), task),
            count,
            "task",
            2.0,
            clock="wall",
            warm_s=WARM_S,
        )


EXECUTORS = (1, 2, 4)


def executors(scale: Scale) -> Iterator[Race]:
    """local-cluster with executors of one core each; more of them than this machine has cores share its cores."""
    for megabytes in (512.0, 1024.0):
        source = scale.write(WORKLOADS["mixed"], megabytes, on_disk=True)
        made = tuple(
            Entry(
                f"{count} executors",
                Task("files", source),
                "spark_udfs",
                {"BENCH_MASTER": f"local-cluster[{count},1,1024]"},
            )
            for count in EXECUTORS
        )
        yield Race(
            {"workload": "mixed", "size": f"{source.size / 1e6:.0f} MB"}, made, source.size, sampled=False, seconds=10.0,
            clock="wall", warm_s=WARM_S,
        )  # fmt: skip


QUESTIONS = [
    Question("spark cold", "files in Spark: the first action of a session, a whole script", cold, 1800),
    Question("spark faster start", "the same after su.faster_start(), at 100 MB", faster, 400),
    Question("spark files", "files in Spark, warm", files, 735, kept=True),
    Question("spark shapes", "files in Spark of wide, long and uneven records", shapes, 465, kept=True),
    Question("spark sizes", "files in Spark by size, warm", warm, 635, kept=True),
    Question("spark records", "records in Spark, warm", records, 800, kept=True),
    Question("spark devices", "records that the same query writes in Spark, warm", devices, 565, kept=True),
    Question("spark stitch", "chunks in any order in Spark", stitch, 200, kept=True),
    Question("spark hand-over", "the bridge between parsing and Spark", hand_over, 165, kept=True),
    Question("spark tasks", "tasks in Spark that do nothing", tasks, 215, kept=True),
    Question("spark executors", "one, two and four executors", executors, 500),
]
