"""Streams of dialects that bound an open quote: what is given up costs one line, whatever the cuts and the order.

In: random records with quotes astray, bounds, cuts, orders of arrival. Out: what a whole read gives, each record once, and
nothing that waits longer than its bound.
"""

from __future__ import annotations

import random
import threading

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.string())])
PARTS = [
    b"1,x\n", b'2,"y\n', b'3,"p\nq"\n', b'"a""b",c\n', b'"', b"\n", b",", b"zz", b'"\n', b'w,"l1\nl2\nl3\nl4"\n',
    b'"o,\n', b"k,v\r\n", b'"s" t",u\n',
]  # fmt: skip


def found_in(rejects):
    return sorted((r["byte_offset"], r["record"], r["code"], r["raw"]) for r in rejects.to_pylist())


def whole(data, format):
    rejects = []
    table = fm.read(data, format, on_error="collect", rejects=rejects)
    return [tuple(row.values()) for row in table.to_pylist()], found_in(rejects[0])


def rows_of(batches):
    return [tuple(row.values()) for batch in batches for row in batch.data.to_pylist()]


def drawn(chance):
    """(bytes, a format)"""
    options = {"quotes": chance.choice(["strict", "lenient", "sticky"]), "escape": chance.choice([None, None, "\\"])}
    options |= {"trim": chance.random() < 0.2, "header": chance.random() < 0.3}
    lines, size = chance.choice([(1, None), (2, None), (3, 9), (None, 1), (None, 5), (None, 30)])
    data = b"".join(chance.choice(PARTS) for _ in range(chance.randint(1, 40)))
    format = fm.Csv(SCHEMA, max_quoted_lines=lines, max_quoted_bytes=size, **options)
    return (b"a,b\n" if options["header"] else b"") + data, format


@pytest.mark.parametrize("ordered", [False, True])
def test_any_cut_and_order_gives_what_the_whole_gives_across_a_checkpoint(ordered):
    for seed in range(300):
        chance = random.Random(seed)
        data, format = drawn(chance)
        size = chance.choice([1, 2, 3, 7, 20])
        buffers = [data[i : i + size] for i in range(0, len(data), size)]
        order = list(range(len(buffers)))
        chance.shuffle(order)
        stream = fm.Stream(format, on_error="collect", ordered=ordered, batch=fm.BatchPolicy(max_rows=3))
        saved_at = chance.randrange(2 * len(order))
        batches = []
        for turn, i in enumerate(order):
            if turn == saved_at:
                stream = fm.Stream.restore(format, stream.checkpoint())
            batches += stream.push(buffers[i], sequence=i + 1)
        batches += stream.finish(last_sequence=len(buffers))
        rows, rejects = whole(data, format)
        got = rows_of(batches)
        assert (got if ordered else sorted(got, key=repr)) == (rows if ordered else sorted(rows, key=repr)), seed
        assert found_in(stream.rejects()) == rejects, seed
        covered = [n for batch in batches for first, last in batch.spans for n in range(first, last + 1)]
        assert len(covered) == len(set(covered)), seed
        assert (stream.stats.pending_buffers, stream.stats.pending_bytes) == (0, 0), seed


def test_a_state_with_an_open_quote_of_several_lines_is_restored_and_a_nul_hides_no_line_end():
    format = fm.Csv(pa.schema([("a", pa.string()), ("b", pa.string())]), max_quoted_lines=3)
    data = b'w,"l1\nl2\0\nl3"\n"o,\n\0x,"1\n2,3\n4,5\n6,7\n'
    for size in range(1, len(data)):
        rejects = []
        expected = fm.read(data, format, on_error="collect", rejects=rejects).to_pylist()
        stream = fm.Stream(format, on_error="collect")
        rows = []
        for sequence, begin in enumerate(range(0, len(data), size), 1):
            batches = stream.push(data[begin : begin + size], sequence=sequence)
            stream = fm.Stream.restore(format, stream.checkpoint())
            rows += [row for batch in batches for row in batch.data.to_pylist()]
        rows += [row for batch in stream.finish() for row in batch.data.to_pylist()]
        assert rows == expected
        assert stream.rejects()["raw"].to_pylist() == rejects[0]["raw"].to_pylist()


def test_threads_give_what_the_whole_gives():
    chance = random.Random(3)
    data = b"".join(chance.choice(PARTS) for _ in range(20_000))
    format = fm.Csv(SCHEMA, quotes="lenient", max_quoted_lines=2)
    buffers = [data[i : i + 97] for i in range(0, len(data), 97)]
    stream = fm.Stream(format, on_error="collect")
    batches = [[] for _ in range(4)]

    def push(own):
        for i in range(own, len(buffers), 4):
            batches[own] += stream.push(buffers[i], sequence=i + 1)

    threads = [threading.Thread(target=push, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    got = rows_of([*(batch for own in batches for batch in own), *stream.finish()])
    rows, rejects = whole(data, format)
    assert sorted(got, key=repr) == sorted(rows, key=repr)
    assert found_in(stream.rejects()) == rejects


@pytest.mark.parametrize("bound", [{"max_quoted_lines": 2}, {"max_quoted_bytes": 8}])
def test_rows_behind_an_open_quote_leave_when_its_bound_is_passed(bound):
    data = b'1,x\n2,"y\n' + b"3,z\n" * 100
    stream = fm.Stream(
        fm.Csv(SCHEMA, **bound), on_error="collect", max_pending_bytes=16, batch=fm.BatchPolicy(max_rows=1)
    )
    rows = 0
    for i in range(len(data)):
        rows += sum(batch.num_rows for batch in stream.push(data[i : i + 1], sequence=i + 1))
        assert stream.stats.pending_bytes <= 16
    assert rows == 101
    (found,) = stream.rejects().to_pylist()
    assert (found["sequence"], found["byte_offset"], found["raw"]) == (9, 4, b'2,"y')


def test_a_quote_waits_for_no_more_than_a_record_may_have():
    data = b'1,"x\n' + b"2,y\n" * 1000
    stream = fm.Stream(fm.Csv(SCHEMA, max_quoted_lines=10_000), on_error="collect", max_record_bytes=100)
    batches = [batch for i in range(0, len(data), 9) for batch in stream.push(data[i : i + 9], sequence=i // 9 + 1)]
    batches += stream.finish()
    assert sum(batch.num_rows for batch in batches) == 1000
    assert found_in(stream.rejects()) == [(0, 0, "unterminated_quote", b'1,"x')]


def test_a_lost_buffer_ends_what_is_open():
    stream = fm.Stream(fm.Csv(SCHEMA, max_quoted_lines=3), on_error="collect")
    batches = stream.push(b'1,a\n2,"b\n', sequence=1)
    stream.lost(2)
    batches += stream.push(b"c,d\n5,f\n", sequence=3) + stream.finish()
    assert rows_of(batches) == [("1", "a"), ("5", "f")]
    assert {row["code"] for row in stream.rejects().to_pylist()} == {"lost"}


def test_consumers_of_a_shared_stream_receive_what_the_whole_gives():
    data = b'1,x\n2,"y\n3,z\n4,w\n5,"p\nq"\n' * 50
    format = fm.Csv(SCHEMA, quotes="lenient", max_quoted_lines=2)
    shared = fm.SharedStream(format, on_error="skip")
    consumer = shared.subscribe(fm.ALL)
    for i in range(0, len(data), 11):
        shared.push(data[i : i + 11], sequence=i // 11 + 1)
    shared.finish()
    values = [value for batch in consumer for value in batch.column("b").to_pylist()]
    assert sorted(values) == sorted(row[1] for row in whole(data, format)[0])
