"""What runs in a task in record mode: batches with a payload column in, one parsed row per payload out.

In: a format, a projection and the names of the columns that ride along, fixed and checked on the driver. Out: a callable
for df.mapInArrow with the `.schema` it yields, or a scalar function of the payload alone. A pure function of its rows:
a task that runs twice gives the same rows twice. Knows nothing of chunks, origins or sequences.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.types import ArrayType, BooleanType, DataType, StructField, StructType

import formatter as fm
from formatter.plans import rescue_of
from formatter.values import ParsedRecords, RecordParser
from spark_udfs.tasks.schema_drift import DriftReports
from spark_udfs.tasks.sent_functions import Sent, plainly, told_plainly, without_pandas_notice
from spark_udfs.tasks.worker_process import prepare_worker
from spark_udfs.types.named_columns import require_list
from spark_udfs.types.spark_types import accepted_field, converted, spark_type, struct_of

RecordOnError = Literal["null", "skip", "raise", "collect"]

ERROR_FIELDS = [("code", pa.string()), ("message", pa.string()), ("column", pa.string()), ("byte_offset", pa.int64())]
RAW_FIELD = ("raw", pa.binary())
ROW_KEPT = "row_kept"
VALUES = "values"
SCALAR_NAME = "formatter.values"  # in query plans; direct_rows.java knows it by that


@dataclass(frozen=True)
class Output:
    """A column that leaves the task: a kept one, a parsed one, a struct of parsed ones, the error, or payloads in doubt."""

    kind: Literal["kept", "parsed", "struct", "error", "doubtful"]
    field: StructField
    columns: tuple[str, ...] = ()  # those that are parsed for it

    @property
    def name(self) -> str:
        return str(self.field.name)


@dataclass(frozen=True)
class ReadBatch:
    """A batch and what was read of its payloads. `parsed`: columns by name. `absent`: whether a row has no record, None if each
    has one. `rows`: those of the batch that leave, None for all."""

    batch: pa.RecordBatch
    records: ParsedRecords
    parsed: dict[str, pa.Array]
    absent: pa.Array | None
    rows: pa.Array | None


class RecordTask:
    """Picklable; carries options only. What is wrong with them is said when it is made, not in a task.

    into: the parsed columns leave as one struct of this name, behind the kept ones.
    """

    __name__ = "formatter.records"  # in query plans; pushdown_rule.java knows what is ours by it
    drift: DriftReports | None = None  # who is told of what the schema lacks, if anybody

    def __init__(
        self,
        format: Any,
        payload: str,
        *,
        keep: StructType,
        columns: Sequence[str] | None = None,
        filters: Any = None,
        on_error: RecordOnError = "null",
        error: str | None = None,
        into: str | None = None,
    ) -> None:
        if on_error not in get_args(RecordOnError):
            raise fm.OptionError(
                f"spark: on_error is 'null', 'skip', 'raise' or 'collect' in record mode, found {on_error!r}"
            )
        require_list("columns", columns)
        self.format = format
        self.payload = payload
        self.filters = filters
        self.on_error = on_error
        self.error = error if on_error in ("null", "collect") else None
        if on_error == "collect" and error is None:
            raise fm.OptionError(
                "spark: on_error='collect' keeps what was wrong in the error column: name it in error="
            )
        self.columns = tuple(format.schema.names if columns is None else columns)
        self._parser(self.columns)  # an unknown column, a filter of the wrong type, a bad option: all raise here
        # A payload may be null, so every column may be.
        nullable = (format.schema.field(name).with_nullable(True) for name in self.columns)
        self._fields = {field.name: accepted_field(field, field.name) for field in nullable}
        self._spark = struct_of(pa.schema(self._fields.values()))
        self._error_type = pa.struct([*ERROR_FIELDS, *([RAW_FIELD] if on_error == "collect" else [])])
        kept = [Output("kept", field) for field in keep]
        parsed = [Output("parsed", field, (field.name,)) for field in self._spark]
        errors = [] if self.error is None else [Output("error", StructField(self.error, spark_type(self._error_type)))]
        struct = [] if into is None else [Output("struct", StructField(into, self._spark), self.columns)]
        self.outputs = (*kept, *struct, *errors) if struct else (*parsed, *kept, *errors)
        for name, count in Counter(output.name for output in self.outputs).items():
            if count > 1:
                raise fm.SchemaError(f"spark: two columns would be named {name!r}; rename the kept one, or set error=")
        self.decodes_all = self.error is not None or on_error == "skip"

    @property
    def drops_rows(self) -> bool:
        return self.on_error == "skip" or bool(self.filters)

    @property
    def schema(self) -> StructType:
        return StructType([output.field for output in self.outputs])

    def _parser(self, columns: Sequence[str]) -> RecordParser:
        on_error = "raise" if self.on_error == "raise" else "null"
        return RecordParser(self.format, columns=columns, filters=self.filters, on_error=on_error)

    @property
    def decoded(self) -> tuple[str, ...]:
        """The columns that are parsed: those that leave, or all where any of their errors counts."""
        leaving = {name for output in self.outputs for name in output.columns}
        if self.decodes_all or rescue_of(self.format) in leaving:  # of which misfits of every column are rescued
            return self.columns
        return tuple(name for name in self.columns if name in leaving)

    def parser(self) -> RecordParser:
        return self._parser(self.decoded)

    @told_plainly
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        parser = self.parser()
        rows = (self.parse_batch(batch, parser)[0] for batch in batches)
        yield from rows if self.drift is None else self.drift.watched(rows)

    def parse_batch(self, batch: pa.RecordBatch, parser: RecordParser) -> tuple[pa.RecordBatch, pa.Array | None]:
        """What leaves for a batch, and the rows it stands for (None: all)."""
        records = parser.parse(batch.column(self.payload))
        rows = records.kept
        parsed = dict(zip(records.data.schema.names, records.data.columns, strict=True))
        absent = records.absent
        if self.on_error == "skip" and records.details:
            passing, rows = _without_rejected(records)
            parsed = {name: column.take(passing) for name, column in parsed.items()}
            absent = None if absent is None else absent.take(passing)
        read = ReadBatch(batch, records, parsed, absent, rows)
        columns: list[pa.Array] = []
        fields: list[pa.Field] = []
        for output in self.outputs:
            columns.append(self._column(output, read))
            kept = batch.schema.field(output.name) if output.kind == "kept" else None
            fields.append(kept or pa.field(output.name, columns[-1].type))
        if not columns:  # only how many rows there are
            count = records.value_count if rows is None else len(rows)
            return pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), count, [None])), rows
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)), rows

    def _column(self, output: Output, read: ReadBatch) -> pa.Array:
        if output.kind == "kept":
            column = read.batch.column(output.name)
            return column if read.rows is None else column.take(read.rows)
        if output.kind == "error":
            return self._errors(read.batch, read.records)
        values = [converted(read.parsed[name], self._fields[name]) for name in output.columns]
        if output.kind == "parsed":
            return values[0]
        # Null where there is no record, as from_json says it.
        inner = [self._fields[name] for name in output.columns]
        return pa.StructArray.from_arrays(values, fields=inner, mask=read.absent)

    def _errors(self, batch: pa.RecordBatch, records: ParsedRecords) -> pa.Array:
        if not records.details:
            return pa.nulls(records.data.num_rows, self._error_type)
        found: list[dict[str, Any] | None] = [None] * records.data.num_rows
        payloads = batch.column(self.payload)
        for number, (error, row) in enumerate(zip(records.details, records.detail_rows, strict=True)):
            if row is None or found[row] is not None:
                continue
            at = error.record
            assert at is not None  # an array's errors always name their value
            message = str(error).replace(f"value {at}, ", "", 1)  # which row of a batch it was means nothing outside
            said: dict[str, Any] = {
                "code": error.code, "message": message, "column": error.column, "byte_offset": error.byte_offset
            }  # fmt: skip
            if self.on_error == "collect":
                raw = records.detail_raw[number] if records.detail_raw else payloads[at].as_py()
                said["raw"] = raw.encode() if isinstance(raw, str) else raw
            found[row] = said
        return pa.array(found, self._error_type)

    def narrowed(self, wanted: Sequence[int], nested: dict[int, Sequence[int]], filters: Any) -> RecordTask:
        """The same task with only the `wanted` outputs, of the struct only the `nested` fields, and these filters."""
        narrow = copy(self)
        outputs = [self.outputs[at] for at in wanted]
        for place, at in enumerate(wanted):
            if at in nested:
                names = tuple(outputs[place].columns[i] for i in nested[at])
                some = StructType([self._spark[name] for name in names])
                outputs[place] = Output("struct", StructField(outputs[place].name, some), names)
        narrow.outputs = tuple(outputs)
        if self.error is not None and all(output.kind != "error" for output in narrow.outputs):
            narrow.error, narrow.decodes_all = None, False  # nobody asks, so nobody's answer can change
        narrow.filters = filters
        return narrow


class ScalarRecords:
    """The task as a scalar Arrow function: payloads in, structs of what leaves beside the kept columns out."""

    def __init__(self, task: RecordTask) -> None:
        inner = copy(task)
        inner.outputs = tuple(output for output in task.outputs if output.kind != "kept")
        self._task = inner
        fields = inner.schema.fields
        self.explodes = explodes(task.format)
        self.type: DataType
        if task.drops_rows and not self.explodes:
            # A scalar function gives every row a value: the caller drops those without the mark.
            fields = [*fields, StructField(ROW_KEPT, BooleanType())]
        # Of payloads that hold several records, all of them: the caller makes rows of those.
        self.type = ArrayType(StructType(fields)) if self.explodes else StructType(fields)

    def parsing(self) -> Callable[[pa.Array], pa.Array]:
        """The function, of one plan for all its calls."""
        parser = self._task.parser()
        return lambda payloads: self._parse(payloads, parser)

    def _parse(self, payloads: pa.Array, parser: RecordParser) -> pa.Array:
        task = self._task
        batch = pa.RecordBatch.from_arrays([payloads], names=[task.payload])
        parsed, rows = task.parse_batch(batch, parser)
        if self.explodes:
            assert rows is not None  # the payloads they are from, in order
            ends = np.searchsorted(rows.to_numpy(), np.arange(len(payloads) + 1))
            return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), parsed.to_struct_array())
        if not task.drops_rows:
            return parsed.to_struct_array()
        import pyarrow.compute as pc  # workers start faster without it, and few jobs need it

        values = pa.array(range(len(payloads)), pa.int64())
        place = pc.index_in(values, values if rows is None else rows)  # of each payload, its row
        taken, kept = parsed.take(place), place.is_valid()
        return pa.StructArray.from_arrays([*taken.columns, kept], names=[*parsed.schema.names, ROW_KEPT])

    def column(self, payload: Column) -> Column:
        from pyspark.sql import functions

        records = self
        if not hasattr(functions, "arrow_udf"):
            raise fm.SchemaError(
                "spark: a column that is kept has a type or name that cannot travel to Python, for which Spark 4.1 is "
                "needed; leave such columns out of keep=, or cast or rename them"
            )

        def parse_records(payloads: pa.Array) -> pa.Array:
            prepare_worker()
            with plainly():
                return records.parsing()(payloads)

        parse_records.__annotations__ = {"payloads": pa.Array, "return": pa.Array}
        parse_records.__name__ = SCALAR_NAME
        parse_records.records = records  # type: ignore[attr-defined]  # for row_shapes.py
        sent: Any = Sent(parse_records)
        sent.__annotations__, sent.__signature__ = parse_records.__annotations__, signature(parse_records)
        with without_pandas_notice():
            parsed: Column = functions.arrow_udf(sent, self.type)(payload)
        return parsed


class RecordsBeside:
    """The scalar function as one of batches: columns as they came, which the payload may be of, and what is made of the first."""

    def __init__(self, records: ScalarRecords, kept: Sequence[str]) -> None:
        self.records = records
        self.kept = tuple(kept)

    @told_plainly
    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        parse = self.records.parsing()
        for batch in batches:
            columns = [*map(batch.column, self.kept), parse(batch.column(0))]
            yield pa.RecordBatch.from_arrays(columns, names=[*self.kept, VALUES])


def explodes(format: Any) -> bool:
    """Whether a payload holds any number of records, of which each is a row."""
    return isinstance(format, fm.Json) and format.explodes


def _without_rejected(records: ParsedRecords) -> tuple[pa.Array, pa.Array]:
    """(positions among the rows, values) of the records nothing was wrong with."""
    bad = set(records.detail_rows)
    values = range(records.value_count) if records.kept is None else records.kept.to_pylist()
    good = [(row, value) for row, value in enumerate(values) if row not in bad]
    return pa.array([row for row, _ in good], pa.int64()), pa.array([value for _, value in good], pa.int64())
