"""Consumers that come and go at random while others push: each sees exactly the buffers of its life, and no null that the
source has not.

In: several threads. Out: every consumer's rows against those of the buffers pushed while it was subscribed. Buffers hold
whole records, so that a batch's spans say which rows it must have. Refuses to know: values beyond their record's number.
"""

from __future__ import annotations

import gc
import random
import threading
from dataclasses import dataclass, field

import pytest
from shared_inputs import NAMES, SCHEMA, Threads, expected, lines, record, rows

import formatter as fm
from formatter.shared.projection import Projection

ROWS_A_BUFFER = 7
QUOTES = {"any order": None, "quote counting": '"'}


def buffer_of(sequence: int) -> bytes:
    """Behind an empty line: no record of it belongs together with the buffer before, whenever that one comes."""
    return b"\n" + lines(ids_of(sequence))


def ids_of(sequence: int) -> range:
    return range((sequence - 1) * ROWS_A_BUFFER, sequence * ROWS_A_BUFFER)


@dataclass
class Clock:
    """When each push began and ended, in the order of things that happened."""

    now: int = 0
    began: dict[int, int] = field(default_factory=dict)
    ended: dict[int, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tick(self) -> int:
        with self.lock:
            self.now += 1
            return self.now


@dataclass
class Life:
    columns: list[str]
    opening: int = 0  # before subscribe() was called
    opened: int = 0  # after it returned
    closing: int = 0
    closed: int = 0
    batches: list[fm.Batch] = field(default_factory=list)
    version: int = 0


def push_all(shared: fm.SharedStream, clock: Clock, stop: threading.Event, turn: int, of: int) -> None:
    sequence = turn + 1
    while not stop.is_set():
        clock.began[sequence] = clock.tick()
        shared.push(buffer_of(sequence), sequence=sequence)
        clock.ended[sequence] = clock.tick()
        sequence += of


def come_and_go(
    shared: fm.SharedStream, clock: Clock, seed: int, times: int, name: str | None, lives: list[Life]
) -> None:
    chance = random.Random(seed)
    for _ in range(times):
        everything = chance.random() < 0.1
        life = Life(list(NAMES) if everything else chance.sample(NAMES, chance.randrange(len(NAMES))))
        life.opening = clock.tick()
        subscription = shared.subscribe(
            fm.ALL if everything else life.columns, name=name, queue=chance.choice([1, 4, 1000])
        )
        life.opened = clock.tick()
        life.version = subscription.effective_version
        for _ in range(chance.randrange(4)):
            batch = subscription.poll(0.002)
            if batch is not None:
                life.batches.append(batch)
        life.closing = clock.tick()
        subscription.close()
        life.closed = clock.tick()
        life.batches += subscription
        lives.append(life)


def check(life: Life, clock: Clock, at_once: bool) -> int:
    """Its batches are those of its life: all of them, no others, with every value. Returns the rows.

    Unless buffers are used `at_once`, they may wait for earlier ones beyond the life in which they were pushed.
    """
    seen: list[int] = []
    count = 0
    for batch in life.batches:
        assert batch.projection_version >= life.version
        sequences = [s for first, last in batch.spans for s in range(first, last + 1)]
        seen += sequences
        ids = [i for s in sequences for i in ids_of(s)]
        assert batch.num_rows == len(ids)
        wanted = {name: sorted(map(str, (record(i)[name] for i in ids))) for name in life.columns}
        for name in life.columns:
            column = batch.column(name)
            assert column.null_count == 0
            assert sorted(map(str, column.to_pylist())) == wanted[name]
        for name in set(NAMES) - set(batch.projection):
            assert batch.data[name].null_count == len(ids)
        count += len(ids)
    assert len(seen) == len(set(seen))
    for sequence in seen:
        assert clock.began[sequence] < life.closed
        assert not at_once or clock.ended.get(sequence, life.closed) > life.opening
    whole = {s for s, at in clock.began.items() if at > life.opened and clock.ended.get(s, life.closing) < life.closing}
    assert not at_once or whole <= set(seen)
    return count


@pytest.mark.parametrize("name", QUOTES)
@pytest.mark.parametrize("ordered", [False, True])
def test_a_thousand_lives_from_several_threads_see_exactly_what_was_pushed_in_them(name, ordered):
    format = fm.Csv(SCHEMA, quote=QUOTES[name])
    shared = fm.SharedStream(format, ordered=ordered, batch=fm.BatchPolicy(max_rows=6 * ROWS_A_BUFFER))
    clock, stop = Clock(), threading.Event()
    witness = shared.subscribe(["id"], queue=100_000)
    lives: list[list[Life]] = [[] for _ in range(5)]
    pushers = Threads(*(lambda turn=turn: push_all(shared, clock, stop, turn, 2) for turn in range(2)))
    # The last two live under names that come back at once.
    coming = Threads(
        *(lambda i=i: come_and_go(shared, clock, i, 50, None if i < 3 else f"again {i}", lives[i]) for i in range(5))
    )
    coming.join()
    stop.set()
    pushers.join()
    last = max(clock.began)
    known = set(clock.began)
    for missing in set(range(1, last)) - known:
        shared.push(buffer_of(missing), sequence=missing)
    shared.finish()
    assert sorted(row["id"] for row in rows(witness)) == list(range(last * ROWS_A_BUFFER))
    rows_seen = [check(life, clock, not ordered and format.quote is None) for each in lives for life in each]
    assert len(rows_seen) == 250
    assert sum(rows_seen) > 0
    assert shared.subscriptions == (witness.name,)
    assert shared.decoding_columns == ("id",)


def test_restarts_under_one_name_from_many_threads_end_with_one_of_them():
    shared = fm.SharedStream(fm.Csv(SCHEMA))
    stop = threading.Event()
    clock = Clock()
    won: list[int] = []

    def fight(turn: int) -> None:
        chance = random.Random(turn)
        for _ in range(60):
            try:
                subscription = shared.subscribe(chance.sample(NAMES, 2), name="the one", queue=1, overflow="drop")
            except fm.FlowError:
                continue
            won.append(turn)
            assert shared.subscriptions == ("the one",)
            if chance.random() < 0.5:
                subscription.close()
            else:
                del subscription  # lost, as when its thread died

    pushers = Threads(lambda: push_all(shared, clock, stop, 0, 1))
    fighting = Threads(*(lambda turn=turn: fight(turn) for turn in range(4)))
    fighting.join()
    stop.set()
    pushers.join()
    assert won
    assert (shared.subscriptions, shared.decoding_columns) == ((), ())
    with shared.subscribe(["a"], name="the one") as after:
        shared.push(lines(ids_of(max(clock.began) + 1)), sequence=max(clock.began) + 1)
    assert rows(after) == expected(ids_of(max(clock.began) + 1), {"a"})


def test_versions_are_counted_by_ones_however_many_threads_change_the_union():
    shared = fm.SharedStream(fm.Csv(SCHEMA))
    keep: list[fm.Subscription] = []
    seen: list[int] = []

    def work(column: str) -> None:
        for _ in range(25):
            subscription = shared.subscribe([column])
            seen.append(subscription.effective_version)
            subscription.close()

    Threads(*(lambda column=column: work(column) for column in NAMES)).join()
    assert shared.projection_version == 2 * 25 * len(NAMES)  # each came alone into the union and left it
    assert len(set(seen)) == len(seen)
    assert keep == []


@pytest.mark.slow
def test_a_thousand_lives_while_records_span_buffers_give_each_record_once_with_every_value():
    chance = random.Random(5)
    content = lines(range(60_000))
    pieces = [content[i : i + 61] for i in range(0, len(content), 61)]
    shared = fm.SharedStream(fm.Csv(SCHEMA), batch=fm.BatchPolicy(max_rows=500))
    witness = shared.subscribe(["id", "c"], queue=100_000)
    orders = [list(range(turn, len(pieces), 3)) for turn in range(3)]
    for order in orders:
        for begin in range(0, len(order), 64):
            part = order[begin : begin + 64]
            chance.shuffle(part)
            order[begin : begin + 64] = part
    found: list[tuple[list[str], list[fm.Batch]]] = []

    def push(order: list[int]) -> None:
        for index in order:
            shared.push(pieces[index], sequence=index + 1)

    def live(seed: int) -> None:
        mine = random.Random(seed)
        for _ in range(250):
            columns = ["id", *mine.sample(NAMES[1:], mine.randrange(5))]
            with shared.subscribe(columns, queue=mine.choice([2, 1000])) as subscription:
                batches = [b for _ in range(mine.randrange(3)) if (b := subscription.poll(0.003)) is not None]
            found.append((columns, batches + list(subscription)))

    pushing = Threads(*(lambda order=order: push(order) for order in orders))
    Threads(*(lambda seed=seed: live(seed) for seed in range(4))).join()
    pushing.join()
    shared.finish()
    assert sorted(row["id"] for row in rows(witness)) == list(range(60_000))
    assert len(found) == 1000
    for columns, batches in found:
        ids = [i for batch in batches for i in batch.column("id").to_pylist()]
        assert len(ids) == len(set(ids))
        for name in columns:
            values = [v for batch in batches for v in batch.column(name).to_pylist()]
            assert values == [record(i)[name] for i in ids]


def test_a_thousand_changes_leave_nothing_behind():
    shared = fm.SharedStream(fm.Csv(SCHEMA))
    steady = shared.subscribe(["id"], queue=10_000)
    sequence = 0

    def change(times: int) -> None:
        nonlocal sequence
        for k in range(times):
            with shared.subscribe([NAMES[k % 5 + 1]]):
                sequence += 1
                shared.push(buffer_of(sequence), sequence=sequence)

    def projections() -> int:
        gc.collect()
        return sum(isinstance(each, Projection) for each in gc.get_objects())

    change(50)
    before = projections()
    change(1000)
    assert projections() <= before + 5
    shared.finish()
    assert len(rows(steady)) == 1050 * ROWS_A_BUFFER
