"""A user's file becomes an Input that every contestant can be told of.

In: a path. Out: an Input, by what `fm.infer` says of the file; what was changed so that others can read it is said aloud.
Refuses to know: who reads it.

Columns whose values only we can be told to read (dates in a country's order, decimal commas) are text for everybody.
"""

from __future__ import annotations

import csv
import gzip
import re
import tempfile
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pyarrow as pa

import formatter as fm
from bench.inputs import Input
from bench.plain_copies import plain_csv, plain_format, plain_json

JSON_NAMES = re.compile(r"\.(json|jsonl|ndjson|geojson)$", re.IGNORECASE)
NEWLINE_IN_QUOTES = re.compile(rb'(?:^|[^"])"[^"\n]*\n[^"\n]*"')
FEW = 3
LOOKED_AT = 8 << 20


def inferred_all(paths: Sequence[str]) -> list[Input]:
    """Those that can be read at all; of the others it is said why they cannot."""
    found = []
    for path in map(Path, paths):
        try:
            found.append(inferred(path))
        except (ValueError, csv.Error) as error:  # all errors of ours and of decoding are the former
            _say(path, f"takes no part: {error}")
    return found


def inferred(path: Path) -> Input:
    if not path.is_file():
        raise SystemExit(f"bench: {path}: expected a file, found none")
    folder = Path(tempfile.gettempdir()) / f"bench-{path.stat().st_ino}"
    folder.mkdir(exist_ok=True)
    plain = _without_gzip(path, folder)
    name = path.name.removesuffix(".gz")
    kind = "json" if JSON_NAMES.search(name) else "csv"
    with warnings.catch_warnings(record=True) as doubts:
        warnings.simplefilter("always")
        format = fm.infer(plain, kind, rows=LOOKED_AT)  # every value of most files, not those of a sample alone
    if not format.schema.names:
        raise ValueError("no column was found in it")
    for doubt in doubts:
        _say(path, str(doubt.message))
    made = _json_input(plain, format, folder) if isinstance(format, fm.Json) else _csv_input(plain, format, folder)
    changed, source = made
    if changed:
        _say(path, f"without {', '.join(changed)}: others could not be told; all read {source.path}")
    return replace(source, name=path.name)


def _say(path: Path, words: str) -> None:
    print(f"bench: {path.name}: {words}", flush=True)


def _few(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names[at * len(names) // FEW] for at in range(FEW)))


def _json_input(path: Path, format: fm.Json, folder: Path) -> tuple[list[str], Input]:
    plain, changed = plain_json(path, format, folder)
    return changed, Input(path.name, "json", str(plain), format.schema, _few(format.schema.names))


def _csv_input(path: Path, found: fm.Csv, folder: Path) -> tuple[list[str], Input]:
    plain, changed = plain_csv(path, found, folder)
    format = found if plain == path else plain_format(found)
    quote = str(format.quote or "")
    newlines = bool(quote) and NEWLINE_IN_QUOTES.search(plain.read_bytes()[:LOOKED_AT]) is not None
    source = Input(
        path.name, "csv", str(plain), format.schema, _few(format.schema.names), newlines, str(format.delimiter), quote,
        format.header is True, tuple(format.nulls), quotes=format.quotes, ragged=format.ragged,
    )  # fmt: skip
    if texts := _read_otherwise(source, format):
        kinds = [pa.field(f.name, pa.string()) if f.name in texts else f for f in format.schema]
        _say(path, f"{', '.join(texts)}: text for everybody, for nobody else could be told how to read it")
        source = replace(source, schema=pa.schema(kinds))
    return changed, source


def _read_otherwise(source: Input, format: fm.Csv) -> list[str]:
    """Columns that only ours can be told how to read, by the first records."""
    head = source.whole_records(source.data, LOOKED_AT)
    with warnings.catch_warnings(action="ignore", category=fm.RejectsWarning):
        plain, told = (fm.read(head, one, on_error="null") for one in (source.format(), format))
    return [name for name in format.schema.names if not plain[name].equals(told[name])]


def _without_gzip(path: Path, folder: Path) -> Path:
    if path.suffix != ".gz":
        return path.resolve()
    plain = folder / path.stem
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    return plain
