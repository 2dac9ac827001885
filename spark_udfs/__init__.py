"""formatter inside Spark: raw chunks to DataFrames. The only package that imports pyspark."""

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("spark_udfs needs pyspark; run: pip install 'formatter[spark]'") from error

from spark_udfs.archive import archive
from spark_udfs.arrow_schema import arrow_schema
from spark_udfs.chunks import read_chunks
from spark_udfs.data_source import register
from spark_udfs.direct_rows import disable_direct_rows, enable_direct_rows
from spark_udfs.frames import parse
from spark_udfs.metrics import metrics
from spark_udfs.migrate import migrate
from spark_udfs.options import Reading, format_from_options
from spark_udfs.parse_column import parse_column
from spark_udfs.parse_stream import parse_stream
from spark_udfs.parse_task import parse_udf
from spark_udfs.pushdown import disable_pushdown, enable_pushdown
from spark_udfs.read import read
from spark_udfs.settings import configure
from spark_udfs.siblings import measure, rejects
from spark_udfs.stream_source import register_chunks

__all__ = [
    "Reading",
    "archive",
    "arrow_schema",
    "configure",
    "disable_direct_rows",
    "disable_pushdown",
    "enable_direct_rows",
    "enable_pushdown",
    "format_from_options",
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
]
