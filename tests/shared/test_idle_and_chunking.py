"""Rows do not depend on how bytes were cut, nor on whether anybody listened before: records that span the moment when
consumers come or go are right.

In: buffers of every size, consumers that come between any two of them. Out: exact rows and counts. Refuses to know:
threads.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shared_inputs import SCHEMA, covered, expected, lines, record, rows, waiting

import formatter as fm

FORMAT = fm.Csv(SCHEMA)
DIALECTS = {
    "quoted": fm.Csv(SCHEMA),
    "unquoted": fm.Csv(SCHEMA, quote=None),
    "header": fm.Csv(SCHEMA, header=True),
    "long end": fm.Csv(SCHEMA, record_delimiter="<e>\n"),
    "json": fm.Json(SCHEMA),
}


def encoded(name: str, count: int) -> bytes:
    if name == "json":
        import json

        return "".join(json.dumps(record(i)) + "\n" for i in range(count)).encode()
    end = "<e>\n" if name == "long end" else "\n"
    head = [",".join(SCHEMA.names)] if name == "header" else []
    quote = '"' if name in ("quoted", "header") else ""
    made = []
    for i in range(count):
        values = record(i)
        values["e"] = f"{quote}e{i % 7}{quote}"
        made.append(",".join(map(str, values.values())))
    return "".join(line + end for line in head + made).encode()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_consumers_that_come_and_go_between_any_two_buffers_see_whole_right_records(data):
    name = data.draw(st.sampled_from(list(DIALECTS)))
    size = data.draw(st.sampled_from([1, 2, 7, 63, 64, 65, 400]))
    seed = data.draw(st.integers(0, 2**16))
    chance = random.Random(seed)
    content = encoded(name, 40)
    pieces = [content[i : i + size] for i in range(0, len(content), size)]
    order = list(range(len(pieces)))
    if data.draw(st.booleans()):
        chance.shuffle(order)
    shared = fm.SharedStream(DIALECTS[name], batch=fm.BatchPolicy(max_rows=chance.choice([1, 7, 1000])))
    witness = shared.subscribe(["id"], queue=10_000) if data.draw(st.booleans()) else None
    live: list[tuple[fm.Subscription, list[str]]] = []
    seen: list[tuple[list[fm.Batch], list[str]]] = []
    for index in order:
        if chance.random() < 0.2:
            columns = chance.sample(SCHEMA.names, chance.randrange(len(SCHEMA.names) + 1))
            live.append((shared.subscribe(columns, queue=10_000), columns))
        if live and chance.random() < 0.2:
            subscription, columns = live.pop(chance.randrange(len(live)))
            subscription.close()
            seen.append((list(subscription), columns))
        shared.push(pieces[index], sequence=index + 1)
    shared.finish()
    seen += [(list(subscription), columns) for subscription, columns in live]
    for batches, columns in seen:
        for batch in batches:
            batch.data.validate(full=True)
            for column in columns:
                assert batch.column(column).null_count == 0
        found = rows(batches)
        if "id" in columns:
            ids = [row["id"] for row in found]
            assert len(set(ids)) == len(ids)
            for row in found:
                assert {c: row[c] for c in columns} == {c: record(row["id"])[c] for c in columns}
        else:
            for column in columns:
                assert {row[column] for row in found} <= {record(i)[column] for i in range(40)}
    if witness:
        batches = list(witness)
        assert sorted(row["id"] for row in rows(batches)) == list(range(40))
        assert covered(batches) == list(range(1, len(pieces) + 1))
    stats = shared.stats
    assert (stats.records, stats.pending_bytes, stats.open_batches) == (40, 0, 0)


def test_what_came_while_nobody_listened_is_counted_and_a_record_that_spans_into_a_life_is_whole():
    shared = fm.SharedStream(FORMAT)
    shared.push(lines(range(10)) + b"10,30,b1", sequence=1)
    with shared.subscribe(["id", "b", "e"]) as subscription:
        shared.push(b"0,5.0,10,e3\n" + lines([11]) + b"12,3", sequence=2)
    assert rows(subscription) == expected([10, 11], {"id", "b", "e"})
    shared.push(b"6,b12,6.0,12,e5\n" + lines([13]), sequence=3)
    stats = shared.stats
    assert (stats.discarded_buffers, stats.discarded_rows) == (2, 12)
    assert stats.discarded_bytes == stats.bytes - len(b"0,5.0,10,e3\n" + lines([11]) + b"12,3")
    assert stats.records == 14
    assert {name: count for name, count in stats.values_decoded.items() if count} == {"id": 2, "b": 2, "e": 2}


def test_with_nobody_listening_nothing_is_decoded_and_nothing_is_wrong():
    shared = fm.SharedStream(FORMAT)
    shared.push(b"no,number,at,all,in,here\n1,2\n", sequence=1)
    shared.flush()
    stats = shared.stats
    assert not any(stats.values_decoded.values())
    assert (stats.rejects, stats.discarded_rows, stats.discarded_buffers) == (1, 1, 1)
    assert shared.rejects().num_rows == 0
    subscription = shared.subscribe(["id"])
    with pytest.raises(fm.FormatError) as raised:
        shared.push(b"bad,3,b,0,0,e\n", sequence=2)
    assert raised.value.record == 2
    subscription.close()


def test_positions_of_errors_count_what_was_passed_over():
    shared = fm.SharedStream(FORMAT, on_error="collect")
    shared.push(lines(range(100)), sequence=1)
    subscription = shared.subscribe(["a"])
    shared.push(lines(range(100, 105)) + b"105,bad,b,0,0,e\n", sequence=2)
    shared.finish()
    rejects = shared.rejects().to_pylist()
    offset = len(lines(range(105))) + len(b"105,")
    assert [(r["record"], r["byte_offset"], r["column"]) for r in rejects] == [(105, offset, "a")]
    assert len(rows(subscription)) == 5


def test_idle_error_refuses_buffers_and_takes_them_once_somebody_listens():
    shared = fm.SharedStream(FORMAT, idle="error")
    for refused in (
        lambda: shared.push(lines([0]), sequence=1),
        lambda: shared.push_many([lines([0])], sequences=[1]),
        lambda: shared.append(lines([0])),
    ):
        with pytest.raises(fm.FlowError, match="nobody is subscribed"):
            refused()
    with shared.subscribe(["id"]) as subscription:
        shared.push(lines([0]), sequence=1)
    with pytest.raises(fm.FlowError, match="nobody is subscribed"):
        shared.push(lines([1]), sequence=2)
    assert rows(subscription) == expected([0], {"id"})
    assert shared.stats.discarded_buffers == 0


def test_held_buffers_are_decoded_under_what_is_wanted_when_they_are_released():
    shared = fm.SharedStream(FORMAT, ordered=True)
    early = shared.subscribe(["a"])
    shared.push(lines(range(10, 20)), sequence=2)  # waits for the first
    late = shared.subscribe(["b"])
    shared.push(lines(range(10)), sequence=1)
    shared.finish()
    assert [row["b"] for row in rows(late)] == [f"b{i}" for i in range(20)]
    assert [row["a"] for row in rows(early)] == [i * 3 for i in range(20)]


def test_a_header_moves_columns_for_whoever_comes_later_too():
    shared = fm.SharedStream(fm.Csv(SCHEMA, header=True))
    shared.push(b"b,id,a,d,c,e\nx,1,2,3,4.5,y\n", sequence=1, origin="one")
    first = shared.subscribe(["id"])
    shared.push(b"e,d,c,b,a,id\nz,4,5.5,q,3,2\n", sequence=1, origin="two")
    second = shared.subscribe(["b", "c"])
    shared.push(b"r,3,4,5,6.5,w\n", sequence=2, origin="one")
    shared.push(b"v,6,7.5,s,5,4\n", sequence=2, origin="two")
    shared.finish_all()
    assert sorted(row["id"] for row in rows(first)) == [2, 3, 4]
    assert sorted((row["b"], row["c"]) for row in rows(second)) == [("r", 6.5), ("s", 7.5)]


def test_a_column_that_an_origins_header_lacks_is_refused_to_who_asks_for_it():
    shared = fm.SharedStream(fm.Csv(SCHEMA, header=True))
    first = shared.subscribe(["id"])
    shared.push(b"id,e,a\n9,v,8\n", sequence=1)
    with pytest.raises(fm.SchemaError, match="has no column 'b'"):
        shared.subscribe(["a", "b"], name="x")
    assert (shared.decoding_columns, shared.subscriptions) == (("id",), (first.name,))
    second = shared.subscribe(["a"], name="x")
    shared.push(b"10,u,7\n", sequence=2)
    shared.finish()
    assert [row["a"] for row in rows(second)] == [7]
    assert [row["id"] for row in rows(first)] == [9, 10]


def test_a_late_origin_whose_header_lacks_a_column_is_told_to_who_pushes_it():
    shared = fm.SharedStream(fm.Csv(SCHEMA, header=True))
    subscription = shared.subscribe(["id", "b"])
    shared.push(b"id,b\n1,x\n", sequence=1, origin="good")
    with pytest.raises(fm.FormatError) as raised:
        shared.push(b"id,e\n1,x\n", sequence=1, origin="bad")
    assert raised.value.code == "header"
    other = shared.subscribe(["id"])  # whoever needs none of the missing ones may still come
    subscription.close()
    shared.push(b"2,y\n", sequence=2, origin="good")
    shared.push(b"7,y\n", sequence=2, origin="bad")
    shared.finish_all()
    assert sorted(row["id"] for row in rows(other)) == [2, 7]


def test_ordered_batches_arrive_in_stream_order():
    shared = fm.SharedStream(FORMAT, ordered=True, batch=fm.BatchPolicy(max_rows=3))
    subscription = shared.subscribe(["id"], queue=1000)
    content = lines(range(200))
    pieces = [content[i : i + 17] for i in range(0, len(content), 17)]
    order = list(range(len(pieces)))
    random.Random(3).shuffle(order)
    for index in order:
        shared.push(pieces[index], sequence=index + 1)
    shared.finish()
    assert [row["id"] for row in rows(subscription)] == list(range(200))


def test_lost_and_redelivered_buffers_are_what_they_are_in_a_stream():
    options = {"on_duplicate": "ignore", "on_error": "collect"}
    shared, alone = fm.SharedStream(FORMAT, **options), fm.Stream(FORMAT, **options)
    subscription = shared.subscribe()
    batches: list[fm.Batch] = []
    for stream in (shared, alone):
        for call in (
            lambda stream=stream: stream.push(lines([0]) + b"1,", sequence=1),
            lambda stream=stream: stream.lost(2),
            lambda stream=stream: stream.push(b"\n" + lines([3]), sequence=3),
            lambda stream=stream: stream.push(b"\n" + lines([3]), sequence=3),
            lambda stream=stream: stream.finish(),
        ):
            found = call()
            if stream is alone:
                batches += found
    assert rows(subscription) == rows(batches)
    assert shared.rejects().equals(alone.rejects())
    assert shared.stats.duplicates == alone.stats.duplicates == 1


@pytest.mark.parametrize("name", DIALECTS)
def test_a_checkpoint_goes_on_exactly_once_with_other_consumers(name):
    content = encoded(name, 60)
    pieces = [content[i : i + 23] for i in range(0, len(content), 23)]
    format = DIALECTS[name]
    shared = fm.SharedStream(format, on_error="collect", idle="error", batch=fm.BatchPolicy(max_rows=9))
    before = shared.subscribe(["id", "a"], queue=1000)
    half = len(pieces) // 2
    for k in range(half):
        shared.push(pieces[k], sequence=k + 1, origin="x")
    state = shared.checkpoint()
    delivered = waiting(before)
    again = fm.SharedStream.restore(format, state)
    with pytest.raises(fm.FlowError, match="nobody"):
        again.push(pieces[half], sequence=half + 1, origin="x")
    after = again.subscribe(["id", "e"], queue=1000)
    for k in range(half, len(pieces)):
        again.push(pieces[k], sequence=k + 1, origin="x")
    again.finish_all()
    found = rows(delivered)
    for row in rows(after):
        assert row["e"] == record(row["id"])["e"]
        found.append(row)
    assert [row["id"] for row in found] == list(range(60))
    assert covered(delivered) == list(range(1, half + 1))
    assert again.stats.records == 60
    assert again.rejects().num_rows == 0
