"""The data set as it would land from a message log: raw chunks of uneven sizes, in random order, in Parquet files.

In: CSV files, a seed. Out: rows (origin, sequence, payload). Cuts without looking: records and quotes span chunks.
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
    """All chunks of all files in `source`, shuffled together into two files in `target`; their number."""
    target.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    files = {path.name: memoryview(path.read_bytes()) for path in sorted(source.iterdir())}
    chunks = [
        (name, sequence, begin, end)
        for name, content in files.items()
        for sequence, (begin, end) in enumerate(cut(len(content), rng), 1)
    ]
    order = rng.permutation(len(chunks))
    for number, part in enumerate(np.array_split(order, 2)):
        path = target / f"chunks-{number}.parquet"
        with parquet.ParquetWriter(path, SCHEMA, compression="none", use_dictionary=["origin"]) as writer:
            for start in range(0, len(part), CHUNKS_PER_GROUP):
                rows = [chunks[index] for index in part[start : start + CHUNKS_PER_GROUP]]
                names, sequences, begins, ends = zip(*rows, strict=True)
                payloads = [files[name][begin:end] for name, begin, end in zip(names, begins, ends, strict=True)]
                writer.write_table(pa.table([names, sequences, payloads], schema=SCHEMA))
        progress(f"file {number + 1} of 2")
    return len(chunks)
