"""Parts of one file, each read by itself, are the file: by every quote rule, whatever is wrong with its quotes.

In: bytes, a dialect, lines between parts. Out: the rows and rejects of the parts, which are those of the whole.
"""

import io
import random
from itertools import pairwise

import pyarrow as pa
import pytest
from oracle.csv_oracle import Dialect

import formatter as fm
from formatter.splits import Part, SplitReader, SplitScan, can_be_split, record_starts, tells_by_summaries

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.string())])
RULES = [
    *({"quotes": rule} for rule in ("strict", "lenient", "sticky")),
    *({"quotes": rule, "max_quoted_lines": 2} for rule in ("strict", "lenient")),
    {"quotes": "lenient", "trim": True},
    {"quotes": "lenient", "escape": "\\"},
    {"quotes": "lenient", "delimiter": "||"},
    {"quotes": "sticky", "record_delimiter": "\r\n"},
    {"quotes": "strict", "escape": "\\", "comment": "#"},
    {"quotes": "lenient", "skip_lines": 2},
    {"newlines_in_quotes": False, "record_delimiter": ";;"},
]
PIECES = [
    b'"',
    b'"',
    b'""',
    b",",
    b",",
    b"\n",
    b"\n",
    b"\r\n",
    b"x",
    b"yy",
    b" ",
    b"\\",
    b"#",
    b"||",
    b"1,2\n",
    b'3,"4"\n',
    b";;",
]


def starts_of(data, format, lines):
    scan = SplitScan(format)
    found = None
    if tells_by_summaries(format):
        edges = [*lines, len(data)]
        summaries = [scan.summarize(io.BytesIO(data), *edge) for edge in pairwise(edges)]
        found = record_starts(summaries, len(data))
    followed = scan.follow(io.BytesIO(data), lines, len(data))
    return followed if found is None else found


def parts_read(data, format, lines):
    reader = SplitReader(format, on_error="collect")
    edges = list(dict.fromkeys([*starts_of(data, format, lines), len(data)]))
    rows = []
    for begin, end in pairwise(edges):
        preamble = reader.header_bytes(data, True) or 0 if format.has_preamble else 0
        part = Part(begin, end, True, end == len(data))
        for batch in reader.batches(io.BytesIO(data), part, header=data[:preamble]):
            rows += batch.to_pylist()
    return rows, sorted((error.byte_offset, error.code, raw) for error, raw in reader.found)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_parts_of_a_file_are_the_file(rule):
    format = fm.Csv(SCHEMA, **rule)
    assert can_be_split(format)
    for seed in range(150):
        chance = random.Random(seed)
        data = b"begin\n" + b"".join(chance.choices(PIECES, k=chance.randrange(10, 80)))
        if chance.random() < 0.5:  # well-formed for the most part
            data += b"".join(b'%d,"%s"\n' % (i, b"z\n" * chance.randrange(2)) for i in range(20))
        rejects = []
        whole = fm.read(data, format, on_error="collect", rejects=rejects).to_pylist()
        expected = sorted((r["byte_offset"], r["code"], r["raw"]) for r in rejects[0].to_pylist())
        step = chance.randrange(8, 60)
        rows, found = parts_read(data, format, range(0, len(data), step))
        assert rows == whole, (seed, data)
        assert found == expected, (seed, data)


def test_the_dialect_of_the_oracle_knows_every_rule():
    assert {name for rule in RULES for name in rule} - {"skip_lines"} <= set(Dialect.__dataclass_fields__)
