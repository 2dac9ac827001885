"""What runs in a task in record mode: batches with a payload column in, one parsed row per payload out.

In: a format, a projection and the names of the columns that ride along, fixed and checked on the driver. Out: a callable
for df.mapInArrow with the `.schema` it yields, or a scalar function of the payload alone. A pure function of its rows:
a task that runs twice gives the same rows twice. Knows nothing of chunks, origins or sequences.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql.types import BooleanType, StructField, StructType

import formatter as fm
from formatter.values import ParsedRecords, RecordParser
from spark_udfs.tasks.worker_process import prepare_worker
from spark_udfs.types.spark_types import SparkColumns, spark_type

RecordOnError = Literal["null", "skip", "raise", "collect"]

ERROR_FIELDS = [
    pa.field("code", pa.string()),
    pa.field("message", pa.string()),
    pa.field("column", pa.string()),
    pa.field("byte_offset", pa.int64()),
]
RAW_FIELD = pa.field("raw", pa.binary())
ROW_KEPT = "row_kept"


@dataclass(frozen=True)
class Output:
    """A column that leaves the task: a kept one, a parsed one, a struct of parsed ones, or the error."""

    kind: Literal["kept", "parsed", "struct", "error"]
    name: str
    fields: tuple[str, ...] = ()


class RecordTask:
    """Picklable; carries options only. What is wrong with them is said when it is made, not in a task.

    into: the parsed columns leave as one struct of this name, behind the kept ones.
    """

    __name__ = "formatter.records"  # in plans; pushdown_rule.java knows what is ours by it

    def __init__(
        self,
        format: Any,
        payload: str,
        *,
        keep: StructType,
        columns: Sequence[str] | None,
        filters: Any,
        on_error: RecordOnError,
        error: str | None,
        into: str | None = None,
    ) -> None:
        if on_error not in get_args(RecordOnError):
            raise fm.OptionError(
                f"spark: on_error is 'null', 'skip', 'raise' or 'collect' in record mode, found {on_error!r}"
            )
        if isinstance(columns, str):
            raise fm.OptionError(f"spark: columns is a list of names, found the string {columns!r}")
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
        parsed = pa.schema([_nullable(format.schema.field(name)) for name in self.columns])
        self._parsed = {name: SparkColumns.of(pa.schema([parsed.field(name)])) for name in self.columns}
        self._error_type = pa.struct([*ERROR_FIELDS, *([RAW_FIELD] if on_error == "collect" else [])])
        kept = [Output("kept", field.name) for field in keep]
        error_output = [] if self.error is None else [Output("error", self.error)]
        if into is None:
            self.outputs = (*(Output("parsed", name) for name in self.columns), *kept, *error_output)
        else:
            self.outputs = (*kept, Output("struct", into, self.columns), *error_output)
        self._keep = {field.name: field for field in keep}
        _require_distinct(output.name for output in self.outputs)
        self.decodes_all = self.error is not None or on_error == "skip"

    @property
    def drops_rows(self) -> bool:
        return self.on_error == "skip" or bool(self.filters)

    @property
    def schema(self) -> StructType:
        return StructType([self._spark_field(output) for output in self.outputs])

    def _spark_field(self, output: Output) -> StructField:
        if output.kind == "kept":
            return self._keep[output.name]
        if output.kind == "parsed":
            return self._parsed[output.name].struct.fields[0]
        if output.kind == "error":
            return StructField(output.name, spark_type(self._error_type))
        return StructField(output.name, StructType([self._parsed[name].struct.fields[0] for name in output.fields]))

    def _parser(self, columns: Sequence[str]) -> RecordParser:
        on_error = "raise" if self.on_error == "raise" else "null"
        return RecordParser(self.format, columns=columns, filters=self.filters, on_error=on_error)

    def as_scalar(self) -> ScalarRecords:
        """The same as a function of the payload alone, for columns that cannot travel."""
        return ScalarRecords(self)

    @property
    def decoded(self) -> tuple[str, ...]:
        """The columns that are parsed: those that leave, or all where any of their errors counts."""
        if self.decodes_all:
            return self.columns
        leaving = {output.name for output in self.outputs if output.kind == "parsed"}
        for output in self.outputs:
            leaving.update(output.fields)
        return tuple(name for name in self.columns if name in leaving)

    def parser(self) -> RecordParser:
        return self._parser(self.decoded)

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        prepare_worker()
        parser = self.parser()
        for batch in batches:
            yield self.parse_batch(batch, parser)[0]

    def parse_batch(self, batch: pa.RecordBatch, parser: RecordParser) -> tuple[pa.RecordBatch, pa.Array | None]:
        """What leaves for a batch, and the rows it stands for (None: all)."""
        records = parser.parse(batch.column(self.payload))
        count, rows = records.value_count, records.kept
        parsed = dict(zip(records.data.schema.names, records.data.columns, strict=True))
        absent = records.absent
        if self.on_error == "skip" and records.details:
            passing, rows = _without_rejected(records)
            parsed = {name: column.take(passing) for name, column in parsed.items()}
            absent = None if absent is None else absent.take(passing)
        leaving = count if rows is None else len(rows)
        columns: list[pa.Array] = []
        fields: list[pa.Field] = []
        for output in self.outputs:
            if output.kind == "kept":
                column = batch.column(output.name)
                fields.append(batch.schema.field(output.name))
                columns.append(column if rows is None else column.take(rows))
                continue
            if output.kind == "parsed":
                columns.append(self._converted(output.name, parsed))
            elif output.kind == "error":
                columns.append(self._errors(batch, records, rows))
            else:
                columns.append(self._struct(output, parsed, absent))
            fields.append(pa.field(output.name, columns[-1].type))
        if not columns:  # only how many rows there are
            return pa.RecordBatch.from_struct_array(_empty_structs(leaving)), rows
        return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields)), rows

    def _converted(self, name: str, parsed: dict[str, pa.Array]) -> pa.Array:
        column = parsed[name]
        accepted = self._parsed[name].arrow
        if column.type == accepted.field(0).type:
            return column
        batch = pa.RecordBatch.from_arrays([column], names=[name])
        return self._parsed[name].convert(batch).column(0)

    def _struct(self, output: Output, parsed: dict[str, pa.Array], absent: pa.Array | None) -> pa.Array:
        """Null where there is no record, as from_json says it."""
        arrays = [self._converted(name, parsed) for name in output.fields]
        fields = [self._parsed[name].arrow.field(0) for name in output.fields]
        return pa.StructArray.from_arrays(arrays, fields=fields, mask=absent)

    def _errors(self, batch: pa.RecordBatch, records: ParsedRecords, rows: pa.Array | None) -> pa.Array:
        if not records.details:
            return pa.nulls(records.value_count if rows is None else len(rows), self._error_type)
        found: list[dict[str, Any] | None] = [None] * records.value_count
        payloads = batch.column(self.payload)
        for error in records.details:
            at = error.record
            assert at is not None  # an array's errors always name their value
            if found[at] is not None:
                continue
            message = str(error).replace(f"value {at}, ", "", 1)  # which row of a batch it was means nothing outside
            values = (error.code, message, error.column, error.byte_offset)
            said: dict[str, Any] = dict(zip((field.name for field in ERROR_FIELDS), values, strict=True))
            if self.on_error == "collect":
                raw = payloads[at].as_py()
                said["raw"] = raw.encode() if isinstance(raw, str) else raw
            found[at] = said
        column = pa.array(found, self._error_type)
        return column if rows is None else column.take(rows)

    def narrowed(self, wanted: Sequence[int], nested: dict[int, Sequence[int]], filters: Any) -> RecordTask:
        """The same task with only the `wanted` outputs, of the struct only the `nested` fields, and these filters."""
        narrow = copy(self)
        narrow.outputs = tuple(
            replace(output, fields=tuple(output.fields[i] for i in nested[at])) if at in nested else output
            for at, output in ((at, self.outputs[at]) for at in wanted)
        )
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
        if task.drops_rows:  # a scalar function gives every row a value: the caller drops those without the mark
            fields = [*fields, StructField(ROW_KEPT, BooleanType())]
        self.type = StructType(fields)

    @property
    def names(self) -> list[str]:
        return [output.name for output in self._task.outputs]

    def parse(self, payloads: pa.Array) -> pa.Array:
        task = self._task
        batch = pa.RecordBatch.from_arrays([payloads], names=[task.payload])
        parsed, rows = task.parse_batch(batch, task.parser())
        if not task.drops_rows:
            return parsed.to_struct_array()
        kept = np.zeros(len(payloads), bool)
        places = np.full(len(payloads), -1, np.int64)
        chosen = slice(None) if rows is None else rows.to_numpy()
        kept[chosen] = True
        places[chosen] = np.arange(parsed.num_rows)
        taken = pa.array(places, mask=~kept)
        arrays = [column.take(taken) for column in parsed.columns]
        return pa.StructArray.from_arrays([*arrays, pa.array(kept)], names=[*parsed.schema.names, ROW_KEPT])

    def column(self, payload: Column) -> Column:
        from pyspark.sql import functions

        scalar = self
        if not hasattr(functions, "arrow_udf"):
            raise fm.SchemaError(
                "spark: a column that is kept has a type or name that cannot travel to Python, for which Spark 4.1 is "
                "needed; leave such columns out of keep=, or cast or rename them"
            )

        def parse_record(payloads: pa.Array) -> pa.Array:
            prepare_worker()
            return scalar.parse(payloads)

        parse_record.__annotations__ = {"payloads": pa.Array, "return": pa.Array}
        parsed: Column = functions.arrow_udf(parse_record, self.type)(payload)
        return parsed


def _nullable(field: pa.Field) -> pa.Field:
    """A payload may be null, so every column may be."""
    return field.with_nullable(True)


def _require_distinct(names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise fm.SchemaError(f"spark: two columns would be named {name!r}; rename the kept one, or set error=")
        seen.add(name)


def _without_rejected(records: ParsedRecords) -> tuple[pa.Array, pa.Array]:
    """(positions among the rows, values) of the records nothing was wrong with."""
    bad = {error.record for error in records.details}
    values = range(records.value_count) if records.kept is None else records.kept.to_pylist()
    good = [(row, value) for row, value in enumerate(values) if value not in bad]
    return pa.array([row for row, _ in good], pa.int64()), pa.array([value for _, value in good], pa.int64())


def _empty_structs(count: int) -> pa.Array:
    return pa.Array.from_buffers(pa.struct([]), count, [None])
