"""Records of a streaming DataFrame of chunks, with records that span micro-batches, each exactly once across restarts.

In: streaming rows (origin, sequence, payload). Out: a streaming DataFrame of the parsed columns. The chunks of an origin
come together in one task of each micro-batch; what is open at its end is Spark's state (origin_state.py), read and written
once per origin and micro-batch. Rows leave the stateful step as Arrow messages, so no value passes through pandas.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as f
from pyspark.sql.streaming.state import GroupState, GroupStateTimeout
from pyspark.sql.types import BooleanType, IntegralType, StructType

import formatter as fm
from formatter.plans import with_rescue
from spark_udfs.chunks.chunk_formats import ChunkFormats, OriginFormats
from spark_udfs.chunks.chunk_rows import PREFIX, ChunkColumns, KeptColumns, null_chunk
from spark_udfs.chunks.parse_task import OnError, ParseTask
from spark_udfs.streams.origin_state import OriginState, Policies, Progress
from spark_udfs.tasks.sent_functions import Sent, mapped, told_plainly, without_pandas_notice
from spark_udfs.types.arrow_schema import arrow_schema
from spark_udfs.types.named_columns import kept_fields, require_columns

STATE_DDL = "about STRING, checkpoint BINARY, kept BINARY"
MESSAGE_DDL = "rows BINARY"
DURATION_MS = {"millisecond": 1, "second": 1_000, "minute": 60_000, "hour": 3_600_000, "day": 86_400_000}


def parse_stream(
    df: DataFrame,
    format: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    origin: str = "origin",
    sequence: str = "sequence",
    payload: str = "payload",
    on_error: OnError = "raise",
    keep: Sequence[str] = (),
    end: str | None = None,
    last_sequence: str | None = None,
    on_duplicate: str = "ignore",
    late: str = "ignore",
    missing: str = "wait",
    missing_after: int | str | None = None,
    format_column: str | None = None,
    rescue: str | None = None,
) -> DataFrame:
    """Records of the chunks in a streaming DataFrame; they may span micro-batches.

    Args:
        df: Rows of chunks, streaming: (origin, sequence, payload).
        format: As for `su.parse`; of a dict of formats the keys are text or whole numbers.
        columns: As for `fm.read`.
        filters: As for `fm.read`.
        origin: As for `su.parse`.
        sequence: As for `su.parse`.
        payload: As for `su.parse`.
        on_error: "raise", "null" or "skip".
        keep: Other columns, constant for an origin.
        end: A boolean column, true in an origin's last chunk: lets its unterminated last record out, and ends it.
        last_sequence: In place of `end`: a column with the number of the origin's last chunk, null while unknown.
        on_duplicate: Chunks delivered again: "ignore" or "raise".
        late: Chunks behind an origin's end, or given up before: "ignore" or "raise".
        missing: "wait", or "lost" or "raise" once chunks are missing for `missing_after`.
        missing_after: So many micro-batches of their origin (a number), or for a time ("30 seconds").
        format_column: As for `su.parse`. An origin keeps its format from its first chunk on, in every micro-batch.
        rescue: As for `su.parse`.

    Returns:
        A streaming DataFrame of the parsed columns, then those kept.

    Raises:
        OptionError: An option is out of its range, or has no meaning here.
        SchemaError: A column that is not there, or a type that Spark or the format cannot have.

    Example:
        >>> import tempfile, formatter as fm, pyarrow as pa, spark_udfs as su
        >>> su.register_chunks(spark)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = open(f"{folder}/a.csv", "w").write("1\\n2\\n")
        ...     chunks = spark.readStream.format("formatter_chunks").load(folder)
        ...     df = su.parse_stream(chunks, fm.Csv(pa.schema([("id", pa.int64())])), last_sequence="last_sequence")
        ...     df.schema.simpleString()
        'struct<id:bigint>'
    """
    if not df.isStreaming:
        raise fm.OptionError("parse_stream: expected a streaming DataFrame; su.parse() takes the others")
    if isinstance(format, Mapping):
        format = ChunkFormats.of(df, format, format_column or origin, rescue)
        _require_plain_keys(format)
    elif format_column is not None:
        raise fm.OptionError("spark: format_column= goes with a dict of formats")
    else:
        format = with_rescue(format, rescue)
    names = ChunkColumns(origin, sequence, payload)
    names.require(df)
    policies = Policies(late, missing, _waiting(missing_after), on_duplicate, on_error)
    task = ParseTask(format, names, columns=columns, filters=filters, on_error=on_error, keep=kept_fields(df, keep))
    last = _last_sequence(df, sequence, end, last_sequence)
    inner = {"origin": f.col(origin), "sequence": f.col(sequence).cast("bigint"), "payload": f.col(payload)}
    inner["last_sequence"] = last
    told = [df.schema[format.column]] if isinstance(format, ChunkFormats) else []
    for field in told:
        inner["format"] = f.col(field.name)
    chunks = df.select(*(column.alias(PREFIX + name) for name, column in inner.items()), *keep)
    stitch = StitchBatches(task, policies, arrow_schema(StructType(told)))
    timeout = GroupStateTimeout.ProcessingTimeTimeout if stitch.by_time else GroupStateTimeout.NoTimeout
    by_origin = chunks.groupBy(f"{PREFIX}origin")
    with without_pandas_notice():
        messages = by_origin.applyInPandasWithState(Sent(stitch), MESSAGE_DDL, STATE_DDL, "append", timeout)
    return mapped(messages, ReadMessages(task.arrow_output), task.schema)


def _waiting(missing_after: int | str | None) -> int | float | None:
    """Micro-batches as they are; a time in milliseconds, as a float."""
    if missing_after is None or (isinstance(missing_after, int) and not isinstance(missing_after, bool)):
        return missing_after
    found = re.fullmatch(r"\s*(\d+)\s*([a-z]+?)s?\s*", missing_after) if isinstance(missing_after, str) else None
    if found is None or found[2] not in DURATION_MS:
        raise fm.OptionError(
            f"parse_stream: missing_after: expected a number of micro-batches or a time like '30 seconds', found "
            f"{missing_after!r}"
        )
    return float(found[1]) * DURATION_MS[found[2]]


def _last_sequence(df: DataFrame, sequence: str, end: str | None, last_sequence: str | None) -> Any:
    if end is not None and last_sequence is not None:
        raise fm.OptionError("parse_stream: end and last_sequence both tell an origin's end; give one of them")
    for option, name, kind in (("end", end, BooleanType), ("last_sequence", last_sequence, IntegralType)):
        if name is None:
            continue
        require_columns(df.columns, [(option, name)])
        if not isinstance(df.schema[name].dataType, kind):
            found = df.schema[name].dataType.simpleString()
            raise fm.SchemaError(f"spark: column {name!r}, named by {option}=, cannot be {found}")
    if end is not None:
        return f.when(f.col(end), f.col(sequence).cast("bigint"))
    return (f.col(last_sequence) if last_sequence is not None else f.lit(None)).cast("bigint")


def _require_plain_keys(format: ChunkFormats) -> None:
    """An origin's is kept in the query's state, as JSON."""
    for value in format.formats:
        if not isinstance(value, int | str):
            raise fm.OptionError(f"parse_stream: format: expected keys that are text or whole numbers, found {value!r}")


class StitchBatches:
    """For applyInPandasWithState: an origin's chunks of one micro-batch in, Arrow messages of its rows out. `told`: the column
    that tells their format, if they differ in it."""

    def __init__(self, task: ParseTask, policies: Policies, told: pa.Schema) -> None:
        self.task = task
        self.policies = policies
        self.told = told
        self.by_time = isinstance(policies.missing_after, float)

    @told_plainly
    def __call__(self, key: tuple[Any, ...], tables: Iterable[Any], state: GroupState) -> Iterator[Any]:
        import pandas  # Spark has made it for us by now; importing this package need not

        task = self.task
        options = {
            "columns": task.columns,
            "filters": task.filters,
            "on_error": task.on_error,
            "on_duplicate": "ignore",
            "max_errors": None
            if task.on_error == "raise"
            else 1.0,  # what is passed over is counted, and told by nobody else
        }
        name = key[0] if isinstance(key[0], str) else int(key[0])
        kept, formats, progress, checkpoint = KeptColumns(task.keep), OriginFormats(), Progress(), None
        if state.exists:
            about, checkpoint, kept_row = state.get
            progress = Progress.of(about)
            if progress.format is not None:
                formats.remembered(name, progress.format)
            if kept_row is not None:
                kept.learn(name, pa.ipc.open_stream(kept_row).read_next_batch(), (0,))
        sequences, payloads, last_sequence = [], [], None
        if not state.hasTimedOut:
            for table in tables:
                self._require_values(table)
                sequences += table[PREFIX + "sequence"].tolist()
                payloads += table[PREFIX + "payload"].tolist()
                announced = table[PREFIX + "last_sequence"].dropna()
                last_sequence = int(announced.iloc[0]) if len(announced) else last_sequence
                rows = pa.RecordBatch.from_pandas(table[list(task.keep)], task.kept_schema, preserve_index=False)
                kept.learn(name, rows, range(len(table)))
                told = [pa.Array.from_pandas(table[PREFIX + "format"], type=field.type) for field in self.told]
                formats.learn(task.format, name, pa.RecordBatch.from_arrays(told, schema=self.told), 0, len(table))
        progress.format = formats.value_of(name)
        origin = OriginState(name, formats.one(task.format, name), options, self.policies, progress, checkpoint)
        batches: list[fm.Batch] = []
        if not state.hasTimedOut:
            batches = origin.take(sequences, payloads, last_sequence)
        now = float(state.getCurrentProcessingTimeMs()) if self.by_time else float(origin.progress.turns)
        batches += origin.settle(now)
        parts = (part for batch in batches for part in task.parts(batch.data))
        messages = [_message(task.beside(part, kept.arrays(name, part.num_rows))) for part in parts]
        one_row = (
            [_message(pa.RecordBatch.from_arrays(kept.arrays(name, 1), schema=task.kept_schema))]
            if task.keep
            else [None]
        )
        state.update((*origin.save(), *one_row))
        if self.by_time and origin.waits:
            state.setTimeoutDuration(int(self.policies.missing_after or 0))
        if messages:
            yield pandas.DataFrame({"rows": messages})

    def _require_values(self, table: Any) -> None:
        for name, option in (("sequence", self.task.names.sequence), ("payload", self.task.names.payload)):
            if table[PREFIX + name].isna().any():
                raise null_chunk(option, "that of a chunk")


class ReadMessages:
    """For mapInArrow: Arrow messages in, their batches out."""

    def __init__(self, schema: pa.Schema) -> None:
        self.schema = schema

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for message in batch.column(0):
                for rows in pa.ipc.open_stream(message.as_buffer()):
                    yield pa.RecordBatch.from_arrays(rows.columns, schema=self.schema)


def _message(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())
