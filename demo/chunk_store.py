"""The data set as it would land in a message log: raw chunks of uneven sizes, one Parquet file an origin.

In: CSV files, a seed. Out: rows (origin, sequence, payload), an origin's chunks in random order. Cuts without looking:
records and quoted fields span chunks.
"""

from __future__ import annotations

from collections.abc import Callable
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


def write_chunks(source: Path, target: Path, *, seed: int, progress: Callable[[str], None]) -> int:
    """One file in `target` for each in `source`; the number of chunks in all."""
    target.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    chunk_count = 0
    for path in sorted(source.iterdir()):
        content = memoryview(path.read_bytes())
        chunks = list(enumerate(cut(len(content), rng), 1))
        order = rng.permutation(len(chunks))
        with parquet.ParquetWriter(target / f"{path.stem}.parquet", SCHEMA, compression="none") as writer:
            for start in range(0, len(chunks), CHUNKS_PER_GROUP):
                rows = [chunks[index] for index in order[start : start + CHUNKS_PER_GROUP]]
                sequences, payloads = zip(*((number, content[begin:end]) for number, (begin, end) in rows), strict=True)
                writer.write_table(pa.table([[path.name] * len(rows), sequences, payloads], schema=SCHEMA))
        chunk_count += len(chunks)
        progress(f"{path.name}: {len(chunks)} chunks")
    return chunk_count
