"""Shared streams whose origins are written in formats of their own. In: CSV, JSON and declared text. Out: verdicts."""

from __future__ import annotations

import gc
import random
import weakref

import pyarrow as pa
import pytest
from oracle.stream_runs import multiset, pieces_of, row_tuples
from shared_inputs import waiting

import formatter as fm

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string()), ("price", pa.float64())])
CSV = fm.Csv(SCHEMA, header=True)
JSON = fm.Json(SCHEMA)
KEYS = fm.Delimited(SCHEMA, levels=[fm.Level(" ", key="=")])
FORMATS = {"a.csv": CSV, "b.json": JSON, "c.log": KEYS}
DATA = {
    "a.csv": b'city,id,price\n"Os\nlo",1,.5\nRome,2,1.5\n',
    "b.json": b'{"id":3,"city":"Lima","price":2}\n{"city":null,"id":4}\n{"id":5}',
    "c.log": b"id=6 city=Bern price=3\ncity=Bonn id=7\n",
}
ROWS = [
    (1, "Os\nlo", 0.5),
    (2, "Rome", 1.5),
    (3, "Lima", 2.0),
    (4, None, None),
    (5, None, None),
    (6, "Bern", 3.0),
    (7, "Bonn", None),
]


def by_name(origin):
    return FORMATS[origin]


def by_start(origin, start):
    if start.startswith(b"{"):
        return JSON
    return KEYS if b"=" in start[:9] else CSV


WAYS = {
    "dict": (FORMATS, {}),
    "function": (by_name, {"schema": SCHEMA}),
    "start": (by_start, {"schema": SCHEMA}),
}
each_way = pytest.mark.parametrize("way", WAYS)


def made(way, **options):
    formats, more = WAYS[way]
    return fm.SharedStream(formats, **more, **options)


def buffers_of(size, seed):
    every = [(name, n, piece) for name in DATA for n, piece in enumerate(pieces_of(DATA[name], size), 1)]
    random.Random(seed).shuffle(every)
    return every


def rows_of(batches, names=SCHEMA.names):
    return multiset(tuple(row[name] for name in names) for batch in batches for row in batch.data.to_pylist())


@each_way
@pytest.mark.parametrize("size", [8, 11, 1000])
@pytest.mark.parametrize("many", [False, True])
def test_each_consumer_gets_its_columns_and_rows_of_all_origins_in_any_order(way, size, many):
    for seed in range(12):
        shared = made(way)
        everything = shared.subscribe(name="everything", queue=1000)
        cheap = shared.subscribe(["id"], filters=[("price", "<", 2.5)], queue=1000)
        every = buffers_of(size, seed)
        if many:
            names, numbers, pieces = zip(*every, strict=True)
            shared.push_many(pa.array(pieces, pa.binary()), sequences=numbers, origins=pa.array(names))
        else:
            for name, number, piece in every:
                shared.push(piece, sequence=number, origin=name)
        shared.finish_all()
        found = list(everything)
        assert rows_of(found) == multiset(ROWS)
        assert {batch.origin for batch in found} == set(DATA)
        assert multiset(v for b in cheap for v in b.column("id").to_pylist()) == multiset([1, 2, 3])
        assert shared.stats.rows == 7
        assert shared.stats.pending_buffers == 0
        assert shared.full_schema == SCHEMA


@each_way
def test_the_projection_changes_for_every_format_and_no_batch_lacks_a_column(way):
    for seed in range(12):
        shared = made(way, batch=fm.BatchPolicy(max_rows=1, max_latency_ms=None))
        chance = random.Random(seed)
        leases, seen = {}, {}
        for name, number, piece in buffers_of(9, seed):
            if chance.random() < 0.5:
                columns = chance.sample(SCHEMA.names, chance.randint(0, 3))
                lease = shared.subscribe(columns, queue=1000)
                leases[lease.name], seen[lease.name] = lease, []
            if leases and chance.random() < 0.4:
                left = leases.pop(chance.choice(sorted(leases)))
                left.close()
                seen[left.name] += list(left)
            wanted = {column for lease in leases.values() for column in lease.columns}
            assert shared.decoding_columns == (tuple(n for n in SCHEMA.names if n in wanted) if shared._lanes else ())
            shared.push(piece, sequence=number, origin=name)
        shared.finish_all()
        by_id = {row[0]: dict(zip(SCHEMA.names, row, strict=True)) for row in ROWS}
        for name, lease in leases.items():
            seen[name] += list(lease)
            for batch in seen[name]:
                assert batch.projection_version >= lease.effective_version
                columns = [batch.column(column).to_pylist() for column in lease.columns]
                if "id" in lease.columns:
                    ids = batch.column("id").to_pylist()
                    for column, values in zip(lease.columns, columns, strict=True):
                        assert values == [by_id[i][column] for i in ids]
        assert shared.stats.rows == 7


@each_way
def test_a_saved_shared_stream_of_several_formats_goes_on(way):
    for seed in range(6):
        every = buffers_of(9, seed)
        for stop in range(0, len(every), 4):
            shared = made(way, filters=[("id", "<", 7)])
            lease = shared.subscribe(queue=1000)
            for name, number, piece in every[:stop]:
                shared.push(piece, sequence=number, origin=name)
            state = shared.checkpoint()
            found = waiting(lease)
            shared = fm.SharedStream.restore(WAYS[way][0], state)
            lease = shared.subscribe(queue=1000)
            for name, number, piece in every[stop:]:
                shared.push(piece, sequence=number, origin=name)
            shared.finish_all()
            assert rows_of(found + list(lease)) == multiset(ROWS[:-1])


def test_it_ends_when_the_last_origin_of_the_last_format_does():
    shared = fm.SharedStream(FORMATS)
    lease = shared.subscribe(["id"])
    shared.push(DATA["a.csv"], sequence=1, origin="a.csv")
    shared.push(DATA["b.json"], sequence=1, origin="b.json")
    shared.finish(origin="a.csv")
    assert [b.origin for b in waiting(lease)] == ["a.csv"]
    assert not lease._consumer.ended
    shared.push(b"", sequence=2, origin="b.json")
    shared.finish(origin="b.json")
    assert [v for b in lease for v in b.column("id").to_pylist()] == [3, 4, 5]
    with pytest.raises(fm.SequenceError, match="the stream has ended"):
        shared.push(b"", sequence=1, origin="c.log")
    with pytest.raises(fm.FlowError, match="the stream has ended"):
        shared.subscribe()


def test_a_column_that_one_origins_header_lacks_is_refused_and_everything_stays_as_it_was():
    other = fm.Csv(SCHEMA, header=True, delimiter=";")
    for formats in ({"j": JSON, "a": CSV, "b": other}, {"b": other, "a": CSV, "j": JSON}):
        shared = fm.SharedStream(formats)
        ids = shared.subscribe(["id"])
        shared.push(b"id,city\n1,Oslo\n", sequence=1, origin="a")
        before = shared.explain()
        with pytest.raises(fm.SchemaError, match="no column 'price'"):
            shared.subscribe(["price"], queue=1)
        assert shared.explain().replace("lag=1", "lag=0") == before.replace("lag=1", "lag=0")
        assert shared.decoding_columns == ("id",)
        assert shared.subscriptions == (ids.name,)
        shared.flush()
        assert [v for b in waiting(ids) for v in b.column("id").to_pylist()] == [1]
        shared.push(b'{"id":2,"price":1}\n', sequence=1, origin="j")
        shared.push(b"price;id\n3;3\n", sequence=1, origin="b")
        shared.flush()
        assert sorted(v for b in waiting(ids) for v in b.column("id").to_pylist()) == [2, 3]
        assert shared.stats.values_decoded == {"id": 3, "city": 0, "price": 0}


def test_explain_says_what_each_format_decodes():
    shared = fm.SharedStream({1: CSV, 2: JSON, 3: JSON}, filters=[("price", ">", 1)])
    lease = shared.subscribe(["city"], name="cities")
    assert shared.explain().splitlines() == [
        "SharedStream Csv, Json version=1 consumers=1",
        "├─ Decode Csv columns=[city, price] version=1 price > 1",
        "├─ Decode Json columns=[city, price] version=1 price > 1",
        "├─ Union columns=[city] of 3",
        "└─ Consumer cities needs=[city] version=1 queue=64 overflow=wait lag=0 drops=0",
    ]
    lease.close()
    assert shared.explain().splitlines()[0] == "SharedStream Csv, Json version=2 consumers=0"


def test_rejects_of_all_formats_come_together_and_what_waits_is_counted():
    shared = fm.SharedStream(by_start, schema=SCHEMA, on_error="collect")
    lease = shared.subscribe()
    shared.push(b"id=x\n", sequence=1, origin="c")
    shared.push(b'{"id":"y"}\n', sequence=1, origin="b")
    before = shared.stats
    shared.push(b"late", sequence=2, origin="d")
    after = shared.stats
    assert after.pending_buffers - before.pending_buffers == 1
    assert (after.pending_bytes, after.origins) == (4, 3)
    assert (shared.rejects().num_rows, lease.lag) == (2, 0)
    with pytest.raises(fm.SequenceError, match="never came"):
        shared.finish_all()


def test_what_comes_while_nobody_listens_is_counted_over_all_formats():
    shared = fm.SharedStream(FORMATS)
    for name, data in DATA.items():
        shared.push(data, sequence=1, origin=name)
    shared.flush()
    lease = shared.subscribe(["id"])
    stats = shared.stats
    assert (stats.discarded_buffers, stats.discarded_bytes) == (3, sum(map(len, DATA.values())))
    assert stats.discarded_rows == 6
    shared.finish_all()
    assert row_tuples(b.data for b in lease) == [(5, None, None)]


def test_formats_of_other_schemas_and_subscriptions_before_any_format_are_refused():
    with pytest.raises(fm.SchemaError, match="one schema"):
        fm.SharedStream({1: CSV, 2: fm.Json(pa.schema([("id", pa.int64())]))})
    with pytest.raises(fm.SchemaError, match="give schema="):
        fm.SharedStream(by_name).subscribe()
    with pytest.raises(fm.OptionError, match="has a schema of its own"):
        fm.SharedStream(FORMATS, schema=SCHEMA)
    with pytest.raises(fm.OptionError, match=r"format: expected fm\.Csv"):
        fm.SharedStream(lambda origin: "csv", schema=SCHEMA).push(b"", sequence=1)
    with pytest.raises(fm.SchemaError, match="one schema"):
        fm.SharedStream(by_name, schema=pa.schema([("id", pa.int64())])).push(b"", sequence=1, origin="a.csv")
    with pytest.raises(fm.CheckpointError):
        fm.SharedStream.restore(FORMATS, fm.SharedStream(CSV).checkpoint())
    with pytest.raises(fm.CheckpointError):
        fm.SharedStream.restore(CSV, fm.SharedStream(FORMATS).checkpoint())


def test_formats_with_a_column_of_what_is_rescued_are_known_again():
    rescuing = {"a": fm.Csv(SCHEMA), "b": fm.Json(SCHEMA), "c": fm.Csv(SCHEMA)}
    shared = fm.SharedStream(rescuing, rescue="rest")
    lease = shared.subscribe(["rest"])
    shared.push(b'{"id":1,"more":2}\n', sequence=1, origin="b")
    shared.push(b"1,Oslo,2,what\n", sequence=1, origin="a")
    state = shared.checkpoint()
    assert sorted(v is None for b in waiting(lease) for v in b.column("rest").to_pylist()) == [False, False]
    again = fm.SharedStream.restore(rescuing, state)
    assert len(again._lanes) == 2
    assert again.full_schema.names == [*SCHEMA.names, "rest"]


@pytest.mark.parametrize(
    "make", [lambda: fm.SharedStream(CSV), lambda: fm.SharedStream(FORMATS), lambda: fm.Stream(FORMATS)]
)
def test_a_stream_that_is_let_go_of_is_freed_at_once(make):
    gc.collect()
    gc.disable()
    try:
        stream = make()
        stream.push(DATA["a.csv"], sequence=1, origin="a.csv")
        known = weakref.ref(stream)
        del stream
        assert known() is None
    finally:
        gc.enable()
