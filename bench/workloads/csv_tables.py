"""Seeded CSV inputs, made column by column with vectorised text building.

In: a size in bytes and a seed. Out: header-less CSV of about that size.
Refuses to know: who reads them.

* taxi: 19 columns as in public trip records: small ints, two-decimal floats, two timestamps, short strings, nulls.
* quoted: 8 columns, mostly quoted text with commas, line feeds and doubled quotes inside.
* wide: 200 numeric columns, ints and floats in turn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workload import Workload

BLOCK_ROWS = 20_000
WORDS = """
time year people way day man thing woman life child world school state family student group country problem hand part
place case week company system program question work government number night point home water room mother area money
story fact month lot right study book eye job word business issue side kind head house service friend
""".split()  # noqa: SIM905


Block = Callable[[np.random.Generator, int], list[pa.Array]]  # rows -> one text array a column


def made_of(block: Block, salt: int, line_end: str = "\n") -> Callable[[int, int], bytes]:
    """About so many bytes of whole records, from blocks of columns."""

    def make(size: int, seed: int) -> bytes:
        random = np.random.default_rng([seed, salt])
        probe = rows_as_text(block(random, 200), line_end)
        rows_wanted = max(1, size * 200 // len(probe))
        blocks = []
        for start in range(0, rows_wanted, BLOCK_ROWS):
            blocks.append(rows_as_text(block(random, min(BLOCK_ROWS, rows_wanted - start)), line_end))
        return b"".join(blocks)

    return make


def csv_workload(
    name: str, about: str, schema: pa.Schema, few: tuple[str, ...], block: Block, newlines_in_values: bool = False
) -> Workload:
    return Workload(name, about, schema, few, made_of(block, len(name)), newlines_in_values=newlines_in_values)


def rows_as_text(columns: list[pa.Array], line_end: str = "\n") -> bytes:
    rows = pc.binary_join_element_wise(*columns, ",", null_handling="replace", null_replacement="")
    lines = pc.binary_join_element_wise(rows, "", line_end)
    return bytes(lines.buffers()[2])


# ------------------------------------------------------------------------------------------------ column texts


def ints(values: np.ndarray, null_mask: np.ndarray | None = None) -> pa.Array:
    return pa.array(values, mask=null_mask).cast(pa.string())


def fixed_point(scaled: np.ndarray, digits: int, null_mask: np.ndarray | None = None) -> pa.Array:
    """Integers scaled by 10**digits as text with exactly that many decimals: -1234 -> -12.34."""
    halves = np.empty((len(scaled), 2), np.int64)
    halves[:, 0] = scaled
    halves[:, 1] = scaled >> 63
    buffers = [None, pa.py_buffer(halves.tobytes())]
    text = pa.Array.from_buffers(pa.decimal128(18, digits), len(scaled), buffers).cast(pa.string())
    return text if null_mask is None else pc.if_else(pa.array(null_mask), pa.scalar(None, pa.string()), text)


def timestamps(seconds: np.ndarray) -> pa.Array:
    """YYYY-MM-DD HH:MM:SS."""
    return pa.array(seconds.astype("datetime64[s]")).cast(pa.string())


def chosen(random: np.random.Generator, texts: list[str], rows: int) -> pa.Array:
    return pa.array(texts).take(pa.array(random.integers(0, len(texts), rows)))


# ------------------------------------------------------------------------------------------------------ taxi

TAXI = pa.schema(
    [
        ("vendor_id", pa.int64()),
        ("pickup_at", pa.timestamp("us")),
        ("dropoff_at", pa.timestamp("us")),
        ("passenger_count", pa.int64()),
        ("trip_distance", pa.float64()),
        ("rate_code", pa.int64()),
        ("store_and_forward", pa.string()),
        ("pickup_zone", pa.int64()),
        ("dropoff_zone", pa.int64()),
        ("payment_type", pa.int64()),
        *(
            (name, pa.float64())
            for name in ("fare", "extra", "tax", "tip", "tolls", "surcharge", "total", "congestion")
        ),
        ("airport_fee", pa.float64()),
    ]
)


def _taxi_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    pickup = 1_672_531_200 + np.sort(random.integers(0, 31_000_000, rows))
    fare = random.gamma(2.2, 800, rows).astype(np.int64)
    tip = (fare * random.choice([0, 0.1, 0.2, 0.25], rows)).astype(np.int64)
    absent = random.random(rows) < 0.03
    none = np.zeros(rows, np.int64)
    return [
        ints(random.integers(1, 3, rows)),
        timestamps(pickup),
        timestamps(pickup + random.integers(60, 5_000, rows)),
        ints(random.integers(1, 7, rows), absent),
        fixed_point(random.gamma(1.3, 250, rows).astype(np.int64), 2),
        ints(random.choice([1, 1, 1, 2, 5, 99], rows), absent),
        pc.if_else(pa.array(absent), pa.scalar(None, pa.string()), chosen(random, ["N", "N", "N", "Y"], rows)),
        ints(random.integers(1, 266, rows)),
        ints(random.integers(1, 266, rows)),
        ints(random.integers(1, 5, rows)),
        fixed_point(fare, 2),
        fixed_point(random.choice([0, 100, 250], rows), 2),
        fixed_point(none + 50, 2),
        fixed_point(tip, 2),
        fixed_point(random.choice([0, 0, 0, 655], rows), 2),
        fixed_point(random.choice([30, 100, -100], rows), 2),
        fixed_point(fare + tip + 480, 2),
        fixed_point(none + 250, 2, absent),
        fixed_point(random.choice([0, 125], rows), 2, absent),
    ]


# ---------------------------------------------------------------------------------------------------- quoted

QUOTED = pa.schema(
    [
        ("id", pa.int64()),
        ("author", pa.string()),
        ("title", pa.string()),
        ("body", pa.string()),
        ("tags", pa.string()),
        ("city", pa.string()),
        ("reply", pa.string()),
        ("score", pa.float64()),
    ]
)


def texts(random: np.random.Generator, count: int, words: tuple[int, int], glue: list[str]) -> list[str]:
    """Quoted fields of random words; the glue between words brings the commas, quotes and line feeds."""
    made = []
    for length in random.integers(words[0], words[1] + 1, count):
        picks = random.integers(0, len(WORDS), length)
        joints = random.integers(0, len(glue), length)
        text = "".join(WORDS[pick] + glue[joint] for pick, joint in zip(picks, joints, strict=True)).strip()
        made.append('"' + text.replace('"', '""') + '"')
    return made


def quoted_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    vocabulary = np.random.default_rng(20_240)  # the same texts in every block; their mix differs
    prose = [" "] * 12 + [", ", ", ", ".\n", ' "', '" ']
    return [
        ints(np.arange(rows) + int(random.integers(0, 10**9))),
        chosen(random, texts(vocabulary, 500, (2, 2), [" ", ", "]), rows),
        chosen(random, texts(vocabulary, 1_000, (4, 9), [" ", " ", ", ", ' "']), rows),
        chosen(random, texts(vocabulary, 2_000, (15, 60), prose), rows),
        chosen(random, texts(vocabulary, 300, (1, 5), [","]), rows),
        chosen(random, ["Oslo", "Lima", "Quito", "Nairobi", "Kyoto", "Porto"], rows),
        chosen(random, texts(vocabulary, 1_000, (5, 25), prose), rows),
        fixed_point(random.integers(-500, 10_000, rows), 2),
    ]


# ------------------------------------------------------------------------------------------------------ wide

WIDE_COLUMNS = 200
WIDE = pa.schema([(f"c{i:03d}", pa.float64() if i % 2 else pa.int64()) for i in range(WIDE_COLUMNS)])


def _wide_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    columns = []
    for i in range(WIDE_COLUMNS):
        limit = 10 ** (2 + i % 6)
        values = random.integers(-limit // 4, limit, rows)
        columns.append(fixed_point(values, 1 + i % 4) if i % 2 else ints(values))
    return columns


WORKLOADS = [
    csv_workload(
        "taxi", "trip records: small integers, two decimals, two timestamps, flags, some nulls",
        TAXI, ("pickup_at", "trip_distance", "total"), _taxi_block,
    ),
    csv_workload(
        "quoted", "prose in quotes, with commas, line feeds and doubled quotes",
        QUOTED, ("id", "title", "score"), quoted_block, True,
    ),
    csv_workload("wide", "200 numeric columns, integers and decimals in turn", WIDE, ("c010", "c087", "c151"), _wide_block),
]  # fmt: skip
