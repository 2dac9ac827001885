"""What leaves a stream: an Arrow record batch with its provenance."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from formatter.errors import SchemaError


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What leaves a stream: a record batch, and where it came from. Speaks the Arrow C data interface.

    Attributes:
        data: The `pyarrow.RecordBatch`.
        origin: The input its rows came from.
        spans: Inclusive ranges of the sequences it answers for; every sequence is in exactly one batch's spans.
        projection_version: Of a shared stream: the projection in force when it was decoded.
        projection: The columns that were decoded.
        number: How many left its stream before it: of an ordered stream that several threads push to, the order. Negative: it was
            saved with the stream, and comes before all others.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> stream = fm.Stream(fm.Csv(pa.schema([("id", pa.int64())])))
        >>> _ = stream.push(b"2\\n", sequence=2), stream.push(b"1\\n", sequence=1)
        >>> [(batch.origin, batch.spans, batch.num_rows) for batch in stream.finish()]
        [(0, ((1, 2),), 2)]
    """

    data: pa.RecordBatch
    origin: int | str
    spans: tuple[tuple[int, int], ...]
    projection_version: int = 1
    projection: tuple[str, ...] | None = None
    number: int = field(default=0, repr=False)

    @property
    def num_rows(self) -> int:
        """How many rows it has."""
        return int(self.data.num_rows)

    @property
    def schema(self) -> pa.Schema:
        """Of its data."""
        return self.data.schema

    def column(self, name: str | int) -> pa.Array:
        """The decoded column `name`. One outside the projection raises SchemaError: its nulls would not be the data's."""
        wanted = self.data.schema.names[name] if isinstance(name, int) else name
        if self.data.schema.get_field_index(wanted) < 0 or (
            self.projection is not None and wanted not in self.projection
        ):
            decoded = self.projection if self.projection is not None else tuple(self.data.schema.names)
            raise SchemaError(
                f"batch: column {wanted!r} was not decoded; projection {self.projection_version} has {decoded!r}"
            )
        return self.data.column(wanted)

    def view(self, schema: pa.Schema) -> pa.RecordBatch:
        """The columns of `schema` only, of its types. One outside the projection raises SchemaError."""
        arrays = [self.column(field.name) for field in schema]
        arrays = [
            array if array.type == field.type else array.cast(field.type)
            for array, field in zip(arrays, schema, strict=True)
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)

    def __len__(self) -> int:
        return self.num_rows

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        exported: tuple[object, object] = self.data.__arrow_c_array__(requested_schema)
        return exported

    def __arrow_c_schema__(self) -> object:
        return self.data.schema.__arrow_c_schema__()


class NullColumns:
    """All-null arrays for columns that are not decoded: slices of one cached array a type, free per batch."""

    def __init__(self) -> None:
        self._cached: dict[pa.DataType, pa.Array] = {}

    def column(self, wanted: pa.DataType, rows: int) -> pa.Array:
        cached = self._cached.get(wanted)
        if cached is None or len(cached) < rows:
            cached = pa.nulls(max(rows, 65_536), wanted)
            self._cached[wanted] = cached
        return cached.slice(0, rows)

    def positional(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        """The batch's columns at their places in the full schema, null elsewhere."""
        decoded = {name: i for i, name in enumerate(batch.schema.names)}
        arrays = [
            batch.column(decoded[field.name]) if field.name in decoded else self.column(field.type, batch.num_rows)
            for field in schema
        ]
        # An undecoded column is null whatever the schema says of it.
        fields = [field if field.name in decoded else field.with_nullable(True) for field in schema]
        return pa.RecordBatch.from_arrays(arrays, schema=pa.schema(fields, metadata=schema.metadata))
