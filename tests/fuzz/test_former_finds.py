"""Seeds of the fuzz targets, and every input that was once found to make them fail, pass.

In: tests/fuzz/seeds, a file an input. Out: a verdict, by a program with sanitizers. Refuses to know: how inputs are found.
"""

from __future__ import annotations

import os
import subprocess

import pytest
from fuzz import HERE, TARGETS, replayer


def test_every_target_has_seeds():
    assert sorted(folder.name for folder in (HERE / "seeds").iterdir()) == sorted(TARGETS)


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_what_was_once_found_stays_mended(target):
    inputs = sorted((HERE / "seeds" / target).iterdir())
    ran = subprocess.run(
        [replayer(), *inputs], env=os.environ | {"FUZZ_TARGET": target}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert ran.stdout == f"{len(inputs)} inputs\n"
