"""Every fuzz target begins with inputs that reach something, and none of them fails any more. In: the seeds. Out: a verdict.
Refuses to know: what is found.
"""

from __future__ import annotations

import os
import subprocess

import pytest
import python_targets
from fuzz import HERE, PYTHON_TARGETS, TARGETS, seed_runner

SEEDS = [path for target in PYTHON_TARGETS for path in sorted((HERE / "seeds" / target).iterdir())]


def test_every_target_has_seeds():
    assert sorted(folder.name for folder in (HERE / "seeds").iterdir()) == sorted([*TARGETS, *PYTHON_TARGETS])
    assert all(any((HERE / "seeds" / target).iterdir()) for target in (*TARGETS, *PYTHON_TARGETS))
    assert sorted(python_targets.TARGETS) == sorted(PYTHON_TARGETS)


@pytest.mark.parametrize("path", SEEDS, ids=[f"{path.parent.name}-{path.name}" for path in SEEDS])
def test_what_was_found_from_python_is_found_no_more(path):
    python_targets.run(path.parent.name, path.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("target", TARGETS)
def test_what_was_found_in_the_engine_is_found_no_more(target):
    seeds = sorted((HERE / "seeds" / target).iterdir())
    environment = os.environ | {"FUZZ_TARGET": target}
    ran = subprocess.run([seed_runner(), *seeds], env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout[-300:] + ran.stderr[-3000:]
