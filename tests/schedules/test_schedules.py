"""The engine's threads under schedules that seeds decide: they do what one thread would do, whoever is next.

In: a compiler. Out: verdicts. Refuses to know: real threads (test_sanitizers.py has those).
"""

from __future__ import annotations

import re

import pytest
from native_programs import PACKAGE
from schedules import run

SEEDS = 40_000
ROOMS = ("stream", "threads", "whole", "flow", "shred")
OTHERS = re.compile(r"std::(mutex|condition_variable|atomic|thread)\b|pthread_create|steady_clock")


@pytest.mark.slow
def test_faults_that_threads_are_known_for_are_noticed():
    ran = run("faults")
    assert (ran.returncode, ran.stdout) == (0, "every planted fault is noticed\n"), ran.stderr


@pytest.mark.slow
def test_no_schedule_of_many_loses_repeats_or_stops_anything():
    ran = run("1", str(SEEDS))
    assert ran.returncode == 0, ran.stdout + ran.stderr
    figures = [int(number) for number in re.findall(r"\d+", ran.stdout)]
    assert figures[0] == SEEDS
    assert figures[1] > 100 * SEEDS  # steps
    assert figures[2] > 10 * SEEDS  # changes of the thread
    assert figures[3] > 0  # stores that lingered


@pytest.mark.slow
def test_small_hand_overs_are_right_in_each_way_they_can_go():
    ran = run("ways")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert int(ran.stdout.split()[0]) > 100_000


@pytest.mark.parametrize("room", ROOMS)
def test_threads_meet_by_what_schedules_decide_alone(room):
    files = [path for path in (PACKAGE / "engine" / room).iterdir() if path.name != "synchronization.hpp"]
    assert [path.name for path in files if OTHERS.search(path.read_text())] == []
