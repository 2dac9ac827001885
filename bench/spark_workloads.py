"""Seeded inputs for the Spark benchmarks: files on disk, with Spark's own description of them.

In: a size and a seed. Out: one file a workload, kept between runs. Knows nothing of who reads it.

* mixed csv, mixed json: the same 20 columns: 6 ints, 5 floats, 2 booleans, 2 dates, 2 timestamps, 3 strings.
* quoted csv: prose in quotes with delimiters, doubled quotes and line breaks (bench.workloads' `quoted`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bench import workloads

MIXED = pa.schema(
    [
        ("id", pa.int64()),
        ("account", pa.int64()),
        ("quantity", pa.int32()),
        ("rank", pa.int32()),
        ("visits", pa.int64()),
        ("code", pa.int32()),
        ("price", pa.float64()),
        ("discount", pa.float64()),
        ("weight", pa.float64()),
        ("latitude", pa.float64()),
        ("longitude", pa.float64()),
        ("active", pa.bool_()),
        ("verified", pa.bool_()),
        ("born", pa.date32()),
        ("joined", pa.date32()),
        ("created_at", pa.timestamp("us")),
        ("updated_at", pa.timestamp("us")),
        ("name", pa.string()),
        ("city", pa.string()),
        ("note", pa.string()),
    ]
)
FEW = ("id", "price", "city")
CITIES = ["Oslo", "Lima", "Quito", "Nairobi", "Kyoto", "Porto", "Windhoek", "Ulaanbaatar"]
BLOCK_ROWS = 50_000
COPIED_BLOCKS = 8  # blocks made anew; a larger file repeats them, which no reader can tell


@dataclass(frozen=True)
class SparkWorkload:
    name: str
    kind: str
    schema: pa.Schema
    few: tuple[str, ...]
    blocks: Callable[[int], Iterator[bytes]]

    def file(self, folder: Path, megabytes: int, seed: int = 1) -> Path:
        """The file, made if it is not there already."""
        path = folder / f"{self.name.replace(' ', '-')}-{megabytes}MB-{seed}.{self.kind}"
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            made = list(self.blocks(seed))
            unfinished = path.with_suffix(".part")
            with unfinished.open("wb") as file:
                for number in range(1 << 30):
                    if file.tell() >= megabytes * 1_000_000:
                        break
                    file.write(made[number % len(made)])
            unfinished.rename(path)
        return path


def _mixed_texts(random: np.random.Generator) -> list[pa.Array]:
    rows = BLOCK_ROWS
    days = lambda: pa.array(random.integers(0, 20_000, rows), pa.int32()).cast(pa.date32()).cast(pa.string())  # noqa: E731
    return [
        *(workloads._ints(random.integers(0, 10**limit, rows)) for limit in (12, 9, 3, 2, 6, 4)),
        *(workloads._fixed_point(random.integers(0, 10**limit, rows), 2) for limit in (6, 3, 5)),
        *(workloads._fixed_point(random.integers(-(9 * 10**7), 9 * 10**7, rows), 6) for _ in range(2)),
        *(workloads._chosen(random, ["true", "false"], rows) for _ in range(2)),
        *(days() for _ in range(2)),
        *(workloads._timestamps(random.integers(10**9, 17 * 10**8, rows)) for _ in range(2)),
        workloads._chosen(random, [f"user {number}" for number in range(5_000)], rows),
        workloads._chosen(random, CITIES, rows),
        workloads._chosen(random, [" ".join(workloads.WORDS[n : n + 4]) for n in range(40)], rows),
    ]


def _csv_blocks(seed: int) -> Iterator[bytes]:
    random = np.random.default_rng(seed)
    for _ in range(COPIED_BLOCKS):
        yield workloads._rows_as_text(_mixed_texts(random))


def _json_blocks(seed: int) -> Iterator[bytes]:
    random = np.random.default_rng(seed)
    bare = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    for _ in range(COPIED_BLOCKS):
        pieces: list[object] = []
        for field, texts in zip(MIXED, _mixed_texts(random), strict=True):
            quote = "" if any(is_bare(field.type) for is_bare in bare) else '"'
            pieces += [f'{"," if pieces else "{"}"{field.name}":{quote}', texts, quote]
        lines = pc.binary_join_element_wise(*pieces, "}\n", "")
        yield bytes(lines.buffers()[2])


def _quoted_blocks(seed: int) -> Iterator[bytes]:
    random = np.random.default_rng(seed)
    for _ in range(COPIED_BLOCKS):
        yield workloads._rows_as_text(workloads._quoted_block(random, workloads.BLOCK_ROWS))


MIXED_CSV = SparkWorkload("mixed csv", "csv", MIXED, FEW, _csv_blocks)
MIXED_JSON = SparkWorkload("mixed json", "json", MIXED, FEW, _json_blocks)
QUOTED_CSV = SparkWorkload("quoted csv", "csv", workloads.QUOTED, ("id", "title", "score"), _quoted_blocks)
