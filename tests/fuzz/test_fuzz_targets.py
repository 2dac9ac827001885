"""Every fuzz target begins with inputs that reach something. In: the seeds. Out: a verdict. Refuses to know: what is found."""

from __future__ import annotations

from fuzz import HERE, TARGETS


def test_every_target_has_seeds():
    assert sorted(folder.name for folder in (HERE / "seeds").iterdir()) == sorted(TARGETS)
    assert all(any((HERE / "seeds" / target).iterdir()) for target in TARGETS)
