"""`spark.read.format("formatter")`, `spark.readStream.format("formatter")` and `.format("formatter_chunks")`: our data sources
by name.

    su.register(spark)
    spark.read.format("formatter").schema("id BIGINT, name STRING").option("kind", "csv").option("header", "true").load(path)
    spark.read.format("formatter").load(path)
    su.register_chunks(spark)
    spark.readStream.format("formatter_chunks").option("layout", "growing").load("/logs/*.csv")

In: a session that shall know them; later, options and a schema. Out: readers, each from a file of its own.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from typing import Any, ClassVar

import pyspark
from pyspark.serializers import CPickleSerializer
from pyspark.sql import SparkSession
from pyspark.sql import datasource as engine
from pyspark.sql.types import StructType

import formatter as fm
from formatter.formats.registered import know_indexer, registered_indexers
from spark_udfs.chunks.file_chunks import STREAM_SCHEMA
from spark_udfs.jvm.session_jvm import has_jvm
from spark_udfs.sources.batch_reader import FilteringReader, FormatterReader, inferred_schema
from spark_udfs.sources.source_options import SourceOptions
from spark_udfs.sources.table_function import enable_table_function
from spark_udfs.tasks.sent_functions import plainly
from spark_udfs.types.spark_types import struct_of

FILTER_PUSHDOWN = "spark.sql.python.filterPushdown.enabled"  # without it pushFilters is an error


def register(spark: SparkSession, *, filters: bool = True) -> None:
    """Makes `spark.read.format("formatter")` known to a session, and to its SQL `formatter_read(path, format, schema, options)`.

    Formats that `fm.register_format` was given by then are known by their names.

    Args:
        spark: The session.
        filters: Whether Spark is to tell the source of filters, for which its switch is set in this session; where that
            switch is to stay off, or Spark has none, False.

    Example:
        >>> import tempfile, spark_udfs as su
        >>> su.register(spark)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = open(f"{folder}/a.csv", "w").write("1\\n2\\n")
        ...     spark.read.format("formatter").option("kind", "csv").schema("id INT").load(folder).count()
        2
    """
    told = filters and hasattr(engine.DataSourceReader, "pushFilters")
    if told:
        spark.conf.set(FILTER_PUSHDOWN, "true")
    source: type[FormatterSource] = FilteringSource if told else FormatterSource
    indexers = _packed_indexers()
    if indexers:  # a process that plans does not have them: they travel with a class of their own
        source = type(source.__name__, (source,), {"indexers": indexers})
    spark.dataSource.register(source)
    if has_jvm(spark):
        enable_table_function(spark)


def register_chunks(spark: SparkSession) -> None:
    """Makes `spark.readStream.format("formatter_chunks")` known to a session: files become rows of chunks as they grow.

    Args:
        spark: The session.

    Example:
        >>> import tempfile, spark_udfs as su
        >>> su.register_chunks(spark)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     spark.readStream.format("formatter_chunks").load(folder).columns
        ['origin', 'sequence', 'offset', 'payload', 'last_sequence']
    """
    require_streams(ChunkStreamSource.name())
    spark.dataSource.register(ChunkStreamSource)


class FormatterSource(engine.DataSource):
    batch_reader = FormatterReader
    inferred: Any = None  # the format, where Spark asked for a schema; it travels with this object
    indexers: ClassVar[
        dict[str, bytes]
    ] = {}  # by name, packed: only the one that is asked for has to be known where Spark plans

    @classmethod
    def name(cls) -> str:
        return "formatter"

    @plainly()
    def schema(self) -> StructType:
        self.inferred, schema = inferred_schema(SourceOptions(self.name(), self.options))
        return schema

    @plainly()
    def reader(self, schema: StructType) -> FormatterReader:
        options = self._known_options()
        return self.batch_reader(options, schema, format=self.inferred)

    def streamReader(self, schema: StructType) -> Any:
        require_streams(self.name())
        from spark_udfs.sources.file_stream import FormatterStreamReader
        from spark_udfs.sources.streamed_files import made_or_refused

        return made_or_refused(lambda: FormatterStreamReader(self._stream_options(), schema))

    def _stream_options(self) -> SourceOptions:
        if self.inferred is not None:
            raise fm.SchemaError(
                "formatter: a stream needs a schema, since files that are yet to come say nothing: spark.readStream.schema(...); "
                "su.schema_of and su.infer propose one"
            )
        return self._known_options()

    def _known_options(self) -> SourceOptions:
        options = SourceOptions(self.name(), self.options)
        packed = self.indexers.get(str(options.given.get("kind")))
        if packed is not None:
            pickler: Any = CPickleSerializer()
            know_indexer(pickler.loads(packed))
        return options


def _packed_indexers() -> dict[str, bytes]:
    packed: dict[str, bytes] = {}
    pickler: Any = CPickleSerializer()
    for name, indexer in registered_indexers().items():
        with suppress(Exception):  # what cannot travel is known to this process alone, as su.read would say
            packed[name] = pickler.dumps(indexer)
    return packed


class FilteringSource(FormatterSource):
    batch_reader = FilteringReader


class ChunkStreamSource(engine.DataSource):
    @classmethod
    def name(cls) -> str:
        return "formatter_chunks"

    def schema(self) -> StructType:
        return struct_of(STREAM_SCHEMA)

    def streamReader(self, schema: StructType) -> Any:
        from spark_udfs.sources.chunk_stream import ChunkStreamReader
        from spark_udfs.sources.streamed_files import made_or_refused

        return made_or_refused(lambda: ChunkStreamReader(self._stream_options(schema)))

    def _stream_options(self, schema: StructType) -> SourceOptions:
        if schema.names != STREAM_SCHEMA.names:
            columns = ", ".join(STREAM_SCHEMA.names)
            raise fm.SchemaError(f"formatter_chunks: its columns are ({columns}); select what you need after load()")
        return SourceOptions(self.name(), self.options)


def require_streams(source: str) -> None:
    """Offsets count what was taken before, which older versions of Spark do not tell a source."""
    if find_spec("pyspark.sql.streaming.datasource") is None:
        raise fm.OptionError(
            f"{source}: streams need a Spark that tells a data source how far it has come, as 4.2 does, found {pyspark.__version__}"
        )
