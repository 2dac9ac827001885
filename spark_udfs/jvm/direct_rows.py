"""Arrow batches of our functions become Spark's rows without the detours of Spark's own operator.

In: a live session. Out: the session with one planning strategy more, which direct_rows.java, row_shapes.java, python_call.java and
batch_columns.java are the source of, compiled in the running JVM; batches_task.java and direct_rows_task.java are what it has
tasks run. Rows are the same otherwise, and where the strategy cannot be attached Spark's own operator runs as before.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession

from spark_udfs.jvm.session_jvm import Extension, called, has_jvm, method_of

SWITCH = "spark.formatter.directRows.enabled"
_ASKED = "spark.formatter.directRows.attached"


class DirectRowsWarning(UserWarning):
    """Direct rows could not be enabled; results are the same, and rows take longer."""


STRATEGY = Extension(
    "extraStrategies", "formatter.spark.FormatterDirectRows",
    ("direct_rows.java", "row_shapes.java", "python_call.java", "batch_columns.java"),
    ("batches_task.java", "direct_rows_task.java"), SWITCH, DirectRowsWarning,
    "direct rows are off, Spark's own operator runs", (4, 2),
)  # fmt: skip


def enable_direct_rows(spark: SparkSession) -> bool:
    """Attaches direct rows: operators that read columns of batches where they are.

    It holds for this session and the streams it starts; the setting spark.formatter.directRows.enabled=false turns it off
    for a while, `su.disable_direct_rows` for good.

    Args:
        spark: The session.

    Returns:
        Whether it is attached; where that is impossible a warning says why, and answers are the same without.

    Example:
        >>> import spark_udfs as su
        >>> su.enable_direct_rows(spark)
        True
        >>> su.disable_direct_rows(spark)
    """
    return STRATEGY.enable(spark, _unfit)


def disable_direct_rows(spark: SparkSession) -> None:
    """Detaches what `su.enable_direct_rows` attached; queries that are planned from now on do without.

    Args:
        spark: The session.

    Example:
        >>> import spark_udfs as su
        >>> su.disable_direct_rows(spark)
    """
    STRATEGY.disable(spark)


def attach_if_configured(spark: Any) -> None:
    """What queries of ours do first: sessions of su.configure ask for direct rows, others must ask themselves."""
    if not has_jvm(spark) or spark.conf.get(SWITCH, "false") != "true":
        return
    if spark.conf.get(_ASKED, "") != "":
        return  # once a session, whatever came of it
    spark.conf.set(_ASKED, "yes" if enable_direct_rows(spark) else "no")


def _unfit(spark: Any) -> str | None:
    """What keeps tasks from running our code, by compiling it for no columns."""
    ours = STRATEGY.attached(spark)[0]
    reason: str | None = called(spark, method_of(ours.getClass(), "unfit"), ours)
    return reason
