"""Buffers in any order: our stream, a whole read beside it, and what a user writes by hand around other readers."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Contestant, Prepared, Task
from bench.inputs import Input
from bench.schedules import Pushes, shuffled_pushes


def pushes_of(task: Task) -> Pushes:
    size, calls = int(task.options["buffer_bytes"]), int(task.options.get("a_call", 1 << 30))
    return shuffled_pushes(task.input.data, size, calls, window=task.options.get("window"))


def through_push_many(format: Any, pushes: Pushes, **options: Any) -> list[Any]:
    import formatter as fm

    stream = fm.Stream(format, **options)
    batches: list[fm.Batch] = []
    for buffers, sequences in pushes.calls:
        batches += stream.push_many(buffers, sequences=sequences)
    return batches + stream.finish(last_sequence=pushes.buffers)


def through_threads(format: Any, pushes: Pushes, threads: int) -> list[Any]:
    """One buffer a push, the threads taking turns through the list."""
    import formatter as fm

    stream = fm.Stream(format)
    flat = pushes.one_by_one()
    found: list[list[fm.Batch]] = [[] for _ in range(threads)]

    def work(number: int) -> None:
        for buffer, sequence in flat[number::threads]:
            found[number] += stream.push(buffer, sequence=sequence)

    running = [threading.Thread(target=work, args=(i,)) for i in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    return [b for part in found for b in part] + stream.finish(last_sequence=pushes.buffers)


def batches_answer(batches: list[Any], ordered: bool = False) -> Answer:
    covered = sorted(s for b in batches for first, last in b.spans for s in range(first, last + 1))
    if covered != list(range(1, len(covered) + 1)):
        raise ValueError("buffers are missing or twice in the batches' spans")
    return answer_of(pa.Table.from_batches([batch.data for batch in batches]), ordered)


def chunks(task: Task) -> Prepared:
    pushes, format = pushes_of(task), task.input.format()
    told: dict[str, Any] = {"columns": list(task.columns) or None, "ordered": bool(task.options.get("ordered"))}
    if task.threads > 1:
        return Prepared(lambda: through_threads(format, pushes, task.threads), batches_answer)
    return Prepared(
        lambda: through_push_many(format, pushes, **told), lambda found: batches_answer(found, told["ordered"])
    )


def whole_reads(task: Task) -> Prepared:
    """Two whole reads at once: what a second thread is worth on this machine right now."""
    import formatter as fm

    data, format = task.input.data, task.input.format()

    def run() -> list[pa.Table]:
        found: list[pa.Table] = []
        running = [threading.Thread(target=lambda: found.append(fm.read(data, format, threads=1))) for _ in range(2)]
        for begin in range(0, 2, task.threads):
            for thread in running[begin : begin + task.threads]:
                thread.start()
            for thread in running[begin : begin + task.threads]:
                thread.join()
        return found

    return Prepared(run, lambda found: answer_of(found[0], ordered=False))


# ------------------------------------------------------------------------------------------------- by hand


def stitched(parse: Callable[[Input, tuple[str, ...]], Callable[[bytes], pa.Table]]) -> Callable[[Task], Prepared]:
    """Wait for the next buffer in order, put the cut record together, give every buffer's whole records to a reader."""

    def prepare(task: Task) -> Prepared:
        source, pushes = task.input, pushes_of(task)
        read = parse(source, task.columns or tuple(source.schema.names))

        def run() -> pa.Table:
            return pa.concat_tables([read(block) for block in _whole_blocks(source, pushes)])

        return Prepared(run)

    return prepare


def _whole_blocks(source: Input, pushes: Pushes) -> Iterator[bytes]:
    waiting: dict[int, bytes] = {}
    carried, following = b"", 1
    for buffer, sequence in pushes.one_by_one():
        waiting[sequence] = buffer
        while following in waiting:
            block = carried + waiting.pop(following)
            following += 1
            whole = source.whole_records(block, len(block))
            carried = block[len(whole) :]
            if whole:
                yield whole
    if carried:
        yield carried


def _by_pyarrow(source: Input, columns: tuple[str, ...]) -> Callable[[bytes], pa.Table]:
    from bench.contestants.pyarrow import csv_reader

    read = csv_reader(source, 1)
    return lambda block: read(block, columns)


def _by_polars(source: Input, columns: tuple[str, ...]) -> Callable[[bytes], pa.Table]:
    import polars as pl

    from bench.contestants.polars import csv_options

    told = csv_options(pl, source)
    numbers = [source.schema.get_field_index(name) for name in columns]
    return lambda block: pl.read_csv(io.BytesIO(block), columns=numbers, **told).to_arrow()


CONTESTANTS = [
    Contestant("streams", {"chunks": chunks, "whole reads": whole_reads}, role="ours"),
    Contestant(
        "pyarrow by hand",
        {"chunks": stitched(_by_pyarrow)},
        "pyarrow",
        handicap="waits for the next buffer in order, in Python; its rows come in order",
    ),
    Contestant(
        "polars by hand",
        {"chunks": stitched(_by_polars)},
        "polars",
        handicap="as pyarrow by hand",
        environment=lambda threads: {"POLARS_MAX_THREADS": str(threads)},
    ),
]
