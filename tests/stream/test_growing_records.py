"""A record without an end, and buffers without number: said in time, and never more memory than was allowed.

In: records that grow, buffers that wait. Out: when the error comes, where it says the record began, what is kept.
Refuses to know: how it is kept.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from oracle.stream_runs import departure, error_position, pieces_of, reject_rows, row_tuples, shuffled, streamed

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
FORMATS = {
    "quoted": fm.Csv(SCHEMA),
    "unquoted": fm.Csv(SCHEMA, quote=None),
    "long delimiter": fm.Csv(SCHEMA, record_delimiter="12345678"),
    "json": fm.Json(SCHEMA),
}
LIMIT = 1000
AT_THE_END = fm.BatchPolicy(max_latency_ms=None)
EVERY = pytest.mark.parametrize("name", FORMATS)


def record(name: str, number: int, text: str = "x") -> bytes:
    if name == "json":
        return b'{"a":%d,"b":"%s"}\n' % (number, text.encode())
    return b"%d,%s%s" % (number, text.encode(), b"12345678" if name == "long delimiter" else b"\n")


@EVERY
@pytest.mark.parametrize("ordered", [False, True])
def test_a_record_that_grows_over_the_limit_is_an_error_at_once_and_the_stream_goes_on(name, ordered):
    stream = fm.Stream(FORMATS[name], max_record_bytes=LIMIT, ordered=ordered, batch=AT_THE_END)
    long = record(name, 2, "y" * 100_000)
    stream.push(record(name, 1) + long[:10], sequence=1)
    sequence, error = 1, None
    while error is None:
        sequence += 1
        assert sequence < 100
        try:
            stream.push(long[10 + 50 * (sequence - 2) :][:50], sequence=sequence)
        except fm.FormatError as raised:
            error = raised
    assert LIMIT < 10 + 50 * (sequence - 1) <= LIMIT + 60
    assert (error.code, error.byte_offset, error.record) == ("record_too_long", len(record(name, 1)), 1)
    assert error.sequence == sequence
    for _ in range(2000):
        sequence += 1
        stream.push(b"z" * 50, sequence=sequence)
        assert stream.stats.pending_bytes <= 50
    batches = stream.push(long[-10:] + record(name, 3), sequence=sequence + 1) + stream.finish()
    assert [row[0] for row in row_tuples(b.data for b in batches)] == [1, 3]
    assert (stream.stats.rejects, stream.stats.records) == (1, 3)


@EVERY
def test_what_fills_the_last_hole_before_a_long_record_reports_it(name):
    stream = fm.Stream(FORMATS[name], max_record_bytes=LIMIT, on_error="collect", batch=AT_THE_END)
    long = record(name, 2, "y" * 5_000)
    for sequence in (4, 2, 3):
        stream.push(b"y" * 400, sequence=sequence)
        assert len(stream.rejects()) == 0
    stream.push(record(name, 1) + long[:20], sequence=1)
    (reject,) = reject_rows(stream.rejects())
    assert reject[:4] == (len(record(name, 1)), 1, None, "record_too_long")
    assert reject[5] == (long[:20] + b"y" * LIMIT)[:LIMIT]
    batches = stream.push(long[-20:] + record(name, 3), sequence=5) + stream.finish()
    assert [row[0] for row in row_tuples(b.data for b in batches)] == [1, 3]
    assert len(stream.rejects()) == 0


@EVERY
def test_growing_records_are_rejected_alike_for_every_chunking_order_and_restart(name):
    data = b"".join(record(name, i, "x" * (i % 5 * 390)) for i in range(40)) + record(name, 99, "u" * 3000)[:-9]
    format = FORMATS[name]
    expected = streamed([data], format, None, "collect", max_record_bytes=LIMIT)
    assert [r[3] for r in expected.rejects] == ["record_too_long"] * 17
    for size in (64, 333, 999, 1500, 4096):
        pieces = pieces_of(data, size)
        for window in (1, 4, None):
            order = shuffled(len(pieces), size, window)
            for many in (None, 5):
                run = streamed(pieces, format, order, "collect", many=many, max_record_bytes=LIMIT)
                assert departure(run, expected, len(pieces)) is None, (size, window, many)
            stream = fm.Stream(format, on_error="collect", max_record_bytes=LIMIT)
            rejects = []
            for index in order:
                stream.push(pieces[index], sequence=index + 1)
                rejects += reject_rows(stream.rejects())
                stream = fm.Stream.restore(format, stream.checkpoint())
            stream.finish()
            rejects += reject_rows(stream.rejects())
            assert rejects == expected.rejects, (size, window)


def test_the_error_of_a_growing_record_is_the_one_of_the_whole():
    whole, cut = (fm.Stream(FORMATS["quoted"], max_record_bytes=LIMIT) for _ in range(2))
    data = record("quoted", 1) + record("quoted", 2, "y" * 5000)
    with pytest.raises(fm.FormatError) as expected:
        whole.push(data, sequence=1)

    def push_all() -> None:
        for sequence, piece in enumerate(pieces_of(data, 100), 1):
            cut.push(piece, sequence=sequence)

    with pytest.raises(fm.FormatError) as found:
        push_all()
    assert error_position(found.value) == error_position(expected.value)


@EVERY
def test_a_record_over_a_lost_buffer_does_not_pile_up_either(name):
    stream = fm.Stream(FORMATS[name], max_record_bytes=LIMIT, on_error="collect", batch=AT_THE_END)
    stream.push(record(name, 1) + b"2", sequence=1)
    stream.lost(2)
    for sequence in range(3, 1000):
        stream.push(b"y" * 50, sequence=sequence)
    assert stream.stats.pending_bytes <= 2 * LIMIT
    end = record(name, 2)[-8:]
    batches = stream.push(end + record(name, 3), sequence=1000) + stream.finish()
    assert [row[0] for row in row_tuples(b.data for b in batches)] == [1, 3]
    assert stream.rejects()["code"].to_pylist() == ["lost", "lost"]


@pytest.mark.parametrize("name", ["quoted", "unquoted"])
def test_tiny_buffers_that_wait_are_refused_before_the_notes_on_them_outgrow_the_limit(name):
    stream = fm.Stream(FORMATS[name], max_pending_bytes=4 << 20, batch=AT_THE_END)
    refused = None
    for sequence in range(3, 200_000, 2):  # never two neighbours, and the first one missing
        try:
            stream.push(b"\n", sequence=sequence)
        except fm.BackpressureError as error:
            refused = error
            break
    assert refused is not None
    assert 5_000 < refused.sequence < 100_000
    assert "max_pending_bytes=4194304" in str(refused)
    last = refused.sequence
    for hole in range(1, last + 1):  # what is next is always taken, and makes room
        if hole == 1 or hole % 2 == 0 or hole == last:
            stream.push(b"\n", sequence=hole)
    assert stream.stats.pending_bytes == 0
    stream.finish(last_sequence=last)


def test_parsed_buffers_behind_a_hole_cost_nothing_each():
    """Rows have left; what is remembered of a million buffers for error positions is a few numbers in all."""
    stream = fm.Stream(FORMATS["unquoted"], max_pending_bytes=2 << 20)
    order = list(range(2, 50_000))
    random.Random(2).shuffle(order)
    buffers = [b"%d,x\n" % i for i in range(50_000)]
    batches = []
    for begin in range(0, len(order), 500):  # in windows, so that neighbours meet
        part = sorted(order)[begin : begin + 500]
        random.Random(begin).shuffle(part)
        for index in part:
            batches += stream.push(buffers[index], sequence=index)
    assert stream.stats.pending_buffers <= 2
    batches += stream.push(b"1,x\n", sequence=1) + stream.finish()
    assert sum(b.num_rows for b in batches) == 49_999
