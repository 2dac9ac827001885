"""Open batches leave in time although nobody pushes: whoever waits for a batch looks after the clock.

In: a consumer that wants its next batch. Out: that, or nothing in time. Refuses to know: what is open, where it goes.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from formatter.shared.consumer import LOOK_AROUND_S, Consumer

LEAST_WAIT_S = 0.001


class Deadlines:
    """`latency_ms`: how long a batch may stay open; None: as long as it likes. `leave`: lets those go whose time is over."""

    def __init__(self, latency_ms: float | None, leave: Callable[[], None]) -> None:
        self._latency_s = None if latency_ms is None else max(latency_ms / 1e3, LEAST_WAIT_S)
        self._leave = leave
        self.renew_locks()

    def renew_locks(self) -> None:
        self._clock = threading.Lock()  # held by the waiting consumer that looks after deadlines

    def next_of(self, consumer: Consumer, timeout: float | None) -> Any:
        """Its next batch, END, or None in time."""
        batch = consumer.take(0)
        if batch is not None or timeout == 0:
            return batch
        if self._latency_s is None:
            while True:
                batch = consumer.take(timeout)
                if batch is not None or timeout is not None:
                    return batch
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            keeps_time = self._clock.acquire(blocking=False)  # one of those that wait is enough
            step = self._latency_s if keeps_time else max(self._latency_s, LOOK_AROUND_S)
            if deadline is not None:
                step = min(step, deadline - time.monotonic())
            try:
                batch = consumer.take(max(step, 0))
                if batch is not None or step <= 0:
                    return batch
                if keeps_time:
                    self._leave()
            finally:
                if keeps_time:
                    self._clock.release()
