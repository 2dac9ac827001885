"""More text than offsets of 32 bits count: more batches, never an offset that is wrong, nor a record that is not there.

In: records around the limit, which is lowered from 2 GiB so that they are short. Out: every value, in batches within it.
Refuses to know: where batches end.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import numpy as np
import pyarrow as pa
import pytest

import formatter as fm
from formatter import _core
from formatter.plans import make_plan

LIMIT = 3000
NO_LATENCY = fm.BatchPolicy(max_latency_ms=None)


@pytest.fixture(params=[LIMIT])
def _lowered_limit(request: pytest.FixtureRequest) -> Iterator[None]:
    before = _core.set_offsets_most(request.param)
    try:
        yield
    finally:
        _core.set_offsets_most(before)


lowered = pytest.mark.usefixtures("_lowered_limit")


def csv(kind: pa.DataType, **options: object) -> tuple[fm.Csv, Callable[[str], bytes]]:
    format = fm.Csv(pa.schema([("t", kind), ("n", pa.int64())]), **options)
    end = str(options.get("record_delimiter", "\n"))
    return format, lambda text: f"{text},7{end}".encode(format.encoding)


def json(kind: pa.DataType, value: str = '"%s"', **options: object) -> tuple[fm.Json, Callable[[str], bytes]]:
    format = fm.Json(pa.schema([("t", kind), ("n", pa.int64())]), **options)
    return format, lambda text: f'{{"t":{value % text},"n":7}}\n'.encode()


def framed(kind: pa.DataType) -> tuple[fm.Framed, Callable[[str], bytes]]:
    format = fm.Framed(fm.Native(pa.schema([("n", pa.int64()), ("t", kind)])), length="u32le")
    return format, lambda text: (8 + len(text)).to_bytes(4, "little") + bytes([7, *[0] * 7]) + text.encode()


CASES = {
    "csv": csv(pa.string()),
    "csv, binary": csv(pa.binary()),
    "csv, large": csv(pa.large_string()),
    "csv, views": csv(pa.string_view()),
    "csv, dictionary": csv(pa.dictionary(pa.int32(), pa.string())),
    "csv, large dictionary": csv(pa.dictionary(pa.int32(), pa.large_string())),
    "csv, escapes": csv(pa.string(), escape="\\"),
    "csv, trimmed": csv(pa.string(), trim=True),
    "csv, long delimiter": csv(pa.string(), record_delimiter="<end>\n"),
    "csv, latin-1": csv(pa.string(), encoding="latin-1"),
    "csv, utf-16": csv(pa.string(), encoding="utf-16-le"),
    "csv, header": csv(pa.string(), header=True),
    "json": json(pa.string()),
    "json, large": json(pa.large_string()),
    "json, whole": json(pa.string(), validate="full"),
    "json, escapes": json(pa.string(), '"\\u0041%s"'),
    "json, one behind the other": json(pa.string(), records="concatenated"),
    "json, dictionary": json(pa.dictionary(pa.int32(), pa.string())),
    "json, structure": json(pa.struct([("s", pa.string())]), '{"s":"%s"}'),
    "json, list": json(pa.list_(pa.string()), '["%s"]'),
    "json, large list": json(pa.large_list(pa.string()), '["%s"]'),
    "json, fixed list": json(pa.list_(pa.string(), 2), '["%s",""]'),
    "json, map": json(pa.map_(pa.string(), pa.string()), '{"k":"%s"}'),
    "json, keys": json(pa.map_(pa.string(), pa.int8()), '{"%s":1}'),
    "json, map with a key twice": json(pa.map_(pa.string(), pa.string()), '{"k":"","k":"%s"}'),
    "framed": framed(pa.string()),
    "framed, large": framed(pa.large_binary()),
}
EVERY = pytest.mark.parametrize("name", CASES)


def texts(chance: random.Random, count: int, most: int) -> list[str]:
    """Random sizes, many near the largest, each text with its number at both ends."""
    sizes = [
        chance.choice([12, chance.randrange(12, 200), most, most - 1, chance.randrange(12, most)]) for _ in range(count)
    ]
    return [f"{i:06}" + "x" * (size - 12) + f"{i:06}" for i, size in enumerate(sizes)]


def values(table: pa.Table | pa.RecordBatch) -> list[str]:
    """The texts, wherever in the column they stand."""

    def text_in(value: object) -> str:
        while not isinstance(value, str | bytes):
            assert isinstance(value, dict | list | tuple), value
            parts = value.values() if isinstance(value, dict) else value
            value = max(parts, key=lambda part: len(part) if isinstance(part, str | bytes | list | tuple) else -1)
        return value if isinstance(value, str) else value.decode()

    assert set(table["n"].to_pylist()) <= {7}
    return [text_in(value).removeprefix("A") for value in table["t"].to_pylist()]


def offsets_of(array: pa.Array) -> Iterator[int]:
    """What the last offset of every part of 32 bits comes to."""
    kind = array.type
    if isinstance(array, pa.DictionaryArray):
        yield from offsets_of(array.dictionary)
    elif pa.types.is_string(kind) or pa.types.is_binary(kind):
        yield sum(len(value.as_buffer()) for value in array if value.is_valid)
    elif pa.types.is_map(kind):
        yield len(array.keys)
        yield from offsets_of(array.keys)
        yield from offsets_of(array.items)
    elif pa.types.is_struct(kind):
        for i in range(kind.num_fields):
            yield from offsets_of(array.field(i))
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        yield from offsets_of(array.values)


def check(batches: list[pa.RecordBatch], expected: list[str], *, unified: bool = False) -> None:
    """`unified`: their dictionaries are one, which is pyarrow's doing."""
    for batch in batches:
        batch.validate(full=True)
        assert batch.num_rows
        for column in batch.columns:
            if not (unified and pa.types.is_dictionary(column.type)):
                assert all(used < LIMIT for used in offsets_of(column))
    assert [text for batch in batches for text in values(batch)] == expected


@lowered
@EVERY
@pytest.mark.parametrize("seed", range(6))
def test_every_value_comes_out_once_in_batches_within_the_limit(name, seed, kernel):
    format, record = CASES[name]
    chance = random.Random(f"{name} {seed}")
    room = LIMIT - len(record("")) - 8
    if getattr(format, "encoding", "").startswith("utf-16"):
        room //= 2
    expected = texts(chance, 30, room // 2 if seed % 2 else room)
    records = [record(text) for text in expected]
    if getattr(format, "header", False):
        records.insert(0, b"t,n\n")
    if chance.random() < 0.3 and not isinstance(format, fm.Framed):
        end = getattr(format, "record_end", b"\n")
        records[-1] = records[-1].removesuffix(end)  # the stream's end ends it
    data = b"".join(records)
    for threads in (1, 2):
        check(fm.read(data, format, threads=threads).to_batches(), expected, unified=True)
        check(list(fm.open(data, format, threads=threads)), expected)
    cuts = sorted(chance.randrange(len(data)) for _ in range(chance.choice([0, 1, 5])))
    buffers = [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    for many in (False, True):
        stream = fm.Stream(format, batch=NO_LATENCY, ordered=True)
        batches: list[fm.Batch] = []
        if many:
            batches += stream.push_many(buffers, sequences=list(range(1, len(buffers) + 1)))
        else:
            for sequence, buffer in enumerate(buffers, 1):
                batches += stream.push(buffer, sequence=sequence)
        batches += stream.finish()
        check([batch.data for batch in batches if batch.num_rows], expected)


@lowered
@pytest.mark.parametrize("name", ["csv", "csv, dictionary", "json", "json, structure", "framed"])
def test_rows_that_a_filter_drops_do_not_count(name, kernel):
    format, record = CASES[name]
    chance = random.Random(name)
    expected = texts(chance, 60, LIMIT // 3)
    data = b"".join(record(text) for text in expected)
    kept = [text for text in expected if len(text) != LIMIT // 3]
    flat = "structure" not in name
    whole = fm.read(
        data, format, threads=1, filters=[("t", "not in", [t for t in expected if t not in kept])] if flat else None
    )
    assert values(whole) == (kept if flat else expected)
    assert fm.read(data, format, threads=1, filters=[("n", "==", 8)]).num_rows == 0
    stream = fm.Stream(format, filters=[("n", "==", 8)])
    assert sum(batch.num_rows for batch in stream.push(data, sequence=1) + stream.finish()) == 0
    assert stream.stats.filtered == len(expected)


@lowered
@pytest.mark.parametrize("name", ["csv", "csv, trimmed", "csv, dictionary", "json", "json, list", "json, keys"])
def test_more_than_one_batch_can_hold_is_refused_where_there_is_to_be_one(name):
    format, record = CASES[name]
    expected = texts(random.Random(name), 12, LIMIT // 8)
    array = pa.array([record(text) for text in expected])
    with pytest.raises(fm.SchemaError, match="expected at most 2 GiB of text or items in a column of one batch"):
        fm.parse_records(pa.concat_arrays([array] * 4) if name != "csv, dictionary" else more_texts(record), format)
    parsed = fm.parse_records(array[:6], format)
    parsed.validate(full=True)
    assert values(parsed) == expected[:6]


def more_texts(record: Callable[[str], bytes]) -> pa.Array:
    return pa.array([record(text) for text in texts(random.Random(1), 48, LIMIT // 8)])


@lowered
@pytest.mark.parametrize("_lowered_limit", [1 << 20], indirect=True)
def test_a_dictionary_counts_the_texts_it_has_and_not_how_often():
    format, record = CASES["csv, dictionary"]
    expected = ["x" * 1000, "y" * 1000] * 2000
    batches = fm.read(b"".join(record(text) for text in expected), format, threads=1).to_batches()
    assert [batch.num_rows for batch in batches] == [4000]
    assert values(batches[0]) == expected


@lowered
@pytest.mark.parametrize("name", ["csv", "csv, escapes", "csv, latin-1", "json", "json, list"])
@pytest.mark.parametrize("over", [-2, -1, 0, 1, 2, 100])
def test_a_record_is_a_value_or_an_error_of_its_own_on_either_side_of_the_limit(name, over):
    format, record = CASES[name]
    short = record("1" * 40)
    long = record("2" * (LIMIT + over - len(record(""))))
    data = short + long + short
    rejects: list[pa.Table] = []
    table = fm.read(data, format, threads=1, on_error="collect", rejects=rejects)
    fits = len(long) <= LIMIT
    assert rejects[0]["code"].to_pylist() == ([] if fits else ["record_too_long"])
    assert [len(text) for text in values(table)] == [40, *([LIMIT + over - len(record(""))] if fits else []), 40]
    stream = fm.Stream(format, on_error="collect")
    batches = stream.push(data, sequence=1) + stream.finish()
    assert [text for batch in batches for text in values(batch.data)] == values(table)
    assert stream.rejects()["byte_offset"].to_pylist() == rejects[0]["byte_offset"].to_pylist()


REAL = 36 * (64 << 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["csv", "csv, dictionary", "json, list"])
def test_more_than_two_gigabytes_in_one_buffer(name):
    """The offsets of the thirty-second row were below zero, and the memory they pointed at was read."""
    format, record = CASES[name]
    rows = REAL // (64 << 20)
    data = b"".join(record(f"{i:06}".ljust(64 << 20, "x")) for i in range(rows))
    stream = fm.Stream(format, max_record_bytes=1 << 30)
    batches = stream.push(data, sequence=1) + stream.finish()
    assert sum(batch.num_rows for batch in batches) == rows
    row = 0
    for batch in batches:
        batch.data.validate()
        column = batch.data.column("t")
        column = column.values if pa.types.is_list(column.type) else column
        for value in column:
            found = (value.value if pa.types.is_dictionary(column.type) else value).as_buffer()
            assert (found.size, found[:6].to_pybytes()) == (64 << 20, b"%06d" % row)
            row += 1


@lowered
@pytest.mark.parametrize("seed", range(20))
def test_chunks_apart_from_each_other_give_every_value_too(seed):
    format, record = csv(pa.string(), quote=None)
    chance = random.Random(seed)
    expected = texts(chance, 30, LIMIT - 20)
    data = b"".join(record(text) for text in expected).removesuffix(b"\n")
    cuts = sorted(chance.randrange(len(data)) for _ in range(6))
    chunks = [np.frombuffer(data[a:b], np.uint8) for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    begun = [data.rfind(b"\n", 0, at) + 1 for at in [0, *cuts]]
    carries = [np.frombuffer(data[a:b], np.uint8) for a, b in zip(begun, [0, *cuts], strict=True)]
    addresses, sizes = (np.array([f(c) for c in chunks], np.uint64) for f in (lambda c: c.ctypes.data, len))
    carry_addresses, carry_sizes = (
        np.array([f(c) for c in carries], np.uint64) for f in (lambda c: c.ctypes.data, len)
    )
    none, last = np.zeros(len(chunks), np.int64), np.array([i == len(chunks) - 1 for i in range(len(chunks))], np.int64)
    plan = make_plan(format)
    reader = _core.ChunkReader(plan.engine, max_rows=1 << 16, max_batch_bytes=1 << 30, count_rows=True)
    arrays, errors, rows, _ = reader.read(
        addresses, sizes, carry_addresses, carry_sizes, none, none - 1, last, none, np.array([0, *cuts])
    )
    assert errors == []
    assert rows[-1] == len(expected)
    check([plan.batch(array) for array in arrays], expected)
