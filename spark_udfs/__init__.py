"""formatter inside Spark: raw chunks to DataFrames. The only package that imports pyspark."""

from importlib.util import find_spec

from formatter.surface import on_demand

if find_spec("pyspark") is None:
    raise ImportError("spark_udfs needs pyspark; run: pip install 'formatter[spark]'")

__getattr__, __dir__, __all__ = on_demand(
    __name__,
    {
        "package_archive": ("archive",),
        "chunks.file_chunks": ("read_chunks",),
        "chunks.parse_task": ("parse_udf",),
        "files.inferred": ("infer",),
        "files.read": ("read",),
        "jvm.direct_rows": ("disable_direct_rows", "enable_direct_rows"),
        "options.migrate": ("migrate",),
        "options.reading": ("Reading", "format_from_options"),
        "parsing": ("parse",),
        "pushdown.enabling": ("disable_pushdown", "enable_pushdown"),
        "records.column_schema": ("schema_of",),
        "records.json_paths": ("get_json",),
        "records.record_queries": ("parse_column",),
        "settings": ("configure",),
        "start.class_archive": ("faster_start",),
        "sources.data_sources": ("register", "register_chunks"),
        "streams.parse_stream": ("parse_stream",),
        "tasks.metrics": ("metrics",),
        "tasks.schema_drift": ("run_evolving",),
        "tasks.siblings": ("measure", "rejects"),
        "types.arrow_schema": ("arrow_schema",),
        "types.spark_schemas": ("Csv", "Json"),
    },
)

del find_spec, on_demand
