"""A consumer's filter: checked once, and kept apart from what the caller may change or use up later.

In: filters as users write them. Out: the same as an OR of ANDs with what identifies it. Refuses to know: who filters what.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from formatter.filters import Clause, Filters, check_columns, columns_of, described, normalized
from formatter.plans import filterable


@dataclass(frozen=True, slots=True)
class RowFilter:
    """`key`: equal for filters that keep the same rows of any batch because they ask the same. No clauses: every row."""

    clauses: list[list[Clause]]
    columns: tuple[str, ...] = ()
    key: str = ""


def row_filter(filters: Filters, schema: pa.Schema) -> RowFilter:
    """Unknown columns, and values that cannot be compared, are told of now."""
    clauses = kept(filters)
    names = columns_of(clauses)
    check_columns(names, schema, "filters")
    fields = [schema.field(name) for name in names]
    typed = described(clauses, filterable(fields, names), schema)
    return RowFilter(clauses, tuple(names), repr((names, typed)) if clauses else "")


def kept(filters: Filters) -> list[list[Clause]]:
    """Plans are made again and again: lists of values are copied, iterators run through once."""
    return [[_kept(clause) for clause in conjunction] for conjunction in normalized(filters)]


def _kept(clause: Clause) -> Clause:
    name, operator, value = clause
    if operator in ("in", "not in") and not isinstance(value, str | bytes) and hasattr(value, "__iter__"):
        value = list(value)
    return name, operator, value
