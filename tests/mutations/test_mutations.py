"""The changes that `make mutate` makes still find what they change, once, and the tests that have to notice them.

In: the changes. Out: a verdict. Refuses to know: whether they are noticed, which takes a build each.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from mutations import MUTATIONS

TESTS = Path(__file__).resolve().parents[1]
PACKAGE = TESTS.parent / "src" / "formatter"


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_change_finds_its_place_and_its_tests(mutation):
    assert (PACKAGE / mutation.file).read_text().count(mutation.before) == 1
    assert mutation.before != mutation.after
    places = [part for part in shlex.split(mutation.tests) if part.endswith(".py") or "/" in part]
    assert all((TESTS / place).exists() for place in places)


def test_there_are_enough_of_them():
    assert len(MUTATIONS) >= 60
    assert len({mutation.name for mutation in MUTATIONS}) == len(MUTATIONS)
