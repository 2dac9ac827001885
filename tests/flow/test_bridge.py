"""Order, ends, ownership and peers of a bridge."""

from __future__ import annotations

import datetime
import gc
import pickle
import threading
import time

import pandas as pd
import pyarrow as pa
import pytest
from numbered_rows import SCHEMA, InThread, flat, rows
from patience import comes_true

from formatter import errors, flow


def test_rows_and_controls_come_out_in_the_order_sent():
    bridge = flow.Bridge(SCHEMA)
    with bridge.producer as producer:
        producer.send(rows(0, 3))
        producer.send(rows(3, 2))
        producer.watermark(10)
        producer.send(rows(5, 1))
        producer.checkpoint(1)
        producer.watermark(20)
        producer.send(rows(6, 1))
    out = flat(bridge.consumer)
    assert out == [0, 1, 2, 3, 4, flow.Watermark(10), 5, flow.Checkpoint(1), flow.Watermark(20), 6]


def test_a_slice_that_fills_a_batch_alone_crosses_by_reference():
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_rows=4))
    sent = rows(0, 4)
    bridge.producer.send(sent)
    assert next(bridge.consumer).batch is sent


def test_an_empty_batch_is_nothing_and_passes_no_action():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.send(rows(0, 0))
    bridge.producer.close()
    assert list(bridge.consumer) == []


def test_batches_without_columns_keep_their_row_count():
    empty = pa.schema([])
    bridge = flow.Bridge(empty)
    for _ in range(3):
        bridge.producer.send(pa.RecordBatch.from_struct_array(pa.array([{}] * 5, pa.struct([]))))
    bridge.producer.close()
    assert [action.num_rows for action in bridge.consumer] == [15]


def test_tables_and_capsules_are_taken_as_their_batches():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.send(pa.Table.from_batches([rows(0, 2), rows(2, 2)]))
    bridge.producer.send(flow.Rows(rows(4, 1)))
    bridge.producer.send(pa.RecordBatchReader.from_batches(SCHEMA, [rows(5, 1)]))
    bridge.producer.close()
    assert flat(bridge.consumer) == [0, 1, 2, 3, 4, 5]


def test_another_schema_is_refused_with_both_schemas_named():
    bridge = flow.Bridge(SCHEMA)
    with pytest.raises(errors.SchemaError, match=r"expected .*n: int64, text: string.*found .*n: int32"):
        bridge.producer.send(pa.record_batch([pa.array([1], pa.int32())], names=["n"]))
    with pytest.raises(errors.FlowError, match="found str"):
        bridge.producer.send("rows")


def test_a_watermark_never_goes_back_and_epochs_grow():
    bridge = flow.Bridge(SCHEMA)
    producer = bridge.producer
    producer.watermark(10)
    producer.watermark(10)
    with pytest.raises(errors.FlowError, match="never goes back"):
        producer.watermark(9)
    producer.checkpoint(4)
    with pytest.raises(errors.FlowError, match="epochs grow"):
        producer.checkpoint(4)


@pytest.mark.parametrize("ts", [None, True, "noon", float("nan"), pd.NaT])
def test_a_watermark_without_a_time_is_refused(ts):
    bridge = flow.Bridge(SCHEMA)
    with pytest.raises(errors.FlowError, match="watermark"):
        bridge.producer.watermark(ts)


def test_times_of_two_kinds_are_refused_because_they_do_not_compare():
    bridge = flow.Bridge(SCHEMA)
    producer = bridge.producer
    producer.watermark(datetime.datetime(2024, 1, 1))
    with pytest.raises(errors.FlowError, match="cannot be compared"):
        producer.watermark(5)
    with pytest.raises(errors.FlowError, match="cannot be compared"):
        producer.watermark(datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC))


def test_a_full_queue_never_loses_a_control_message():
    bridge = flow.Bridge(SCHEMA, capacity=2, backpressure=flow.DropNewest())
    producer = bridge.producer
    sent: list[object] = []
    for n in range(2000):
        if producer.send(rows(n, 1)):
            sent.append(n)
        producer.watermark(n)
        sent.append(flow.Watermark(n))
        if n % 10 == 0:
            producer.checkpoint(n)
            sent.append(flow.Checkpoint(n))
    producer.close()
    assert flat(bridge.consumer) == sent
    assert bridge.stats.dropped == 2000 - bridge.stats.delivered > 0


def test_rows_follow_overflowed_controls_in_order():
    bridge = flow.Bridge(SCHEMA, capacity=1)
    producer, consumer = bridge.producer, bridge.consumer
    producer.send(rows(0, 1))
    for n in range(500):
        producer.watermark(n)
    out = flat(consumer.poll(1) for _ in range(100))
    producer.send(rows(1, 1))
    producer.watermark(1000)
    producer.close()
    out += flat(consumer)
    assert out == [0, *(flow.Watermark(n) for n in range(500)), 1, flow.Watermark(1000)]


def test_a_second_producer_thread_is_an_error_and_corrupts_nothing():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.send(rows(0, 1))
    with pytest.raises(errors.FlowError, match="second thread uses the producer"):
        InThread(bridge.producer.send, rows(1, 1)).join()
    bridge.producer.close()
    assert flat(bridge.consumer) == [0]


def test_a_second_consumer_thread_is_an_error():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.send(rows(0, 1))
    next(bridge.consumer)
    with pytest.raises(errors.FlowError, match="second thread uses the consumer"):
        InThread(next, bridge.consumer).join()


def test_of_many_threads_racing_for_the_producer_exactly_one_wins():
    for _ in range(20):
        bridge = flow.Bridge(SCHEMA)
        start, won, over = threading.Barrier(4), [], threading.Event()

        def race(number, bridge=bridge, start=start, won=won, over=over):
            start.wait()
            try:
                bridge.producer.send(rows(number, 1))
                won.append(number)
            except errors.FlowError:
                pass
            over.wait()

        threads = [InThread(race, number) for number in range(4)]
        while bridge.stats.offered == 0:
            time.sleep(0.001)
        time.sleep(0.005)
        over.set()
        for thread in threads:
            thread.join()
        assert len(won) == bridge.stats.offered == 1


def test_an_owner_may_release_its_end_to_another_thread():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.send(rows(0, 1))
    bridge.producer.release()
    InThread(lambda: (bridge.producer.send(rows(1, 1)), bridge.producer.close())).join()
    assert flat(bridge.consumer) == [0, 1]


def test_nothing_follows_the_end_and_closing_twice_is_closing_once():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.close()
    bridge.producer.close()
    for late in (lambda: bridge.producer.send(rows(0, 1)), lambda: bridge.producer.watermark(1)):
        with pytest.raises(errors.FlowError, match="closed"):
            late()
    assert list(bridge.consumer) == [] == list(bridge.consumer)


def test_a_producer_thread_that_dies_is_noticed_after_all_it_sent():
    bridge = flow.Bridge(SCHEMA)
    InThread(bridge.producer.send, rows(0, 3)).join()
    assert flat([next(bridge.consumer)]) == [0, 1, 2]
    with pytest.raises(errors.FlowError, match=r"without close\(\)"):
        next(bridge.consumer)
    assert list(bridge.consumer) == []


def test_a_producer_that_dies_while_the_consumer_sleeps_wakes_it():
    bridge = flow.Bridge(SCHEMA)
    InThread(lambda: (bridge.producer.send(rows(0, 1)), time.sleep(0.1)))
    assert flat([next(bridge.consumer)]) == [0]
    with pytest.raises(errors.FlowError, match="thread that has ended"):
        next(bridge.consumer)


@pytest.mark.parametrize("key", [None, "text"])
def test_a_producer_that_is_dropped_is_noticed(key):
    bridge = flow.Bridge(SCHEMA, key=key)
    bridge.producer.send(rows(0, 1))
    consumer = bridge.consumer
    del bridge
    gc.collect()
    assert flat([next(consumer)]) == [0]
    with pytest.raises(errors.FlowError, match="was dropped"):
        next(consumer)


def test_a_producers_failure_reaches_the_consumer_as_the_cause():
    bridge = flow.Bridge(SCHEMA)
    cause = RuntimeError("source broke")

    def produce():
        with bridge.producer as producer:
            producer.send(rows(0, 1))
            raise cause

    with pytest.raises(RuntimeError, match="source broke"):
        produce()
    assert flat([next(bridge.consumer)]) == [0]
    with pytest.raises(errors.FlowError, match="source broke") as caught:
        next(bridge.consumer)
    assert caught.value.__cause__ is cause


def test_a_dead_consumer_is_noticed_by_a_send_soon_after():
    bridge = flow.Bridge(SCHEMA)
    bridge.producer.send(rows(0, 1))
    InThread(next, bridge.consumer).join()

    def send_for_a_while():  # join() returns a moment before the system lets the thread go
        while True:
            bridge.producer.send(rows(1, 1))

    with pytest.raises(errors.FlowError, match="its thread has ended"):
        send_for_a_while()


def test_a_consumer_that_closes_wakes_a_waiting_producer():
    bridge = flow.Bridge(SCHEMA, capacity=1)

    def fill():
        for n in range(10):
            bridge.producer.send(rows(n, 1))

    thread = InThread(fill)
    assert comes_true(lambda: bridge.stats.waits)
    bridge.consumer.close()
    with pytest.raises(errors.FlowError, match="consumer is gone"):
        thread.join()


def test_unread_rows_are_freed_with_the_bridge():
    gc.collect()
    before = pa.total_allocated_bytes()
    bridge = flow.Bridge(SCHEMA)
    for n in range(50):
        bridge.producer.send(rows(n, 100))
    del bridge
    gc.collect()
    assert pa.total_allocated_bytes() == before


@pytest.mark.parametrize("action", [flow.Rows(rows(0, 2)), flow.Watermark(5), flow.Checkpoint(3)])
def test_actions_pickle_compare_and_match(action):
    assert pickle.loads(pickle.dumps(action)) == action
    match action:
        case flow.Rows(batch):
            assert batch.num_rows == 2
        case flow.Watermark(ts):
            assert ts == 5
        case flow.Checkpoint(epoch):
            assert epoch == 3


def test_poll_returns_none_when_nothing_is_due():
    bridge = flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_latency_ms=None))
    bridge.producer.send(rows(0, 1))
    assert bridge.consumer.poll() is None
    assert bridge.consumer.poll(0.01) is None
    assert bridge.stats.pending == 1
    bridge.producer.close()
    assert flat([bridge.consumer.poll()]) == [0]
    assert bridge.consumer.poll() is None
    assert bridge.consumer.ended


@pytest.mark.parametrize(
    "options",
    [{"capacity": 0}, {"capacity": True}, {"policy": 5}, {"backpressure": "drop"}, {"key": []}, {"key": "absent"}],
)
def test_options_are_checked_when_the_bridge_is_made(options):
    with pytest.raises((errors.OptionError, errors.SchemaError)):
        flow.Bridge(SCHEMA, **options)


def test_one_thread_at_both_ends_is_told_instead_of_waiting_for_itself():
    bridge = flow.Bridge(SCHEMA, capacity=2)
    for n in range(2):
        bridge.producer.send(rows(n, 1))
    assert flat([next(bridge.consumer)]) == [0, 1]
    with pytest.raises(errors.FlowError, match="this very thread"):
        next(bridge.consumer)
    bridge.producer.send(rows(2, 1))
    bridge.producer.send(rows(3, 1))
    with pytest.raises(errors.BackpressureError, match="this very thread"):
        bridge.producer.send(rows(4, 1))
    bridge.producer.close()
    assert flat(bridge.consumer) == [2, 3]
