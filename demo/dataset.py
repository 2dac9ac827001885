"""A seeded data set for the demo: taxi-like trips as a CSV file, as chunks of CSV files and as records of JSON.

In: a folder, a size, a seed. Out: the same bytes every time for the same arguments, made unless they are there. Vectorised:
columns are made by numpy and joined by pyarrow, so a few hundred MB take seconds.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from chunk_store import write_chunks
from pyarrow import compute, parquet

MONEY = pa.decimal128(8, 2)
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
        ("fare", MONEY),
        ("tip", MONEY),
        ("tolls", MONEY),
        ("total", MONEY),
        ("note", pa.string()),
    ]
)

DDL = (
    "trip_id BIGINT, vendor STRING, pickup_at TIMESTAMP_NTZ, dropoff_at TIMESTAMP_NTZ, passengers BIGINT, distance_km DOUBLE, "
    "pickup_zone BIGINT, dropoff_zone BIGINT, payment STRING, fare DECIMAL(8,2), tip DECIMAL(8,2), tolls DECIMAL(8,2), "
    "total DECIMAL(8,2), note STRING"
)
ROWS_PER_STEP = 200_000
CSV_BYTES_PER_ROW, JSON_BYTES_PER_ROW = 107, 312  # measured; decide how many rows a size means
ORIGINS = 8
VENDORS = np.array(["CMT", "VTS", "DDS", "JUNO"])
PAYMENTS = np.array(["card", "cash", "no charge", "dispute"])
NOTES = np.array(["", "", "", "window seat", "left, then right", 'said "keep the change"', "zürich, gate 4"])
LONG_NOTES = np.array([*NOTES, 'first line\nsecond line, with "quotes"'])
FIRST_PICKUP = np.datetime64("2024-01-01T00:00:00", "s")
SECONDS_A_YEAR = 366 * 86_400


def trips(rng: np.random.Generator, first_id: int, row_count: int, notes: np.ndarray = NOTES) -> pa.RecordBatch:
    """`row_count` trips numbered from first_id."""
    pickup = FIRST_PICKUP + rng.integers(0, SECONDS_A_YEAR, row_count).astype("timedelta64[s]")
    dropoff = pickup + rng.integers(60, 5_400, row_count).astype("timedelta64[s]")
    fare, tip, tolls = (rng.integers(low, high, row_count) for low, high in ((300, 9_000), (0, 2_000), (0, 700)))
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
        *map(money, (fare, tip, tolls, fare + tip + tolls)),
        notes[rng.integers(0, len(notes), row_count)],
    ]
    return pa.RecordBatch.from_arrays([pa.array(column) for column in columns], names=SCHEMA.names)


def money(cents: np.ndarray) -> pa.Array:
    halves = np.column_stack([cents, np.zeros_like(cents)])  # 128 bits, the lower ones first
    return pa.Array.from_buffers(MONEY, len(cents), [None, pa.py_buffer(halves)])


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


def as_json(batch: pa.RecordBatch) -> pa.Array:
    """An object a row."""
    columns = []
    for position, (name, column) in enumerate(zip(batch.schema.names, batch.columns, strict=True)):
        text = column.cast(pa.string())
        if column.type == pa.string() or pa.types.is_timestamp(column.type):
            escaped = compute.replace_substring(compute.replace_substring(text, '"', '\\"'), "\n", "\\n")
            text = compute.binary_join_element_wise('"', escaped, '"', "")
        columns.append(compute.binary_join_element_wise(f'{"," if position else ""}"{name}":', text, ""))
    return compute.binary_join_element_wise("{", *columns, "}", "")


@dataclass(frozen=True)
class Made:
    folder: Path

    @property
    def file(self) -> Path:
        return self.folder / "trips.csv"

    @property
    def chunks(self) -> Path:
        return self.folder / "chunks"

    @property
    def records(self) -> Path:
        return self.folder / "records"

    def megabytes_of(self, path: Path) -> float:
        return sum(one.stat().st_size for one in ([path] if path.is_file() else path.iterdir())) / 1e6


def make(folder: Path, megabytes: int, seed: int, progress: Callable[[str], None]) -> Made:
    found = Made(folder / f"{megabytes}MB-seed{seed}")
    done, whole = found.folder / "done", found.folder / "csv"
    if not done.exists() or done.read_text() != str(SCHEMA):
        progress(f"making 3 times {megabytes} MB of data (seed {seed})")
        shutil.rmtree(folder, ignore_errors=True)
        for path in (whole, found.chunks, found.records):
            path.mkdir(parents=True)
        rng, rows = np.random.default_rng(seed), megabytes * 1_000_000 // CSV_BYTES_PER_ROW
        with open(found.file, "wb") as file:
            for batch in batches(rng, rows, LONG_NOTES):
                file.write(as_csv(batch))
        for number in range(ORIGINS):
            with open(whole / f"part-{number}.csv", "wb") as file:
                for batch in batches(rng, rows // ORIGINS, NOTES):
                    file.write(as_csv(batch))
        write_chunks(whole, found.chunks, seed=seed)
        shutil.rmtree(whole)
        values = (as_json(batch) for batch in batches(rng, megabytes * 1_000_000 // JSON_BYTES_PER_ROW, LONG_NOTES))
        for number, records in enumerate(values):
            target = found.records / f"part-{number:03}.parquet"
            parquet.write_table(pa.table({"value": records}), target, compression="none", use_dictionary=False)
        done.write_text(str(SCHEMA))
    return found


def batches(rng: np.random.Generator, row_count: int, notes: np.ndarray) -> Iterator[pa.RecordBatch]:
    for start in range(0, row_count, ROWS_PER_STEP):
        yield trips(rng, start, min(ROWS_PER_STEP, row_count - start), notes)
