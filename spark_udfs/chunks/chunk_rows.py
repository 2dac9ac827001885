"""Rows of raw chunks as Spark hands them to a task, checked.

In: record batches with an origin, a sequence and a payload column, found by name. Out: (origin, sequence, payload)
values in runs of an origin, and the columns that ride along. Refuses nulls and unknown names; knows
nothing of formats.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import IntegralType, StringType

import formatter as fm
from spark_udfs.types.named_columns import require_columns

PREFIX = "__formatter_"  # of columns of ours beside a user's


@dataclass(frozen=True)
class ChunkColumns:
    """Names of the columns that say where a chunk belongs and what it holds."""

    origin: str = "origin"
    sequence: str = "sequence"
    payload: str = "payload"

    @property
    def names(self) -> tuple[str, str, str]:
        return self.origin, self.sequence, self.payload

    def require(self, df: DataFrame) -> None:
        """SchemaError unless df has chunks under these names."""
        self._require_names(df.columns)
        type_ = df.schema[self.origin].dataType
        if not isinstance(type_, (StringType, IntegralType)):
            found = type_.simpleString()
            raise fm.SchemaError(
                f"spark: column {self.origin!r} names origins: expected a string or an integer, found {found}"
            )

    def _require_names(self, available: Sequence[str]) -> None:
        require_columns(available, zip(("origin", "sequence", "payload"), self.names, strict=True))

    def runs(self, batch: pa.RecordBatch) -> Iterator[tuple[int | str, int, Any, pa.Array]]:
        """(origin, first row, sequences, payloads) of each run of neighbouring chunks of one origin."""
        origins, sequences, payloads = self.checked(batch)
        numbers, names = sequences.to_numpy(), origins.to_pylist()
        start = 0
        for end in range(1, len(names) + 1):
            if end == len(names) or names[end] != names[start]:
                yield names[start], start, numbers[start:end], payloads.slice(start, end - start)
                start = end

    def checked(self, batch: pa.RecordBatch) -> tuple[pa.Array, pa.Array, pa.Array]:
        """Origins, sequences and payloads of a batch, none of them null."""
        self._require_names(batch.schema.names)
        origins, sequences, payloads = (batch.column(name) for name in self.names)
        for name, column in zip(self.names, (origins, sequences, payloads), strict=True):
            if column.null_count:
                row = column.is_null().index(pa.scalar(True)).as_py()
                raise null_chunk(name, f"row {row} of a batch of chunks")
        return origins, sequences, payloads


def null_chunk(column: str, which: str) -> fm.FormatError:
    return fm.FormatError(
        f"spark: column {column!r}: {which} is null; filter such rows out first",
        code="missing_required", column=column, expected="a value", found="null",
    )  # fmt: skip


class KeptColumns:
    """The columns of keep= for records that may span chunks: each must be one value for a whole origin."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names
        self._values: dict[int | str, list[pa.Scalar]] = {}

    def learn(self, origin: int | str, batch: pa.RecordBatch, rows: Iterable[int]) -> None:
        for row in rows if self.names else ():
            values = [batch.column(name)[row] for name in self.names]
            known = self._values.setdefault(origin, values)
            for name, before, now in zip(self.names, known, values, strict=True):
                if before != now and (before.is_valid or now.is_valid):
                    raise fm.SchemaError(
                        f"spark: column {name!r} in keep= changes within origin {origin!r} (from {before} to {now}); a "
                        "record may span chunks, so keep only columns that are constant for an origin, or stitch='none'"
                    )

    def forget(self, origin: int | str) -> None:
        self._values.pop(origin, None)

    def arrays(self, origin: int | str, row_count: int) -> list[pa.Array]:
        return [pa.repeat(value, row_count) for value in self._values[origin]] if self.names else []
