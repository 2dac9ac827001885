"""What a task makes of its rows where a query asks only for counts, or for smallest, largest and sums of whole numbers.

In: batches of a narrowed task, and what is asked as pushdown_rule.java writes it. Out: batches of partial results, of which
Spark makes the whole ones as it would of the rows: one row a task, unless a sum might leave 64 bits. What Spark then does
(an error, or a number that wraps) is its own to decide, so it gets the values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from formatter.row_choice import BatchFilter
from spark_udfs.pushdown.predicates import Clauses, Tree, taken

LARGEST = 2**63 - 1


class PartialResults:
    """`columns`: positions that the rows' columns have in `filters` and `asked`."""

    def __init__(
        self,
        rows: Callable[..., Iterator[pa.RecordBatch]],
        columns: Sequence[int],
        filters: Sequence[Tree],
        asked: Sequence[Any],
    ) -> None:
        self._rows = rows
        self._place = {at: place for place, at in enumerate(columns)}
        self._filters = filters
        self._asked = [(name, *(self._place[at] for at in of)) for name, *of in asked]

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        totals: Totals | None = None
        chosen: BatchFilter | None = None
        for batch in self._rows(batches):
            totals = totals or Totals(self._asked, batch.schema)
            if self._filters:
                batch = batch.rename_columns([f"c{place}" for place in range(batch.num_columns)])
                chosen = chosen or BatchFilter(self._clauses(batch.schema), batch.schema)
                batch = chosen.kept(batch)
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


class Totals:
    def __init__(self, asked: Sequence[tuple[Any, ...]], rows: pa.Schema) -> None:
        self._asked = asked
        types = (rows.field(each[1]).type if each[0] in ("min", "max") else pa.int64() for each in asked)
        self._schema = pa.schema([(f"partial{at}", type_) for at, type_ in enumerate(types)])
        self._reset()

    def _reset(self) -> None:
        self._values: list[int | None] = [None] * len(self._asked)
        self._sizes = [0] * len(self._asked)  # of a sum: what it might have come to on the way, whatever the order

    def add(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """A batch's part; what has to leave before it, or instead."""
        found = [one_of(batch, *each) for each in self._asked]
        sizes = [largest_sum(batch.column(each[1])) if each[0] == "sum" else 0 for each in self._asked]
        if any(size > LARGEST for size in sizes):
            yield from self.leave()
            yield self._each_row(batch)
            return
        if any(before + size > LARGEST for before, size in zip(self._sizes, sizes, strict=True)):
            yield from self.leave()
        self._sizes = [before + size for before, size in zip(self._sizes, sizes, strict=True)]
        self._values = [
            value if before is None else before if value is None else merged(each[0], before, value)
            for each, before, value in zip(self._asked, self._values, found, strict=True)
        ]

    def leave(self) -> Iterator[pa.RecordBatch]:
        if any(value is not None for value in self._values):
            arrays = [pa.array([value], field.type) for value, field in zip(self._values, self._schema, strict=True)]
            yield pa.RecordBatch.from_arrays(arrays, schema=self._schema)
        self._reset()

    def _each_row(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        def column(name: str, place: int | None = None) -> pa.Array:
            if name != "count":
                return batch.column(place)
            return pa.repeat(True, batch.num_rows) if place is None else batch.column(place).is_valid()

        arrays = [column(*each).cast(field.type) for each, field in zip(self._asked, self._schema, strict=True)]
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)


def one_of(batch: pa.RecordBatch, name: str, place: int | None = None) -> int | None:
    if place is None:
        return int(batch.num_rows)
    column = batch.column(place)
    if name == "count":
        return len(column) - int(column.null_count)
    if name == "sum":
        return pc.sum(column).as_py()  # type: ignore[no-any-return]
    return pc.min_max(column)[name].as_py()  # type: ignore[no-any-return]


def largest_sum(column: pa.Array) -> int:
    found = pc.min_max(column).as_py()
    return 0 if found["min"] is None else max(abs(found["min"]), abs(found["max"])) * len(column)


def merged(name: str, first: int, second: int) -> int:
    return min(first, second) if name == "min" else max(first, second) if name == "max" else first + second
