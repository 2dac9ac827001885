"""Streams whose origins are written in formats of their own. In: CSV, JSON and declared text. Out: verdicts."""

from __future__ import annotations

import random

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


def test_what_waited_and_is_then_refused_costs_no_other_buffer_of_its_origin():
    stream = fm.Stream(by_start, max_sequence=3, batch=fm.BatchPolicy(max_rows=1, max_latency_ms=None))
    stream.push(b"9,x\n", sequence=9, origin="x")
    stream.push(b"3,c\n", sequence=3, origin="x")
    stream.push(b"2,b\n", sequence=2, origin="x")
    with pytest.raises(fm.SequenceError, match="sequence 9") as raised:
        stream.push_many([b"id,city\n1,a\n"], sequences=[1], origins=["x"])
    assert raised.value.not_taken == ()
    batches = stream.finish_all()
    assert sorted(row_tuples(b.data for b in batches)) == [(1, "a"), (2, "b"), (3, "c")]


def test_a_column_of_what_is_rescued_makes_no_lane_for_every_origin():
    plain = fm.Csv(SCHEMA)
    stream = fm.Stream(lambda origin: plain, rescue="rest")
    for origin in range(5):
        stream.push(b"1,a,more\n", sequence=1, origin=origin)
    assert len(stream._lanes.lanes) == 1
    again = fm.Stream.restore(lambda origin: plain, stream.checkpoint())
    assert sum(b.num_rows for b in again.finish_all()) == 5
