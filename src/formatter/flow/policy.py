"""How rows become batches, and what a full bridge does. Frozen options only: no queue, no clock, no I/O.

In: plain numbers, checked when made. Out: `BatchPolicy` and the three backpressure modes, hashable and picklable.
Refuses to know: who waits, what a row is, how a spill file looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from os import PathLike, fspath

from formatter.errors import OptionError

MAX_ROWS = 65_536  # 4k to 16k rows suit Spark, 64k suits columns of 8 bytes in a 2 MB cache: the larger one is the cap
MAX_BYTES = 16 << 20  # a batch larger than this stops being cheap to move through a socket or to keep in memory
SPILL_BYTES = 1 << 30  # a spill is a shock absorber, not storage
SEGMENT_BYTES = 8 << 20  # small enough that a drained segment frees its disk space soon


def _require_positive(owner: str, name: str, value: object, *, whole: bool = True) -> None:
    kind = int if whole else Real
    if isinstance(value, bool) or not isinstance(value, kind) or not value > 0:  # type: ignore[operator]
        wanted = "a whole number" if whole else "a number"
        raise OptionError(f"{owner}: {name}: expected {wanted} above 0, found {value!r}")


@dataclass(frozen=True, slots=True)
class BatchPolicy:
    """When pending rows leave as one batch: whichever bound is met first. Checkpoint and end always flush.

    Args:
        max_rows: Rows of a batch.
        max_bytes: Bytes of a batch.
        max_latency_ms: How long rows may wait. None: no deadline.
        flush_on_watermark: Whether a watermark lets the rows in front of it leave.

    Raises:
        OptionError: A bound out of its range.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> policy = fm.BatchPolicy(max_rows=2, max_latency_ms=None)
        >>> stream = fm.Stream(fm.Csv(pa.schema([("id", pa.int64())])), batch=policy)
        >>> [batch.num_rows for batch in stream.push(b"1\\n2\\n3\\n", sequence=1) + stream.finish()]
        [2, 1]
    """

    max_rows: int = MAX_ROWS
    max_bytes: int = MAX_BYTES
    max_latency_ms: float | None = 10  # None: no deadline
    flush_on_watermark: bool = True

    def __post_init__(self) -> None:
        _require_positive("BatchPolicy", "max_rows", self.max_rows)
        _require_positive("BatchPolicy", "max_bytes", self.max_bytes)
        if self.max_latency_ms is not None:
            latency = self.max_latency_ms
            if isinstance(latency, bool) or not isinstance(latency, Real) or not 0 <= latency < float("inf"):
                raise OptionError(
                    f"BatchPolicy: max_latency_ms: expected a number from 0, or None for no deadline, found {latency!r}"
                )
        if not isinstance(self.flush_on_watermark, bool):
            raise OptionError(f"BatchPolicy: flush_on_watermark: expected a bool, found {self.flush_on_watermark!r}")


@dataclass(frozen=True, slots=True)
class Pause:
    """A full bridge makes its producer wait.

    Args:
        timeout: Seconds after which `BackpressureError` is raised (0: at once). None: waits.
        high: The share of the capacity at which a bridge is full.
        low: The share at which a producer that had to wait is woken: for a run of sends, not for each.

    Raises:
        OptionError: A number out of its range.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> bridge = fm.Bridge(pa.schema([("id", pa.int64())]), capacity=1, backpressure=fm.Pause(timeout=0))
        >>> batch = pa.record_batch({"id": pa.array([1])})
        >>> bridge.producer.send(batch)
        True
        >>> try:
        ...     bridge.producer.send(batch)
        ... except fm.BackpressureError:
        ...     print("full; nothing was taken")
        full; nothing was taken
    """

    timeout: float | None = None
    high: float = 1.0
    low: float = 0.5

    def __post_init__(self) -> None:
        if self.timeout is not None and (isinstance(self.timeout, bool) or not self.timeout >= 0):
            raise OptionError(f"Pause: timeout: expected seconds from 0, or None to wait, found {self.timeout!r}")
        if not 0 <= self.low <= self.high <= 1 or self.high == 0:
            raise OptionError(
                f"Pause: expected 0 <= low <= high <= 1 and high above 0, found low={self.low!r}, high={self.high!r}"
            )


@dataclass(frozen=True, slots=True)
class DropNewest:
    """A full bridge refuses the batch being sent and counts its rows as dropped. Control messages are never dropped.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> bridge = fm.Bridge(pa.schema([("id", pa.int64())]), capacity=1, backpressure=fm.DropNewest())
        >>> [bridge.producer.send(pa.record_batch({"id": pa.array([n])})) for n in (1, 2)], bridge.stats.dropped
        ([True, False], 1)
    """


@dataclass(frozen=True, slots=True)
class SpillToDisk:
    """A full bridge continues on disk, in order, until the consumer has caught up.

    Args:
        directory: Where; what a crashed run left there is found again.
        max_bytes: How much disk it may use.
        segment_bytes: How much of it a file holds.
        timeout: At `max_bytes`: seconds to wait for the consumer; 0 raises at once, None waits.

    Raises:
        OptionError: A number out of its range.

    Example:
        >>> import tempfile, formatter as fm, pyarrow as pa
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     bridge = fm.Bridge(pa.schema([("id", pa.int64())]), capacity=1, backpressure=fm.SpillToDisk(folder))
        ...     with bridge.producer as producer:
        ...         _ = [producer.send(pa.record_batch({"id": pa.array([n])})) for n in range(5)]
        ...     sum(rows.num_rows for rows in bridge.consumer)
        5
    """

    directory: str
    max_bytes: int = SPILL_BYTES
    segment_bytes: int = SEGMENT_BYTES
    timeout: float | None = 0.0  # at `max_bytes`: seconds to wait for the consumer; 0 raises at once, None waits

    def __init__(
        self,
        directory: str | PathLike[str],
        max_bytes: int = SPILL_BYTES,
        segment_bytes: int = SEGMENT_BYTES,
        timeout: float | None = 0.0,
    ) -> None:
        _require_positive("SpillToDisk", "max_bytes", max_bytes)
        _require_positive("SpillToDisk", "segment_bytes", segment_bytes)
        if timeout is not None and (isinstance(timeout, bool) or not timeout >= 0):
            raise OptionError(f"SpillToDisk: timeout: expected seconds from 0, or None to wait, found {timeout!r}")
        for name, value in (
            ("directory", fspath(directory)),
            ("max_bytes", max_bytes),
            ("segment_bytes", segment_bytes),
            ("timeout", timeout),
        ):
            object.__setattr__(self, name, value)


Backpressure = Pause | DropNewest | SpillToDisk
