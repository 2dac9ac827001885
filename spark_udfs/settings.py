"""The Spark settings this package runs best with, each with its reason. Changes a builder, never a running session.

The numbers are in docs/spark.md.
"""

from __future__ import annotations

import os
import sys
import warnings

from pyspark.sql import SparkSession

from spark_udfs.package_archive import archive_settings
from spark_udfs.start.class_archive import use_class_archive
from spark_udfs.start.worker_daemon import DAEMON, SETTINGS, can_serve
from spark_udfs.tasks.sent_functions import PANDAS_NOTICE

RECOMMENDED = {
    # JVM and Python worker talk through a socket file instead of TCP: less than half the cost of a task.
    "spark.python.unix.domain.socket.enabled": "true",
    # Payloads travel to Python in small batches: parsing starts sooner and both sides reuse warm memory.
    "spark.sql.execution.arrow.maxBytesPerBatch": "4m",
    # Rows of a batch on its way to Python, where payloads are small: the bytes above end larger ones sooner.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "16384",
    # Workers stay for the next task; forking one and importing pyarrow takes some hundred milliseconds.
    "spark.python.worker.reuse": "true",
    # Spark compares the batches it gets with the schema declared, so no column can be taken for another.
    "spark.sql.execution.arrow.pyspark.validateSchema.enabled": "true",
    # Rows are written straight from the memory of our functions' batches (direct_rows.py).
    "spark.formatter.directRows.enabled": "true",
    # The data source "formatter" is told of filters only if this is on.
    "spark.sql.python.filterPushdown.enabled": "true",
}

# Set for programs that spark-submit runs, which knows the master and which Python, and for those whose session is elsewhere.
LAUNCHED = ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE")


def configure(builder: SparkSession.Builder, *, archive: str | os.PathLike[str] | None = None) -> SparkSession.Builder:
    """The recommended settings, on a session's builder. What is set after it wins.

    Where tasks run on this machine, this process's own Python runs them, unless PYSPARK_PYTHON or spark.pyspark.python names
    another: PySpark would take whatever `python3` is. Its workers are then forked from one that has made our imports. If
    `su.faster_start` has been called on this machine, the JVM finds its classes ready.

    Args:
        builder: `SparkSession.builder`, with whatever else is wanted.
        archive: One that `su.archive()` wrote; executors unpack it and import formatter from there.

    Returns:
        The builder.

    Raises:
        OptionError: An archive that is none.

    Example:
        >>> from pyspark.sql import SparkSession
        >>> import spark_udfs as su
        >>> session = su.configure(SparkSession.builder.master("local[2]")).getOrCreate()
        >>> session.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
        '16384'
    """
    given: dict[str, str] = builder._options  # nothing public tells a builder's settings
    master = given.get("spark.master") or os.environ.get("MASTER", "local")
    elsewhere = "spark.remote" in given or any(name in os.environ for name in LAUNCHED)
    settings = RECOMMENDED | ({} if archive is None else archive_settings(archive))
    if master.startswith("local") and not elsewhere:
        use_class_archive()
        python = os.environ.setdefault("PYSPARK_PYTHON", given.get("spark.pyspark.python", sys.executable))
        own = os.path.abspath(python) == os.path.abspath(sys.executable)
        here = archive is None and not master.startswith("local-cluster")
        if here and own and can_serve() and DAEMON not in given:
            settings |= SETTINGS
    # PySpark imports its own tests' helpers when it makes a session, and they warn of a pandas that it does not know.
    warnings.filterwarnings("ignore", PANDAS_NOTICE, FutureWarning, module=r"pyspark\.testing\.")
    for key, value in settings.items():
        builder = builder.config(key, value)
    return builder
