"""duckdb: read_csv and read_json over a file in memory, into an Arrow table."""

from __future__ import annotations

from bench.contestant import Contestant, Declined, Prepared, Task
from bench.contestants.sql_types import filter_sql, sql_names, sql_type
from bench.inputs import Input


def table(task: Task) -> Prepared:
    import duckdb

    source = task.input
    if source.kind == "rows":
        raise Declined("reads no packed rows")
    connection = duckdb.connect(config={"threads": task.threads, "preserve_insertion_order": True})
    typed = ", ".join(f"'{field.name}': '{sql_type(field.type)}'" for field in source.schema)
    scan = (
        _csv_scan(source, typed, task.options.get("path", source.path))
        if source.kind == "csv"
        else _json_scan(source, typed)
    )
    columns = task.columns or tuple(source.schema.names)
    query = f"SELECT {sql_names(columns)} FROM {scan}{filter_sql(task.options.get('filters', []))}"
    return Prepared(lambda: connection.sql(query).to_arrow_table(), finish=connection.close)


def _csv_scan(source: Input, typed: str, path: str) -> str:
    nulls = ", ".join(f"'{null}'" for null in source.nulls)
    options = (
        f"header={str(source.header).lower()}, auto_detect=false, delim='{source.delimiter}', quote='{source.quote}'"
    )
    options += f", escape='{source.quote}', nullstr=[{nulls}], allow_quoted_nulls=false, max_line_size=33554432"
    if source.ragged != "error":
        options += ", null_padding=true"
    if source.quotes != "strict":
        options += ", strict_mode=false"
    return f"read_csv('{path}', columns={{{typed}}}, {options})"


def _json_scan(source: Input, typed: str) -> str:
    options = "format='newline_delimited', maximum_object_size=33554432"
    return f"read_json('{source.path}', columns={{{typed}}}, {options})"


CONTESTANTS = [Contestant("duckdb", {"table": table}, "duckdb", handicap="reads a file in memory, not bytes")]
