"""Buffers that are parsed where they lie, or brought together first: no difference but time.

In: a megabyte of records of all lengths, in buffers from 1 KiB to all of it. Out: a verdict. Refuses to know: speed.
"""

from __future__ import annotations

import random
import threading

import pyarrow as pa
import pytest
from oracle.stream_runs import departure, multiset, pieces_at, pieces_of, row_tuples, shuffled, streamed, whole_read

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("c", pa.float64())])
FORMATS = {
    "quoted": fm.Csv(SCHEMA),
    "unquoted": fm.Csv(SCHEMA, quote=None),
    "long delimiter": fm.Csv(SCHEMA, record_delimiter="<e>\n"),
    "json": fm.Json(SCHEMA),
}
ROWS = 6000


def megabyte(name: str) -> bytes:
    """Mostly short records, some longer than what is copied over a buffer's edge, one longer than several buffers."""
    chance = random.Random(7)
    out = []
    for i in range(ROWS):
        size = chance.choice([3, 20, 90, 200]) if i % 50 else chance.choice([3_000, 5_000, 20_000])
        text = ("x" * 150_000 if i == 2_000 else "text," * size)[: max(size, 150_000 * (i == 2_000))]
        if name == "json":
            out.append(f'{{"a":{i},"b":"{text}","c":{i % 10}.5}}\n')
        elif name == "unquoted":
            out.append(f"{i},{text.replace(',', ';')},{i % 10}.5\n")
        else:
            end = "<e>\n" if name == "long delimiter" else "\n"
            inside = "\n" if i % 3 else ""
            out.append(f'{i},"{text}{inside}""",{i % 10 if i % 97 else "bad"}.5{end}')
    return "".join(out).encode()


@pytest.mark.parametrize("name", FORMATS)
def test_large_buffers_give_the_whole_reads_rows_whatever_their_size_and_order(name):
    data, format = megabyte(name), FORMATS[name]
    whole = whole_read(data, format, "collect")
    assert len(whole.rows) > ROWS - 100
    chance = random.Random(1)
    mixed = pieces_at(data, sorted(chance.randrange(len(data)) for _ in range(120)))
    for pieces in (*(pieces_of(data, size) for size in (1_000, 17_000, 65_536, 300_000, len(data))), mixed):
        for many, window in ((None, None), (None, 3), (1_000, None), (7, 64)):
            order = shuffled(len(pieces), len(pieces), window)
            run = streamed(pieces, format, order, "collect", many=many)
            assert departure(run, whole, len(pieces)) is None, (len(pieces), many, window)


@pytest.mark.parametrize("name", FORMATS)
def test_threads_with_large_buffers_give_each_row_once_and_ordered_streams_in_order(name):
    data, format = megabyte(name), FORMATS[name]
    whole = whole_read(data, format, "skip")
    pieces = pieces_of(data, 30_000)
    for ordered in (False, True):
        stream = fm.Stream(format, on_error="skip", ordered=ordered, batch=fm.BatchPolicy(max_rows=500))
        order = shuffled(len(pieces), 3, 10)
        batches: list[fm.Batch] = []

        def work(first: int, stream: fm.Stream = stream, order: list[int] = order, found: list = batches) -> None:
            for index in order[first::3]:
                found += stream.push(bytearray(pieces[index]), sequence=index + 1)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        batches += stream.finish(last_sequence=len(pieces))
        assert multiset(row_tuples(b.data for b in batches)) == whole.rows
        if ordered:
            batches.sort(key=lambda b: b.spans[0])
            assert [row[0] for row in row_tuples(b.data for b in batches)] == sorted(row[0] for row in whole.rows)


def test_a_buffer_that_waits_is_the_streams_own_also_when_it_is_large():
    data = megabyte("quoted")
    pieces = [bytearray(p) for p in pieces_of(data, 40_000)]
    stream = fm.Stream(FORMATS["quoted"], on_error="skip")
    batches = []
    for index in reversed(range(len(pieces))):
        batches += stream.push(pieces[index], sequence=index + 1)
        pieces[index][:] = b'"' * len(pieces[index])
    assert stream.stats.pending_bytes == 0
    batches += stream.finish()
    assert multiset(row_tuples(b.data for b in batches)) == whole_read(data, FORMATS["quoted"], "skip").rows
