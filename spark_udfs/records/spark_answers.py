"""The answers of from_json and from_csv, to the last row: by our parser where a record leaves no doubt, by Spark's own expression
where it does, or where the schema, an option or a setting is one that we read otherwise.

In: a DataFrame, its column of records, and the arguments of from_json or from_csv. Out: the DataFrame and one struct more. What is
in doubt is record_doubts.py's to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as spark

import formatter as fm
from formatter.values import RecordParser
from formatter.variants import Columns
from spark_udfs.options.option_rules import UTC_NAMES, spelled
from spark_udfs.options.reading import CORRUPT_RECORD, FALSES, TRUES, zone_of
from spark_udfs.records.record_doubts import CsvDoubts, JsonDoubts, Mask
from spark_udfs.records.record_task import Output, ReadBatch, RecordTask
from spark_udfs.types.arrow_schema import arrow_schema, timestamp_type, with_members
from spark_udfs.types.ddl import struct_type
from spark_udfs.types.named_columns import require_list
from spark_udfs.types.spark_schemas import as_spark_reads_json
from spark_udfs.types.spark_types import SparkColumns, struct_of

KINDS = ("csv", "json")
READERS = {"json": f.from_json, "csv": f.from_csv}
SIMPLE = (
    *(spark.BooleanType, spark.ByteType, spark.ShortType, spark.IntegerType, spark.LongType, spark.FloatType),
    *(spark.DoubleType, spark.DecimalType, spark.DateType, spark.TimestampType, spark.TimestampNTZType),
)

# Options that say nothing of records without doubt, or are looked at below.
LOOKED_AT = {"mode", "columnnameofcorruptrecord", "timezone", "dateformat", "timestampformat", "timestampntzformat"}
NO_MATTER = {"inferschema", "samplingratio", "preferdate", "enabledatetimeparsingfallback"}
JSON_TAKEN = (
    LOOKED_AT
    | NO_MATTER
    | {"primitivesasstring", "prefersdecimal", "dropfieldifallnull", "allowcomments", "allowunquotedfieldnames"}
    | {
        "allowsinglequotes",
        "allownumericleadingzeros",
        "allowbackslashescapinganycharacter",
        "allowunquotedcontrolchars",
    }
    | {"allownonnumericnumbers"}
)
CSV_TAKEN = (
    LOOKED_AT
    | NO_MATTER
    | {"sep", "delimiter", "quote", "escape", "nullvalue", "emptyvalue", "ignoreleadingwhitespace"}
    | {"ignoretrailingwhitespace", "unescapedquotehandling", "chartoescapequoteescaping"}
)
PATTERNS = {
    "dateformat": spark.DateType, "timestampformat": spark.TimestampType, "timestampntzformat": spark.TimestampNTZType,
}  # fmt: skip
CORRECTED = "CORRECTED"
CORRUPT_SETTING = "spark.sql.columnNameOfCorruptRecord"


class InDoubt(Exception):
    """Why all records are Spark's to read."""


@dataclass(frozen=True)
class SparkCall:
    """`kind`: "json" or "csv". `schema`, `options`: as from_json and from_csv take them."""

    kind: str
    schema: Any
    options: dict[str, str]

    def column(self, text: Column) -> Column:
        """The expression."""
        schema = self.schema
        if self.kind == "csv" and isinstance(schema, spark.StructType):
            schema = ", ".join(map(_ddl, schema))
        answer: Column = READERS[self.kind](text, schema, self.options)
        return answer


def _ddl(field: spark.StructField) -> str:
    name = field.name.replace("`", "``")
    return f"`{name}` {field.dataType.simpleString()}{'' if field.nullable else ' NOT NULL'}"


class SurelyRead(RecordTask):
    """The task with one column more, of the payloads that are in doubt, null for others. `fields`: of the struct, with the column
    of corrupt records where that is one: it is null wherever there is no doubt.

    Of CSV the first record of a task is in doubt whatever it is: Spark's parser passes over a byte order mark in front of the first
    it meets, and takes it for text in front of others, so the first it meets has to be the same."""

    def __init__(
        self, format: Any, doubts: JsonDoubts | CsvDoubts, payload: spark.StructField, keep: spark.StructType, into: str,
        fields: Sequence[str], doubtful: str,
    ) -> None:  # fmt: skip
        super().__init__(format, payload.name, keep=keep, into=into)
        self.doubts = doubts
        self._is_first_met = False
        self._corrupt = tuple(name for name in fields if name not in self._fields)
        self._fields |= {name: pa.field(name, pa.string()) for name in self._corrupt}
        self._spark = struct_of(pa.schema([self._fields[name] for name in fields]))
        self.outputs = (
            *(output for output in self.outputs if output.kind == "kept"),
            Output("struct", spark.StructField(into, self._spark), tuple(fields)),
            Output("doubtful", spark.StructField(doubtful, payload.dataType)),
        )

    @property
    def decoded(self) -> tuple[str, ...]:
        return self.columns

    def parser(self) -> RecordParser:
        self._is_first_met = not isinstance(self.doubts, CsvDoubts)
        return super().parser()

    def _column(self, output: Output, read: ReadBatch) -> pa.Array:
        if output.kind == "doubtful":
            payloads = read.batch.column(self.payload)
            return payloads.take(pa.array(np.arange(len(payloads)), mask=~self._doubt(payloads, read)))
        nulls = {name: pa.nulls(read.records.value_count, pa.string()) for name in self._corrupt}
        return super()._column(output, replace(read, parsed=read.parsed | nulls))

    def _doubt(self, payloads: pa.Array, read: ReadBatch) -> Mask:
        doubt = self.doubts.of(payloads, read.records)
        if not self._is_first_met and payloads.null_count < len(payloads):
            doubt[payloads.is_valid().index(True).as_py()] = True
            self._is_first_met = True
        return doubt


def call_of(format: Any, schema: Any, options: Mapping[str, Any] | None, columns: Columns) -> SparkCall:
    """What a call with compat="spark" asks of Spark."""
    if isinstance(format, fm.Json | fm.Csv):
        kind, plain = format.kind, type(format)(format.schema)
        if schema is not None or options or format != plain:
            raise fm.OptionError(
                f'spark: compat="spark" takes the options of from_{kind}: give {kind!r}, with schema= and options='
            )
        schema, options = format.schema, {}
    elif format in KINDS:
        kind = format
    else:
        raise fm.OptionError(f'spark: compat="spark" is for "csv" and "json", found {format!r}')
    if schema is None:
        raise fm.OptionError(f"spark: schema= is needed with format {kind!r}; su.schema_of proposes one")
    given = {name: spelled(value) for name, value in (options or {}).items() if value is not None}
    if isinstance(schema, pa.Schema):
        schema = SparkColumns.of(schema).struct
    if isinstance(columns, Mapping):
        raise fm.OptionError("spark: columns= of another type do not go with compat='spark'; say it in schema=")
    if columns is not None:
        require_list("columns", columns)
        whole = struct_of_call(SparkCall(kind, schema, given))
        missing = [name for name in columns if name not in whole.names]
        if missing:
            raise fm.SchemaError(f"spark: no column {missing[0]!r} among ({', '.join(whole.names)})")
        schema = spark.StructType([whole[name] for name in columns])
    return SparkCall(kind, schema, given)


def struct_of_call(call: SparkCall) -> spark.StructType:
    schema = call.schema
    if isinstance(schema, str):
        schema = struct_type(schema, timestamp_type()) or spark.DataType.fromDDL(schema)
    if not isinstance(schema, spark.StructType):
        raise fm.SchemaError(f"spark: columns= goes with a struct, found {schema.simpleString()}")
    return schema


# ------------------------------------------------------------------------------------------------- what is taken


def task_of(
    session: SparkSession, call: SparkCall, payload: spark.StructField, keep: spark.StructType, into: str, doubtful: str
) -> SurelyRead:
    """What reads the records that are in no doubt; InDoubt says why there are none."""
    try:
        schema = struct_of_call(call)
    except Exception as error:  # of Spark's parser of schemas, or ours: the expression will tell
        raise InDoubt("the schema is no struct that is known here") from error
    given = {name.lower(): value for name, value in call.options.items()}
    unknown = given.keys() - (JSON_TAKEN if call.kind == "json" else CSV_TAKEN)
    if unknown or len(given) != len(call.options):
        raise InDoubt(f"options {sorted(unknown)}")
    if given.get("mode", "PERMISSIVE").upper() not in ("PERMISSIVE", "FAILFAST"):
        raise InDoubt("the mode")
    corrupt = given.get("columnnameofcorruptrecord") or session.conf.get(CORRUPT_SETTING, CORRUPT_RECORD)
    if len({name.lower() for name in schema.names}) != len(schema.names):
        raise InDoubt("names that are there twice")
    fields = []
    for field in schema:
        if field.name != corrupt:
            fields.append(taken_field(field, nests=call.kind == "json"))
        elif field.dataType != spark.StringType() or not field.nullable or field.metadata:
            raise InDoubt("the column of corrupt records")
    if not fields:
        raise InDoubt("no columns")
    require_settings(session, spark.StructType(fields), given)
    arrow = arrow_schema(spark.StructType(fields))
    if call.kind == "json":
        plain = pa.schema([plainly_spelled(as_spark_reads_json(field)) for field in arrow])
        json = fm.Json(plain, validate="full", on_duplicate_key="error")
        return SurelyRead(json, JsonDoubts(), payload, keep, into, schema.names, doubtful)
    csv, doubts = csv_of(pa.schema([plainly_spelled(field) for field in arrow]), given)
    return SurelyRead(csv, doubts, payload, keep, into, schema.names, doubtful)


def taken_field(field: spark.StructField, *, nests: bool) -> spark.StructField:
    """The field as it is read, nullable at every level."""
    if field.metadata:
        raise InDoubt("metadata of a field")
    return spark.StructField(field.name, taken_type(field.dataType, nests=nests))


def taken_type(type_: spark.DataType, *, nests: bool) -> spark.DataType:
    if type(type_) in SIMPLE or type_ == spark.StringType() or (isinstance(type_, spark.BinaryType) and nests):
        return type_
    if not nests:
        raise InDoubt("a type that CSV has not")
    if isinstance(type_, spark.StructType):
        names = {field.name for field in type_}
        if len(names) != len(type_) or not names:
            raise InDoubt("names that are there twice, or none")
        return spark.StructType([taken_field(field, nests=True) for field in type_])
    if isinstance(type_, spark.ArrayType):
        return spark.ArrayType(taken_type(type_.elementType, nests=True))
    if isinstance(type_, spark.MapType) and type_.keyType == spark.StringType():
        return spark.MapType(type_.keyType, taken_type(type_.valueType, nests=True))
    raise InDoubt("a type that is read in Spark only")


def plainly_spelled(field: pa.Field) -> pa.Field:
    """Values that are written in one of many ways are in doubt."""
    if pa.types.is_nested(field.type):
        return with_members(field, plainly_spelled)
    said = {**(field.metadata or {}), b"spelling": b"plain"}
    said.pop(b"text", None)  # what is no text is written anew in Spark
    return field.with_metadata(said)


def require_settings(session: SparkSession, schema: spark.StructType, given: Mapping[str, str]) -> None:
    """Times are read alike by one of Spark's policies, in UTC, and without a pattern."""
    kinds = {type(leaf) for field in schema for leaf in leaves(field.dataType)}
    if not kinds & set(PATTERNS.values()):
        return
    if session.conf.get("spark.sql.legacy.timeParserPolicy", CORRECTED) != CORRECTED:
        raise InDoubt("the policy by which times are read")
    for option, kind in PATTERNS.items():
        if option in given and kind in kinds:
            raise InDoubt(f"a pattern in {option}")
    zone = given.get("timezone") or zone_of(session)
    if spark.TimestampType in kinds and zone.upper() not in UTC_NAMES:
        raise InDoubt(f"the time zone {zone}")


def leaves(type_: spark.DataType) -> Iterator[spark.DataType]:
    if isinstance(type_, spark.StructType):
        for field in type_:
            yield from leaves(field.dataType)
    elif isinstance(type_, spark.ArrayType):
        yield from leaves(type_.elementType)
    elif isinstance(type_, spark.MapType):
        yield from leaves(type_.valueType)
    else:
        yield type_


def csv_of(schema: pa.Schema, given: Mapping[str, str]) -> tuple[fm.Csv, CsvDoubts]:
    sep, quote, escape = (
        sign(given, name, usual)
        for name, usual in (("sep" if "sep" in given else "delimiter", ","), ("quote", '"'), ("escape", "\\"))
    )
    if sep in (quote, escape) or ("sep" in given and "delimiter" in given):
        raise InDoubt("delimiters that mean two things")
    trims = {given.get(f"ignore{side}whitespace", "false").lower() for side in ("leading", "trailing")}
    if len(trims) > 1:
        raise InDoubt("blanks that count on one side")
    null = given.get("nullvalue", "")
    nulls = ("", null) if null else ("",)
    format = fm.Csv(
        schema, delimiter=sep, quote=quote, quotes="lenient", newlines_in_quotes=True, trim=trims == {"true"}, nulls=nulls,
        true_values=TRUES, false_values=FALSES,
    )  # fmt: skip
    floats = tuple(field.name for field in schema if pa.types.is_floating(field.type))
    return format, CsvDoubts(sep, quote, escape, tuple(schema.names), takes_quotes=not null, floats=floats)


def sign(given: Mapping[str, str], option: str, usual: str) -> str:
    text = given.get(option, usual)
    if len(text) != 1 or not (" " < text < "\x7f" or text == "\t") or text.isalnum():
        raise InDoubt(f"option {option}")
    return text
