"""Spark's own doors: spark.read.format and spark.readStream.format."""
