"""polars: read_csv, scan_ndjson."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from bench.contestant import Contestant, Declined, Prepared, Task
from bench.contestants.given import given
from bench.inputs import Input


def table(task: Task) -> Prepared:
    import polars as pl

    if pl.thread_pool_size() != task.threads:
        raise RuntimeError("POLARS_MAX_THREADS must be set before the process starts")
    source = task.input
    if source.kind == "json":
        return _json_table(pl, source, task)
    if source.kind == "rows":
        raise Declined("reads no packed rows")
    columns = task.columns or tuple(source.schema.names)
    data, told = given(task), csv_options(pl, source)
    if filters := task.options.get("filters"):
        compared = {">": pl.Expr.gt, "==": pl.Expr.eq}
        clauses = [compared[operator](pl.col(column), value) for column, operator, value in filters]
        return Prepared(lambda: pl.scan_csv(source.path, **told).filter(*clauses).select(columns).collect().to_arrow())
    numbers = [source.schema.get_field_index(name) for name in columns]  # by name it looks for a header
    return Prepared(lambda: pl.read_csv(data(), columns=numbers, **told).to_arrow())


def csv_options(pl: Any, source: Input) -> dict[str, Any]:
    schema = {field.name: _polars_type(pl, field.type) for field in source.schema}
    nulls = [null for null in source.nulls if null] or None
    told = {"separator": source.delimiter, "quote_char": source.quote or None, "has_header": source.header}
    told["truncate_ragged_lines"] = source.ragged != "error"
    return {**told, "schema": schema, "null_values": nulls}


def _json_table(pl: Any, source: Input, task: Task) -> Prepared:
    typed = pl.from_arrow(source.schema.empty_table())
    scan = pl.scan_ndjson(source.path, schema=typed.schema)
    wanted = [_member(pl, column) for column in task.columns] or [pl.all()]
    return Prepared(lambda: scan.select(wanted).collect().to_arrow())


def _member(pl: Any, column: str) -> Any:
    name, *members = column.split(".")
    found = pl.col(name)
    for member in members:
        found = found.struct.field(member)
    return found.alias(column)


def _polars_type(pl: Any, kind: pa.DataType) -> Any:
    if pa.types.is_timestamp(kind):
        return pl.Datetime(kind.unit, kind.tz)
    if pa.types.is_decimal(kind):
        return pl.Decimal(kind.precision, kind.scale)
    plain = {
        pa.int32(): pl.Int32,
        pa.int64(): pl.Int64,
        pa.float32(): pl.Float32,
        pa.float64(): pl.Float64,
        pa.bool_(): pl.Boolean,
        pa.date32(): pl.Date,
        pa.string(): pl.String,
    }
    if kind not in plain:
        raise Declined(f"no polars type for {kind}")
    return plain[kind]


CONTESTANTS = [
    Contestant(
        "polars",
        {"table": table},
        "polars",
        handicap="JSON is read from a file in memory, CSV from bytes",
        environment=lambda threads: {"POLARS_MAX_THREADS": str(threads)},
    )
]
