"""Python's own reading of a sample: slow, obvious, and nobody's library. Every contestant's reading of it must agree.

In: an Input of a few hundred records. Out: a table. Refuses to know: contestants, speed.
"""

from __future__ import annotations

import csv
import datetime
import io
import json
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from bench.inputs import Input

WIDEST_FIELD = 1 << 30


def python_table(source: Input) -> pa.Table:
    read = {"csv": _csv_records, "json": _json_records, "rows": _row_records}[source.kind]
    return read(source)


def _csv_records(source: Input) -> pa.Table:
    csv.field_size_limit(WIDEST_FIELD)
    text = io.StringIO(source.data.decode(), newline="")
    rows = list(csv.reader(text, delimiter=source.delimiter, quotechar=source.quote or None, quoting=source.quoting))
    records = [row for row in rows[source.header :] if row]
    columns = [
        pa.array([_value(_field(record, at, source), field.type, source.nulls) for record in records], field.type)
        for at, field in enumerate(source.schema)
    ]
    return pa.table(columns, schema=source.schema)


def _field(record: list[str], at: int, source: Input) -> str:
    """A field that a short record lacks is null, where short ones may be."""
    padded = at >= len(record) and source.ragged in ("pad", "fit")
    return source.nulls[0] if padded else record[at]


def _value(text: str, kind: pa.DataType, nulls: tuple[str, ...]) -> Any:
    types = pa.types
    if text in nulls:
        return None
    if types.is_float32(kind):
        return float(np.float32(text))
    if types.is_decimal(kind):
        return Decimal(text)
    if types.is_boolean(kind):
        return text.lower() in ("true", "1")
    if types.is_date(kind):
        return datetime.date.fromisoformat(text)
    if types.is_time(kind):
        return datetime.time.fromisoformat(text)
    if types.is_timestamp(kind):
        found = datetime.datetime.fromisoformat(text)
        return found if kind.tz is None else found.astimezone(datetime.UTC)
    return int(text) if types.is_integer(kind) else float(text) if types.is_floating(kind) else text


def _json_records(source: Input) -> pa.Table:
    records = [json.loads(line) for line in source.data.splitlines() if line.strip()]
    return pa.table([pa.array([_member(r, f) for r in records], f.type) for f in source.schema], schema=source.schema)


def _member(value: dict[str, Any] | None, field: pa.Field) -> Any:
    return None if value is None else _typed(value.get(field.name), field.type)


def _typed(value: Any, kind: pa.DataType) -> Any:
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {member.name: _member(value, member) for member in kind}
    if pa.types.is_list(kind):
        return [_typed(item, kind.value_type) for item in value]
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return _value(value, kind, ())
    if pa.types.is_string(kind) and not isinstance(value, str):
        return json.dumps(value)
    return float(value) if pa.types.is_floating(kind) else value


def _row_records(source: Input) -> pa.Table:
    """Packed little-endian rows."""
    made = np.frombuffer(source.data, [(field.name, _numpy_code(field.type)) for field in source.schema])
    columns = []
    for field in source.schema:
        if pa.types.is_fixed_size_binary(field.type):
            text = pa.py_buffer(made[field.name].tobytes())
            columns.append(pa.Array.from_buffers(field.type, len(made), [None, text]))
        else:
            columns.append(pa.array(made[field.name].copy()).cast(field.type))
    return pa.table(columns, schema=source.schema)


def _numpy_code(kind: pa.DataType) -> str:
    if pa.types.is_fixed_size_binary(kind):
        return f"V{kind.byte_width}"
    if pa.types.is_boolean(kind):
        return "?"
    code = "i8" if pa.types.is_timestamp(kind) else np.dtype(kind.to_pandas_dtype()).str[1:]
    return f"<{code}"
