"""Records whose every value says where it belongs, and threads that may not hang.

In: ids. Out: CSV bytes, rows, thread results. Refuses to know: subscriptions.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
from patience import PATIENCE_S

import formatter as fm

NAMES = ("id", "a", "b", "c", "d", "e")
SCHEMA = pa.schema([("id", pa.int64()), ("a", pa.int64()), ("b", pa.string()), ("c", pa.float64()), ("d", pa.int32()),
                    ("e", pa.string())])  # fmt: skip


def record(i: int) -> dict[str, Any]:
    return {"id": i, "a": i * 3, "b": f"b{i}", "c": i / 2, "d": i % 1000, "e": f"e{i % 7}"}


def lines(ids: Iterable[int]) -> bytes:
    return b"".join(",".join(str(v) for v in record(i).values()).encode() + b"\n" for i in ids)


def expected(ids: Iterable[int], columns: Iterable[str]) -> list[dict[str, Any]]:
    columns = set(columns)
    return [{name: v if name in columns else None for name, v in record(i).items()} for i in ids]


def rows(batches: Iterable[fm.Batch]) -> list[dict[str, Any]]:
    return [row for batch in batches for row in batch.data.to_pylist()]


def waiting(subscription: fm.Subscription) -> list[fm.Batch]:
    """What is in the queue now."""
    return list(iter(subscription.poll, None))


def covered(batches: Iterable[fm.Batch]) -> list[int]:
    return sorted(s for batch in batches for first, last in batch.spans for s in range(first, last + 1))


class Threads:
    """Started at once, joined within bounds; the first failure is raised."""

    def __init__(self, *work: Callable[[], object]) -> None:
        self.failures: list[BaseException] = []
        self.threads = [threading.Thread(target=self._guarded, args=(each,), daemon=True) for each in work]
        for thread in self.threads:
            thread.start()

    def _guarded(self, work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            self.failures.append(error)

    def join(self, seconds: float = PATIENCE_S) -> None:
        for thread in self.threads:
            thread.join(seconds)
            assert not thread.is_alive(), "it hangs"
        if self.failures:
            raise self.failures[0]
