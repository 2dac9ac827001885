"""Partition folders (`day=2024-01-31/`) as columns.

In: files with the raw texts of their k=v folders. Out: one Arrow field a key, with the narrowest type all texts are of, or
the type asked for, and one value a file; and which files filters on these columns leave. Knows nothing of contents.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

import formatter as fm
from formatter.row_choice import BatchFilter
from spark_udfs.files.file_listing import FoundFile

MOST_DIGITS = 38
INTEGER = re.compile(rf"[+-]?[0-9]{{1,{MOST_DIGITS}}}")
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
NO_FOLDERS = pa.RecordBatch.from_struct_array(pa.nulls(1, pa.struct([])))
TIME = re.compile(DAY.pattern + r"([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,6})?)?)?")


@dataclass(frozen=True)
class Partitioning:
    """`values[i]`: those of file i, in the order of the schema's fields."""

    schema: pa.Schema
    values: tuple[tuple[Any, ...], ...]


def partitioning_of(files: Sequence[FoundFile], types: pa.Schema | None = None) -> Partitioning:
    keys = [tuple(key for key, _ in file.partition) for file in files]
    if not files:
        return Partitioning(pa.schema([]), ())
    for file, names in zip(files, keys, strict=True):
        if names != keys[0]:
            raise fm.SchemaError(
                f"spark: partition folders differ: {files[0].path!r} has ({', '.join(keys[0])}), {file.path!r} has "
                f"({', '.join(names)}); read them apart, or give base_path= or partitions=None"
            )
    if types is not None and (unknown := set(types.names) - set(keys[0])):
        raise fm.SchemaError(f"spark: partitions= names {min(unknown)!r}; the folders have ({', '.join(keys[0])})")
    columns, fields = [], []
    for position, name in enumerate(keys[0]):
        texts = [file.partition[position][1] for file in files]
        type_ = types.field(name).type if types is not None and name in types.names else _inferred(texts)
        fields.append(pa.field(name, type_))
        columns.append(_parsed(texts, type_, name))
    return Partitioning(pa.schema(fields), tuple(zip(*columns, strict=True)) if columns else ((),) * len(files))


def _inferred(texts: Sequence[str | None]) -> pa.DataType:
    present = [text for text in texts if text is not None]
    if not present:
        return pa.string()
    digits = max(len(text.lstrip("+-0")) for text in present)
    whole = pa.decimal128(min(max(digits, 1), MOST_DIGITS), 0)
    for pattern, type_ in (
        *((INTEGER, type_) for type_ in (pa.int32(), pa.int64(), whole)),
        *((NUMBER, pa.float64()), (DAY, pa.date32()), (TIME, pa.timestamp("us"))),
    ):
        if all(pattern.fullmatch(text) for text in present) and _parses(present, type_):
            return type_
    return pa.string()


def _parses(texts: Sequence[str], type_: pa.DataType) -> bool:
    try:
        _parsed(texts, type_, "")
    except fm.SchemaError:
        return False
    return True


def _parsed(texts: Sequence[str | None], type_: pa.DataType, name: str) -> list[Any]:
    try:
        if pa.types.is_timestamp(type_):
            naive = [None if text is None else dt.datetime.fromisoformat(text) for text in texts]
            return pa.array(naive, pa.timestamp("us")).cast(type_).to_pylist()  # type: ignore[no-any-return]
        if pa.types.is_integer(type_):
            texts = [text if text is None or not INTEGER.fullmatch(text) else str(int(text)) for text in texts]
        return pa.array(texts, pa.string()).cast(type_).to_pylist()  # type: ignore[no-any-return]
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise fm.SchemaError(
            f"spark: partition column {name!r}: {error}; declare it a string in partitions="
        ) from error


class FolderFilter:
    """An OR of ANDs, as far as the folders decide it."""

    def __init__(self, clauses: Sequence[Sequence[Any]], folders: pa.Schema) -> None:
        self._folders = folders
        self._all_of = []
        for all_of in clauses:
            known = [clause for clause in all_of if clause[0] in folders.names]
            rest = [clause for clause in all_of if clause[0] not in folders.names]
            self._all_of.append((BatchFilter([known], folders), rest))

    def left(self, values: Sequence[Any]) -> list[list[Any]] | None:
        """What is still asked of the contents of a file with these partition values; None: no row can pass."""
        arrays = [pa.array([value], field.type) for value, field in zip(values, self._folders, strict=True)]
        file = pa.RecordBatch.from_arrays(arrays, schema=self._folders) if arrays else NO_FOLDERS
        left = [rest for known, rest in self._all_of if known.kept(file).num_rows]
        if not self._all_of or not all(left):
            return []
        return left or None
