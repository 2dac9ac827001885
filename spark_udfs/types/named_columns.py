"""Names of columns that a caller gives, checked before a query is made. In: options and names. Out: the fields they mean."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

import formatter as fm


def require_columns(available: Sequence[str], named: Iterable[tuple[str, str]]) -> None:
    """`named`: by which option, and which column."""
    for option, name in named:
        if name not in available:
            raise fm.SchemaError(f"spark: no column {name!r} among ({', '.join(available)}); name yours with {option}=")


def require_list(option: str, names: Sequence[str] | None) -> None:
    if isinstance(names, str):
        raise fm.OptionError(f"spark: {option} is a list of names, found the string {names!r}")


def kept_fields(df: DataFrame, keep: Sequence[str]) -> StructType:
    """Of the columns that go along beside the parsed ones."""
    require_list("keep", keep)
    require_columns(df.columns, (("keep", name) for name in keep))
    return StructType([df.schema[name] for name in keep])
