"""What is known of chunks apart becomes, for each of them, its place: all it needs to be parsed alone.

In: a table of surveys (chunk_survey.py), one row a chunk, of any number of origins in any order. Out: for each chunk the state
and the byte it begins at, and the bytes of the record that is open there; or which chunks have to be looked at again, as
they began in another state than was likely. Knows no payloads and no Spark; says which chunks are missing or came twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

import formatter as fm
from formatter import _core, diagnostics
from formatter.formats.checks import as_bytes
from formatter.plans import make_plan, record_end_of
from spark_udfs.chunks.chunk_rows import ChunkColumns, null_chunk
from spark_udfs.stitch.binary_arrays import bytes_of, offsets_of, one_array, pieces
from spark_udfs.stitch.chunk_survey import HEAD_BYTES, HEAD_CHUNKS, NO_END, fixed_width, has_header

CARRY_LIMIT = 1 << 30  # bytes of open records: they are on the driver and with every worker
CARRIED = -1  # engine/whole/chunk_reader.hpp: PlacedChunk::carried
BYTES_AN_ORIGIN = 64  # about, of what travels beside its chunks

Origin = int | str

# What a chunk needs to be parsed alone. It is parsed where `wanted`: where a record ends, and at its origin's end. The bytes
# of the open record begin at `carry_begin` in the tails; `starts_stream`: whether the first record here is the origin's first.
PLACE = np.dtype(
    [(name, np.int64) for name in ("size", "state", "byte_offset", "begin", "carry_begin", "carry_size")]
    + [(name, np.int64) for name in ("ends_stream", "starts_stream")]
    + [("wanted", np.bool_)]
)


@dataclass
class PlacedChunks:
    """`places` by origin and sequence; of an origin, its first row among them, its chunks, and its header where columns
    are in another order than the schema's."""

    places: Any = field(default_factory=lambda: np.empty(0, PLACE))
    origins: dict[Origin, tuple[int, int, bytes | None]] = field(default_factory=dict)
    tails: pa.Buffer = field(default_factory=lambda: pa.py_buffer(b""))
    error: Exception | None = None  # why these chunks cannot be parsed

    @property
    def nbytes(self) -> int:
        """About what travels."""
        return int(self.tails.size + self.places.nbytes) + BYTES_AN_ORIGIN * len(self.origins)

    def of(self, origins: pa.Array, sequences: pa.Array, sizes: Any) -> tuple[Any, list[bytes | None]]:
        """The place of each of these chunks, and its header; or the distinct header alone, if it is the same for all."""
        encoded = origins.dictionary_encode()
        known: list[Origin] = encoded.dictionary.to_pylist()
        codes, numbers = encoded.indices.to_numpy(), sequences.cast(pa.int64()).to_numpy()
        about = [self.origins.get(origin, (0, 0, None)) for origin in known]
        first_rows, counts = (np.array([one[at] for one in about], np.int64)[codes] for at in (0, 1))
        rows = first_rows + numbers - 1
        strange = (numbers < 1) | (numbers > counts)
        if not strange.any():
            strange = self.places["size"][rows] != sizes
        if strange.any():
            row = int(np.flatnonzero(strange)[0])
            raise _other_chunk(known[codes[row]], int(numbers[row]), int(sizes[row]))
        headers = [header for _, _, header in about]
        return self.places[rows], [headers[code] for code in codes] if len(set(headers)) > 1 else headers[:1]


def placed(surveyed: pa.Table, format: Any, names: ChunkColumns) -> PlacedChunks | pa.Table:
    """The places of all chunks of a table of surveys, and what is wrong with the chunks; or a table of those to look at once
    more: origin, sequence, the state they do begin in, their row in the table of surveys."""
    try:
        return _Placing(surveyed, format, names).placed()
    except fm.FormatError as error:
        return PlacedChunks(error=error)


class _Placing:
    def __init__(self, surveyed: pa.Table, format: Any, names: ChunkColumns) -> None:
        for column, name in zip(("origin", "sequence", "size"), names.names, strict=True):
            if surveyed.column(column).null_count:
                raise null_chunk(name, "that of a chunk")
        self.format = format
        origins = one_array(surveyed.column("origin")).dictionary_encode()
        codes = origins.indices.to_numpy()
        order = np.lexsort((surveyed.column("sequence").to_numpy(), codes))
        self.order = order
        self.table = surveyed.take(pa.array(order)).combine_chunks()
        self.origins: list[Origin] = origins.dictionary.to_pylist()
        self.codes = codes[order]
        self.sequences = self._numbers("sequence")
        self.sizes = self._numbers("size")
        self.starts = np.flatnonzero(np.diff(self.codes, prepend=-1))  # row of each origin's first chunk
        self.counts = np.diff(self.starts, append=len(self.codes))
        self.byte_offsets = self._since_start(np.cumsum(self.sizes) - self.sizes)

    def _numbers(self, name: str) -> Any:
        return self.table.column(name).to_numpy()

    def _since_start(self, running: Any) -> Any:
        """Sums over all rows as sums since the origin's first row; `running` excludes the row itself."""
        return running - np.repeat(running[self.starts], self.counts)

    def placed(self) -> PlacedChunks | pa.Table:
        if len(self.codes) == 0:
            return PlacedChunks()
        self._check_numbering()
        places = np.zeros(len(self.codes), PLACE)
        places["size"], places["byte_offset"], places["begin"] = self.sizes, self.byte_offsets, CARRIED
        width = fixed_width(self.format)
        places["state"], last_ends, as_assumed = self._run_fixed(width) if width else self._run()
        last_rows = self.starts + self.counts - 1
        as_assumed[last_rows] = True  # their tails stay in them
        if not as_assumed.all():
            asked = self.table.select(["origin", "sequence"])
            asked = asked.append_column("state", pa.array(places["state"].copy())).append_column(
                "row", pa.array(self.order)
            )
            return asked.filter(pa.array(~as_assumed))
        places["wanted"] = last_ends != NO_END
        places["wanted"][last_rows] = places["ends_stream"][last_rows] = True
        tails = one_array(self.table.column("tail"))
        self._carry(tails, places)
        chunks = PlacedChunks(places, tails=bytes_of(tails))
        for start, count in zip(self.starts.tolist(), self.counts.tolist(), strict=True):
            origin, header = self.origins[self.codes[start]], None
            if has_header(self.format):
                header = self._place_header(places[start : start + count], origin, start)
            chunks.origins[origin] = start, count, header
        return chunks

    def _check_numbering(self) -> None:
        expected = np.arange(len(self.codes)) - np.repeat(self.starts, self.counts) + 1
        wrong = np.flatnonzero(self.sequences != expected)
        if wrong.size == 0:
            return
        row = int(wrong[0])
        origin, number = self.origins[self.codes[row]], int(self.sequences[row])
        before = int(expected[row]) - 1
        if number < 1:
            text = f"sequence: expected a whole number from 1, found {number}"
        elif number == before:
            text = f"sequence {number}: this chunk came twice; drop duplicates of (origin, sequence) first"
        else:
            missing = f"{before + 1}" if number == before + 2 else f"{before + 1} to {number - 1}"
            number = before + 1
            text = f"chunks {missing} never came; a record may be in them: bring them, or drop the origin"
        raise fm.SequenceError(f"origin {origin!r}: {text}", origin=origin, sequence=number)

    def _run(self) -> tuple[Any, Any, Any]:
        """(state at each chunk's start, its last record end, whether that is the one its tail begins at)"""
        count, courses = len(self.codes), one_array(self.table.column("courses"))
        if courses.null_count:  # there is but one state
            tail_sizes = np.diff(offsets_of(one_array(self.table.column("tail"))))
            last_ends = np.where(tail_sizes == self.sizes, NO_END, self.sizes - tail_sizes)
            return np.zeros(count, np.int64), last_ends, np.ones(count, bool)
        bounds = offsets_of(courses) // _core.COURSE_TYPE.itemsize
        known = np.frombuffer(courses.buffers()[-1], _core.COURSE_TYPE)[bounds[0] : bounds[-1]]
        bounds = bounds - bounds[0]
        if (np.diff(bounds) == 2).all() and set(known["start"][:2].tolist()) == {0, 1}:  # quote parity: sums
            odd = known["end"][::2].astype(np.int64)
            states = self._since_start(np.cumsum(odd) - odd) & 1
            taken = bounds[:-1] + states
        else:
            states, taken = self._followed(known, bounds)
        last_ends = known["last_end"].astype(np.int64)
        return states, last_ends[taken], last_ends[taken] == last_ends[bounds[:-1] + self._numbers("assumed")]

    def _run_fixed(self, width: int) -> tuple[Any, Any, Any]:
        """The same where records end at multiples of their width. Cuts the tails to what is behind the last of them."""
        ends = self.byte_offsets + self.sizes
        ended = ends // width > self.byte_offsets // width
        kept = np.where(ended, ends % width, self.sizes)
        tails = one_array(self.table.column("tail"))
        lengths = np.diff(offsets_of(tails))
        cut = pieces(tails, lengths - kept, lengths)
        self.table = self.table.set_column(self.table.schema.get_field_index("tail"), "tail", cut)
        last_ends = np.where(ended, self.sizes - kept, NO_END)
        return np.zeros(len(ends), np.int64), last_ends, np.ones(len(ends), bool)

    def _followed(self, known: Any, bounds: Any) -> tuple[Any, Any]:
        first_state = _core.first_chunk_state(make_plan(self.format).engine)
        states, taken = np.empty(len(self.codes), np.int64), np.empty(len(self.codes), np.int64)
        starts, ends, firsts, state = known["start"].tolist(), known["end"].tolist(), set(self.starts.tolist()), 0
        for row, (a, b) in enumerate(zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True)):
            state = first_state if row in firsts else state
            states[row] = state
            taken[row] = at = starts.index(state, a, b)
            state = ends[at]
        return states, taken

    def _carry(self, tails: pa.Array, places: Any) -> None:
        """For each chunk: where the tails from the wanted one before it on begin, neighbours in memory already, and their size;
        and whether no wanted one is before it."""
        offsets = offsets_of(tails)
        if (total := int(offsets[-1] - offsets[0])) > CARRY_LIMIT:
            raise fm.FormatError(
                f"spark: records are so much longer than the chunks they are in that {total} bytes of them would travel apart "
                f"(at most {CARRY_LIMIT}); use stitch='origin'",
                code="record_too_long",
            )  # fmt: skip
        before = np.maximum.accumulate(np.where(places["wanted"], np.arange(len(places)), -1))
        before = np.concatenate([[-1], before[:-1]])  # the last wanted row before each
        starts = np.repeat(self.starts, self.counts)
        first = np.maximum(before, starts)
        places["carry_begin"], places["carry_size"] = offsets[first] - offsets[0], offsets[:-1] - offsets[first]
        places["starts_stream"] = before < starts

    def _place_header(self, places: Any, origin: Origin, start: int) -> bytes | None:
        """Records begin behind the header; what is before it is none."""
        header_end, header = self._header(origin, slice(start, start + len(places)))
        before_end = header_end - places["byte_offset"]
        places["begin"] = np.where(before_end > 0, before_end, CARRIED)
        places["wanted"] &= places["size"] > before_end
        places["starts_stream"] = False
        return header

    def _header(self, origin: Origin, rows: slice) -> tuple[int, bytes | None]:
        """Where the records begin, and the header, if its columns are in another order than the schema's."""
        text, whole = b"", True
        engine = make_plan(self.format).engine
        heads = self.table.column("head").slice(rows.start, rows.stop - rows.start)
        for head, size in zip(heads, self.sizes[rows].tolist(), strict=True):
            piece = head.as_py() or b""
            text += piece
            whole = len(piece) == size
            if (found := engine.read_header(text)) is not None or not whole:
                break
        else:
            found = engine.read_header(text + record_end_of(self.format))
            if found is None:  # nothing but blank lines
                return len(text), None
        if found is None:
            raise fm.FormatError(
                f"spark: origin {origin!r}: the header does not end within {HEAD_BYTES >> 10} KiB and {HEAD_CHUNKS} "
                "chunks; use stitch='origin'",
                code="header", origin=origin,
            )  # fmt: skip
        mapped, size, missing = found
        if missing:
            raise diagnostics.missing_in_header(self.format, missing, mapped.header_text, text, f"origin {origin!r}")
        return size, None if self._is_own_order(text[:size]) else text[:size]

    def _is_own_order(self, header: bytes) -> bool:
        """Whether the header's columns are the schema's, so that it need not be read again where chunks are parsed."""
        own = as_bytes(self.format.delimiter, "delimiter").join(name.encode() for name in self.format.schema.names)
        return header.rstrip(b"\r\n").removesuffix(record_end_of(self.format)) == own


def _other_chunk(origin: Origin, sequence: int, size: int) -> fm.SequenceError:
    return fm.SequenceError(
        f"origin {origin!r}: sequence {sequence}: this chunk of {size} bytes was not among the chunks when su.parse looked them "
        "over; the DataFrame gives others each time: cache it or write it to a table first, or use stitch='origin'",
        origin=origin, sequence=sequence,
    )  # fmt: skip


def looked_again(surveyed: pa.Table, asked: pa.Table, looks: pa.Table) -> pa.Table:
    """Surveys in which the second looks stand for the first ones."""
    keys = zip(asked.column("origin").to_pylist(), asked.column("sequence").to_pylist(), strict=True)
    row_of = dict(zip(keys, asked.column("row").to_pylist(), strict=True))
    found = zip(looks.column("origin").to_pylist(), looks.column("sequence").to_pylist(), strict=True)
    taken = np.arange(surveyed.num_rows)
    for at, key in enumerate(found):
        taken[row_of[key]] = surveyed.num_rows + at
    both = pa.concat_tables([surveyed, looks]).take(pa.array(taken))
    return both.set_column(both.schema.get_field_index("head"), "head", surveyed.column("head"))
