"""Rows that know their own number, so that loss, repeats and reordering show. In: counts. Out: batches and numbers."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa
from patience import PATIENCE_S

from formatter import flow

SCHEMA = pa.schema([("n", pa.int64()), ("text", pa.string())])


def rows(first: int, count: int) -> pa.RecordBatch:
    numbers = range(first, first + count)
    return pa.record_batch([pa.array(numbers, pa.int64()), pa.array([f"row {n}" for n in numbers])], schema=SCHEMA)


def numbers(batch: pa.RecordBatch) -> list[int]:
    return batch.column("n").to_pylist()


def flat(actions: Iterable[Any]) -> list[Any]:
    """Actions as one list: row numbers, and controls as they are."""
    out: list[Any] = []
    for action in actions:
        out.extend(numbers(action.batch) if isinstance(action, flow.Rows) else [action])
    return out


class InThread(threading.Thread):
    """Runs a call beside the test; `join` raises what the call raised."""

    def __init__(self, call: Callable[..., Any], *arguments: Any) -> None:
        super().__init__(daemon=True)
        self._call, self._arguments, self._error = call, arguments, None
        self.result: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self._call(*self._arguments)
        except BaseException as error:
            self._error = error

    def join(self, timeout: float | None = PATIENCE_S) -> None:
        super().join(timeout)
        assert not self.is_alive(), "the thread is still running"
        if self._error is not None:
            raise self._error
