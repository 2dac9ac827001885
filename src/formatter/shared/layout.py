"""The full schema's positions over a batch of what was decoded: null elsewhere, without a cost per row.

In: a decoded batch and what its plan decodes. Out: a record batch with every column of the schema at its place.
Refuses to know: consumers, versions.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from formatter.batch import NullColumns
from formatter.errors import SchemaError
from formatter.plans.json_plans import Wanted, is_list, longest_name, selection
from formatter.shared.needs import Needs, covers, paths


class Layout:
    """`needs`: what is decoded. Fields of the schema that are not decoded, or not wholly, are nullable here."""

    def __init__(self, needs: Needs, schema: pa.Schema, nulls: NullColumns) -> None:
        self.needs = needs
        self.paths = paths(needs, schema)
        self._wanted = schema
        self._names = dict.fromkeys(schema.names)
        self._nulls = nulls
        self._partial = {name: wanted for name, wanted in needs.items() if wanted is not None}
        fields = [_relaxed(field, needs[field.name]) if field.name in needs else _undecoded(field) for field in schema]
        self.schema = pa.schema(fields, metadata=schema.metadata)
        self._places = [(schema.get_field_index(name), name) for name in needs]
        self._empty: tuple[int, list[pa.Array]] = (-1, [])  # a row count, and all columns of it, undecoded

    def full(self, decoded: pa.RecordBatch) -> pa.RecordBatch:
        rows = decoded.num_rows
        cached_rows, cached = self._empty
        if cached_rows != rows:  # most batches are as long as the one before
            cached = [self._nulls.column(field.type, rows) for field in self.schema]
            self._empty = (rows, cached)
        arrays = list(cached)
        for place, name in self._places:
            array = decoded.column(name)
            if name in self._partial:
                array = self._expanded(array, self.schema.field(place).type, self._partial[name])
            arrays[place] = array
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def column(self, decoded: pa.RecordBatch, path: str, version: int) -> pa.Array:
        """What stands at a name, or at a path into a nested column; an error if it was not decoded."""
        name, rest = self._place(path, version)
        wanted = selection(self._wanted.field(name).type, rest, path) if rest else None
        whole = not rest and name in self._partial  # what there is of it
        if name not in self.needs or not (whole or covers(self.needs[name], wanted)):
            raise self._not_decoded(path, version)
        array = decoded.column(name)
        if whole:
            place = self.schema.get_field_index(name)
            return self._expanded(array, self.schema.field(place).type, self._partial[name])
        return _at(array, wanted) if rest else array

    def _place(self, path: str, version: int) -> tuple[str, str]:
        try:
            return longest_name(path, self._names, path)
        except SchemaError:
            raise self._not_decoded(path, version) from None

    def _not_decoded(self, path: str, version: int) -> SchemaError:
        return SchemaError(f"batch: column {path!r} was not decoded; projection {version} has {self.paths!r}")

    def _expanded(self, array: pa.Array, kind: pa.DataType, wanted: Wanted) -> pa.Array:
        """A partly decoded value in its full type: what was not decoded of it is null."""
        if wanted is None:
            return array
        if array.offset:
            array = pc.take(array, pa.array(range(len(array)), pa.int64()))
        if is_list(kind):
            own = 1 if pa.types.is_fixed_size_list(kind) else 2
            values = self._expanded(array.values, kind.value_type, wanted)
            return _rebuilt(array, kind, own, [values])
        members = []
        for field in kind:
            if field.name in wanted:
                members.append(self._expanded(array.field(field.name), field.type, wanted[field.name]))
            else:
                members.append(self._nulls.column(field.type, len(array)))
        return _rebuilt(array, kind, 1, members)


def _rebuilt(array: pa.Array, kind: pa.DataType, own_buffers: int, children: list[pa.Array]) -> pa.Array:
    buffers: list[Any] = array.buffers()[:own_buffers]
    return pa.Array.from_buffers(kind, len(array), buffers, array.null_count, 0, children)


def _undecoded(field: pa.Field) -> pa.Field:
    """An undecoded column is null whatever the schema says of it."""
    return field.with_nullable(True)


def _relaxed(field: pa.Field, wanted: Wanted) -> pa.Field:
    if wanted is None:
        return field
    kind = field.type
    if is_list(kind):
        item = _relaxed(kind.value_field, wanted)
        if pa.types.is_fixed_size_list(kind):
            return field.with_type(pa.list_(item, kind.list_size))
        return field.with_type(pa.large_list(item) if pa.types.is_large_list(kind) else pa.list_(item))
    members = [_relaxed(m, wanted[m.name]) if m.name in wanted else _undecoded(m) for m in kind]
    return field.with_type(pa.struct(members))


def _at(array: pa.Array, wanted: Wanted) -> pa.Array:
    """The one member that a path leads to; behind a list, the lists of it."""
    if wanted is None:
        return array
    if is_list(array.type):
        values = _at(array.values, wanted)
        own = 1 if pa.types.is_fixed_size_list(array.type) else 2
        item = pa.field(array.type.value_field.name, values.type)
        if pa.types.is_fixed_size_list(array.type):
            kind = pa.list_(item, array.type.list_size)
        else:
            kind = pa.large_list(item) if pa.types.is_large_list(array.type) else pa.list_(item)
        return pa.Array.from_buffers(kind, len(array), array.buffers()[:own], array.null_count, array.offset, [values])
    ((name, deeper),) = wanted.items()
    return _at(pc.struct_field(array, name), deeper)
