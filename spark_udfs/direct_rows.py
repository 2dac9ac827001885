"""Arrow batches of our functions become Spark's rows without the detours of Spark's own operator.

In: a live session. Out: the session with one planning strategy more, which direct_rows.java is the source of, compiled in
the running JVM; direct_rows_task.java is what it has tasks run. Rows and plans are the same otherwise, and where the
strategy cannot be attached Spark's own operator runs as before.
"""

from __future__ import annotations

import warnings
from importlib.resources import files
from typing import Any

from pyspark.sql import SparkSession

SWITCH = "spark.formatter.directRows.enabled"
STRATEGY = "formatter.spark.FormatterDirectRows"
SETTER = "extraStrategies_$eq"  # how Scala spells an assignment
KNOWN_SPARK = "4.3."  # the one whose classes the source is written against
_ASKED = "spark.formatter.directRows.attached"


class DirectRowsWarning(UserWarning):
    """Direct rows could not be enabled; results are the same, and rows take longer."""


def enable_direct_rows(spark: SparkSession) -> bool:
    """Attaches the strategy to this session (and to streams it starts). False, with a warning, where that is impossible.

    `spark.conf.set("spark.formatter.directRows.enabled", "false")` turns it off for a while, su.disable_direct_rows for good.
    """
    if not hasattr(spark, "_jsparkSession"):
        return _refused("a Spark Connect client has no way to the planner")
    if not spark.version.startswith(KNOWN_SPARK):
        return _refused(f"it is written for Spark {KNOWN_SPARK}x, found {spark.version}")
    try:
        if not _attached(spark):
            _set_strategies(spark, [*_strategies(spark), _compiled_strategy(spark)])
    except Exception as error:  # a JVM, a Spark or a compiler that we do not know: any of them may fail in its own way
        reason = f"{type(error).__name__}: {str(error).splitlines()[0][:300] if str(error) else 'no message'}"
        return _refused(f"the strategy does not fit Spark {spark.version} ({reason})")
    spark.conf.set(SWITCH, "true")
    return True


def disable_direct_rows(spark: SparkSession) -> None:
    """Detaches the strategy. Queries that are planned from now on use Spark's own operator."""
    if not hasattr(spark, "_jsparkSession"):
        return
    spark.conf.set(SWITCH, "false")
    _set_strategies(spark, [found for found in _strategies(spark) if found.getClass().getName() != STRATEGY])


def attach_if_configured(spark: Any) -> None:
    """What plans of ours do first: sessions of su.configure ask for direct rows, others must ask themselves."""
    if not hasattr(spark, "_jsparkSession") or spark.conf.get(SWITCH, "false") != "true":
        return
    if spark.conf.get(_ASKED, "") != "":
        return  # once a session, whatever came of it
    spark.conf.set(_ASKED, "yes" if enable_direct_rows(spark) else "no")


def _refused(reason: str) -> bool:
    warnings.warn(f"direct rows are off, Spark's own operator runs: {reason}", DirectRowsWarning, stacklevel=3)
    return False


def _strategies(spark: Any) -> list[Any]:
    converters = spark._jvm.scala.jdk.javaapi.CollectionConverters
    return list(converters.asJava(spark._jsparkSession.experimental().extraStrategies()))


def _set_strategies(spark: Any, strategies: list[Any]) -> None:
    array = spark._jvm.java.util.ArrayList()
    for strategy in strategies:
        array.add(strategy)
    sequence = spark._jvm.scala.jdk.javaapi.CollectionConverters.asScala(array).toSeq()
    getattr(spark._jsparkSession.experimental(), SETTER)(sequence)


def _attached(spark: Any) -> bool:
    return any(strategy.getClass().getName() == STRATEGY for strategy in _strategies(spark))


def _compiled_strategy(spark: Any) -> Any:
    """By Janino, the compiler that Spark itself generates code with."""
    jvm, gateway = spark._jvm, spark.sparkContext._gateway
    compiler = jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(_source("direct_rows.java"))
    strategy = compiler.getClassLoader().loadClass(STRATEGY)
    types = gateway.new_array(jvm.java.lang.Class, 1)
    types[0] = jvm.java.lang.Class.forName("java.lang.String")
    arguments = gateway.new_array(jvm.java.lang.Object, 1)
    arguments[0] = _source("direct_rows_task.java")
    return strategy.getConstructor(types).newInstance(arguments)


def _source(name: str) -> str:
    return files("spark_udfs").joinpath(name).read_text()
