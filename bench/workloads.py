"""Seeded CSV inputs, made column by column with vectorised text building.

In: a size in bytes and a seed. Out: header-less CSV bytes of about that size, the schema, the projection used.
Refuses to know: who reads them.

* taxi: 19 columns as in public trip records: small ints, two-decimal floats, two timestamps, short strings, nulls.
* quoted: 8 columns, mostly quoted text with commas, line feeds and doubled quotes inside.
* wide: 200 numeric columns, ints and floats in turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

BLOCK_ROWS = 20_000
WORDS = """
time year people way day man thing woman life child world school state family student group country problem hand part
place case week company system program question work government number night point home water room mother area money
story fact month lot right study book eye job word business issue side kind head house service friend
""".split()  # noqa: SIM905


@dataclass(frozen=True)
class Workload:
    name: str
    schema: pa.Schema
    few: tuple[str, ...]  # the three-column projection
    newlines_in_values: bool
    block: Callable[[np.random.Generator, int], list[pa.Array]]  # rows -> one text array a column

    def make(self, size: int, seed: int) -> bytes:
        """About `size` bytes of whole records."""
        random = np.random.default_rng([seed, len(self.name)])
        probe = _rows_as_text(self.block(random, 200))
        rows_wanted = max(1, size * 200 // len(probe))
        blocks = []
        for start in range(0, rows_wanted, BLOCK_ROWS):
            blocks.append(_rows_as_text(self.block(random, min(BLOCK_ROWS, rows_wanted - start))))
        return b"".join(blocks)


def _rows_as_text(columns: list[pa.Array]) -> bytes:
    rows = pc.binary_join_element_wise(*columns, ",", null_handling="replace", null_replacement="")
    lines = pc.binary_join_element_wise(rows, "", "\n")
    return bytes(lines.buffers()[2])


# ------------------------------------------------------------------------------------------------ column texts


def _ints(values: np.ndarray, null_mask: np.ndarray | None = None) -> pa.Array:
    return pa.array(values, mask=null_mask).cast(pa.string())


def _fixed_point(scaled: np.ndarray, digits: int, null_mask: np.ndarray | None = None) -> pa.Array:
    """Integers scaled by 10**digits as text with exactly that many decimals: -1234 -> -12.34."""
    halves = np.empty((len(scaled), 2), np.int64)
    halves[:, 0] = scaled
    halves[:, 1] = scaled >> 63
    buffers = [None, pa.py_buffer(halves.tobytes())]
    text = pa.Array.from_buffers(pa.decimal128(18, digits), len(scaled), buffers).cast(pa.string())
    return text if null_mask is None else pc.if_else(pa.array(null_mask), pa.scalar(None, pa.string()), text)


def _timestamps(seconds: np.ndarray) -> pa.Array:
    """YYYY-MM-DD HH:MM:SS."""
    return pa.array(seconds.astype("datetime64[s]")).cast(pa.string())


def _chosen(random: np.random.Generator, texts: list[str], rows: int) -> pa.Array:
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
        _ints(random.integers(1, 3, rows)),
        _timestamps(pickup),
        _timestamps(pickup + random.integers(60, 5_000, rows)),
        _ints(random.integers(1, 7, rows), absent),
        _fixed_point(random.gamma(1.3, 250, rows).astype(np.int64), 2),
        _ints(random.choice([1, 1, 1, 2, 5, 99], rows), absent),
        pc.if_else(pa.array(absent), pa.scalar(None, pa.string()), _chosen(random, ["N", "N", "N", "Y"], rows)),
        _ints(random.integers(1, 266, rows)),
        _ints(random.integers(1, 266, rows)),
        _ints(random.integers(1, 5, rows)),
        _fixed_point(fare, 2),
        _fixed_point(random.choice([0, 100, 250], rows), 2),
        _fixed_point(none + 50, 2),
        _fixed_point(tip, 2),
        _fixed_point(random.choice([0, 0, 0, 655], rows), 2),
        _fixed_point(random.choice([30, 100, -100], rows), 2),
        _fixed_point(fare + tip + 480, 2),
        _fixed_point(none + 250, 2, absent),
        _fixed_point(random.choice([0, 125], rows), 2, absent),
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


def _texts(random: np.random.Generator, count: int, words: tuple[int, int], glue: list[str]) -> list[str]:
    """Quoted fields of random words; the glue between words brings the commas, quotes and line feeds."""
    made = []
    for length in random.integers(words[0], words[1] + 1, count):
        picks = random.integers(0, len(WORDS), length)
        joints = random.integers(0, len(glue), length)
        text = "".join(WORDS[pick] + glue[joint] for pick, joint in zip(picks, joints, strict=True)).strip()
        made.append('"' + text.replace('"', '""') + '"')
    return made


def _quoted_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    vocabulary = np.random.default_rng(20_240)  # the same texts in every block; their mix differs
    prose = [" "] * 12 + [", ", ", ", ".\n", ' "', '" ']
    return [
        _ints(np.arange(rows) + int(random.integers(0, 10**9))),
        _chosen(random, _texts(vocabulary, 500, (2, 2), [" ", ", "]), rows),
        _chosen(random, _texts(vocabulary, 1_000, (4, 9), [" ", " ", ", ", ' "']), rows),
        _chosen(random, _texts(vocabulary, 2_000, (15, 60), prose), rows),
        _chosen(random, _texts(vocabulary, 300, (1, 5), [","]), rows),
        _chosen(random, ["Oslo", "Lima", "Quito", "Nairobi", "Kyoto", "Porto"], rows),
        _chosen(random, _texts(vocabulary, 1_000, (5, 25), prose), rows),
        _fixed_point(random.integers(-500, 10_000, rows), 2),
    ]


# ------------------------------------------------------------------------------------------------------ wide

WIDE_COLUMNS = 200
WIDE = pa.schema([(f"c{i:03d}", pa.float64() if i % 2 else pa.int64()) for i in range(WIDE_COLUMNS)])


def _wide_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    columns = []
    for i in range(WIDE_COLUMNS):
        limit = 10 ** (2 + i % 6)
        values = random.integers(-limit // 4, limit, rows)
        columns.append(_fixed_point(values, 1 + i % 4) if i % 2 else _ints(values))
    return columns


WORKLOADS = {
    workload.name: workload
    for workload in (
        Workload("taxi", TAXI, ("pickup_at", "trip_distance", "total"), False, _taxi_block),
        Workload("quoted", QUOTED, ("id", "title", "score"), True, _quoted_block),
        Workload("wide", WIDE, ("c010", "c087", "c151"), False, _wide_block),
    )
}
