"""What runs inside a Spark task: batches of chunk rows in, batches of parsed rows out.

In: a format, a projection, and the chunk columns' names, all fixed and checked on the driver. Out: a callable for
df.mapInArrow with the `.schema` it yields. One stream per task, so chunks may come in any order within the task; the
caller sees to it that all chunks of an origin reach one task (see parsing.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.chunks.chunk_formats import ChunkFormats, OriginFormats, body_of
from spark_udfs.chunks.chunk_rows import ChunkColumns, KeptColumns
from spark_udfs.tasks.counted_task import CountedTask
from spark_udfs.tasks.hand_over import ROWS_PER_BATCH, handed_over
from spark_udfs.tasks.rejects import rejects_in_spark
from spark_udfs.types.arrow_schema import arrow_schema
from spark_udfs.types.named_columns import require_list
from spark_udfs.types.spark_types import SparkColumns

OnError = Literal["raise", "null", "skip"]
Arrival = Literal["any", "grouped", "aligned"]

CHUNKS_PER_STREAM = 4_096  # a stream remembers its finished origins; with one a chunk, it is renewed now and then


def parse_udf(
    format: Any,
    *,
    columns: Sequence[str] | None = None,
    filters: Any = None,
    origin: str = "origin",
    sequence: str = "sequence",
    payload: str = "payload",
    on_error: OnError = "raise",
    keep: StructType | None = None,
) -> ParseTask:
    """A function for `df.mapInArrow(udf, udf.schema)`: all chunks of an origin must be in one partition, in any order.

    Args:
        format: As for `su.parse`.
        columns: As for `fm.read`.
        filters: As for `fm.read`.
        origin: As for `su.parse`.
        sequence: As for `su.parse`.
        payload: As for `su.parse`.
        on_error: "raise", "null", "skip" or "collect".
        keep: Fields of df, each constant for an origin, that go along beside the parsed columns.

    Returns:
        A picklable function with the `schema` of what it yields.

    Raises:
        OptionError: An option is out of its range, or has no meaning here.
        SchemaError: A column that is not there, or a type that Spark or the format cannot have.

    Example:
        >>> import formatter as fm, pyarrow as pa, spark_udfs as su
        >>> chunks = spark.createDataFrame([("a", 1, bytearray(b"1\\n"))], "origin STRING, sequence BIGINT, payload BINARY")
        >>> udf = su.parse_udf(fm.Csv(pa.schema([("id", pa.int64())])))
        >>> chunks.repartition("origin").mapInArrow(udf, udf.schema).first()
        Row(id=1)
    """
    names = ChunkColumns(origin, sequence, payload)
    return ParseTask(format, names, columns=columns, filters=filters, on_error=on_error, keep=keep)


class ParseTask(CountedTask):
    __name__ = "formatter.parse"  # in query plans; pushdown_rule.java knows what is ours by it

    def __init__(
        self,
        format: Any,
        names: ChunkColumns,
        *,
        columns: Sequence[str] | None,
        filters: Any,
        on_error: OnError,
        keep: StructType | None,
        arrival: Arrival = "any",
    ) -> None:
        if on_error not in ("raise", "null", "skip"):
            raise fm.OptionError(f"spark: on_error is 'raise', 'null' or 'skip' in a Spark task, found {on_error!r}")
        require_list("columns", columns)
        self.format = format
        self.names = names
        self.columns = None if columns is None else tuple(columns)
        self.filters = filters
        self.on_error = on_error
        self.arrival = arrival
        self.stream(
            format.formats if isinstance(format, ChunkFormats) else format
        )  # an unknown column, a filter of the wrong type, a bad option: all raise here
        kept = StructType() if keep is None else keep
        parsed = format.schema.names if columns is None else columns
        if repeated := set(kept.names) & set(parsed):
            raise fm.SchemaError(f"spark: keep= and the parsed columns both have {min(repeated)!r}; rename one of them")
        self._yield(parsed, kept)

    def _yield(self, parsed: Sequence[str], kept: StructType) -> None:
        self.keep = tuple(kept.names)
        self.kept_schema = pa.schema([field.remove_metadata() for field in arrow_schema(kept)])
        self._parsed = SparkColumns.of(pa.schema([self.format.schema.field(name) for name in parsed]))
        self.arrow_output = pa.schema([*self._parsed.arrow, *self.kept_schema])
        self.schema = StructType([*self._parsed.struct.fields, *kept.fields])

    def narrowed(self, columns: Sequence[str], keep: Sequence[str], filters: Any) -> ParseTask:
        """The same task that yields only these of its columns, and decodes no others."""
        narrow = copy(self)
        narrow.columns, narrow.filters = tuple(columns), filters
        narrow._yield(columns, StructType([self.schema[name] for name in keep]))
        return narrow

    def stream(self, format: Any) -> fm.Stream:
        # What is passed over is the task's to count, and no stream's of it to tell.
        quiet = None if self.on_error == "raise" else 1.0
        return fm.Stream(format, columns=self.columns, filters=self.filters, on_error=self.on_error, max_errors=quiet)

    def run(self) -> ParseRun:
        return ParseRun(self)

    def delivered(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return handed_over(rows, self.arrow_output)

    def rejects(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The records that are no rows, or not whole ones, and why."""
        collecting = copy(self)
        collecting.on_error = "collect"  # type: ignore[assignment]
        run = ParseRun(collecting)
        for _ in run.rows(batches):
            yield from run.rejects()
        yield from run.rejects()

    def parts(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Parsed rows in the types that were declared to Spark, in batches of a size that suits it."""
        for start in range(0, rows.num_rows, ROWS_PER_BATCH):
            yield self._parsed.convert(rows.slice(start, ROWS_PER_BATCH))

    def beside(self, rows: pa.RecordBatch, kept: list[pa.Array]) -> pa.RecordBatch:
        """Converted rows with the columns of keep= beside them."""
        return pa.RecordBatch.from_arrays([*rows.columns, *kept], schema=self.arrow_output) if kept else rows


class ParseRun:
    """The rows of a task's chunks as they are parsed, on the caller's thread, and the streams that know what they met."""

    def __init__(self, task: ParseTask) -> None:
        self._task = task
        self._kept = KeptColumns(task.keep)
        self._formats = OriginFormats()
        self._streams: list[fm.Stream] = []

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self._aligned(batches) if self._task.arrival == "aligned" else self._stitched(batches)

    def counts(self) -> Iterator[dict[str, Any]]:
        return (asdict(stream.stats) for stream in self._streams)

    def rejects(self) -> Iterator[pa.RecordBatch]:
        for stream in self._streams:
            yield from rejects_in_spark(stream.rejects())

    def _stream(self, format: Any) -> fm.Stream:
        self._streams.append(self._task.stream(self._formats.of(format)))
        return self._streams[-1]

    def _stitched(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        stream = self._stream(self._task.format)
        before: int | str | None = None
        for batch in batches:
            for origin, first_row, sequences, payloads in self._task.names.runs(batch):
                if self._task.arrival == "grouped" and before is not None and origin != before:
                    yield from self._output_of(stream.finish(origin=before))
                    self._kept.forget(before)
                before = origin
                self._kept.learn(origin, batch, range(first_row, first_row + len(payloads)))
                self._formats.learn(self._task.format, origin, batch, first_row, len(payloads))
                yield from self._output_of(stream.push_many(payloads, sequences=sequences, origins=origin))
        yield from self._output_of(stream.finish_all())

    def _aligned(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Each chunk is whole records: an origin of its own, so that nothing ever waits for a neighbour."""
        format = self._task.format
        later_format = body_of(format)
        chunks = (
            (batch, row, origin, sequence, payload)
            for batch in batches
            for origin, first_row, sequences, payloads in self._task.names.runs(batch)
            for row, (sequence, payload) in enumerate(zip(sequences.tolist(), payloads, strict=True), first_row)
        )
        for count, (batch, row, origin, sequence, payload) in enumerate(chunks):
            if count % CHUNKS_PER_STREAM == 0:
                first = self._stream(format)
                later = first if later_format is format else self._stream(later_format)
            stream = first if sequence == 1 else later
            chunk = f"{origin}, chunk {sequence}, row {count + 1}"
            self._kept.learn(chunk, batch, (row,))
            self._formats.learn(format, chunk, batch, row, 1)
            yield from self._output_of(stream.push(payload.as_buffer(), sequence=1, origin=chunk))
            yield from self._output_of(stream.finish(origin=chunk))
            self._kept.forget(chunk)

    def _output_of(self, parsed: Iterable[fm.Batch]) -> Iterator[pa.RecordBatch]:
        for batch in parsed:
            for part in self._task.parts(batch.data):
                yield self._task.beside(part, self._kept.arrays(batch.origin, part.num_rows))
