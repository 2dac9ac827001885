"""Arrays of raw values to typed data: one record per value, or one field per value. No buffers, no streams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core, diagnostics
from formatter.buffers import addresses_of
from formatter.errors import FormatError, OptionError
from formatter.formats import Csv, check_byte_order
from formatter.json_format import Json
from formatter.plans import make_plan

UNIT_SEPARATOR = "\x1f"  # a field holds none: with one field a value, nothing needs separating


@dataclass(frozen=True, slots=True)
class ParsedRecords:
    """`data`: one row per value. `errors`: per value, what was wrong, or null."""

    data: pa.RecordBatch
    errors: pa.Array


def parse_records(
    array: Any, format: Csv, *, columns: Sequence[str] | None = None, on_error: str = "null"
) -> pa.RecordBatch:
    """One output row per binary or string value; a null or bad value gives a row of nulls (on_error="null")."""
    return parse_records_with_errors(array, format, columns=columns, on_error=on_error).data


def parse_records_with_errors(
    array: Any, format: Csv, *, columns: Sequence[str] | None = None, on_error: str = "null"
) -> ParsedRecords:
    if on_error not in ("null", "raise"):
        raise OptionError(
            f"parse_records: on_error: expected 'null' or 'raise' (every value has its row), found {on_error!r}"
        )
    check_byte_order(format, "parse_records")
    if isinstance(format, Json) and format.records != "lines":
        format = replace(format, records="lines")  # each value is a record, however others stand
    addresses, sizes, valid, keep = addresses_of(array)
    plan = make_plan(format, columns=columns, on_error=on_error, note_nulled=True)
    record_end = format.record_end if isinstance(format, Csv) else b"\n"
    capsule, rows, errors = _core.parse_record_array(plan.native, addresses, sizes, valid, record_end)
    del keep
    if errors and on_error == "raise":
        value, error = min(errors, key=lambda e: e[0])
        raise _in_value(diagnostics.describe(error, format, plan.native.column_names), value)
    batch = plan.batch(capsule)
    if len(rows) != batch.num_rows or (rows < 0).any() or not np.array_equal(rows, np.arange(len(rows))):
        batch = _spread(batch, rows)
    messages: list[str | None] = [None] * len(rows)
    for value, error in errors:
        messages[value] = str(_in_value(diagnostics.describe(error, format, plan.native.column_names), value))
    return ParsedRecords(batch, pa.array(messages, pa.string()))


def _spread(batch: pa.RecordBatch, rows: np.ndarray[Any, Any]) -> pa.RecordBatch:
    """Rows at their values' places, nulls where a value gave none."""
    taken = pa.array(rows, mask=rows < 0)
    schema = pa.schema([f.with_nullable(True) for f in batch.schema], metadata=batch.schema.metadata)
    if batch.num_columns == 0:
        return batch
    return pa.RecordBatch.from_arrays([column.take(taken) for column in batch.columns], schema=schema)


def _in_value(error: FormatError, value: int) -> FormatError:
    """Positions in an array: the value is the record."""
    text = str(error).replace(f"record {error.record}", f"value {value}", 1)
    return FormatError(
        text, code=error.code, byte_offset=error.byte_offset, record=value, column=error.column, expected=error.expected,
        found=error.found,
    )  # fmt: skip


def parse_values(array: Any, type: pa.DataType, *, format: Csv | None = None) -> pa.Array:
    """Raw field bytes to one typed array, by the rules of `format` (null markers, decimal point, true values...)."""
    if (
        pa.types.is_string(type)
        or pa.types.is_large_string(type)
        or pa.types.is_binary(type)
        or pa.types.is_large_binary(type)
    ):
        return _as_text(array, type)
    field = Csv(pa.schema([("value", type)]), delimiter=UNIT_SEPARATOR, quote=None)
    if format is not None:
        names = ("nulls", "true_values", "false_values", "decimal", "timestamp_formats", "trim")
        field = Csv(
            field.schema, delimiter=UNIT_SEPARATOR, quote=None, **{name: getattr(format, name) for name in names}
        )
    return parse_records(array, field, on_error="raise").column(0)


def _as_text(array: Any, type: pa.DataType) -> pa.Array:
    found = array if isinstance(array, pa.Array | pa.ChunkedArray) else pa.array(array)
    try:
        return found.cast(type)
    except pa.ArrowInvalid as error:
        raise FormatError(f"value: expected {type}, found other bytes ({error})", code="bad_utf8") from error
