"""The changes that `make mutate` makes still find what they change, once, and the tests that have to notice them.

In: the changes. Out: a verdict. Refuses to know: whether they are noticed, which takes a build each.
"""

from __future__ import annotations

import shlex
from pathlib import Path

import mutate
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


def test_what_a_killed_run_compiled_is_thrown_away(tmp_path, monkeypatch):
    package, made = tmp_path / "src" / "formatter", tmp_path / "build" / "temp.here" / "changed.o"
    for path in (package / "changed.cpp", package / "_core.so", made, tmp_path / "build" / "under_change"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("changed.cpp")
    for name, value in (
        ("COPY", tmp_path),
        ("PACKAGE", package),
        ("UNDER_CHANGE", tmp_path / "build" / "under_change"),
    ):
        monkeypatch.setattr(mutate, name, value)
    mutate.forget_killed_run()
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_copy_that_is_another_tree_is_noticed(tmp_path, monkeypatch):
    for root, text in (("tree", "right"), ("copy", "wrong")):
        for name, words in (("same.py", "same"), ("changed.cpp", text)):
            path = tmp_path / root / "src" / "formatter" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(words)
    monkeypatch.setattr(mutate, "ROOT", tmp_path / "tree")
    monkeypatch.setattr(mutate, "COPY", tmp_path / "copy")
    monkeypatch.setattr(mutate, "PACKAGE", tmp_path / "copy" / "src" / "formatter")
    assert mutate.differing_files() == ["src/formatter/changed.cpp"]
