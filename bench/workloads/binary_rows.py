"""Packed rows: nothing between the fields, nothing around them. In: a size and a seed. Out: rows of 25 bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.workload import Workload

TICKS = pa.schema(
    [
        ("at", pa.timestamp("us")),
        ("price", pa.float64()),
        ("volume", pa.uint32()),
        ("venue", pa.binary(4)),
        ("buy", pa.bool_()),
    ]
)
TICK = np.dtype([("at", "<i8"), ("price", "<f8"), ("volume", "<u4"), ("venue", "V4"), ("buy", "?")])


def ticks(size: int, seed: int) -> bytes:
    rows = max(1, size // TICK.itemsize)
    random = np.random.default_rng(seed)
    made = np.empty(rows, TICK)
    made["at"] = 1_700_000_000_000_000 + np.cumsum(random.integers(1, 5_000, rows))
    made["price"] = np.round(random.normal(100, 9, rows), 2)
    made["volume"] = random.integers(1, 10_000, rows)
    made["venue"] = random.choice(np.array([b"XNYS", b"XPAR", b"XTKS"], "V4"), rows)
    made["buy"] = random.random(rows) < 0.5
    return made.tobytes()


WORKLOADS = [Workload("ticks", "binary rows of 25 bytes, five fields", TICKS, ("at", "price"), ticks, "rows")]
