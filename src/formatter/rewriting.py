"""Records of one format as those of another. In: records, the format they have, the one they are to have. Out: bytes.

Text that means the same in both stays text: strings, and of CSV the numbers, which are looked at and not read. Other values are
parsed and written anew. Refuses to know where bytes come from, and where they go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from formatter import _core, filters, readers, types
from formatter.errors import OptionError, SchemaError, names_shown
from formatter.filters import Filters
from formatter.formats import Csv, Json, Native
from formatter.formats.binary import native_width
from formatter.formats.checks import as_bytes
from formatter.mistaken_arguments import kind_of, named_options
from formatter.plans import Format, make_plan
from formatter.sources import Source

# The order is that of WrittenAs in engine/writing/text_rows.hpp.
BARE, NUMBER, TEXT = range(3)
TARGETS = (Csv, Json, Native)
# What of a target says how records are written; everything else has to be as it is when nobody says anything.
SAID = {"Csv": ("schema", "delimiter", "quote", "header", "nulls"), "Json": ("schema",), "Native": ("schema", "endian")}


@named_options
class Rewriter:
    """Batches of one format to bytes of another.

    Args:
        format: How the records are written.
        to: How they are to be written: `fm.Csv`, `fm.Json` or `fm.Native`. The columns of its schema, in their order, are those
            of `format`, with the same types.
        filters: Those by which the records are read, if any.

    Raises:
        OptionError: `to` is no format that can be written, or says more than the delimiter, the quote, a header and the nulls.
        SchemaError: A column that `format` lacks, has another type there, or a type that cannot be written.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("id", pa.int64()), ("city", pa.string())])
        >>> rewriter = fm.Rewriter(fm.Csv(schema), to=fm.Json(schema))
        >>> stream = fm.Stream(rewriter.format, columns=rewriter.columns)
        >>> batches = stream.push(b"7,Oslo\\n008,Ro", sequence=1) + stream.push(b"me\\n", sequence=2) + stream.finish()
        >>> b"".join(rewriter.rewritten(batch.data) for batch in batches)
        b'{"id":7,"city":"Oslo"}\\n{"id":8,"city":"Rome"}\\n'
    """

    def __init__(self, format: Format, *, to: Csv | Json | Native, filters: Filters = None) -> None:
        _check_target(to)
        self.to = to
        self.columns = list(to.schema.names)
        for field in to.schema:
            _check_column(field, format, to)
        self.format = _with_texts(format, to, filters)
        self._ways = [_way_of(self.format.schema.field(name)) for name in self.columns]
        make_plan(self.format, columns=self.columns, filters_wanted=filters)

    @property
    def header(self) -> bytes:
        """What is to stand in front of all records."""
        if not isinstance(self.to, Csv) or self.to.header is False:
            return b""
        names = pa.array([[name] for name in self.columns]).flatten()
        one_row = pa.record_batch([names.slice(i, 1) for i in range(len(names))], names=self.columns)
        return self._lines(one_row, [TEXT] * len(self.columns))

    def rewritten(self, batch: pa.RecordBatch) -> bytes:
        """The rows of a batch that was read by `format`, with `columns`.

        Args:
            batch: Rows, of `fm.read`, `fm.open` or a stream.

        Returns:
            The same rows as records of `to`, without its header.

        Raises:
            SchemaError: A value that `to` has no spelling for: null in binary rows, infinity in JSON.
        """
        if isinstance(self.to, Native):
            return _packed(batch, self.to)
        texts = [_as_text(column, self.to, name) for column, name in zip(batch.columns, self.columns, strict=True)]
        if isinstance(self.to, Csv) and not self.to.nulls and any(column.null_count for column in texts):
            raise SchemaError("Csv: nulls: there are nulls, and nothing they are written as; give nulls")
        return self._lines(pa.record_batch(texts, names=self.columns), self._ways)

    def _lines(self, batch: pa.RecordBatch, ways: list[int]) -> bytes:
        large = [pa.types.is_large_string(kind) or pa.types.is_large_binary(kind) for kind in batch.schema.types]
        columns = [(name.encode(), *rest) for name, *rest in zip(self.columns, ways, large, strict=True)]
        csv = None
        if isinstance(self.to, Csv):
            nulls = [token.encode() for token in self.to.nulls]
            delimiter, quote = as_bytes(self.to.delimiter, "delimiter"), as_bytes(self.to.quote or "", "quote")
            csv = (delimiter[0], quote[0], nulls[0] if nulls else b"", nulls)
        _, capsule = batch.__arrow_c_array__()
        return _core.LineWriter(columns, csv).written(capsule)


@named_options
def rewrite(
    source: Source,
    format: Format,
    *,
    to: Csv | Json | Native,
    filters: Filters = None,
    threads: int | None = None,
    on_error: str = "raise",
    codec: str | None = None,
    rejects: list[pa.Table] | None = None,
    max_errors: int | float | None = None,
) -> Iterator[bytes]:
    """The records of an input as those of another format, piece by piece, in bounded memory.

    Args:
        source: As for `fm.read`.
        format: How it is written.
        to: How it is to be written: `fm.Csv`, `fm.Json` or `fm.Native`, with the columns wanted in its schema.
        filters: As for `fm.read`.
        threads: As for `fm.read`.
        on_error: As for `fm.read`. A number that stays text and is none is `invalid`, whatever is wrong with it.
        codec: As for `fm.read`.
        rejects: As for `fm.open`.
        max_errors: As for `fm.read`.

    Returns:
        An iterator of bytes, in the order of the input: a header first, if `to` has one.

    Raises:
        OptionError: An argument is out of its range, or `to` cannot be written.
        SchemaError: A column that `format` lacks or that cannot be written, or a value that `to` has no spelling for.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> schema = pa.schema([("id", pa.int64()), ("price", pa.float64())])
        >>> b"".join(fm.rewrite(b"1,9.50\\n+2,\\n", fm.Csv(schema), to=fm.Json(schema)))
        b'{"id":1,"price":9.50}\\n{"id":2,"price":null}\\n'
    """
    rewriter = Rewriter(format, to=to, filters=filters)
    reader = readers.open(
        source, rewriter.format, columns=rewriter.columns, filters=filters, threads=threads, on_error=on_error,
        codec=codec, rejects=rejects, max_errors=max_errors,
    )  # fmt: skip
    return _pieces(rewriter, reader)


def _pieces(rewriter: Rewriter, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    if header := rewriter.header:
        yield header
    for batch in batches:
        yield rewriter.rewritten(batch)


def _check_target(to: Any) -> None:
    if not isinstance(to, TARGETS):
        raise OptionError(f"to: expected fm.Csv, fm.Json or fm.Native, found {kind_of(to)}")
    kind = type(to).__name__
    if not len(to.schema):  # batches without columns do not even say how many records there were
        raise SchemaError(f"to: {kind}: schema: expected at least one column, found none")
    said = [name for name in to.asked if name not in SAID[kind]]
    if said:
        raise OptionError(
            f"to: {kind} is written with {', '.join(SAID[kind][1:]) or 'no options'}; leave out {', '.join(said)}"
        )
    if not isinstance(to, Csv):
        return
    if to.header not in (False, True) or len(as_bytes(to.delimiter, "delimiter")) > 1 or to.quote is None:
        raise OptionError("to: Csv is written with a delimiter of one byte, a quote, and one header in front or none")
    null = to.nulls[0].encode() if to.nulls else b""
    if set(null) & set(as_bytes(to.delimiter, "delimiter") + as_bytes(to.quote, "quote") + b"\r\n"):
        raise OptionError(f"to: Csv: nulls: {to.nulls[0]!r} cannot stand without quotes; put one first that can")


def _check_column(field: pa.Field, format: Format, to: Any) -> None:
    name, kind = field.name, type(to).__name__
    if format.schema.get_field_index(name) < 0:
        raise SchemaError(
            f"to: {kind}: no column {name!r} in the source; it has {names_shown(format.schema.names, name)}"
        )
    source = format.schema.field(name)
    if source.type != field.type:
        raise SchemaError(
            f"to: {kind}: column {name!r} is {field.type}, in the source {source.type}; expected the same"
        )
    if field.metadata:
        raise SchemaError(f"to: {kind}: column {name!r}: expected no metadata: values are written as their type says")
    if not isinstance(to, Native) and not _can_be_text(field.type):
        raise SchemaError(f"to: {kind}: column {name!r}: {field.type} cannot be written as text")


def _can_be_text(kind: pa.DataType) -> bool:
    t = pa.types
    if t.is_dictionary(kind):
        return _can_be_text(kind.value_type)
    if t.is_decimal(kind):
        return bool(kind.precision <= 38 and kind.scale >= 0)
    known = (t.is_boolean, t.is_integer, t.is_floating, t.is_date, t.is_timestamp, t.is_time, t.is_duration, _is_text)
    return any(is_one(kind) for is_one in known)


def _is_text(kind: pa.DataType) -> bool:
    return kind in (pa.string(), pa.large_string(), pa.string_view())


def _with_texts(format: Format, to: Any, wanted: Filters) -> Format:
    """The format, with binaries in place of the numbers whose text stays."""
    if not isinstance(format, Csv) or isinstance(to, Native):
        return format
    asked = set(filters.columns_of(filters.normalized(wanted)))
    fields = []
    for field in format.schema:
        stays = field.name in to.schema.names and field.name not in asked and not field.metadata
        finite = not (isinstance(to, Csv) and pa.types.is_floating(field.type))  # CSV has infinity
        number = types.number_metadata(field.type, format.decimal) if stays and finite else None
        fields.append(pa.field(field.name, pa.binary(), field.nullable, number) if number else field)
    return replace(format, schema=pa.schema(fields, metadata=format.schema.metadata))


def _way_of(field: pa.Field) -> int:
    if types.NUMBER_KEY in (field.metadata or {}):
        return NUMBER
    t = pa.types
    kind = field.type.value_type if t.is_dictionary(field.type) else field.type
    bare = (t.is_boolean, t.is_integer, t.is_floating, t.is_decimal, t.is_duration)
    return BARE if any(is_one(kind) for is_one in bare) else TEXT


def _as_text(column: pa.Array, to: Any, name: str) -> pa.Array:
    t = pa.types
    if t.is_dictionary(column.type):
        column = column.dictionary_decode()
    kind = column.type
    if t.is_floating(kind):
        if t.is_float16(kind):
            column = column.cast(pa.float32())
        if isinstance(to, Json) and pc.any(pc.invert(pc.is_finite(column))).as_py():
            raise SchemaError(f"to: Json: column {name!r}: JSON has no infinity and no NaN; make them null first")
    elif t.is_decimal(kind):
        text = column.cast(pa.string())
        if pc.any(pc.match_substring(text, "E")).as_py():
            text = pa.array(
                [None if value is None else format(value, "f") for value in column.to_pylist()], pa.string()
            )
        return text
    elif t.is_duration(kind):
        column = column.cast(pa.int64())
    elif t.is_date64(kind):
        column = column.cast(pa.date32())
    elif t.is_timestamp(kind) and kind.tz is not None:
        column = column.cast(pa.timestamp(kind.unit))  # without an offset a time is UTC
    elif t.is_binary(kind) or kind in (pa.string(), pa.large_string()):
        return column
    return column.cast(pa.string())


def _packed(batch: pa.RecordBatch, to: Native) -> bytes:
    """Rows of fixed width, one column at a time."""
    rows = np.zeros((batch.num_rows, to.row_width), np.uint8)
    begin = 0
    for column, field in zip(batch.columns, to.schema, strict=True):
        if column.null_count:
            raise SchemaError(
                f"to: Native: column {field.name!r} has nulls, and binary rows have none; filter is_not_null"
            )
        width = native_width(field.type)
        if width is None:
            raise SchemaError(f"to: Native: column {field.name!r}: {field.type} has no fixed width")
        if pa.types.is_boolean(field.type):
            column = column.cast(pa.uint8())
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        buffer = column.buffers()[1]
        bytes_of = np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)
        values = bytes_of[column.offset * width : (column.offset + len(column)) * width].reshape(-1, width)
        is_number = not pa.types.is_fixed_size_binary(field.type)
        rows[:, begin : begin + width] = values[:, ::-1] if to.endian == "big" and is_number else values
        begin += width
    return rows.tobytes()
