"""When waiting rows leave as one batch."""

from __future__ import annotations

import threading
import time

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numbered_rows import SCHEMA, InThread, flat, rows
from patience import PATIENCE_S

from formatter import errors, flow


def through(policy: flow.BatchPolicy, slices: list[int]) -> list[int]:
    bridge = flow.Bridge(SCHEMA, policy=policy)
    first = 0
    for count in slices:
        bridge.producer.send(rows(first, count))
        first += count
    bridge.producer.close()
    actions = list(bridge.consumer)
    assert flat(actions) == list(range(first))
    return [action.num_rows for action in actions]


@pytest.mark.parametrize("slices", [[1] * 25, [7, 7, 7, 4], [25], [3, 22]])
def test_batches_are_filled_to_max_rows_however_rows_arrive(slices):
    assert through(flow.BatchPolicy(max_rows=10), slices) == [10, 10, 5]


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 20), st.integers(50, 2000))
@settings(max_examples=60, deadline=None)
def test_no_batch_passes_rows_or_bytes_and_no_row_is_lost(slices, max_rows, max_bytes):
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_rows=max_rows, max_bytes=max_bytes))
    source = rows(0, 1200)
    first = 0
    for count in slices:
        bridge.producer.send(source.slice(first, count))  # slices of one buffer: sizes must count the slice only
        first += count
    bridge.producer.close()
    actions = list(bridge.consumer)
    assert flat(actions) == list(range(first))
    for action in actions:
        assert action.num_rows <= max_rows
        assert action.batch.nbytes <= max_bytes or action.num_rows == 1


def test_a_row_heavier_than_max_bytes_goes_alone():
    schema = pa.schema([("text", pa.string())])
    bridge = flow.Bridge(schema, policy=flow.BatchPolicy(max_bytes=100))
    bridge.producer.send(pa.record_batch([pa.array(["a", "b" * 500, "c", "d"])], schema=schema))
    bridge.producer.close()
    assert [action.batch.column(0).to_pylist() for action in bridge.consumer] == [["a"], ["b" * 500], ["c", "d"]]


def test_the_deadline_counts_from_enqueue_not_from_dequeue():
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_latency_ms=50))
    bridge.producer.send(rows(0, 1))
    time.sleep(0.06)
    assert bridge.consumer.poll(0) is not None  # from its dequeue on it would have 50 ms yet


def test_rows_leave_at_the_deadline_while_the_producer_is_silent():
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_latency_ms=20))

    came = threading.Event()

    def send_and_be_silent():
        bridge.producer.send(rows(0, 1))
        assert came.wait(PATIENCE_S)
        bridge.producer.close()

    thread = InThread(send_and_be_silent)
    next(bridge.consumer)
    came.set()
    thread.join()


def test_rows_leave_at_most_a_tenth_of_the_latency_before_their_deadline():
    schema = pa.schema([("sent_ns", pa.int64())])
    bridge = flow.Bridge(schema, policy=flow.BatchPolicy(max_latency_ms=30))

    def send_now_and_then():
        for _ in range(20):  # the consumer learns meanwhile how late it is woken
            bridge.producer.send(pa.record_batch([pa.array([time.monotonic_ns()])], schema=schema))
            time.sleep(0.04)
        bridge.producer.close()

    thread = InThread(send_now_and_then)
    waited = [time.monotonic_ns() - action.batch.column(0)[0].as_py() for action in bridge.consumer]
    thread.join()
    assert min(waited[:-1]) >= 27e6  # the last one leaves with the end of the stream


def test_an_overdue_consumer_takes_all_that_waits_in_one_batch():
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_latency_ms=0))
    for n in range(100):
        bridge.producer.send(rows(n, 1))
    assert next(bridge.consumer).num_rows == 100


def test_a_watermark_flushes_or_waits_behind_the_rows_by_policy():
    for flush, expected in ((True, [[0], "w", [1]]), (False, [[0, 1], "w"])):
        policy = flow.BatchPolicy(max_latency_ms=None, flush_on_watermark=flush)
        bridge = flow.Bridge(SCHEMA, policy=policy)
        bridge.producer.send(rows(0, 1))
        bridge.producer.watermark(7)
        bridge.producer.send(rows(1, 1))
        bridge.producer.close()
        assert [flat([a]) if isinstance(a, flow.Rows) else "w" for a in bridge.consumer] == expected


@given(
    st.lists(st.one_of(st.integers(1, 5), st.just("w"), st.just("c")), max_size=40),
    st.builds(
        flow.BatchPolicy,
        max_rows=st.integers(1, 9),
        max_bytes=st.sampled_from([40, 200, 1 << 20]),
        max_latency_ms=st.sampled_from([0, 1, None]),
        flush_on_watermark=st.booleans(),
    ),
)
@settings(max_examples=100, deadline=None)
def test_no_control_passes_an_older_row_under_any_policy(script, policy):
    bridge = flow.Bridge(SCHEMA, policy=policy)
    sent = 0
    rows_before: list[tuple[object, int]] = []
    for step, what in enumerate(script):
        if what == "w":
            bridge.producer.watermark(step)
            rows_before.append((flow.Watermark(step), sent))
        elif what == "c":
            bridge.producer.checkpoint(step)
            rows_before.append((flow.Checkpoint(step), sent))
        else:
            bridge.producer.send(rows(sent, what))
            sent += what
    bridge.producer.close()
    seen = 0
    controls = []
    for action in bridge.consumer:
        if isinstance(action, flow.Rows):
            assert flat([action]) == list(range(seen, seen + action.num_rows))
            seen += action.num_rows
        else:
            controls.append((action, seen))
    assert seen == sent
    assert [control for control, _ in controls] == [control for control, _ in rows_before]
    for (control, seen_before), (_, sent_before) in zip(controls, rows_before, strict=True):
        exact = policy.flush_on_watermark or isinstance(control, flow.Checkpoint)
        assert seen_before == sent_before if exact else seen_before >= sent_before


@pytest.mark.parametrize(
    "options",
    [{"max_rows": 0}, {"max_rows": 1.5}, {"max_bytes": -1}, {"max_latency_ms": -1}, {"max_latency_ms": True},
     {"flush_on_watermark": "yes"}, {"max_rows": True}],
)  # fmt: skip
def test_a_policy_checks_its_bounds_when_made(options):
    with pytest.raises(errors.OptionError, match="BatchPolicy"):
        flow.BatchPolicy(**options)


def test_a_policy_is_hashable_and_defaults_are_the_documented_ones():
    assert len({flow.BatchPolicy(), flow.BatchPolicy(max_rows=65_536, max_latency_ms=10, flush_on_watermark=True)}) == 1
