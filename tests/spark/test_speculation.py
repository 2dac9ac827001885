"""A task with a speculative copy beside it never loses or repeats a row, whoever of the two is first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

QUERY = Path(__file__).with_name("speculation_query.py")
WAYS = {"read", "metrics", "origin", "global", "auto", "none", "stream"}


@pytest.mark.slow
@pytest.mark.spark
def test_rows_are_the_same_though_slow_tasks_have_copies(tmp_path):
    command = [sys.executable, str(QUERY), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line.split(maxsplit=1) for line in ended.stdout.splitlines() if not line.endswith(" s")]
    verdicts = {name: verdict.rpartition(" ") for name, verdict in lines}
    said = ended.stdout + ended.stderr[-2_000:]
    assert set(verdicts) == WAYS, said
    assert {verdict for verdict, _, _ in verdicts.values()} == {"same"}, said
    without_copies = {name for name, (_, _, copies) in verdicts.items() if int(copies) == 0}
    assert without_copies <= {"metrics"}, said  # those of "read" are counted there
