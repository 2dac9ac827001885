"""Which values arrived, as a count and a sum for each path of fields: equal for the same values in any order, in any batches.

In: records as columns and what is rescued beside them, or values as their source made them. Out: sums, and how two of them
differ. A value counts with the number of its record, and as what it says: 5 is the same in a column of numbers, in one of text
that takes any value, and in what was rescued. Refuses to know: who made the values, who read them.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
NUMERIC, TRUE, FALSE, LIST = (
    0x6265_6D75,
    0x7275_6574,
    0x6573_6C61,
    0x7473_696C,
)  # as far apart as any other numbers, once they are mixed
WORD = (1 << 64) - 1
PLACES = 3  # of a number that stays behind its point

Codes = tuple[np.ndarray, np.ndarray]  # where in the column, and what stands there


class Written(str):
    """A number as it is written."""


def mixed(numbers: np.ndarray) -> np.ndarray:
    """Splitmix64: as good as drawn at random, and the same every time."""
    words = numbers.astype(np.uint64, copy=True)
    words += np.uint64(0x9E3779B97F4A7C15)
    words ^= words >> np.uint64(30)
    words *= np.uint64(0xBF58476D1CE4E5B9)
    words ^= words >> np.uint64(27)
    words *= np.uint64(0x94D049BB133111EB)
    words ^= words >> np.uint64(31)
    return words


def mixed_one(word: int) -> int:
    word = (word + 0x9E3779B97F4A7C15) & WORD
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & WORD
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & WORD
    return word ^ word >> 31


def codes_of_numbers(thousandths: np.ndarray) -> np.ndarray:
    return mixed(thousandths.astype(np.uint64) ^ np.uint64(NUMERIC))


def code_of_text(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


def code_of_number(text: str) -> int:
    """Whatever its size: the sums are those of 64 bits. Zeros at the end say nothing."""
    whole, _, fraction = text.partition(".")
    fraction = fraction.rstrip("0")
    if len(fraction) > PLACES:
        return code_of_text(text)
    return mixed_one(int(whole + fraction.ljust(PLACES, "0")) & WORD ^ NUMERIC)


def codes_of_lists(lengths: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Of lists whose items stand one behind the other."""
    codes = np.full(len(lengths), LIST, np.uint64)
    first = np.cumsum(lengths) - lengths
    for place in range(int(lengths.max(initial=0))):
        there = lengths > place
        codes[there] = mixed(codes[there] ^ items[first[there] + place])
    return codes


def leaves_of_json(path: str, value: Any) -> Iterator[tuple[str, int]]:
    """Null is no value."""
    if value is None:
        return
    if isinstance(value, dict):
        for key, member in value.items():
            yield from leaves_of_json(f"{path}.{key}" if path else key, member)
    else:
        yield path, code_of_json(value)


def code_of_json(value: Any) -> int:
    if isinstance(value, bool):
        return TRUE if value else FALSE
    if isinstance(value, Written):
        return code_of_number(value)
    if isinstance(value, list):
        code = LIST
        for item in value:
            code = mixed_one(code ^ code_of_json(item))
        return code
    return code_of_text(value)


read_json = json.JSONDecoder(parse_int=Written, parse_float=Written).decode


def read_text(text: str) -> Any:
    """What a text says in a column that takes any value."""
    if text[:1] in ("{", "[") or text in ("true", "false"):
        return read_json(text)
    return Written(text) if NUMBER.fullmatch(text) else text


@dataclass
class Difference:
    """What is wrong: values that are missing, values that are too many, and paths whose values are others."""

    lost: int = 0
    twice: int = 0
    changed: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self.lost or self.twice or self.changed)

    def __str__(self) -> str:
        told = f"{self.lost} values lost, {self.twice} twice, {len(self.changed)} paths with other values"
        return f"{told}: {'; '.join(self.shown[:5])}" if self.shown else told


class ValueSums:
    def __init__(self) -> None:
        self.counts: dict[str, int] = defaultdict(int)
        self.sums: dict[str, int] = defaultdict(int)

    @property
    def values(self) -> int:
        return sum(self.counts.values())

    def add(self, path: str, records: np.ndarray, codes: np.ndarray) -> None:
        """Values of one path, each with the number of its record."""
        if len(records):
            self.counts[path] += len(records)
            terms = mixed(mixed(records) ^ codes)
            self.sums[path] = (self.sums[path] + int(terms.sum(dtype=np.uint64))) & WORD

    def add_batch(self, batch: pa.RecordBatch | pa.Table, rescued: str) -> None:
        """All that arrived: the columns, with what was rescued put over them. Records say their numbers in `id`."""
        columns = {name: _whole(batch.column(name)) for name in batch.schema.names}
        records = columns["id"].to_numpy(zero_copy_only=False).astype(np.uint64)
        replaced = self._add_rescued(columns.pop(rescued), records)
        for name, column in columns.items():
            if column.null_count < len(column):
                self._add_column(name, column, records, replaced)

    def against(self, expected: ValueSums) -> Difference:
        difference = Difference()
        for path in sorted({*self.counts, *expected.counts}):
            found, wanted = self.counts.get(path, 0), expected.counts.get(path, 0)
            difference.lost += max(0, wanted - found)
            difference.twice += max(0, found - wanted)
            if found != wanted:
                difference.shown.append(f"{path}: {wanted} values expected, {found} found")
            elif self.sums[path] != expected.sums[path]:
                difference.changed.append(path)
                difference.shown.append(f"{path}: {found} values, and not those expected")
        return difference

    def _add_rescued(self, column: pa.Array, records: np.ndarray) -> dict[str, list[int]]:
        """Says at which rows of which path there was something."""
        rows, codes = defaultdict(list), defaultdict(list)
        if column.null_count < len(column):
            for row, text in enumerate(column.to_pylist()):
                for path, code in leaves_of_json("", read_json(text)) if text is not None else ():
                    rows[path].append(row)
                    codes[path].append(code)
        for path, at in rows.items():
            self.add(path, records[at], np.array(codes[path], np.uint64))
        return rows

    def _add_column(self, path: str, column: pa.Array, records: np.ndarray, replaced: dict[str, list[int]]) -> None:
        if types.is_struct(column.type):
            for member, values in zip(column.type, column.flatten(), strict=True):
                if values.null_count < len(values):
                    self._add_column(f"{path}.{member.name}", values, records, replaced)
            return
        rows = np.flatnonzero(column.is_valid().to_numpy(zero_copy_only=False))
        if path in replaced:  # what could be read of a column that was rescued whole, for something else in it
            rows = np.setdiff1d(rows, replaced[path])
        if not len(rows):
            return
        values = column.take(pa.array(rows))
        if types.is_string(column.type):
            self._add_texts(path, values, records[rows])
        else:
            self.add(path, records[rows], codes_of_column(values))

    def _add_texts(self, path: str, values: pa.Array, records: np.ndarray) -> None:
        coded = values.dictionary_encode()
        leaves = [list(leaves_of_json(path, read_text(text))) for text in coded.dictionary.to_pylist()]
        places = coded.indices.to_numpy()
        if all(len(of_text) == 1 and of_text[0][0] == path for of_text in leaves):
            self.add(path, records, np.array([code for ((_, code),) in leaves], np.uint64)[places])
            return
        found: dict[str, Codes] = defaultdict(lambda: ([], []))
        for record, place in zip(records.tolist(), places.tolist(), strict=True):
            for below, code in leaves[place]:
                found[below][0].append(record)
                found[below][1].append(code)
        for below, (at, codes) in found.items():
            self.add(below, np.array(at, np.uint64), np.array(codes, np.uint64))


def codes_of_column(values: pa.Array) -> np.ndarray:
    """Of values none of which is null."""
    kind = values.type
    if types.is_boolean(kind):
        return np.where(values.to_numpy(zero_copy_only=False), np.uint64(TRUE), np.uint64(FALSE))
    if types.is_integer(kind):
        return codes_of_numbers(values.to_numpy().astype(np.int64).astype(np.uint64) * np.uint64(10**PLACES))
    if types.is_float64(kind):
        numbers = values.to_numpy()
        thousandths = np.rint(numbers * 10**PLACES)
        codes = codes_of_numbers(thousandths.astype(np.int64).astype(np.uint64))
        for row in np.flatnonzero(thousandths / 10**PLACES != numbers):
            codes[row] = code_of_text(repr(numbers[row]))
        return codes
    if types.is_decimal128(kind) and kind.scale <= PLACES:
        words = np.frombuffer(values.buffers()[1], np.uint64)[2 * values.offset :][: 2 * len(values) : 2]
        return codes_of_numbers(words * np.uint64(10 ** (PLACES - kind.scale)))
    if types.is_list(kind):
        lengths = values.value_lengths().to_numpy()
        return codes_of_lists(lengths, codes_of_column(values.flatten()))
    if types.is_string(kind) or types.is_date(kind):
        texts = values.cast(pa.string()).to_pylist()
        return np.array([code_of_text(text) for text in texts], np.uint64)
    raise TypeError(f"no value of {kind} is expected")


def _whole(column: pa.Array | pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
