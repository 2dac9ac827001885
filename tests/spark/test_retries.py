"""A task that is tried again, by itself or because its process was killed, never loses or repeats a row."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QUERY = Path(__file__).with_name("retry_query.py")
CASES = [
    ("local[2,4]", "origin", "raise"),
    ("local[2,4]", "global", "raise"),
    ("local[2,4]", "global", "kill"),
]


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.parametrize(("master", "stitch", "way"), CASES)
def test_rows_are_the_same_though_first_attempts_fail(master, stitch, way):
    command = [sys.executable, str(QUERY), master, stitch, way]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.stdout.strip().splitlines()[-1:] == ["same"], ended.stdout + ended.stderr[-2_000:]
