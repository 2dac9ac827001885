"""Buffers, sequences and origins as other libraries hold them; calls that meet two errors at once; copies.

In: what callers hand in. Out: rows, or the error that says what was wrong with it. Refuses to know: threads.
"""

from __future__ import annotations

import copy
import pickle
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from oracle.stream_runs import multiset, row_tuples

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
CSV = fm.Csv(SCHEMA)
BUFFERS = [b"2,y\n", b"1,x\n"]
ROWS = [(1, "x"), (2, "y")]


def rows_of(batches):
    return multiset(row_tuples(b.data for b in batches))


NUMBERS = {
    "tuple": (2, 1),
    "iterator": iter([2, 1]),
    "range": range(2, 0, -1),
    "numpy": np.array([2, 1], np.uint8),
    "numpy objects": np.array([2, 1], object),
    "numpy scalars": [np.int64(2), np.uint64(1)],
    "arrow": pa.array([2, 1], pa.uint16()),
    "arrow chunks": pa.chunked_array([[2], [1]]),
    "arrow scalars": [pa.scalar(2), pa.scalar(1)],
    "pandas": pd.Series([2, 1], index=[7, 7]),
    "pandas nullable": pd.Series([2, 1], dtype="Int64"),
    "pandas index": pd.Index([2, 1]),
    "pandas of arrow": pd.Series([2, 1], dtype=pd.ArrowDtype(pa.int64())),
    "polars": pl.Series([2, 1]),
    "polars narrow": pl.Series([2, 1], dtype=pl.UInt8),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_sequences_and_origins_may_be_numbers_of_any_library(kind):
    numbers = list(NUMBERS[kind]) if kind == "iterator" else NUMBERS[kind]
    stream = fm.Stream(CSV)
    batches = stream.push_many(BUFFERS, sequences=iter(numbers) if kind == "iterator" else numbers)
    assert rows_of(batches + stream.finish()) == ROWS
    stream = fm.Stream(CSV)
    batches = stream.push_many(BUFFERS, sequences=[1, 1], origins=iter(numbers) if kind == "iterator" else numbers)
    batches += stream.finish_all()
    assert {(batch.origin, *rows_of([batch])[0]) for batch in batches} == {(1, 1, "x"), (2, 2, "y")}
    assert all(type(batch.origin) is int for batch in batches)


@pytest.mark.parametrize("kind", [pa.binary_view(), pa.string_view(), pa.large_string(), pa.binary()])
def test_buffers_may_be_arrow_arrays_of_any_layout(kind):
    stream = fm.Stream(CSV)
    array = pa.array(["-", *(buffer.decode() for buffer in BUFFERS)]).cast(kind)[1:]
    assert rows_of(stream.push_many(array, sequences=[2, 1]) + stream.finish()) == ROWS


def test_sequences_of_very_different_sizes_keep_their_digits():
    stream = fm.Stream(CSV)
    with pytest.raises(fm.SequenceError) as raised:
        stream.push_many(BUFFERS, sequences=[1, 2**63 + 1])
    assert (raised.value.sequence, raised.value.not_taken) == (2**63 + 1, (1,))


@pytest.mark.parametrize(
    "origins", [[1.5, 2], [b"5", 2], [None, 2], [True, 2], [[1], 2], np.array([1.0, 2.0]), pa.array([1, None])]
)
def test_what_is_no_origin_is_refused_and_nothing_is_taken(origins):
    stream = fm.Stream(CSV)
    with pytest.raises(fm.OptionError, match="origin: expected an int or str"):
        stream.push_many(BUFFERS, sequences=[1, 1], origins=origins)
    assert stream.stats.buffers == 0


@pytest.mark.parametrize("origins", [5.5, object(), [1], [1, 2, 3]])
def test_another_number_of_origins_than_of_buffers_is_refused(origins):
    with pytest.raises(fm.OptionError, match="origin"):
        fm.Stream(CSV).push_many(BUFFERS, sequences=[1, 1], origins=origins)


def test_one_origin_for_all_may_be_a_number_of_numpys():
    stream = fm.Stream(CSV)
    batches = stream.push_many(BUFFERS, sequences=[2, 1], origins=np.int64(7)) + stream.push(
        b"3,z", sequence=1, origin=np.int8(-1)
    )
    batches += stream.finish(origin=7) + stream.finish(origin=-1)
    assert [batch.origin for batch in batches] == [7, -1]


@pytest.mark.parametrize("options", [{}, {"max_pending_bytes": 4}], ids=["duplicate", "no room"])
def test_a_bad_record_is_told_by_the_next_call_where_its_own_refused_a_buffer(options):
    def meets_both():
        stream = fm.Stream(CSV, **options)
        with pytest.raises((fm.SequenceError, fm.BackpressureError)) as raised:
            stream.push_many([b"x,a\n1,x\n", b"2,y" * 9], sequences=[1, 5 if options else 1])
        assert raised.value.not_taken == (1,)
        return stream

    for call in ("finish", "flush", "finish_all", "checkpoint"):
        stream = meets_both()
        with pytest.raises(fm.FormatError, match=r"sequence 1: .*found 'x'"):
            getattr(stream, call)()
        batches = stream.flush() if "finish" in call else stream.finish()
        assert rows_of(batches) == [(1, "x")]


def test_a_bad_record_is_told_by_a_shared_streams_next_call_where_its_own_refused_a_buffer():
    shared = fm.SharedStream(CSV)
    with shared.subscribe() as lease:
        with pytest.raises(fm.SequenceError):
            shared.push_many([b"x,a\n1,x\n", b"2,y\n"], sequences=[1, 1])
        with pytest.raises(fm.FormatError, match="found 'x'"):
            shared.push(b"2,y\n", sequence=2)
        shared.finish()
        assert rows_of(lease) == ROWS


def lines_without_marks(data, fields):
    if (data == ord("!")).any():
        raise RuntimeError("a line with a mark")
    stops = np.flatnonzero(data == ord("\n"))
    begins = np.concatenate([[0], stops + 1])[:-1]
    return stops + 1, np.stack([begins] * len(fields), 1), np.stack([stops] * len(fields), 1)


@pytest.mark.parametrize("ordered", [False, True])
def test_batches_of_a_call_in_which_an_indexer_raised_come_with_the_next_one(ordered):
    fm.register_format("lines without marks", lines_without_marks)
    format = fm.Registered(pa.schema([("a", pa.int64())]), "lines without marks")
    policy = fm.BatchPolicy(max_rows=1, max_latency_ms=None)
    stream, shared = (kind(format, batch=policy, ordered=ordered) for kind in (fm.Stream, fm.SharedStream))
    lease = shared.subscribe(queue=9)
    for one in (stream, shared):
        one.push(b"!\n", sequence=2)
        with pytest.raises(RuntimeError, match="a line with a mark"):
            one.push(b"1\n", sequence=1)
    assert rows_of(stream.finish()) == [(1,)]
    shared.finish()
    assert rows_of(lease) == [(1,)]  # which ends: nobody waits for a batch that was let go


def test_a_loss_that_is_told_again_is_a_duplicate():
    stream = fm.Stream(CSV, on_duplicate="ignore", on_error="collect")
    batches = stream.push(b"1,x\n", sequence=1) + stream.lost(2) + stream.lost(2) + stream.lost(1)
    batches += stream.push(b"5,v\n", sequence=2) + stream.push(b"?\n2,y\n", sequence=3)
    assert rows_of(batches + stream.finish()) == ROWS
    assert (stream.stats.duplicates, stream.stats.lost) == (3, 1)
    strict = fm.Stream(CSV)
    strict.lost(1)
    with pytest.raises(fm.SequenceError, match="pushed before, or declared lost"):
        strict.lost(1)


def test_no_copy_is_made_of_what_has_an_engine_of_its_own():
    shared = fm.SharedStream(CSV)
    for one in (
        fm.Stream(CSV), fm.Stream({"a": CSV}), shared, shared.subscribe(), fm.Bridge(SCHEMA), fm.BarrierAligner(["a"]),
    ):  # fmt: skip
        for way in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match="it can be neither copied nor pickled; "):
                way(one)


@pytest.mark.parametrize("state_of", [fm.Stream, fm.SharedStream])
def test_a_state_of_another_kind_of_stream_or_format_is_refused_by_name(state_of):
    state, other = state_of(CSV).checkpoint(), {fm.Stream: fm.SharedStream, fm.SharedStream: fm.Stream}[state_of]
    with pytest.raises(
        fm.CheckpointError, match=f"taken of a fm.{state_of.__name__}; restore it by fm.{state_of.__name__}"
    ):
        other.restore(CSV, state)
    with pytest.raises(fm.CheckpointError, match=r"taken with fm\.Csv, here it is fm\.Json"):
        state_of.restore(fm.Json(SCHEMA), state)
    with pytest.raises(fm.OptionError, match="format: expected"):
        state_of.restore(None, state)
    assert state_of.restore(CSV, pa.py_buffer(state)).stats.buffers == 0
    mixed = state_of({"a": CSV}).checkpoint()
    with pytest.raises(fm.CheckpointError, match=f"taken of a fm.{state_of.__name__}"):
        other.restore({"a": CSV}, mixed)


def test_an_origin_that_two_threads_meet_at_once_has_one_name():
    stream = fm.Stream(CSV, batch=fm.BatchPolicy(max_rows=1, max_latency_ms=None))
    found, failures = [], []

    def push(number):
        try:
            for origin in range(300):
                found.extend(stream.push(b"%d,x\n" % number, sequence=number, origin=f"o{origin}"))
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=push, args=[number]) for number in (1, 2, 3, 4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    found += stream.finish_all()
    assert not failures
    assert sorted({(b.origin, *row) for b in found for row in row_tuples([b.data])}) == sorted(
        (f"o{origin}", number, "x") for origin in range(300) for number in (1, 2, 3, 4)
    )
