"""Our functions on their way to Python workers.

In: a DataFrame and a function of Arrow batches. Out: the DataFrame of what it yields. A worker whose Python lacks this package
says so in one sentence, which Spark's own way of sending functions does not allow; bad data is told without the steps that
led to it, which are ours and of no use to who has the data.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.serializers import CPickleSerializer
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

import formatter as fm

# Run by a worker that may have nothing but Python: it gives the function, or raises.
ARRIVAL = """(
    __import__('pickle').loads(pickled) if __import__('importlib.util').util.find_spec('spark_udfs') else
    __import__('os').environ.update(SPARK_HIDE_TRACEBACK='1') or (_ for _ in ()).throw(ImportError(
        f"spark: {__import__('sys').executable} on {__import__('socket').gethostname()}, which runs the tasks, has no "
        "package 'formatter': set PYSPARK_PYTHON to a Python that has it, or send it along by "
        "su.configure(builder, archive=su.archive('formatter.tar.gz'))"))
)"""
PANDAS_NOTICE = "PySpark does not yet fully support pandas"


def mapped(df: DataFrame, function: Callable[..., Any], schema: StructType) -> DataFrame:
    """df.mapInArrow(function, schema)."""
    with without_pandas_notice():
        return df.mapInArrow(Sent(function), schema)


@contextmanager
def without_pandas_notice() -> Iterator[None]:
    """PySpark warns of a pandas that it does not know whenever a function of Arrow batches is made. Ours use none."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", PANDAS_NOTICE, FutureWarning)
        yield


class Sent:
    """A function that arrives at a worker as itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)  # in query plans

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __reduce__(self) -> tuple[Any, ...]:
        pickle: Callable[[Any], bytes] = CPickleSerializer().dumps
        return eval, (ARRIVAL, {"pickled": pickle(self.function)})


@contextmanager
def plainly() -> Iterator[None]:
    """Where data is bad, or what was asked makes no sense: the process that raises is about to end, so what it is told stays with
    this error."""
    try:
        yield
    except (fm.FormatterError, OSError):  # a file that is gone, cannot be opened, or lacks a column is bad data, too
        os.environ["SPARK_HIDE_TRACEBACK"] = "1"
        raise


def told_plainly(run: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """Of a generator that parses, in a task."""

    @functools.wraps(run)
    def telling(*arguments: Any, **options: Any) -> Iterator[Any]:
        with plainly():
            yield from run(*arguments, **options)

    return telling
