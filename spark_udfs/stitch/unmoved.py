"""The same rows as a DataFrame has, without bringing them where it does.

In: a DataFrame. Out: one with the same rows for whoever does not care where they are and in which order: repartitioning and
sorting on top of it are left out. What is cached stays cached. Where the plan cannot be seen or is not understood, the
DataFrame itself.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

from spark_udfs.jvm.session_jvm import has_jvm, scala_seq

MOVES = ("Repartition", "RepartitionByExpression", "RebalancePartitions", "Sort")


def unmoved(df: DataFrame) -> DataFrame:
    if not has_jvm(df.sparkSession):
        return df
    try:
        return _unmoved(df)
    except Exception:  # another Spark's plans: the rows are the same, only moved
        return df


def _unmoved(df: DataFrame) -> DataFrame:
    spark: Any = df.sparkSession
    node = df._jdf.queryExecution().withCachedData()
    path = []
    while (kind := node.getClass().getSimpleName()) in MOVES or kind == "Project":
        path.append((kind, node))
        node = node.child()
    if not any(kind in MOVES for kind, _ in path):
        return df
    for at, (kind, project) in enumerate(path):  # from the top
        if kind == "Project" and not _is_deterministic(project):  # its values may depend on where rows are
            path, node = path[:at], project
            break
    for kind, project in reversed(path):
        if kind == "Project":
            node = project.withNewChildren(scala_seq(spark, [node]))
    return DataFrame(spark._jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, node), spark)


def _is_deterministic(project: Any) -> bool:
    expressions = project.expressions()
    return all(expressions.apply(at).deterministic() for at in range(expressions.size()))
