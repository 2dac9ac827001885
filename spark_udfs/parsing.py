"""A DataFrame of chunks becomes a DataFrame of records.

In: rows (origin, sequence, payload) in any order and partitioning. Out: parsed columns, lazily. Decides only how the
chunks of an origin come together in one task; parsing is parse_task.py's, types are spark_types.py's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

import formatter as fm
from formatter.plans import with_rescue
from formatter.variants import Columns, asked_as
from spark_udfs.chunks.chunk_formats import ChunkFormats
from spark_udfs.chunks.chunk_rows import ChunkColumns
from spark_udfs.chunks.parse_task import OnError, ParseTask
from spark_udfs.jvm.direct_rows import attach_if_configured
from spark_udfs.jvm.session_jvm import has_jvm
from spark_udfs.options.reading import of_values, zone_of
from spark_udfs.records.record_queries import as_columns, require_compat, require_payload, with_records
from spark_udfs.records.record_task import RecordOnError, RecordTask
from spark_udfs.records.spark_answers import call_of
from spark_udfs.stitch.stitch_global import stitch_globally
from spark_udfs.tasks.metrics import reports_of
from spark_udfs.tasks.schema_drift import evolving_format, watch_with
from spark_udfs.tasks.siblings import remember, with_siblings
from spark_udfs.types.named_columns import kept_fields

Stitch = Literal["auto", "origin", "global", "none"]


def parse(
    df: DataFrame,
    format: Any,
    *,
    columns: Columns = None,
    filters: Any = None,
    origin: str = "origin",
    sequence: str = "sequence",
    payload: str = "payload",
    on_error: OnError | RecordOnError | None = None,
    stitch: Stitch = "auto",
    unit: Literal["chunk", "record"] = "chunk",
    keep: Sequence[str] = (),
    error: str | None = "error",
    max_errors: int | float | None = None,
    schema: pa.Schema | StructType | str | None = None,
    options: Mapping[str, Any] | None = None,
    format_column: str | None = None,
    rescue: str | None = None,
    evolve: fm.SchemaWatch | None = None,
    compat: Literal["spark"] | None = None,
) -> DataFrame:
    """Records of the chunks in a DataFrame; or (unit="record") one record a payload.

    Args:
        df: Rows of chunks: (origin, sequence, payload); of payloads, for records.
        format: Any of `fm`; "csv", "json" or a registered name with `schema` and `options`, as for `su.read`. A dict of
            formats of one schema, where chunks have several: `format_column` says which.
        columns: As for `fm.read`.
        filters: As for `fm.read`.
        origin: The column that tells which input a chunk is of.
        sequence: The column with its number in it: 1, 2, 3, ...
        payload: The column of bytes or text.
        on_error: "raise" (None), "null", "skip", or "collect": then `su.rejects(df)` has the rejected records. For records "null"
            (None), where the column `error` says what was wrong.
        stitch: "origin" brings each origin whole into one task (one shuffle); "global" parses every chunk where it is, for
            which a job looks over df right away and what is open at the chunks' ends is kept; "none" takes every chunk as whole
            records; "auto" is "origin", without the shuffle where the plan shows that each origin is in one partition already.
        unit: "chunk" or "record".
        keep: Other columns of df that go along; under "origin" each must be constant for an origin, under "global" a record
            has those of the chunk it ends in, origin and sequence included.
        error: What the column of errors is called, for records. None: none.
        max_errors: For chunks, how many of a task's records may be bad, or which share of them (a float): more fail it.
        schema: With a format by name, as for `su.read`.
        options: With a format by name, as for `su.read`.
        format_column: With a dict of formats: the column whose value is a key of it, the same for all chunks of an origin. None:
            that of the origin.
        rescue: As for `fm.read`: the name of a column of what had no column or did not fit.
        evolve: A watch, by whose format is parsed, and which notices what that lacks (`su.run_evolving` follows it). With
            policy "fail" the task that notices raises `fm.DriftError`.
        compat: For records, as for `su.parse_column`.

    Returns:
        A DataFrame of the parsed columns, then those kept, then the error.

    Raises:
        OptionError: An option is out of its range, or has no meaning here.
        SchemaError: A column that is not there, or a type that Spark or the format cannot have.

    Example:
        >>> import formatter as fm, pyarrow as pa, spark_udfs as su
        >>> rows = [("a", 2, bytearray(b"slo\\n")), ("a", 1, bytearray(b"1,O"))]
        >>> chunks = spark.createDataFrame(rows, "origin STRING, sequence BIGINT, payload BINARY")
        >>> su.parse(chunks, fm.Csv(pa.schema([("id", pa.int64()), ("city", pa.string())]))).first()
        Row(id=1, city='Oslo')
    """
    attach_if_configured(df.sparkSession)
    named_error = None if error == "error" else error
    if require_compat(compat, on_error=on_error, error=named_error, rescue=rescue, evolve=evolve, filters=filters):
        if unit != "record":
            raise fm.OptionError("spark: compat='spark' is for unit='record', as from_json and from_csv are")
        require_payload(df, payload)
        return as_columns(df, payload, call_of(format, schema, options, columns), kept_fields(df, keep).names)
    if isinstance(format, Mapping) and unit == "chunk":
        format = ChunkFormats.of(df, format, format_column or origin, rescue)
    elif format_column is not None:
        raise fm.OptionError("spark: format_column= goes with a dict of formats, and with chunks")
    else:
        format, on_error = of_values(
            format, schema, options, on_error, zone_of(df.sparkSession), is_record=unit == "record"
        )
        format = with_rescue(format, rescue)
    if evolve is not None:
        format = evolving_format(format, evolve)
    format, columns = asked_as(format, columns)
    if unit == "record":
        if stitch != "auto":
            raise fm.OptionError(
                f"spark: stitch={stitch!r} is for chunks; with unit='record' nothing is to be stitched"
            )
        if max_errors is not None:
            raise fm.OptionError(
                "spark: max_errors= is for chunks; records say what is wrong with them in the error column"
            )
        require_payload(df, payload)
        records = RecordTask(
            format, payload, keep=kept_fields(df, keep), columns=columns, filters=filters,
            on_error=on_error or "null", error=error,
        )  # fmt: skip
        if evolve is not None:
            watch_with(df.sparkSession, records, evolve, columns)
        return with_records(df, records)
    if unit != "chunk":
        raise fm.OptionError(f"spark: unit is 'chunk' or 'record', found {unit!r}")
    # Rejects are another query's to find (siblings.py); this one leaves them out.
    on_error = "skip" if on_error == "collect" else on_error or "raise"
    if stitch not in get_args(Stitch):
        raise fm.OptionError(f"spark: stitch is one of {', '.join(map(repr, get_args(Stitch)))}, found {stitch!r}")
    names = ChunkColumns(origin, sequence, payload)
    names.require(df)
    task = ParseTask(
        format, names, columns=columns, filters=filters, on_error=on_error, keep=kept_fields(df, keep),
        arrival="aligned" if stitch == "none" else "grouped",
    )  # fmt: skip
    task.bear(max_errors, on_error)
    if evolve is not None:
        if stitch == "global":
            raise fm.OptionError("spark: evolve= is not for stitch='global'; take 'origin'")
        watch_with(df.sparkSession, task, evolve, columns)
    task.reports = reports_of(df.sparkSession, f"parse {format.kind}, stitch {stitch}")
    told = [format.column] if isinstance(format, ChunkFormats) else []
    chunks = df.select(*dict.fromkeys([*names.names, *told, *keep]))
    if stitch == "none":
        return with_siblings(chunks, task)
    is_together = stitch == "auto" and _comes_by_origin(chunks, origin)
    together = (chunks if is_together else chunks.repartition(origin)).sortWithinPartitions(origin, sequence)
    if stitch == "global":
        return remember(stitch_globally(chunks, task), together, task)
    return with_siblings(together, task)


def _comes_by_origin(df: DataFrame, origin: str) -> bool:
    """Whether the plan shows that no origin is in two partitions. A Connect client cannot see it and answers False."""
    if not has_jvm(df.sparkSession) or df.isStreaming:
        return False
    found = df._jdf.queryExecution().sparkPlan().outputPartitioning().toString()
    by_origin = rf"(hash|range)partitioning\({re.escape(origin)}#\d+L?( ASC NULLS \w+| DESC NULLS \w+)?, \d+\)"
    return found == "SinglePartition" or re.fullmatch(by_origin, found) is not None
