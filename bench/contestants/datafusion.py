"""datafusion: external tables over a file in memory, collected as Arrow batches."""

from __future__ import annotations

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Contestant, Declined, Prepared, Task
from bench.contestants.sql_types import filter_sql, sql_names, sql_type


def table(task: Task) -> Prepared:
    import datafusion

    source = task.input
    if source.kind == "rows":
        raise Declined("reads no packed rows")
    config = datafusion.SessionConfig().with_target_partitions(task.threads)
    config = config.with_repartition_file_scans(not source.newlines_in_values)
    config = config.set("datafusion.execution.collect_statistics", "false")
    context = datafusion.SessionContext(config)
    if source.kind == "json":
        if any("." in column for column in task.columns):
            raise Declined("has no projection of members at the scan")
        context.register_json("source", source.path, schema=source.schema, file_extension="")
    else:
        typed = ", ".join(f'"{field.name}" {sql_type(field.type)}' for field in source.schema)
        options = {
            "has_header": str(source.header).lower(),
            "delimiter": source.delimiter,
            "quote": source.quote or "\x01",
            "newlines_in_values": str(source.newlines_in_values).lower(),
        }
        if source.nulls != ("",):
            raise Declined(f"takes nothing but an empty field for null, here there are {source.nulls}")
        told = ", ".join(f"'format.{name}' '{value}'" for name, value in options.items())
        context.sql(f"CREATE EXTERNAL TABLE source ({typed}) STORED AS CSV LOCATION '{source.path}' OPTIONS ({told})")
    columns = task.columns or tuple(source.schema.names)
    query = f"SELECT {sql_names(columns)} FROM source{filter_sql(task.options.get('filters', []))}"

    def read() -> pa.Table:
        frame = context.sql(query)
        return pa.Table.from_batches(frame.collect(), schema=frame.schema())

    def answer(found: pa.Table) -> Answer:
        return answer_of(found, ordered=task.threads == 1)

    return Prepared(read, answer)


CONTESTANTS = [
    Contestant(
        "datafusion",
        {"table": table},
        "datafusion",
        handicap="reads a file in memory; with several partitions its rows come in any order",
    )
]
