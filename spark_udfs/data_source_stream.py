"""`spark.readStream.format("formatter")`: files of a folder, each parsed once, in the micro-batch after it appears.

    spark.readStream.format("formatter").schema("id BIGINT, name STRING").option("kind", "csv").load("/incoming/")

In: a path, a schema and options, as for the batch source. Out: streaming rows. An offset says which files were taken, with
their sizes, so the same two offsets mean the same rows; Spark keeps the offsets and asks for them again after a crash. A file
has to appear whole (written elsewhere and renamed), as Spark asks of its own file source; files that grow are chunks for
su.parse_stream (stream_source.py).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import datasource as engine
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxBytes,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.data_source import FormatterReader, converted
from spark_udfs.file_listing import LOCAL, FoundFile, filesystem_of, list_files
from spark_udfs.read_task import ReadTask

Taken = dict[str, int]  # an offset: the sizes of the files that were taken, by path
STREAM_OPTIONS = ("maxfilespertrigger", "maxbytespertrigger", "cleansource")


@dataclass
class PartsOfFiles(engine.InputPartition):
    """A whole task: it was planned where the files were listed."""

    task: ReadTask
    number: int


class FormatterStreamReader(engine.DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, kind: str, options: dict[str, Any], schema: StructType) -> None:
        self.kind = kind
        self.schema = schema
        self.path = options["path"]
        self.limit = _limit(options)
        clean = options.get("cleansource", "off")
        if clean not in ("off", "delete"):
            raise fm.OptionError(f"formatter: cleanSource is 'off' or 'delete', found {clean!r}")
        self.cleans = clean == "delete"
        self.options = {name: value for name, value in options.items() if name not in STREAM_OPTIONS}
        self._plan([])  # what is wrong with options or schema is said before the query starts
        self.until: set[str] | None = None  # under availableNow: what was there when the query began

    def _plan(self, files: Sequence[FoundFile]) -> ReadTask:
        return FormatterReader(self.kind, self.options, self.schema, files).planned()

    def _list(self) -> list[FoundFile]:
        try:
            return list_files(self.path, storage=LOCAL, may_be_empty=True)
        except FileNotFoundError:
            return []  # nothing has come yet

    def initialOffset(self) -> Taken:
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:
        return self.limit

    def prepareForTriggerAvailableNow(self) -> None:
        self.until = {file.path for file in self._list()}

    def latestOffset(self, start: Taken, limit: ReadLimit) -> Taken:
        """The oldest of the files not yet taken, as many as the limit lets in, but always one."""
        new = [file for file in self._list() if file.path not in start]
        if self.until is not None:
            new = [file for file in new if file.path in self.until]
        taken, room = dict(start), _room(limit)
        for file in sorted(new, key=lambda file: (file.modified_ns or 0, file.path)):
            cost = file.size if isinstance(limit, ReadMaxBytes) else 1
            if room is not None and cost > room and len(taken) > len(start):
                break
            taken[file.path] = file.size
            room = None if room is None else room - cost
        return taken

    def reportLatestOffset(self) -> Taken | None:
        return None

    def partitions(self, start: Taken, end: Taken) -> Sequence[engine.InputPartition]:
        new = [path for path in end if path not in start]
        there = {file.path: file for file in self._list()}
        for path in new:
            if path not in there:
                raise FileNotFoundError(f"formatter: {path!r} is gone before it was processed")
            if there[path].size != end[path]:
                raise OSError(
                    f"formatter: {path!r} has {there[path].size} bytes, {end[path]} when it was taken; files have to appear "
                    "whole: write them elsewhere and rename them"
                )
        if not new:
            return []
        task = self._plan([there[path] for path in new])
        return [PartsOfFiles(task, number) for number in range(len(task.groups))]

    def read(self, partition: engine.InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PartsOfFiles)
        return converted(partition.task, partition.number, self.schema)

    def commit(self, end: Taken) -> None:
        """Everything up to `end` has been processed: files may go, if the user said so."""
        for path in end if self.cleans else ():
            filesystem, inner = filesystem_of(path)
            if filesystem.get_file_info(inner).is_file:
                filesystem.delete_file(inner)


def _limit(options: dict[str, Any]) -> ReadLimit:
    files, size = options.get("maxfilespertrigger"), options.get("maxbytespertrigger")
    if files is not None and size is not None:
        raise fm.OptionError("formatter: maxFilesPerTrigger and maxBytesPerTrigger both bound a micro-batch; give one")
    if files is not None:
        return ReadMaxFiles(_whole("maxFilesPerTrigger", files))
    return ReadAllAvailable() if size is None else ReadMaxBytes(_whole("maxBytesPerTrigger", size))


def _whole(name: str, value: Any) -> int:
    if not (str(value).isdigit() and int(value) > 0):
        raise fm.OptionError(f"formatter: {name} is a whole number from 1, found {json.dumps(str(value))}")
    return int(value)


def _room(limit: ReadLimit) -> int | None:
    if isinstance(limit, ReadMaxFiles):
        return int(limit.max_files)
    return int(limit.max_bytes) if isinstance(limit, ReadMaxBytes) else None
