"""formatter inside Spark: raw chunks to DataFrames. The only package that imports pyspark."""

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("spark_udfs needs pyspark; run: pip install 'formatter[spark]'") from error

from spark_udfs.arrow_schema import arrow_schema
from spark_udfs.chunks import read_chunks
from spark_udfs.frames import parse
from spark_udfs.metrics import metrics
from spark_udfs.options import Reading, format_from_options
from spark_udfs.parse_column import parse_column
from spark_udfs.parse_task import parse_udf
from spark_udfs.read import read
from spark_udfs.settings import configure
from spark_udfs.siblings import measure, rejects

__all__ = [
    "Reading",
    "arrow_schema",
    "configure",
    "format_from_options",
    "measure",
    "metrics",
    "parse",
    "parse_column",
    "parse_udf",
    "read",
    "read_chunks",
    "rejects",
]
