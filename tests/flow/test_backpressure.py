"""What a full bridge does, and that its counts balance whenever someone looks."""

from __future__ import annotations

import os
import random
import threading
import time
from array import array

import numpy as np
import pyarrow as pa
import pytest
from numbered_rows import SCHEMA, InThread, flat, numbers, rows
from patience import PATIENCE_S, comes_true

from formatter import errors, flow

SOAK = os.environ.get("FORMATTER_SOAK") == "1"  # ten million rows a case instead of a few ten thousand
STALL_ONE_IN = 2000


def test_pause_raises_at_its_timeout_and_the_batch_can_be_sent_again():
    bridge = flow.Bridge(SCHEMA, capacity=2, backpressure=flow.Pause(timeout=0.02))
    producer = bridge.producer
    producer.send(rows(0, 1))
    producer.send(rows(1, 1))
    assert not producer.has_capacity
    began = time.monotonic()
    with pytest.raises(errors.BackpressureError, match="not taken"):
        producer.send(rows(2, 1))
    assert time.monotonic() - began >= 0.02
    assert bridge.stats.offered == 2
    next(bridge.consumer)
    assert producer.has_capacity
    producer.send(rows(2, 1))
    producer.close()
    assert flat(bridge.consumer) == [2]


def test_a_backpressure_error_is_a_timeout_error():
    assert issubclass(errors.BackpressureError, TimeoutError)


def test_pause_wakes_the_producer_at_the_low_mark():
    bridge = flow.Bridge(
        SCHEMA, capacity=10, policy=flow.BatchPolicy(max_rows=1), backpressure=flow.Pause(high=0.8, low=0.25)
    )
    filled = threading.Event()

    def fill():
        for n in range(8):
            bridge.producer.send(rows(n, 1))
        assert not bridge.producer.has_capacity  # the high mark is 8 of 10
        filled.set()
        bridge.producer.send(rows(8, 1))
        bridge.producer.close()

    thread = InThread(fill)
    assert filled.wait(PATIENCE_S)
    assert comes_true(lambda: bridge.stats.waits)
    assert flat(next(bridge.consumer) for _ in range(6)) == list(range(6))  # two are left: the low mark
    thread.join()
    assert flat(bridge.consumer) == [6, 7, 8]


def test_drop_newest_counts_every_row_it_refuses_and_keeps_the_rest_in_order():
    bridge = flow.Bridge(SCHEMA, capacity=3, backpressure=flow.DropNewest())
    accepted = [n for n in range(10) if bridge.producer.send(rows(2 * n, 2))]
    bridge.producer.close()
    assert accepted == [0, 1, 2]
    assert (bridge.stats.offered, bridge.stats.dropped, bridge.stats.pending) == (20, 14, 6)
    assert flat(bridge.consumer) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("mark", [{"high": 0}, {"low": 0.9, "high": 0.5}, {"timeout": -1}, {"high": 2.0}])
def test_pause_checks_its_marks(mark):
    with pytest.raises(errors.OptionError, match="Pause"):
        flow.Pause(**mark)


def _modes(directory):
    return {
        "pause": flow.Pause(),
        "drop": flow.DropNewest(),
        "spill": flow.SpillToDisk(directory, max_bytes=1 << 34, segment_bytes=1 << 20 if SOAK else 1 << 16),
    }


@pytest.mark.parametrize("mode", ["pause", "drop", "spill"])
@pytest.mark.parametrize(("slice_rows", "rows_in_ci"), [(1, 150_000), (16, 1_000_000), (1024, 1_000_000)])
@pytest.mark.slow
def test_two_threads_with_random_stalls_balance_and_lose_nothing(mode, slice_rows, rows_in_ci, tmp_path):
    total = 10_000_000 if SOAK else rows_in_ci
    total -= total % slice_rows
    bridge = flow.Bridge(
        SCHEMA,
        capacity=64,
        policy=flow.BatchPolicy(max_rows=4096, max_latency_ms=1),
        backpressure=_modes(tmp_path)[mode],
    )
    template = rows(0, 1 << 20)  # a multiple of every slice's rows
    unbalanced: list[object] = []
    sent = array("q")

    def look():
        stats = bridge.stats
        if not stats.balanced or min(stats.pending, stats.spilled_pending, stats.dropped) < 0:
            unbalanced.append(stats)

    def produce():
        dice = random.Random(1)
        with bridge.producer as producer:
            for first in range(0, total, slice_rows):
                if producer.send(template.slice(first % template.num_rows, slice_rows)):
                    sent.append(first % template.num_rows)
                if dice.randrange(STALL_ONE_IN) == 0:
                    time.sleep(dice.random() / 500)
                    look()
                if dice.randrange(500) == 0:
                    producer.watermark(first)

    over = threading.Event()

    def observe():
        while not over.wait(0.0005):
            look()

    producer, observer = InThread(produce), InThread(observe)
    dice = random.Random(2)
    watermarks = []
    received = []
    for action in bridge.consumer:
        if isinstance(action, flow.Rows):
            received.append(action.batch.column("n").to_numpy())
            look()
            if dice.randrange(50) == 0:
                time.sleep(dice.random() / 50)
        else:
            watermarks.append(action.ts)
    producer.join()
    over.set()
    observer.join()
    assert unbalanced == []
    expected = (np.frombuffer(sent, np.int64)[:, None] + np.arange(slice_rows)).ravel()
    assert np.array_equal(np.concatenate(received), expected)
    assert watermarks == sorted(watermarks)
    stats = bridge.stats
    assert stats.delivered == len(expected)
    assert stats.offered == total == stats.delivered + stats.dropped
    assert stats.pending == stats.spilled_pending == 0
    assert stats.dropped == 0 or mode == "drop"


def test_a_producer_that_waits_can_be_seen_waiting_and_balanced():
    bridge = flow.Bridge(SCHEMA, capacity=1, policy=flow.BatchPolicy(max_rows=1))

    def produce():
        with bridge.producer as producer:
            for n in range(50):
                producer.send(rows(n, 1))

    thread = InThread(produce)
    seen = []
    for action in bridge.consumer:
        seen += numbers(action.batch)
        time.sleep(0.001)
        assert bridge.stats.balanced
    thread.join()
    assert seen == list(range(50))


@pytest.mark.parametrize("kind", [pa.Table, pa.RecordBatchReader])
def test_what_a_full_bridge_did_not_take_of_a_table_is_the_rest_of_the_error(kind):
    bridge = flow.Bridge(SCHEMA, capacity=2, backpressure=flow.Pause(timeout=0))
    unsent = pa.Table.from_batches([rows(first, 2) for first in range(0, 10, 2)])
    unsent = unsent if kind is pa.Table else unsent.to_reader()
    met = []
    for taken in (2, 2):
        with pytest.raises(errors.BackpressureError, match=f"{taken} before it were taken") as raised:
            bridge.producer.send(unsent)
        unsent = raised.value.rest
        assert isinstance(unsent, kind)
        met.append(bridge.consumer.poll(1))
    assert bridge.producer.send(unsent) is True
    bridge.producer.close()
    assert flat([*met, *bridge.consumer]) == list(range(10))


def test_one_batch_that_was_not_taken_has_no_rest():
    bridge = flow.Bridge(SCHEMA, capacity=1, backpressure=flow.Pause(timeout=0))
    bridge.producer.send(rows(0, 1))
    with pytest.raises(errors.BackpressureError) as raised:
        bridge.producer.send(rows(1, 1))
    assert raised.value.rest is None
