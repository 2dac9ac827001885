"""Drivers, executors and workers killed with SIGKILL while a stream is parsed: the sink has the rows of a clean run."""

from __future__ import annotations

import pytest
from crash_harness import EXECUTORS, run_killed, sink_rows, write_input
from drift_harness import run
from oracle.drifting_records import DriftingRecords

pytestmark = [pytest.mark.slow, pytest.mark.spark]


def test_a_query_killed_at_random_moments_loses_and_repeats_nothing(tmp_path):
    expected = sorted(write_input(tmp_path))
    killed = run_killed(tmp_path, kills=4, seed=11)
    assert killed.total() > 0
    assert sink_rows(tmp_path) == expected


def test_a_query_whose_executors_are_killed_loses_and_repeats_nothing(tmp_path):
    expected = sorted(write_input(tmp_path))
    killed = run_killed(tmp_path, kills=2, seed=5, master=EXECUTORS, kinds=("executor",))
    assert killed["executor"] > 0
    assert sink_rows(tmp_path) == expected


def test_a_query_whose_workers_are_killed_loses_and_repeats_nothing(tmp_path):
    expected = sorted(write_input(tmp_path))
    killed = run_killed(tmp_path, kills=2, seed=3, kinds=("worker",))
    assert killed["worker"] > 0
    assert sink_rows(tmp_path) == expected


@pytest.mark.parametrize("policy", ["add", "rescue"])
def test_a_killed_query_whose_data_drifts_loses_and_repeats_nothing_and_starts_anew_once_a_change(policy, tmp_path):
    source = DriftingRecords(5, 6000, fields=60, conflicts=22, block_records=500)
    assert run(tmp_path, source, policy, kills=2, seconds_between=(1, 6)) == []
