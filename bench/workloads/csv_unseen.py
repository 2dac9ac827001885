"""CSV that nobody tuned to: what people's files look like, each with one trait driven far.

In: a size and a seed. Out: header-less CSV (log lines: separated by spaces). Refuses to know: who reads them.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workload import Workload
from bench.workloads.csv_tables import WORDS, chosen, csv_workload, fixed_point, ints, made_of, timestamps

NONE = pa.scalar(None, pa.string())


def _absent(column: pa.Array, random: np.random.Generator, share: float) -> pa.Array:
    return pc.if_else(pa.array(random.random(len(column)) < share), NONE, column)


# ------------------------------------------------------------------------------------------------------- sparse

SPARSE = pa.schema(
    [(f"s{i:02d}", (pa.int64(), pa.float64(), pa.string(), pa.timestamp("us"))[i % 4]) for i in range(60)]
)


def _sparse_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    columns = []
    for i in range(60):
        texts = [
            lambda: ints(random.integers(0, 10**5, rows)),
            lambda: fixed_point(random.integers(0, 10**6, rows), 3),
            lambda: chosen(random, WORDS, rows),
            lambda: timestamps(random.integers(10**9, 17 * 10**8, rows)),
        ][i % 4]()
        columns.append(texts if i == 0 else _absent(texts, random, 0.9))
    return columns


# ---------------------------------------------------------------------------------------------------- log lines

LOG = pa.schema(
    [("host", pa.string()), ("user", pa.string()), ("at", pa.timestamp("us")), ("request", pa.string()), ("status", pa.int64()),
     ("bytes", pa.int64()), ("referrer", pa.string()), ("agent", pa.string())]
)  # fmt: skip
AGENTS = [
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36",
    "curl/8.5.0",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_2 like Mac OS X)",
]


def _log_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    def quoted(texts: list[str]) -> pa.Array:
        return chosen(random, [f'"{text}"' for text in texts], rows)

    paths = [f"GET /{a}/{b}?q={n} HTTP/1.1" for n, (a, b) in enumerate(zip(WORDS, reversed(WORDS), strict=True))]
    moments = pa.array(1_700_000_000 + np.sort(random.integers(0, 86_400, rows))).cast(pa.timestamp("s"))
    return [
        chosen(random, [f"10.{n % 256}.{n * 7 % 256}.{n * 13 % 256}" for n in range(900)], rows),
        chosen(random, ["-", "-", "-", "alice", "bob"], rows),
        pc.strftime(moments, "%Y-%m-%dT%H:%M:%S"),
        quoted(paths),
        ints(random.choice([200, 200, 200, 301, 404, 500], rows)),
        ints(random.integers(0, 10**6, rows)),
        quoted([f"https://example.org/{word}" for word in WORDS] + ["-"] * 20),
        quoted(AGENTS),
    ]


def _log_lines(size: int, seed: int) -> bytes:
    """The same fields with spaces between them; those that hold a comma or a space are quoted already."""

    def one_column(random: np.random.Generator, rows: int) -> list[pa.Array]:
        return [pc.binary_join_element_wise(*_log_block(random, rows), " ")]

    return made_of(one_column, 9)(size, seed)


# ---------------------------------------------------------------------------------------- long text, one kind only

LONG = pa.schema([("id", pa.int64()), ("title", pa.string()), ("body", pa.string()), ("words", pa.int64())])


def _long_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    bodies = [" ".join(random.choice(WORDS, int(length))) for length in random.integers(400, 1500, 200)]
    titles = [" ".join(random.choice(WORDS, 6)) for _ in range(200)]
    return [
        ints(np.arange(rows)),
        chosen(random, titles, rows),
        chosen(random, bodies, rows),
        ints(random.integers(400, 1500, rows)),
    ]


INTS = pa.schema([(f"i{i:02d}", pa.int64()) for i in range(24)])
DOUBLES = pa.schema([(f"d{i:02d}", pa.float64()) for i in range(16)])
SHORT = pa.schema([(f"t{i:02d}", pa.string()) for i in range(20)])


def _ints_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    return [ints(random.integers(-(10 ** (1 + i % 12)), 10 ** (1 + i % 12), rows)) for i in range(24)]


def _doubles_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    """As repr() writes them: the shortest text that gives the value again, 15 to 17 digits."""
    return [pa.array([repr(v) for v in random.normal(0, 10 ** (i % 5), rows).tolist()]) for i in range(16)]


def _short_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    return [chosen(random, [word[: 1 + i % 6] for word in WORDS], rows) for i in range(20)]


# --------------------------------------------------------------------------------------- record sizes, dirty files

SKEWED = pa.schema([("id", pa.int64()), ("note", pa.string())])
LARGEST_RECORD = 10 << 20


def _skewed(size: int, seed: int) -> bytes:
    """Records of a few bytes, now and then one of kilobytes, rarely one of megabytes: sizes by a power law."""
    random = np.random.default_rng([seed, 11])
    text = ("".join(random.choice([*"abcdefghij "], 1 << 16)).replace(",", " ") * 161)[:LARGEST_RECORD]
    largest = min(LARGEST_RECORD, max(64, size // 4))
    lengths = np.minimum(largest, random.pareto(0.45, 200_000) * 2).astype(np.int64)
    records, total, number = [], 0, 0
    while total < size:
        record = f"{number % 10},{text[: lengths[number % len(lengths)]].strip() or 'x'}\n".encode()
        records.append(record)
        total += len(record)
        number += 1
    return b"".join(records)


DIRTY = pa.schema(
    [("id", pa.int64()), ("amount", pa.float64()), ("label", pa.string()), ("at", pa.timestamp("us")), ("count", pa.int64()),
     ("remark", pa.string())]
)  # fmt: skip


def _dirty_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    """Quotes around any field or none, NA and nothing for nulls, CR before half of the line feeds."""

    def some_in_quotes(column: pa.Array) -> pa.Array:
        quoted = pc.binary_join_element_wise('"', column, '"', "")
        return pc.if_else(pa.array(random.random(rows) < 0.3), quoted, column)

    def some_absent(column: pa.Array) -> pa.Array:
        return pc.if_else(pa.array(random.random(rows) < 0.1), pa.scalar("NA"), _absent(column, random, 0.1))

    remarks = [" ".join(WORDS[n : n + 3]) for n in range(40)] + ['"says ""no"""', '"one, two"', '"naïve — café"']
    remark = chosen(random, remarks, rows)
    ends = chosen(random, ["", "\r"], rows)
    return [
        some_in_quotes(ints(np.arange(rows))),
        some_absent(some_in_quotes(fixed_point(random.integers(-(10**7), 10**7, rows), 2))),
        some_absent(some_in_quotes(chosen(random, WORDS, rows))),
        some_absent(timestamps(random.integers(10**9, 17 * 10**8, rows))),
        some_absent(ints(random.integers(0, 1000, rows))),
        pc.binary_join_element_wise(remark, ends, ""),
    ]


WORKLOADS = [
    csv_workload("sparse", "60 columns, nine of ten values absent", SPARSE, ("s00", "s25", "s50"), _sparse_block),
    Workload(
        "log lines", "web server lines, separated by spaces", LOG, ("at", "status", "bytes"), _log_lines, told={"delimiter": " "},
    ),
    csv_workload("long text", "four columns, one of 3 to 10 KB of text", LONG, ("id", "words"), _long_block),
    csv_workload("integers", "24 columns of integers only, 1 to 12 digits", INTS, ("i02", "i11", "i20"), _ints_block),
    csv_workload("doubles", "16 columns of doubles only, as repr() writes them", DOUBLES, ("d01", "d07", "d14"), _doubles_block),
    csv_workload("short text", "20 columns of words of 1 to 6 letters", SHORT, ("t01", "t09", "t18"), _short_block),
    Workload("skewed", "two columns, records of 4 bytes to 10 MB", SKEWED, ("id",), _skewed),
    Workload(
        "dirty", "quotes anywhere, two spellings of null, two line ends", DIRTY, ("id", "amount", "label"),
        made_of(_dirty_block, 5), told={"nulls": ("", "NA")},
    ),
]  # fmt: skip
