"""`make shred` in small: stretches with seams are claimed right, and a claim that is lost, repeated or moved is noticed."""

import long_run
import numpy as np
import pytest


def test_stretches_with_seams_are_claimed_right(monkeypatch):
    monkeypatch.setattr(long_run, "STRETCH", 10_000)
    for seed in range(4):
        assert long_run.run(60_001, threads=2, seed=seed) == ""


@pytest.mark.parametrize("spoil", ["lose", "repeat", "move"])
def test_a_wrong_claim_is_noticed(spoil, monkeypatch):
    right = long_run.claims_of

    def wrong(*arguments):
        claims = right(*arguments)
        if spoil == "lose":
            return claims[:-1]
        if spoil == "repeat":
            return np.concatenate([claims, claims[-1:]])
        claims[-1, 1] += np.uint64(1)
        return claims

    monkeypatch.setattr(long_run, "STRETCH", 10_000)
    monkeypatch.setattr(long_run, "PROBABILITIES", (0.5,))
    monkeypatch.setattr(long_run, "claims_of", wrong)
    assert long_run.run(60_001, threads=2).startswith("expected ")
