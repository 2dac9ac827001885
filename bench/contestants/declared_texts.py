"""Declared and registered formats, and what people read such text with today: regular expressions of SQL engines and data frames,
loops, a scanner written by hand for one projection of one format.

In: files of bench.workloads.declared_texts. Out: tables of the columns asked for. Refuses to know: how fast anybody is.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterable, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from bench.answers import Answer, answer_of
from bench.contestant import Contestant, Declined, Prepared, Task
from bench.workloads.declared_texts import WIDTHS

if TYPE_CHECKING:
    from formatter.plans import Format

LOG = r'^(\S+) \S+ \S+ \[[^\]]*\] "\S+ (\S+) [^"]*" (\d+) (\d+) "[^"]*" "([^"]*)"'
KEYS = {name: rf'(?:^| ){name}=(?:"([^"]*)"|(\S*))' for name in ("level", "ms", "user", "msg")}
HL7 = {"id": "MSH.10", "patient": "PID.3.1", "family": "PID.5.1", "sex": "PID.8", "ward": "PV1.3.1"}


def columns_of(task: Task) -> list[str]:
    return list(task.columns or task.input.schema.names)


def only_for(task: Task, *names: str) -> None:
    if task.input.name not in names:
        raise Declined(f"is asked about {' and '.join(names)}")


# ------------------------------------------------------------------------------------------------------------ ours


def pipes(data: Any, fields: Any) -> tuple[Any, Any, Any]:
    """As docs/registered.md has it."""
    import numpy as np

    cuts = np.flatnonzero((data == ord("|")) | (data == ord("\n")))
    last = np.flatnonzero(data[cuts] == ord("\n"))
    first = np.concatenate([[0], last[:-1] + 1])
    at = np.minimum(first[:, None] + fields, last[:, None] + 1)
    starts = np.concatenate([[0], cuts + 1])
    return cuts[last] + 1, np.where(at <= last[:, None], starts[at], -1), np.append(cuts, 0)[at]


def ours(task: Task) -> Prepared:
    import formatter as fm

    source, schema = task.input, task.input.schema
    if source.name == "toy format":
        fm.register_format("pipes", pipes)
    formats: dict[str, Callable[[], Format]] = {
        "access log": lambda: fm.declared.combined_log(schema),
        "logfmt": lambda: fm.declared.logfmt(schema),
        "fixed width": lambda: fm.declared.fixed_width(schema, list(WIDTHS)),
        "hl7": lambda: fm.declared.hl7(schema, HL7),
        "toy format": lambda: fm.Registered(schema, "pipes"),
    }
    format, data, columns = formats[source.name](), source.data, columns_of(task)
    return Prepared(lambda: fm.read(data, format, columns=columns, threads=task.threads))


# ----------------------------------------------------------------------------------------------------------- peers


def duckdb(task: Task) -> Prepared:
    import duckdb

    only_for(task, "access log", "logfmt", "fixed width", "toy format")
    source, columns = task.input, columns_of(task)
    plain = "delim='\x01', quote='', escape='', header=false, auto_detect=false"
    lines = f"read_csv('{source.path}', columns={{'line': 'VARCHAR'}}, {plain})"
    types = {"int64": "BIGINT", "int16": "SMALLINT", "double": "DOUBLE", "string": "VARCHAR"}
    ends = list(accumulate(WIDTHS))
    parts = []
    for at, field in enumerate(source.schema):
        text = {
            "access log": f"regexp_extract(line, '{LOG}', {at + 1})",
            "logfmt": f'regexp_extract(line, \'(?:^| ){field.name}="?([^"]*?)(?:"| \\w+=|$)\', 1)',
            "fixed width": f"trim(substr(line, {ends[at] - WIDTHS[at] + 1}, {WIDTHS[at]}))" if at < len(WIDTHS) else "",
            "toy format": f"split_part(line, '|', {at + 1})",
        }[source.name]
        if field.name in columns:
            parts.append(f"CAST({text} AS {types[str(field.type)]}) AS {field.name}")
    connection = duckdb.connect(config={"threads": task.threads, "preserve_insertion_order": True})
    query = f"SELECT {', '.join(parts)} FROM {lines}"
    return Prepared(lambda: connection.sql(query).to_arrow_table(), finish=connection.close)


def polars(task: Task) -> Prepared:
    import polars as pl

    only_for(task, "access log", "logfmt", "fixed width", "toy format")
    source, columns = task.input, columns_of(task)
    kinds = {"int64": pl.Int64, "int16": pl.Int16, "double": pl.Float64, "string": pl.String}
    ends, line = list(accumulate(WIDTHS)), pl.col("line")
    taken = []
    for at, field in enumerate(source.schema):
        if field.name not in columns:
            continue
        if source.name == "access log":
            text = line.str.extract(LOG, at + 1)
        elif source.name == "logfmt":
            text = pl.coalesce(line.str.extract(KEYS[field.name], 1), line.str.extract(KEYS[field.name], 2))
        elif source.name == "fixed width":
            text = line.str.slice(ends[at] - WIDTHS[at], WIDTHS[at]).str.strip_chars()
        else:
            text = line.str.splitn("|", 4).struct.field(f"field_{at}")
        taken.append(text.cast(kinds[str(field.type)]).alias(field.name))

    def run() -> pa.Table:
        lines = pl.read_csv(
            source.path, separator="\x01", has_header=False, quote_char=None, schema={"line": pl.String}
        )
        return lines.select(taken).to_arrow()

    return Prepared(run)


def pandas(task: Task) -> Prepared:
    import pandas as pd

    only_for(task, "fixed width")
    source, columns = task.input, columns_of(task)
    fields = list(accumulate((0, *WIDTHS)))
    spans = [(fields[source.schema.get_field_index(c)], fields[source.schema.get_field_index(c) + 1]) for c in columns]
    schema = pa.schema([source.schema.field(c) for c in columns])
    kinds = {name: str if pa.types.is_string(schema.field(name).type) else None for name in columns}

    def run() -> pa.Table:
        frame = pd.read_fwf(
            source.path, colspecs=spans, header=None, names=columns, dtype={n: k for n, k in kinds.items() if k}
        )
        return pa.Table.from_pandas(frame, schema=schema, preserve_index=False)

    return Prepared(run)


def texts(task: Task) -> list[str]:
    with open(task.input.path, newline="") as file:
        return [each for each in file.read().split("\x1c\r" if task.input.name == "hl7" else "\n") if each]


def table_of(task: Task, records: Iterable[Mapping[str, Any]]) -> pa.Table:
    schema, taken = pa.schema([task.input.schema.field(name) for name in columns_of(task)]), list(records)
    made = []
    for field in schema:
        values = [record[field.name] for record in taken]
        cast = float if pa.types.is_floating(field.type) else int
        made.append(pa.array(values if pa.types.is_string(field.type) else list(map(cast, values)), field.type))
    return pa.table(made, schema=schema)


def python(task: Task) -> Prepared:
    """The loop that a library in Python runs."""
    only_for(task, "logfmt", "hl7", "toy format")
    source = task.input
    keys = re.compile(r'(\w+)=(?:"([^"]*)"|(\S*))')

    def record(text: str) -> dict[str, Any]:
        if source.name == "logfmt":
            return {key: quoted or bare for key, quoted, bare in keys.findall(text)}
        if source.name == "toy format":
            return dict(zip(source.schema.names, text.split("|"), strict=False))
        segments = {s[:3]: s.split("|") for s in text.strip("\v\r").split("\r")}
        pid, visit = segments["PID"], segments["PV1"]
        return {
            "id": segments["MSH"][9], "patient": pid[3].split("^")[0], "family": pid[5].split("^")[0], "sex": pid[8],
            "ward": visit[3].split("^")[0],
        }  # fmt: skip

    return Prepared(lambda: table_of(task, map(record, texts(task))))


def logfmt(task: Task) -> Prepared:
    from logfmt.parser import parse_line

    only_for(task, "logfmt")
    return Prepared(lambda: table_of(task, map(parse_line, texts(task))))


def python_hl7(task: Task) -> Prepared:
    import hl7

    only_for(task, "hl7")
    asked = {name: HL7[name].split(".") for name in columns_of(task)}
    places = {name: (segment, 1, *map(int, numbers)) for name, (segment, *numbers) in asked.items()}

    def record(text: str) -> dict[str, Any]:
        message = hl7.parse(text.strip("\v\r"))
        return {name: message.extract_field(*place) for name, place in places.items()}

    return Prepared(lambda: table_of(task, map(record, texts(task))))


def spark(task: Task) -> Prepared:
    from pyspark.sql import functions as f

    from bench.contestants.spark_session import session

    only_for(task, "access log", "fixed width")
    running = session(task.threads, ours=False)
    source, ends, line = task.input, list(accumulate(WIDTHS)), f.col("value")
    taken = {}
    for at, field in enumerate(source.schema):
        if source.name == "access log":
            text = f.regexp_extract(line, LOG, at + 1)
        else:
            text = f.trim(f.substring(line, ends[at] - WIDTHS[at] + 1, WIDTHS[at]))
        kind = {"int64": "long", "int16": "short"}.get(str(field.type), str(field.type))
        taken[field.name] = text.cast(kind).alias(field.name)
    chosen = [taken[name] for name in columns_of(task)]

    def frame() -> Any:
        return running.read.text(source.path).select(*chosen)

    def run() -> None:
        frame().write.format("noop").mode("overwrite").save()

    return Prepared(run, lambda _: answer_of(frame().toArrow(), ordered=False))


def scanner(task: Task) -> Prepared:
    from bench.compiled import NATIVE, program

    only_for(task, "hl7")
    if columns_of(task) != task.input.schema.names:
        raise Declined("is written for all five columns")
    command = [str(program("hl7_scanner", NATIVE / "hl7_scanner.cpp", flags=("-march=native",))), task.input.path]

    def run() -> tuple[int, float]:
        rows, seconds = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return int(rows), float(seconds)

    return Prepared(run, lambda found: Answer(found[0]), lambda found: found[1])


CONTESTANTS = [
    Contestant("fm.declared", {"declared": ours}, role="ours"),
    Contestant("duckdb by expressions", {"declared": duckdb}, "duckdb", handicap="reads a file in memory, not bytes"),
    Contestant("polars by expressions", {"declared": polars}, "polars", handicap="reads a file in memory, not bytes",
               environment=lambda threads: {"POLARS_MAX_THREADS": str(threads)}),
    Contestant("pandas read_fwf", {"declared": pandas}, "pandas", handicap="reads a file in memory, not bytes"),
    Contestant("spark by expressions", {"declared": spark}, "pyspark", handicap="reads a file, and throws its rows away"),
    Contestant("logfmt", {"declared": logfmt}, "logfmt", handicap="reads a file in memory, not bytes"),
    Contestant("python-hl7", {"declared": python_hl7}, "hl7", handicap="reads a file in memory, not bytes"),
    Contestant("a loop in Python", {"declared": python}, handicap="reads a file in memory, not bytes"),
    Contestant("a scanner by hand", {"declared": scanner},
               handicap="is C++ for this one projection, checks nothing, unescapes nothing and makes no table"),
]  # fmt: skip
