"""The schema of a column that nobody has described. In: a DataFrame, its column of JSON or CSV records. Out: the schema that a
sample of them allows, in types that Spark has. Every partition gives its share of the sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.types import BinaryType, StructField, StructType

import formatter as fm
from formatter.inference.stretches import infer_records
from spark_udfs.files.inferred import in_spark_types, require_ratio, tell_doubts
from spark_udfs.records.record_queries import quoted, require_payload
from spark_udfs.tasks.sent_functions import mapped
from spark_udfs.types.spark_types import SparkColumns

RECORDS_MOST = 10_000
SHARE_LEAST = 20  # records of a partition
USUAL_PARTITIONS = 10  # where a Connect client cannot ask
RECORD = "record"
SPARK_NAMES = {"delimiter": "sep", "quote": "quote", "escape": "escape", "nulls": "nullValue"}


def schema_of(
    df: DataFrame, column: str, kind: str | None = None, *, samplingRatio: float | None = None, seed: int = 0
) -> StructType:
    """The schema of JSON or CSV records in a column, from a sample of them: for `su.parse_column`, `from_json`, `from_csv`.

    What the sample leaves in doubt, and how its CSV differs from what `from_csv` reads without options, is told by one
    `fm.InferenceWarning`, which names the evidence.

    Args:
        df: The DataFrame.
        column: Its column of records, bytes or text.
        kind: "json" or "csv"; None: what the records look like.
        samplingRatio: How much of all records is looked at, above 0 and at most 1. None: some from the beginning of every
            partition, ten thousand in all.
        seed: The same one takes the same share.

    Returns:
        Spark's schema. Members of JSON objects are merged at every depth; what no one type holds is a string.

    Raises:
        OptionError: An argument is out of its range, or the column has no records.
        SchemaError: A column that is not there, or holds no text.
        FormatError: No format reads the records.

    Example:
        >>> import spark_udfs as su
        >>> df = spark.createDataFrame([('{"a": {"x": 1}}',), ('{"a": {"y": "z"}, "b": 2.5}',)], "value STRING")
        >>> su.schema_of(df, "value").simpleString()
        'struct<a:struct<x:bigint,y:string>,b:double>'
    """
    if kind not in (None, "csv", "json"):
        raise fm.OptionError(f"su.schema_of: kind: expected 'csv' or 'json', found {kind!r}")
    require_ratio("su.schema_of", samplingRatio)
    require_payload(df, column)
    records = _sampled(df, column, samplingRatio, seed)
    if not records:
        raise fm.OptionError(f"su.schema_of: column {column!r} has no records in the sample; give schema=")
    if kind is None:
        kind = "json" if records[0].lstrip()[:1] in (b"{", b"[") else "csv"
    format, doubts = infer_records(records, kind)
    if isinstance(format, fm.Csv):
        doubts += _dialect(format)
    schema: StructType = SparkColumns.of(in_spark_types(format, doubts).schema).struct
    tell_doubts("su.schema_of", doubts)
    return schema


def _sampled(df: DataFrame, column: str, ratio: float | None, seed: int) -> list[bytes]:
    rows = df.select(quoted(column).cast("binary").alias(RECORD)).where(quoted(RECORD).isNotNull())
    if ratio is None:
        share = max(SHARE_LEAST, -(-RECORDS_MOST // _partition_count(df)))
        rows = mapped(rows, FirstRecords(share), StructType([StructField(RECORD, BinaryType())]))
    elif ratio < 1:
        rows = rows.sample(False, ratio, seed)
    return [bytes(row[0]) for row in rows.collect() if row[0].strip()]


def _partition_count(df: DataFrame) -> int:
    rows = getattr(df, "_jdf", None)
    return USUAL_PARTITIONS if rows is None else max(1, int(rows.rdd().getNumPartitions()))


class FirstRecords:
    """The first records of a partition that hold anything; the rest of it is not asked for."""

    __name__ = "first_records"

    def __init__(self, count: int) -> None:
        self.count = count

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = self.count
        for batch in batches:
            some = batch.filter(pc.greater(pc.binary_length(batch.column(0)), 0)).slice(0, left)
            left -= some.num_rows
            yield some
            if not left:
                return


def _dialect(format: fm.Csv) -> Iterator[str]:
    """Options that from_csv has to be given for these records."""
    usual: Any = fm.Csv(format.schema)
    for option, name in SPARK_NAMES.items():
        value = getattr(format, option)
        if value != getattr(usual, option):
            shown = value[-1] if option == "nulls" else value
            yield f"the records need the option {name}={shown!r}"
    if format.decimal != usual.decimal:
        yield f"numbers are written with {format.decimal!r}, for which there is no option: use fm.Csv(decimal=...)"
