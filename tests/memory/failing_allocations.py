"""Runs one scenario again and again, and lets each of its allocations fail in turn; says what went wrong, if anything did.

In: a scenario's name, at how many points at most, whose allocations ("ours" or "arrow's"); failing_malloc.so in LD_PRELOAD.
Out: a line of figures, or a traceback. A failed allocation of ours has to become a MemoryError; what was called then works at
once, or says that it is closed, no row is lost without a word, and nothing stays allocated. One of Arrow's C++, which nobody
catches, is made up for by the memory that is kept for it.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Callable

import scenarios
from scenarios import SCENARIOS, Closed, Rows

from formatter import _core
from formatter.plans import decode_plan

_failing = ctypes.CDLL(None)
_failing.watch_allocations.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
_failing.stop_watching.restype = _failing.live_allocations.restype = ctypes.c_long
OURS, ARROWS = b"_core.cpython", b"libarrow.so"


def start(number: int, all_from_there: bool) -> None:
    _failing.watch_allocations(OURS, number, all_from_there)


def stop() -> int:
    return int(_failing.stop_watching())


def left_behind() -> int:
    decode_plan._recent_plans.clear()
    for _ in range(3):  # what has finalizers goes in steps
        gc.collect()
    _core.pool_trim()
    return int(_failing.live_allocations())


def survive(scenario: Callable[[], Rows], points: int) -> tuple[int, int, int]:
    """How many allocations there are, how often a MemoryError came, and how often a stream was closed.

    So many points of a run are tried at most, evenly apart: there one allocation fails, or all from there on."""
    expected = scenario()
    start(0, False)
    for _ in range(2):
        assert scenario() == expected
        before = left_behind()
    start(0, False)
    scenario()
    count = stop()
    errors, closed = 0, 0
    for all_from_there in (False, True):
        for number in range(1, count + 1, max(1, -(-count // points))):
            start(number, all_from_there)
            try:
                found = scenario()
            except MemoryError:
                errors += 1
                found = None
            except Closed:
                closed += 1
                found = None
            stop()
            assert found in (None, expected), f"allocation {number}: other rows"
            left = left_behind() - before
            assert left <= 0, f"allocation {number}: {left} blocks were not given back"
            if found is None:
                assert scenario() == expected, f"allocation {number}: other rows afterwards"
    return count, errors, closed


def live_on_reserve(scenario: Callable[[], Rows], points: int) -> tuple[int, int, int]:
    """As `survive`: single allocations of Arrow's fail; all from one on would be more than any reserve."""
    expected = scenario()
    _failing.watch_allocations(ARROWS, 0, False)
    scenario()
    count = stop()
    for number in range(1, count + 1, max(1, -(-count // points))):
        _core.keep_memory_reserves(False)
        _core.keep_memory_reserves(True)  # both are there again
        _failing.watch_allocations(ARROWS, number, False)
        found = scenario()
        stop()
        assert found == expected, f"allocation {number}: other rows"
    return count, 0, 0


if __name__ == "__main__":
    name, points, whose = sys.argv[1:]
    scenarios.ease.append(stop)
    if whose == "ours":
        _core.keep_memory_reserves(False)  # or a single failure is made up for
    check = survive if whose == "ours" else live_on_reserve
    print("{} allocations, {} errors, {} closed".format(*check(SCENARIOS[name], int(points))))
