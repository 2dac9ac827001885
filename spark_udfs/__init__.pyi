"""What `__init__.py` gives on demand, for type checkers."""

from spark_udfs.chunks.file_chunks import read_chunks
from spark_udfs.chunks.parse_task import parse_udf
from spark_udfs.files.inferred import infer
from spark_udfs.files.read import read
from spark_udfs.jvm.direct_rows import disable_direct_rows, enable_direct_rows
from spark_udfs.options.migrate import migrate
from spark_udfs.options.reading import Reading, format_from_options
from spark_udfs.package_archive import archive
from spark_udfs.parsing import parse
from spark_udfs.pushdown.enabling import disable_pushdown, enable_pushdown
from spark_udfs.records.column_schema import schema_of
from spark_udfs.records.json_paths import get_json
from spark_udfs.records.record_queries import parse_column
from spark_udfs.settings import configure
from spark_udfs.sources.data_sources import register, register_chunks
from spark_udfs.start.class_archive import faster_start
from spark_udfs.streams.parse_stream import parse_stream
from spark_udfs.tasks.metrics import metrics
from spark_udfs.tasks.schema_drift import run_evolving
from spark_udfs.tasks.siblings import measure, rejects
from spark_udfs.types.arrow_schema import arrow_schema
from spark_udfs.types.spark_schemas import Csv, Json

__all__ = [
    "Csv",
    "Json",
    "Reading",
    "archive",
    "arrow_schema",
    "configure",
    "disable_direct_rows",
    "disable_pushdown",
    "enable_direct_rows",
    "enable_pushdown",
    "faster_start",
    "format_from_options",
    "get_json",
    "infer",
    "measure",
    "metrics",
    "migrate",
    "parse",
    "parse_column",
    "parse_stream",
    "parse_udf",
    "read",
    "read_chunks",
    "register",
    "register_chunks",
    "rejects",
    "run_evolving",
    "schema_of",
]
