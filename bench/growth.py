"""Does cost grow linearly, and does memory stay put? Inputs of any size, made on the fly from one block.

In: a block of records and a total size. Out: a file object that never holds more than the block; a reading of it.
Refuses to know: timing, checking.
"""

from __future__ import annotations

import io
from pathlib import Path

from bench.workloads import Workload


class RepeatedBlock(io.RawIOBase):
    """`block`, again and again, `times` times."""

    def __init__(self, block: bytes, times: int) -> None:
        self._block = memoryview(block)
        self._left = len(block) * times
        self._at = 0

    def readable(self) -> bool:
        return True

    def readinto(self, target: memoryview) -> int:  # type: ignore[override]
        count = min(len(target), self._left, len(self._block) - self._at)
        target[:count] = self._block[self._at : self._at + count]
        self._left -= count
        self._at = (self._at + count) % len(self._block)
        return count


def rows_through_open(workload: Workload, block: bytes, times: int) -> int:
    import formatter as fm

    with fm.open(RepeatedBlock(block, times), fm.Csv(workload.schema), threads=1) as reader:
        return sum(batch.num_rows for batch in reader)


def forget_peak() -> float:
    """Starts the kernel's count of peak memory again; returns what is resident now, in MB."""
    Path("/proc/self/clear_refs").write_text("5")
    return peak_mb()


def peak_mb() -> float:
    """The most memory this process had in RAM since forget_peak()."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    raise SystemExit("bench: /proc/self/status does not tell the peak memory (VmHWM)")
