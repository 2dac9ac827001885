"""Many threads on one stream: every row once, every buffer in one batch's spans, whatever the schedule.

In: buffers shared out to real threads. Out: exact multisets. Refuses to know: speed.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from itertools import chain

import pyarrow as pa
import pytest
from oracle.stream_runs import covered, multiset, pieces_of, reject_rows, row_tuples, shuffled, whole_read
from patience import PATIENCE_S

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
FORMATS = {
    "quoted": fm.Csv(SCHEMA),
    "unquoted": fm.Csv(SCHEMA, quote=None),
    "long delimiter": fm.Csv(SCHEMA, record_delimiter="<e>\n"),
    "header": fm.Csv(SCHEMA, header=True, quote=None),
    "json": fm.Json(SCHEMA),
}


def input_for(format: fm.Csv | fm.Json, rows: int, seed: int) -> bytes:
    chance = random.Random(seed)
    if isinstance(format, fm.Json):
        texts = [f'"b":"{"x" * chance.choice([0, 1, 5, 30, 200])}"' for _ in range(rows)]
        values = [f'"a":{i if i % 97 else "tru"}' for i in range(rows)]
        return "".join(f"{{{text},{value}}}\n" for text, value in zip(texts, values, strict=True)).encode()
    end = str(format.record_delimiter)
    out = ["a,b" + end] if format.header else []
    for i in range(rows):
        text = "x" * chance.choice([0, 1, 5, 30, 200])
        if format.quote and chance.random() < 0.5:
            text = f'"{text},{end}""{i}"'
        out.append(f"{'bad' if i % 97 == 0 else i},{text}{end}")
    return "".join(out).encode()


def in_threads(count: int, work: Callable[[int], None]) -> None:
    failures: list[BaseException] = []

    def guarded(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,), daemon=True) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def drive(
    format: fm.Csv | fm.Json, pieces: list[bytes], threads: int, seed: int, window: int | None, **options: object
) -> None:
    """Threads take the buffers from one shuffled list, one or several at a time; rows must be those of a whole read."""
    data = b"".join(pieces)
    stream = fm.Stream(format, on_error="collect", batch=fm.BatchPolicy(max_rows=100), **options)
    limit = options.get("max_sequence")
    order = shuffled(len(pieces), seed, window)
    taking = threading.Lock()
    batches: list[fm.Batch] = []
    at, stop = 0, len(order)

    def work(number: int) -> None:
        nonlocal at
        chance = random.Random(seed * 100 + number)
        while True:
            with taking:
                part = order[at : min(stop, at + chance.choice([1, 1, 2, 20]))]
                at += len(part)
            if not part:
                return
            sequences = [i % limit + 1 if limit else i + 1 for i in part]
            if len(part) == 1:
                found = stream.push(pieces[part[0]], sequence=sequences[0])
            else:
                found = stream.push_many([pieces[i] for i in part], sequences=sequences)
            with taking:
                batches.extend(found)

    # No thread may run ahead of another by half a round of the sequences.
    for end in range(limit // 4, len(order) + limit // 4, limit // 4) if limit else [len(order)]:
        stop = end
        in_threads(threads, work)
    batches += stream.finish()
    whole = whole_read(data, format, "collect")
    assert multiset(row_tuples(b.data for b in batches)) == whole.rows
    assert reject_rows(stream.rejects()) == whole.rejects
    if limit:
        times = [len(pieces) // limit + (s < len(pieces) % limit) for s in range(limit)]
        found = covered(batches)
        assert [found.count(s + 1) for s in range(limit)] == times
    else:
        assert covered(batches) == list(range(1, len(pieces) + 1))
    stats = stream.stats
    assert (stats.pending_bytes, stats.pending_buffers, stats.open_batches) == (0, 0, 0)


@pytest.mark.parametrize("threads", [1, 2, 3, 8])
@pytest.mark.parametrize("name", FORMATS)
def test_threads_pushing_shuffled_buffers_give_every_row_once(name, threads):
    for seed, (size, window) in enumerate([(7, 10), (50, None), (300, 64), (40, 1000)]):
        pieces = pieces_of(input_for(FORMATS[name], 700, seed), size)
        drive(FORMATS[name], pieces, threads, seed, window)
        drive(FORMATS[name], pieces, threads, seed, window, ordered=True)


@pytest.mark.parametrize("name", ["quoted", "unquoted"])
def test_sequences_that_wrap_around_under_threads_give_every_row_once(name):
    pieces = pieces_of(input_for(FORMATS[name], 1500, 5), 20)
    drive(FORMATS[name], pieces, 4, 5, 100, max_sequence=1000)


@pytest.mark.parametrize("name", ["quoted", "unquoted"])
def test_a_thread_stalled_with_its_buffer_holds_nobody_up_and_loses_nothing(name):
    pieces = pieces_of(input_for(FORMATS[name], 4000, 9), 30)
    stream = fm.Stream(FORMATS[name], on_error="collect")
    batches: list[fm.Batch] = []
    guard = threading.Lock()
    others_done = threading.Event()

    def work(number: int) -> None:
        mine = range(10, 11) if number == 0 else range(len(pieces))[number - 1 :: 3]
        if number == 0:
            assert others_done.wait(PATIENCE_S)
        for index in mine:
            if index != 10 or number == 0:
                found = stream.push(pieces[index], sequence=index + 1)
                with guard:
                    batches.extend(found)
        if number and stream.stats.buffers == len(pieces) - 1:
            others_done.set()

    in_threads(4, work)
    batches += stream.finish()
    whole = whole_read(b"".join(pieces), FORMATS[name], "collect")
    assert multiset(row_tuples(b.data for b in batches)) == whole.rows
    assert reject_rows(stream.rejects()) == whole.rejects


@pytest.mark.parametrize("ordered", [False, True])
def test_threads_with_many_origins_appending_checkpointing_and_finishing_keep_them_apart(ordered):
    format = FORMATS["quoted"]
    inputs = {origin: input_for(format, 150, origin) for origin in range(12)}
    stream = fm.Stream(format, on_error="collect", ordered=ordered, batch=fm.BatchPolicy(max_rows=20))
    batches: list[fm.Batch] = []
    guard = threading.Lock()

    def work(number: int) -> None:
        if number == 4:
            for _ in range(20):
                fm.Stream.restore(format, stream.checkpoint())
                assert stream.stats.buffers >= 0
            return
        found: list[fm.Batch] = []
        for origin in range(number, 12, 4):
            for piece in pieces_of(inputs[origin], 41):
                found += stream.append(piece, origin=origin)
            found += stream.finish(origin=origin)
        with guard:
            batches.extend(found)

    in_threads(5, work)
    batches += stream.finish_all()
    for origin, data in inputs.items():
        mine = [b for b in batches if b.origin == origin]
        assert multiset(row_tuples(b.data for b in mine)) == whole_read(data, format, "collect").rows
        assert covered(mine) == list(range(1, len(pieces_of(data, 41)) + 1))


def test_one_call_decoding_an_ordered_origin_is_not_joined_by_one_that_decodes_another():
    """A call that touched a busy origin once freed it for everybody when it was done with its own."""
    format = FORMATS["unquoted"]
    data = b"".join(b"%d,%b\n" % (i, b"y" * 50) for i in range(20_000))
    pieces = pieces_of(data, 3000)
    stream = fm.Stream(format, ordered=True, batch=fm.BatchPolicy(max_rows=64))
    results: dict[int, list[fm.Batch]] = {}

    def work(number: int) -> None:
        found: list[fm.Batch] = []
        for index in range(number, len(pieces), 4):
            found += stream.push_many([pieces[index], b"1,x\n"], sequences=[index + 1, index // 4 + 1],
                                      origins=[0, number + 1])  # fmt: skip
        results[number] = found

    in_threads(4, work)
    batches = [b for b in [*chain.from_iterable(results.values()), *stream.finish()] if b.origin == 0]
    batches.sort(key=lambda b: b.data["a"][0].as_py() if b.num_rows else -1)
    rows = [value for b in batches for value in b.data["a"].to_pylist()]
    assert rows == list(range(20_000))


class Standstill:
    """A parse of this text stands still, so that a test decides what others do meanwhile."""

    def __init__(self) -> None:
        self._reached, self._let_go = threading.Event(), threading.Event()

    def parsed(self) -> None:
        self._reached.set()
        assert self._let_go.wait(PATIENCE_S)

    def reach(self) -> None:
        assert self._reached.wait(PATIENCE_S)

    def let_go(self) -> None:
        self._let_go.set()


@pytest.mark.parametrize("quote", ['"', None])
def test_an_ordered_origin_is_finished_with_what_waits_for_a_call_that_is_parsing_another_one(quote):
    stands = {"first": Standstill(), "second": Standstill()}

    def parse(texts: pa.StringArray) -> pa.Array:
        for text in {*texts.to_pylist()} & {*stands}:
            stands[text].parsed()
        return texts

    fm.register_parser("standstill", pa.string(), parse)
    format = fm.Csv(pa.schema([pa.field("a", pa.string(), metadata={"parser": "standstill"})]), quote=quote)
    stream = fm.Stream(format, ordered=True, batch=fm.BatchPolicy(max_rows=1))
    batches: list[fm.Batch] = []
    guard = threading.Lock()

    def keep(found: list[fm.Batch]) -> None:
        with guard:
            batches.extend(found)

    def of_two_origins() -> None:
        keep(stream.push_many([b"x1\n", b"first\n"], sequences=[1, 1], origins=["x", "y"]))

    def finishing() -> None:
        keep(stream.finish(origin="x"))

    parsing = threading.Thread(target=of_two_origins, daemon=True)
    parsing.start()
    stands["first"].reach()
    keep(stream.push(b"second\n", sequence=2, origin="y"))  # what the call goes on with, when it is through with both
    stands["first"].let_go()
    stands["second"].reach()
    keep(stream.push(b"x2\n", sequence=2, origin="x"))  # waits for that call, which has just nothing of x in its hands
    finish = threading.Thread(target=finishing, daemon=True)
    finish.start()
    finish.join(0.05)  # as far as it comes; one that does not wait is through by now
    stands["second"].let_go()
    for thread in (parsing, finish):
        thread.join(PATIENCE_S)
        assert not thread.is_alive()
    keep(stream.finish(origin="y"))
    rows = sorted((str(batch.origin), row[0]) for batch in batches for row in row_tuples([batch.data]))
    assert rows == [("x", "x1"), ("x", "x2"), ("y", "first"), ("y", "second")]
