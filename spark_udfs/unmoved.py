"""The same rows as a DataFrame has, without bringing them where it does.

In: a DataFrame. Out: one with the same rows for whoever does not care where they are and in which order: repartitioning and
sorting on top of it are left out. What is cached stays cached. Where the plan cannot be seen or is not understood, the
DataFrame itself.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame

MOVES = ("Repartition", "RepartitionByExpression", "RebalancePartitions", "Sort")


def unmoved(df: DataFrame) -> DataFrame:
    if not hasattr(df, "_jdf"):
        return df
    try:
        return _unmoved(df)
    except Exception:  # another Spark's plans: the rows are the same, only moved
        return df


def _unmoved(df: DataFrame) -> DataFrame:
    spark: Any = df.sparkSession
    jvm = spark._jvm
    node, projects, moves = df._jdf.queryExecution().withCachedData(), [], 0
    while True:
        kind = node.getClass().getSimpleName()
        if kind in MOVES:
            moves += 1
        elif kind == "Project" and _is_deterministic(jvm, node):  # else its values may depend on where rows are
            projects.append(node)
        else:
            break
        node = node.child()
    if moves == 0:
        return df
    for project in reversed(projects):
        children = jvm.java.util.ArrayList()
        children.add(node)
        node = project.withNewChildren(jvm.scala.jdk.javaapi.CollectionConverters.asScala(children).toSeq())
    return DataFrame(jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, node), spark)


def _is_deterministic(jvm: Any, node: Any) -> bool:
    return all(each.deterministic() for each in jvm.scala.jdk.javaapi.CollectionConverters.asJava(node.expressions()))
