"""The format of files that nobody has described. In: files, "csv" or "json" or neither. Out: what all of a sample spread over them
allows, in types that Spark has; and the same as a call that need not look again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

import formatter as fm
from formatter.inference.stretches import infer_stretches, with_text
from spark_udfs.files.file_listing import FoundFile, Paths, Storage, list_files
from spark_udfs.files.sampled import sample_of
from spark_udfs.types.spark_types import SparkColumns


def infer(
    spark: SparkSession,
    path: Paths,
    kind: str | None = None,
    *,
    samplingRatio: float | None = None,
    seed: int = 0,
    base_path: str | os.PathLike[str] | None = None,
    filesystem: Any = None,
    storage_options: Mapping[str, Any] | None = None,
) -> fm.Csv | fm.Json:
    """A format for files, from a sample spread over all of them; give it to `su.read`.

    Dialect, header and layout are those the first file begins with; the types hold every value of the sample, wherever it
    stands. What the sample leaves in doubt is told by one `fm.InferenceWarning`, which names the evidence.

    Args:
        spark: The session.
        path: As for `su.read`.
        kind: "csv" or "json"; None: what the first file's name or beginning says.
        samplingRatio: How much of all bytes is looked at, above 0 and at most 1, on the driver. None: 4 MiB.
        seed: The same one looks at the same places.
        base_path: As for `su.read`.
        filesystem: As for `su.read`.
        storage_options: As for `su.read`.

    Returns:
        An `fm.Csv` or `fm.Json`, with types that Spark has.

    Raises:
        OptionError: An argument is out of its range, or all files are empty.
        FormatError: No format reads the sample.
        FileNotFoundError: A path behind which nothing stands.

    Example:
        >>> import tempfile, spark_udfs as su
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = open(f"{folder}/a.json", "w").write('{"id": 1, "at": {"x": 2}}\\n')
        ...     _ = open(f"{folder}/b.json", "w").write('{"id": 2.5, "at": {"y": true}}\\n')
        ...     su.infer(spark, folder).schema.types
        [DataType(double), StructType(struct<x: int64, y: bool>)]
    """
    if kind not in (None, "csv", "json"):
        raise fm.OptionError(f"su.infer: kind: expected 'csv' or 'json', found {kind!r}")
    require_ratio("su.infer", samplingRatio)
    storage = Storage.of(filesystem, storage_options)
    files = list_files(path, storage=storage, base_path=base_path, may_be_empty=True)
    format, doubts = inferred(files, storage, kind, samplingRatio, seed)
    tell_doubts("su.infer", doubts)
    return format


def inferred(
    files: Sequence[FoundFile], storage: Storage, kind: str | None, ratio: float | None = None, seed: int = 0
) -> tuple[fm.Csv | fm.Json, list[str]]:
    """The format, and what was unsure."""
    kind, stretches = sample_of(files, storage, ratio, seed, kind)
    format, doubts = infer_stretches(stretches, kind)
    return in_spark_types(format, doubts), doubts


def in_spark_types(format: Any, doubts: list[str]) -> Any:
    """Columns of types that Spark lacks are text."""
    for field in format.schema:
        try:
            SparkColumns.of(pa.schema([field]))
        except fm.SchemaError as error:
            doubts.append(f"{error}; kept as text")
            format = with_text(format, field.name)
    return format


def tell_doubts(asked: str, doubts: Sequence[str], *, steps: int = 1) -> None:
    """By one warning, at the line that called what calls this, so many steps up."""
    if doubts:
        warnings.warn(f"{asked}: {'; '.join(doubts)}", fm.InferenceWarning, stacklevel=2 + steps)


def require_ratio(asked: str, ratio: Any) -> None:
    number = isinstance(ratio, (int, float)) and not isinstance(ratio, bool)
    if ratio is not None and not (number and 0 < ratio <= 1):
        raise fm.OptionError(f"{asked}: samplingRatio: expected a number above 0 and at most 1, found {ratio!r}")


def call_of(format: Any) -> str:
    """The format as one would write it, its schema as DDL."""
    ddl = ", ".join(
        f"{_name(field.name)} {field.dataType.simpleString().upper()}"
        for field in SparkColumns.of(format.schema).struct
    )
    said = [f"{name}={value!r}" for name, value in format.asked.items()]
    return f"su.{type(format).__name__}({', '.join([repr(ddl), *said])})"


def _name(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"
