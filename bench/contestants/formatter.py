"""Ours, on whole inputs: tables, filters, records one a value, growth, where the memory of results comes from."""

from __future__ import annotations

import ctypes
import dataclasses
import io
from functools import partial
from typing import Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Contestant, Prepared, Task

PR_SET_THP_DISABLE = 41
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
SMALLEST_MAPPED = 64 << 10


def table(task: Task) -> Prepared:
    import formatter as fm

    source, format = task.input, task.input.format()
    if task.options.get("validate"):
        format = fm.Json(source.schema, validate=task.options["validate"])
    if "unmatched" in task.options:
        format = dataclasses.replace(format, unmatched=task.options["unmatched"])
    wanted: dict[str, Any] = {"columns": list(task.columns) or None, "threads": task.threads}
    if filters := task.options.get("filters"):
        wanted["filters"] = [tuple(clause) for clause in filters]
    if path := task.options.get("path"):
        return Prepared(lambda: fm.read(path, format, **wanted))
    data = source.data
    return Prepared(lambda: fm.read(data, format, **wanted))


def records(task: Task) -> Prepared:
    """One record a value, as in a column of payloads."""
    import formatter as fm

    format = task.input.format()
    payloads = pa.array(task.input.data.splitlines(), pa.binary())
    columns = list(task.columns) or None
    return Prepared(
        lambda: fm.parse_records(payloads, format, columns=columns),
        lambda batch: answer_of(pa.Table.from_batches([batch])),
    )


class RepeatedBlock(io.RawIOBase):
    """`block`, again and again, `times` times: an input of any size that never holds more than the block."""

    def __init__(self, block: bytes, times: int) -> None:
        self._block = memoryview(block)
        self._left = len(block) * times
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        count = min(len(target), self._left, len(self._block) - self._at)
        target[:count] = self._block[self._at : self._at + count]
        self._left -= count
        self._at = (self._at + count) % len(self._block)
        return count


def growth(task: Task) -> Prepared:
    import formatter as fm

    block, format, times = task.input.data, task.input.format(), int(task.options["times"])

    def rows(times: int) -> int:
        with fm.open(RepeatedBlock(block, times), format, threads=task.threads) as reader:
            return sum(batch.num_rows for batch in reader)

    rows(1)  # first pages: what grows is measured from here
    return Prepared(partial(rows, times), Answer)


def memory(task: Task) -> Prepared:
    """fresh: the pool is emptied before each read; mapped: the C library keeps no memory; small: no huge pages."""
    import formatter as fm
    from formatter import _core

    way, held = task.options["way"], []
    library = ctypes.CDLL(None)
    if "mapped" in way:
        library.mallopt(M_MMAP_THRESHOLD, SMALLEST_MAPPED)
        library.mallopt(M_TRIM_THRESHOLD, SMALLEST_MAPPED)
    if "small" in way:
        library.prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
    data, format = task.input.data, task.input.format()

    def read() -> pa.Table:
        if "fresh" in way:
            _core.pool_trim()
        found = fm.read(data, format, threads=1)
        if "keep" in way:
            held.append(found)
        return found

    return Prepared(read, finish=held.clear)


CONTESTANTS = [
    Contestant(
        "formatter",
        {"table": table, "records": records, "growth": growth, "memory": memory},
        role="ours",
    )
]
