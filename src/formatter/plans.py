"""A format, a projection and filters to the engine's plan. In: what users say. Out: what is decoded and how it leaves."""

from __future__ import annotations

import dataclasses
from codecs import BOM_UTF16_BE
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

import pyarrow as pa

from formatter import _core, binary_plans, delimited_plans, filters, json_plans, registered_plans, types
from formatter.errors import OptionError, SchemaError
from formatter.foreign_code import raise_kept
from formatter.formats import Csv, Delimited, Framed, Json, Native, Registered
from formatter.formats.binary import LENGTHS
from formatter.formats.checks import ON_ERROR, as_bytes, check_on_error
from formatter.formats.csv import ENCODINGS, QUOTE_RULES, RAGGED, TEXT_ERRORS
from formatter.parsers import registry
from formatter.parsers.registry import Parser, as_text, parsers_in
from formatter.row_choice import BatchFilter
from formatter.variants import Columns, asked_as, is_variant

Format = Csv | Json | Native | Framed | Delimited | Registered


def record_end_of(format: Format) -> bytes:
    return format.record_end if isinstance(format, Csv | Delimited | Registered) else b"\n"


def rescue_of(format: Format) -> str | None:
    """The column of what is rescued, if the format has one."""
    inner = format.inner if isinstance(format, Framed) else format
    return getattr(inner, "rescue", None)


def with_rescue(format: Format, rescue: str | None) -> Format:
    """The format, with what is rescued in a column of that name; `rescue` is what the caller of a reader gave."""
    if rescue is None:
        return format
    inner = format.inner if isinstance(format, Framed) else format
    if not isinstance(inner, Csv | Json):
        raise OptionError(
            f"rescue: expected fm.Csv or fm.Json, found {type(inner).__name__}: nothing else can be rescued from"
        )
    if inner.rescue not in (None, rescue):
        raise OptionError(
            f"rescue: the format calls that column {inner.rescue!r}, and you {rescue!r}: expected one name"
        )
    named = replace(inner, rescue=rescue)
    return replace(format, inner=named) if isinstance(format, Framed) and isinstance(named, Json) else named


@dataclass(frozen=True)
class DecodePlan:
    """`engine` decodes `columns`; batches leave with `schema`. `converted`: positions whose storage type is another."""

    format: Format
    engine: Any
    schema: pa.Schema
    storage: pa.Schema
    converted_schema: pa.Schema  # `schema`, and then the fields of `asked`
    columns: tuple[str, ...]
    converted: tuple[int, ...]
    on_error: str
    big_endian: Any = None  # of UTF-16 whose byte order the input's mark tells: instead of `engine`
    parsers: dict[int, Parser] = dataclasses.field(
        default_factory=dict
    )  # by position: these columns are decoded as text
    rows: BatchFilter | None = None  # what is asked of values that parsers make
    asked: tuple[str, ...] = ()  # columns behind the others, for that alone

    @property
    def runs_python(self) -> bool:
        """Whether code in Python takes part in parsing: threads of the engine's own never wait for Python's lock."""
        in_python = isinstance(self.format, Registered) and self.format.indexer.capsule() is None
        return bool(self.parsers) or in_python

    def ordered(self, start: bytes | memoryview) -> Any:
        """The engine's plan for an input that begins so: the mark of UTF-16 tells which byte of two comes first."""
        swapped = self.big_endian is not None and bytes(start[:2]) == BOM_UTF16_BE
        return self.big_endian if swapped else self.engine

    def header(self, start: bytes | memoryview, ends: bool) -> tuple[Any, int, list[str]] | None:
        """(the engine's plan with its columns where the header at the start of an input names them, bytes through its end, the
        names it lacks), or None if it does not end in these bytes. `ends`: nothing follows them, which ends it, too."""
        found: tuple[Any, int, list[str]] | None = self.ordered(start).read_header(start, ends)
        return found

    def batch(self, capsule: object) -> pa.RecordBatch:
        batch: pa.RecordBatch = _core.reserved_call(_core.array_count(capsule), self._batch, (capsule,))
        return batch

    def _batch(self, capsule: object) -> pa.RecordBatch:
        batch = self._decoded(capsule)
        if self.rows is not None:
            batch = self.rows.kept(batch)
        if self.asked:
            batch = pa.RecordBatch.from_struct_array(
                pa.StructArray.from_arrays(batch.columns[: len(self.columns)], fields=list(self.schema))
                if self.columns
                else pa.StructArray.from_buffers(pa.struct([]), batch.num_rows, [None])
            ).replace_schema_metadata(self.schema.metadata)
        return batch

    def _decoded(self, capsule: object) -> pa.RecordBatch:
        # By address: through the capsule protocol the schema would be exported and imported again for every batch.
        batch = pa.RecordBatch._import_from_c(_core.array_address(capsule), self.storage)
        if not self.converted:
            return batch
        if self.parsers:
            raise_kept()
        arrays = [self._wanted(i, column) if i in self.converted else column for i, column in enumerate(batch.columns)]
        return pa.RecordBatch.from_arrays(arrays, schema=self.converted_schema)

    def _wanted(self, i: int, column: pa.Array) -> pa.Array:
        if i in self.parsers:
            return self.parsers[i].values(column)
        return types.to_wanted(column, self.converted_schema.field(i).type)


def projected_names(columns: Sequence[str] | None, schema: pa.Schema) -> list[str]:
    if columns is None:
        return list(schema.names)
    if isinstance(columns, str):
        raise OptionError(f"columns: expected a list of names, found {columns!r}; write [{columns!r}]")
    names = list(columns)
    filters.check_columns(names, schema, "columns")
    if len(set(names)) != len(names):
        raise SchemaError(f"columns: a name stands twice in {names!r}")
    return names


# Making the plan of 200 columns takes as long as reading a megabyte, and formats are read with more than once, or made
# anew of the same schema for every read. The plan holds its format, so an id stays its own; equality of schemas would
# not do, those that differ in metadata compare equal.
_recent_plans: dict[tuple[Any, ...], DecodePlan] = {}
RECENT_PLANS_MOST = 16
_csv_options = attrgetter(*(field.name for field in fields(Csv) if field.name != "schema"))


def _identity(format: Format) -> tuple[Any, ...]:
    """The same for formats that are read in the same way, as long as one of them is alive."""
    return (id(format.schema), *_csv_options(format)) if isinstance(format, Csv) else (id(format),)


def make_plan(
    format: Format,
    *,
    columns: Columns = None,
    filters_wanted: filters.Filters = None,
    on_error: str = "raise",
    note_nulled: bool = False,
    single: bool = False,
) -> DecodePlan:
    """`single`: what is read is one record by itself, of binary rows without their length."""
    if not isinstance(format, Format):
        raise OptionError(
            f"format: expected fm.Csv, fm.Json, fm.Delimited, fm.Native, fm.Framed or fm.Registered, found {type(format).__name__}"
        )
    check_on_error(on_error)
    format, columns = asked_as(format, columns)
    clauses = filters.normalized(filters_wanted)
    if clauses or isinstance(columns, str):
        return _reserved_plan(format, columns, clauses, on_error, note_nulled, single)
    wanted = None if columns is None else tuple(columns)
    key = wanted, on_error, note_nulled, single, registry.generation(), _identity(format)
    plan = _recent_plans.get(key)
    if plan is None:
        plan = _reserved_plan(format, wanted, [], on_error, note_nulled, single)
        while len(_recent_plans) >= RECENT_PLANS_MOST:
            _recent_plans.pop(next(iter(_recent_plans)), None)
        _recent_plans[key] = plan
    return plan


def _reserved_plan(format: Format, *wanted: Any) -> DecodePlan:
    plan: DecodePlan = _core.reserved_call(len(format.schema), _any_plan, (format, *wanted))
    return plan


def _any_plan(
    format: Format,
    columns: Sequence[str] | None,
    clauses: list[list[filters.Clause]],
    on_error: str,
    note_nulled: bool,
    single: bool,
) -> DecodePlan:
    parsers = parsers_in(format.schema, type(format).__name__)
    if not parsers:
        return _new_plan(format, columns, clauses, on_error, note_nulled, single)
    inner = format.inner if isinstance(format, Framed) else format
    if isinstance(inner, Native):
        raise SchemaError(f"Native: column {next(iter(parsers))!r}: parsers read text, binary rows have none")
    filters.check_columns(filters.columns_of(clauses), format.schema, "filters")
    now, later = filters.divided(clauses, parsers)
    if later and single:
        raise OptionError(
            f"filters: parsers make {filters.columns_of(later)}: filter the rows of values when they are made"
        )
    text = as_text(format.schema, parsers)
    read_as: Format = replace(inner, schema=text)
    if isinstance(format, Framed) and isinstance(inner, Json):
        read_as = replace(format, inner=replace(inner, schema=text))
    asked = () if columns is None else tuple(name for name in filters.columns_of(later) if name not in columns)
    wanted = None if columns is None else [*columns, *asked]
    plan = _new_plan(read_as, wanted, now, on_error, note_nulled, single)
    made = {i: parsers[name] for i, name in enumerate(plan.converted_schema.names) if name in parsers}
    whole = plan.converted_schema
    for i, parser in made.items():
        whole = whole.set(i, whole.field(i).with_type(parser.arrow_type))
    visible = len(whole) - len(asked)
    return replace(
        plan,
        format=format,
        schema=pa.schema([whole.field(i) for i in range(visible)], metadata=whole.metadata),
        converted_schema=whole,
        columns=plan.columns[:visible],
        converted=tuple(sorted({*plan.converted, *made})),
        parsers=made,
        rows=BatchFilter(later, whole) if later else None,
        asked=asked,
    )


def _new_plan(
    format: Format,
    columns: Sequence[str] | None,
    clauses: list[list[filters.Clause]],
    on_error: str,
    note_nulled: bool,
    single: bool,
) -> DecodePlan:
    schema = format.schema
    filter_names = filters.columns_of(clauses)
    filters.check_columns(filter_names, schema, "filters")
    engine: Any
    big_endian: Any = None
    inner = format.inner if isinstance(format, Framed) else format
    if rescue_of(inner) in filter_names:
        raise OptionError(
            f"filters: {rescue_of(inner)!r} is what is rescued, which is known when all else of a record is read; filter the rows"
        )
    if isinstance(inner, Json):
        out_fields = json_plans.projected_fields(columns, schema)
    else:
        wanted = projected_names(columns, schema)
        out_fields = list(schema) if columns is None else [schema.field(name) for name in wanted]
    names = [field.name for field in out_fields]
    decoded = out_fields + [schema.field(name) for name in filter_names if name not in names]
    if isinstance(inner, Json):
        described = filters.described(clauses, filterable(decoded, filter_names), schema)
        length = LENGTHS[format.length] if isinstance(format, Framed) else None
        engine = json_plans.json_plan(inner, decoded, len(names), described, on_error, note_nulled, length)
        storage_types = [json_plans.stored(field.type) for field in out_fields]
    elif isinstance(inner, Native):
        rows = binary_plans.columns_of(inner, decoded)
        described = filters.described(clauses, [column["spec"] for column in rows], schema)
        assert isinstance(format, Native | Framed)
        engine = binary_plans.binary_plan(format, rows, len(names), described, on_error, note_nulled, single=single)
        storage_types = [binary_plans.storage_type(field.type) for field in out_fields]
    elif isinstance(inner, Delimited):
        rows = delimited_plans.columns_of(inner, decoded)
        described = filters.described(clauses, [column["spec"] for column in rows], schema)
        dialect = csv_dialect(inner.values_as, on_error) | {"note_nulled": note_nulled}
        engine = delimited_plans.delimited_plan(inner, rows, len(names), described, dialect)
        storage_types = [types.laid_out(field) for field in out_fields]
    elif isinstance(inner, Registered):
        rows = registered_plans.columns_of(inner, decoded)
        described = filters.described(clauses, rows, schema)
        dialect = csv_dialect(inner.values_as, on_error) | {"note_nulled": note_nulled}
        engine = registered_plans.registered_plan(inner, rows, len(names), described, dialect)
        storage_types = [types.laid_out(field) for field in out_fields]
    else:
        assert isinstance(format, Csv)
        places = {name: place for place, name in enumerate(format.field_names)}
        specs = []
        for field in decoded:
            spec = types.column_description(field, owner="Csv", place=places.get(field.name, 0))
            spec["layout"] = types.text_layout(field)
            specs.append(spec)
        described = filters.described(clauses, specs, schema)
        dialect = csv_dialect(format, on_error) | {"note_nulled": note_nulled}
        if format.rescue is not None:
            dialect["rescues"] = True
            dialect["rescue_column"] = names.index(format.rescue) if format.rescue in names else -1
            dialect["known_names"] = [name.encode() for name in places]
        engine = _core.Plan.for_csv(dialect, specs, len(names), len(places), described)
        if format.encoding == "utf-16":
            swapped = dialect | {"encoding": ENCODINGS["utf-16-be"]}
            big_endian = _core.Plan.for_csv(swapped, specs, len(names), len(places), described)
        storage_types = [types.laid_out(field) for field in out_fields]
    converted = tuple(
        i for i, (field, kind) in enumerate(zip(out_fields, storage_types, strict=True)) if field.type != kind
    )
    out_schema = schema if columns is None else pa.schema(out_fields, metadata=schema.metadata)
    storage = out_schema
    if converted:
        stored = [field.with_type(kind) for field, kind in zip(out_fields, storage_types, strict=True)]
        storage = pa.schema(stored, metadata=schema.metadata)
    return DecodePlan(
        format=format,
        engine=engine,
        schema=out_schema,
        storage=storage,
        converted_schema=out_schema,
        columns=tuple(names),
        converted=converted,
        on_error=on_error,
        big_endian=big_endian,
    )


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


def csv_dialect(format: Csv, on_error: str) -> dict[str, Any]:
    def optional(value: str | bytes | None, name: str) -> bytes | None:
        return None if value is None else as_bytes(value, name)

    return {
        "delimiter": as_bytes(format.delimiter, "delimiter"),
        "record_end": as_bytes(format.record_delimiter, "record_delimiter"),
        "quote": optional(format.quote, "quote"),
        "quotes": QUOTE_RULES.index(format.quotes),
        "newlines_in_quotes": format.newlines_in_quotes,
        "max_quoted_lines": format.max_quoted_lines or 0,
        "max_quoted_bytes": format.max_quoted_bytes or 0,
        "escape": optional(format.escape, "escape"),
        "comment": optional(format.comment, "comment"),
        "trim": (format.trim in (True, "left"), format.trim in (True, "right")),
        "skip_lines": format.skip_lines,
        "header_at": format.header_positions,
        "skip_records": format.skip_records,
        "quoted_nulls": format.quoted_nulls,
        "repeated_headers": format.repeated_headers,
        "unique_names": format.unique_names,
        "trim_names": format.trim_names,
        "names_in_any_case": format.names_in_any_case,
        "absent_is_null": format.missing_columns == "null",
        "encoding": ENCODINGS[format.encoding],
        "errors": TEXT_ERRORS.index(format.errors),
        "decimal": format.decimal.encode(),
        "ragged": RAGGED.index(format.ragged),
        "counts_unmatched": format.unmatched == "counted",
        "on_error": ON_ERROR.index(on_error),
        "nulls": [token.encode() for token in format.nulls],
        "trues": [token.encode() for token in format.true_values],
        "falses": [token.encode() for token in format.false_values],
        "timestamp_formats": [text.encode() for text in format.timestamp_formats],
    }
