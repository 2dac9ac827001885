"""Streams whose origins are written in formats of their own. In: CSV, JSON and declared text. Out: verdicts."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from oracle.stream_runs import multiset, pieces_of, reject_rows, row_tuples

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string())])
FORMATS = {
    "a.csv": fm.Csv(SCHEMA, header=True),
    "b.json": fm.Json(SCHEMA),
    "c.log": fm.Delimited(SCHEMA, levels=[fm.Level(" ", key="=")]),
    "d.csv": fm.Csv(pa.schema(list(SCHEMA)), header=True),
}
DATA = {
    "a.csv": b'id,city\n1,"Os\nlo"\n2,Rome\n',
    "b.json": b'{"id":3,"city":"Lima"}\n{"city":null,"id":4}\n{"id":5}',
    "c.log": b"id=6 city=Bern\ncity=Bonn id=7\n",
    "d.csv": b"city,id\nKyiv,8\n",
}
ROWS = [
    (1, "Os\nlo"),
    (2, "Rome"),
    (3, "Lima"),
    (4, None),
    (5, None),
    (6, "Bern"),
    (7, "Bonn"),
    (8, "Kyiv"),
]


def by_name(origin):
    return FORMATS[origin]


def by_start(origin, start):
    if start.startswith(b"{"):
        return FORMATS["b.json"]
    return FORMATS["c.log" if b"=" in start[:9] else "a.csv"]


WAYS = {"dict": FORMATS, "function": by_name, "start": by_start}
each_way = pytest.mark.parametrize("way", WAYS)


def buffers_of(size, seed):
    every = [(name, n, piece) for name in DATA for n, piece in enumerate(pieces_of(DATA[name], size), 1)]
    random.Random(seed).shuffle(every)
    return every


@each_way
@pytest.mark.parametrize("size", [8, 11, 1000])
@pytest.mark.parametrize("many", [False, True])
def test_origins_of_any_format_come_out_with_one_schema_in_any_order(way, size, many):
    for seed in range(20):
        every = buffers_of(size, seed)
        stream = fm.Stream(WAYS[way])
        batches = []
        if many:
            names, numbers, pieces = zip(*every, strict=True)
            batches += stream.push_many(pa.array(pieces, pa.binary()), sequences=numbers, origins=pa.array(names))
        else:
            for name, number, piece in every:
                batches += stream.push(piece, sequence=number, origin=name)
        stats = stream.stats
        assert stats.buffers == len(every)
        batches += stream.finish_all()
        assert stream.schema == SCHEMA
        assert multiset(row_tuples(b.data for b in batches)) == multiset(ROWS)
        assert {batch.origin for batch in batches} == set(DATA)
        assert stream.stats.rows == 8
        assert stream.stats.pending_buffers == 0


@each_way
def test_a_saved_stream_of_several_formats_goes_on(way):
    for seed in range(12):
        every = buffers_of(9, seed)
        for stop in range(0, len(every), 3):
            stream = fm.Stream(WAYS[way], filters=[("id", "<", 8)])
            batches = []
            for name, number, piece in every[:stop]:
                batches += stream.push(piece, sequence=number, origin=name)
            stream = fm.Stream.restore(WAYS[way], stream.checkpoint())
            for name, number, piece in every[stop:]:
                batches += stream.push(piece, sequence=number, origin=name)
            batches += stream.finish_all()
            assert multiset(row_tuples(b.data for b in batches)) == multiset(ROWS[:-1])


def test_a_checkpoint_of_one_format_is_none_of_several():
    with pytest.raises(fm.CheckpointError, match="of several formats"):
        fm.Stream.restore(FORMATS, fm.Stream(FORMATS["b.json"]).checkpoint())
    with pytest.raises(fm.CheckpointError, match="expected a stream's checkpoint"):
        fm.Stream.restore(FORMATS["b.json"], fm.Stream(FORMATS).checkpoint())


def test_rejects_of_all_origins_are_told_together():
    stream = fm.Stream(FORMATS, on_error="collect")
    stream.push(b"id=x\n", sequence=1, origin="c.log")
    stream.push(b'{"id":"y"}\n', sequence=1, origin="b.json")
    stream.finish_all()
    assert sorted((r[0], r[2], r[3]) for r in reject_rows(stream.rejects())) == [
        (3, "id", "invalid"),
        (6, "id", "wrong_type"),
    ]


def test_a_bad_record_costs_no_other_origin_its_rows():
    stream = fm.Stream(FORMATS)
    with pytest.raises(fm.FormatError, match="delimited"):
        stream.push_many([b"id=x\n", b'{"id":1}\n'], sequences=[1, 1], origins=["c.log", "b.json"])
    batches = stream.finish_all()
    assert row_tuples(b.data for b in batches) == [(1, None)]


def test_what_waits_for_the_first_buffer_is_bounded_and_told_apart():
    stream = fm.Stream(by_start, max_pending_bytes=8)
    assert stream.push(b"2\n", sequence=2, origin="x") == []
    assert stream.stats.pending_bytes == 2
    with pytest.raises(fm.SequenceError, match="pushed before"):
        stream.push(b"2\n", sequence=2, origin="x")
    with pytest.raises(fm.BackpressureError, match="its first buffer tells its format") as raised:
        stream.push_many([b"x" * 7], sequences=[3], origins=["x"])
    assert raised.value.not_taken == (0,)
    batches = stream.push(b"id,city\n1,", sequence=1, origin="x")
    with pytest.raises(fm.SequenceError, match="buffer 1 never came"):
        stream.finish(origin="y", last_sequence=1)
    batches += stream.finish(origin="x")
    assert row_tuples(b.data for b in batches) == [(1, "2")]


def test_buffers_that_were_not_taken_are_told_by_their_place_in_the_call():
    stream = fm.Stream(FORMATS)
    stream.push(b"id=1\n", sequence=1, origin="c.log")
    with pytest.raises(fm.SequenceError) as raised:
        stream.push_many(
            [b'{"id":2}\n', b"id=1\n", b'{"id":3}\n'], sequences=[1, 1, 2], origins=["b.json", "c.log", "b.json"]
        )
    assert raised.value.origin == "c.log"
    assert raised.value.not_taken == (1,)
    batches = stream.finish_all()
    assert sorted(row[0] for row in row_tuples(b.data for b in batches)) == [1, 2, 3]


def test_formats_without_one_schema_and_origins_without_a_format_are_refused():
    with pytest.raises(fm.SchemaError, match="one schema"):
        fm.Stream({1: fm.Csv(SCHEMA), 2: fm.Json(pa.schema([("id", pa.int32())]))})
    assert fm.Stream({1: fm.Csv(SCHEMA), 2: fm.Json(pa.schema([SCHEMA.field(0)]))}, columns=["id"]).schema.names == [
        "id"
    ]
    with pytest.raises(fm.OptionError, match="origin 3 has no format; those of 1 are given"):
        fm.Stream({1: fm.Csv(SCHEMA)}).push(b"", sequence=1, origin=3)
    with pytest.raises(fm.OptionError, match=r"format: expected fm\.Csv"):
        fm.Stream(lambda origin: "csv").push(b"", sequence=1)
    with pytest.raises(fm.SchemaError, match="none has come yet"):
        _ = fm.Stream(by_name).schema


@pytest.mark.parametrize("formats", [{1: fm.Json(SCHEMA)}, by_name], ids=["dict", "function"])
def test_options_of_several_formats_are_asked_for_as_those_of_one(formats):
    with pytest.raises(TypeError, match="it is called 'columns' here"):
        fm.Stream(formats, colums=["id"])
    with pytest.raises(fm.OptionError, match="on_error: expected"):
        fm.Stream(formats, on_error="ignore")
    with pytest.raises(fm.OptionError, match="give a list of names"):  # what a column is read as, one format says
        fm.Stream(formats, columns={"id": "variant"})


def test_what_can_never_be_taken_is_refused_at_once_and_costs_no_other_buffer_of_its_origin():
    stream = fm.Stream(by_start, max_sequence=3, batch=fm.BatchPolicy(max_rows=1, max_latency_ms=None))
    with pytest.raises(fm.SequenceError, match="sequence 9") as raised:
        stream.push(b"9,x\n", sequence=9, origin="x")
    assert raised.value.not_taken == (0,)
    stream.push(b"3,c\n", sequence=3, origin="x")
    stream.push(b"2,b\n", sequence=2, origin="x")
    batches = stream.push_many([b"id,city\n1,a\n"], sequences=[1], origins=["x"])
    batches += stream.finish_all()
    assert sorted(row_tuples(b.data for b in batches)) == [(1, "a"), (2, "b"), (3, "c")]


JSON_LINES = [b'{"id":%d,"city":"c"}\n' % number for number in (1, 2, 3)]


def rows_of(batches):
    return sorted(row_tuples(b.data for b in batches))


def test_a_lost_buffer_does_not_tell_an_origins_format():
    stream = fm.Stream(by_start, on_error="skip")
    stream.lost(2)
    with pytest.raises(fm.SequenceError, match="pushed before, or declared lost"):
        stream.push(JSON_LINES[1], sequence=2)
    batches = stream.push(JSON_LINES[0], sequence=1)
    batches += stream.push(b'"}\n' + JSON_LINES[2], sequence=3)
    with pytest.warns(fm.RejectsWarning):
        batches += stream.finish()
    assert rows_of(batches) == [(1, "c"), (3, "c")]
    assert stream.stats.lost == 1


def test_an_end_that_comes_too_early_does_not_tell_an_origins_format():
    for last in (None, 2, 1):
        stream = fm.Stream(by_start)
        if last != 1:
            stream.push(JSON_LINES[1], sequence=2)
        with pytest.raises(fm.SequenceError, match="finish: buffer 1 never came") as raised:
            stream.finish(last_sequence=last)
        assert raised.value.sequence == 1
        assert rows_of(stream.push(JSON_LINES[0], sequence=1) + stream.finish()) == [(1, "c"), (2, "c")][: last or 2]


def test_what_is_appended_comes_behind_what_waits_for_its_format():
    stream = fm.Stream(by_start)
    assert stream.push(JSON_LINES[1], sequence=2) + stream.append(JSON_LINES[2]) == []
    assert rows_of(stream.push(JSON_LINES[0], sequence=1) + stream.finish()) == [(1, "c"), (2, "c"), (3, "c")]


def test_what_waits_for_its_format_is_counted_and_saved_lost_ones_too():
    stream = fm.Stream(by_start, on_duplicate="ignore", on_error="skip")
    for _ in range(2):
        stream.lost(3)
        stream.push(JSON_LINES[1], sequence=2)
    stream = fm.Stream.restore(by_start, stream.checkpoint())
    assert (stream.stats.duplicates, stream.stats.pending_buffers) == (2, 2)
    batches = stream.push(JSON_LINES[0], sequence=1)
    with pytest.warns(fm.RejectsWarning):
        batches += stream.push(b'"}\n', sequence=4) + stream.finish()
    assert rows_of(batches) == [(1, "c"), (2, "c")]


def test_an_origins_first_bytes_are_those_of_any_kind_of_buffer():
    starts = []
    stream = fm.Stream(lambda origin, start: starts.append(start) or fm.Csv(SCHEMA))
    words = np.frombuffer(b"1,abcde\n" * 1024, np.int32)
    for origin, buffer in enumerate(
        [words, words.reshape(2, -1), bytearray(words.tobytes()), np.empty(0, np.uint8), b""]
    ):
        stream.push(buffer, sequence=1, origin=origin)
    assert starts == [words.tobytes()[:4096]] * 3 + [b""] * 2


def test_a_bad_record_found_by_one_format_is_told_although_another_refuses_a_buffer():
    stream = fm.Stream({"a": fm.Csv(SCHEMA), "b": fm.Csv(SCHEMA, delimiter=";")})
    stream.push(b"1;b\n", sequence=1, origin="b")
    with pytest.raises(fm.SequenceError, match="'b', sequence 1: this buffer was pushed before"):
        stream.push_many([b"x,a\n", b"1;b\n"], sequences=[1, 1], origins=["a", "b"])
    with pytest.raises(fm.FormatError, match="'a', sequence 1"):
        stream.flush()
    assert rows_of(stream.finish_all()) == [(1, "b")]


@pytest.mark.parametrize("origin", [None, 1.5, b"a", True, ["a"]])
@pytest.mark.parametrize("format", [by_start, {1: fm.Csv(SCHEMA)}, fm.Csv(SCHEMA)], ids=["start", "dict", "one"])
def test_an_origin_that_is_neither_number_nor_text_is_refused(format, origin):
    stream = fm.Stream(format)
    calls = [
        lambda: stream.push(b"1,a\n", sequence=1, origin=origin),
        lambda: stream.push_many([b"1,a\n"], sequences=[1], origins=[origin]),
        lambda: stream.append(b"1,a\n", origin=origin),
        lambda: stream.lost(1, origin=origin),
        lambda: stream.finish(origin=origin),
    ]
    for call in calls:
        with pytest.raises(fm.OptionError, match="origin: expected an int or str"):
            call()


def test_a_column_of_what_is_rescued_makes_no_lane_for_every_origin():
    plain = fm.Csv(SCHEMA)
    stream = fm.Stream(lambda origin: plain, rescue="rest", batch=fm.BatchPolicy(max_latency_ms=None))
    for origin in range(5):
        stream.push(b"1,a,more\n", sequence=1, origin=origin)
    assert len(stream._lanes.lanes) == 1
    again = fm.Stream.restore(lambda origin: plain, stream.checkpoint())
    assert sum(b.num_rows for b in again.finish_all()) == 5


@pytest.mark.parametrize("limit", [200, 400, 800])
def test_what_waited_for_a_format_and_finds_no_room_waits_on_and_is_not_lost(limit):
    data = b"".join(b"%d,%s\n" % (i, b"x" * 30) for i in range(40))
    pieces = dict(enumerate(pieces_of(data, 40), 1))
    stream = fm.Stream(lambda origin, start: fm.Csv(SCHEMA), max_pending_bytes=limit)
    batches, refused = [], []
    for sequence in range(3, len(pieces) + 1):
        try:
            batches += stream.push(pieces[sequence], sequence=sequence)
        except fm.BackpressureError:
            refused.append(sequence)
    assert refused
    batches += stream.push(pieces[1], sequence=1)  # the stream behind counts more for a buffer than its bytes
    with pytest.raises(fm.BackpressureError, match="wait for room"):
        stream.finish(last_sequence=len(pieces))
    state = stream.checkpoint()
    stream = fm.Stream.restore(lambda origin, start: fm.Csv(SCHEMA), state)
    batches += stream.push(pieces[2], sequence=2)
    for sequence in refused:
        batches += stream.push(pieces[sequence], sequence=sequence)
    batches += stream.finish(last_sequence=len(pieces))
    assert sorted(n for batch in batches for n in batch.data["id"].to_pylist()) == list(range(40))


def test_a_bad_record_among_those_that_waited_is_told_once_all_of_them_were_taken():
    stream = fm.Stream(lambda origin, start: fm.Csv(SCHEMA))
    for sequence, piece in ((2, b"2,b\n"), (3, b"x,c\n"), (4, b"4,d\n")):
        assert stream.push(piece, sequence=sequence) == []
    with pytest.raises(fm.FormatError, match="expected int64, found 'x'"):
        stream.push(b"1,a\n", sequence=1)
    batches = stream.finish(last_sequence=4)
    assert multiset(row_tuples(batch.data for batch in batches)) == [(1, "a"), (2, "b"), (4, "d")]


def test_a_buffer_declared_lost_while_its_origin_waits_is_refused_when_it_comes_and_costs_no_other():
    stream = fm.Stream(lambda origin, start: fm.Csv(SCHEMA))
    batches = stream.push(b"2,b\n", sequence=2)
    stream.lost(3)
    with pytest.raises(fm.SequenceError, match="pushed before"):
        stream.push(b"3,c\n", sequence=3)
    batches += stream.push(b"1,a\n", sequence=1)
    batches += stream.finish(last_sequence=3)
    assert multiset(row_tuples(batch.data for batch in batches)) == [(1, "a"), (2, "b")]
