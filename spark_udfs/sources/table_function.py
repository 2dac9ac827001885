"""`SELECT * FROM formatter_read('/data/trips', 'csv', 'id BIGINT, price DOUBLE', map('header', 'true'))`: su.read in SQL.

In: a session, and the constants of a call. Out: the plan of the DataFrame that su.read gives for them, in the place of the call:
with its splits, its sizes and its pushdown. Spark's own Python table functions run in one task; so this one stands in the session's
registry of functions in the JVM, which asks this process while it analyzes a query.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.errors import PySparkException
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

import formatter as fm
from spark_udfs.files.read import read
from spark_udfs.jvm.session_jvm import static_method

NAME = "formatter_read"
SHAPE = f"{NAME}(path, format, schema, options): texts or arrays of texts, 'csv' or 'json' or a registered name, DDL, and a map"
OWN_OPTIONS = ("rescue", "split_bytes", "file_column")  # of su.read; all others are those of Spark's reader
ARGUMENTS = ("path", "format", "schema", "options")


class ReadInSql:
    """What the JVM calls: expressions in; a plan out, or a text that says what is wrong with them."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def apply(self, expressions: Any) -> Any:
        jvm: Any = self._spark._jvm
        try:
            return self._planned(list(jvm.scala.jdk.javaapi.CollectionConverters.asJava(expressions)))
        except (fm.FormatterError, OSError, PySparkException) as error:
            said = str(error)
            return said if said.startswith(NAME) else f"{NAME}: {said}"

    def _planned(self, expressions: Sequence[Any]) -> Any:
        path, format, schema, options = _arguments(expressions)
        asked = {str(name): value for name, value in (options or {}).items()}
        own: dict[str, Any] = {name: asked.pop(name) for name in OWN_OPTIONS if name in asked}
        if "split_bytes" in own:
            own["split_bytes"] = _whole_number(own["split_bytes"])
        parsed = read(self._spark, path, format, schema=schema, options=asked or None, **own)
        return parsed._jdf.queryExecution().analyzed()

    def toString(self) -> str:
        return NAME

    class Java:
        implements = ("scala.Function1",)


def enable_table_function(spark: SparkSession) -> None:
    """Makes `formatter_read` known to SQL in this session, which has a JVM."""
    ensure_callback_server_started(spark.sparkContext._gateway)  # type: ignore[no-untyped-call]
    registry = spark._jsparkSession.sessionState().tableFunctionRegistry()
    told = static_method(spark, ("sql_function.java",), "formatter.spark.SqlFunction", "told")
    jvm: Any = spark._jvm
    arguments = jvm.java.util.ArrayList()  # an array takes no object of Python's
    arguments.add(ReadInSql(spark))
    registry.createOrReplaceTempFunction(NAME, told.invoke(None, arguments.toArray()), "python_udf")


def _arguments(expressions: Sequence[Any]) -> list[Any]:
    """The four, in order, None for what is not given: by place, or by name (`path => '/data'`)."""
    found: dict[str, Any] = {}
    for place, expression in enumerate(expressions):
        named = expression.getClass().getSimpleName() == "NamedArgumentExpression"
        name = str(expression.key()).lower() if named else ARGUMENTS[place] if place < len(ARGUMENTS) else ""
        if name not in ARGUMENTS or name in found:
            what = f"{name} => ..." if named else f"{len(expressions)} of them"
            raise fm.OptionError(f"{SHAPE}; found {what}")
        found[name] = _constant(expression.value() if named else expression)
    if not found:
        raise fm.OptionError(f"{SHAPE}; found 0 of them")
    if found.get("path") is None:
        raise fm.OptionError(f"{SHAPE}; found no path")
    return [found.get(name) for name in ARGUMENTS]


def _constant(expression: Any) -> Any:
    """A text, a list of texts, a dict of texts, or None."""
    if not expression.foldable():
        raise fm.OptionError(f"{SHAPE}; all of them constants, found {expression.sql()}")
    value = expression.eval(None)
    kind = expression.dataType().typeName()
    if value is None:
        return None
    if kind == "string":
        return str(value.toString())
    if kind == "array":
        return _texts(value, expression)
    if kind == "map":
        return dict(zip(_texts(value.keyArray(), expression), _texts(value.valueArray(), expression), strict=True))
    raise fm.OptionError(f"{SHAPE}; found {expression.sql()}, which is {kind}")


def _texts(array: Any, expression: Any) -> Sequence[str]:
    try:
        return [str(array.getUTF8String(at).toString()) for at in range(array.numElements())]
    except Exception as error:  # the JVM's, of values that are none
        raise fm.OptionError(f"{SHAPE}; found {expression.sql()}, not all of which is text") from error


def _whole_number(text: str) -> int:
    if not text.isdigit():
        raise fm.OptionError(f"{NAME}: split_bytes is a whole number, found {text!r}")
    return int(text)
