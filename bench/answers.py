"""Is the answer right? Tables are compared before anything is timed.

In: a table and the reference. Out: None, or a sentence that says where they differ.
Refuses to know: who made the table.
"""

from __future__ import annotations

import csv
import datetime
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


def difference(table: pa.Table, reference: pa.Table) -> str | None:
    """Same columns, same order of rows, same values; string and timestamp flavours are brought to the reference's."""
    if table.column_names != reference.column_names:
        return f"columns {table.column_names} instead of {reference.column_names}"
    if table.num_rows != reference.num_rows:
        return f"{table.num_rows} rows instead of {reference.num_rows}"
    for name in reference.column_names:
        mine, theirs = table[name], reference[name]
        if mine.type != theirs.type:
            mine = mine.cast(theirs.type)
        if not mine.equals(theirs):
            return f"column {name}: {_first_difference(mine, theirs)}"
    return None


def _first_difference(mine: pa.ChunkedArray, theirs: pa.ChunkedArray) -> str:
    for row, (left, right) in enumerate(zip(mine, theirs, strict=True)):
        if not left.equals(right):
            return f"row {row} is {left} instead of {right}"
    return "equal value by value, but not as arrays"


def unordered_difference(table: pa.Table, reference: pa.Table) -> str | None:
    """Same rows, any order."""
    if table.num_rows != reference.num_rows:
        return f"{table.num_rows} rows instead of {reference.num_rows}"
    mine = np.sort(row_fingerprints(table.select(reference.column_names).cast(reference.schema)))
    theirs = np.sort(row_fingerprints(reference))
    return None if np.array_equal(mine, theirs) else "the rows differ"


def row_fingerprints(table: pa.Table) -> np.ndarray:
    """One 64-bit mix of all values a row; null is a value of its own."""
    mixed = np.zeros(table.num_rows, np.uint64)
    for column in table.itercolumns():
        mixed = (mixed ^ _value_bits(column)) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _value_bits(column: pa.ChunkedArray) -> np.ndarray:
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        encoded = column.combine_chunks().dictionary_encode()
        hashes = np.array([hash(text) & (2**63 - 1) for text in encoded.dictionary.to_pylist()] + [0], np.int64)
        codes = pc.fill_null(encoded.indices, len(hashes) - 1).to_numpy(zero_copy_only=False)
        bits = hashes[codes]
    elif pa.types.is_floating(column.type):
        bits = pc.fill_null(column, 0.5).to_numpy().view(np.int64)
    else:
        bits = pc.fill_null(column.cast(pa.int64()), -77).to_numpy()
    valid = pc.is_valid(column).to_numpy()
    return bits.view(np.uint64) ^ (valid.astype(np.uint64) << np.uint64(63))


def oracle_difference(data: bytes, reference: pa.Table, record_count: int) -> str | None:
    """The reference itself against Python's csv module, int(), float() and datetime on the first records."""
    text = io.StringIO(data[: 20_000 + record_count * 3_000].decode("utf-8", "ignore"), newline="")
    rows = zip(csv.reader(text), reference.slice(0, record_count).to_pylist(), strict=False)
    for number, (fields, row) in enumerate(rows):
        for found, field, value in zip(fields, reference.schema, row.values(), strict=True):
            expected = None if found == "" else _python_value(found, field.type)
            if value != expected:
                return f"record {number}, column {field.name}: {value!r} instead of {expected!r}"
    return None


def _python_value(text: str, kind: pa.DataType) -> Any:
    if pa.types.is_timestamp(kind):
        return datetime.datetime.fromisoformat(text)
    return int(text) if pa.types.is_integer(kind) else float(text) if pa.types.is_floating(kind) else text
