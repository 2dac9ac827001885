"""`spark.read.format("formatter")`: files by Spark's own door, split inside files, as Arrow batches.

    su.register(spark)
    spark.read.format("formatter").schema("id BIGINT, name STRING").option("kind", "csv").option("header", "true").load(path)

In: a path, a schema and options. Out: rows. `kind` is csv or json; `splitBytes` is about how much of a file one task reads;
`fileSchema` (what StructType.json() gives) says what a CSV file holds where `schema` names only some of it; all other
options are those of Spark's reader for the kind. What the engine lets a Python data source do is less than su.read with
pushdown: it is told of filters (where spark.sql.python.filterPushdown.enabled is set), never of the columns a query reads,
so every column of the schema is parsed. The filters it is told of drop rows here and are evaluated by Spark once more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession
from pyspark.sql import datasource as engine
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

import formatter as fm
from formatter.filters import NULL_TESTS
from spark_udfs.arrow_schema import arrow_schema
from spark_udfs.file_listing import FoundFile, Storage, list_files
from spark_udfs.narrowing import is_comparable, is_decided_alike
from spark_udfs.options import reading_of
from spark_udfs.read import LARGEST_SPLIT_BYTES, read_task
from spark_udfs.read_task import ReadTask

OWN_OPTIONS = ("kind", "path", "paths", "splitbytes", "fileschema")
SMALLEST_SPLIT_BYTES = 8 << 20


FILTER_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"  # Spark 4.1 and later; without it pushFilters is an error


def register(spark: SparkSession, *, filters: bool = True) -> None:
    """Makes `spark.read.format("formatter")` known to a session.

    filters: have Spark tell the source of filters, for which its switch is set in this session; where that switch is to
    stay off, or Spark has none, filters=False.
    """
    told = filters and hasattr(engine.DataSourceReader, "pushFilters")
    if told:
        spark.conf.set(FILTER_PUSHDOWN, "true")
    spark.dataSource.register(FilteringSource if told else FormatterSource)


class FormatterSource(engine.DataSource):
    @classmethod
    def name(cls) -> str:
        return "formatter"

    def schema(self) -> StructType:
        raise fm.SchemaError("formatter: a schema is needed, since nothing is inferred: spark.read.schema(...)")

    def reader(self, schema: StructType) -> FormatterReader:
        return FormatterReader(*self.checked(), schema)

    def streamReader(self, schema: StructType) -> Any:
        from spark_udfs.data_source_stream import FormatterStreamReader  # it builds on this module

        return FormatterStreamReader(*self.checked(), schema)

    def checked(self) -> tuple[str, dict[str, Any]]:
        options = {str(name).lower(): value for name, value in dict(self.options).items()}
        kind = options.get("kind")
        if kind not in ("csv", "json"):
            raise fm.OptionError(f"formatter: option kind is 'csv' or 'json', found {kind!r}")
        if "path" not in options:
            raise fm.OptionError("formatter: no path; give it to load()")
        return kind, options


class FilteringSource(FormatterSource):
    def reader(self, schema: StructType) -> FilteringReader:
        return FilteringReader(*self.checked(), schema)


@dataclass
class GroupOfParts(engine.InputPartition):
    number: int


@dataclass(frozen=True)
class _Settings:
    """Stands where a session would: partitions are planned in a process that has none, beside the driver."""

    master: str = "local[*]"

    @property
    def conf(self) -> _Settings:
        return self

    def get(self, name: str, default: str) -> str:
        return self.master if name == "spark.master" else default


class FormatterReader(engine.DataSourceReader):
    """`files`: those to read, where they were listed before; else those behind the path."""

    def __init__(
        self, kind: str, options: dict[str, Any], schema: StructType, files: Sequence[FoundFile] | None = None
    ) -> None:
        self.path = options["path"]
        self.schema = schema
        self.filters: list[tuple[Any, ...]] = []
        given = options.get("splitbytes")
        if given is not None and not (str(given).isdigit() and int(given) > 0):
            raise fm.OptionError(f"formatter: splitBytes is a whole number from 1, found {given!r}")
        self.split_bytes = None if given is None else int(given)
        wanted = arrow_schema(schema)
        self.files = files
        files = list_files(self.path, may_be_empty=True) if files is None else files
        folders = [key for key, _ in files[0].partition] if files else []
        self.folders = pa.schema([field for field in wanted if field.name in folders])
        in_files = pa.schema([field for field in wanted if field.name not in folders])
        if "fileschema" in options:
            in_files = _file_schema(options["fileschema"])
        others = {name: value for name, value in options.items() if name not in OWN_OPTIONS}
        self.reading = reading_of(kind, schema=in_files, options=others)
        known = {field.name: field for field in (*self.reading.format.schema, *self.folders)}
        for field in wanted:
            if field.name in known and known[field.name].type != field.type:
                raise fm.SchemaError(
                    f"formatter: column {field.name!r} is {field.type} in the schema and {known[field.name].type} in fileSchema"
                )
        self.size = sum(file.size for file in files)
        self._task: ReadTask | None = None

    def planned(self) -> ReadTask:
        if self._task is None:
            split = self.split_bytes or min(
                LARGEST_SPLIT_BYTES, max(SMALLEST_SPLIT_BYTES, self.size // (2 * (os.cpu_count() or 1)))
            )
            self._task = read_task(
                _Settings(), self.path, self.reading, Storage.of(None, None), columns=self.schema.names,
                filters=[self.filters] if self.filters else None, partitions=self.folders if self.folders.names else None,
                split_bytes=split, files=self.files,
            )  # fmt: skip
        return self._task

    def partitions(self) -> Sequence[GroupOfParts]:
        return [GroupOfParts(number) for number in range(len(self.planned().groups))] or [GroupOfParts(-1)]

    def read(self, partition: engine.InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, GroupOfParts)
        if partition.number >= 0:
            yield from converted(self.planned(), partition.number, self.schema)


def converted(task: ReadTask, number: int, schema: StructType) -> Iterator[pa.RecordBatch]:
    """What one task reads, in exactly the schema that Spark was told of."""
    declared = to_arrow_schema(schema, timezone="UTC")
    for batch in task([pa.RecordBatch.from_arrays([pa.array([number])], names=["id"])]):
        columns = [column.cast(field.type) for column, field in zip(batch.columns, declared, strict=True)]
        yield pa.RecordBatch.from_arrays(columns, schema=declared)


class FilteringReader(FormatterReader):
    def pushFilters(self, filters: list[engine.Filter]) -> Iterable[engine.Filter]:
        """Takes what it can decide as Spark does. All go back: Spark evaluates them on the rows that are left."""
        fields = {field.name: field for field in self.reading.format.schema}
        for pushed in filters:
            clause = clause_of(pushed, fields)
            if clause is not None:
                self.filters.append(clause)
        return filters


def _file_schema(text: str) -> pa.Schema:
    try:
        return arrow_schema(StructType.fromJson(json.loads(text)))
    except (ValueError, KeyError, TypeError) as error:
        raise fm.OptionError(
            f"formatter: fileSchema is what StructType.json() gives (there is no session here to read DDL), found {text[:60]!r}"
        ) from error


COMPARISONS = {
    "EqualTo": "==",
    "EqualNullSafe": "==",
    "GreaterThan": ">",
    "GreaterThanOrEqual": ">=",
    "LessThan": "<",
    "LessThanOrEqual": "<=",
    "In": "in",
    "IsNull": "is_null",
    "IsNotNull": "is_not_null",
}


def clause_of(pushed: engine.Filter, fields: dict[str, pa.Field]) -> tuple[Any, ...] | None:
    """A clause that is true wherever the filter is, or None."""
    kind = type(pushed).__name__
    if kind == "Not":
        child = pushed.child  # type: ignore[attr-defined]
        if type(child).__name__ == "EqualNullSafe":
            return None  # a null is not the value, and no comparison here says so
        inner = clause_of(child, fields)
        negated = {"==": "!=", "is_null": "is_not_null", "is_not_null": "is_null"}
        if inner is None or inner[1] not in negated:
            return None
        opposite = negated[inner[1]]
        return (inner[0], opposite, *inner[2:]) if is_decided_alike(opposite, fields[inner[0]], inner[2:]) else None
    path: tuple[str, ...] = getattr(pushed, "attribute", ())
    if kind not in COMPARISONS or len(path) != 1 or path[0] not in fields:
        return None
    field, operator = fields[path[0]], COMPARISONS[kind]
    if operator in NULL_TESTS:
        return (field.name, operator) if is_comparable(field) else None
    value = pushed.value  # type: ignore[attr-defined]
    values = [one for one in value if one is not None] if operator == "in" else [value]
    if any(one is None for one in values) or not is_decided_alike(operator, field, values):
        return None
    return field.name, operator, values if operator == "in" else value
