"""What a full bridge does. Frozen options only: no queue, no clock, no I/O.

In: plain numbers, checked when made. Out: the three backpressure modes, hashable and picklable.
Refuses to know: who waits, what a row is, how a spill file looks.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike, fspath

from formatter.batch_policy import check_timeout, require_positive
from formatter.errors import OptionError

SPILL_BYTES = 1 << 30  # a spill is a shock absorber, not storage
SEGMENT_BYTES = 8 << 20  # small enough that a drained segment frees its disk space soon


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
        check_timeout("Pause", self.timeout)
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
        require_positive("SpillToDisk", "max_bytes", max_bytes)
        require_positive("SpillToDisk", "segment_bytes", segment_bytes)
        check_timeout("SpillToDisk", timeout)
        if not isinstance(directory, str | PathLike):
            raise OptionError(f"SpillToDisk: directory: expected a path, found {directory!r}")
        for name, value in (
            ("directory", fspath(directory)),
            ("max_bytes", max_bytes),
            ("segment_bytes", segment_bytes),
            ("timeout", timeout),
        ):
            object.__setattr__(self, name, value)


Backpressure = Pause | DropNewest | SpillToDisk
