"""What runs inside a Spark task: batches of chunk rows in, batches of parsed rows out.

In: a format, a projection, and the chunk columns' names, all fixed and checked on the driver. Out: a callable for
df.mapInArrow with the `.schema` it yields. One stream per task, so chunks may come in any order within the task; the
caller sees to it that all chunks of an origin reach one task (see frames.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import asdict, replace
from typing import Any, Literal

import pyarrow as pa
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.chunks.chunk_rows import ChunkColumns, RidingColumns
from spark_udfs.tasks.hand_over import ROWS_PER_BATCH, handed_over
from spark_udfs.tasks.metrics import Measure, Reports, metrics_batch
from spark_udfs.tasks.rejects import rejects_in_spark
from spark_udfs.tasks.worker_process import settle
from spark_udfs.types.arrow_schema import arrow_schema
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
    """For `df.mapInArrow(udf, udf.schema)`. Every chunk of an origin must be in one partition, in any order.

    keep: fields of df, each constant for an origin, that go along beside the parsed columns.
    """
    names = ChunkColumns(origin, sequence, payload)
    return ParseTask(format, names, columns=columns, filters=filters, on_error=on_error, keep=keep)


class ParseTask:
    """Picklable; carries options only. What is wrong with them is said when it is made, not in a task."""

    __name__ = "formatter.parse"  # in plans; pushdown_rule.java knows what is ours by it
    reports: Reports | None = None  # where tasks report, if anywhere

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
        if isinstance(columns, str):
            raise fm.OptionError(f"spark: columns is a list of names, found the string {columns!r}")
        self.format = format
        self.names = names
        self.columns = None if columns is None else tuple(columns)
        self.filters = filters
        self.on_error = on_error
        self.keep = () if keep is None else tuple(keep.names)
        self.arrival = arrival
        self._stream(format)  # an unknown column, a filter of the wrong type, a bad option: all raise here
        parsed = format.schema if columns is None else pa.schema([format.schema.field(name) for name in columns])
        if repeated := set(self.keep) & set(parsed.names):
            raise fm.SchemaError(f"spark: keep= and the parsed columns both have {min(repeated)!r}; rename one of them")
        self._parsed = SparkColumns.of(parsed)
        riding = [] if keep is None else list(arrow_schema(keep))
        self.riding_schema = pa.schema([field.remove_metadata() for field in riding])
        self._output = pa.schema([*self._parsed.arrow, *self.riding_schema])
        self.schema = StructType([*self._parsed.struct.fields, *([] if keep is None else keep.fields)])

    def restrict(self, columns: Sequence[str], keep: Sequence[str]) -> None:
        """From now on yields only these of its columns."""
        fields = [*columns, *keep]
        self.columns, self.keep = tuple(columns), tuple(keep)
        self._parsed = SparkColumns.of(pa.schema([self.format.schema.field(name) for name in columns]))
        self._output = pa.schema([self._output.field(name) for name in fields])
        self.schema = StructType([self.schema[name] for name in fields])

    def _stream(self, format: Any) -> fm.Stream:
        return fm.Stream(format, columns=self.columns, filters=self.filters, on_error=self.on_error)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle()
        run = ParseRun(self)
        measure = Measure(self.reports)
        yield from handed_over(measure.timed(run.rows(batches)), self._output)
        measure.report(run.counts())

    def measured(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """One row of counts for what this task parses."""
        run = ParseRun(self)
        measure = Measure(None)
        for _ in measure.timed(run.rows(batches)):
            pass
        yield metrics_batch([measure.counted(run.counts())])

    def rejects(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The records that are no rows, or not whole ones, and why."""
        collecting = copy(self)
        collecting.on_error = "collect"  # type: ignore[assignment]
        run = ParseRun(collecting)
        for _ in run.rows(batches):
            yield from run.rejects()
        yield from run.rejects()

    def rows(
        self, batches: Iterable[pa.RecordBatch], stream_of: Callable[[Any], fm.Stream] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The same rows as they are parsed, on the caller's thread, by streams of the caller's if it wants to ask them."""
        stream_of = stream_of or self._stream
        if self.arrival == "aligned":
            return self._aligned(batches, stream_of)
        return self._stitched(batches, stream_of(self.format))

    def _stitched(self, batches: Iterable[pa.RecordBatch], stream: fm.Stream) -> Iterator[pa.RecordBatch]:
        riding = RidingColumns(self.keep)
        before: int | str | None = None
        for batch in batches:
            for origin, first_row, sequences, payloads in self.names.runs(batch):
                if self.arrival == "grouped" and before is not None and origin != before:
                    yield from self._output_of(stream.finish(origin=before), riding)
                    riding.forget(before)
                before = origin
                for row in range(first_row, first_row + len(payloads)) if self.keep else ():
                    riding.learn(origin, batch, row)
                yield from self._output_of(stream.push_many(payloads, sequences=sequences, origins=origin), riding)
        yield from self._output_of(stream.finish_all(), riding)

    def _aligned(
        self, batches: Iterable[pa.RecordBatch], stream_of: Callable[[Any], fm.Stream]
    ) -> Iterator[pa.RecordBatch]:
        """Each chunk is whole records: an origin of its own, so that nothing ever waits for a neighbour."""
        later_format = replace(self.format, header=False) if getattr(self.format, "header", False) else self.format
        riding = RidingColumns(self.keep)
        chunk_count = 0
        for batch in batches:
            for row, (origin, sequence, payload) in enumerate(self.names.rows(batch)):
                if chunk_count % CHUNKS_PER_STREAM == 0:
                    first = stream_of(self.format)
                    later = first if later_format is self.format else stream_of(later_format)
                chunk_count += 1
                stream = first if sequence == 1 else later
                chunk = f"{origin}, chunk {sequence}, row {chunk_count}"
                riding.learn(chunk, batch, row)
                yield from self._output_of(stream.push(payload, sequence=1, origin=chunk), riding)
                yield from self._output_of(stream.finish(origin=chunk), riding)
                riding.forget(chunk)

    def _output_of(self, parsed: Iterable[fm.Batch], riding: RidingColumns) -> Iterator[pa.RecordBatch]:
        for batch in parsed:
            for part in self.parts(batch.data):
                yield self.beside(part, riding.arrays(batch.origin, part.num_rows))

    @property
    def schema_of_output(self) -> pa.Schema:
        return self._output

    def parts(self, rows: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Parsed rows in the types that were declared to Spark, in batches of a size that suits it."""
        for start in range(0, rows.num_rows, ROWS_PER_BATCH):
            yield self._parsed.convert(rows.slice(start, ROWS_PER_BATCH))

    def beside(self, rows: pa.RecordBatch, riding: list[pa.Array]) -> pa.RecordBatch:
        """Converted rows with the columns of keep= beside them."""
        return pa.RecordBatch.from_arrays([*rows.columns, *riding], schema=self._output) if riding else rows


class ParseRun:
    """One run of a task: the streams it has made, which know what they met."""

    def __init__(self, task: ParseTask) -> None:
        self._task = task
        self._streams: list[fm.Stream] = []

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self._task.rows(batches, self._made)

    def counts(self) -> Iterator[dict[str, Any]]:
        return (asdict(stream.stats) for stream in self._streams)

    def rejects(self) -> Iterator[pa.RecordBatch]:
        for stream in self._streams:
            yield from rejects_in_spark(stream.rejects())

    def _made(self, format: Any) -> fm.Stream:
        self._streams.append(self._task._stream(format))
        return self._streams[-1]
