"""A DataFrame of chunks becomes a DataFrame of records.

In: rows (origin, sequence, payload) in any order and partitioning. Out: parsed columns, lazily. Decides only how the
chunks of an origin come together in one task; parsing is parse_task.py's, types are spark_types.py's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

from pyspark.sql import DataFrame
from pyspark.sql.types import IntegralType, StringType, StructType

import formatter as fm
from spark_udfs.chunk_rows import ChunkColumns
from spark_udfs.parse_task import Arrival, OnError, ParseTask
from spark_udfs.stitch_global import stitch_globally

Stitch = Literal["auto", "origin", "global", "none"]


def parse(
    df: DataFrame,
    format: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    origin: str = "origin",
    sequence: str = "sequence",
    payload: str = "payload",
    on_error: OnError = "raise",
    stitch: Stitch = "auto",
    keep: Sequence[str] = (),
) -> DataFrame:
    """Records of the chunks in df.

    stitch: "origin" brings each origin whole into one task (one shuffle); "global" parses every chunk where it is and
    shuffles only what is open at its ends, for which df is evaluated twice; "none" takes every chunk as whole records;
    "auto" is "origin", without the shuffle where the plan shows that each origin is in one partition already.
    keep: other columns of df that go along; under "origin" each must be constant for an origin, under "global" a record
    has those of the chunk it ends in, origin and sequence included.
    """
    if stitch not in get_args(Stitch):
        raise fm.OptionError(f"spark: stitch is one of {', '.join(map(repr, get_args(Stitch)))}, found {stitch!r}")
    names = ChunkColumns(origin, sequence, payload)
    names.require(df.columns, tuple(keep))
    require_identifiable(df.schema, origin)
    riding = StructType([df.schema[name] for name in keep])
    arrival: Arrival = "aligned" if stitch == "none" else "grouped"
    task = ParseTask(
        format, names, columns=columns, filters=filters, on_error=on_error, keep=riding or None, arrival=arrival
    )
    chunks = df.select(*dict.fromkeys([*names.names, *keep]))
    if stitch == "global":
        return stitch_globally(chunks, task)
    if arrival == "grouped":
        if stitch == "origin" or not _is_in_one_partition(chunks):
            chunks = chunks.repartition(origin)
        chunks = chunks.sortWithinPartitions(origin, sequence)
    return chunks.mapInArrow(task, task.schema)


def require_identifiable(schema: StructType, origin: str) -> None:
    type_ = schema[origin].dataType
    if not isinstance(type_, (StringType, IntegralType)):
        found = type_.simpleString()
        raise fm.SchemaError(f"spark: column {origin!r} names origins: expected a string or an integer, found {found}")


def _is_in_one_partition(df: DataFrame) -> bool:
    """What the plan knows of its own partitioning. A Connect client cannot see it and answers False."""
    plan = getattr(df, "_jdf", None)
    if plan is None or df.isStreaming:
        return False
    return bool(plan.queryExecution().sparkPlan().outputPartitioning().toString() == "SinglePartition")
