"""What a shared stream and its subscriptions count. In: numbers. Out: frozen records of them. Refuses to know: who counts."""

from __future__ import annotations

from dataclasses import dataclass

from formatter.stream import StreamStats


@dataclass(frozen=True, slots=True)
class SharedStreamStats(StreamStats):
    """Counts since the start: those of `fm.StreamStats`, and of its subscriptions.

    Attributes:
        consumers: Subscriptions now.
        projection_version: Of what is decoded now.
        discarded_buffers: That came while nobody was subscribed.
        discarded_bytes: Of them.
        discarded_rows: Of them.
        dropped_batches: By the queues of those subscribed now.
        dropped_rows: Of them.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> shared = fm.SharedStream(fm.Csv(pa.schema([("id", pa.int64())])))
        >>> _ = shared.push(b"1\\n", sequence=1)
        >>> shared.stats.consumers, shared.stats.discarded_rows
        (0, 1)
    """

    consumers: int = 0
    projection_version: int = 0
    discarded_buffers: int = 0
    discarded_bytes: int = 0
    discarded_rows: int = 0
    dropped_batches: int = 0
    dropped_rows: int = 0


@dataclass(frozen=True, slots=True)
class SubscriptionStats:
    """Counts since subscribing.

    Attributes:
        lag: Batches in the queue.
        lag_rows: Their rows.
        delivered: Batches put into the queue.
        delivered_rows: Their rows.
        dropped: Batches that found it full.
        dropped_rows: Their rows.
        taken: Batches read.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> shared = fm.SharedStream(fm.Csv(pa.schema([("id", pa.int64())])))
        >>> lease = shared.subscribe()
        >>> _ = shared.push(b"1\\n2\\n", sequence=1), shared.flush()
        >>> lease.stats.lag, lease.stats.lag_rows
        (1, 2)
    """

    lag: int
    lag_rows: int
    delivered: int
    delivered_rows: int
    dropped: int
    dropped_rows: int
    taken: int
