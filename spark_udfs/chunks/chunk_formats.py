"""Chunks of several formats: a column of theirs says which.

In: formats by that column's value; batches of chunks. Out: the format of an origin, as a stream asks for it. Refuses to know: how
chunks are parsed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame

import formatter as fm
from formatter.plans import rescue_of, with_rescue
from spark_udfs.types.named_columns import require_columns


@dataclass(frozen=True)
class ChunkFormats:
    formats: Mapping[Any, Any]
    column: str

    @classmethod
    def of(cls, df: DataFrame, formats: Mapping[Any, Any], column: str, rescue: str | None) -> ChunkFormats:
        require_columns(df.columns, [("format_column", column)])
        return cls({value: with_rescue(format, rescue) for value, format in formats.items()}, column)

    @property
    def schema(self) -> pa.Schema:
        """That all have, which a stream of them makes sure of."""
        if not self.formats:
            raise fm.OptionError("spark: format: expected formats by value of a column, found none")
        schema: pa.Schema = next(iter(self.formats.values())).schema
        return schema

    @property
    def rescue(self) -> str | None:
        """The column of what is rescued, if they have one."""
        return next((name for name in map(rescue_of, self.formats.values()) if name is not None), None)

    @property
    def kind(self) -> str:
        return f"formats by {self.column}"

    @property
    def body(self) -> ChunkFormats:
        """For chunks that no header stands in front of."""
        bodies = {value: body_of(format) for value, format in self.formats.items()}
        return self if bodies == self.formats else replace(self, formats=bodies)


def body_of(format: Any) -> Any:
    return format.body if isinstance(format, fm.Csv | ChunkFormats) else format


class OriginFormats:
    """Which format the origins of a task have, as far as they have come."""

    def __init__(self) -> None:
        self._values: dict[int | str, Any] = {}

    def learn(self, format: Any, origin: int | str, batch: pa.RecordBatch, first_row: int, rows: int) -> None:
        """Of neighbouring chunks of one origin."""
        if not isinstance(format, ChunkFormats):
            return
        if format.column not in batch.schema.names:
            raise fm.SchemaError(f"spark: format_column: no column {format.column!r}; there is {batch.schema.names}")
        for value in batch.column(format.column).slice(first_row, rows).unique().to_pylist():
            if value not in format.formats:
                known = ", ".join(map(repr, format.formats))
                raise fm.OptionError(f"spark: column {format.column!r}: {value!r} is none of the formats {known}")
            if self.remembered(origin, value) != value:
                raise fm.SchemaError(
                    f"spark: column {format.column!r} changes within origin {origin!r} (from {self._values[origin]!r} to "
                    f"{value!r}): all chunks of an origin have one format"
                )

    def remembered(self, origin: int | str, value: Any) -> Any:
        """The value of an origin's chunks: this one, if none came before."""
        return self._values.setdefault(origin, value)

    def value_of(self, origin: int | str) -> Any:
        return self._values.get(origin)

    def one(self, format: Any, origin: int | str) -> Any:
        """The format of one origin."""
        if not isinstance(format, ChunkFormats):
            return format
        if origin not in self._values:
            raise fm.SchemaError(f"spark: column {format.column!r}: no chunk of origin {origin!r} has told its format")
        return format.formats[self._values[origin]]

    def of(self, format: Any) -> Any:
        """What a stream is made with."""
        return self._chosen(format.formats) if isinstance(format, ChunkFormats) else format

    def _chosen(self, formats: Mapping[Any, Any]) -> Callable[[int | str], Any]:
        return lambda origin: formats[self._values[origin]]
