"""Memory runs out: every call ends in its rows or in MemoryError, and a stream goes on or says that it is closed.

In: scenarios. Out: a verdict of processes that were made short of memory. `make memory` tries every allocation, and thousands
of limits. Refuses to know: what the scenarios do.
"""

from __future__ import annotations

import re

import pytest
from scenarios import SCENARIOS
from short_of_memory import fail_allocations, limit_memory

QUICK = ("plans", "csv by two threads", "json", "stream, shuffled", "stream, checkpoints", "shared", "spill")
FEW, MORE = 6, 40


def check_failing_allocations(scenario, points):
    done = fail_allocations(scenario, points)
    assert done.returncode == 0, done.stdout + done.stderr
    count, errors, closed = map(
        int, re.fullmatch(r"(\d+) allocations, (\d+) errors, (\d+) closed\n", done.stdout).groups()
    )
    assert count
    assert errors + closed


@pytest.mark.parametrize("scenario", QUICK)
def test_an_allocation_that_fails_is_a_memory_error_and_nothing_is_lost_or_kept(scenario):
    check_failing_allocations(scenario, FEW)


@pytest.mark.slow
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_of_many_allocations_that_fails_is_a_memory_error_and_nothing_is_lost_or_kept(scenario):
    check_failing_allocations(scenario, MORE)


@pytest.mark.parametrize("scenario", QUICK)
def test_an_allocation_of_arrow_that_fails_ends_no_process_and_changes_no_row(scenario):
    done = fail_allocations(scenario, MORE, "arrow's")
    assert done.returncode == 0, done.stdout + done.stderr


def test_under_any_limit_of_memory_a_run_gives_its_rows_or_a_memory_error():
    done = limit_memory(40, 7)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"[1-9]\d* MemoryError", done.stdout), done.stdout  # else nothing was short
    assert re.search(r"[1-9]\d* right", done.stdout), done.stdout
