"""Effort is linear: eight times the input takes about eight times the CPU time, for every shape that an input can grow in.

In: shapes. Out: a verdict by CPU time of this process, which a busy machine stretches by little, never by a clock. Refuses to
know: what a shape is.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

import pytest
from growing_shapes import SHAPES

SMALL, LARGE = 128 << 10, 1 << 20
LEAST_SECONDS = 0.0003  # what takes less is lost in what every call costs
MOST = 32  # caches that are left make it twenty; squares make it sixty-four
ATTEMPTS = 5


def cpu_seconds(work: Callable[[], object]) -> float:
    gc.collect()
    gc.disable()
    try:
        begun = time.process_time()
        work()
        return time.process_time() - begun
    finally:
        gc.enable()


@pytest.mark.parametrize("name", SHAPES)
def test_eight_times_the_input_takes_no_more_than_some_eight_times_the_effort(name):
    small, large = SHAPES[name](SMALL), SHAPES[name](LARGE)
    small()  # what is imported late, and the first blocks of the pool
    least = max(min(cpu_seconds(small) for _ in range(3)), LEAST_SECONDS)
    growths: list[float] = []
    while not growths or (min(growths) > MOST and len(growths) < ATTEMPTS):
        growths.append(cpu_seconds(large) / least)
    assert min(growths) <= MOST


def test_there_are_sixty_shapes():
    assert len(SHAPES) >= 60
