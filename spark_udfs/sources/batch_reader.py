"""What `spark.read.format("formatter")` runs: files by Spark's own door, split inside files, as Arrow batches.

In: options and a schema. Out: rows. `kind` is csv, json or a registered name; `rescue` the column of what has none;
`splitBytes` is about how much of a file one task reads; `fileSchema` (what StructType.json() gives) says what a CSV file
holds where `schema` names only some of it; all other options are those of Spark's reader for the kind. Without a schema the
files say what they are, and `samplingRatio` and `seed` which part of them is looked at. What the engine lets a Python data
source do is less than su.read with pushdown: it is told of filters (where its switch is set), never of the columns a query
reads, so every column of the schema is parsed. The filters it is told of drop rows here and are evaluated by Spark once more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource as engine
from pyspark.sql.types import StructType

import formatter as fm
from formatter.errors import shown
from formatter.formats.registered import is_registered, registered_indexers
from formatter.plans import with_rescue
from spark_udfs.files.file_listing import FoundFile, Storage, list_files
from spark_udfs.files.inferred import inferred, tell_doubts
from spark_udfs.files.read import LARGEST_SPLIT_BYTES, read_task
from spark_udfs.files.read_task import ReadTask
from spark_udfs.files.task_rows import Groups
from spark_udfs.options.reading import Reading, reading_of
from spark_udfs.pushdown.predicates import clause_of
from spark_udfs.sources.source_options import SourceOptions
from spark_udfs.tasks.sent_functions import plainly, told_plainly
from spark_udfs.types.arrow_schema import arrow_schema, nullable_throughout
from spark_udfs.types.spark_types import SparkColumns

OWN_OPTIONS = ("kind", "path", "paths", "splitbytes", "fileschema", "rescue")
SEVERAL_TEXTS = ("nulls", "true_values", "false_values", "timestamp_formats")
SMALLEST_SPLIT_BYTES = 8 << 20


@dataclass
class GroupOfParts(engine.InputPartition):
    """One of task_rows.Groups, packed; empty where there is nothing to read."""

    packed: bytes


class FormatterReader(engine.DataSourceReader):
    """`files`: those to read, where they were listed before; else those behind the path. `others_own`: options that are for
    somebody else. `format`: what was inferred, where nobody gave a schema."""

    def __init__(
        self,
        options: SourceOptions,
        schema: StructType,
        files: Sequence[FoundFile] | None = None,
        others_own: Sequence[str] = (),
        format: Any = None,
    ) -> None:
        self.path = options.paths
        self.schema = schema
        self.filters: list[tuple[Any, ...]] = []
        self.files = list_files(self.path, may_be_empty=True) if files is None else files
        size = sum(file.size for file in self.files)
        self.split_bytes = options.whole_number("splitBytes") or min(
            LARGEST_SPLIT_BYTES, max(SMALLEST_SPLIT_BYTES, size // (2 * (os.cpu_count() or 1)))
        )
        wanted = arrow_schema(schema)
        _require_nullable_inside(wanted)
        keys = [key for key, _ in self.files[0].partition] if self.files else []
        self.folders = pa.schema([field for field in wanted if field.name in keys])
        if format is not None:
            self.reading = reading_of(format)
            return
        in_files = pa.schema([field for field in wanted if field.name not in keys])
        if "fileschema" in options.given:
            in_files = _file_schema(options.given["fileschema"])
        others = {name: value for name, value in options.given.items() if name not in (*OWN_OPTIONS, *others_own)}
        kinds = ("csv", "json", *registered_indexers())
        self.reading = _rescuing(_reading(options.one_of("kind", kinds), in_files, others), options)
        known = {field.name: field.type for field in (*self.reading.format.schema, *self.folders)}
        for field in wanted:
            if (found := known.get(field.name, field.type)) != field.type:
                raise fm.SchemaError(
                    f"formatter: column {field.name!r} is {field.type} in the schema and {found} in fileSchema"
                )

    @cached_property
    def task(self) -> ReadTask:
        return read_task(
            None, self.path, self.reading, Storage(), columns=self.schema.names,
            filters=[self.filters] if self.filters else None, partitions=self.folders if self.folders.names else None,
            split_bytes=self.split_bytes, files=self.files,
        )  # fmt: skip

    @plainly()
    def partitions(self) -> Sequence[GroupOfParts]:
        return [GroupOfParts(group) for group in self.task.groups.packed] or [GroupOfParts(b"")]

    def __getstate__(self) -> dict[str, Any]:
        """As it goes to every task: which has its own group, and needs no other's and no list of files."""
        with suppress(Exception):  # Spark asks for the partitions next, and is told there what is wrong
            task = copy(self.task)
            task.groups = Groups((), task.groups.size_bytes)
            return {**self.__dict__, "files": [], "task": task}
        return self.__dict__

    def read(self, partition: engine.InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, GroupOfParts)
        if partition.packed:
            yield from batches_of_group(self.task, partition.packed, self.schema)


@told_plainly
def batches_of_group(task: ReadTask, packed: bytes, schema: StructType) -> Iterator[pa.RecordBatch]:
    """What one task reads, in exactly the schema that Spark was told of."""
    declared = SparkColumns.of(arrow_schema(schema)).arrow
    required = [at for at, field in enumerate(declared) if not field.nullable]
    for batch in task([pa.RecordBatch.from_arrays([pa.array([packed])], names=["group"])]):
        for at in required:
            if batch.column(at).null_count:
                name = declared.names[at]
                raise fm.SchemaError(
                    f"formatter: column {name!r} is NOT NULL, and a record has no value for it; leave NOT NULL out"
                )
        yield pa.RecordBatch.from_arrays(batch.columns, schema=declared)


class FilteringReader(FormatterReader):
    def pushFilters(self, filters: list[engine.Filter]) -> Iterable[engine.Filter]:
        """Takes what it can decide as Spark does. All go back: Spark evaluates them on the rows that are left."""
        fields = {field.name: field for field in self.reading.format.schema}
        self.filters += filter(None, (clause_of(pushed, fields) for pushed in filters))
        return filters


def _reading(kind: str, schema: pa.Schema, given: Mapping[str, str]) -> Reading:
    """The options of a registered format are those of fm.Registered; one that has several texts is one of them, or a JSON list."""
    if not is_registered(kind):
        return reading_of(kind, schema=schema, options=given)
    lists = {name: value for name, value in given.items() if name in SEVERAL_TEXTS}
    try:
        texts = {name: json.loads(value) if value.startswith("[") else [value] for name, value in lists.items()}
    except ValueError as error:
        raise fm.OptionError(f"formatter: {', '.join(lists)}: expected a text or a JSON list of texts") from error
    return reading_of(kind, schema=schema, options={**given, **texts})


def _rescuing(reading: Reading, options: SourceOptions) -> Reading:
    return replace(reading, format=with_rescue(reading.format, options.given.get("rescue")))


def inferred_schema(options: SourceOptions) -> tuple[Any, StructType]:
    """The format of files whose schema nobody gave, and the columns they have, folders among them."""
    options.require_known(
        ("kind", "path", "paths", "splitBytes", "samplingRatio", "seed", "rescue"), "where no schema is given"
    )
    kind = options.one_of("kind", ("csv", "json")) if "kind" in options.given else None
    ratio = options.fraction("samplingRatio")
    files = list_files(options.paths, may_be_empty=True)
    found, doubts = inferred(files, Storage(), kind, ratio, options.whole_number("seed") or 0)
    tell_doubts(options.source, doubts)
    format = with_rescue(found, options.given.get("rescue"))
    return format, read_task(None, options.paths, reading_of(format), Storage(), files=files).schema


def _require_nullable_inside(schema: pa.Schema) -> None:
    """Spark takes a source at its word, and what is missing or bad inside of a value is null, as with Spark's own readers."""
    for field in schema:
        if field.type != nullable_throughout(field).type:
            raise fm.SchemaError(
                f"formatter: column {field.name!r} has values inside that are NOT NULL; leave that out: what is missing is null"
            )


def _file_schema(text: str) -> pa.Schema:
    try:
        return arrow_schema(StructType.fromJson(json.loads(text)))
    except (ValueError, KeyError, TypeError) as error:
        raise fm.OptionError(
            f"formatter: fileSchema is what StructType.json() gives (there is no session here to read DDL), found {shown(text)}"
        ) from error
