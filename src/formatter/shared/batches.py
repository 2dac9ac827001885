"""What consumers of a shared stream receive: one batch for all of them, laid out in full only when somebody looks.

In: what was decoded, and where it stands in the schema. Out: fm.Batch. Refuses to know: queues, consumers.
"""

from __future__ import annotations

import pyarrow as pa

from formatter.batch import Batch
from formatter.shared.layout import Layout


class SharedBatch(Batch):
    """`data` has the full schema; what was not decoded is null there, and an error in `column()`."""

    __slots__ = ("_decoded", "_full", "_layout")
    _decoded: pa.RecordBatch
    _full: pa.RecordBatch | None
    _layout: Layout

    def __init__(
        self,
        decoded: pa.RecordBatch,
        layout: Layout,
        origin: int | str,
        spans: tuple[tuple[int, int], ...],
        projection_version: int,
        number: int,
    ) -> None:
        keep = object.__setattr__  # frozen for everybody else
        keep(self, "_decoded", decoded)
        keep(self, "_layout", layout)
        keep(self, "_full", None)
        keep(self, "origin", origin)
        keep(self, "spans", spans)
        keep(self, "projection_version", projection_version)
        keep(self, "projection", layout.paths)
        keep(self, "number", number)

    @property
    def data(self) -> pa.RecordBatch:
        full = self._full
        if full is None:
            full = self._layout.full(self._decoded)
            object.__setattr__(self, "_full", full)
        return full

    @property
    def decoded(self) -> pa.RecordBatch:
        """Only what was decoded: no nulls in place of other columns."""
        return self._decoded

    @property
    def num_rows(self) -> int:
        return int(self._decoded.num_rows)

    @property
    def schema(self) -> pa.Schema:
        return self._layout.schema

    def column(self, name: str | int) -> pa.Array:
        """A decoded column, or what a path like "user.name" leads to. One outside the projection is an error."""
        path = self._layout.schema.names[name] if isinstance(name, int) else name
        return self._layout.column(self._decoded, path, self.projection_version)

    def view(self, schema: pa.Schema) -> pa.RecordBatch:
        if len(schema) == 0:
            return self.data.select([])
        return super().view(schema)

    def __repr__(self) -> str:
        return (
            f"<SharedBatch of {self.num_rows} rows: origin {self.origin!r}, spans {self.spans}, projection "
            f"{self.projection_version} {self.projection!r}>"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return Batch, (self.data, self.origin, self.spans, self.projection_version, self.projection, self.number)
