"""Select and where on a parsed DataFrame parse only what they need, without being told.

In: a live session. Out: the session with one optimizer rule more, which pushdown_rule.java, pushed_filters.java and
python_call.java are the source of, compiled in the running JVM. The rule hands each of our functions the columns that are read of
it and the filters above it; narrowing.py is what the function makes of them. Where the rule cannot be attached, everything is
parsed as before.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.jvm.session_jvm import Extension
from spark_udfs.records.record_queries import with_records
from spark_udfs.records.record_task import RecordTask

SWITCH = "spark.formatter.pushdown.enabled"


class PushdownWarning(UserWarning):
    """Pushdown could not be enabled; results are the same, and everything is parsed."""


RULE = Extension(
    "extraOptimizations", "formatter.spark.FormatterPushdown",
    ("pushdown_rule.java", "pushed_filters.java", "python_call.java"), (), SWITCH, PushdownWarning,
    "pushdown is off, everything is parsed unless columns= and filters= say less",
    (4, 0),
)  # fmt: skip


def enable_pushdown(spark: SparkSession) -> bool:
    """Attaches pushdown: `select` and `where` above our functions parse only what they ask.

    It holds for this session and the streams it starts; the setting spark.formatter.pushdown.enabled=false turns it off
    for a while, `su.disable_pushdown` for good.

    Args:
        spark: The session.

    Returns:
        Whether it is attached; where that is impossible a warning says why, and answers are the same without.

    Example:
        >>> import spark_udfs as su
        >>> su.enable_pushdown(spark)
        True
        >>> su.disable_pushdown(spark)
    """
    return RULE.enable(spark, _unfit)


def disable_pushdown(spark: SparkSession) -> None:
    """Detaches what `su.enable_pushdown` attached; queries that are planned from now on do without.

    Args:
        spark: The session.

    Example:
        >>> import spark_udfs as su
        >>> su.disable_pushdown(spark)
    """
    RULE.disable(spark)


def pushdown_note(df: DataFrame) -> list[str]:
    """What is pushed into each of our functions in the optimized plan of df; empty where nothing is."""
    plan = df._jdf.queryExecution().optimizedPlan().toString()
    return [line.split("formatter.", 1)[1].split("]", 1)[0] + "]" for line in plan.splitlines() if "[columns: " in line]


def _unfit(spark: SparkSession) -> str | None:
    """Counts the rows of a small query. One version of Spark has given 0 where no column was left to count by."""
    payloads = spark.range(0, 7, 1, 1).selectExpr("concat(id, ',', id) AS value")
    format = fm.Csv(pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    parsed = with_records(payloads, RecordTask(format, "value", keep=StructType(), error=None)).where("b > 2")
    if not pushdown_note(parsed.select("a")):
        return "it found nothing to do in a plan it is made for"
    counted = parsed.agg(f.count("*"), f.sum("a")).first()
    return None if counted == (4, 18) else f"it made {counted} of what is (4, 18)"
