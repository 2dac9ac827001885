"""Arrow batches of our functions become Spark's rows without the detours of Spark's own operator.

In: a live session. Out: the session with one planning strategy more, which direct_rows.java is the source of, compiled in
the running JVM; direct_rows_task.java is what it has tasks run. Rows and plans are the same otherwise, and where the
strategy cannot be attached Spark's own operator runs as before.
"""

from __future__ import annotations

import warnings
from typing import Any

from pyspark.sql import SparkSession

from spark_udfs.jvm import session_jvm

SWITCH = "spark.formatter.directRows.enabled"
STRATEGIES = session_jvm.Extensions("extraStrategies", "formatter.spark.FormatterDirectRows")
KNOWN_SPARK = "4.3."  # the one whose classes the source is written against
_ASKED = "spark.formatter.directRows.attached"


class DirectRowsWarning(UserWarning):
    """Direct rows could not be enabled; results are the same, and rows take longer."""


def enable_direct_rows(spark: SparkSession) -> bool:
    """Attaches the strategy to this session (and to streams it starts). False, with a warning, where that is impossible.

    `spark.conf.set("spark.formatter.directRows.enabled", "false")` turns it off for a while, su.disable_direct_rows for good.
    """
    if not session_jvm.has_jvm(spark):
        return _refused("a Spark Connect client has no way to the planner")
    if not spark.version.startswith(KNOWN_SPARK):
        return _refused(f"it is written for Spark {KNOWN_SPARK}x, found {spark.version}")
    try:
        if not STRATEGIES.has_ours(spark):
            STRATEGIES.add(spark, _compiled_strategy(spark))
    except Exception as error:  # a JVM, a Spark or a compiler that we do not know: any of them may fail in its own way
        return _refused(f"the strategy does not fit Spark {spark.version} ({session_jvm.reason_of(error)})")
    spark.conf.set(SWITCH, "true")
    return True


def disable_direct_rows(spark: SparkSession) -> None:
    """Detaches the strategy. Queries that are planned from now on use Spark's own operator."""
    if not session_jvm.has_jvm(spark):
        return
    spark.conf.set(SWITCH, "false")
    STRATEGIES.remove_ours(spark)


def attach_if_configured(spark: Any) -> None:
    """What plans of ours do first: sessions of su.configure ask for direct rows, others must ask themselves."""
    if not session_jvm.has_jvm(spark) or spark.conf.get(SWITCH, "false") != "true":
        return
    if spark.conf.get(_ASKED, "") != "":
        return  # once a session, whatever came of it
    spark.conf.set(_ASKED, "yes" if enable_direct_rows(spark) else "no")


def _refused(reason: str) -> bool:
    warnings.warn(f"direct rows are off, Spark's own operator runs: {reason}", DirectRowsWarning, stacklevel=3)
    return False


def _compiled_strategy(spark: Any) -> Any:
    compiler = session_jvm.compiled(spark, "direct_rows.java")
    return session_jvm.instance(spark, compiler, STRATEGIES.class_name, [session_jvm.source("direct_rows_task.java")])
