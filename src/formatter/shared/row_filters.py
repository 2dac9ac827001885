"""A consumer's filter, checked once.

In: filters as users write them. Out: the same as an OR of ANDs with what identifies it. Refuses to know: who filters what.
"""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from formatter.errors import OptionError
from formatter.filters import Clause, Filters, check_columns, columns_of, described, normalized
from formatter.parsers.registry import METADATA_KEY
from formatter.plans.plan_request import filterable


@dataclass(frozen=True, slots=True)
class RowFilter:
    """`key`: equal for filters that keep the same rows of any batch because they ask the same. No clauses: every row."""

    clauses: list[list[Clause]]
    columns: tuple[str, ...] = ()
    key: str = ""


def row_filter(filters: Filters, schema: pa.Schema) -> RowFilter:
    """Unknown columns, and values that cannot be compared, are told of now."""
    clauses = normalized(filters)
    names = columns_of(clauses)
    check_columns(names, schema, "filters")
    fields = [schema.field(name) for name in names]
    made = [field.name for field in fields if METADATA_KEY in (field.metadata or {})]
    if made:
        raise OptionError(f"filters: a parser makes {made}: a consumer filters its batches by it when it has them")
    typed = described(clauses, filterable(fields, names), schema)
    return RowFilter(clauses, tuple(names), repr((names, typed)) if clauses else "")
