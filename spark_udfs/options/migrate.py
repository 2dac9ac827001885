"""What a spark.read.csv or .json call becomes here, as text, option by option.

In: the options of a reader, as a dict or as a configured DataFrameReader. Out: text for a person. Reads nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import pyarrow as pa
from pyspark.sql.types import StructType

from spark_udfs.options.option_rules import RefusedOption, proper_name
from spark_udfs.options.reading import MODES, Reading, format_from_options

ANY_SCHEMA = pa.schema([("column", pa.string())])

# What no option says and yet differs.
ALWAYS = {
    "csv": (
        'of "a"b the text is ab; Spark keeps the quotes',
        "numbers that do not fit (1e400 in a double, more digits than a decimal's scale) are bad; Spark rounds them",
    ),
    "json": (
        "1.0 is an integer; Spark makes it null in one",
        "a line that is an array is bad; Spark makes a row of each item",
        "single quotes around texts are bad; Spark takes them unless allowSingleQuotes=false",
    ),
}


def migrate(
    reader_options: Mapping[str, Any], kind: str = "csv", *, schema: pa.Schema | StructType | str | None = None
) -> str:
    """What becomes of a job that uses Spark's reader: the `su.read` call, then a line an option: taken, without effect, or refused
    and why. An option that is refused does not hide the others.

    Args:
        reader_options: What `spark.read.options(**reader_options)` is given.
        kind: "csv" or "json".
        schema: As for `su.read`, if types are to be checked, too.

    Returns:
        Text to print.

    Raises:
        OptionError: `kind` is neither.

    Example:
        >>> import spark_udfs as su
        >>> "mode='FAILFAST': on_error='raise'" in su.migrate({"mode": "FAILFAST"})
        True
    """
    known: pa.Schema | StructType | str = ANY_SCHEMA if schema is None else schema
    refusals: dict[str, str] = {}
    options = dict(reader_options)
    while True:
        try:
            reading = format_from_options(kind, known, options)
            break
        except RefusedOption as refused:
            meant = {name for name in options if refused.option in (name, proper_name(name))}
            refusals |= {name: str(refused).removeprefix("spark: ") for name in meant}
            options = {name: value for name, value in options.items() if name not in meant}
    lines = [
        f"spark.read.schema(schema).{kind}(path) with these options is",
        "",
        *_call(reading, schema is not None),
        "",
    ]
    lines.append("option by option:")
    lines += [f"  {line.option}={line.given!r}: {line.becomes}" for line in reading.lines if line.given is not None]
    lines += [f"  {name}: REFUSED. {reason}" for name, reason in refusals.items()]
    defaults = [f"{line.option} (not given): {line.becomes}" for line in reading.lines if line.given is None]
    lines += ["", "what differs all the same:", *(f"  {text}" for text in (*defaults, *ALWAYS[kind]))]
    return "\n".join(lines)


def _call(reading: Reading, has_schema: bool) -> list[str]:
    plain = type(reading.format)(reading.format.schema)
    said = [
        f"{field.name}={getattr(reading.format, field.name)!r}"
        for field in fields(reading.format)
        if field.name != "schema" and getattr(reading.format, field.name) != getattr(plain, field.name)
    ]
    kind = type(reading.format).__name__
    names = f"  # {', '.join(reading.format.schema.names)}" if has_schema else ""
    lines = [f"  format = fm.{kind}({', '.join(['su.arrow_schema(schema)', *said])}){names}"]
    mode = next(name for name, becomes in MODES.items() if becomes == reading.on_error)
    if reading.on_error == "permissive":
        lines.append(
            f'  su.read(spark, path, "{reading.format.kind}", schema=schema, options=options)  # mode {mode}: bad is null'
        )
        lines.append('  su.read(spark, path, format, on_error="raise")  # stricter, and the fastest')
    else:
        lines.append(f'  su.read(spark, path, format, on_error="{reading.on_error}")  # mode {mode}')
    return lines
