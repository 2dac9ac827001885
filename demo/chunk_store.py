"""The data set as it would land in a message log: raw chunks of uneven sizes, those of all origins mixed.

In: CSV files, a seed. Out: Parquet files of rows (origin, sequence, payload) in random order. Cuts without looking: records
and quoted fields span chunks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

SMALLEST_CHUNK, LARGEST_CHUNK = 16 << 10, 512 << 10
CHUNKS_PER_GROUP = 16  # a few MB a row group, so that one task reads little at a time
SCHEMA = pa.schema([("origin", pa.string()), ("sequence", pa.int64()), ("payload", pa.binary())])


def cut(size: int, rng: np.random.Generator) -> list[tuple[int, int]]:
    """(begin, end) of consecutive chunks that cover `size` bytes."""
    ends = np.cumsum(rng.integers(SMALLEST_CHUNK, LARGEST_CHUNK, size // SMALLEST_CHUNK + 1))
    inner = [int(end) for end in ends if end < size]
    return list(zip([0, *inner], [*inner, size], strict=True))


def write_chunks(source: Path, target: Path, *, seed: int) -> None:
    """As many files in `target` as in `source`, each with chunks of all origins."""
    rng = np.random.default_rng(seed)
    contents = [(path.name, memoryview(path.read_bytes())) for path in sorted(source.iterdir())]
    chunks = [
        (name, number, content[begin:end])
        for name, content in contents
        for number, (begin, end) in enumerate(cut(len(content), rng), 1)
    ]
    order = rng.permutation(len(chunks))
    for number, mine in enumerate(np.array_split(order, len(contents))):
        with parquet.ParquetWriter(target / f"part-{number}.parquet", SCHEMA, compression="none") as writer:
            for start in range(0, len(mine), CHUNKS_PER_GROUP):
                rows = [chunks[index] for index in mine[start : start + CHUNKS_PER_GROUP]]
                writer.write_table(pa.table(list(zip(*rows, strict=True)), schema=SCHEMA))
