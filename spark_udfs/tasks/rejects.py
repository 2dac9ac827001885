"""Rejected records as rows: where each stood, what was wrong, its bytes.

In: what a reader found. Out: batches for Spark. Knows nothing of queries.
"""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

import formatter as fm

PLACE = (("origin", pa.string()), ("sequence", pa.int64()), ("byte_offset", pa.int64()), ("record", pa.int64()))
REASON = (("column", pa.string()), ("code", pa.string()), ("message", pa.string()), ("raw", pa.binary()))
REJECTS_SCHEMA = pa.schema([*PLACE, *REASON])


def drained(found: list[tuple[fm.FormatError, bytes]]) -> Iterator[pa.RecordBatch]:
    if found:
        rows = [
            {name: getattr(error, name, None) for name in REJECTS_SCHEMA.names} | {"message": str(error), "raw": raw}
            for error, raw in found
        ]
        found.clear()
        yield pa.RecordBatch.from_pylist(rows, schema=REJECTS_SCHEMA)


def rejects_in_spark(table: pa.Table) -> Iterator[pa.RecordBatch]:
    """The table of Stream.rejects()."""
    yield from table.select(REJECTS_SCHEMA.names).cast(REJECTS_SCHEMA).to_batches()
