"""Each consumer has its own queue: what a full one does to whom.

In: consumers that read slowly, never, or die. Out: who waits, what is counted. Refuses to know: projections.
"""

from __future__ import annotations

import gc
import threading
import time

import pytest
from patience import PATIENCE_S, comes_true
from shared_inputs import SCHEMA, Threads, lines, rows, waiting

import formatter as fm

FORMAT = fm.Csv(SCHEMA)
ROW_A_BATCH = fm.BatchPolicy(max_rows=1)


def push_rows(shared: fm.SharedStream, count: int) -> None:
    for k in range(count):
        shared.push(lines([k]), sequence=k + 1)


def ids(batches) -> list[int]:
    return [row["id"] for row in rows(batches)]


def test_wait_holds_the_call_back_until_there_is_room_and_loses_nothing():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    subscription = shared.subscribe(["id"], queue=3)
    pushing = Threads(lambda: push_rows(shared, 50))
    assert comes_true(lambda: shared.stats.buffers == 4)
    time.sleep(0.05)
    assert (shared.stats.buffers, subscription.lag) == (4, 3)
    found = [next(subscription) for _ in range(50)]
    pushing.join()
    assert ids(found) == list(range(50))
    assert (subscription.lag, subscription.dropped) == (0, 0)


def test_a_consumer_that_waits_holds_back_calls_but_no_batch_of_others():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    slow, quick = shared.subscribe(["id"], queue=2), shared.subscribe(["id"], queue=1000)
    pushing = Threads(lambda: push_rows(shared, 30))
    assert comes_true(lambda: quick.lag == 3)  # the batch that the call waits with has reached everybody else
    assert ids(waiting(quick)) == [0, 1, 2]
    slow.close()
    pushing.join()
    assert ids(waiting(quick)) == list(range(3, 30))


def test_drop_counts_what_found_no_room_and_holds_nobody_back():
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_rows=2))
    subscription, other = shared.subscribe(["id"], queue=2, overflow="drop"), shared.subscribe(["id"], queue=100)
    for k in range(10):
        shared.push(lines([2 * k, 2 * k + 1]), sequence=k + 1)
    assert (subscription.lag, subscription.dropped, subscription.dropped_rows) == (2, 8, 16)
    assert ids(waiting(subscription)) == [0, 1, 2, 3]
    shared.push(lines([20, 21]), sequence=11)
    assert ids(waiting(subscription)) == [20, 21]
    assert ids(waiting(other)) == list(range(22))
    stats = subscription.stats
    assert (stats.delivered, stats.delivered_rows, stats.dropped, stats.taken) == (3, 6, 8, 3)
    assert (shared.stats.dropped_batches, shared.stats.dropped_rows) == (8, 16)


def test_fail_ends_the_subscription_behind_what_it_has_and_nobody_else():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    subscription = shared.subscribe(["a", "id"], name="x", queue=2, overflow="fail")
    other = shared.subscribe(["id"], queue=100)
    push_rows(shared, 5)
    assert subscription.closed
    assert shared.decoding_columns == ("id",)
    assert ids([next(subscription), next(subscription)]) == [0, 1]
    for _ in range(2):
        with pytest.raises(fm.BackpressureError, match="'x': 2 batches wait"):
            next(subscription)
    assert ids(waiting(other)) == list(range(5))
    shared.subscribe(["b"], name="x").close()


def test_a_call_that_waits_goes_on_when_the_consumer_closes():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    subscription = shared.subscribe(["id"], queue=1)
    pushing = Threads(lambda: push_rows(shared, 20), lambda: None)
    assert comes_true(lambda: shared.stats.buffers == 2)
    subscription.close()
    pushing.join()


def test_a_call_that_waits_goes_on_when_the_lease_is_lost():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    subscription = shared.subscribe(["id"], queue=1)
    pushing = Threads(lambda: push_rows(shared, 20))
    assert comes_true(lambda: shared.stats.buffers == 2)
    del subscription
    gc.collect()
    pushing.join()
    assert shared.subscriptions == ()


def test_a_consumer_whose_thread_died_without_closing_does_not_hold_calls_for_ever():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    subscription = shared.subscribe(["id"], queue=1, name="x")
    other = shared.subscribe(["id"], queue=100)

    def dies() -> None:
        next(subscription)
        raise RuntimeError("died")

    reader = Threads(dies)
    push_rows(shared, 1)
    with pytest.raises(RuntimeError, match="died"):
        reader.join()
    pushing = Threads(lambda: [shared.push(lines([k]), sequence=k + 1) for k in range(1, 10)])
    pushing.join()
    assert subscription.closed
    assert shared.subscriptions == (other.name,)
    assert ids([next(subscription), next(subscription)]) == [1, 2]
    with pytest.raises(fm.FlowError, match="'x': the threads that read it ended without closing it"):
        next(subscription)
    assert ids(waiting(other)) == list(range(10))


def test_a_thread_that_died_as_a_whole_gives_its_lease_back():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    ready = threading.Event()

    def dies() -> None:
        subscription = shared.subscribe(["id"], queue=1)
        ready.set()
        next(subscription)
        raise RuntimeError

    reader = Threads(dies)
    assert ready.wait(PATIENCE_S)
    push_rows(shared, 1)
    with pytest.raises(RuntimeError):
        reader.join()
    reader.failures.clear()
    gc.collect()
    Threads(lambda: [shared.push(lines([k]), sequence=k + 1) for k in range(1, 10)]).join()
    assert shared.subscriptions == ()


def test_a_thread_at_both_ends_is_told_that_it_waits_for_itself():
    import subprocess
    import sys

    code = (
        "import formatter as fm, pyarrow as pa\n"
        "shared = fm.SharedStream(fm.Csv(pa.schema([('a', pa.int64())])), batch=fm.BatchPolicy(max_rows=1))\n"
        "subscription = shared.subscribe(['a'], queue=2)\n"
        "try:\n"
        "    for k in range(9): shared.push(b'%d\\n' % k, sequence=k + 1)\n"
        "except fm.FlowError as error: print(k, error)\n"
        "print([row['a'] for b in iter(subscription.poll, None) for row in b.data.to_pylist()])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second = done.stdout.splitlines()
    assert first.startswith("2 subscription 'consumer-1': its queue is full, and this thread is the one that reads it")
    assert second == "[0, 1, 2]"


def test_a_thread_that_reads_and_pushes_is_told_so_also_while_others_run():
    shared = fm.SharedStream(FORMAT, batch=ROW_A_BATCH)
    subscription = shared.subscribe(["id"], queue=1)
    stop = threading.Event()
    other = Threads(lambda: stop.wait(PATIENCE_S))
    push_rows(shared, 1)
    assert ids([next(subscription)]) == [0]
    shared.push(lines([1]), sequence=2)
    with pytest.raises(fm.FlowError, match="it would wait for itself"):
        shared.push(lines([2]), sequence=3)
    assert ids(waiting(subscription)) == [1, 2]
    stop.set()
    other.join()


def test_subscribing_and_leaving_never_wait_for_a_full_queue():
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_rows=100))
    full = shared.subscribe(["id"], queue=1)
    for k in range(5):
        shared.push(lines([k]), sequence=k + 1)
        shared.subscribe(["a"]).close()  # cuts the open batch, which the full queue takes all the same
    assert full.lag == 1
    assert ids(waiting(full)) == list(range(5))


def test_finish_waits_for_room_and_ends_behind_the_last_batch():
    shared = fm.SharedStream(FORMAT, batch=fm.BatchPolicy(max_rows=1))
    subscription = shared.subscribe(["id"], queue=1)
    found: list[int] = []

    def produce() -> None:
        shared.push_many([lines([k]) for k in range(40)], sequences=list(range(1, 41)))
        shared.finish()

    producing = Threads(produce)
    for batch in subscription:
        time.sleep(0.001)
        found += ids([batch])
    producing.join()
    assert found == list(range(40))
