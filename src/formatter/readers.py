"""The front door for whole inputs: bytes, paths, file objects to tables and streams of batches.

An input is cut into ranges that threads of the engine read at once, the caller's thread among them. Each range guesses
where its first record starts; the range before it proves or disproves the guess, and only a disproved one is read again.
Batches leave in order.
"""

from __future__ import annotations

import os
from codecs import BOM_UTF8
from collections.abc import Generator, Iterator
from functools import cached_property
from typing import Any

import pyarrow as pa

from formatter import _core, diagnostics
from formatter.errors import OptionError
from formatter.filters import Filters
from formatter.footers import footer_of
from formatter.foreign_code import raise_kept
from formatter.formats import Csv, Json
from formatter.mistaken_arguments import named_options
from formatter.plans import DecodePlan, Format, make_plan, with_rescue
from formatter.sources import Input, Source, inputs
from formatter.tolerance import Tolerance
from formatter.variants import Columns

# Batches that leave one by one come from ranges that cost little to hand over and take little memory. A whole table is
# kept anyway: its ranges are as large as threads allow, which fewer of them cost less. The last ones are small, so that
# threads end together, but with many columns not too small: handing over takes microseconds, and one more for each.
RANGE_BYTES = 4 << 20
WHOLE_RANGE_BYTES = 32 << 20
SMALLEST_RANGE_BYTES = 512 << 10
SMALLEST_BYTES_A_COLUMN = 8 << 10
WINDOW_BYTES = 8 << 20  # per thread, for inputs that are read rather than looked at in place
ROWS_PER_BATCH = 65_536
HEAD_BYTES = 4096  # that show whether an input is an array
BYTES_PER_BATCH = 64 << 20


@named_options
def read(
    source: Source,
    format: Format,
    *,
    columns: Columns = None,
    filters: Filters = None,
    threads: int | None = None,
    on_error: str = "raise",
    codec: str | None = None,
    rejects: list[pa.Table] | None = None,
    max_errors: int | float | None = None,
    rescue: str | None = None,
) -> pa.Table:
    """The whole input as a table.

    Args:
        source: Bytes, a path, a sequence of paths, or a binary file object.
        format: How it is written: `fm.Csv`, `fm.Json`, `fm.Native`, `fm.Framed`, `fm.Delimited` (and `fm.declared`) or
            `fm.Registered`. `fm.infer` proposes one of a sample.
        columns: Names of the columns wanted, in the order wanted; only these are parsed. None: all of the schema. Of JSON also
            what each is to be read as: {"id": None, "v": "variant"}, where None is what the schema says.
        filters: Rows to keep: `[("price", ">", 10), ...]` all of which must hold, or a list of such lists any of which
            must. Operators: == != < <= > >= in, not in, is_null, is_not_null;
            of text starts_with, ends_with, contains.
        threads: How many read at once, the caller's among them. None: every core.
        on_error: What a bad value or record does: "raise" ends the reading; "null" makes the value null; "skip" drops the
            record; "collect" drops it and keeps it for `rejects`. What is passed over is told by one `fm.RejectsWarning`, unless
            `rejects` or `max_errors` is given.
        codec: How the bytes are compressed ("gzip", "zstd", ...). None: by the suffix of the path.
        rejects: A list that receives one table of rejected records an input (on_error="collect").
        max_errors: How many records may be bad, of all inputs together, or which share of them (a float): more are an
            error. A number ends the reading where it is passed, a share is judged at the end.
        rescue: Name of a column more: what of a record has no column or does not fit its type, as JSON, or null. As if the
            format named it.

    Returns:
        A `pyarrow.Table` of the columns wanted, rows in the order of the input.

    Raises:
        FormatError: The data is not what the format says (on_error="raise").
        TooManyErrors: More records are bad than `max_errors` allows.
        OptionError: An argument is out of its range.
        SchemaError: A column that the schema does not have, or a type that cannot be used that way.
        OSError: The source cannot be read.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("id", pa.int64()), ("city", pa.string()), ("price", pa.float64())])
        >>> data = b"1,Oslo,7.25\\n2,Rome,10.5\\n"
        >>> fm.read(data, fm.Csv(schema), columns=["city"], filters=[("price", ">", 10)]).to_pylist()
        [{'city': 'Rome'}]
    """
    tolerance = _tolerance(on_error, max_errors, rejects)
    plan = _plan(with_rescue(format, rescue), columns, filters, on_error)
    batches = list(_batches(source, plan, _thread_count(threads), codec, rejects, tolerance, WHOLE_RANGE_BYTES))
    table: pa.Table = _core.reserved_call(len(batches) * len(plan.schema), _table, (batches, plan.schema))
    return table


def _table(batches: list[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    table = pa.Table.from_batches(batches, schema=schema)
    # Batches that other threads made have dictionaries of their own; files and joins want one.
    coded = len(batches) > 1 and any(pa.types.is_dictionary(kind) for kind in schema.types)
    if not coded:
        return table
    try:
        return table.unify_dictionaries()
    except pa.ArrowCapacityError:  # one for all batches would be larger than 2 GiB
        return table


@named_options
def open(
    source: Source,
    format: Format,
    *,
    columns: Columns = None,
    filters: Filters = None,
    threads: int | None = None,
    on_error: str = "raise",
    codec: str | None = None,
    rejects: list[pa.Table] | None = None,
    max_errors: int | float | None = None,
    rescue: str | None = None,
) -> pa.RecordBatchReader:
    """The input as a stream of batches, in bounded memory.

    Args:
        source: As for `fm.read`.
        format: As for `fm.read`.
        columns: As for `fm.read`.
        filters: As for `fm.read`.
        threads: As for `fm.read`.
        on_error: As for `fm.read`.
        codec: As for `fm.read`.
        rejects: As for `fm.read`; a table is there once its input has been read to its end.
        max_errors: As for `fm.read`.
        rescue: As for `fm.read`.

    Returns:
        A `pyarrow.RecordBatchReader`; errors of the data are raised while it is read.

    Raises:
        OptionError: An argument is out of its range.
        SchemaError: A column that the schema does not have, or a type that cannot be used that way.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Json(pa.schema([("id", pa.int64())]))
        >>> reader = fm.open(b'{"id": 1}\\n{"id": 2, "more": "text"}\\n', format)
        >>> sum(batch.num_rows for batch in reader)
        2
    """
    tolerance = _tolerance(on_error, max_errors, rejects)
    plan = _plan(with_rescue(format, rescue), columns, filters, on_error)
    batches = _batches(source, plan, _thread_count(threads), codec, rejects, tolerance, RANGE_BYTES)
    return pa.RecordBatchReader.from_batches(plan.schema, batches)


def _tolerance(on_error: str, max_errors: int | float | None, rejects: object) -> Tolerance:
    if rejects is not None and not isinstance(rejects, list):
        raise OptionError(f"rejects: expected a list, which receives them, found {rejects!r}; write rejects=[]")
    return Tolerance(on_error, max_errors, told=rejects is not None and on_error == "collect")


def _thread_count(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if isinstance(threads, bool) or not isinstance(threads, int) or threads < 1:
        raise OptionError(f"threads: expected a whole number from 1, or None for every core, found {threads!r}")
    return threads


def _plan(format: Format, columns: Columns, filters: Filters, on_error: str) -> DecodePlan:
    """A plan whose engine tells of every bad record, also of those that nobody wants to see: they are counted."""
    told = "collect" if on_error == "skip" else on_error
    return make_plan(format, columns=columns, filters_wanted=filters, on_error=told, note_nulled=on_error == "null")


def _batches(
    source: Source,
    plan: DecodePlan,
    threads: int,
    codec: str | None,
    rejects: list[pa.Table] | None,
    tolerance: Tolerance,
    range_bytes: int,
) -> Iterator[pa.RecordBatch]:
    for item in inputs(source, codec):
        reading = _Reading(plan, threads, item, tolerance, range_bytes)
        yield from reading.batches()
        if rejects is not None and tolerance.told:
            rejects.append(diagnostics.rejects_table(reading.found))
    tolerance.end()


class _Reading:
    """One input on its way: where it stands, what it has found wrong."""

    def __init__(self, plan: DecodePlan, threads: int, item: Input, tolerance: Tolerance, range_bytes: int) -> None:
        self.plan = plan
        self.tolerance = tolerance
        self.threads = 1 if plan.runs_python else threads
        self.item = item
        self.range_bytes = range_bytes
        self.found: list[tuple[Any, bytes]] = []
        self.engine = plan.engine
        self.ranges: Any = None
        self.footer = footer_of(plan.format)

    @cached_property
    def describer(self) -> diagnostics.Describer:
        return diagnostics.Describer(self.plan.format, self.plan.engine.column_names)

    def batches(self) -> Iterator[pa.RecordBatch]:
        try:
            if self.item.contiguous:
                yield from self._window(self.item.data, 0, True)  # type: ignore[attr-defined]
            else:
                yield from self._windows()
        finally:
            if self.ranges is not None:
                self.ranges.leave()

    def _windows(self) -> Iterator[pa.RecordBatch]:
        offset = 0
        size = WINDOW_BYTES * self.threads if self.threads > 1 else RANGE_BYTES
        windows: Any = self.item.windows(size, self.threads)
        try:
            window, last = next(windows)
            while True:
                used = yield from self._window(window, offset, last)
                offset += used
                if self.footer is not None and self.footer.ended:
                    windows.close()
                    return
                window, last = windows.send(used)
        except StopIteration:
            return

    def _window(self, window: memoryview, offset: int, last: bool) -> Generator[pa.RecordBatch, None, int]:
        """Yields the batches of a window and returns how many of its bytes are used."""
        begin = 0
        if self.ranges is None:
            begin = self._start(window, last)
            if begin < 0:
                return 0  # the preamble does not end here yet
        if self.footer is not None:
            window = window[: self.footer.begin_in(window, begin, last)]
        smallest = max(SMALLEST_RANGE_BYTES, SMALLEST_BYTES_A_COLUMN * len(self.plan.columns))
        self.ranges.begin(
            window, begin, self.range_bytes, input_ends=last, byte_offset=offset, smallest_range_bytes=smallest
        )
        while (result := self.ranges.next(self.tolerance.wanted)) is not None:
            records, arrays, findings, counts = result
            raise_kept()
            self._note(records, findings, counts)
            for capsule in arrays:
                yield self.plan.batch(capsule)
        used: int = self.ranges.used
        self.ranges.leave()
        return used

    def _start(self, window: memoryview, last: bool) -> int:
        """Makes ready to read; returns how many bytes stand before the first record."""
        size = 0
        format = self.plan.format
        self.engine = self.plan.ordered(window)
        if isinstance(format, Csv) and format.has_preamble:
            found = self.plan.header(window, last)
            if found is None and not last:
                return -1
            if found is None:
                self.footer = None  # without a header there is no table that could end: the engine says what is missing
            else:
                self.engine, size, missing = found
                if missing:
                    raise diagnostics.missing_in_header(
                        format, missing, self.engine.header_text, bytes(window[:HEAD_BYTES]), self.item.name
                    )
        if self.footer is not None:
            self.footer.follow_preamble(window, last)
        self.ranges = _core.RangeReader(self.engine, self.threads, ROWS_PER_BATCH, BYTES_PER_BATCH)
        if isinstance(format, Json) and format.layout == "array" and not format.array_path:
            self._check_array(window[:HEAD_BYTES])
        return size

    def _check_array(self, head: memoryview) -> None:
        """What is no array is told at once, not when all of it has been looked through."""
        text = bytes(head).removeprefix(BOM_UTF8).lstrip(b" \t\r\n")
        if text and not text.startswith(b"["):
            self.ranges.begin(head, 0, HEAD_BYTES, input_ends=True, byte_offset=0)
            self._note(0, *self.ranges.next(None)[2:])

    def _note(self, records: int, findings: list[_core.Finding], counts: dict[str, int]) -> None:
        name = self.item.name
        errors = []
        for finding in sorted(findings, key=lambda finding: finding.record):
            described = self.describer.describe(finding, origin=name, place=name)
            if self.plan.on_error == "raise" or diagnostics.always_raised(finding.code):
                raise described
            errors.append(described)
            if self.tolerance.told:
                self.found.append((described, finding.raw))
        self.tolerance.add(records, counts, errors)
