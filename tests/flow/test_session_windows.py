"""Session windows in a Python consumer: one result per session, never a part of one, however rows were batched."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numbered_rows import InThread

from formatter import flow

SCHEMA = pa.schema([("user", pa.string()), ("at", pa.int64())])
GAP = 5
BATCH_SIZES = [1, 2, 7, 1024]

Event = tuple[str, int]
Session = tuple[str, int, int, int]  # user, first, last, events


@dataclass
class SessionWindows:
    """Keeps open sessions; a session is over once the watermark has passed its last event by the gap."""

    watermark: int = -(1 << 62)
    open: dict[str, list[list[int]]] = field(default_factory=lambda: defaultdict(list))
    results: list[Session] = field(default_factory=list)
    late: int = 0

    def take(self, action: object) -> None:
        match action:
            case flow.Rows(batch):
                for user, at in zip(batch.column("user").to_pylist(), batch.column("at").to_pylist(), strict=True):
                    self.add(user, at)
            case flow.Watermark(ts):
                self.watermark = ts
                self.emit(lambda last: last + GAP < ts)

    def add(self, user: str, at: int) -> None:
        if at + GAP < self.watermark:  # its session may be out already
            self.late += 1
            return
        sessions = self.open[user]
        joined = [session for session in sessions if session[0] - GAP <= at <= session[1] + GAP]
        merged = [min([at, *(s[0] for s in joined)]), max([at, *(s[1] for s in joined)]), 1 + sum(s[2] for s in joined)]
        sessions[:] = [session for session in sessions if session not in joined] + [merged]

    def emit(self, over) -> None:
        for user, sessions in self.open.items():
            done = [session for session in sessions if over(session[1])]
            self.results += [(user, *session) for session in done]
            sessions[:] = [session for session in sessions if session not in done]


def through_bridge(script: list[Event | int], slice_rows: int, max_rows: int, **policy) -> SessionWindows:
    """Events in slices, watermarks (plain ints) in place, through a bridge between two threads."""
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_rows=max_rows, max_latency_ms=1, **policy), capacity=4)

    def produce():
        with bridge.producer as producer:
            for is_mark, run in itertools.groupby(script, lambda each: isinstance(each, int)):
                items = list(run)
                for mark in items if is_mark else ():
                    producer.watermark(mark)
                for first in range(0, 0 if is_mark else len(items), slice_rows):
                    users, times = zip(*items[first : first + slice_rows], strict=True)
                    producer.send(pa.record_batch([pa.array(users), pa.array(times)], schema=SCHEMA))

    thread = InThread(produce)
    windows = SessionWindows()
    for action in bridge.consumer:
        windows.take(action)
    thread.join()
    windows.emit(lambda last: True)
    windows.results.sort()
    return windows


@pytest.mark.parametrize("batch_rows", BATCH_SIZES)
@pytest.mark.parametrize("slice_rows", BATCH_SIZES)
class TestEverySize:
    def test_five_events_in_one_gap_are_one_session(self, slice_rows, batch_rows):
        script = [("u", at) for at in range(10, 15)] + [100]
        assert through_bridge(script, slice_rows, batch_rows).results == [("u", 10, 14, 5)]

    def test_a_late_joiner_merges_two_sessions(self, slice_rows, batch_rows):
        script = [("u", 10), ("u", 20), ("u", 15), 100]
        assert through_bridge(script, slice_rows, batch_rows).results == [("u", 10, 20, 3)]

    def test_three_sessions_become_one(self, slice_rows, batch_rows):
        script = [("u", 10), ("u", 18), ("u", 26), 12, ("u", 14), ("u", 22), 100]
        assert through_bridge(script, slice_rows, batch_rows).results == [("u", 10, 26, 5)]

    def test_rows_behind_the_watermark_are_late_and_start_no_second_result(self, slice_rows, batch_rows):
        script = [("u", 10), ("u", 12), 30, ("u", 11), ("v", 40), 100]
        windows = through_bridge(script, slice_rows, batch_rows)
        assert windows.results == [("u", 10, 12, 2), ("v", 40, 40, 1)]
        assert windows.late == 1

    def test_users_do_not_mix(self, slice_rows, batch_rows):
        script = [(user, at) for at in range(0, 30, 3) for user in "abc"] + [100]
        assert through_bridge(script, slice_rows, batch_rows).results == [(user, 0, 27, 10) for user in "abc"]


events = st.tuples(st.sampled_from("ab"), st.integers(0, 60))


@given(st.lists(st.lists(events, max_size=12), max_size=6), st.sampled_from(BATCH_SIZES), st.sampled_from(BATCH_SIZES))
@settings(max_examples=60, deadline=None)
def test_results_do_not_depend_on_slices_and_batches(groups, slice_rows, batch_rows):
    script: list[Event | int] = []
    for number, group in enumerate(groups):
        script += [*group, number * 12]
    plain = SessionWindows()
    for each in script:
        if isinstance(each, int):
            plain.take(flow.Watermark(each))
        else:
            plain.add(*each)
    plain.emit(lambda last: True)
    got = through_bridge(script, slice_rows, batch_rows)
    assert (got.results, got.late) == (sorted(plain.results), plain.late)


def test_watermarks_that_wait_behind_rows_give_the_same_sessions():
    script = [("u", 10), ("u", 12), 30, ("v", 40), 100]
    windows = through_bridge(script, 1, 1024, flush_on_watermark=False)
    assert windows.results == [("u", 10, 12, 2), ("v", 40, 40, 1)]
