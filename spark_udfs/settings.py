"""The Spark settings this package runs best with, each with its reason. Changes a builder, never a running session."""

from __future__ import annotations

from pyspark.sql import SparkSession

RECOMMENDED = {
    # JVM and Python worker talk through a socket file instead of TCP: less than half the cost of a task.
    "spark.python.unix.domain.socket.enabled": "true",
    # Payloads travel to Python in small batches: parsing starts sooner and both sides reuse warm memory.
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    # Spark compares the batches it gets with the schema declared, so no column can be taken for another.
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
}


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """`su.configure(SparkSession.builder)...getOrCreate()`: the recommended settings. What is set after it wins."""
    for key, value in RECOMMENDED.items():
        builder = builder.config(key, value)
    return builder
