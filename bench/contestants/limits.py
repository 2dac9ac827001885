"""What nobody can be faster than: reading the memory, counting newlines, finding where fields are without reading any."""

from __future__ import annotations

import numpy as np

from bench.answers import Answer
from bench.contestant import Contestant, Declined, Prepared, Task

PIECE = 256 << 10
NEWLINE = ord("\n")


def memory_read(task: Task) -> Prepared:
    data = np.frombuffer(task.input.data, np.uint8)
    words = data[: len(data) & ~7].view(np.uint64)
    return Prepared(lambda: int(words.max()), lambda _: Answer(0))


def newline_count(task: Task) -> Prepared:
    data = np.frombuffer(task.input.data, np.uint8)
    pieces = [data[at : at + PIECE] for at in range(0, len(data), PIECE)]
    return Prepared(lambda: sum(int(np.count_nonzero(piece == NEWLINE)) for piece in pieces), Answer)


def index_only(task: Task) -> Prepared:
    """A read of no column: records are found and counted, no value is decoded."""
    import formatter as fm

    source = task.input
    if source.kind == "rows":
        raise Declined("rows of one width need no index")
    format, data = source.format(), source.data
    return Prepared(lambda: fm.read(data, format, columns=[], threads=1), lambda table: Answer(table.num_rows))


def batches(task: Task) -> Prepared:
    """fm.open over the file without Spark: batches are made and let go."""
    import formatter as fm

    source, columns = task.input, list(task.columns) or None

    def run() -> int:
        return sum(b.num_rows for b in fm.open(source.path, source.format(), columns=columns, threads=task.threads))

    return Prepared(run, Answer)


CONTESTANTS = [
    Contestant("fm.open", {"files": batches}, role="limit", handicap="no Spark: the same batches made and let go"),
    Contestant("memory read", {"table": memory_read}, role="limit", handicap="numpy's maximum of all 64-bit words"),
    Contestant(
        "newline count", {"table": newline_count}, role="limit", handicap="numpy, by pieces that stay in the cache"
    ),
    Contestant("index only", {"table": index_only}, role="limit", handicap="our own read of no column"),
]
