"""Select and where on a parsed DataFrame parse only what they need, without being told.

In: a live session. Out: the session with one optimizer rule more, which pushdown_rule.java is the source of, compiled in
the running JVM. The rule hands each of our functions the columns that are read of it and the filters above it;
narrowing.py is what the function makes of them. Where the rule cannot be attached, everything is parsed as before.
"""

from __future__ import annotations

import warnings
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

import formatter as fm
from spark_udfs.jvm import session_jvm
from spark_udfs.records.parse_records import parse_records

SWITCH = "spark.formatter.pushdown.enabled"
RULES = session_jvm.Extensions("extraOptimizations", "formatter.spark.FormatterPushdown")


class PushdownWarning(UserWarning):
    """Pushdown could not be enabled; results are the same, and everything is parsed."""


def enable_pushdown(spark: SparkSession) -> bool:
    """Attaches the rule to this session (and to streams it starts). False, with a warning, where that is impossible.

    `spark.conf.set("spark.formatter.pushdown.enabled", "false")` turns it off for a while, su.disable_pushdown for good.
    """
    if not session_jvm.has_jvm(spark):
        return _refused("a Spark Connect client has no way to the optimizer; name columns= and filters= yourself")
    try:
        if not RULES.has_ours(spark):
            RULES.add(spark, _compiled_rule(spark))
        spark.conf.set(SWITCH, "true")
        if _is_effective(spark):
            return True
        reason = "the rule found nothing to do in a plan it is made for"
    except Exception as error:  # a JVM, a Spark or a compiler that we do not know: any of them may fail in its own way
        reason = session_jvm.reason_of(error)
    try:
        disable_pushdown(spark)
    except Exception as error:
        reason += f" (and it could not be removed: {type(error).__name__})"
    return _refused(f"the rule does not fit Spark {spark.version} ({reason})")


def disable_pushdown(spark: SparkSession) -> None:
    """Detaches the rule. Plans that are made from now on parse everything."""
    if not session_jvm.has_jvm(spark):
        return
    RULES.remove_ours(spark)


def pushdown_note(df: DataFrame) -> list[str]:
    """What is pushed into each of our functions in the optimized plan of df; empty where nothing is."""
    plan = df._jdf.queryExecution().optimizedPlan().toString()
    return [line.split("formatter.", 1)[1].split("]", 1)[0] + "]" for line in plan.splitlines() if "[columns: " in line]


def _refused(reason: str) -> bool:
    warnings.warn(f"pushdown is off, everything is parsed: {reason}", PushdownWarning, stacklevel=3)
    return False


def _compiled_rule(spark: SparkSession) -> Any:
    return session_jvm.instance(spark, session_jvm.compiled(spark, "pushdown_rule.java"), RULES.class_name)


def _is_effective(spark: SparkSession) -> bool:
    """Plans a small query, and runs nothing."""
    payloads = spark.range(1).selectExpr("CAST(id AS STRING) AS value")
    parsed = parse_records(payloads, fm.Csv(pa.schema([("a", pa.int64()), ("b", pa.int64())])), payload="value")
    return pushdown_note(parsed.where("b > 5").select("a")) != []
