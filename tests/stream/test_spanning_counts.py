"""`stats.spanning`: records that begin in one buffer and end in a later one, and no others.

In: records cut into buffers, pushed in every way. Out: the count, against one made from positions. Refuses to know:
claims, which also stand for what ends exactly at an edge.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest
from oracle.stream_runs import pieces_at, pieces_of, shuffled

import formatter as fm

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])
FORMATS = {
    "quoted": (fm.Csv(SCHEMA), "\n"),
    "unquoted": (fm.Csv(SCHEMA, quote=None), "\n"),
    "long delimiter": (fm.Csv(SCHEMA, record_delimiter="<e>\n"), "<e>\n"),
}


def spanning(records: list[bytes], pieces: list[bytes]) -> int:
    ends, at = [], 0
    for piece in pieces:
        at += len(piece)
        ends.append(at)
    count = begin = 0
    for record in records:
        last = begin + len(record) - 1
        first_buffer = next(i for i, end in enumerate(ends) if begin < end)
        last_buffer = next(i for i, end in enumerate(ends) if last < end)
        count += last_buffer > first_buffer
        begin = last + 1
    return count


@pytest.mark.parametrize("name", FORMATS)
def test_records_over_an_edge_are_counted_and_records_at_an_edge_are_not(name):
    format, end = FORMATS[name]
    chance = random.Random(3)
    for seed in range(25):
        inside = end if name == "quoted" else ""
        texts = ["x" * chance.choice([0, 1, 9, 40]) for _ in range(20)]
        records = [
            (f'{i},"{text}{inside}"{end}' if name == "quoted" else f"{i},{text}{end}").encode()
            for i, text in enumerate(texts)
        ]
        data = b"".join(records)
        edges = [sum(map(len, records[: i + 1])) for i in range(19)]
        cuts = sorted(
            chance.choices(edges, k=4) + [chance.randrange(len(data)) for _ in range(chance.choice([0, 3, 30]))]
        )
        for pieces in (pieces_at(data, cuts), pieces_at(data, edges), pieces_of(data, 7)):
            wanted = spanning(records, pieces)
            for many in (1, 3, len(pieces)):
                for window in (1, None):
                    stream = fm.Stream(format)
                    order = shuffled(len(pieces), seed, window)
                    for begin in range(0, len(order), many):
                        part = order[begin : begin + many]
                        stream.push_many([pieces[i] for i in part], sequences=[i + 1 for i in part])
                        if seed % 5 == 0:
                            stream = fm.Stream.restore(format, stream.checkpoint())
                    stream.finish(last_sequence=len(pieces))
                    assert stream.stats.spanning == wanted, (seed, [len(p) for p in pieces], many, order)
