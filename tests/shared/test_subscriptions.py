"""Leases: taken at once, given back at once, by whatever way; and what is refused in which words.

In: subscriptions opened, closed, lost. Out: names, projections, errors. Refuses to know: queues that are full.
"""

from __future__ import annotations

import gc
import threading
import time

import pyarrow as pa
import pytest
from patience import PATIENCE_S
from shared_inputs import SCHEMA, Threads, covered, expected, lines, record, rows, waiting

import formatter as fm

FORMAT = fm.Csv(SCHEMA)


def test_closing_is_synchronous_and_doing_it_again_does_nothing():
    shared = fm.SharedStream(FORMAT)
    first, second = shared.subscribe(["a"]), shared.subscribe(["b"])
    first.close()
    assert (first.closed, shared.decoding_columns, shared.projection_version) == (True, ("b",), 3)
    first.close()
    first.close()
    assert (shared.projection_version, shared.subscriptions) == (3, (second.name,))


def test_after_close_nothing_comes_but_what_was_delivered_before_can_be_read():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["a"])
    shared.push(lines(range(3)), sequence=1)
    subscription.close()
    shared.push(lines(range(3, 6)), sequence=2)
    assert rows(subscription) == expected(range(3), {"a"})
    assert list(subscription) == []
    assert subscription.poll() is None


def test_a_with_block_closes_also_when_it_fails():
    shared = fm.SharedStream(FORMAT)
    with pytest.raises(ZeroDivisionError), shared.subscribe(["a"], name="x"):
        raise ZeroDivisionError
    assert shared.subscriptions == ()
    assert shared.decoding_columns == ()


def test_a_lease_that_is_lost_is_closed_and_its_name_is_free_at_once():
    shared = fm.SharedStream(FORMAT)
    lost = shared.subscribe(["a"], name="x")
    assert shared.decoding_columns == ("a",)
    del lost
    gc.collect()
    assert shared.decoding_columns == ()
    again = shared.subscribe(["b"], name="x")
    assert shared.decoding_columns == ("b",)
    assert shared.projection_version == 3
    again.close()


def test_a_lease_lost_in_a_cycle_is_closed_by_the_collector():
    shared = fm.SharedStream(FORMAT)

    class Holder:
        pass

    holder = Holder()
    holder.me, holder.subscription = holder, shared.subscribe(["a"], name="x")
    del holder
    gc.collect()
    shared.push(lines(range(3)), sequence=1)
    assert shared.subscriptions == ()
    assert shared.stats.discarded_buffers == 1


def test_the_collector_may_run_anywhere_even_inside_our_own_calls():
    """Losing a lease only marks it: nothing is locked where garbage is collected."""
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_rows=2))
    steady = shared.subscribe(["id"], queue=10_000)
    threshold = gc.get_threshold()
    gc.set_threshold(1, 1, 1)
    try:
        for k in range(60):
            ring = [shared.subscribe(["a", "b"], queue=1000, name="ring")]
            ring.append(ring)
            del ring
            gc.collect(0)
            shared.push(lines(range(4 * k, 4 * k + 4)), sequence=k + 1)
    finally:
        gc.set_threshold(*threshold)
    shared.finish()
    assert [row["id"] for row in rows(steady)] == list(range(240))


def test_the_same_name_comes_back_at_once_with_other_columns_and_sees_only_its_own():
    shared = fm.SharedStream(FORMAT)
    for k in range(50):
        column = "abc"[k % 3]
        with shared.subscribe([column], name="worker") as subscription:
            shared.push(lines([k]), sequence=k + 1)
            shared.flush()
            assert rows(waiting(subscription)) == expected([k], {column})


def test_a_late_clean_up_of_the_old_lease_does_not_undo_the_new_one():
    shared = fm.SharedStream(FORMAT)
    old = shared.subscribe(["a"], name="x")
    old.close()
    new = shared.subscribe(["b"], name="x")
    old.close()
    del old
    gc.collect()
    shared.push(lines(range(2)), sequence=1)
    shared.finish()
    assert rows(new) == expected(range(2), {"b"})


def test_finish_ends_everybody_who_waits():
    shared = fm.SharedStream(FORMAT)
    found: dict[str, list[int]] = {}
    started = threading.Barrier(4)

    def read(name: str) -> None:
        subscription = shared.subscribe(["id"], name=name)
        started.wait(PATIENCE_S)
        found[name] = [row["id"] for row in rows(subscription)]

    readers = Threads(*(lambda name=name: read(name) for name in "xyz"))
    started.wait(PATIENCE_S)
    shared.push(lines(range(50)), sequence=1)
    time.sleep(0.05)
    shared.finish()
    readers.join()
    assert found == {name: list(range(50)) for name in "xyz"}


def test_a_stream_ends_when_its_last_open_origin_is_finished():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["id"])
    shared.push(lines(range(3)), sequence=1, origin="x")
    shared.push(lines(range(3, 5)), sequence=1, origin="y")
    shared.finish(origin="x")
    assert [row["id"] for row in rows(waiting(subscription))] == [0, 1, 2]
    shared.push(lines(range(5, 7)), sequence=2, origin="y")
    shared.finish(origin="y")
    batches = list(subscription)
    assert [row["id"] for row in rows(batches)] == [3, 4, 5, 6]
    assert {batch.origin for batch in batches} == {"y"}


def test_finish_all_ends_a_stream_that_had_many_origins_or_none():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["id"])
    for origin in range(5):
        shared.append(lines([origin]), origin=origin)
    shared.finish_all()
    assert sorted(row["id"] for row in rows(subscription)) == list(range(5))
    empty = fm.SharedStream(FORMAT)
    nothing = empty.subscribe(["id"])
    empty.finish_all()
    assert list(nothing) == []


def test_several_threads_may_read_one_subscription_and_every_batch_goes_to_one_of_them():
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_rows=1))
    subscription = shared.subscribe(["id"], queue=8)
    found: list[list[fm.Batch]] = [[] for _ in range(4)]
    readers = Threads(*(lambda mine=mine: mine.extend(subscription) for mine in found))
    for k in range(300):
        shared.push(lines([k]), sequence=k + 1)
    shared.finish()
    readers.join()
    batches = [batch for mine in found for batch in mine]
    assert sorted(row["id"] for row in rows(batches)) == list(range(300))
    assert covered(batches) == list(range(1, 301))


def test_a_batch_whose_deadline_passes_reaches_a_waiting_consumer_without_another_push():
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_latency_ms=5))
    subscriptions = [shared.subscribe(["id"]) for _ in range(3)]
    shared.push(lines(range(4)), sequence=1)
    for subscription in subscriptions:
        batch = subscription.poll(PATIENCE_S)
        assert batch is not None
        assert batch.num_rows == 4
    begin = time.monotonic()
    assert subscriptions[0].poll(0.05) is None
    assert time.monotonic() - begin > 0.04


def test_a_broken_source_reaches_the_consumers_behind_what_came_before():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["id"])
    shared.push(lines(range(4)), sequence=1)
    shared.fail(OSError("the socket broke"))
    assert [row["id"] for row in next(subscription).data.to_pylist()] == list(range(4))
    with pytest.raises(fm.FlowError, match="the socket broke") as raised:
        next(subscription)
    assert isinstance(raised.value.__cause__, OSError)
    with pytest.raises(fm.FlowError, match="ended"):
        shared.subscribe(["id"])


# ------------------------------------------------------------------------------------------------------------ refusals


def test_an_unknown_column_is_refused_and_changes_nothing():
    shared = fm.SharedStream(FORMAT)
    kept = shared.subscribe(["a"])
    for refused in (["nope"], ["a", "nope"], [3]):
        with pytest.raises(fm.SchemaError):
            shared.subscribe(refused, name="x")
    with pytest.raises(fm.SchemaError, match="twice"):
        shared.subscribe(["a", "a"])
    with pytest.raises(fm.SchemaError, match="nope"):
        shared.subscribe(["a"], filters=[("nope", "==", 1)])
    with pytest.raises(fm.OptionError, match="cannot compare"):
        shared.subscribe(["a"], filters=[("a", "==", "text")])
    assert (shared.projection_version, shared.subscriptions) == (1, (kept.name,))


def test_a_name_that_lives_is_refused_and_belongs_to_the_first():
    shared = fm.SharedStream(FORMAT)
    first = shared.subscribe(["a"], name="x")
    with pytest.raises(fm.FlowError, match="'x' belongs to a live subscription"):
        shared.subscribe(["b"], name="x")
    assert shared.decoding_columns == ("a",)
    assert not first.closed


def test_names_that_are_not_given_are_made_and_never_collide():
    shared = fm.SharedStream(FORMAT)
    taken = shared.subscribe(["a"], name="consumer-2")
    names = [taken, *(shared.subscribe(["a"]) for _ in range(3))]
    assert [each.name for each in names] == ["consumer-2", "consumer-1", "consumer-3", "consumer-4"]


@pytest.mark.parametrize(
    "options", [{"queue": 0}, {"queue": True}, {"queue": 1.5}, {"overflow": "block"}, {"name": ""}, {"name": 4}]
)
def test_options_outside_their_range_are_refused(options):
    with pytest.raises(fm.OptionError, match=next(iter(options))):
        fm.SharedStream(FORMAT).subscribe(["a"], **options)


@pytest.mark.parametrize("options", [{"idle": "ignore"}, {"columns": ["a"]}, {"layout": "projected"}])
def test_stream_options_that_make_no_sense_here_are_refused(options):
    with pytest.raises(fm.OptionError, match=next(iter(options))):
        fm.SharedStream(FORMAT, **options)


def test_pushing_and_subscribing_after_the_end_are_refused():
    shared = fm.SharedStream(FORMAT)
    early = shared.subscribe(["id"])
    shared.push(lines(range(2)), sequence=1)
    shared.finish()
    for refused in (
        lambda: shared.push(b"", sequence=2),
        lambda: shared.push(b"", sequence=1, origin=7),
        lambda: shared.push_many([b""], sequences=[2]),
        lambda: shared.append(b""),
        lambda: shared.finish(),
        lambda: shared.lost(2),
        lambda: shared.lost(1, origin=7),
    ):
        with pytest.raises(fm.SequenceError, match=r"ended|finished"):
            refused()
    with pytest.raises(fm.FlowError, match="the stream has ended"):
        shared.subscribe(["id"])
    assert rows(early) == expected(range(2), {"id"})


def test_a_finish_that_misses_a_buffer_does_not_end_the_stream():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["id"])
    shared.push(lines([1]), sequence=2)
    with pytest.raises(fm.SequenceError, match="never came"):
        shared.finish()
    shared.push(lines([0]), sequence=1)
    shared.finish()
    assert sorted(row["id"] for row in rows(subscription)) == [0, 1]


def test_bad_records_are_told_to_who_pushes_and_the_good_rows_reach_the_consumers():
    shared = fm.SharedStream(FORMAT)
    subscription = shared.subscribe(["a"])
    with pytest.raises(fm.FormatError) as raised:
        shared.push(b"1,x,b,0,0,e\n" + lines([2]), sequence=1)
    assert (raised.value.column, raised.value.record, raised.value.byte_offset) == ("a", 0, 2)
    shared.push(lines([3]), sequence=2)
    shared.finish()
    assert [row["a"] for row in rows(subscription)] == [record(2)["a"], record(3)["a"]]


@pytest.mark.parametrize("ordered", [False, True])
def test_a_batch_that_cannot_be_what_the_schema_asks_for_is_told_and_the_others_arrive(ordered):
    schema = pa.schema([("k", pa.dictionary(pa.int8(), pa.string())), ("id", pa.int64())])
    shared = fm.SharedStream(fm.Csv(schema), batch=fm.BatchPolicy(max_rows=200), ordered=ordered)
    subscription = shared.subscribe(["k", "id"])
    many = b"".join(b"k%d,%d\n" % (i if i < 200 else i % 2, i) for i in range(600))
    with pytest.raises(fm.FormatterError, match="too many"):
        shared.push(many, sequence=1)
    shared.finish()
    assert [row["id"] for row in rows(subscription)] == list(range(200, 600))


def test_rejects_name_their_columns_whatever_the_projection_was():
    shared = fm.SharedStream(FORMAT, on_error="collect")
    first = shared.subscribe(["c"])
    shared.push(b"1,1,b,bad,0,e\n2,2,b,1", sequence=1)
    second = shared.subscribe(["a", "d"])
    shared.push(b".5,bad,e\n3,bad,b,1,1,e\n", sequence=2)
    shared.finish()
    rejects = shared.rejects()
    assert rejects["column"].to_pylist() == ["c", "d", "a"]
    assert rejects["record"].to_pylist() == [0, 1, 2]
    assert (rows(first), rows(second)) == ([], [])
