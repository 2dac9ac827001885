"""How rows become batches. In: plain numbers, checked when made. Out: `BatchPolicy`, hashable and picklable.

Refuses to know: streams, bridges, clocks, what a row is.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

from formatter.errors import OptionError
from formatter.mistaken_arguments import named_options

MAX_ROWS = 65_536  # 4k to 16k rows suit Spark, 64k suits columns of 8 bytes in a 2 MB cache: the larger one is the cap
MAX_BYTES = 16 << 20  # a batch larger than this stops being cheap to move through a socket or to keep in memory


def require_positive(owner: str, name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        raise OptionError(f"{owner}: {name}: expected a whole number above 0, found {value!r}")


def check_timeout(owner: str, value: object) -> None:
    if value is not None and (isinstance(value, bool) or not isinstance(value, Real) or not value >= 0):  # type: ignore[operator]
        raise OptionError(f"{owner}: timeout: expected seconds from 0, or None to wait, found {value!r}")


@named_options
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
        require_positive("BatchPolicy", "max_rows", self.max_rows)
        require_positive("BatchPolicy", "max_bytes", self.max_bytes)
        if self.max_latency_ms is not None:
            latency = self.max_latency_ms
            if isinstance(latency, bool) or not isinstance(latency, Real) or not 0 <= latency < float("inf"):
                raise OptionError(
                    f"BatchPolicy: max_latency_ms: expected a number from 0, or None for no deadline, found {latency!r}"
                )
        if not isinstance(self.flush_on_watermark, bool):
            raise OptionError(f"BatchPolicy: flush_on_watermark: expected a bool, found {self.flush_on_watermark!r}")
