"""One consumer's side of a shared stream: what it needs, its queue, what became of its batches.

In: batches, from any thread. Out: the same in order, to any thread. Refuses to know: decoding, other consumers, the
lease that the user holds (so that losing that lease can be noticed).

A batch is always put at once, so that no consumer waits for another one. With overflow="wait" the call that brought it
waits afterwards, until the queue is within its capacity again.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from enum import Enum
from typing import Any

from formatter.batch import Batch
from formatter.errors import BackpressureError, FlowError, OptionError
from formatter.shared.needs import Needs
from formatter.shared.row_filters import RowFilter

OVERFLOW = ("wait", "drop", "fail")
LOOK_AROUND_S = 0.05  # how soon a waiting call notices a consumer that nobody could announce the end of
GRACE_S = 1.0  # a consumer whose threads have all ended may still be taken over by another one
END = object()


class Put(Enum):
    """What became of a batch."""

    TAKEN = 0
    FULL = 1  # taken; the caller is to wait for room
    DROPPED = 2
    REFUSED = 3  # the consumer is gone
    FAILED = 4  # the queue was full: the consumer is now gone


class Consumer:
    def __init__(
        self, name: str, needs: Needs, required: tuple[str, ...], rows: RowFilter, capacity: int, overflow: str
    ) -> None:
        self.name = name
        self.needs = needs  # those of its filters too
        self.required = required  # as it was asked for
        self.rows = rows  # which of them it wants
        self.capacity = capacity
        self.overflow = overflow
        self.version = 0  # of the first projection that covers it
        self.orphaned = False  # its lease was lost; set where no lock may be taken
        self.delivered = self.delivered_rows = 0  # put into the queue
        self.dropped = self.dropped_rows = 0
        self.taken = 0  # by whoever reads
        self.renew_locks()
        self._items: deque[Batch] = deque()
        self._sleeping = 0
        self._closed = self._ended = False
        self._error: BaseException | None = None
        self._maker = weakref.ref(threading.current_thread())
        self._readers: dict[int | None, weakref.ref[threading.Thread]] = {}

    def renew_locks(self) -> None:
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        self._room = threading.Condition(self._lock)

    # ------------------------------------------------------------------------------------------- the stream's side

    def put(self, batch: Batch) -> Put:
        with self._lock:
            if self._closed or self._ended:
                return Put.REFUSED
            waiting = len(self._items)
            if waiting >= self.capacity and self.overflow != "wait":
                self.dropped += 1
                self.dropped_rows += batch.num_rows
                if self.overflow == "drop":
                    return Put.DROPPED
                self._closed = True
                self._error = BackpressureError(
                    f"subscription {self.name!r}: {waiting} batches wait, its queue's capacity, and overflow='fail'; "
                    "read faster, make the queue larger, or choose overflow='wait' or 'drop'"
                )
                self._arrived.notify_all()
                return Put.FAILED
            self._items.append(batch)
            self.delivered += 1
            self.delivered_rows += batch.num_rows
            if self._sleeping:
                self._arrived.notify()
            return Put.FULL if waiting >= self.capacity else Put.TAKEN

    def wait_for_room(self) -> bool:
        """False: everybody who read it is gone, and nobody else came."""
        patience = GRACE_S
        with self._lock:
            while len(self._items) > self.capacity and not self._closed and not self.orphaned:
                if self._room.wait(LOOK_AROUND_S):
                    patience = GRACE_S
                elif self._is_abandoned() or self._waits_for_itself():
                    patience -= LOOK_AROUND_S
                    if patience <= 0 and self._waits_for_itself():
                        raise FlowError(
                            f"subscription {self.name!r}: its queue is full, and this thread is the one that reads it: "
                            "it would wait for itself (its buffers were taken); read in another thread, or make the "
                            "queue larger"
                        )
                    if patience <= 0:
                        return False
        return True

    def _waits_for_itself(self) -> bool:
        readers = [known() for known in self._readers.values()]
        return threading.active_count() == 1 or readers == [threading.current_thread()]

    def _is_abandoned(self) -> bool:
        threads = [known() for known in self._readers.values()] or [self._maker()]
        return not any(thread is not None and thread.is_alive() for thread in threads)

    def end(self) -> None:
        """Nothing will be added: who has read everything has reached the end."""
        with self._lock:
            self._ended = True
            self._arrived.notify_all()

    def close(self, error: BaseException | None = None) -> None:
        """Nothing will be added, and nobody waits for it any more. What is there can still be read."""
        with self._lock:
            self._closed = True
            if error is not None and self._error is None:
                self._error = error
            self._arrived.notify_all()
            self._room.notify_all()

    # ----------------------------------------------------------------------------------------- the consumer's side

    def take(self, timeout: float | None) -> Any:
        """A batch, END, or None: none came in time, or another thread was quicker."""
        with self._lock:
            me = threading.current_thread()
            known = self._readers.get(me.ident)
            if known is None or known() is not me:  # numbers of threads that ended come back
                self._note_reader(me)
            if not self._items and not (self._closed or self._ended) and (timeout is None or timeout > 0):
                self._sleeping += 1
                try:
                    self._arrived.wait(timeout)
                finally:
                    self._sleeping -= 1
            if self._items:
                batch = self._items.popleft()
                self.taken += 1
                if len(self._items) == self.capacity:
                    self._room.notify_all()
                return batch
            if self._error is not None:
                raise self._error
            return END if self._closed or self._ended else None

    def _note_reader(self, me: threading.Thread) -> None:
        gone = [ident for ident, known in self._readers.items() if (t := known()) is None or not t.is_alive()]
        for ident in gone:
            del self._readers[ident]
        self._readers[me.ident] = weakref.ref(me)

    @property
    def closed(self) -> bool:
        return self._closed

    @property
    def ended(self) -> bool:
        return self._ended

    @property
    def error(self) -> BaseException | None:
        return self._error

    @property
    def lag(self) -> int:
        """Batches in the queue; those that calls hold back meanwhile are not counted."""
        return min(len(self._items), self.capacity)

    @property
    def lag_rows(self) -> int:
        with self._lock:
            return sum(batch.num_rows for batch in self._items)


def check_queue(name: object, queue: object, overflow: object) -> None:
    if isinstance(queue, bool) or not isinstance(queue, int) or queue < 1:
        raise OptionError(f"subscribe: queue: expected a whole number of batches from 1, found {queue!r}")
    if overflow not in OVERFLOW:
        raise OptionError(f"subscribe: overflow: expected one of {', '.join(OVERFLOW)}, found {overflow!r}")
    if name is not None and (not isinstance(name, str) or not name):
        raise OptionError(f"subscribe: name: expected a str that is not empty, found {name!r}")


def abandoned(name: str) -> FlowError:
    return FlowError(
        f"subscription {name!r}: the threads that read it ended without closing it while calls waited for room; it was "
        "closed for them"
    )
