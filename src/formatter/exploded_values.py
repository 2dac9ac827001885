"""Values that hold several records each, as payloads do that wrap an array.

In: a plan, an array of values. Out: a row a record, and which value each is from. Refuses to know how documents wrap records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core, diagnostics
from formatter.errors import FormatError
from formatter.foreign_code import raise_kept
from formatter.plans import DecodePlan


@dataclass(frozen=True)
class ExplodedRecords:
    """Bad records are rows of nulls, but for what was rescued. `rows`: of the batch as it was parsed, by row; -1 for a bad one."""

    batch: pa.RecordBatch
    rows: np.ndarray[Any, Any]
    source: np.ndarray[Any, Any]  # by row, the value it is from
    details: tuple[FormatError, ...]
    detail_rows: tuple[int | None, ...]  # of each, its row; None if it was filtered
    raw: tuple[bytes, ...]  # of each detail, the record
    values_decoded: tuple[int, ...]


def explode(plan: DecodePlan, addresses: tuple[Any, Any, Any], *, raises: bool, keeps_bad: bool) -> ExplodedRecords:
    """`keeps_bad`: bad records pass the filter. `addresses`: of the values, their sizes, and whether they are there."""
    exploded = _core.explode_record_values(plan.engine, *addresses)
    if exploded is None:
        raise diagnostics.too_large_batch(plan.schema)
    capsule, values, rows, findings, records, decoded = exploded
    raise_kept()
    ordered = sorted(zip(records, range(len(findings)), strict=True))
    describer = diagnostics.Describer(plan.format, plan.engine.column_names)
    details = tuple(in_value(describer.describe(findings[i])) for _, i in ordered)
    for error in details:
        if raises or diagnostics.always_raised(error.code):
            raise error
    passing = rows >= (-1 if keeps_bad else 0)
    places = np.cumsum(passing) - 1
    detail_rows = tuple(int(places[record]) if passing[record] else None for record, _ in ordered)
    raw = tuple(findings[i].raw for _, i in ordered)
    return ExplodedRecords(plan.batch(capsule), rows[passing], values[passing], details, detail_rows, raw, decoded)


def in_value(error: FormatError) -> FormatError:
    """In an array the value is the record, and called so."""
    error.args = (str(error).replace(f"record {error.record}", f"value {error.record}", 1),)
    return error
