"""Which records Spark may read otherwise than we do. In: payloads, and what became of them here. Out: by value, whether there is
doubt. It may be there without need, never the other way round: who has a doubtful record asks Spark. What a value may look like is
the engine's to check (`spelling=plain`); here is what concerns records.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from formatter.values import ParsedRecords

Mask = np.ndarray[Any, np.dtype[np.bool_]]
Bytes = np.ndarray[Any, np.dtype[np.uint8]]
Offsets = np.ndarray[Any, np.dtype[np.int64]]

# The bounds of Jackson, which are looked at from well below.
DEPTH_MOST = 1000  # brackets open at once
NUMBER_MOST = 1000  # characters of a number
NAME_MOST = 50_000  # characters of a key
STRIDE = 100
STRIDES_IN_NUMBER = NUMBER_MOST // STRIDE - 1  # that stand in any number of so many characters, wherever it begins
OPENING = 0x7B  # of both kinds of brackets, with bit 5 set
IS_OF_NUMBERS = np.zeros(256, np.bool_)
IS_OF_NUMBERS[list(b"0123456789+-.eE")] = True
FIELDS_MOST = 900  # that an expression can count


def bytes_of(payloads: pa.Array) -> tuple[Offsets, Bytes]:
    """Where each payload begins and ends, in these bytes."""
    wide = pa.types.is_large_string(payloads.type) or pa.types.is_large_binary(payloads.type)
    _, offsets, data = payloads.buffers()
    bounds = np.frombuffer(offsets, np.int64 if wide else np.int32)[
        payloads.offset : payloads.offset + len(payloads) + 1
    ]
    text = np.frombuffer(data, np.uint8) if data is not None else np.empty(0, np.uint8)
    first = int(bounds[0])
    return bounds.astype(np.int64) - first, text[first : int(bounds[-1])]


def found_bad(records: ParsedRecords) -> Mask:
    doubt = np.zeros(records.value_count, np.bool_)
    doubt[[error.record for error in records.details if error.record is not None]] = True
    return doubt


def first_bytes(bounds: Offsets, text: Bytes) -> Bytes:
    """Of each payload; of one without any it is some other byte."""
    if not len(text):
        return np.zeros(len(bounds) - 1, np.uint8)
    found: Bytes = text[np.minimum(bounds[:-1], len(text) - 1)]
    return found


def holders(places: Offsets, bounds: Offsets) -> Offsets:
    """In which payloads these bytes stand."""
    found: Offsets = np.searchsorted(bounds, places, "right") - 1
    return found


def counted(places: Offsets, bounds: Offsets) -> Offsets:
    """How many of these bytes, in order, stand in each payload."""
    found: Offsets = np.diff(np.searchsorted(places, bounds))
    return found


@dataclass(frozen=True)
class JsonDoubts:
    def of(self, payloads: pa.Array, records: ParsedRecords) -> Mask:
        doubt = found_bad(records)
        if not len(doubt):
            return doubt
        bounds, text = bytes_of(payloads)
        sizes = np.diff(bounds)
        doubt |= first_bytes(bounds, text) >= 0x80  # a byte order mark, which is passed over here
        longest = int(sizes.max())
        if longest > NUMBER_MOST:
            doubt[holders(_in_long_numbers(text), bounds)] = True
        if longest > 2 * DEPTH_MOST:
            doubt |= sizes > NAME_MOST
            for at in np.flatnonzero((sizes > 2 * DEPTH_MOST) & ~doubt):
                record = text[bounds[at] : bounds[at + 1]]
                doubt[at] = np.count_nonzero(record | 0x20 == OPENING) > DEPTH_MOST
        return doubt


def _in_long_numbers(text: Bytes) -> Offsets:
    """Places inside what may be a number of more characters than Jackson takes."""
    sampled = IS_OF_NUMBERS[text[::STRIDE]]
    if len(sampled) < STRIDES_IN_NUMBER:
        return np.empty(0, np.int64)
    runs = np.convolve(sampled, np.ones(STRIDES_IN_NUMBER, np.int64), "valid") == STRIDES_IN_NUMBER
    found: Offsets = np.flatnonzero(runs) * STRIDE
    return np.unique(np.concatenate([found + step * STRIDE for step in range(STRIDES_IN_NUMBER)]))


@dataclass(frozen=True)
class CsvDoubts:
    """`fields`: of a record. `floats`: those of either precision. `takes_quotes`: whether fields in quotes are read as here if
    nothing but text is in them."""

    sep: str
    quote: str
    escape: str
    fields: tuple[str, ...]
    takes_quotes: bool
    floats: tuple[str, ...] = ()

    def of(self, payloads: pa.Array, records: ParsedRecords) -> Mask:
        bad = found_bad(records)
        if not len(bad):
            return bad
        doubt = bad.copy()
        bounds, text = bytes_of(payloads)
        if records.absent is not None:  # blank ones are records there
            doubt |= records.absent.to_numpy(zero_copy_only=False)
        marked = np.zeros(256, np.bool_)
        marked[:0x20] = True
        marked[[ord(sign) for sign in self.quote + self.escape]] = True
        marked[ord(self.sep)] = False
        fields = counted(np.flatnonzero(text == ord(self.sep)), bounds) + 1
        is_marked = counted(np.flatnonzero(marked[text]), bounds) > 0
        doubt |= is_marked | (fields != len(self.fields))
        suspects = np.flatnonzero(is_marked)
        if len(suspects) and self.takes_quotes and len(self.fields) <= FIELDS_MOST:
            import pyarrow.compute as pc  # workers start faster without it, and few jobs need it

            some = payloads.take(pa.array(suspects)).cast(pa.large_binary())
            fine = (
                pc.match_substring_regex(some, self._plainly_quoted()).fill_null(False).to_numpy(zero_copy_only=False)
            )
            doubt[suspects[fine]] = bad[suspects[fine]]
        doubt |= first_bytes(bounds, text) >= 0x80
        for name in self.floats:  # Spark knows them by other spellings
            doubt |= ~np.isfinite(records.data.column(name).fill_null(0).to_numpy(zero_copy_only=False))
        # Null payloads are null there, too.
        if payloads.null_count:
            doubt &= payloads.is_valid().to_numpy(zero_copy_only=False)
        return doubt

    def _plainly_quoted(self) -> bytes:
        """As many fields as there should be, all in quotes or without any; between quotes is text that needs no rule."""
        sep, quote = re.escape(self.sep), re.escape(self.quote)
        never = "".join(rf"\x{ord(sign):02x}" for sign in self.quote + self.escape) + r"\x00-\x1f"
        field = rf"(?:{quote}[^{never}]+{quote}|[^{never}\x{ord(self.sep):02x}]*)"
        return rf"^{field}(?:{sep}{field}){{{len(self.fields) - 1}}}$".encode()
