"""A format, a projection and filters to the engine's plan. In: what users say. Out: what is decoded and how it leaves."""

from __future__ import annotations

import dataclasses
from codecs import BOM_UTF16_BE
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any

import pyarrow as pa

from formatter import _core, filters, types
from formatter.errors import OptionError, SchemaError
from formatter.foreign_code import raise_kept
from formatter.formats import Csv, Delimited, Framed, Json, Native, Registered
from formatter.formats.checks import as_bytes, check_on_error
from formatter.mistaken_arguments import instead_of_format, kind_of
from formatter.parsers import registry
from formatter.parsers.registry import Parser, as_text, parsers_in
from formatter.plans import binary_plans, csv_plans, delimited_plans, json_plans, registered_plans
from formatter.plans.plan_request import EnginePlan, PlanRequest, Wanted
from formatter.row_choice import BatchFilter
from formatter.variants import Columns, asked_as

Format = Csv | Json | Native | Framed | Delimited | Registered


def record_end_of(format: Format) -> bytes:
    return as_bytes(format.record_end, "record_end") if isinstance(format, Csv | Delimited | Registered) else b"\n"


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
        in_python = isinstance(self.format, Registered) and self.format.registered.capsule() is None
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


def check_format(format: object) -> None:
    if not isinstance(format, Format):
        raise OptionError(
            "format: expected fm.Csv, fm.Json, fm.Delimited, fm.Native, fm.Framed or fm.Registered, found "
            f"{kind_of(format)}; {instead_of_format(format)}"
        )


def are_several(format: object) -> bool:
    """Whether `format` says which format an origin has, rather than being one."""
    return isinstance(format, Mapping) or gives_formats(format)


def gives_formats(format: object) -> bool:
    """Whether it is a function of an origin. A class of formats can be called, too: it lacks its schema."""
    return callable(format) and not isinstance(format, type)


def make_plan(
    format: Format,
    *,
    columns: Columns = None,
    filters_wanted: filters.Filters = None,
    on_error: str = "raise",
    note_nulled: bool = False,
    single: bool = False,
) -> DecodePlan:
    """The last three: as `Wanted` has them."""
    check_format(format)
    check_on_error(on_error)
    format, columns = asked_as(format, columns)
    clauses = filters.normalized(filters_wanted)
    if clauses or isinstance(columns, str):
        return _reserved_plan(format, Wanted(columns, clauses, on_error, note_nulled, single))
    names = None if columns is None else tuple(columns)
    key = names, on_error, note_nulled, single, registry.generation(), _identity(format)
    plan = _recent_plans.get(key)
    if plan is None:
        plan = _reserved_plan(format, Wanted(names, [], on_error, note_nulled, single))
        while len(_recent_plans) >= RECENT_PLANS_MOST:
            _recent_plans.pop(next(iter(_recent_plans)), None)
        _recent_plans[key] = plan
    return plan


def _reserved_plan(format: Format, wanted: Wanted) -> DecodePlan:
    plan: DecodePlan = _core.reserved_call(len(format.schema), _any_plan, (format, wanted))
    return plan


def _any_plan(format: Format, wanted: Wanted) -> DecodePlan:
    parsers = parsers_in(format.schema, type(format).__name__)
    if not parsers:
        return _new_plan(format, wanted)
    inner = format.inner if isinstance(format, Framed) else format
    if isinstance(inner, Native):
        raise SchemaError(f"Native: column {next(iter(parsers))!r}: parsers read text, binary rows have none")
    filters.check_columns(filters.columns_of(wanted.clauses), format.schema, "filters")
    now, later = filters.divided(wanted.clauses, parsers)
    if later and wanted.single:
        raise OptionError(
            f"filters: parsers make {filters.columns_of(later)}: filter the rows of values when they are made"
        )
    text = as_text(format.schema, parsers)
    read_as: Format = replace(inner, schema=text)
    if isinstance(format, Framed) and isinstance(inner, Json):
        read_as = replace(format, inner=replace(inner, schema=text))
    columns = wanted.columns
    asked = () if columns is None else tuple(name for name in filters.columns_of(later) if name not in columns)
    read = None if columns is None else [*columns, *asked]
    plan = _new_plan(read_as, wanted._replace(columns=read, clauses=now))
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


# By format: what makes the engine's plan of a request.
_PLANS: dict[type, Callable[[PlanRequest], EnginePlan]] = {
    Csv: csv_plans.csv_plan,
    Json: json_plans.json_plan,
    Native: binary_plans.binary_plan,
    Delimited: delimited_plans.delimited_plan,
    Registered: registered_plans.registered_plan,
}


def _new_plan(format: Format, wanted: Wanted) -> DecodePlan:
    schema, columns = format.schema, wanted.columns
    filter_names = filters.columns_of(wanted.clauses)
    filters.check_columns(filter_names, schema, "filters")
    inner = format.inner if isinstance(format, Framed) else format
    if rescue_of(inner) in filter_names:
        raise OptionError(
            f"filters: {rescue_of(inner)!r} is what is rescued, which is known when all else of a record is read; filter the rows"
        )
    if columns is None:
        out_fields = list(schema)
    elif isinstance(inner, Json):
        out_fields = json_plans.projected_fields(columns, schema)
    else:
        out_fields = [schema.field(name) for name in projected_names(columns, schema)]
    request = PlanRequest(format, out_fields, wanted)
    engine, stored, big_endian = _PLANS[type(inner)](request)
    converted = tuple(i for i, (field, kind) in enumerate(zip(out_fields, stored, strict=True)) if field.type != kind)
    out_schema = schema if columns is None else pa.schema(out_fields, metadata=schema.metadata)
    storage = out_schema
    if converted:
        fields_stored = [field.with_type(kind) for field, kind in zip(out_fields, stored, strict=True)]
        storage = pa.schema(fields_stored, metadata=schema.metadata)
    return DecodePlan(
        format=format,
        engine=engine,
        schema=out_schema,
        storage=storage,
        converted_schema=out_schema,
        columns=tuple(request.names),
        converted=converted,
        on_error=wanted.on_error,
        big_endian=big_endian,
    )
