"""What a format is asked to decode, and what it makes of that. In: fields, filters, what errors do. Out: plain
values for the engine.

Refuses to know: what options of a format mean. Each one's plans module turns a request into an engine's plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import pyarrow as pa

from formatter import filters, types
from formatter.errors import OptionError
from formatter.formats import Framed
from formatter.formats.checks import ON_ERROR
from formatter.variants import is_variant


class EnginePlan(NamedTuple):
    """`stored`: the types that the output's columns are decoded to. `big_endian`: another `engine`, for UTF-16
    whose mark says so."""

    engine: Any
    stored: list[pa.DataType]
    big_endian: Any = None


class Wanted(NamedTuple):
    """What is asked of a format, whichever. `columns`: names, None for all. `clauses`: which rows. `single`: what is read is one
    record by itself, of binary rows without their length."""

    columns: Sequence[str] | None
    clauses: list[list[filters.Clause]]
    on_error: str
    note_nulled: bool
    single: bool


class PlanRequest:
    """`fields`: the output's, which `wanted` names."""

    def __init__(self, format: Any, fields: list[pa.Field], wanted: Wanted) -> None:
        self.format, self.fields, self.clauses, self.single = format, fields, wanted.clauses, wanted.single
        self.inner: Any = format.inner if isinstance(format, Framed) else format
        self._errors = {"on_error": ON_ERROR.index(wanted.on_error), "note_nulled": wanted.note_nulled}
        self.names = [field.name for field in fields]

    @cached_property
    def decoded(self) -> list[pa.Field]:
        """The output's fields, then those that only filters look at."""
        others = [name for name in filters.columns_of(self.clauses) if name not in self.names]
        return self.fields + [self.format.schema.field(name) for name in others]

    def options(self, columns: list[dict[str, Any]], rescue: str | None = None) -> dict[str, Any]:
        """What is asked of every format alike. `columns`: names and type codes of what is decoded."""
        return self._errors | {
            "output_columns": len(self.fields),
            "filters": filters.described(self.clauses, columns, self.format.schema),
            "rescues": rescue is not None,
            "rescue_column": self.names.index(rescue) if rescue in self.names else -1,
        }

    def text_columns(self, places: dict[str, int]) -> list[dict[str, Any]]:
        """What is decoded, for formats whose fields are text. `places`: of a column's field in a record."""
        owner = type(self.format).__name__
        described = []
        for field in self.decoded:
            spec = types.column_description(field, owner=owner, place=places.get(field.name, 0))
            spec["layout"] = types.text_layout(field)
            described.append(spec)
        return described

    @cached_property
    def laid_out(self) -> list[pa.DataType]:
        """The types of the output's columns as such formats decode them."""
        return [types.laid_out(field) for field in self.fields]


def can_filter(schema: pa.Schema, names: Sequence[str]) -> bool:
    """Whether parsing can filter by these columns: values that are nested it only knows when a record is whole."""
    kinds = [schema.field(name).type for name in names]
    return all(not is_variant(kind) and types.type_code(types.storage_type(kind)) is not None for kind in kinds)


def filterable(fields: Sequence[pa.Field], filter_names: Sequence[str]) -> list[dict[str, Any]]:
    """Names and type codes by position, for filters: those look at top-level values that are not nested."""
    columns: list[dict[str, Any]] = []
    for field in fields:
        code = None if is_variant(field.type) else types.type_code(types.storage_type(field.type))
        if code is None and field.name in filter_names:
            raise OptionError(
                f"filters: {field.name!r} is {field.type}: only values that are not nested can be compared"
            )
        columns.append({"name": field.name, "type": code})
    return columns
