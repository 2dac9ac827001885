"""The package under test behind one face: whole reads and streams both give a Run that compares with an Outcome.

In: bytes, a Dialect, on_error, and for streams the cut positions and the order of arrival. Out: a Run.
Refuses to know: what is right.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from oracle.csv_oracle import Dialect, Outcome, Reject

import formatter as fm

CHUNK_SIZES = (1, 2, 7, 63, 64, 65)


@dataclass
class Run:
    table: pa.Table
    rejects: list[Reject] = field(default_factory=list)  # only with on_error="collect"
    rejected_count: int | None = None  # where it can be asked for
    error: Reject | None = None


def csv_format(dialect: Dialect) -> fm.Csv:
    return fm.Csv(dialect.schema, **dialect.options())


def through_read(data: bytes | BinaryIO, dialect: Dialect, on_error: str, **options: Any) -> Run:
    rejects: list[pa.Table] = []
    try:
        run = Run(fm.read(data, csv_format(dialect), on_error=on_error, rejects=rejects, **options))
        run.rejects = [_row_as_reject(row) for table in rejects for row in table.to_pylist()]
        return run
    except fm.FormatError as error:
        return Run(dialect.schema.empty_table(), error=_as_reject(error))


def cut_every(size: int, length: int) -> list[int]:
    """Cut positions that leave buffers of `size` bytes."""
    return list(range(size, length, size))


def through_stream(
    data: bytes, dialect: Dialect, on_error: str, cuts: Sequence[int], *, shuffle: int | None = None, **options: Any
) -> Run:
    """One push a buffer, in order or shuffled by the seed, rows put back in stream order."""
    edges = [0, *cuts, len(data)]
    buffers = [data[begin:end] for begin, end in pairwise(edges)]
    arrival = list(range(len(buffers)))
    if shuffle is not None:
        random.Random(shuffle).shuffle(arrival)
    stream = fm.Stream(csv_format(dialect), on_error=on_error, ordered=True, **options)
    batches = []
    try:
        for index in arrival:
            batches += stream.push(buffers[index], sequence=index + 1)
        batches += stream.finish(last_sequence=len(buffers))
    except fm.FormatError as error:
        return Run(dialect.schema.empty_table(), error=_as_reject(error))
    tables = [pa.Table.from_batches([batch.data]) for batch in batches if batch.data.num_rows]
    columns = options.get("columns") or dialect.schema.names
    empty = pa.schema([dialect.schema.field(name) for name in columns]).empty_table()
    run = Run(pa.concat_tables(tables) if tables else empty, rejected_count=stream.stats.rejects)
    if on_error == "collect":
        run.rejects = sorted((_row_as_reject(row) for row in stream.rejects().to_pylist()), key=Reject.position)
    return run


def _as_reject(error: fm.FormatError) -> Reject:
    return Reject(error.byte_offset, error.record, error.column, error.code, b"")


def _row_as_reject(row: dict[str, Any]) -> Reject:
    return Reject(row["byte_offset"], row["record"], row["column"], row["code"], row["raw"])


def difference(run: Run, outcome: Outcome, on_error: str) -> str | None:
    """Where the run departs from the outcome; None if nowhere."""
    if outcome.error or run.error:
        expected = outcome.error and outcome.error.position()
        found = run.error and run.error.position()
        return None if found == expected else f"error {found} instead of {expected}"
    if text := table_difference(run.table, outcome.table()):
        return text
    if run.rejected_count is not None and run.rejected_count != len(outcome.rejects):
        return f"{run.rejected_count} records rejected instead of {len(outcome.rejects)}"
    if on_error == "collect" and run.rejects != outcome.rejects:
        return f"rejects {run.rejects} instead of {outcome.rejects}"
    return None


def table_difference(found: pa.Table, expected: pa.Table) -> str | None:
    """Schema, nulls and values; floats bit for bit, but every NaN is like every other."""
    if found.schema.names != expected.schema.names or found.schema.types != expected.schema.types:
        return f"schema {found.schema} instead of {expected.schema}"
    if found.num_rows != expected.num_rows:
        return f"{found.num_rows} rows instead of {expected.num_rows}: {found.to_pylist()[:20]}"
    for name in expected.schema.names:
        mine, theirs = found[name].combine_chunks(), expected[name].combine_chunks()
        if not _comparable(mine).equals(_comparable(theirs)):
            return f"column {name}: {mine.to_pylist()[:50]} instead of {theirs.to_pylist()[:50]}"
    found.validate(full=True)
    return None


def _comparable(array: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(array.type):
        return array.cast(array.type.value_type)
    if not pa.types.is_floating(array.type):
        return array
    valid = np.asarray(array.is_valid())
    values = array.fill_null(0.0).to_numpy(zero_copy_only=False).copy()
    values[np.isnan(values)] = np.nan
    return pa.array(values.view(f"i{values.itemsize}"), mask=~valid)
