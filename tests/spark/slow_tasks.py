"""What makes one attempt of a task slow, for speculation_query.py; imported by executors, too.

In: files or batches. Out: the same, late, if this is the first attempt of the task with number 1: its copy is through long
before, and the slow attempt goes on until it is killed.
"""

from __future__ import annotations

import time

from fsspec.implementations.local import LocalFileSystem

SLOW_SECONDS = 600.0


def linger() -> None:
    from pyspark import TaskContext

    context = TaskContext.get()
    if context is not None and context.attemptNumber() == 0 and context.partitionId() == 1:
        time.sleep(SLOW_SECONDS)


class SlowFiles(LocalFileSystem):
    protocol = "slowfile"

    def _open(self, path, mode="rb", block_size=None, **kwargs):
        linger()
        return super()._open(path, mode, block_size, **kwargs)


def slowly(batches):
    """Passes batches on; a slow attempt has given half of one by the time it begins to linger."""
    for batch in batches:
        half = batch.num_rows // 2
        yield batch.slice(0, half)
        linger()
        yield batch.slice(half)
