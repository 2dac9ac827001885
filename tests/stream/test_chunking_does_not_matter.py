"""The same rows, rejects and positions for every way to cut an input and every order of arrival, as one whole read.

In: small inputs of many dialects, some broken. Out: a verdict a schedule. Refuses to know: threads, batches' sizes.
"""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pytest
from oracle.stream_inputs import DIALECTS, random_input, tricky_input
from oracle.stream_runs import (
    covered,
    cut_departure,
    departure,
    pieces_at,
    pieces_of,
    row_tuples,
    shuffled,
    streamed,
    whole_read,
)

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
SIZES = (1, 2, 3, 7, 63, 64, 65, 4096)


def a_format(name: str, **more: Any) -> fm.Csv:
    return fm.Csv(SCHEMA, **DIALECTS[name], **more)


@pytest.mark.parametrize("name", DIALECTS)
def test_two_buffers_cut_at_every_byte_give_the_whole_reads_rows_and_rejects(name):
    data, format = tricky_input(DIALECTS[name]), a_format(name)
    whole = whole_read(data, format, "collect")
    assert whole.rejects
    assert whole.rows
    assert cut_departure(data, format, whole, "collect") is None


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", DIALECTS)
def test_buffers_of_any_size_in_any_order_give_the_whole_reads_rows_and_rejects(name, size):
    data, format = tricky_input(DIALECTS[name]) * (1 if size < 63 else 4), a_format(name)
    whole = whole_read(data, format, "collect")
    pieces = pieces_of(data, size)
    for seed in range(3):
        for many in (None, 5, len(pieces)):
            run = streamed(pieces, format, shuffled(len(pieces), seed), "collect", many=many)
            assert departure(run, whole, len(pieces)) is None, (seed, many)


@pytest.mark.parametrize("on_error", ["raise", "null", "skip", "collect"])
@pytest.mark.parametrize("name", DIALECTS)
def test_random_inputs_cut_and_shuffled_at_random_agree_with_the_whole_read(name, on_error):
    for seed in range(60):
        chance = random.Random(f"{name} {on_error} {seed}")
        data, format = random_input(chance, DIALECTS[name]), a_format(name)
        try:
            whole = whole_read(data, format, on_error)
        except fm.SchemaError:  # the random header lacks a column
            continue
        cuts = sorted(chance.randrange(len(data) + 1) for _ in range(chance.randrange(9)))
        pieces = pieces_at(data, cuts) if chance.random() < 0.6 else pieces_of(data, chance.choice(SIZES))
        order = shuffled(len(pieces), seed)
        many = chance.choice([None, 1, 3, 100])
        ordered = chance.random() < 0.3
        run = streamed(pieces, format, order, on_error, many=many, ordered=ordered)
        assert departure(run, whole, len(pieces)) is None, (seed, data, [len(p) for p in pieces], order, many, ordered)


@pytest.mark.parametrize("name", ["plain", "unquoted", "header", "eight bytes"])
def test_ordered_streams_give_rows_and_spans_in_stream_order(name):
    data, format = tricky_input(DIALECTS[name]) * 3, a_format(name)
    expected = row_tuples([fm.read(data, format, on_error="skip", threads=1)])
    for size in (1, 7, 64):
        pieces = pieces_of(data, size)
        policy = fm.BatchPolicy(max_rows=3)
        run = streamed(pieces, format, shuffled(len(pieces), size), "skip", ordered=True, batch=policy)
        assert row_tuples(b.data for b in run.batches) == expected
        spans = [span for b in run.batches for span in b.spans]
        assert spans == sorted(spans)
        assert covered(run.batches) == list(range(1, len(pieces) + 1))


def test_positional_layout_keeps_the_places_of_columns_and_nulls_the_rest():
    data = tricky_input({})
    whole = whole_read(data, a_format("plain"), "collect", columns=["c"])
    pieces = pieces_of(data, 5)
    run = streamed(pieces, a_format("plain"), shuffled(len(pieces), 1), "collect", columns=["c"], layout="positional")
    assert [(row[2],) for row in run.rows] == whole.rows
    assert all(row[:2] == (None, None) for row in run.rows)
    assert run.rejects == whole.rejects


def test_batches_of_few_rows_still_answer_for_every_buffer_once():
    data = b"".join(b"%d,text,%d.5\n" % (i, i) for i in range(2_000))
    whole = whole_read(data, a_format("plain"))
    for size in (3, 64, 4096):
        pieces = pieces_of(data, size)
        for many in (1, 64, len(pieces)):
            order = shuffled(len(pieces), many, window=64)
            run = streamed(pieces, a_format("plain"), order, many=many, batch=fm.BatchPolicy(max_rows=10))
            assert departure(run, whole, len(pieces)) is None
            assert max(b.num_rows for b in run.batches) <= 10


def test_buffers_of_a_run_are_named_in_the_spans_of_the_batch_that_has_their_last_records():
    pieces = [b"%d,x,1\n" % i for i in range(100)]
    run = streamed(pieces, a_format("plain"), many=100, batch=fm.BatchPolicy(max_rows=10))
    for batch in run.batches:
        sequences = [s for first, last in batch.spans for s in range(first, last + 1)]
        assert [s - 1 for s in sequences] == batch.data.column("a").to_pylist()


def test_rejects_name_the_buffer_in_which_their_record_ends():
    records = [b"1,ok,1\n", b"bad,x,1\n", b"2,ok,2\n", b'worse,"a\nb",2\n', b"3,too,few,fields,here\n"] * 3
    data = b"".join(records)
    ends = [sum(map(len, records[: i + 1])) for i in range(len(records)) if i % 5 in (1, 3, 4)]
    for size in (1, 4, 9, 30, 1000):
        pieces = pieces_of(data, size)
        for many in (None, len(pieces)):
            for order in (range(len(pieces)), shuffled(len(pieces), size)):
                stream = fm.Stream(a_format("plain"), on_error="collect")
                for begin in range(0, len(pieces), many or 1):
                    part = list(order)[begin : begin + (many or 1)]
                    stream.push_many([pieces[i] for i in part], sequences=[i + 1 for i in part])
                stream.finish()
                assert sorted(stream.rejects()["sequence"].to_pylist()) == [(end - 1) // size + 1 for end in ends]


def test_a_header_behind_blank_lines_in_other_buffers_is_still_the_header():
    format = a_format("header")
    data = b"\n\na,b,c\n1,x,2\n"
    whole = whole_read(data, format)
    for size in (1, 2, 3, 5):
        pieces = pieces_of(data, size)
        for seed in range(5):
            assert departure(streamed(pieces, format, shuffled(len(pieces), seed)), whole, len(pieces)) is None


def test_a_comment_behind_a_byte_order_mark_may_hold_a_quote():
    format = a_format("comment")
    data = b'\xef\xbb\xbf#"\n1,x,2\n2,"y\n",3\n'
    whole = whole_read(data, format)
    assert len(whole.rows) == 2
    for cut in range(len(data)):
        assert departure(streamed(pieces_at(data, [cut]), format, (1, 0)), whole, 2) is None


def test_an_empty_stream_and_empty_buffers_give_no_rows():
    for name in DIALECTS:
        stream = fm.Stream(a_format(name))
        assert stream.finish(last_sequence=0) == []
        run = streamed([b"", b"", b""], a_format(name), (2, 0, 1))
        assert run.rows == []
        assert covered(run.batches) == [1, 2, 3]
