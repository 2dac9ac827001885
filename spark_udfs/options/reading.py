"""Spark's reader options, by their names, as a format of ours.

In: "csv" or "json", a schema, options as spark.read takes them. Out: a Reading: the format, what becomes of bad records, the
corrupt-record column; and a line for each option that says what became of it. An option that means the same is taken, one
that does not is refused with its remedy. Refuses to know files and data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

import formatter as fm
from formatter.formats.registered import is_registered
from spark_udfs.options.option_rules import (
    CSV_RULES,
    JSON_RULES,
    UTC_NAMES,
    Draft,
    Line,
    RefusedOption,
    no_escape,
    proper_name,
    spelled,
)
from spark_udfs.options.spark_texts import SparkTexts
from spark_udfs.types.arrow_schema import arrow_schema, nullable_throughout
from spark_udfs.types.spark_schemas import as_spark_reads_json

SINGLE_VARIANT = "singlevariantcolumn"  # the option that says what the schema is
CORRUPT_RECORD = "_corrupt_record"
ON_ERROR = ("raise", "null", "skip", "collect")


def _in_any_case(word: str) -> tuple[str, ...]:
    """Every way to write it, the usual ones first: what is asked first is found first."""
    every = ("".join(letters) for letters in product(*((letter, letter.upper()) for letter in word)))
    return tuple(dict.fromkeys([word, word.title(), word.upper(), *every]))


TRUES, FALSES = _in_any_case("true"), _in_any_case("false")  # what Spark's csv reader takes
MODES = {"PERMISSIVE": "permissive", "DROPMALFORMED": "skip", "FAILFAST": "raise"}


@dataclass(frozen=True)
class Reading:
    """How records are read: a format, and what of Spark's reader options is no part of one. `su.format_from_options` makes it.

    Attributes:
        format: `fm.Csv` or `fm.Json`.
        on_error: As for `su.read`; "permissive" is Spark's PERMISSIVE: what is bad is null, the record stays a row.
        corrupt: The column that then holds a bad record's text.
        corrupt_at: Where it stands among the names.
        header_by_position: Whether a header is passed over instead of naming columns.
        name_glob: Files whose names fit.
        use_folders: Whether k=v folders become columns.
        searches_folders: Whether folders below are looked into.
        from_options: Whether it was made of Spark's options.
        base_path: Where k=v folders begin.
        texts: What Spark takes for an empty text or a null, where a format has no word for it.
        documents: Whether a file is one JSON document.
        zone_open: Whether times without a zone are those of the session.
        lines: What became of each option, a line an option, as `su.migrate` prints it.

    Example:
        >>> import spark_udfs as su
        >>> su.format_from_options("csv", "id BIGINT", {"header": True}).format.header
        True
    """

    format: Any
    on_error: str = "raise"
    corrupt: str | None = None
    corrupt_at: int = 0
    header_by_position: bool = False
    name_glob: str | None = None
    use_folders: bool = True
    searches_folders: bool = True  # else those that are no k=v are left alone where there is no k=v
    from_options: bool = False
    base_path: str | None = None
    texts: SparkTexts | None = None  # what those of csv mean
    documents: bool = False  # a file of JSON is one document, or an array of them, over any lines
    zone_open: bool = False  # no option says of which zone times without an offset are
    lines: tuple[Line, ...] = ()

    @property
    def names(self) -> list[str]:
        names = list(self.format.schema.names)
        if self.corrupt is not None:
            names.insert(self.corrupt_at, self.corrupt)
        return names

    def without(self, folders: Sequence[str]) -> tuple[Reading, pa.Schema]:
        """Columns of the schema that are folders are not in the files: what is left to read, and the folders' types."""
        schema = self.format.schema
        both = [name for name in schema.names if name in folders]
        if not both:
            return self, pa.schema([])
        left = pa.schema([field for field in schema if field.name not in both])
        before = sum(schema.names.index(name) < self.corrupt_at for name in both)
        types = pa.schema([schema.field(name).remove_metadata() for name in both])
        return replace(self, format=replace(self.format, schema=left), corrupt_at=self.corrupt_at - before), types

    def format_with(self, schema: pa.Schema) -> Any:
        same = self.format.schema.equals(schema, check_metadata=True)
        return self.format if same else replace(self.format, schema=schema)


def reading_of(
    format: Any,
    *,
    schema: pa.Schema | StructType | str | None = None,
    options: Mapping[str, Any] | None = None,
    on_error: str | None = None,
) -> Reading:
    """From a format of ours, or from "csv", "json" or a registered name with a schema and options."""
    if on_error is not None and on_error not in ON_ERROR:
        raise fm.OptionError(f"spark: on_error is one of {', '.join(map(repr, ON_ERROR))}, found {on_error!r}")
    if isinstance(format, str):
        if schema is None and SINGLE_VARIANT in {name.lower() for name in options or {}}:
            schema = pa.schema([])
        if schema is None:
            raise fm.OptionError(
                f"spark: schema= is needed with format {format!r}; fm.infer proposes one, and su.read without schema= and options= "
                "asks it"
            )
        if is_registered(format):
            return Reading(fm.Registered(arrow_schema(schema), format, **(options or {})), on_error or "raise")
        reading = format_from_options(format, schema, options or {})
        if on_error is None:
            return reading
        if "mode" in {name.lower() for name in options or {}}:
            raise fm.OptionError("spark: on_error= and the option mode= both say what becomes of bad records; give one")
        if reading.corrupt is not None:
            raise fm.OptionError(
                f"spark: {reading.corrupt!r} is filled in mode PERMISSIVE only; leave out on_error= or that column"
            )
        return replace(reading, on_error=on_error)
    if schema is not None or options:
        raise fm.OptionError(
            'spark: schema= and options= go with a format by name, such as "csv"; an fm format has its own'
        )
    if not hasattr(format, "schema") or not hasattr(format, "kind"):
        found = type(format).__name__
        raise fm.OptionError(f'spark: format is fm.Csv(...), fm.Json(...), "csv" or "json", found {found}')
    return Reading(format, on_error or "raise")


RECORDS_ON_ERROR = {"permissive": "null", "skip": "skip", "raise": "raise"}


def of_values(
    format: Any,
    schema: pa.Schema | StructType | str | None,
    options: Mapping[str, Any] | None,
    on_error: str | None,
    zone: str,
    *,
    is_record: bool,
) -> tuple[Any, Any]:
    """The format of what stands in a column, and what becomes of bad records, from what Spark's from_csv and from_json take.
    `is_record`: each value is one record, whatever line breaks its quotes hold."""
    reading = reading_of(format, schema=schema, options=options)
    if not reading.from_options:
        return reading.format, on_error
    require_utc(reading, zone)
    mode = {name.lower() for name in options or {}} & {"mode"}
    if on_error is not None and mode:
        raise fm.OptionError("spark: on_error= and the option mode= both say what becomes of bad records; give one")
    if reading.corrupt is not None:
        raise fm.OptionError(
            f"spark: {reading.corrupt!r}: what is wrong with a record is in a column of its own: name it in error="
        )
    if reading.header_by_position or getattr(reading.format, "header", False):
        raise fm.OptionError("spark: option header: values of a column have none; leave it out")
    if reading.name_glob is not None or "recursivefilelookup" in {name.lower() for name in options or {}}:
        raise fm.OptionError(
            "spark: pathGlobFilter and recursiveFileLookup choose files, and a column has none; leave them out"
        )
    found = reading.format
    if is_record and isinstance(found, fm.Csv):
        found = replace(found, newlines_in_quotes=True)
    return found, on_error or RECORDS_ON_ERROR[reading.on_error]


def format_from_options(kind: str, schema: pa.Schema | StructType | str, options: Mapping[str, Any]) -> Reading:
    """What `spark.read.schema(schema).options(**options).csv` or `.json` reads, as a `su.Reading`.

    Args:
        kind: "csv" or "json".
        schema: Of the rows: pyarrow's, Spark's, or DDL.
        options: Spark's reader options; names count in any case.

    Returns:
        A `su.Reading`, which `su.read` takes in place of a format.

    Raises:
        OptionError: An option that cannot be had here; the message says why.
        SchemaError: A type that the format cannot have.

    Example:
        >>> import spark_udfs as su
        >>> su.format_from_options("csv", "id BIGINT, name STRING", {"sep": ";"}).format.delimiter
        ';'
    """
    rules = {"csv": CSV_RULES, "json": JSON_RULES}.get(kind)
    if rules is None:
        raise fm.OptionError(f"spark: format is one of 'csv', 'json', found {kind!r}")
    draft = Draft(kind, _given(options, rules), reading={"searches_folders": False, "zone_open": True})
    fields = _without_corrupt(arrow_schema(schema), draft)
    draft.schema = pa.schema([nullable_throughout(field) for field in fields])
    _require_no_intervals(draft)
    if kind == "json":
        draft.schema = pa.schema([as_spark_reads_json(field) for field in draft.schema])
    else:
        draft.format |= {"true_values": TRUES, "false_values": FALSES, "quotes": "lenient", "newlines_in_quotes": False}
    for option, rule in rules.items():  # in their order: what escapes depends on what quotes
        if option in draft.given:
            rule(draft, option, draft.given[option])
        elif option == "escape":
            no_escape(draft)
    if kind == "csv":
        draft.reading["texts"] = SparkTexts(draft.given.get("nullValue", ""), draft.given.get("emptyValue", ""))
    mode = draft.given.get("mode", "PERMISSIVE").upper()
    if mode not in MODES:
        raise draft.refused("mode", "it is PERMISSIVE, DROPMALFORMED or FAILFAST")
    draft.note("mode", f"on_error={MODES[mode]!r}")
    format = (fm.Csv if kind == "csv" else fm.Json)(draft.schema, **draft.format)
    return Reading(format, MODES[mode], from_options=True, lines=tuple(draft.lines), **draft.reading)


def _require_no_intervals(draft: Draft) -> None:
    for field in draft.schema:
        if pa.types.is_duration(field.type):
            raise fm.SchemaError(
                f"spark: column {field.name!r} is an interval: Spark reads texts like INTERVAL '1 02:03:04' DAY TO SECOND, "
                f"which are not parsed here; declare a string and cast, or use fm.{draft.kind.title()} for numbers of a unit"
            )


def zone_of(spark: SparkSession) -> str:
    return spark.conf.get("spark.sql.session.timeZone") or "UTC"


def require_utc(reading: Reading, zone: str) -> None:
    """A time without an offset is UTC here and of the session's zone in Spark: they must be the same, or the option say so."""
    if not reading.zone_open or zone.upper() in UTC_NAMES:
        return
    name = next((field.name for field in reading.format.schema if _has_zone(field.type)), None)
    if name is not None:
        raise fm.OptionError(
            f"spark: column {name!r} is a TIMESTAMP and the session's time zone is {zone!r}: times without an offset would be "
            "read as UTC; give the option timeZone='UTC' if they are, or carry an offset, or read TIMESTAMP_NTZ and convert"
        )


def _has_zone(type_: pa.DataType) -> bool:
    if pa.types.is_timestamp(type_):
        return type_.tz is not None
    return any(_has_zone(type_.field(i).type) for i in range(type_.num_fields))


def _given(options: Mapping[str, Any], rules: Mapping[str, Any]) -> dict[str, str]:
    """Options by their proper names, values as Spark spells them. An unknown name is refused: it may be a typing error."""
    given: dict[str, str] = {}
    for name, value in options.items():
        if value is None:
            continue
        proper = proper_name(name)
        if proper is None or proper not in rules:
            raise RefusedOption(name, f"no option {name!r}; these are known: {', '.join(sorted(rules))}")
        if given.get(proper, spelled(value)) != spelled(value):
            raise RefusedOption(name, f"option {name!r} is given twice, as {given[proper]!r} and as {spelled(value)!r}")
        given[proper] = spelled(value)
    return given


def _without_corrupt(schema: pa.Schema, draft: Draft) -> pa.Schema:
    option = "columnNameOfCorruptRecord"
    corrupt = draft.given.get(option, CORRUPT_RECORD)
    position = schema.get_field_index(corrupt)
    if position < 0:
        if option in draft.given:
            draft.note(option, "no such column in the schema, so none is made, as in Spark")
        return schema
    if not pa.types.is_string(schema.field(position).type):
        found = schema.field(position).type
        raise fm.SchemaError(f"spark: the corrupt-record column {corrupt!r} is a string, found {found}")
    draft.note(option, f"column {corrupt!r} holds the text of records that are bad")
    draft.reading |= {"corrupt": corrupt, "corrupt_at": position}
    return schema.remove(position)
