"""Many values of a JSON record by path, in one pass: in place of a chain of get_json_object.

In: a payload column, and a path for each value wanted. Out: one struct column, a field a path. Only the payload travels to
Python, and only what is asked for comes back. Refuses to know the rest of the row.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

import pyarrow as pa
from pyspark.sql import Column, SparkSession
from pyspark.sql.types import StructType

import formatter as fm
from spark_udfs.jvm.direct_rows import attach_if_configured
from spark_udfs.records.record_queries import quoted
from spark_udfs.records.record_task import RecordTask, ScalarRecords

STEP = re.compile(r"\.([^.\[\]*'\"]+)|\[(\d+)\]|\['([^']*)'\]")
PAYLOAD = "payload"


def get_json(payload: Column | str, paths: Mapping[str, str | tuple[str, pa.DataType]]) -> Column:
    """Values of JSON records by path, all in one pass: a struct column for `df.select(...)`.

    Args:
        payload: A string or binary column, or its exact name.
        paths: A field's name to where its value stands: "$.a.b[0]" or "$['a b'][0]". The value is text, as for Spark's
            get_json_object; ("$.price", pa.float64()) gives it a type.

    Returns:
        A column of structs. A field is null where the record has no such value, where that is null or none of its type,
        and where the record is null or no JSON object.

    Raises:
        OptionError: A path of another form; wildcards are not taken.
        SchemaError: A type that no value can have.

    Example:
        >>> import pyarrow as pa, spark_udfs as su
        >>> df = spark.createDataFrame([('{"id": 7, "home": {"lines": ["a", "b"]}}',)], "value string")
        >>> both = su.get_json("value", {"id": ("$.id", pa.int64()), "second": "$.home.lines[1]"})
        >>> df.select(both.alias("v")).select("v.*").first()
        Row(id=7, second='b')
    """
    session = SparkSession.getActiveSession()
    if session is not None:
        attach_if_configured(session)
    fields, pointers = [], {}
    for name, wanted in paths.items():
        path, type_ = (wanted, pa.string()) if isinstance(wanted, str) else wanted
        text = {"text": "any"} if type_ == pa.string() else None
        fields.append(pa.field(name, type_, metadata=text))
        pointers[name] = pointer_of(path)
    if not fields:
        raise fm.OptionError("get_json: paths: expected one or more, found none")
    format = fm.Json(pa.schema(fields), paths=pointers, on_duplicate_key="first")
    task = RecordTask(format, PAYLOAD, keep=StructType([]), error=None)
    return ScalarRecords(task).column(quoted(payload) if isinstance(payload, str) else payload)


def pointer_of(path: str) -> str:
    """The JSON pointer of a path as Spark writes it."""
    steps, at = [], 1
    if not isinstance(path, str) or not path.startswith("$"):
        raise fm.OptionError(f"get_json: expected a path like '$.a.b[0]', found {path!r}")
    while at < len(path):
        step = STEP.match(path, at)
        if step is None:
            remedy = "; wildcards are not taken: read the list by from_json or su.parse_column" if "*" in path else ""
            raise fm.OptionError(
                f"get_json: {path!r}: expected '.name', '[0]' or \"['name']\" at {path[at:]!r}{remedy}"
            )
        name = next(group for group in step.groups() if group is not None)
        steps.append(name.replace("~", "~0").replace("/", "~1"))
        at = step.end()
    return "".join(f"/{step}" for step in steps)
