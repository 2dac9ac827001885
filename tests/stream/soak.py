"""Random schedules for as long as wanted: `python tests/stream/soak.py [seconds] [seed]`, 600 seconds by default.

In: a time and a seed. Out: how many runs agreed, or the first that did not, with its seed; and what the process has grown by since
its first fifth: memory by more than 1%, or a thread or descriptor more, is an error. Refuses to know: speed.
"""

from __future__ import annotations

import ctypes
import gc
import os
import random
import statistics
import sys
import time
import warnings
from pathlib import Path

import pyarrow as pa

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from oracle.stream_inputs import DIALECTS, random_input  # noqa: E402
from oracle.stream_runs import departure, pieces_at, pieces_of, shuffled, streamed, whole_read  # noqa: E402
from test_threads import FORMATS, drive, input_for  # noqa: E402

import formatter as fm  # noqa: E402
from formatter import _core  # noqa: E402

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])


def one_thread(seed: int) -> str | None:
    chance = random.Random(seed)
    name = chance.choice(list(DIALECTS))
    data, format = random_input(chance, DIALECTS[name]), fm.Csv(SCHEMA, **DIALECTS[name])
    on_error = chance.choice(["raise", "null", "skip", "collect"])
    try:
        whole = whole_read(data, format, on_error)
    except fm.SchemaError:
        return None
    cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(12)))
    pieces = (
        pieces_at(data, cuts) if chance.random() < 0.5 else pieces_of(data, chance.choice([1, 2, 3, 7, 63, 64, 65]))
    )
    order = shuffled(len(pieces), seed, chance.choice([None, 3, 64]))
    many, ordered = chance.choice([None, 1, 3, 100]), chance.random() < 0.3
    policy = fm.BatchPolicy(max_rows=chance.choice([1, 3, 1000]))
    return departure(
        streamed(pieces, format, order, on_error, many=many, ordered=ordered, batch=policy), whole, len(pieces)
    )


def many_threads(seed: int) -> None:
    chance = random.Random(seed)
    format = FORMATS[chance.choice(list(FORMATS))]
    pieces = pieces_of(input_for(format, chance.randrange(1, 3000), seed), chance.choice([3, 7, 64, 500, 4096]))
    options = {"max_sequence": 4000} if chance.random() < 0.2 else {"ordered": chance.random() < 0.3}
    # What wraps may not run ahead by half a round.
    window = chance.choice([1, 64]) if "max_sequence" in options else chance.choice([None, 1, 64, 3000])
    drive(format, pieces, chance.randrange(1, 9), seed, window, **options)


class Heap(ctypes.Structure):
    """What glibc tells of its heap (mallinfo2)."""

    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "free", "fast", "mapped", "map_bytes", "a", "b", "used")]
    _fields_ += [(name, ctypes.c_size_t) for name in ("unused", "top")]


class Growth:
    """What the process holds once all streams are gone: the middle of the second fifth of a run, and of the last.

    Bytes in use, not pages: which of those glibc gives back is chance where threads come and go. So is how many idle blocks the
    engine's pool keeps (up to its limit): as many as threads ever held at once. They go back first.
    """

    def __init__(self, begin: float, seconds: float) -> None:
        self._begin, self._seconds = begin, seconds
        self._fifths: list[list[tuple[int, int, int]]] = [[] for _ in range(5)]
        self._heap = ctypes.CDLL(None).mallinfo2
        self._heap.restype = Heap

    def sample(self) -> None:
        gc.collect()
        _core.pool_trim()
        heap = self._heap()
        held = heap.used + heap.map_bytes, len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))
        self._fifths[min(int((time.monotonic() - self._begin) / self._seconds * 5), 4)].append(held)

    def told(self) -> str:
        memory_then, threads_then, files_then = (statistics.median(each) for each in zip(*self._fifths[1], strict=True))
        memory, threads, files = (statistics.median(each) for each in zip(*self._fifths[4], strict=True))
        told = f"memory in use {memory_then:,.0f} to {memory:,.0f} bytes, threads {threads_then:.0f} to {threads:.0f}, "
        told += f"descriptors {files_then:.0f} to {files:.0f}"
        if memory > memory_then * 1.01 or threads > threads_then or files > files_then:
            raise SystemExit(f"the process grew: {told}")
        return told


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else time.time_ns()
    begin, runs = time.monotonic(), 0
    growth = Growth(begin, seconds)
    warnings.simplefilter("ignore", fm.RejectsWarning)  # Python remembers each text it shows
    while time.monotonic() < begin + seconds:
        for _ in range(200):
            if found := one_thread(seed):
                raise SystemExit(f"seed {seed}: {found}")
            seed, runs = seed + 1, runs + 1
        try:
            many_threads(seed)
        except AssertionError as error:
            raise SystemExit(f"seed {seed}, threads: {error}") from error
        seed, runs = seed + 1, runs + 1
        growth.sample()
    print(f"{runs} schedules, every row once, every position certain; {growth.told()}")


if __name__ == "__main__":
    main()
