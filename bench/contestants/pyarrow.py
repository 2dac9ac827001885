"""pyarrow's CSV and JSON readers, and what a user writes around them by hand for chunks out of order."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from bench.contestant import Contestant, Declined, Prepared, Task
from bench.contestants.given import given
from bench.inputs import Input


def csv_reader(source: Input, threads: int) -> Any:
    """bytes or a path, columns -> table."""
    from pyarrow import csv

    pa.set_cpu_count(max(threads, 1))
    names = None if source.header else source.schema.names
    reading = csv.ReadOptions(column_names=names, use_threads=threads > 1)
    parsing = csv.ParseOptions(
        delimiter=source.delimiter, quote_char=source.quote or False, newlines_in_values=source.newlines_in_values
    )

    def read(data: bytes | str, columns: tuple[str, ...]) -> pa.Table:
        converting = csv.ConvertOptions(
            column_types=source.schema,
            include_columns=list(columns),
            null_values=list(source.nulls),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
        )
        return csv.read_csv(pa.BufferReader(data) if isinstance(data, bytes) else data, reading, parsing, converting)

    return read


def json_table(source: Input, columns: tuple[str, ...], threads: int) -> Prepared:
    from pyarrow import json

    pa.set_cpu_count(max(threads, 1))
    wanted = _schema_of(source.schema, columns)
    dates = {name: kind for name, kind in zip(wanted.names, wanted.types, strict=True) if pa.types.is_date(kind)}
    told = pa.schema([pa.field(f.name, pa.string() if f.name in dates else f.type) for f in wanted])
    parsing = json.ParseOptions(explicit_schema=told, unexpected_field_behavior="ignore")
    reading = json.ReadOptions(use_threads=threads > 1, block_size=max(1 << 20, _longest_line(source.data) + 1))
    data = source.data

    def read() -> pa.Table:
        found = json.read_json(pa.BufferReader(data), reading, parsing)
        return found.cast(wanted) if dates else found

    return Prepared(read)


def _schema_of(schema: pa.Schema, columns: tuple[str, ...]) -> pa.Schema:
    """Only the wanted members of objects, as a user would tell it."""
    members: dict[str, list[str]] = {}
    for column in columns or schema.names:
        name, *member = column.split(".")
        members.setdefault(name, []).extend(member)
    kinds = {name: schema.field(name).type for name in members}
    return pa.schema(
        [(n, pa.struct([kinds[n].field(m) for m in some]) if some else kinds[n]) for n, some in members.items()]
    )


def _longest_line(data: bytes) -> int:
    return max(map(len, data.split(b"\n")))


def table(task: Task) -> Prepared:
    source, columns = task.input, task.columns or tuple(task.input.schema.names)
    if source.kind == "json":
        return json_table(source, task.columns, task.threads)
    if source.kind == "rows":
        raise Declined("reads no packed rows")
    read, data = csv_reader(source, task.threads), given(task)
    filters = task.options.get("filters")
    if not filters:
        return Prepared(lambda: read(data(), columns))

    import pyarrow.compute as pc

    def read_and_filter() -> pa.Table:
        whole = read(data(), columns)
        for column, operator, value in filters:
            whole = whole.filter({">": pc.greater}[operator](whole[column], value))
        return whole

    return Prepared(read_and_filter)


CONTESTANTS = [
    Contestant(
        "pyarrow",
        {"table": table},
        "pyarrow",
        handicap="threads=1 uses none of its thread pool; dates in JSON are read as text and cast",
    )
]
