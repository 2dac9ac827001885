"""Batches on their way from the engine into queues, each to the consumers its projection was made for.

In: finished batches, from any thread. Out: full and failed queues, the end once everything has been delivered. Refuses
to know: subscriptions, plans, why batches left.
"""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable
from typing import Any

from formatter.batch import Batch
from formatter.buffer_arguments import Origin
from formatter.shared.consumer import Consumer, Put


class Delivery:
    """`origin_of`: the name of an engine's origin. `failed`: told of consumers whose queues gave up. `lost`: that somebody
    has not got what was his, for want of memory. `at_end`: called when the last batch has been dealt with, perhaps more than
    once."""

    def __init__(
        self,
        ordered: bool,
        origin_of: Callable[[int], Origin],
        failed: Callable[[Consumer], None],
        lost: Callable[[], None],
        at_end: Callable[[], None],
    ) -> None:
        self._ordered = ordered
        self._origin_of = origin_of
        self._failed = failed
        self._lost = lost
        self._at_end = at_end
        self.renew_locks()  # the first is never held while waiting for room
        self._waiting = 0
        self._early: list[tuple[int, Any]] = []  # ordered: batches of calls that overtook another one
        self._early_done: set[int] = set()  # not ordered: their numbers
        self._end_at: int | None = None  # so many batches there are, and no more
        self.done = 0  # every batch of a smaller number has been dealt with
        self.discarded_rows = 0  # that nobody was there for

    def renew_locks(self) -> None:
        self._lock, self._counting = threading.Lock(), threading.Lock()
        self._moved = threading.Condition(self._lock)

    def deliver(self, finished: list[Any]) -> tuple[list[Batch], list[Consumer]]:
        """Returns the batches, and the consumers that hold the call back."""
        try:
            return self._deliver(finished)
        except MemoryError:
            self._lost()
            raise

    def _deliver(self, finished: list[Any]) -> tuple[list[Batch], list[Consumer]]:
        batches: list[Batch] = []
        full: list[Consumer] = []
        failures: list[Exception] = []

        def put(one: Any) -> None:
            try:
                self._put(one, batches, full)
            except Exception as error:  # a batch that cannot be made what the schema asks for: the others can
                failures.append(error)

        if self._ordered:
            with self._lock:
                for one in finished:
                    heapq.heappush(self._early, (one[3], one))
                while self._early and self._early[0][0] == self.done:
                    self.done += 1
                    put(heapq.heappop(self._early)[1])
        else:
            for one in finished:
                put(one)
            with self._lock:
                self._early_done.update(one[3] for one in finished)
                while self.done in self._early_done:
                    self._early_done.remove(self.done)
                    self.done += 1
        if self._waiting:
            with self._lock:
                self._moved.notify_all()
        self._end_if_done()
        if failures:
            raise failures[0]
        return batches, full

    def wait(self, count: int, seconds: float) -> None:
        """Until `count` batches have been dealt with, so long at most."""
        with self._lock:
            self._waiting += 1
            self._moved.wait_for(lambda: self.done >= count, seconds)
            self._waiting -= 1

    def end_at(self, count: int) -> None:
        """Nothing comes behind `count` batches. Calls that still deliver come first: the last one announces the end."""
        with self._lock:
            self._end_at = count
        self._end_if_done()

    @property
    def ended(self) -> bool:
        return self._end_at is not None and self.done >= self._end_at

    def _end_if_done(self) -> None:
        if self.ended:
            self._at_end()

    def _put(self, one: Any, batches: list[Batch], full: list[Consumer]) -> None:
        origin_id, spans, capsule, number, projection = one
        if projection.demand.idle:
            self._discard(projection.decode.plan.batch(capsule).num_rows)
            return
        whole, groups = projection.batches(capsule, self._origin_of(origin_id), spans, number)
        batches.append(whole)
        taken = bool(projection.chosen)
        for batch, consumers in groups:
            for consumer in consumers:
                became = consumer.put(batch)
                taken |= became is not Put.REFUSED
                if became is Put.FULL:
                    full.append(consumer)
                elif became is Put.FAILED:
                    self._failed(consumer)
        if not taken:  # all have left meanwhile
            self._discard(whole.num_rows)

    def _discard(self, rows: int) -> None:
        with self._counting:
            self.discarded_rows += rows
