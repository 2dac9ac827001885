"""What a task makes of its rows where a query asks only for counts, or for smallest, largest and sums of whole numbers.

In: batches of a narrowed task, and what is asked as pushdown_rule.java writes it. Out: batches of partial results, of which
Spark makes the whole ones as it would of the rows: one row a task (of each group, while groups are few), unless a sum might
leave 64 bits. What Spark then does (an error, or a number that wraps) is its own to decide, so it gets the values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from formatter.row_choice import BatchFilter
from spark_udfs.pushdown.predicates import Clauses, Tree, taken

LARGEST = 2**63 - 1
ROWS_AT_ONCE = 1 << 17  # of groups: put together so many at a time, since each time has a price of its own
MOST_GROUPS = 1 << 13  # more are Spark's


class PartialResults:
    """`columns`: positions that the rows' columns have in `filters`, `asked` and `groups`."""

    def __init__(
        self,
        rows: Callable[..., Iterator[pa.RecordBatch]],
        columns: Sequence[int],
        filters: Sequence[Tree],
        asked: Sequence[Any],
        groups: Sequence[int] = (),
    ) -> None:
        self._rows = rows
        self._place = {at: place for place, at in enumerate(columns)}
        self._filters = filters
        self._asked = [(name, *(self._place[at] for at in of)) for name, *of in asked]
        self._groups = [self._place[at] for at in groups]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        totals: Totals | None = None
        chosen: BatchFilter | None = None
        for batch in self._rows(batches):
            names = batch.schema.names
            totals = totals or (Groups if self._groups else Totals)(RowResults(self._asked, self._groups, batch.schema))
            if self._filters:
                batch = batch.rename_columns([f"c{place}" for place in range(batch.num_columns)])
                chosen = chosen or BatchFilter(self._clauses(batch.schema), batch.schema)
                batch = chosen.kept(batch).rename_columns(names)
            if batch.num_rows:
                yield from totals.add(batch)
        if totals is not None:
            yield from totals.leave()

    def _clauses(self, schema: pa.Schema) -> Clauses:
        """The whole of the filters: above this nobody asks them again."""
        fields = {at: schema.field(place) for at, place in self._place.items()}
        clauses = [taken([tree], fields) for tree in self._filters]
        if not all(clauses) or not (together := taken(self._filters, fields)):
            raise TypeError("spark: a filter is not decided here as it was planned; set su.disable_pushdown(spark)")
        return together


class RowResults:
    """What is asked, of each row alone: behind the columns of its group, a column for each."""

    def __init__(self, asked: Sequence[tuple[Any, ...]], groups: Sequence[int], rows: pa.Schema) -> None:
        self.asked = asked
        self.groups = groups
        kept = (rows.field(each[1]).type if each[0] in ("min", "max") else pa.int64() for each in asked)
        fields = [pa.field(f"partial{at}", type_) for at, type_ in enumerate(kept)]
        self.schema = pa.schema([*(rows.field(place) for place in groups), *fields])

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        arrays = [batch.column(place) for place in self.groups]
        for (name, *of), type_ in zip(self.asked, self.schema.types[len(arrays) :], strict=True):
            if name != "count":
                array = batch.column(of[0]) if name != "sum" else whole(batch.column(of[0]))
            elif of:
                array = batch.column(of[0]).is_valid()
            else:
                array = pa.nulls(batch.num_rows, pa.bool_()).is_null()  # true; pa.array and pa.repeat import pandas
            arrays.append(array.cast(type_))
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)


class Totals:
    """Of all rows."""

    def __init__(self, results: RowResults) -> None:
        self._results = results
        self._reset()

    def _reset(self) -> None:
        self._values: list[float | None] = [None] * len(self._results.asked)
        self._sizes = [0] * len(self._results.asked)  # of a sum: what it might have come to, whatever the order

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A batch's part; what has to leave before it, or instead."""
        asked = self._results.asked
        sizes = [largest_sum(batch.column(each[1])) if each[0] == "sum" else 0 for each in asked]
        if any(size > LARGEST for size in sizes):
            yield from self.leave()
            yield self._results.of(batch)
            return
        if any(before + size > LARGEST for before, size in zip(self._sizes, sizes, strict=True)):
            yield from self.leave()
        self._sizes = [before + size for before, size in zip(self._sizes, sizes, strict=True)]
        self._keep(batch)

    def _keep(self, batch: pa.RecordBatch) -> None:
        asked = self._results.asked
        self._values = [
            value if before is None else before if value is None else merged(each[0], before, value)
            for each, before, value in zip(asked, self._values, (one_of(batch, *each) for each in asked), strict=True)
        ]

    def leave(self) -> Iterator[pa.RecordBatch]:
        if any(value is not None for value in self._values):
            schema = self._results.schema
            arrays = [valued(value, field.type) for value, field in zip(self._values, schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)
        self._reset()


class Groups(Totals):
    """Of the rows of each group, while they are few; from then on rows are left as they are."""

    _are_many = False

    def _reset(self) -> None:
        super()._reset()
        self._waiting: list[pa.RecordBatch] = []
        self._waiting_rows = 0

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        if self._are_many:
            yield self._results.of(batch)
            return
        yield from super().add(batch)
        if self._waiting_rows >= ROWS_AT_ONCE:
            self._put_together()
            self._are_many = self._waiting_rows > MOST_GROUPS
            if self._are_many:
                yield from self.leave()

    def _keep(self, batch: pa.RecordBatch) -> None:
        self._waiting.append(self._results.of(batch))
        self._waiting_rows += batch.num_rows

    def _put_together(self) -> None:
        schema, keys = self._results.schema, len(self._results.groups)
        rows = pa.concat_batches(self._waiting)
        groups = RowsByGroup(rows.columns[:keys])
        arrays = [column.take(groups.first_rows) for column in rows.columns[:keys]]
        for (name, *_), column in zip(self._results.asked, rows.columns[keys:], strict=True):
            arrays.append(groups.reduced(REDUCTIONS[name], column))
        self._waiting = [pa.RecordBatch.from_arrays(arrays, schema=schema)]
        self._waiting_rows = len(groups.first_rows)

    def leave(self) -> Iterator[pa.RecordBatch]:
        if self._waiting:
            self._put_together()
            yield from self._waiting
        self._reset()


# How values of a group become one, and what stands for a value that is not there.
REDUCTIONS: dict[str, tuple[np.ufunc, Callable[[np.dtype[Any]], int]]] = {
    "count": (np.add, lambda kind: 0),
    "sum": (np.add, lambda kind: 0),
    "min": (np.minimum, lambda kind: int(np.iinfo(kind).max)),
    "max": (np.maximum, lambda kind: int(np.iinfo(kind).min)),
}


class RowsByGroup:
    """Rows in the order of their groups. pyarrow.acero groups them, too, but imports pyarrow.dataset, and that pandas: a quarter of
    a second a worker."""

    def __init__(self, keys: Sequence[pa.Array]) -> None:
        numbers, count = group_numbers(keys[0])
        for key in keys[1:]:
            more, values = group_numbers(key)
            numbers, count = group_numbers(int64_array(numbers * values + more))
        first = np.empty(count, np.int64)
        first[numbers[::-1]] = np.arange(len(numbers) - 1, -1, -1)  # of several, the one that is written last stays
        self.first_rows = int64_array(first)
        self._rows = np.argsort(numbers, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(np.bincount(numbers, minlength=count))[:-1]])

    def reduced(self, by: tuple[np.ufunc, Callable[[np.dtype[Any]], int]], column: pa.Array) -> pa.Array:
        """A value a group, null where it has none."""
        merge, neutral = by
        kind = np.dtype(f"i{column.type.bit_width // 8}")
        values = np.frombuffer(column.buffers()[1], kind)[column.offset : column.offset + len(column)]
        if not column.null_count:
            return pa.Array.from_buffers(column.type, len(self._starts), [None, self._merged(merge, values)])
        there = column.is_valid().to_numpy(zero_copy_only=False)
        merged = self._merged(merge, np.where(there, values, kind.type(neutral(kind))))
        valid = np.packbits(np.logical_or.reduceat(there[self._rows], self._starts), bitorder="little")
        return pa.Array.from_buffers(column.type, len(self._starts), [pa.py_buffer(valid), merged])

    def _merged(self, merge: np.ufunc, values: Any) -> pa.Buffer:
        return pa.py_buffer(merge.reduceat(values[self._rows], self._starts))


def group_numbers(key: pa.Array) -> tuple[Any, int]:
    """For each value, nulls too, the number of its like, from 0; and how many there are."""
    found = key.dictionary_encode(null_encoding="encode")
    numbers = np.frombuffer(found.indices.buffers()[1], np.int32)[found.indices.offset :][: len(key)]
    return numbers.astype(np.int64), len(found.dictionary)


def int64_array(numbers: Any) -> pa.Array:
    return pa.Array.from_buffers(pa.int64(), len(numbers), [None, pa.py_buffer(numbers)])


def one_of(batch: pa.RecordBatch, name: str, place: int | None = None) -> float | None:
    if place is None:
        return int(batch.num_rows)
    column = batch.column(place)
    if name == "count":
        return len(column) - int(column.null_count)
    if name == "sum":
        return pc.sum(whole(column)).as_py()  # type: ignore[no-any-return]
    if types.is_floating(column.type):
        return float_extreme(column, name)
    return pc.min_max(whole(column))[name].as_py()  # type: ignore[no-any-return]


def float_extreme(column: pa.Array, name: str) -> float | None:
    """As Spark has it: NaN equals itself and is above all numbers, and of two zeros the first one stays."""
    present = column.drop_null()
    is_nan = pc.is_nan(present)
    numbers = present.filter(pc.invert(is_nan))
    if len(numbers) < len(present) and (name == "max" or not len(numbers)):
        return math.nan
    found: float | None = pc.min_max(numbers)[name].as_py()
    if found == 0:
        return numbers[pc.index(pc.equal(numbers, 0.0), True).as_py()].as_py()  # type: ignore[no-any-return]
    return found


def whole(column: pa.Array) -> pa.Array:
    """The numbers that stand for its values: days, microseconds, hundredths."""
    if types.is_date32(column.type):
        return column.view(pa.int32())
    if types.is_timestamp(column.type):
        return column.view(pa.int64())
    if not types.is_decimal128(column.type):
        return column
    halves = np.frombuffer(column.buffers()[1], np.int64)[2 * column.offset :: 2][
        : len(column)
    ].copy()  # the lower ones
    return pa.Array.from_buffers(pa.int64(), len(column), [column.is_valid().buffers()[1], pa.py_buffer(halves)])


def valued(number: float | None, type_: pa.DataType) -> pa.Array:
    """A value from the number that stands for it."""
    if number is None:
        return pa.nulls(1, type_)
    kind = f"f{type_.bit_width // 8}" if types.is_floating(type_) else f"i{type_.bit_width // 8}"
    return pa.Array.from_buffers(type_, 1, [None, pa.py_buffer(np.array([number], kind))])


def largest_sum(column: pa.Array) -> int:
    found = pc.min_max(whole(column)).as_py()
    return 0 if found["min"] is None else max(abs(found["min"]), abs(found["max"])) * len(column)


def merged(name: str, first: float, second: float) -> float:
    if name not in ("min", "max"):
        return first + second
    return (min if name == "min" else max)(first, second, key=lambda value: (value != value, value))  # NaN is above all
