"""A task that is tried again, by itself or because its process was killed, never loses or repeats a row."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QUERY = Path(__file__).with_name("retry_query.py")
CASES = ["origin:raise", "global:raise", "global:kill"]


@pytest.fixture(scope="module")
def said() -> str:
    """One session for all cases: tasks may fail four times."""
    command = [sys.executable, str(QUERY), "local[2,4]", *CASES]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr[-2_000:]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize("case", CASES)
def test_rows_are_the_same_though_first_attempts_fail(case, said):
    assert f"{case} same\n" in said, said
