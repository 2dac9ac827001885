"""What it costs besides time a byte: memory, growth, loops of the kernels alone."""

from __future__ import annotations

from collections.abc import Iterator

from bench.contestant import Task
from bench.question import MIB, Entry, Question, Race, Scale
from bench.workloads import WORKLOADS

WAYS = {
    "pool, batches released": "",
    "pool, every batch kept": "keep",
    "the C library's heap": "fresh",
    "pages from the system": "fresh mapped",
    "small pages from the system": "fresh mapped small",
}
GROWTH_BLOCK_MB = 8.0


def memory(scale: Scale) -> Iterator[Race]:
    """Where the memory of results comes from: each way in a process of its own, for it changes the process."""
    for name in ("taxi", "wide"):
        source = scale.write(WORKLOADS[name], 32.0)
        made = tuple(
            Entry(label, Task("memory", source, options={"way": way}), "formatter") for label, way in WAYS.items()
        )
        yield Race({"workload": name}, made, source.size, sampled=False)


def growth(scale: Scale) -> Iterator[Race]:
    """fm.open over 8 MB, again and again: cost a byte and peak memory stay."""
    for name in ("taxi", "quoted", "flat"):
        source = scale.write(WORKLOADS[name], GROWTH_BLOCK_MB)
        for times in (1, 10, 100, 1000)[: scale.steps(4)]:
            task = Task("growth", source, options={"times": times})
            yield Race(
                {"workload": name, "times": times}, (Entry("formatter", task),), source.size * times, sampled=False
            )


INDEX_LOADS = (
    "taxi 19 of 19",
    "taxi 3 of 19",
    "wide 200 of 200",
    "wide 3 of 200",
    "quoted 8 of 8",
    "quoted 3 of 8",
    "short 3 of 3",
)
VALUE_LOADS = (
    "int 1-8 digits", "int 9-15 digits", "int 18 digits", "float 9-16 bytes", "float 17 bytes", "timestamp .ffffff",
    "timestamp Z", "date32", "bool", "string 5-20", "quoted 5-20", "quoted with doubled", "quoted prose 80-400", "string 2000",
)  # fmt: skip


def native(scale: Scale) -> Iterator[Race]:
    import formatter as fm

    for job, loads, amount, unit in (("index", INDEX_LOADS, 8.0 * MIB, "B"), ("values", VALUE_LOADS, 1e6, "value")):
        for load in loads if scale.part > 0.1 else loads[:2]:
            made = tuple(
                Entry(kernel, Task(job, options={"load": load, "kernel": kernel, "amount": amount}), "native loops")
                for kernel in fm.kernels()
            )
            yield Race({"loop": load}, made, amount, unit, 0.4)


def micro(scale: Scale) -> Iterator[Race]:
    """The suites of bench/micro, a race each."""
    for name in suite_names():
        task = Task("suite", options={"name": name, "longest_s": max(0.05, 0.5 * scale.part)})
        yield Race({"suite": name}, (Entry("suites", task),), 1, "round", 0.2)


def suite_names() -> list[str]:
    from bench.instructions.questions import QUESTIONS as COUNTED

    kinds = {"stream": "test_stream", "shredder": "test_shredder", "bridge": "test_bridge"}
    of = {name: kinds.get(name.split()[0], "test_parser") for name in COUNTED}
    alone = ("test_shredder", "test_bridge")
    indexers = [f"test_indexer[{name}]" for name in ("taxi", "quoted", "wide", "flat", "tweets")]
    return [kind if kind in alone else f"{kind}[{name}]" for name, kind in of.items()] + indexers


QUESTIONS = [
    Question("memory", "where the memory of results comes from", memory, 27),
    Question("growth", "8 MB to 8 GB: cost a byte, peak memory", growth, 80),
    Question("micro", "small pieces, by pytest-benchmark", micro, 60),
    Question("native", "loops of the kernels alone: the index, values of one kind", native, 500),
]
