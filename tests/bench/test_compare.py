"""How well a ratio is known, and how far two records agree: cell by cell, with what is noise.

In: results made up here. Out: verdicts. Refuses to know: contestants.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bench.compare import cells_of, holds, verdict
from bench.doubt import doubt_of
from bench.record import NOISY, Record, Result, Run, ratio

ROOT = Path(__file__).resolve().parents[2]


def result(contestant, role, *seconds, **point):
    return Result("read", {"workload": "taxi", **point}, contestant, role, 1e9, "B", list(seconds), list(seconds))


def record_of(*ours):
    """A race for each value of ours, against five seconds."""
    results = []
    for columns, seconds in enumerate(ours):
        turns = seconds if isinstance(seconds, tuple) else (seconds,) * 6
        results += [result("a", "ours", *turns, columns=columns), result("b", "peer", *[5.0] * 6, columns=columns)]
    return Record([Run("2026-01-01", "python -m bench", {}, ["read"])], results)


def test_a_ratio_whose_turns_lie_apart_is_noise():
    steady = ratio(result("a", "ours", 1.0, 1.01, 1.0, 1.02), result("b", "peer", 5.0, 5.1, 5.0, 5.1))
    assert (round(steady.value, 2), steady.is_noise) == (5.02, False)
    assert ratio(result("a", "ours", 1.0, 1.6, 1.0, 1.9), result("b", "peer", 5.0, 5.0, 5.0, 5.0)).is_noise


def test_what_slows_both_in_a_round_leaves_their_ratio_known():
    mine, theirs = [1.0, 1.5, 1.1, 1.9, 1.3], [5.0, 7.5, 5.5, 9.5, 6.5]
    assert doubt_of(mine) > NOISY
    assert doubt_of(mine, theirs) < 1e-9


def test_a_single_turn_tells_nothing_of_its_doubt():
    assert doubt_of([1.0]) == doubt_of([1.0], [5.0, 5.0]) == 1.0


@pytest.mark.parametrize("turns", [2, 3, 5, 10, 30])
def test_the_doubt_covers_what_a_second_run_finds(turns):
    """Of pairs of runs of the same machine, nine of ten lie within both doubts, or most of them do where turns are few."""
    random = np.random.default_rng(turns)
    inside = 0
    for _ in range(300):
        one, other = (1 + 0.1 * random.standard_normal(turns) for _ in range(2))
        apart = abs(np.median(one) / np.median(other) - 1)
        inside += apart <= np.hypot(doubt_of(one.tolist()), doubt_of(other.tolist()))
    assert inside >= 0.85 * 300


def test_two_records_hold_together_if_nine_of_ten_cells_do_and_the_rest_are_marked():
    one = record_of(*[1.0] * 10)
    assert holds(cells_of(one, record_of(*[1.05] * 10)))
    assert not holds(cells_of(one, record_of(*[1.0] * 9, 2.0)))  # apart, and not marked
    noisy = cells_of(one, record_of(*[1.0] * 9, (1.0, 2.0, 3.0, 2.0, 1.0, 3.0)))
    assert holds(noisy)
    assert verdict(noisy) == (
        "9 of 10 cells (90%) differ by a tenth at most; of the others 1 are marked as noise and 0 are not. "
        "1 cells are marked in all."
    )
    assert [cell.line().split()[0] for cell in noisy if not cell.same] == ["NOISE"]
    assert not holds(cells_of(one, record_of(*[1.0] * 8, *[(1.0, 2.0, 3.0, 2.0, 1.0, 3.0)] * 2)))


def test_the_door_prints_every_cell_and_fails_where_records_do_not_hold_together(tmp_path):
    record_of(1.0, 1.0).save(tmp_path / "one.jsonl")
    record_of(1.0, 2.0).save(tmp_path / "other.jsonl")
    command = [sys.executable, "-m", "bench", "--compare", str(tmp_path / "one.jsonl"), str(tmp_path / "other.jsonl")]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert ran.returncode == 1
    first, second, last = ran.stdout.splitlines()
    assert (first.split()[:2], second.split()[:2]) == (["APART", "-50.0%"], ["same", "+0.0%"])
    assert "read: workload taxi, columns 1" in first
    assert last.startswith("1 of 2 cells (50%)")
