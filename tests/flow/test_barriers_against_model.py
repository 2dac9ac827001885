"""Any interleaving of deliveries, closures, duplicates and timeouts matches a model of at most sixty lines."""

from __future__ import annotations

import os
from pathlib import Path

import aligner_model
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from formatter import errors, flow

NAMES = ["a", "b", "c"]


class Alignment(RuleBasedStateMachine):
    @initialize(hold=st.booleans(), count=st.integers(1, 3), timeout=st.integers(1, 12))
    def begin(self, hold, count, timeout):
        self.now = 0.0
        self.data = 0
        names = NAMES[:count]
        self.real = flow.BarrierAligner(names, hold_data=hold, timeout=timeout, clock=lambda: self.now)
        self.model = aligner_model.Model(names, hold, timeout)

    def compare(self, name, item):
        expected = self.model.expire(self.now)
        if name not in self.model.names or self.model.refuses(name, item):
            with pytest.raises(errors.FlowError):
                self.real.deliver(name, item)
            assert self.real.poll() == expected
        else:
            assert self.real.deliver(name, item) == expected + self.model.deliver(name, item, self.now)

    @rule(name=st.sampled_from(NAMES), step=st.integers(0, 1))
    def deliver_next_or_repeat(self, name, step):
        self.compare(name, flow.Barrier("checkpoint", max(1, self.model.last.get(name, 0) + step)))

    @rule(name=st.sampled_from(NAMES), number=st.integers(1, 8))
    def deliver_any(self, name, number):
        self.compare(name, flow.Barrier("checkpoint", number))

    @rule(name=st.sampled_from(NAMES))
    def deliver_data(self, name):
        self.data += 1
        self.compare(name, f"row {self.data}")

    @rule(name=st.sampled_from(NAMES))
    def close(self, name):
        if name not in self.model.names:
            return
        expected = self.model.expire(self.now)
        self.model.open.discard(name)
        assert self.real.close(name) == expected + self.model.run(self.now)

    @rule(seconds=st.integers(1, 8))
    def time_passes(self, seconds):
        self.now += seconds
        assert self.real.poll() == self.model.expire(self.now)

    @invariant()
    def finished_means_closed_and_empty(self):
        if hasattr(self, "model"):
            waits = any(self.model.queue.values()) or bool(self.model.open)
            assert self.real.finished == (not waits)


TestAlignment = Alignment.TestCase
EXAMPLES = 20_000 if os.environ.get("FORMATTER_SOAK") else 300
TestAlignment.settings = settings(max_examples=EXAMPLES, stateful_step_count=40, deadline=None)


def test_the_model_stays_small():
    lines = Path(aligner_model.__file__).read_text().splitlines()
    code = [line for line in lines if line.strip() and not line.startswith(("from", "import", '"""'))]
    assert len(code) <= 60
