"""Arrays of raw values to typed data: one record per value, or one field per value. No buffers, no streams."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from formatter import _core, diagnostics
from formatter.buffers import addresses_of
from formatter.errors import FormatError, OptionError, SchemaError, shown
from formatter.exploded_values import explode, in_value
from formatter.filters import Filters, normalized
from formatter.foreign_code import raise_kept
from formatter.formats import Framed, Json, Native
from formatter.formats.csv import check_byte_order
from formatter.mistaken_arguments import named_options
from formatter.plans import Format, check_format, make_plan, record_end_of, rescue_of, with_rescue
from formatter.raw_values import as_records, value_format
from formatter.row_choice import BatchFilter, taken_rows
from formatter.types import TEXTS, VIEWS, type_code
from formatter.variants import Columns


@dataclass(frozen=True, slots=True)
class ParsedRecords:
    """What `fm.parse_records_with_errors` gives.

    Attributes:
        data: One row per value.
        details: What was wrong, by value: each an `fm.FormatError` that was not raised.
        kept: By row, the value it is from: with filters, or where values hold several records, as with
            `fm.Json(records="/Records/*")`. None: every value has its row.
        absent: By row, whether its value was null or blank; None if none was.
        values_decoded: By column, how many values were parsed.
        value_count: How many values came in.
        detail_rows: By detail, the row it is of; None where a filter dropped that.
        detail_raw: By detail, the bytes of the bad record, where values hold several; else empty.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> parsed = fm.parse_records_with_errors([b"1", b"x"], fm.Csv(pa.schema([("id", pa.int64())])))
        >>> parsed.data.column("id").to_pylist(), [error.record for error in parsed.details]
        ([1, None], [1])
    """

    data: pa.RecordBatch
    details: tuple[FormatError, ...]
    kept: pa.Array | None
    absent: pa.Array | None
    values_decoded: tuple[int, ...]
    value_count: int
    detail_rows: tuple[int | None, ...] = ()
    detail_raw: tuple[bytes, ...] = ()

    @property
    def errors(self) -> pa.Array:
        """Per value, what was wrong, or null; the last of it, where values hold several records."""
        messages: list[str | None] = [None] * self.value_count
        for error in self.details:
            if error.record is not None:
                messages[error.record] = str(error)
        return pa.array(messages, pa.string())


@named_options
def parse_records(
    array: Any,
    format: Format,
    *,
    columns: Columns = None,
    on_error: str = "null",
    rescue: str | None = None,
    source: str | None = None,
) -> pa.RecordBatch:
    """A record a value: one row of the result for each. Values that wrap an array (`fm.Json(records="/Records/*")`) hold any
    number of records: a row for each of those.

    Args:
        array: An Arrow array of binary or text, or a list of bytes-like objects.
        format: How each value is written.
        columns: Names of the columns wanted. None: all of the schema.
        on_error: "null": a null or bad value gives a row of nulls; "raise": the first bad one is an error.
        rescue: As for `fm.read`; a bad value as a whole is there under the column's own name.
        source: The name of one more column, the last, an int64: by row, which value it is from.

    Returns:
        A `pyarrow.RecordBatch` with as many rows as `array` has values, or as its values have records, in order. A null value,
        and one without records, has no row then, and a bad record is a row of nulls.

    Raises:
        FormatError: A value is not what the format says (on_error="raise").
        OptionError: An argument is out of its range.
        SchemaError: A column that the schema does not have, or one more named as one of its.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> values = pa.array(['{"id": 1, "tags": ["a"]}', None, '{"id": 2}'])
        >>> fm.parse_records(values, fm.Json(pa.schema([("id", pa.int64())]))).column("id").to_pylist()
        [1, None, 2]
        >>> payloads = [b'{"Records": [{"id": 1}, {"id": 2}]}', b'{"Records": []}', b'{"Records": [{"id": 3}]}']
        >>> wrapped = fm.Json(pa.schema([("id", pa.int64())]), records="/Records/*")
        >>> fm.parse_records(payloads, wrapped, source="payload").to_pydict()
        {'id': [1, 2, 3], 'payload': [0, 0, 2]}
    """
    parsed = parse_records_with_errors(array, format, columns=columns, on_error=on_error, rescue=rescue)
    if source is None:
        return parsed.data
    if not isinstance(source, str):
        raise OptionError(f"parse_records: source: expected the name of a column, found {source!r}")
    if source in parsed.data.schema.names:
        raise SchemaError(f"parse_records: source: there is a column {source!r} already; give another name")
    values = pa.array(range(parsed.value_count), pa.int64()) if parsed.kept is None else parsed.kept
    return parsed.data.append_column(source, values)


@named_options
def parse_records_with_errors(
    array: Any,
    format: Format,
    *,
    columns: Columns = None,
    on_error: str = "null",
    rescue: str | None = None,
) -> ParsedRecords:
    """As `fm.parse_records`, and what was wrong with each value.

    Args:
        array: As for `fm.parse_records`.
        format: As for `fm.parse_records`.
        columns: As for `fm.parse_records`.
        on_error: As for `fm.parse_records`.
        rescue: As for `fm.parse_records`.

    Returns:
        `fm.ParsedRecords`: the rows, and the errors by value.

    Raises:
        FormatError: A value is not what the format says (on_error="raise").
        OptionError: An argument is out of its range.
        SchemaError: A column that the schema does not have.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> parsed = fm.parse_records_with_errors([b"7", b"x"], fm.Csv(pa.schema([("id", pa.int64())])))
        >>> [(error.record, error.code) for error in parsed.details]
        [(1, 'invalid')]
    """
    return RecordParser(with_rescue(format, rescue), columns=columns, on_error=on_error).parse(array)


class RecordParser:
    """The same plan for many arrays. With filters, only values that pass have a row; a null or bad value is a row of
    nulls to them."""

    def __init__(
        self,
        format: Format,
        *,
        columns: Columns = None,
        filters: Filters = None,
        on_error: str = "null",
    ) -> None:
        if on_error not in ("null", "raise"):
            raise OptionError(
                f"parse_records: on_error: expected 'null' or 'raise' (every value has its row), found {on_error!r}"
            )
        check_format(format)
        check_byte_order(format, "parse_records")
        self._explodes = isinstance(format, Json) and format.explodes
        if isinstance(format, Json) and format.records != "lines" and not self._explodes:
            format = replace(format, records="lines")  # each value is a record, however others stand
        if isinstance(format, Framed):
            format = format.inner
        filters = normalized(filters)
        self._format = format
        self._raises = on_error == "raise"
        self._filtered = bool(filters)
        self._keeps_nulls = BatchFilter(filters, format.schema).keeps_nulls()
        self._plan = make_plan(
            format,
            columns=columns,
            filters_wanted=filters,
            on_error=on_error,
            note_nulled=not self._raises,
            single=True,
        )
        self._describer = diagnostics.Describer(format, self._plan.engine.column_names)
        self._rescue = rescue_of(format)
        self._record_end = b"" if isinstance(format, Native) else record_end_of(format)

    @property
    def schema(self) -> pa.Schema:
        """Of the rows. A column that may not be null is null all the same where a value gave no row."""
        return self._plan.schema

    def parse(self, array: Any) -> ParsedRecords:
        addresses, sizes, valid, keep = addresses_of(array)
        if self._explodes:
            return self._exploded(addresses, sizes, valid)
        plan = self._plan
        read = _core.parse_record_array(plan.engine, addresses, sizes, valid, self._record_end)
        if read is None:
            raise diagnostics.too_large_batch(plan.schema)
        capsule, rows, findings, decoded = read
        raise_kept()
        del keep
        findings.sort(key=lambda finding: finding.record)
        details = tuple(in_value(self._describer.describe(finding)) for finding in findings)
        for error in details:
            if self._raises or diagnostics.always_raised(error.code):
                raise error
        batch = plan.batch(capsule)
        count = len(addresses)
        kept = absent = None
        if rows is not None:
            missing = rows == -1
            missing[[finding.record for finding in findings]] = False
            if self._filtered:
                places = np.flatnonzero(rows >= -1 if self._keeps_nulls else rows >= 0)
                kept, rows, missing = pa.array(places), rows[places], missing[places]
            absent = pa.array(missing) if missing.any() else None
        if rows is not None and not (len(rows) == batch.num_rows and np.array_equal(rows, np.arange(len(rows)))):
            batch = _spread(batch, rows)
        if details and self._rescue in batch.schema.names:
            batch = self._with_bad_values(batch, details, kept, array)
        return ParsedRecords(batch, details, kept, absent, decoded, count, self._rows_of(details, kept))

    def _rows_of(self, details: Sequence[FormatError], kept: pa.Array | None) -> tuple[int | None, ...]:
        if not details or kept is None:
            return tuple(error.record for error in details)
        row_of = {value: row for row, value in enumerate(kept.to_pylist())}
        return tuple(row_of.get(error.record) for error in details)

    def _exploded(self, addresses: Any, sizes: Any, valid: Any) -> ParsedRecords:
        keeps_bad = not self._filtered or self._keeps_nulls
        found = explode(self._plan, (addresses, sizes, valid), raises=self._raises, keeps_bad=keeps_bad)
        batch = found.batch
        if not (len(found.rows) == batch.num_rows and np.array_equal(found.rows, np.arange(len(found.rows)))):
            batch = _spread(batch, found.rows)
        if found.details and self._rescue in batch.schema.names:
            texts = [raw.decode("utf-8", "backslashreplace") for raw in found.raw]
            batch = self._with_rescued(batch, found.detail_rows, texts)
        kept = pa.array(found.source)
        count = len(addresses)
        return ParsedRecords(
            batch, found.details, kept, None, found.values_decoded, count, found.detail_rows, found.raw
        )

    def _with_bad_values(
        self, batch: pa.RecordBatch, details: Sequence[FormatError], kept: pa.Array | None, array: Any
    ) -> pa.RecordBatch:
        texts = []
        for error in details:
            value = array[error.record]
            value = value.as_py() if isinstance(value, pa.Scalar) else value
            texts.append(value if isinstance(value, str) else bytes(value).decode("utf-8", "backslashreplace"))
        return self._with_rescued(batch, self._rows_of(details, kept), texts)

    def _with_rescued(self, batch: pa.RecordBatch, rows: Sequence[int | None], texts: Sequence[str]) -> pa.RecordBatch:
        """What is no record has no names, so it is rescued whole, under that of the column."""
        place = batch.schema.get_field_index(str(self._rescue))
        rescued = batch.column(place).to_pylist()
        for row, text in zip(rows, texts, strict=True):
            if row is not None and rescued[row] is None:
                rescued[row] = json.dumps({self._rescue: text}, ensure_ascii=False, separators=(",", ":"))
        return batch.set_column(place, batch.schema.field(place), pa.array(rescued, batch.schema.field(place).type))


def _spread(batch: pa.RecordBatch, rows: np.ndarray[Any, Any]) -> pa.RecordBatch:
    """Rows at their values' places, nulls where a value gave none."""
    if batch.num_columns == 0:
        return pa.RecordBatch.from_struct_array(pa.array([{}] * len(rows), pa.struct([])))
    return taken_rows(batch, pa.array(rows, mask=rows < 0))


def parse_values(array: Any, type: pa.DataType, *, format: Format | None = None) -> pa.Array:
    """A field a value: raw bytes to one typed array. So a column that was kept raw (`raw=1`) is finished later.

    Args:
        array: An Arrow array of binary or text, or a list of bytes-like objects.
        type: The Arrow type wanted.
        format: That the values were kept by, which says how they are written: quotes, escapes, null markers, times. None: as
            `fm.Csv` has them by default, without quotes.

    Returns:
        A `pyarrow.Array` of `type`, as long as `array`.

    Raises:
        FormatError: A value is none of `type`.
        OptionError: A format without text.
        SchemaError: A type that cannot be parsed.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> fm.parse_values([b"1.5", b"", b"-2"], pa.float64()).to_pylist()
        [1.5, None, -2.0]
        >>> raw = pa.field("price", pa.binary(), metadata={"raw": "1"})
        >>> format = fm.Csv(pa.schema([raw]))
        >>> kept = fm.read(b'"7"\\n8.5\\n', format)["price"]
        >>> fm.parse_values(kept, pa.float64(), format=format).to_pylist()
        [7.0, 8.5]
    """
    type = _checked_type(type)
    if format is not None:
        check_format(format)
    elif type in VIEWS or type_code(type) in TEXTS:
        return _as_text(array, type)
    array = list(array) if isinstance(array, Iterator) else array
    one = value_format(format, type, array)
    return parse_records(as_records(array, one), one, on_error="raise").column(0)


def _checked_type(type: Any) -> pa.DataType:
    """`type` may be a name of Arrow's, too."""
    try:
        return type if isinstance(type, pa.DataType) else pa.type_for_alias(type)
    except (AttributeError, TypeError, ValueError):
        raise SchemaError(
            f"parse_values: type: expected a pyarrow.DataType, as pa.int64(), found {shown(type)}"
        ) from None


def _as_text(array: Any, type: pa.DataType) -> pa.Array:
    found = array if isinstance(array, pa.Array | pa.ChunkedArray) else pa.array(array)
    try:
        return found.cast(type)
    except pa.ArrowInvalid as error:
        raise FormatError(f"value: expected {type}, found other bytes ({error})", code="bad_utf8") from error
