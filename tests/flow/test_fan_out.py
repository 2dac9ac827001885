"""One producer, several bridges: a control message reaches all of them or none."""

from __future__ import annotations

import threading

import pyarrow as pa
import pytest
from numbered_rows import SCHEMA, InThread, flat, rows

from formatter import errors, flow


def test_rows_and_controls_reach_every_bridge_in_the_same_order():
    bridges = [flow.Bridge(SCHEMA), flow.Bridge(SCHEMA, policy=flow.BatchPolicy(max_rows=2))]
    fan = flow.FanOut(bridges)
    fan.send(rows(0, 3))
    fan.watermark(1)
    fan.send(rows(3, 2))
    fan.checkpoint(1)
    fan.close()
    expected = [0, 1, 2, flow.Watermark(1), 3, 4, flow.Checkpoint(1)]
    assert [flat(bridge.consumer) for bridge in bridges] == [expected, expected]


@pytest.mark.parametrize("send", [lambda fan: fan.watermark(5), lambda fan: fan.checkpoint(1), lambda fan: fan.close()])
def test_a_control_message_that_one_bridge_refuses_reaches_none(send, tmp_path):
    one_slow = flow.Bridge(SCHEMA, capacity=1, backpressure=flow.SpillToDisk(tmp_path))  # its controls go by disk
    plain, dead = flow.Bridge(SCHEMA), flow.Bridge(SCHEMA)
    fan = flow.FanOut([one_slow, plain, dead])
    fan.send(rows(0, 1))
    fan.send(rows(1, 1))
    dead.consumer.close()
    before = sum(path.stat().st_size for path in tmp_path.iterdir())
    with pytest.raises(errors.FlowError, match="consumer is gone"):
        send(fan)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == before
    for bridge in (one_slow, plain):
        assert not bridge.producer.closed
        bridge.producer.close()
        assert flat(bridge.consumer) == [0, 1]


def test_a_watermark_that_goes_back_in_one_bridge_reaches_none():
    first, second = flow.Bridge(SCHEMA), flow.Bridge(SCHEMA)
    second.producer.watermark(10)
    with pytest.raises(errors.FlowError, match="never goes back"):
        flow.FanOut([first, second]).watermark(5)
    assert first.consumer.poll() is None


def test_a_batch_is_offered_to_all_or_to_none_when_one_pauses():
    roomy = flow.Bridge(SCHEMA)
    full = flow.Bridge(SCHEMA, capacity=1, backpressure=flow.Pause(timeout=0.01))
    fan = flow.FanOut([roomy, full])
    fan.send(rows(0, 1))
    assert not fan.has_capacity
    with pytest.raises(errors.BackpressureError):
        fan.send(rows(1, 1))
    assert (roomy.stats.offered, full.stats.offered) == (1, 1)


def test_a_slow_bridge_that_drops_does_not_hold_back_the_others():
    steady, lossy = flow.Bridge(SCHEMA), flow.Bridge(SCHEMA, capacity=1, backpressure=flow.DropNewest())
    fan = flow.FanOut([steady, lossy])
    assert [fan.send(rows(n, 1)) for n in range(3)] == [True, False, False]
    fan.close()
    assert flat(steady.consumer) == [0, 1, 2]
    assert flat(lossy.consumer) == [0]
    assert lossy.stats.dropped == 2


def test_consumers_in_threads_see_the_same_cut_at_every_checkpoint():
    bridges = [flow.Bridge(SCHEMA, capacity=8) for _ in range(3)]
    start = threading.Barrier(4)

    def consume(bridge):
        start.wait()
        return flat(bridge.consumer)

    threads = [InThread(consume, bridge) for bridge in bridges]
    fan = flow.FanOut(bridges)
    start.wait()
    expected: list[object] = []
    for n in range(2000):
        fan.send(rows(n, 1))
        expected.append(n)
        if n % 97 == 0:
            fan.checkpoint(n)
            expected.append(flow.Checkpoint(n))
    fan.close()
    for thread in threads:
        thread.join()
        assert thread.result == expected


def test_the_same_producer_twice_is_refused():
    bridge = flow.Bridge(SCHEMA)
    with pytest.raises(errors.OptionError):
        flow.FanOut([bridge, bridge.producer])


def numbers_of(bridge):
    bridge.producer.close()
    return flat(bridge.consumer)


@pytest.mark.parametrize("kind", ["table", "reader"])
def test_every_bridge_gets_every_batch_of_a_table_or_a_reader(kind):
    bridges = [flow.Bridge(SCHEMA), flow.Bridge(SCHEMA)]
    table = pa.Table.from_batches([rows(0, 2), rows(2, 1), rows(3, 2)])
    assert flow.FanOut(bridges).send(table if kind == "table" else table.to_reader()) is True
    assert [numbers_of(bridge) for bridge in bridges] == [[0, 1, 2, 3, 4]] * 2


def test_a_batch_that_a_full_spill_refuses_reaches_no_bridge_and_can_be_sent_again(tmp_path):
    spills = flow.SpillToDisk(tmp_path, max_bytes=2000)
    for key in (None, "n"):
        plain, spilling = flow.Bridge(SCHEMA), flow.Bridge(SCHEMA, capacity=1, backpressure=spills, key=key)
        fan = flow.FanOut([plain, spilling])
        sent, refused, met = 0, 0, []
        while sent < 20:
            try:
                fan.send(rows(sent, 1))
                sent += 1
            except errors.BackpressureError:
                refused += 1
                met.append(spilling.consumer.poll(1))
        assert refused
        assert plain.stats.offered == spilling.stats.offered == 20
        assert flat(met) + numbers_of(spilling) == numbers_of(plain) == list(range(20))


def test_a_batch_of_another_schema_than_one_bridge_has_reaches_none():
    other = flow.Bridge(pa.schema([("x", pa.string())]))
    plain = flow.Bridge(SCHEMA)
    with pytest.raises(errors.SchemaError):
        flow.FanOut([plain, other]).send(rows(0, 1))
    assert plain.stats.offered == other.stats.offered == 0
