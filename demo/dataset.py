"""A seeded data set for the demo: taxi-like trips as CSV files, with quoted text that holds commas and quotes.

In: a folder, a size, a seed. Out: the same bytes every time for the same arguments. Vectorised: columns are made by
numpy and joined by pyarrow, so a few hundred MB take seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import compute

SCHEMA = pa.schema(
    [
        ("trip_id", pa.int64()),
        ("vendor", pa.string()),
        ("pickup_at", pa.timestamp("us")),
        ("dropoff_at", pa.timestamp("us")),
        ("passengers", pa.int64()),
        ("distance_km", pa.float64()),
        ("pickup_zone", pa.int64()),
        ("dropoff_zone", pa.int64()),
        ("payment", pa.string()),
        ("fare", pa.float64()),
        ("tip", pa.float64()),
        ("tolls", pa.float64()),
        ("total", pa.float64()),
        ("note", pa.string()),
    ]
)

ROWS_PER_STEP = 200_000
BYTES_PER_ROW = 107  # measured; decides how many rows a size means
VENDORS = np.array(["CMT", "VTS", "DDS", "JUNO"])
PAYMENTS = np.array(["card", "cash", "no charge", "dispute"])
NOTES = np.array(["", "", "", "window seat", "left, then right", 'said "keep the change"', "zürich, gate 4"])
FIRST_PICKUP = np.datetime64("2024-01-01T00:00:00", "s")
SECONDS_A_YEAR = 366 * 86_400


def trips(rng: np.random.Generator, first_id: int, row_count: int) -> pa.RecordBatch:
    """`row_count` trips numbered from first_id."""
    pickup = FIRST_PICKUP + rng.integers(0, SECONDS_A_YEAR, row_count).astype("timedelta64[s]")
    dropoff = pickup + rng.integers(60, 5_400, row_count).astype("timedelta64[s]")
    fare, tip, tolls = (rng.integers(low, high, row_count) / 100 for low, high in ((300, 9_000), (0, 2_000), (0, 700)))
    columns = [
        np.arange(first_id, first_id + row_count),
        VENDORS[rng.integers(0, len(VENDORS), row_count)],
        pickup,
        dropoff,
        rng.integers(1, 7, row_count),
        rng.integers(10, 4_000, row_count) / 100,
        rng.integers(1, 266, row_count),
        rng.integers(1, 266, row_count),
        PAYMENTS[rng.integers(0, len(PAYMENTS), row_count)],
        fare,
        tip,
        tolls,
        np.round(fare + tip + tolls, 2),
        NOTES[rng.integers(0, len(NOTES), row_count)],
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=SCHEMA.names)


def as_csv(batch: pa.RecordBatch) -> memoryview:
    """The bytes of a batch as CSV. Quotes only where a value needs them."""
    columns = []
    for column in batch.columns:
        text = column.cast(pa.string())
        if column.type == pa.string():
            special = compute.match_substring_regex(text, '[,"\n]')
            quoted = compute.binary_join_element_wise('"', compute.replace_substring(text, '"', '""'), '"', "")
            text = compute.if_else(special, quoted, text)
        columns.append(text)
    lines = compute.binary_join_element_wise(compute.binary_join_element_wise(*columns, ","), "", "\n")
    assert lines.offset == 0  # then its values stand one after the other in one buffer: the file's bytes
    return memoryview(lines.buffers()[2])


def write_csv(folder: Path, *, megabytes: int, file_count: int, seed: int, progress: Callable[[str], None]) -> int:
    """Files part-0.csv, part-1.csv, ... of about the same size; the number of rows in all."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    rows_per_file = megabytes * 1_000_000 // BYTES_PER_ROW // file_count
    for number in range(file_count):
        with open(folder / f"part-{number}.csv", "wb") as file:
            for start in range(0, rows_per_file, ROWS_PER_STEP):
                row_count = min(ROWS_PER_STEP, rows_per_file - start)
                file.write(as_csv(trips(rng, number * rows_per_file + start, row_count)))
        progress(f"file {number + 1} of {file_count}")
    return rows_per_file * file_count
