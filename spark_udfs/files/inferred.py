"""The format of files that nobody has described. In: files, "csv" or "json". Out: what fm.infer finds in the first of them that
has anything in it, told to the person at the keyboard as a call that need not look again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import formatter as fm
from formatter.codecs import codec_of
from spark_udfs.files.file_listing import FoundFile, Storage
from spark_udfs.files.open_files import opened
from spark_udfs.types.spark_types import struct_of


def inferred(kind: str, files: Sequence[FoundFile], storage: Storage) -> Any:
    first = next((file for file in files if file.size), None)
    if first is None:
        raise fm.OptionError(f'spark: nothing can be inferred: all files are empty; give schema= with "{kind}"')
    with opened(storage, first.path, codec_of(first.path)) as stream:
        format = fm.infer(stream, kind)
    print(f"su.read: no schema is given; {first.path} looks like\n  {call_of(format)}")
    return format


def call_of(format: Any) -> str:
    """The format as one would write it, its schema as DDL."""
    ddl = ", ".join(
        f"{_name(field.name)} {field.dataType.simpleString().upper()}" for field in struct_of(format.schema)
    )
    plain = type(format)(format.schema)
    said = [
        f"{field.name}={getattr(format, field.name)!r}"
        for field in fields(format)
        if field.name != "schema" and getattr(format, field.name) != getattr(plain, field.name)
    ]
    return f"su.{type(format).__name__}({', '.join([repr(ddl), *said])})"


def _name(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else "`" + name.replace("`", "``") + "`"
