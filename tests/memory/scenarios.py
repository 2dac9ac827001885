"""What runs while memory is short: every way in, with what must be true of it whatever fails.

In: nothing; `ease` is called before anything is looked at that takes memory itself. Out: scenarios by name, each with the
same rows every time, or MemoryError, or Closed. Refuses to know: how memory is made short.
"""

from __future__ import annotations

import contextlib
import random
import tempfile
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import formatter as fm
from formatter import _core
from formatter.plans import make_plan

ease: list[Callable[[], object]] = []  # whoever makes memory short ends it here

Rows = list[tuple[object, ...]]
FLAT = pa.schema(
    [("a", pa.int64()), ("b", pa.string()), ("c", pa.float64()), ("d", pa.dictionary(pa.int32(), pa.string()))]
)
NESTED = pa.schema(
    [
        ("a", pa.int64()),
        ("s", pa.struct([("x", pa.string()), ("l", pa.list_(pa.int64()))])),
        ("m", pa.map_(pa.string(), pa.string())),
    ]
)
NATIVE = pa.schema([("a", pa.int64()), ("b", pa.string())])
CSV = b"".join(b'%d,"text ""%d"" of some length, with quotes",%d.25,kind %d\n' % (i, i, i, i % 5) for i in range(60))
RAGGED = CSV.replace(b",7.25,", b",x,").replace(b"\n8,", b"\n8\n8,")
JSON = b"".join(
    b'{"a":%d,"s":{"x":"e\\u0041 %d","l":[%d,2,3]},"m":{"k%d":"v","other":"%d"},"unknown":[{}]}\n' % (i, i, i, i, i)
    for i in range(25)
)
FRAMED = b"".join((8 + i).to_bytes(4, "little") + i.to_bytes(8, "little") + b"t" * i for i in range(40))


def rows(*tables: pa.Table | pa.RecordBatch) -> Rows:
    return sorted((tuple(row.values()) for table in tables for row in table.to_pylist()), key=repr)


def relieve() -> None:
    for end in ease:
        end()


# ------------------------------------------------------------------------------------------- calls by themselves


def reading(data: bytes, format: fm.Csv | fm.Json | fm.Framed, **options: object) -> Callable[[], Rows]:
    return lambda: rows(fm.read(data, format, **options))


def opening(data: bytes, format: fm.Csv, **options: object) -> Callable[[], Rows]:
    return lambda: rows(*fm.open(data, format, **options))


def reading_ranges() -> Rows:
    """Many small ranges by two threads, some of which guess their first record wrong."""
    plan = make_plan(fm.Csv(FLAT))
    reader = _core.RangeReader(plan.engine, 2, 50, 1 << 20)
    reader.begin(CSV, 0, 500, input_ends=True, byte_offset=0, smallest_range_bytes=500)
    batches: list[pa.RecordBatch] = []
    try:
        while (result := reader.next()) is not None:
            batches += [plan.batch(array) for array in result[1]]
    finally:
        reader.leave()
    return rows(*batches)


def collecting() -> Rows:
    rejects: list[pa.Table] = []
    table = fm.read(RAGGED, fm.Csv(FLAT), on_error="collect", rejects=rejects, threads=1)
    return rows(table) + rows(*rejects)


def planning() -> Rows:
    """Formats whose plans nobody has made before."""
    schema = pa.schema([*FLAT, pa.field("e", pa.binary(), metadata={b"encoding": b"hex"})])
    options = {"nulls": ("", "a null marker of some length"), "timestamp_formats": ("%d.%m.%Y %H:%M:%S",)}
    make_plan(fm.Csv(schema, **options), filters_wanted=[("b", "in", ["a text of some length", "b"]), ("a", ">", 1)])
    make_plan(fm.Json(pa.schema(list(NESTED))), columns=["s", "a"])
    make_plan(fm.Framed(fm.Native(pa.schema(list(NATIVE))), length="varint"))
    make_plan(fm.Framed(fm.Json(pa.schema(list(NESTED))), length="u16be"))
    return []


def parsing_records() -> Rows:
    array = pa.array([*CSV.splitlines(), b"1,2", None, b"x,y,z,w"])
    parsed = fm.parse_records_with_errors(array, fm.Csv(FLAT))
    wrapped = pa.array([b'{"r":[' + line + b"," + line + b"]}" for line in JSON.splitlines()])
    exploded = fm.parse_records(wrapped, fm.Json(NESTED, records="/r/*"))
    return rows(parsed.data, fm.parse_records(pa.array(JSON.splitlines()), fm.Json(NESTED)), exploded)


def surveying() -> Rows:
    plan = make_plan(fm.Csv(FLAT, escape="\\")).engine
    parts = [np.frombuffer(CSV[i : i + 700], np.uint8) for i in range(0, len(CSV), 700)]
    addresses, sizes = (np.array([f(p) for p in parts], np.uint64) for f in (lambda p: p.ctypes.data, len))
    packed, counts, likely = _core.survey_chunks(plan, addresses, sizes)
    return [tuple(packed.tolist()), tuple(counts.tolist()), tuple(likely.tolist())]


def reading_chunks() -> Rows:
    """The reader is used again, also after it has failed."""
    plan = make_plan(fm.Csv(FLAT))
    reader = _core.ChunkReader(plan.engine, max_rows=50, max_batch_bytes=1 << 20, count_rows=True)
    part = np.frombuffer(CSV, np.uint8)
    one = [np.array([value], np.uint64) for value in (part.ctypes.data, len(part), 0, 0)]
    rest = [np.array([value], np.int64) for value in (0, 0, 1, 1, 0)]
    try:
        first = reader.read(*one, *rest)
    except MemoryError:
        relieve()
        assert len(rows(*(plan.batch(array) for array in reader.read(*one, *rest)[0]))) == 60
        raise
    return rows(*(plan.batch(array) for result in (first, reader.read(*one, *rest)) for array in result[0]))


def filtering() -> Rows:
    clauses = [("b", "not in", ["text", 'text "3" of some length, with quotes']), ("d", "==", "kind 3")]
    return rows(fm.read(CSV, fm.Csv(FLAT), filters=clauses, threads=1))


def inferring() -> Rows:
    found = fm.infer(b"a,b,c\n1,x,2.5\n2,y,3.5\n")
    assert isinstance(found, fm.Csv)
    return [tuple(map(str, found.schema))]


def rewriting() -> Rows:
    """Numbers stay text on the way, which a check of their column's looks at."""
    format = fm.Csv(
        pa.schema([("a", pa.int64()), ("the name of a column", pa.string()), ("c", pa.float64()), ("d", pa.string())])
    )
    lines = b"".join(fm.rewrite(CSV, format, to=fm.Json(format.schema), threads=1))
    return [(line,) for line in lines.splitlines()]


def declared() -> Rows:
    format = fm.declared.logfmt(pa.schema([("a", pa.int64()), ("message", pa.string())]))
    return rows(fm.read(b"".join(b'a=%d message="%d of some length"\n' % (i, i) for i in range(60)), format, threads=1))


def pipes(data: Any, fields: Any) -> tuple[Any, Any, Any]:
    """Two fields, a pipe between them."""
    cuts = np.flatnonzero((data == ord("|")) | (data == ord("\n"))).reshape(-1, 2)
    begins = np.stack([np.concatenate([[0], cuts[:-1, 1] + 1]), cuts[:, 0] + 1], axis=1)
    return cuts[:, 1] + 1, begins[:, fields], cuts[:, fields]


fm.register_format("pipes, memory being short", pipes)


def registered() -> Rows:
    format = fm.Registered(pa.schema([("a", pa.int64()), ("b", pa.string())]), "pipes, memory being short")
    return rows(fm.read(b"".join(b"%d|%d of some length\n" % (i, i) for i in range(60)), format, threads=1))


def shredding() -> Rows:
    """A claim is handed out by the call that says so, or the sequence can be given again."""
    order = list(range(1, 4000, 3)) + list(range(2, 4000, 3)) + list(range(3, 4000, 3))
    shredder = fm.SequenceShredder()
    claims: list[tuple[int, int]] = []
    for sequence in order:
        try:
            claims += shredder.process(sequence, sequence % 7 == 0)
        except MemoryError:
            relieve()
            claims += shredder.process(sequence, sequence % 7 == 0)
    return sorted([*claims, *shredder.finish(3999)])


def spilling() -> Rows:
    """What a send refused is sent again; what it took comes out once."""
    table = fm.read(CSV, fm.Csv(FLAT), threads=1)
    flat = table.drop_columns(["d"]).combine_chunks().to_batches()[0]
    found: Rows = []
    with tempfile.TemporaryDirectory() as folder:
        bridge = fm.Bridge(
            flat.schema, capacity=2, policy=fm.BatchPolicy(max_rows=10), backpressure=fm.SpillToDisk(folder)
        )
        for begin in range(0, 60, 10):
            try:
                bridge.producer.send(flat.slice(begin, 10))
            except MemoryError:
                relieve()
                bridge.producer.send(flat.slice(begin, 10))
        bridge.producer.close()
        for message in bridge.consumer:
            found += rows(message.batch)
    return sorted(found, key=repr)


CALLS: dict[str, Callable[[], Rows]] = {
    "csv": reading(CSV, fm.Csv(FLAT), threads=1),
    "csv by two threads": reading_ranges,
    "csv with escapes": reading(CSV, fm.Csv(FLAT, escape="\\"), threads=1, on_error="skip"),
    "csv in latin-1": reading(CSV, fm.Csv(FLAT, encoding="latin-1"), threads=1),
    "csv with a header": reading(b"b,a,d,c\n" + CSV, fm.Csv(FLAT, header=True), on_error="skip", threads=1),
    "rejects": collecting,
    "json": reading(JSON, fm.Json(NESTED), threads=1),
    "json checked": reading(JSON, fm.Json(NESTED, validate="full"), threads=1),
    "json array": reading(b"[" + JSON.replace(b"}\n{", b"},\n{") + b"]", fm.Json(NESTED, records="array"), threads=1),
    "json records in documents": reading(
        b'{"r":[' + JSON.replace(b"}\n{", b'}]}\n{"r":[{') + b"]}", fm.Json(NESTED, records="/r/*"), threads=1
    ),
    "csv, one of two tables": reading(
        CSV + b"\n" + CSV, fm.Csv(FLAT, table_end="blank_line"), on_error="skip", threads=1
    ),
    "csv, needles": reading(
        CSV, fm.Csv(FLAT, unmatched="counted"), filters=[("b", "==", 'text "3" of some length, with quotes')], threads=1
    ),
    "csv, rescued": reading(RAGGED, fm.Csv(FLAT), rescue="rest", threads=1),
    "json, rescued": reading(JSON, fm.Json(NESTED), rescue="rest", threads=1),
    "json, variants": reading(JSON, fm.Json(pa.schema([pa.field("s", fm.variant())])), columns=["s"], threads=1),
    "framed": reading(FRAMED, fm.Framed(fm.Native(NATIVE), length="u32le"), threads=1),
    "open": opening(CSV, fm.Csv(FLAT), threads=1),
    "plans": planning,
    "records": parsing_records,
    "survey": surveying,
    "chunks": reading_chunks,
    "filter": filtering,
    "infer": inferring,
    "rewrite": rewriting,
    "declared": declared,
    "registered": registered,
    "shredder": shredding,
    "spill": spilling,
}


# ------------------------------------------------------------------------------------------------------- streams


class Closed(Exception):
    """The stream said that it is closed, and stays so."""


@contextlib.contextmanager
def watched_closing(stream: fm.Stream) -> Iterator[None]:
    """After a MemoryError a stream is as it was before the call, or closed for good; the counts can be seen to the end."""
    try:
        yield
    except MemoryError:
        relieve()
        assert stream.stats.buffers >= 0
        if not stream._engine.closed:
            raise
        for call in (
            lambda: stream.push(b"1,x\n", sequence=10_000),
            lambda: stream.append(b"1,x\n"),
            lambda: stream.lost(10_001),
            lambda: stream.flush(),
            lambda: stream.finish(),
            lambda: stream.finish_all(),
            lambda: stream.checkpoint(),
        ):
            with pytest.raises(fm.ClosedError, match="memory ran out"):
                call()
        raise Closed from None


def retried(stream: fm.Stream, call: Callable[[], list[fm.Batch]]) -> list[fm.Batch]:
    try:
        with watched_closing(stream):
            return call()
    except MemoryError:  # nothing has happened
        return call()


def streaming(
    data: bytes, format: fm.Csv | fm.Json | fm.Framed, way: str, size: int = 200, gather: Callable[..., Any] = rows
) -> Callable[[], Any]:
    chance = random.Random(way)
    pieces = [data[i : i + size] for i in range(0, len(data), size)]
    order = list(range(len(pieces)))
    if way not in ("in order", "leading"):
        chance.shuffle(order)
    policy = fm.BatchPolicy(max_rows=50 if size == 200 else 1000, max_latency_ms=None)

    def run() -> Any:
        stream = fm.Stream(format, batch=policy, ordered=way == "ordered", on_error="collect")
        batches: list[fm.Batch] = []
        if way in ("many", "leading"):
            for begin in range(0, len(order), 9):
                part = order[begin : begin + 9]
                buffers, sequences = [pieces[i] for i in part], [i + 1 for i in part]
                batches += retried(stream, partial(stream.push_many, buffers, sequences=sequences))
        else:
            for index in order:
                batches += retried(stream, partial(stream.push, pieces[index], sequence=index + 1))
                if way == "checkpoints" and index % 5 == 0:
                    with watched_closing(stream):
                        try:
                            state = stream.checkpoint()
                        except MemoryError:
                            if stream._engine.closed:
                                raise
                            state = stream.checkpoint()  # it goes on, and what had left before is not lost
                    stream = fm.Stream.restore(format, state)
        batches += retried(stream, stream.finish)
        found = gather(*(batch.data for batch in batches))
        return found + gather(stream.rejects().drop_columns(["message", "sequence"]))

    return run


def sharing() -> Rows:
    """Consumers read all, or are told that the stream failed."""
    stream = fm.SharedStream(fm.Csv(FLAT), batch=fm.BatchPolicy(max_rows=20, max_latency_ms=None), idle="discard")
    both = [stream.subscribe(["a", "b"], queue=1000)]
    found: Rows = []
    try:
        pieces = [CSV[i : i + 300] for i in range(0, len(CSV), 300)]
        for sequence, piece in enumerate(pieces, 1):
            stream.push(piece, sequence=sequence)
            if sequence == 5:
                both.append(stream.subscribe(["c"], queue=1000))
        stream.finish()
    except MemoryError:
        relieve()
        if stream._intake.closed:
            for subscription in both:
                with pytest.raises(fm.FlowError) as told:
                    deque(subscription, maxlen=0)
                assert isinstance(told.value.__cause__, MemoryError)
        raise
    for subscription in both[:1]:
        for batch in subscription:
            found += [(a.as_py(), b.as_py()) for a, b in zip(batch.column("a"), batch.column("b"), strict=True)]
    return sorted(found)


STREAMS: dict[str, Callable[[], Rows]] = {
    **{f"stream, {way}": streaming(CSV, fm.Csv(FLAT), way) for way in ("in order", "shuffled", "ordered", "many", "checkpoints")},
    "stream, leading": streaming(CSV * 40, fm.Csv(FLAT), "leading", 64 << 10),
    "stream, without quotes": streaming(RAGGED.replace(b'"', b""), fm.Csv(FLAT, quote=None), "shuffled"),
    "stream, escapes": streaming(CSV, fm.Csv(FLAT, escape="\\"), "shuffled"),
    "stream, header": streaming(b"#c\nb,a,d,c\n" + CSV, fm.Csv(FLAT, header=True, comment="#"), "shuffled"),
    "stream, json": streaming(JSON, fm.Json(NESTED), "checkpoints"),
    "stream, framed": streaming(FRAMED, fm.Framed(fm.Native(NATIVE), length="u32le"), "shuffled"),
    "shared": sharing,
}  # fmt: skip
SCENARIOS = CALLS | STREAMS
