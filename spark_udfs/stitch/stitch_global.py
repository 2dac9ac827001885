"""Chunks that stay where they are, whatever the partitioning: only what is open at their ends travels.

In: rows (origin, sequence, payload) anywhere. Out: the records of the whole origins, each once, from the task that has the
chunk it ends in. A first job surveys the chunks (chunk_survey.py) when the query is made; the driver works out each one's
place (placed_chunks.py), and by that every chunk is parsed alone, lazily, in one stage without a shuffle. The chunks have to
be the same both times; those that are not are errors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

import formatter as fm
from formatter import _core, diagnostics
from formatter.buffers import addresses_of
from formatter.plans import DecodePlan, make_plan
from spark_udfs.chunks.chunk_formats import ChunkFormats
from spark_udfs.chunks.parse_task import ParseTask
from spark_udfs.jvm.session_jvm import has_jvm
from spark_udfs.stitch.chunk_survey import fixed_width, has_header, second_looks, survey_of
from spark_udfs.stitch.placed_chunks import PlacedChunks, looked_again, placed
from spark_udfs.stitch.unmoved import unmoved
from spark_udfs.tasks.counted_task import CountedTask
from spark_udfs.tasks.sent_functions import mapped

MAX_ROWS = 65_536
MAX_BATCH_BYTES = 16 << 20
BROADCAST_BYTES = 1 << 20  # what is larger is sent once an executor, not once a task


def stitch_globally(chunks: DataFrame, task: ParseTask) -> DataFrame:
    """The records of `chunks` as `task` describes them. The survey runs now, parsing when an action does."""
    _require_delimited(task.format)
    if chunks.isStreaming:
        raise fm.OptionError(
            "spark: stitch='global' looks at all chunks before it parses one, and a stream has no last; use su.parse_stream"
        )
    bare = chunks if chunks.columns == list(task.names.names) else chunks.select(*task.names.names)
    return mapped(chunks, GlobalParse(task, _sent(chunks, _placed(unmoved(bare), task))), task.schema)


def _placed(chunks: DataFrame, task: ParseTask) -> PlacedChunks:
    surveyed = survey_of(chunks, task.format, task.names)
    found = placed(surveyed, task.format, task.names)
    if isinstance(found, pa.Table):  # rare: nothing near its start told that a chunk begins inside quotes
        looks = second_looks(chunks, found, task.format, task.names)
        found = placed(looked_again(surveyed, found, looks), task.format, task.names)
    if isinstance(found, pa.Table):
        raise fm.OptionError("spark: stitch='global' got other chunks at its second look; cache the DataFrame first")
    return found


def _sent(chunks: DataFrame, found: PlacedChunks) -> Any:
    """As they travel with a task: themselves, or a broadcast of them."""
    if found.nbytes < BROADCAST_BYTES or not has_jvm(chunks.sparkSession):
        return found
    return chunks.sparkSession.sparkContext.broadcast(found)


def _require_delimited(format: Any) -> None:
    """Only where a few bytes, or none, tell a record's end can a chunk be surveyed without its neighbours."""
    found = "several formats" if isinstance(format, ChunkFormats) else type(format).__name__
    if isinstance(format, fm.Csv) and format.encoding != "utf-8":
        found = f"encoding={format.encoding!r}"
    elif isinstance(format, fm.Csv) and (
        format.skip_lines or format.skip_records or format.header not in (True, False)
    ):
        found = "more than a header's line in front of the records"
    elif isinstance(format, fm.Csv) and (format.is_bounded or format.skip_footer or format.table_end):
        found = "max_quoted_lines, max_quoted_bytes, skip_footer or table_end"
    elif isinstance(format, fm.Json) and format.records != "lines":
        found = f"records={format.records!r}"
    elif isinstance(format, fm.Csv | fm.Json) or fixed_width(format):
        return
    raise fm.OptionError(
        "spark: stitch='global' is for UTF-8 text with a delimiter behind each record, and rows of one width, "
        f"found {found}; use stitch='origin'"
    )


class GlobalParse(CountedTask):
    """For mapInArrow over chunks. Every batch of chunks becomes batches of records by itself."""

    __name__ = "formatter.parse"  # in query plans; pushdown_rule.java knows what is ours by it

    def __init__(self, task: ParseTask, sent: Any) -> None:
        self.task = task
        self.sent = sent
        self.reports = task.reports
        self.max_errors = task.max_errors

    def narrowed(self, task: ParseTask) -> GlobalParse:
        return GlobalParse(task, self.sent)

    def run(self) -> GlobalRun:
        chunks = self.sent if isinstance(self.sent, PlacedChunks) else self.sent.value
        if chunks.error is not None:
            raise chunks.error
        return GlobalRun(self.task, chunks)

    def delivered(self, rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return self.task.delivered(rows)


class GlobalRun:
    """The records of the chunks that a task gets, and what they gave."""

    def __init__(self, task: ParseTask, chunks: PlacedChunks) -> None:
        self._task = task
        self._chunks = chunks
        self._counts: Counter[str] = Counter()
        self._readers: dict[bytes | None, tuple[DecodePlan, Any]] = {}  # by header

    def counts(self) -> Iterable[Mapping[str, int]]:
        return [self._counts]

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            origins, sequences, payloads = self._task.names.checked(batch)
            if len(payloads) == 0:
                continue
            addresses, sizes, _, _ = addresses_of(payloads)
            places, headers = self._chunks.of(origins, sequences, sizes.astype(np.int64))
            self._counts["bytes"] += int(sizes.sum())
            wanted = places["wanted"]
            for header in dict.fromkeys(headers):
                mine = np.array([each == header for each in headers])[wanted] if len(headers) > 1 else slice(None)
                rows = np.flatnonzero(wanted)[mine]
                yield from self._read(batch, header, rows, addresses[rows], sizes[rows], places[rows])

    def _reader(self, header: bytes | None) -> tuple[DecodePlan, Any]:
        if header not in self._readers:
            task = self._task
            plain = task.format.body if header is None and has_header(task.format) else task.format
            decode = make_plan(plain, columns=task.columns, filters_wanted=task.filters, on_error=task.on_error)
            engine = decode.engine if header is None else decode.engine.read_header(header)[0]
            reader = _core.ChunkReader(
                engine, max_rows=MAX_ROWS, max_batch_bytes=MAX_BATCH_BYTES, count_rows=bool(task.keep)
            )
            self._readers[header] = decode, reader
        return self._readers[header]

    def _read(
        self, batch: pa.RecordBatch, header: bytes | None, rows: Any, addresses: Any, sizes: Any, places: Any
    ) -> Iterator[pa.RecordBatch]:
        """The records of some rows of a batch, which have these places."""
        task = self._task
        decode, reader = self._reader(header)
        carries = (places["carry_begin"] + self._chunks.tails.address).astype(np.uint64)
        parsed = ("state", "begin", "ends_stream", "starts_stream")
        arrays, findings, rows_through, counts = reader.read(
            addresses, sizes, carries, places["carry_size"].astype(np.uint64),
            *(np.ascontiguousarray(places[name]) for name in parsed),
            np.ascontiguousarray(places["byte_offset"]),
        )  # fmt: skip
        self._counts.update(counts)
        for chunk, finding in sorted(findings, key=lambda found: (found[0], found[1].byte_offset)):
            if task.on_error == "raise" or diagnostics.always_raised(finding.code):
                raise self._described(finding, decode, batch, int(rows[chunk]))
        row_of = np.repeat(rows, np.diff(rows_through, prepend=0)) if task.keep else rows  # the chunk a record ends in
        taken = 0
        for array in arrays:
            for part in task.parts(decode.batch(array)):
                ends_in = pa.array(row_of[taken : taken + part.num_rows])
                taken += part.num_rows
                yield task.beside(part, [batch.column(name).take(ends_in) for name in task.keep])

    def _described(self, finding: Any, decode: DecodePlan, batch: pa.RecordBatch, row: int) -> fm.FormatError:
        """Bytes are counted in the origin; records only in the chunk, since no task sees those before it."""
        origin, sequence = (batch.column(name)[row].as_py() for name in self._task.names.names[:2])
        found = diagnostics.describe(finding, self._task.format, decode.engine.column_names, origin=origin)
        text = str(found).replace(f"record {found.record}", f"record {found.record} of chunk {sequence}", 1)
        return fm.FormatError(
            f"origin {origin!r}: {text}", code=found.code, origin=origin, sequence=sequence,
            byte_offset=found.byte_offset, column=found.column, expected=found.expected, found=found.found,
        )  # fmt: skip
