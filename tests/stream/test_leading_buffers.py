"""The next buffers in order of a call that is alone are parsed before anything is counted: nothing else may change."""

import bisect
import itertools
import random
import threading
from collections.abc import Iterator

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("number", pa.int64()), ("text", pa.string()), ("value", pa.float64())])
RECORDS = 24_000


def quoted_records(seed: int = 1, bad_every: int = 0) -> list[bytes]:
    chance = random.Random(seed)
    texts = ['"a,\nb"', '"""quoted"""', "plain", '"' + "line\n" * 9 + '"', '"a"', '""']
    rows = []
    for i in range(RECORDS):
        number = "bad" if bad_every and i % bad_every == bad_every - 1 else str(i)
        rows.append(f"{number},{chance.choice(texts)},{i % 1000}.25\n")
    return [row.encode() for row in rows]


def quoted_csv(seed: int = 1, bad_every: int = 0) -> bytes:
    return b"".join(quoted_records(seed, bad_every))


def pieces_of(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


def covered(batches: list[fm.Batch]) -> list[int]:
    return sorted(s for b in batches for first, last in b.spans for s in range(first, last + 1))


def rows_of(batches: list[fm.Batch]) -> pa.Table:
    return pa.Table.from_batches([b.data for b in batches], schema=SCHEMA).sort_by("number")


def calls_of(pieces: list[bytes], per_call: int) -> Iterator[tuple[list[bytes], list[int]]]:
    for begin in range(0, len(pieces), per_call):
        part = pieces[begin : begin + per_call]
        yield part, list(range(begin + 1, begin + 1 + len(part)))


@pytest.mark.parametrize("size", [16 << 10, 16_385, 20_000, 65_535, 64 << 10, 65_537, 300_000, (1 << 20) + 1])
@pytest.mark.parametrize("per_call", [1, 3, 64])
def test_rows_and_spans_do_not_depend_on_the_size_of_large_buffers(size: int, per_call: int) -> None:
    data = quoted_csv()
    whole = fm.read(data, fm.Csv(SCHEMA), threads=1)
    pieces = pieces_of(data, size)
    stream = fm.Stream(fm.Csv(SCHEMA))
    batches: list[fm.Batch] = []
    for part, sequences in calls_of(pieces, per_call):
        batches += stream.push_many(part, sequences=sequences)
    batches += stream.finish(last_sequence=len(pieces))
    assert rows_of(batches).equals(whole.combine_chunks())
    assert covered(batches) == list(range(1, len(pieces) + 1))
    stats = stream.stats
    assert stats.bytes == len(data)
    assert stats.buffers == len(pieces)
    assert stats.pending_bytes == 0
    ends = list(itertools.accumulate(map(len, quoted_records())))
    cut = {bisect.bisect(ends, boundary) for boundary in range(size, len(data), size) if boundary not in set(ends)}
    assert stats.spanning == len(cut)


@pytest.mark.parametrize("size", [20_000, 64 << 10])
def test_errors_have_the_positions_of_a_whole_parse(size: int) -> None:
    data = quoted_csv(bad_every=997)
    format = fm.Csv(SCHEMA)
    one = fm.Stream(format, on_error="collect")
    expected_batches = one.push(data, sequence=1) + one.finish()
    expected = one.rejects()
    assert expected.num_rows == RECORDS // 997
    pieces = pieces_of(data, size)
    stream = fm.Stream(format, on_error="collect")
    batches: list[fm.Batch] = []
    for part, sequences in calls_of(pieces, 16):
        batches += stream.push_many(part, sequences=sequences)
    batches += stream.finish()
    rejects = stream.rejects()
    for column in ("byte_offset", "column", "code", "raw"):
        assert rejects[column].to_pylist() == expected[column].to_pylist()
    record_ends = [
        o + len(r) for o, r in zip(expected["byte_offset"].to_pylist(), expected["raw"].to_pylist(), strict=True)
    ]
    assert rejects["sequence"].to_pylist() == [end // size + 1 for end in record_ends]
    assert rows_of(batches).equals(rows_of(expected_batches))


def test_slices_of_one_buffer_are_parsed_without_a_gap() -> None:
    data = quoted_csv()
    view = memoryview(data)
    pieces = [view[i : i + 50_000] for i in range(0, len(data), 50_000)]
    stream = fm.Stream(fm.Csv(SCHEMA))
    batches = stream.push_many(pieces, sequences=list(range(1, len(pieces) + 1))) + stream.finish()
    assert rows_of(batches).equals(fm.read(data, fm.Csv(SCHEMA), threads=1).combine_chunks())


def test_a_buffer_that_a_call_is_parsing_is_a_duplicate_in_the_next() -> None:
    data = quoted_csv()
    pieces = pieces_of(data, 64 << 10)
    stream = fm.Stream(fm.Csv(SCHEMA), on_duplicate="ignore")
    batches: list[fm.Batch] = []
    for part, sequences in calls_of(pieces, 5):
        batches += stream.push_many(part, sequences=sequences)
        batches += stream.push_many(part, sequences=sequences)
        batches += stream.push_many(part + part, sequences=sequences + sequences)
    batches += stream.finish()
    assert rows_of(batches).equals(fm.read(data, fm.Csv(SCHEMA), threads=1).combine_chunks())
    assert stream.stats.duplicates == 3 * len(pieces)


def test_a_checkpoint_between_calls_goes_on_where_they_were() -> None:
    data = quoted_csv()
    pieces = pieces_of(data, 40_000)
    stream = fm.Stream(fm.Csv(SCHEMA))
    batches: list[fm.Batch] = []
    for part, sequences in calls_of(pieces, 7):
        batches += stream.push_many(part, sequences=sequences)
        stream = fm.Stream.restore(fm.Csv(SCHEMA), stream.checkpoint())
    batches += stream.finish()
    assert rows_of(batches).equals(fm.read(data, fm.Csv(SCHEMA), threads=1).combine_chunks())


def test_a_record_longer_than_many_buffers_comes_out_once() -> None:
    long = b'7,"' + b"x\n" * 300_000 + b'",1.5\n'
    data = b"1,a,2.5\n" * 40_000 + long + b"9,b,3.5\n" * 40_000
    pieces = pieces_of(data, 32 << 10)
    stream = fm.Stream(fm.Csv(SCHEMA))
    batches: list[fm.Batch] = []
    for part, sequences in calls_of(pieces, 8):
        batches += stream.push_many(part, sequences=sequences)
    batches += stream.finish()
    table = pa.Table.from_batches([b.data for b in batches])
    assert table.num_rows == 80_001
    assert [len(t) for t in table["text"].to_pylist() if len(t) > 1] == [600_000]


@pytest.mark.parametrize("ordered", [False, True])
def test_calls_of_several_threads_take_turns_without_a_loss(ordered: bool) -> None:
    data = quoted_csv() * 4
    format = fm.Csv(SCHEMA)
    whole = fm.read(data, format, threads=1).sort_by([("number", "ascending"), ("text", "ascending")])
    pieces = pieces_of(data, 33_000)
    chance = random.Random(3)
    stream = fm.Stream(format, ordered=ordered)
    calls = list(calls_of(pieces, 6))
    for begin in range(0, len(calls), 4):
        part = calls[begin : begin + 4]
        chance.shuffle(part)
        calls[begin : begin + 4] = part
    found: list[list[fm.Batch]] = [[], [], []]

    def push(number: int) -> None:
        for part, sequences in calls[number::3]:
            found[number] += stream.push_many(part, sequences=sequences)

    threads = [threading.Thread(target=push, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    batches = [b for part in found for b in part] + stream.finish(last_sequence=len(pieces))
    table = pa.Table.from_batches([b.data for b in batches], schema=SCHEMA)
    assert table.sort_by([("number", "ascending"), ("text", "ascending")]).equals(whole)
    assert covered(batches) == list(range(1, len(pieces) + 1))
