"""Raw chunks in random order: the stream of this package, and what a user writes by hand today.

In: chunks with their sequences, shuffled. Out: a table, and for ours a choice of ordered or not.
Refuses to know: timing, checking.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa

from bench.workloads import Workload


@dataclass(frozen=True)
class Chunks:
    buffers: list[bytes]
    sequences: list[int]  # from 1, as they arrive


def shuffled_chunks(data: bytes, chunk_bytes: int, seed: int) -> Chunks:
    sequences = list(range(1, -(-len(data) // chunk_bytes) + 1))
    random.Random(seed).shuffle(sequences)
    return Chunks([data[(s - 1) * chunk_bytes : s * chunk_bytes] for s in sequences], sequences)


ChunkReader = Callable[[Chunks, list[str]], pa.Table]


def stream_formatter(workload: Workload, ordered: bool) -> ChunkReader:
    import formatter as fm

    csv = fm.Csv(workload.schema)

    def read(chunks: Chunks, columns: list[str]) -> pa.Table:
        stream = fm.Stream(csv, columns=columns, ordered=ordered)
        batches = stream.push_many(chunks.buffers, sequences=chunks.sequences)
        batches += stream.finish(last_sequence=len(chunks.sequences))
        return pa.Table.from_batches([batch.data for batch in batches])

    return read


def stitch_pyarrow(workload: Workload) -> ChunkReader:
    """Wait for the next chunk in order, put the cut record together, give every chunk's whole records to pyarrow."""
    from pyarrow import csv

    pa.set_cpu_count(1)
    read_options = csv.ReadOptions(column_names=workload.schema.names, use_threads=False)
    parse_options = csv.ParseOptions(newlines_in_values=workload.newlines_in_values)

    def last_record_end(block: bytes) -> int:
        cut = block.rfind(b"\n") + 1
        while workload.newlines_in_values and cut and block.count(b'"', 0, cut) % 2:
            cut = block.rfind(b"\n", 0, cut - 1) + 1
        return cut

    def read(chunks: Chunks, columns: list[str]) -> pa.Table:
        convert_options = csv.ConvertOptions(
            column_types=workload.schema,
            include_columns=columns,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        waiting: dict[int, bytes] = {}
        tables: list[pa.Table] = []
        carried = b""
        following = 1
        for sequence, buffer in zip(chunks.sequences, chunks.buffers, strict=True):
            waiting[sequence] = buffer
            while following in waiting:
                block = carried + waiting.pop(following)
                following += 1
                cut = last_record_end(block)
                carried = block[cut:]
                if cut:
                    reader = pa.BufferReader(block[:cut])
                    tables.append(csv.read_csv(reader, read_options, parse_options, convert_options))
        return pa.concat_tables(tables)

    return read
