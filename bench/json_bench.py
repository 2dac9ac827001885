"""JSON against hand-written C++ on simdjson's On-Demand and against other readers, in one run, one thread, by CPU time.

In: nothing but the machine; `python -m bench.json_bench [megabytes]`. Out: GB/s a contestant, workload and projection.
The contestant in C++ is compiled on the spot against the simdjson inside the installed pysimdjson. Answers of the Python
readers are compared with ours before anything is timed. Refuses to know: how anyone reads.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

import formatter as fm
from bench.json_workloads import WORKLOADS, JsonWorkload

os.environ.setdefault("POLARS_MAX_THREADS", "1")  # read when polars is imported
HERE = Path(__file__).parent
ROUNDS = 7

Reader = Callable[[], pa.Table]


def cpu_seconds(read: Reader) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.process_time()
        read()
        best = min(best, time.process_time() - start)
    return best


def wall_seconds(read: Reader) -> float:
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.perf_counter()
        read()
        best = min(best, time.perf_counter() - start)
    return best


def readers(workload: JsonWorkload, data: bytes, path: Path) -> Iterator[tuple[str, Reader]]:
    json = fm.Json(workload.schema)
    few = list(workload.few)
    yield "formatter all", lambda: fm.read(data, json, threads=1)
    yield "formatter few", lambda: fm.read(data, json, columns=few, threads=1)
    strict = fm.Json(workload.schema, validate="full")
    yield "formatter all, full validation", lambda: fm.read(data, strict, threads=1)
    yield "formatter few, full validation", lambda: fm.read(data, strict, columns=few, threads=1)
    yield from peers(workload, data, path)


def peers(workload: JsonWorkload, data: bytes, path: Path) -> Iterator[tuple[str, Reader]]:
    """Each told the schema, as we are; "few" where a reader can be asked for parts of nested columns."""
    flat = workload.name != "tweets"
    few = list(workload.few)
    selected = ", ".join('"' + name.replace(".", '"."') + '"' for name in few)
    schema_of_few = pa.schema([workload.schema.field(name) for name in few]) if flat else None

    from pyarrow import json as arrow_json

    def by_pyarrow(schema: pa.Schema) -> pa.Table:
        options = arrow_json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore")
        return arrow_json.read_json(io.BytesIO(data), arrow_json.ReadOptions(use_threads=False), options)

    yield "pyarrow all", lambda: by_pyarrow(workload.schema)
    if schema_of_few:
        yield "pyarrow few", lambda: by_pyarrow(schema_of_few)

    import duckdb

    connection = duckdb.connect()
    connection.execute("SET threads TO 1")
    named = ", ".join(f"{field.name}: '{_sql_type(field.type)}'" for field in workload.schema)
    source = f"read_json('{path}', format='newline_delimited', columns={{{named}}})"
    yield "duckdb all", lambda: connection.sql(f"SELECT * FROM {source}").to_arrow_table()
    yield "duckdb few", lambda: connection.sql(f"SELECT {selected} FROM {source}").to_arrow_table()

    import polars

    typed = polars.from_arrow(workload.schema.empty_table())
    assert isinstance(typed, polars.DataFrame)
    scan = polars.scan_ndjson(path, schema=typed.schema)
    yield "polars all", lambda: scan.collect().to_arrow()
    if flat:
        yield "polars few", lambda: scan.select(few).collect().to_arrow()

    import datafusion

    context = datafusion.SessionContext(datafusion.SessionConfig().with_target_partitions(1))
    context.register_json("lines", str(path), schema=workload.schema, file_extension=".ndjson")
    yield "datafusion all", lambda: context.sql("SELECT * FROM lines").to_arrow_table()
    if flat:
        yield "datafusion few", lambda: context.sql(f"SELECT {selected} FROM lines").to_arrow_table()


def _sql_type(kind: pa.DataType) -> str:
    if pa.types.is_struct(kind):
        return "STRUCT(" + ", ".join(f'"{member.name}" {_sql_type(member.type)}' for member in kind) + ")"
    if pa.types.is_list(kind):
        return _sql_type(kind.value_type) + "[]"
    return {
        pa.int64(): "BIGINT", pa.int32(): "INTEGER", pa.float64(): "DOUBLE", pa.string(): "VARCHAR", pa.bool_(): "BOOLEAN",
        pa.timestamp("us"): "TIMESTAMP",
    }[kind]  # fmt: skip


def on_demand(binary: Path, workload: JsonWorkload, path: Path) -> Iterator[tuple[str, float, int]]:
    lines = subprocess.run([binary, workload.name, path], check=True, capture_output=True, text=True).stdout
    for line in lines.splitlines():
        name, gigabytes, records = line.split()
        yield f"simdjson {name}", float(gigabytes), int(records)


def _check(contestant: str, found: pa.Table, workload: JsonWorkload, rows: int, ours: pa.Table) -> None:
    if found.num_rows != rows:
        sys.exit(f"{contestant}: expected {rows} rows, found {found.num_rows}")
    for name in found.column_names:
        known = name in ours.column_names and not pa.types.is_nested(ours.schema.field(name).type)
        if known and not found[name].cast(ours.schema.field(name).type).equals(ours[name]):
            sys.exit(f"{contestant}: other values in {name!r}")


def compiled(folder: Path) -> Path:
    import simdjson

    package = Path(simdjson.__file__).parent
    binary = folder / "json_ondemand"
    sources = [str(HERE / "native" / "json_ondemand.cpp"), str(package / "simdjson.cpp")]
    subprocess.run(["g++", "-std=c++17", "-O3", "-DNDEBUG", f"-I{package}", *sources, "-o", str(binary)], check=True)
    return binary


def main(megabytes: int) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").exists() else None) as name:
        folder = Path(name)
        binary = compiled(folder)
        for workload in WORKLOADS.values():
            data = workload.make(megabytes << 20, seed=1)
            path = folder / f"{workload.name}.ndjson"
            path.write_bytes(data)
            rows = data.count(b"\n")
            print(f"{workload.name}: {len(data) >> 20} MiB, {len(data) // rows} bytes a record")
            ours = fm.read(data, fm.Json(workload.schema))
            for contestant, gigabytes, records in on_demand(binary, workload, path):
                if records not in (rows, 0):
                    sys.exit(f"{contestant}: expected {rows} records, found {records}")
                print(f"  {contestant:32} {gigabytes:6.2f} GB/s")
            json = fm.Json(workload.schema)
            one, two = (wall_seconds(partial(fm.read, data, json, threads=n)) for n in (1, 2))
            print(f"  {'formatter all, two threads':32} {one / two:6.2f} times one, by the clock")
            for contestant, read in readers(workload, data, path):
                _check(contestant, read(), workload, rows, ours)
                print(f"  {contestant:32} {len(data) / cpu_seconds(read) / 1e9:6.2f} GB/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 32)
