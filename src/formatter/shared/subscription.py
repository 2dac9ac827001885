"""The lease a user holds: read it, look at it, close it. Losing it closes it too.

In: a consumer's queue. Out: batches. Refuses to know: what is decoded for others.
"""

from __future__ import annotations

import weakref
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from formatter.batch import Batch
from formatter.shared.consumer import END, Consumer
from formatter.shared.stats import SubscriptionStats
from formatter.uncopied import Uncopied

if TYPE_CHECKING:
    from formatter.shared.stream import SharedStream


class Subscription(Uncopied):
    """A lease on columns of a shared stream, made by `fm.SharedStream.subscribe`.

    Iterate it, in as many threads as you like; every batch goes to one of them. Close it, or use it in a `with`.

    Args:
        shared: The stream.
        consumer: Its queue.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> shared = fm.SharedStream(fm.Csv(pa.schema([("id", pa.int64()), ("city", pa.string())])))
        >>> with shared.subscribe(["id"], filters=[("city", "==", "Oslo")]) as lease:
        ...     _ = shared.push(b"1,Oslo\\n2,Rome\\n", sequence=1), shared.flush()
        ...     lease.poll().column("id").to_pylist()
        [1]
    """

    _instead = "several threads may read it, and others subscribe themselves"

    def __init__(self, shared: SharedStream, consumer: Consumer) -> None:
        self._shared = shared
        self._consumer = consumer
        self._lost = weakref.finalize(self, _orphan, weakref.ref(consumer), shared._orphans)
        self._lost.atexit = False

    # ------------------------------------------------------------------------------------------------------ reading

    def __iter__(self) -> Subscription:
        return self

    def __next__(self) -> Batch:
        batch = self._shared._next(self._consumer, None)
        if batch is END:
            raise StopIteration
        taken: Batch = batch
        return taken

    def poll(self, timeout: float = 0.0) -> Batch | None:
        """The next batch, or None if none came within `timeout` seconds, or none will come any more."""
        batch = self._shared._next(self._consumer, timeout)
        return None if batch is END else batch

    # ------------------------------------------------------------------------------------------------------ leaving

    def close(self) -> None:
        """Leave: on return nothing more comes and its columns are no longer decoded for it. Again: nothing happens.

        What was delivered before can still be read.
        """
        self._lost.detach()
        self._shared._leave(self._consumer)

    def __enter__(self) -> Subscription:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # ------------------------------------------------------------------------------------------------------ looking

    @property
    def name(self) -> str:
        """What it is called in plans and errors."""
        return self._consumer.name

    @property
    def columns(self) -> tuple[str, ...]:
        """What it asked for, in the schema's order: its view of the schema."""
        return self._consumer.required

    @property
    def schema(self) -> pa.Schema:
        """Of its view: the columns it asked for, whole ones."""
        return self._shared._view(self._consumer)

    @property
    def views(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Of every subscription of the stream: its name and the columns it asked for."""
        return self._shared.views

    @property
    def filters(self) -> list[Any]:
        """As an OR of ANDs; empty: every row."""
        return [list(conjunction) for conjunction in self._consumer.rows.clauses]

    @property
    def queue(self) -> int:
        """Batches that may wait."""
        return self._consumer.capacity

    @property
    def overflow(self) -> str:
        """What a batch does that finds the queue full."""
        return self._consumer.overflow

    @property
    def effective_version(self) -> int:
        """The first projection version that covers it: no batch of an older one is delivered to it."""
        return self._consumer.version

    @property
    def lag(self) -> int:
        """Batches in the queue."""
        return self._consumer.lag

    @property
    def dropped(self) -> int:
        """Batches that found the queue full."""
        return self._consumer.dropped

    @property
    def dropped_rows(self) -> int:
        """Rows of batches that found the queue full."""
        return self._consumer.dropped_rows

    @property
    def closed(self) -> bool:
        """Whether nothing more comes."""
        return self._consumer.closed

    @property
    def stats(self) -> SubscriptionStats:
        """Counts since subscribing."""
        c = self._consumer
        return SubscriptionStats(
            c.lag, c.lag_rows, c.delivered, c.delivered_rows, c.dropped, c.dropped_rows, c.taken
        )  # fmt: skip

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"lag={self.lag}"
        return f"<Subscription {self.name!r} columns={list(self.columns)} {state}>"


def _orphan(known: weakref.ref[Consumer], orphans: Any) -> None:
    """Runs wherever garbage is collected, perhaps inside a lock of ours: only marks. The next call does the rest.

    A consumer may hold an error, whose frames hold the lease: were it held here, the lease would never be lost.
    """
    consumer = known()
    if consumer is not None:
        consumer.orphaned = True
        orphans.append(consumer)
