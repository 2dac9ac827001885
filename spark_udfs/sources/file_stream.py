"""What `spark.readStream.format("formatter")` runs: files of a folder, each parsed once, in the micro-batch after it appears.

In: options and a schema, as for the batch source. Out: streaming rows. An offset says which files were taken, with
their sizes, so the same two offsets mean the same rows; Spark keeps the offsets and asks for them again after a crash. A file
has to appear whole (written elsewhere and renamed), as Spark asks of its own file source; files that grow are chunks for
su.parse_stream (chunk_stream.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import datasource as engine
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxBytes, ReadMaxFiles
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.files.file_listing import FoundFile
from spark_udfs.files.read_task import ReadTask
from spark_udfs.sources.batch_reader import FormatterReader, batches_of_group
from spark_udfs.sources.source_options import SourceOptions
from spark_udfs.sources.streamed_files import StreamedFiles
from spark_udfs.tasks.sent_functions import plainly

Taken = dict[str, int]  # an offset: the sizes of the files that were taken, by path
STREAM_OPTIONS = ("maxfilespertrigger", "maxbytespertrigger", "cleansource")


@dataclass
class PartsOfFiles(engine.InputPartition):
    """A whole task: what it reads was settled where the files were listed."""

    task: ReadTask
    packed: bytes


class FormatterStreamReader(StreamedFiles):
    def __init__(self, options: SourceOptions, schema: StructType) -> None:
        super().__init__(options, _limit(options))
        self.options = options
        self.schema = schema
        self._task_for([])  # what is wrong with options or schema is said before the query starts
        self.until: set[str] | None = None  # under availableNow: what was there when the query began

    def _task_for(self, files: Sequence[FoundFile]) -> ReadTask:
        return FormatterReader(self.options, self.schema, files, STREAM_OPTIONS).task

    @plainly()
    def prepareForTriggerAvailableNow(self) -> None:
        self.until = {file.path for file in self.listed()}

    @plainly()
    def latestOffset(self, start: Taken, limit: ReadLimit) -> Taken:
        """The oldest of the files not yet taken, as many as the limit lets in, but always one."""
        new = [file for file in self.listed() if file.path not in start]
        if self.until is not None:
            new = [file for file in new if file.path in self.until]
        taken, room = dict(start), math.inf
        if isinstance(limit, ReadMaxFiles | ReadMaxBytes):
            room = limit.max_bytes if isinstance(limit, ReadMaxBytes) else limit.max_files
        for file in sorted(new, key=lambda file: (file.modified_ns or 0, file.path)):
            cost = file.size if isinstance(limit, ReadMaxBytes) else 1
            if cost > room and len(taken) > len(start):
                break
            taken[file.path] = file.size
            room -= cost
        return taken

    @plainly()
    def partitions(self, start: Taken, end: Taken) -> Sequence[engine.InputPartition]:
        new = [path for path in end if path not in start]
        there = {file.path: file for file in self.listed()}
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
        task = self._task_for([there[path] for path in new])
        packed, task.groups.packed = task.groups.packed, []
        return [PartsOfFiles(task, group) for group in packed]

    def read(self, partition: engine.InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, PartsOfFiles)
        return batches_of_group(partition.task, partition.packed, self.schema)

    def commit(self, end: Taken) -> None:
        """Everything up to `end` has been processed: files may go, if the user said so."""
        for path in end if self.cleans else ():
            self.delete(path)


def _limit(options: SourceOptions) -> ReadLimit | None:
    files, size = options.whole_number("maxFilesPerTrigger"), options.whole_number("maxBytesPerTrigger")
    if files and size:
        raise fm.OptionError("formatter: maxFilesPerTrigger and maxBytesPerTrigger both bound a micro-batch; give one")
    return ReadMaxFiles(files) if files else ReadMaxBytes(size) if size else None
