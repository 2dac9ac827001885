"""Twenty columns of five kinds, the same as CSV and as JSON lines: what Spark's readers are raced on.

In: a size and a seed. Out: 6 integers, 5 floats, 2 booleans, 2 dates, 2 timestamps, 3 strings a record; or 20 of fewer kinds.
Refuses to know: who reads them.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench.workload import Workload
from bench.workloads.csv_tables import BLOCK_ROWS, WORDS, chosen, csv_workload, fixed_point, ints, timestamps

MIXED = pa.schema(
    [
        *((name, pa.int64() if name in ("id", "account", "visits") else pa.int32())
          for name in ("id", "account", "quantity", "rank", "visits", "code")),
        *((name, pa.float64()) for name in ("price", "discount", "weight", "latitude", "longitude")),
        *((name, pa.bool_()) for name in ("active", "verified")),
        *((name, pa.date32()) for name in ("born", "joined")),
        *((name, pa.timestamp("us")) for name in ("created_at", "updated_at")),
        *((name, pa.string()) for name in ("name", "city", "note")),
    ]
)  # fmt: skip
FEW = ("id", "price", "city")
CITIES = ["Oslo", "Lima", "Quito", "Nairobi", "Kyoto", "Porto", "Windhoek", "Ulaanbaatar"]


def _mixed_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    def days() -> pa.Array:
        return pa.array(random.integers(0, 20_000, rows), pa.int32()).cast(pa.date32()).cast(pa.string())

    return [
        *(ints(random.integers(0, 10**limit, rows)) for limit in (12, 9, 3, 2, 6, 4)),
        *(fixed_point(random.integers(0, 10**limit, rows), 2) for limit in (6, 3, 5)),
        *(fixed_point(random.integers(-(9 * 10**7), 9 * 10**7, rows), 6) for _ in range(2)),
        *(chosen(random, ["true", "false"], rows) for _ in range(2)),
        *(days() for _ in range(2)),
        *(timestamps(random.integers(10**9, 17 * 10**8, rows)) for _ in range(2)),
        chosen(random, [f"user {number}" for number in range(5_000)], rows),
        chosen(random, CITIES, rows),
        chosen(random, [" ".join(WORDS[n : n + 4]) for n in range(40)], rows),
    ]


def json_lines(schema: pa.Schema, texts: list[pa.Array]) -> bytes:
    bare = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    pieces: list[object] = []
    for field, column in zip(schema, texts, strict=True):
        quote = "" if any(is_bare(field.type) for is_bare in bare) else '"'
        pieces += [f'{"," if pieces else "{"}"{field.name}":{quote}', column, quote]
    lines = pc.binary_join_element_wise(*pieces, "}\n", "")
    return bytes(lines.buffers()[2])


def _json(size: int, seed: int) -> bytes:
    random = np.random.default_rng([seed, 10])
    probe = len(json_lines(MIXED, _mixed_block(random, 200)))
    wanted = max(1, size * 200 // probe)
    blocks = [min(BLOCK_ROWS, wanted - at) for at in range(0, wanted, BLOCK_ROWS)]
    return b"".join(json_lines(MIXED, _mixed_block(random, rows)) for rows in blocks)


PLAIN = pa.schema(
    [(f"c{i:02d}", (pa.int64(), pa.float64(), pa.string())[i % 3]) for i in range(20)],
)


def _plain_block(random: np.random.Generator, rows: int) -> list[pa.Array]:
    make: list[Callable[[], pa.Array]] = [
        lambda: ints(random.integers(0, 10**6, rows)),
        lambda: fixed_point(random.integers(0, 10**8, rows), 4),
        lambda: chosen(random, [word[:5] for word in WORDS], rows),
    ]
    return [make[i % 3]() for i in range(20)]


WORKLOADS = [
    csv_workload("mixed", "20 columns of five kinds", MIXED, FEW, _mixed_block),
    Workload("mixed json", "the same 20 columns as JSON lines", MIXED, FEW, _json, "json"),
    csv_workload(
        "plain", "20 columns of integers, doubles and short text only", PLAIN, ("c00", "c07", "c14"), _plain_block
    ),
]
