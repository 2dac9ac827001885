"""Effort is linear: twice the input takes twice the instructions, for every shape that an input can grow in.

In: shapes, callgrind. Out: a verdict by instructions, never by a clock. Refuses to know: what a shape is.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from doubled_shapes import SHAPES

from bench.instructions.callgrind import build_switch, count, missing_tool, python_environment

HERE = Path(__file__).parent
SMALLEST = 32 << 10
LEAST = 200_000  # instructions; what grows by less is lost in what every call costs
MOST = 2.6  # what begins anew a few times, and blocks that double, take more than twice; squares take four times


def instructions(names, folder):
    """By name: at the smallest size, at twice that, at four times."""
    assert missing_tool() is None, missing_tool()
    command = [sys.executable, str(HERE / "doubled_shapes.py"), str(build_switch(folder)), str(SMALLEST), *names]
    found = {}
    for label, counts in count(command, folder, python_environment("avx2", {})).items():
        found.setdefault(label.rpartition(" of ")[0], []).append(counts.whole)
    return found


def check(names, folder):
    counted = instructions(names, folder)
    assert set(counted) == set(names)
    growth = {name: (large - middle) / max(middle - small, LEAST) for name, (small, middle, large) in counted.items()}
    assert {name: ratio for name, ratio in growth.items() if ratio > MOST} == {}


@pytest.mark.slow
def test_twice_the_input_takes_twice_the_instructions(tmp_path):
    check(list(SHAPES), tmp_path)


def test_there_are_sixty_shapes():
    assert len(SHAPES) >= 60
