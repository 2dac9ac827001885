"""Who is between taking batches from the engine and having put them into the queues.

In: calls that begin and end. Out: a wait for those that had begun. Refuses to know: what they do.
"""

from __future__ import annotations

import threading
import time
from types import TracebackType

PATIENCE_S = 1.0  # a call may bring so much that it runs for long: who waits for it goes on then


class Calls:
    """`with calls:` around each; `left()` ends it early, before a call waits for something else."""

    def __init__(self) -> None:
        self._running: dict[int, threading.Lock] = {}  # a thread's call holds its lock

    def __enter__(self) -> None:
        running = threading.Lock()
        running.acquire()
        self._running[threading.get_ident()] = running

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.left()

    def left(self) -> None:
        running = self._running.pop(threading.get_ident(), None)
        if running is not None:
            running.release()

    def wait(self) -> None:
        """For the calls that are running now, of other threads."""
        me = threading.get_ident()
        end = time.monotonic() + PATIENCE_S
        for ident, running in list(self._running.items()):
            if ident != me and running.acquire(timeout=max(0.0, end - time.monotonic())):
                running.release()
