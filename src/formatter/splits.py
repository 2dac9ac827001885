"""Parts of a file, each read by itself: what a cluster's tasks do, one part each.

In: a format, and a stream that can seek, with the part of it that is wanted. Out: batches of the records that start in
that part. Where a part's first record starts is never guessed and left at that: `SplitScan` follows quotes and escapes over the
bytes before it, part by part and in parallel, and `record_starts` puts the findings together. In JSON arrays a start is guessed,
and records are followed from there to the next part: `proven_starts` takes what the part before it led to, and follows again
where another was guessed. Knows no cluster and no paths.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pyarrow as pa

from formatter import _core, diagnostics
from formatter.bad_records import BadRecordKeeper, all_nullable
from formatter.errors import FormatError
from formatter.filters import Filters, normalized
from formatter.footers import footer_of
from formatter.foreign_code import raise_kept
from formatter.formats import Csv, Delimited, Json, Native, Registered
from formatter.mistaken_bytes import has_lone_return
from formatter.plans import Format, make_plan, record_end_of

ROWS_PER_BATCH = 65_536  # of what a window holds more only if its records are shorter than 32 bytes
BYTES_PER_BATCH = 16 << 20
WINDOW_BYTES = 2 << 20  # near the cache between read and parse; batches of some 10,000 rows
COLUMNS_PER_WINDOW = (
    32  # of more columns a window is longer: a column of a batch costs microseconds, however few rows it has
)
LONGEST_WINDOW_BYTES = 8 << 20
SCAN_BYTES = 256 << 10
HEAD_BYTES = 4 << 10  # that show what a file is
FIRST_SCAN_BYTES = 4 << 10
GUESS_BYTES = 1 << 20
GUESS_BYTES_BEFORE = 4 << 10  # of what is guessed, looked at
FOLLOWED_BYTES_MOST = (
    4 << 20
)  # from a guess, behind the part: a record that is longer is followed once, when it is certain
INSIDE = 1  # of a state: inside quotes
OVERHANG_BYTES = 64 << 10  # read beyond a part's end to finish its last record


def begins_anywhere(format: Format) -> bool:
    """Whether every record end ends a record, so that a part needs to know nothing of what stands before it."""
    if isinstance(format, Delimited | Registered):
        return len(format.record_end) == 1
    if not isinstance(format, Csv):
        return isinstance(format, Json) and format.records == "lines"
    hidden = format.newlines_in_quotes if format.quote else format.comment
    return (
        not (hidden or format.escape) and len(record_end_of(format)) == 1 and not format.encoding.startswith("utf-16")
    )


def can_be_split(format: Format) -> bool:
    """Whether parts of one file can be read apart."""
    if isinstance(format, Native):
        return not format.has_rest
    if isinstance(format, Delimited | Registered):
        ending = record_end_of(format)
        return ending != b"" and not any(ending[:n] == ending[-n:] for n in range(1, len(ending)))
    if not isinstance(format, Csv):
        return isinstance(format, Json) and format.layout != "concatenated"
    if format.skip_footer or format.table_end:
        return False
    return not format.encoding.startswith("utf-16")


def fixed_starts(format: Native, lines: Iterable[int], file_bytes: int) -> list[int]:
    """Where the first whole row behind each line starts, of rows that are all of one width."""
    width = format.row_width
    return [min(-(-line // width) * width, file_bytes) for line in lines]


def starts_are_guessed(format: Format) -> bool:
    """Whether a part's summary is a guess to be proven: of items in JSON arrays, whose depth nothing near tells for certain."""
    return isinstance(format, Json) and format.layout == "array"


@dataclass(frozen=True)
class SplitSummary:
    """Of a part, whatever stands before it: for each state of quotes and escapes that it may begin in, the state it ends in
    and the position behind its first record end (None: it has none). Where starts are guessed: the guess, and the first
    start behind the part that records lead to from there (None: they were not followed so far)."""

    courses: tuple[tuple[int, int, int | None], ...]


class SplitScan:
    """Summaries of parts of files in one format. Many threads may use one."""

    def __init__(self, format: Format) -> None:
        self._format = format
        self._plan = make_plan(format).engine

    def summarize(self, stream: Any, begin: int, end: int) -> SplitSummary:
        """Of a file's part; that at 0 begins in one state only."""
        if starts_are_guessed(self._format):
            guess = self._guess(stream, begin, end) if begin else 0
            following = None if guess < 0 else self.next_start(stream, guess, end, FOLLOWED_BYTES_MOST)
            return SplitSummary(((guess, guess, following),))
        at = begin
        states = list(self._plan.part_states)
        if begin == 0:
            at, states = self._behind_preamble(stream, end)
        stream.seek(at)
        reached: dict[int, tuple[int, int | None]] = {state: (state, None) for state in states}
        window = memoryview(bytearray(min(SCAN_BYTES, max(end - at, 1))))
        while at < end:
            # Most states are one after a few records, and are followed as one from there.
            wanted = min(FIRST_SCAN_BYTES if at == begin else len(window), len(window), end - at)
            got = stream.readinto(window[:wanted])
            if not got:
                raise EOFError(f"expected {end - at} more bytes at {at}, found the end of the file")
            found = {
                state: self._plan.follow(window[:got], state) for state in {state for state, _ in reached.values()}
            }
            for start, (state, first) in reached.items():
                after, end_met = found[state]
                reached[start] = after, at + end_met if first is None and end_met >= 0 else first
            at += got
        return SplitSummary(tuple((start, *course) for start, course in reached.items()))

    def _guess(self, stream: Any, begin: int, end: int) -> int:
        before = max(begin - GUESS_BYTES_BEFORE, 0)
        stream.seek(before)
        window = memoryview(bytearray(min(end - before, GUESS_BYTES)))
        filled, _ = _fill(stream, window, 0, len(window))
        guess: int = self._plan.guess_record(window[:filled], begin - before)
        return guess if guess < 0 else before + guess

    def next_start(self, stream: Any, start: int, line: int, most_bytes: int | None = None) -> int | None:
        """Where the first record behind `line` starts, from a record that starts at `start`; the file's size if none does. None if
        `most_bytes` behind the line do not tell."""
        follower = _core.RecordFollower(self._plan, input_start=start == 0)
        window = memoryview(bytearray(SCAN_BYTES))
        stream.seek(start)
        at = start
        while most_bytes is None or at <= line + most_bytes:
            wanted = min(line - at, SCAN_BYTES) if at < line else SCAN_BYTES
            got = stream.readinto(window[:wanted])
            if not got:
                return at
            found = follower.passes(window[:got], first_only=at >= line)
            if at >= line and found >= 0:
                return at + int(found)
            at += got
        return None

    def _behind_preamble(self, stream: Any, end: int) -> tuple[int, list[int]]:
        """Where the first part's records begin, and in which state; in none if that is behind the part."""
        if not (isinstance(self._format, Csv) and self._format.has_preamble):
            return 0, [self._plan.first_state]
        size = FIRST_SCAN_BYTES
        while True:
            stream.seek(0)
            start = stream.read(min(size, end))
            if (found := self._plan.read_header(start, False)) is not None:
                return found[1], [self._plan.record_state]
            if size >= end:
                return end, []
            size *= 8

    def follow(self, stream: Any, lines: Sequence[int], file_bytes: int) -> list[int]:
        """As record_starts, by following a whole file's records in order: for what summaries do not tell. Up to a quote that
        is never closed, all behind it is held in memory."""
        plan = make_plan(self._format, columns=[], on_error="skip")
        window, filled, at, ended = memoryview(bytearray(WINDOW_BYTES)), 0, 0, False
        starts = [0]
        ranges = None
        stream.seek(0)
        for line in lines[1:]:
            while at <= line and not (ended and filled == 0):
                if filled == len(window):
                    window = _longer(window)
                filled, ended = _fill(stream, window, filled, len(window))
                begin, engine = 0, plan.engine
                if ranges is None:
                    if isinstance(self._format, Csv) and self._format.has_preamble:
                        found = plan.header(window[:filled], ended)
                        if found is None and not ended:
                            continue
                        engine, begin = (engine, filled) if found is None else found[:2]
                    ranges = _core.RangeReader(engine, 1, ROWS_PER_BATCH, BYTES_PER_BATCH)
                step = max(line - at - begin, 1)
                ranges.begin(window[:filled], begin, step, input_ends=ended, byte_offset=at)
                ranges.next()
                used = ranges.used
                ranges.leave()
                window[: filled - used] = window[used:filled]
                at, filled = at + used, filled - used
            starts.append(at if at > line else file_bytes)
        return starts


def tells_by_summaries(format: Format) -> bool:
    """Whether parts that are looked at apart tell where records start, unless a quote is never closed."""
    return not isinstance(format, Csv) or not format.is_bounded


def record_starts(summaries: Sequence[SplitSummary], file_bytes: int) -> list[int] | None:
    """Where the first record of each part of a file starts: of the parts behind the first, the position behind their
    first record end. A part without one has no record of its own and starts where the next one does. None if the file
    ends inside quotes, or its first record is not in the first part: then only SplitScan.follow tells."""
    starts: list[int] = [0]
    if not summaries[0].courses:
        return None
    state = summaries[0].courses[0][1]
    for summary in summaries[1:]:
        course = next((course for course in summary.courses if course[0] == state), None)
        if course is None:  # a part of a few bytes ends in the middle of the file's mark
            return None
        _, state, start = course
        starts.append(-1 if start is None else start)
    if state & INSIDE:
        return None
    following = file_bytes
    for number in range(len(starts) - 1, 0, -1):
        if starts[number] < 0:
            starts[number] = following
        following = starts[number]
    return starts


def proven_starts(
    summaries: Sequence[SplitSummary], lines: Sequence[int], file_bytes: int, next_start: Callable[[int, int], int]
) -> list[int]:
    """As record_starts, of guesses: where the parts between `lines` start. `next_start`: of a record's start and a line, where the
    first record behind the line starts; asked where a guess was wrong."""
    starts = [0]
    reached = 0
    for summary, (begin, end) in zip(summaries, pairwise([*lines, file_bytes]), strict=True):
        if begin:
            starts.append(reached)
        if reached > end or end == file_bytes:
            continue
        ((guess, _, following),) = summary.courses
        reached = following if guess == reached and following is not None else next_start(reached, end)
    return starts


@dataclass(frozen=True)
class Part:
    """Of a file: the records that start in [begin, end) if `aligned` (a record starts at `begin`, and one at `end`), else
    those that start in (begin, end], or at 0. `end` None: to the file's end. `last`: nothing follows."""

    begin: int = 0
    end: int | None = None
    aligned: bool = True
    last: bool = True


class SplitReader:
    """Parts of files in one format, one after the other. Counts and keeps what it finds wrong."""

    def __init__(
        self,
        format: Format,
        *,
        columns: Sequence[str] | None = None,
        filters: Filters = None,
        on_error: str = "raise",
        header_by_position: bool = False,
        raw_column: str | None = None,
    ) -> None:
        """on_error: also "keep": every record stays a row, with null where it is bad; `raw_column`, then the last column,
        has the text of bad records. header_by_position: the header's names do not count."""
        self.keeps = on_error == "keep"
        filters = normalized(filters)
        if self.keeps:
            format = all_nullable(format)
        self.plan = make_plan(
            format, columns=columns, filters_wanted=filters, on_error="collect" if self.keeps else on_error
        )
        self._positional = None
        if isinstance(format, Csv) and format.header is not False and header_by_position:
            self._positional = make_plan(
                format.body, columns=columns, filters_wanted=filters, on_error=self.plan.on_error
            )
        self._keeper = BadRecordKeeper(format, columns, raw_column) if self.keeps else None
        self.schema = self.plan.schema if self._keeper is None else self._keeper.schema
        self.found: list[tuple[FormatError, bytes]] = []  # of the batches that left since it was emptied
        self.counts = dict.fromkeys(("bytes", "records", "rows", "filtered", "rejects", "nulled"), 0)
        longer = WINDOW_BYTES * -(-len(self.plan.columns) // COLUMNS_PER_WINDOW)
        self._window = memoryview(bytearray(min(max(WINDOW_BYTES, longer), LONGEST_WINDOW_BYTES)))

    def header_bytes(self, start: bytes, whole: bool, origin: str | None = None) -> int | None:
        """How many bytes the header takes at the start of a file; None if it does not end in these."""
        _, size = self._with_header(start, whole, origin)
        return size

    def batches(
        self, stream: Any, part: Part, *, origin: str | None = None, header: bytes = b""
    ) -> Iterator[pa.RecordBatch]:
        """`header`: the file's first bytes through its header, for a part that does not begin the file."""
        engine = self.plan.engine
        wants_header = isinstance(self.plan.format, Csv) and self.plan.format.has_preamble
        if wants_header and part.begin:
            engine, _ = self._with_header(header, True, origin)
            wants_header = False
        elif part.begin:
            wants_header = False
        yield from self._read(stream, part, origin, engine, wants_header)

    def _read(
        self, stream: Any, part: Part, origin: str | None, engine: Any, wants_header: bool
    ) -> Iterator[pa.RecordBatch]:
        ending = record_end_of(self.plan.format)
        finder = not part.aligned and part.begin > 0
        window, filled, at = self._window, 0, part.begin
        records_before = 0
        footer = footer_of(self.plan.format)
        ranges = None
        ended = False
        if part.begin:
            stream.seek(part.begin)
        try:
            while True:
                if filled == len(window):
                    window = _longer(window)
                filled, ended = _fill(stream, window, filled, _wanted(part, at + filled, len(window)))
                start = 0
                if ranges is None:
                    if wants_header:
                        engine, size = self._with_header(window[:filled], ended, origin)
                        if size is None:
                            continue
                        start = min(size, filled)
                    elif not part.begin:
                        engine = self.plan.ordered(window[:filled])
                    if footer is not None:
                        footer.follow_preamble(window[:filled], ended)
                    ranges = _core.RangeReader(engine, 1, ROWS_PER_BATCH, BYTES_PER_BATCH)
                if finder:
                    found = _find(window, 0, filled, ending)
                    first = at + filled if found < 0 else at + found
                    if part.end is not None and first >= part.end:
                        return  # the next record is another part's
                    if found < 0:
                        if ended:
                            return
                        at, filled = first, 0
                        continue
                    start, finder = found + 1, False
                if ended and part.end is not None and at + filled < part.end:
                    raise _changed(origin, at + filled, part)
                stop = part.end if part.aligned else _stop(window, at, filled, part.end, ending)
                if stop is not None:
                    filled = min(filled, stop - at)
                finished = ended or (stop is not None and at + filled == stop)
                input_ends = ended or (finished and part.last)
                end = filled if footer is None else footer.begin_in(window[:filled], start, ended)
                ranges.begin(window[:end], start, len(window), input_ends=input_ends, byte_offset=at)
                records_before += yield from self._drain(ranges, origin, part, records_before)
                used = ranges.used
                ranges.leave()
                if finished and used < end and self._may_be_damaged(window[used:end], ending):
                    # That the quote is never closed is known from what stands behind the part.
                    ranges.begin(window[used:end], 0, len(window), input_ends=True, byte_offset=at + used)
                    records_before += yield from self._drain(ranges, origin, part, records_before)
                    used += ranges.used
                    ranges.leave()
                self.counts["bytes"] += used - start
                if finished:
                    if used != end:
                        raise _changed(origin, at + used, part)
                    return
                window[: filled - used] = window[used:filled]
                at, filled = at + used, filled - used
        finally:
            if ranges is not None:
                ranges.leave()

    def _drain(
        self, ranges: Any, origin: str | None, part: Part, records_before: int
    ) -> Generator[pa.RecordBatch, None, int]:
        """The batches of a window; returns how many records it has. Findings count from those before."""
        read = 0
        while (result := ranges.next()) is not None:
            records, arrays, findings, _ = result
            raise_kept()
            self._count(ranges.counters, records)
            self._note(findings, self.plan.engine.column_names, origin, counted=part.begin == 0)
            batches = [self.plan.batch(capsule) for capsule in arrays]
            if self._keeper is not None:
                batches = self._keeper.completed(batches, findings, records_before + read, records)
                self.counts["rows"] += len(findings)  # the engine has counted the good ones
            read += records
            yield from batches
        return read

    def _may_be_damaged(self, left: memoryview, ending: bytes) -> bool:
        """Whether records that are left of a part can be a line with an open quote, and what stands behind it."""
        format = self.plan.format
        quoting = isinstance(format, Csv) and format.quote and format.newlines_in_quotes
        return bool(quoting) and bytes(left[-len(ending) :]) == ending

    def _count(self, counters: dict[str, int], records: int) -> None:
        for name, count in (counters | {"records": records}).items():
            self.counts[name] += count

    def _with_header(self, start: Any, whole: bool, origin: str | None) -> tuple[Any, int | None]:
        format = self.plan.format
        if self._positional is not None and has_lone_return(head := bytes(start[:HEAD_BYTES]), format):  # type: ignore[arg-type]
            raise diagnostics.unending_header(head, origin)
        found = self.plan.header(start, whole)
        if found is None:
            return self.plan.ordered(start), len(start) if whole else None
        mapped, size, missing = found
        if self._positional is not None:
            return self._positional.ordered(start), size
        if missing:
            raise diagnostics.missing_in_header(
                format,  # type: ignore[arg-type]
                missing,
                mapped.header_text,
                bytes(start[:HEAD_BYTES]),
                origin,
            )
        if self._keeper is not None:
            self._keeper.follow_header(bytes(start[:size]))
        return mapped, size

    def _note(self, findings: list[_core.Finding], names: tuple[str, ...], origin: str | None, counted: bool) -> None:
        describer = diagnostics.Describer(self.plan.format, names)
        for finding in sorted(findings, key=lambda finding: finding.record):
            described = describer.describe(finding, origin=origin, place=origin, numbered=counted)
            if self.plan.on_error == "raise" or diagnostics.always_raised(finding.code):
                raise described
            self.found.append((described, finding.raw))


def _wanted(part: Part, reached: int, capacity: int) -> int:
    """How many bytes to read from `reached` on, as far as there is room."""
    if part.end is None:
        return capacity
    return part.end - reached if part.aligned else max(part.end - reached, 0) + OVERHANG_BYTES


def _stop(window: memoryview, at: int, filled: int, end: int | None, ending: bytes) -> int | None:
    """Behind the last record that starts at or before `end`, if the window goes that far."""
    if end is None or at + filled <= end:
        return None
    found = _find(window, max(end - at, 0), filled, ending)
    return None if found < 0 else at + found + 1


def _find(window: memoryview, begin: int, end: int, ending: bytes) -> int:
    buffer: bytearray = window.obj  # type: ignore[assignment]
    return buffer.find(ending, begin, end)


def _longer(window: memoryview) -> memoryview:
    longer = memoryview(bytearray(2 * len(window)))
    longer[: len(window)] = window
    return longer


def _fill(stream: Any, window: memoryview, filled: int, wanted: int) -> tuple[int, bool]:
    """Reads up to `wanted` bytes as far as there is room; True where the stream ends."""
    end = min(len(window), filled + wanted)
    while filled < end:
        got = stream.readinto(window[filled:end])
        if not got:
            return filled, True
        filled += got
    return filled, False


def _changed(origin: str | None, at: int, part: Part) -> FormatError:
    return FormatError(
        f"{origin}: byte {at}: expected records up to byte {part.end}, as when the file was looked at, found others; the "
        "file has changed since: run the query anew",
        code="changed",
        origin=origin,
        byte_offset=at,
    )
