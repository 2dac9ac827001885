"""Where a cluster keeps what a task is to read: the hosts that Spark had better run it on.

In: a session with a JVM, and groups of file parts. Out: for each group up to three hosts, those with most of its bytes first, as
Spark prefers them for its own readers. Storages that know of no hosts are not asked, nor is anybody for parts so small that asking
takes as long as fetching them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, Protocol

from pyspark.sql import SparkSession

HOSTED = ("hdfs", "viewfs", "webhdfs", "swebhdfs")  # schemes of storages whose blocks lie on hosts that may run tasks
WORTH_ASKING_BYTES = 4 << 20
MOST_HOSTS = 3


class PartOfFile(Protocol):
    """Of read_task.FilePart what is asked here."""

    @property
    def path(self) -> str: ...
    @property
    def size(self) -> int: ...
    @property
    def begin(self) -> int: ...


def hosts_of(spark: SparkSession, groups: Iterable[Sequence[PartOfFile]]) -> list[list[str]]:
    """None for a group of which nothing is known."""
    return [_preferred(spark, group) for group in groups]


def _preferred(spark: SparkSession, group: Sequence[PartOfFile]) -> list[str]:
    held: Counter[str] = Counter()
    for part in group:
        if part.size >= WORTH_ASKING_BYTES and part.path.partition("://")[0] in HOSTED:
            with suppress(
                Exception
            ):  # the JVM's: a storage that it does not know, a file that has gone; the task will tell
                held.update(_held(spark, part))
    return [host for host, _ in held.most_common(MOST_HOSTS)]


def _held(spark: SparkSession, part: PartOfFile) -> Counter[str]:
    context: Any = spark.sparkContext
    path = context._jvm.org.apache.hadoop.fs.Path(part.path)
    blocks = path.getFileSystem(context._jsc.hadoopConfiguration()).getFileBlockLocations(path, part.begin, part.size)
    end, held = part.begin + part.size, Counter[str]()
    for block in blocks:
        here = min(end, block.getOffset() + block.getLength()) - max(part.begin, block.getOffset())
        held.update({host: max(0, here) for host in block.getHosts() if host != "localhost"})
    return held
