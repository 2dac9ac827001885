"""chdb: the file() table function over a file in memory, out as Arrow."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Contestant, Declined, Prepared, Task

CLICKHOUSE_TYPES = {
    pa.int32(): "Int32",
    pa.int64(): "Int64",
    pa.float32(): "Float32",
    pa.float64(): "Float64",
    pa.bool_(): "Bool",
    pa.date32(): "Date32",
    pa.string(): "String",
    pa.timestamp("us"): "DateTime64(6, 'UTC')",
    pa.timestamp("us", "UTC"): "DateTime64(6, 'UTC')",
}


def table(task: Task) -> Prepared:
    import chdb

    query_chdb: Any = chdb.query

    source = task.input
    if source.kind == "rows":
        raise Declined("reads no packed rows")
    if source.delimiter == " ":
        raise Declined("its CSV cannot be separated by spaces")
    if any(pa.types.is_struct(kind) for kind in source.schema.types):
        raise Declined("objects are tuples, which cannot be null")
    typed = ", ".join(f"`{field.name}` {_type(field.type)}" for field in source.schema)
    form = "CSV" if source.kind == "csv" else "JSONEachRow"
    settings: dict[str, Any] = {
        "max_threads": task.threads,
        "input_format_parallel_parsing": int(task.threads > 1),
        "date_time_input_format": "'best_effort'",
        "input_format_csv_empty_as_default": 1,
        "format_csv_delimiter": f"'{source.delimiter}'",
        "input_format_skip_unknown_fields": 1,
        "output_format_arrow_string_as_string": 1,
        "output_format_arrow_compression_method": "'none'",
        "precise_float_parsing": 1,
    }
    if source.kind == "csv":
        settings["format_csv_null_representation"] = f"'{source.nulls[-1]}'"
    told = ", ".join(f"{name} = {value}" for name, value in settings.items())
    names = ", ".join(f"`{column}`" for column in task.columns or source.schema.names)
    where = " AND ".join(
        f"`{column}` {operator} {value!r}" for column, operator, value in task.options.get("filters", [])
    )
    query = f"SELECT {names} FROM file('{source.path}', '{form}', '{typed}'){' WHERE ' + where if where else ''} SETTINGS {told}"
    query = query.replace("'" + typed + "'", "$types$" + typed + "$types$")
    wanted = pa.schema([source.schema.field(name) for name in task.columns or source.schema.names])

    def read() -> pa.Table:
        found = query_chdb(query, "ArrowStream")
        if found.has_error():
            raise RuntimeError(found.error_message())
        return pa.ipc.open_stream(found.bytes()).read_all()

    def answer(found: pa.Table) -> Answer:
        zoneless = [column.cast(field.type) for column, field in zip(found.itercolumns(), wanted, strict=True)]
        return answer_of(pa.table(zoneless, schema=wanted), ordered=task.threads == 1)

    return Prepared(read, answer)


def _type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"Nullable(Decimal({kind.precision}, {kind.scale}))"
    if kind not in CLICKHOUSE_TYPES:
        raise Declined(f"no type for {kind}")
    return f"Nullable({CLICKHOUSE_TYPES[kind]})"


CONTESTANTS = [
    Contestant(
        "chdb",
        {"table": table},
        "chdb",
        handicap="reads a file in memory; its result is serialised as Arrow and copied, as its API has it",
    )
]
