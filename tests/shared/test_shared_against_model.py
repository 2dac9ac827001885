"""Any order of subscribing, pushing, reading and leaving, against a model that knows records one by one.

In: steps that Hypothesis chooses. Out: rows, versions, unions and kernel counters as the model has them. Refuses to know:
threads, batches' sizes.
"""

from __future__ import annotations

import gc

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from shared_inputs import NAMES, SCHEMA, lines, record, waiting

import formatter as fm


class Model:
    """A consumer sees the records that were completed in its life and pass its filter."""

    def __init__(self) -> None:
        self.live: dict[str, tuple[set[str], int | None]] = {}  # name: columns, least value of "d"
        self.seen: dict[str, list[int]] = {}
        self.version = 0
        self.decoded = dict.fromkeys(NAMES, 0)
        self.discarded = 0

    def union(self) -> set[str]:
        return {c for columns, least in self.live.values() for c in columns | ({"d"} if least is not None else set())}

    def change(self, name: str, consumer: tuple[set[str], int | None] | None) -> None:
        before = self.union()
        if consumer is None:
            del self.live[name]
        else:
            self.live[name] = consumer
            self.seen[name] = []
        self.version += self.union() != before

    def complete(self, i: int) -> None:
        self.discarded += not self.live
        for column in self.union():
            self.decoded[column] += 1
        for name, (_, least) in self.live.items():
            if least is None or record(i)["d"] >= least:
                self.seen[name].append(i)


class SharedStreams(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = Model()
        self.leases: dict[str, fm.Subscription] = {}
        self.columns: dict[str, set[str]] = {}
        self.found: dict[str, list[fm.Batch]] = {}
        self.pending = b""  # pushed, of a record that is not complete
        self.next = self.sequence = self.completed = 0

    @initialize(max_rows=st.sampled_from([1, 3, 1000]), ordered=st.booleans())
    def begin(self, max_rows, ordered):
        policy = fm.BatchPolicy(max_rows=max_rows, max_latency_ms=None)
        self.shared = fm.SharedStream(fm.Csv(SCHEMA), batch=policy, ordered=ordered)

    @rule(columns=st.sets(st.sampled_from(NAMES)), least=st.none() | st.integers(0, 40), all_of_them=st.booleans())
    def subscribe(self, columns, least, all_of_them):
        name = f"c{len(self.found)}"
        columns = set(NAMES) if all_of_them and least is None else columns
        filters = None if least is None else [("d", ">=", least)]
        lease = self.shared.subscribe(
            fm.ALL if columns == set(NAMES) else sorted(columns), name=name, filters=filters, queue=10_000
        )
        self.model.change(name, (columns, least))
        assert lease.effective_version == self.model.version
        self.leases[name], self.columns[name], self.found[name] = lease, columns, []

    @precondition(lambda self: self.leases)
    @rule(data=st.data(), lose=st.booleans())
    def leave(self, data, lose):
        name = data.draw(st.sampled_from(sorted(self.leases)))
        lease = self.leases.pop(name)
        if lose:
            self.shared.flush()
            self.found[name] += waiting(lease)
            del lease
            gc.collect()
        else:
            lease.close()
            self.found[name] += list(lease)
        self.model.change(name, None)

    @rule(count=st.integers(0, 8), cut=st.integers(0, 30))
    def push(self, count, cut):
        """Whole records, and the next one as far as `cut`."""
        data = lines(range(self.next, self.next + count + 1))
        rest = len(lines([self.next + count]))
        data = data[: len(data) - rest + min(cut, rest - 1)]
        self.shared.push(data[len(self.pending) :], sequence=self.sequence + 1)
        self.sequence += 1
        if count == 0:
            self.pending = max(data, self.pending, key=len)
            return
        for i in range(self.next, self.next + count):
            self.model.complete(i)
        self.next += count
        self.pending = data[len(lines(range(self.next - count, self.next))) :]

    @precondition(lambda self: self.leases)
    @rule(data=st.data())
    def read(self, data):
        name = data.draw(st.sampled_from(sorted(self.leases)))
        self.found[name] += waiting(self.leases[name])

    @invariant()
    def the_projection_is_the_union(self):
        if hasattr(self, "shared"):
            union = self.model.union()
            assert self.shared.decoding_columns == tuple(name for name in NAMES if name in union)
            assert self.shared.projection_version == self.model.version
            assert set(self.shared.subscriptions) == set(self.model.live)

    def teardown(self):
        if not hasattr(self, "shared"):
            return
        rest = lines([self.next])[len(self.pending) :] if self.pending else b""
        self.shared.push(rest, sequence=self.sequence + 1)
        if self.pending:
            self.model.complete(self.next)
        self.shared.finish()
        for name, lease in self.leases.items():
            self.found[name] += list(lease)
        for name, batches in self.found.items():
            seen = self.model.seen[name]
            assert sum(batch.num_rows for batch in batches) == len(seen)
            for column in self.columns[name]:
                values = [value for batch in batches for value in batch.column(column).to_pylist()]
                assert values == [record(i)[column] for i in seen]
        stats = self.shared.stats
        assert stats.values_decoded == self.model.decoded
        assert stats.discarded_rows == self.model.discarded


SharedStreams.TestCase.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
TestSharedStreams = SharedStreams.TestCase
