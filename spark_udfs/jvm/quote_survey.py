"""A survey of chunks that runs inside the JVM: quote_survey.java, compiled in the running driver and sent as a jar.

In: a session and the three bytes a dialect turns on. Out: a function from a payload column to a column of surveys, or None
where this session cannot have one (Spark Connect, a JVM without the compiler): then chunks are surveyed in Python, with
the same result. Knows nothing of what surveys mean.
"""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import Column, SparkSession

from spark_udfs.jvm import session_jvm
from spark_udfs.jvm.kept_classes import write_jar

log = logging.getLogger("spark_udfs")

CLASS = "formatter.spark.QuoteSurvey"
SOURCE = "quote_survey.java"

_methods: dict[str, Any] = {}  # application id: QuoteSurvey.surveyed, or None where it could not be had


def quote_survey(spark: SparkSession, delimiter: int, record_end: int, quote: int) -> Callable[[Column], Column] | None:
    """payload -> survey, or None."""
    method = _method_of(spark)
    if method is None:
        return None
    from pyspark.sql.classic.column import Column as ClassicColumn

    quotes = (delimiter, record_end, quote)
    return lambda payload: ClassicColumn(session_jvm.called(spark, method, None, (payload._jc, *quotes)))


def _method_of(spark: SparkSession) -> Any:
    if not session_jvm.has_jvm(spark):
        return None
    application = spark.sparkContext.applicationId
    if application not in _methods:
        _methods.clear()  # a process has one context at a time
        try:
            _methods[application] = _shipped(spark)
        except Exception as error:  # a JVM, a Spark or a compiler that we do not know: any may fail in its own way
            reason = session_jvm.reason_of(error)
            log.info("chunks are surveyed in Python, %s does not fit Spark %s: %s", SOURCE, spark.version, reason)
            _methods[application] = None
    return _methods[application]


def _shipped(spark: SparkSession) -> Any:
    """Executors fetch the jar from the driver."""
    compiler = session_jvm.compiled(spark, SOURCE)
    folder = Path(tempfile.mkdtemp(prefix="formatter-survey-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    jar = folder / "formatter-survey.jar"
    write_jar(jar, compiler.getBytecodes())
    spark.sparkContext._jsc.addJar(str(jar))
    return session_jvm.method_of(compiler.getClassLoader().loadClass(CLASS), "surveyed")
