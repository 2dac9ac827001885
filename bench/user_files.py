"""A user's file becomes an Input that every contestant can be told of.

In: a path. Out: an Input, by what `fm.infer` says of the file; it refuses by name what only we can be told.
Refuses to know: who reads it.
"""

from __future__ import annotations

import gzip
import re
import tempfile
import warnings
from pathlib import Path

import formatter as fm
from bench.inputs import Input

JSON_NAMES = re.compile(r"\.(json|jsonl|ndjson)$", re.IGNORECASE)
FEW = 3


def inferred(path: Path) -> Input:
    if not path.is_file():
        raise SystemExit(f"bench: {path}: expected a file, found none")
    plain = _without_gzip(path)
    name = path.name.removesuffix(".gz")
    kind = "json" if JSON_NAMES.search(name) else "csv"
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        format = fm.infer(plain, kind)
    for doubt in doubts:
        print(f"bench: {path.name}: {doubt.message}", flush=True)
    names = format.schema.names
    few = tuple(dict.fromkeys(names[at * len(names) // FEW] for at in range(FEW)))
    if isinstance(format, fm.Json):
        if format.records != "lines":
            raise SystemExit(
                f"bench: {path}: expected a record a line, found {format.records!r}, which others cannot be told"
            )
        return Input(path.name, "json", str(plain), format.schema, few)
    return _csv_input(path, plain, format, few)


def _csv_input(path: Path, plain: Path, format: fm.Csv, few: tuple[str, ...]) -> Input:
    usual = fm.Csv(
        format.schema, delimiter=format.delimiter, quote=format.quote, header=format.header, nulls=format.nulls
    )
    told_only_to_us = [
        name
        for name in (
            "escape",
            "decimal",
            "timestamp_formats",
            "trim",
            "comment",
            "ragged",
            "encoding",
            "true_values",
            "false_values",
        )
        if getattr(format, name) != getattr(usual, name)
    ]
    for name in told_only_to_us:
        print(f"bench: {path.name}: {name}={getattr(format, name)!r} is told to nobody: answers may differ", flush=True)
    quote = str(format.quote or "")
    newlines = bool(quote) and re.search(rb'(?:^|[^"])"[^"\n]*\n[^"\n]*"', plain.read_bytes()[: 8 << 20]) is not None
    return Input(
        path.name,
        "csv",
        str(plain),
        format.schema,
        few,
        newlines,
        str(format.delimiter),
        quote,
        format.header is True,
        format.nulls,
    )


def _without_gzip(path: Path) -> Path:
    if path.suffix != ".gz":
        return path.resolve()
    plain = Path(tempfile.gettempdir()) / f"bench-{path.stat().st_ino}-{path.stem}"
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return plain
