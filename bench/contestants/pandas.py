"""pandas: read_csv by its C parser, brought to Arrow."""

from __future__ import annotations

import io

import pyarrow as pa

from bench.contestant import Contestant, Declined, Prepared, Task
from bench.contestants.given import given

KINDS = {
    pa.int32(): "Int32",
    pa.int64(): "Int64",
    pa.float32(): "float32",
    pa.float64(): "float64",
    pa.string(): "str",
    pa.timestamp("us"): "str",
}


def table(task: Task) -> Prepared:
    import pandas

    source = task.input
    if source.kind != "csv":
        raise Declined(f"has no fast reader of {source.kind}")
    if unknown := [str(kind) for kind in source.schema.types if kind not in KINDS]:
        raise Declined(f"would need a pass of its own over {unknown[0]}")
    columns = list(task.columns or source.schema.names)
    times = [name for name in columns if pa.types.is_timestamp(source.schema.field(name).type)]
    kinds = {field.name: KINDS[field.type] for field in source.schema if field.name in columns}
    data = given(task)

    def read() -> pa.Table:
        held = data()
        frame = pandas.read_csv(
            io.BytesIO(held) if isinstance(held, bytes) else held,
            sep=source.delimiter,
            quotechar=source.quote or '"',
            quoting=source.quoting,
            header=0 if source.header else None,
            names=source.schema.names,
            usecols=columns,
            dtype=kinds,
            na_values=list(source.nulls),
            keep_default_na=False,
            float_precision="round_trip",
        )
        for name in times:
            frame[name] = pandas.to_datetime(frame[name], format="ISO8601")
        found = pa.Table.from_pandas(frame[columns], preserve_index=False)
        for column, _, value in task.options.get("filters", []):
            found = found.filter(pa.compute.greater(found[column], value))
        return found

    return Prepared(read)


CONTESTANTS = [
    Contestant("pandas", {"table": table}, "pandas", handicap="one thread only; ends with a conversion to Arrow")
]
