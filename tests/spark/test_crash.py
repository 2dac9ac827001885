"""Drivers and workers killed with SIGKILL while a stream is parsed: the sink has the rows of a clean run."""

from __future__ import annotations

import pytest
from crash_harness import run_killed, sink_rows, write_input


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.xdist_group("spark")
def test_a_query_killed_at_random_moments_loses_and_repeats_nothing(tmp_path):
    expected = sorted(write_input(tmp_path))
    drivers, tasks = run_killed(tmp_path, kills=4, seed=11)
    assert drivers + tasks > 0
    assert sink_rows(tmp_path) == expected
