"""One adapter per contestant: CSV in memory to an Arrow table, explicit schema, a given number of threads.

In: an Input (the bytes, and the same bytes as a file in memory for those who only read files), a workload, the columns
wanted in schema order. Out: a pyarrow.Table of exactly those columns. Libraries are imported inside the adapters: each
contestant runs alone in its process. Refuses to know: timing, checking.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from bench.workloads import Workload


@dataclass(frozen=True)
class Input:
    data: bytes
    path: str  # on a file system in memory


Reader = Callable[[Input, list[str]], pa.Table]


def read_formatter(workload: Workload, threads: int) -> Reader:
    import formatter as fm

    csv = fm.Csv(workload.schema)

    def read(source: Input, columns: list[str]) -> pa.Table:
        return fm.read(source.data, csv, columns=columns, threads=threads)

    return read


def read_pyarrow(workload: Workload, threads: int) -> Reader:
    from pyarrow import csv

    pa.set_cpu_count(max(threads, 1))
    read_options = csv.ReadOptions(column_names=workload.schema.names, use_threads=threads > 1)
    parse_options = csv.ParseOptions(newlines_in_values=workload.newlines_in_values)

    def read(source: Input, columns: list[str]) -> pa.Table:
        convert_options = csv.ConvertOptions(
            column_types=workload.schema,
            include_columns=columns,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        reader = pa.BufferReader(source.data)
        return csv.read_csv(reader, read_options, parse_options, convert_options)

    return read


def read_polars(workload: Workload, threads: int) -> Reader:
    import polars as pl

    if pl.thread_pool_size() != threads:
        raise RuntimeError("POLARS_MAX_THREADS must be set before the process starts")
    schema: dict[str, Any] = {field.name: _polars_type(pl, field.type) for field in workload.schema}

    def read(source: Input, columns: list[str]) -> pa.Table:
        numbers = [workload.schema.get_field_index(name) for name in columns]  # by name it looks for a header
        return pl.read_csv(source.data, has_header=False, schema=schema, columns=numbers).to_arrow()

    return read


def _polars_type(pl: Any, kind: pa.DataType) -> Any:
    if pa.types.is_timestamp(kind):
        return pl.Datetime(kind.unit, kind.tz)
    if pa.types.is_decimal(kind):
        return pl.Decimal(kind.precision, kind.scale)
    return {
        pa.int32(): pl.Int32,
        pa.int64(): pl.Int64,
        pa.float32(): pl.Float32,
        pa.float64(): pl.Float64,
        pa.bool_(): pl.Boolean,
        pa.date32(): pl.Date,
        pa.string(): pl.String,
    }[kind]


SQL_TYPES = {
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.float32(): "REAL",
    pa.float64(): "DOUBLE",
    pa.bool_(): "BOOLEAN",
    pa.date32(): "DATE",
    pa.string(): "VARCHAR",
    pa.timestamp("us"): "TIMESTAMP",
    pa.timestamp("us", "UTC"): "TIMESTAMP WITH TIME ZONE",
}


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return SQL_TYPES[kind]


def read_duckdb(workload: Workload, threads: int) -> Reader:
    import duckdb

    connection = duckdb.connect(config={"threads": threads, "preserve_insertion_order": True})
    types = ", ".join(f"'{field.name}': '{_sql_type(field.type)}'" for field in workload.schema)
    options = f"columns={{{types}}}, header=false, auto_detect=false, delim=',', quote='\"', escape='\"', nullstr=''"

    def read(source: Input, columns: list[str]) -> pa.Table:
        names = ", ".join(f'"{name}"' for name in columns)
        query = f"SELECT {names} FROM read_csv('{source.path}', {options}, allow_quoted_nulls=false)"
        return connection.sql(query).to_arrow_table()

    return read


def read_datafusion(workload: Workload, threads: int) -> Reader:
    import datafusion

    config = datafusion.SessionConfig().with_target_partitions(threads)
    config = config.with_repartition_file_scans(not workload.newlines_in_values)
    config = config.set("datafusion.execution.collect_statistics", "false")
    context = datafusion.SessionContext(config)
    sql_schema = ", ".join(f'"{field.name}" {_sql_type(field.type)}' for field in workload.schema)
    newlines = str(workload.newlines_in_values).lower()
    registered: list[str] = []

    def read(source: Input, columns: list[str]) -> pa.Table:
        if not registered:
            context.sql(
                f"CREATE EXTERNAL TABLE source ({sql_schema}) STORED AS CSV LOCATION '{source.path}' OPTIONS"
                f"('format.has_header' 'false', 'format.newlines_in_values' '{newlines}')"
            )
            registered.append("source")
        names = ", ".join(f'"{name}"' for name in columns)
        frame = context.sql(f"SELECT {names} FROM source")
        return pa.Table.from_batches(frame.collect(), schema=frame.schema())

    return read


def read_pandas(workload: Workload, threads: int) -> Reader:
    import pandas

    kinds = {pa.int64(): "Int64", pa.float64(): "float64", pa.string(): "str", pa.timestamp("us"): "str"}

    def read(source: Input, columns: list[str]) -> pa.Table:
        times = [name for name in columns if pa.types.is_timestamp(workload.schema.field(name).type)]
        frame = pandas.read_csv(
            io.BytesIO(source.data),
            header=None,
            names=workload.schema.names,
            usecols=columns,
            dtype={field.name: kinds[field.type] for field in workload.schema if field.name in columns},
            na_values=[""],
            keep_default_na=False,
            float_precision="round_trip",
        )
        for name in times:
            frame[name] = pandas.to_datetime(frame[name], format="%Y-%m-%d %H:%M:%S")
        return pa.Table.from_pandas(frame[columns], preserve_index=False)

    return read


READERS: dict[str, Callable[[Workload, int], Reader]] = {
    "formatter": read_formatter,
    "pyarrow": read_pyarrow,
    "polars": read_polars,
    "duckdb": read_duckdb,
    "datafusion": read_datafusion,
    "pandas": read_pandas,
}
SINGLE_THREADED = {"pandas"}
UNORDERED = {"datafusion"}  # with several partitions its rows come in any order
