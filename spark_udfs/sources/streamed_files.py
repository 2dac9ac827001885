"""What streams of files have in common, whatever they make of the files.

In: a path that is listed anew for each micro-batch. Out: the parts of Spark's streaming reader that do not depend on what an
offset says: an empty first one, a limit, files that may go once they are processed. Only a Spark that tells a source how far
it has come has what this builds on, so data_sources.py imports it where a stream is asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyarrow import fs
from pyspark.sql import datasource as engine
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, SupportsTriggerAvailableNow

import formatter as fm
from spark_udfs.files.file_listing import LOCAL, FoundFile, list_files
from spark_udfs.sources.source_options import SourceOptions
from spark_udfs.tasks.sent_functions import plainly


class StreamedFiles(engine.DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, options: SourceOptions, limit: ReadLimit | None = None) -> None:
        self.path = options.path
        self.limit = limit or ReadAllAvailable()
        self.cleans = options.one_of("cleanSource", ("off", "delete"), "off") == "delete"

    def initialOffset(self) -> dict[str, Any]:
        return {}

    def getDefaultReadLimit(self) -> ReadLimit:
        return self.limit

    def listed(self) -> list[FoundFile]:
        try:
            return list_files(self.path, may_be_empty=True)
        except FileNotFoundError:
            return []  # nothing has come yet

    def delete(self, path: str, folders: bool = False) -> None:
        """What has been processed; it may have gone already."""
        filesystem, inner = LOCAL.resolve(path)
        found = filesystem.get_file_info(inner)
        if found.is_file:
            filesystem.delete_file(inner)
        elif folders and found.type == fs.FileType.Directory:
            filesystem.delete_dir(inner)


def made_or_refused(make: Callable[[], engine.DataSourceStreamReader]) -> engine.DataSourceStreamReader:
    """Of an error that is raised while a reader is made, PySpark tells another, of its own: so it waits for the first question."""
    try:
        return make()
    except (fm.FormatterError, OSError) as error:
        return RefusedStream(error)


class RefusedStream(engine.DataSourceStreamReader, SupportsTriggerAvailableNow):
    """In the place of a reader that cannot be."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def _refuse(self, *question: Any) -> Any:
        with plainly():
            raise self.error

    initialOffset = latestOffset = partitions = read = getDefaultReadLimit = prepareForTriggerAvailableNow = _refuse  # type: ignore[assignment]
