"""A format from a sample: delimiter, quotes, header, types. Says what it was unsure of, and why.

In: the start of an input. Out: a Csv that reads it. Types are proven on the sample by the same parser that will read
the rest, never guessed from looks.
"""

from __future__ import annotations

import csv as python_csv
import io
import warnings
from collections import Counter
from typing import Any

import pyarrow as pa

from formatter.errors import FormatError, OptionError
from formatter.formats import Csv
from formatter.sources import Source, inputs
from formatter.values import parse_values

SAMPLE_BYTES = 4 << 20
DELIMITERS = (",", "\t", ";", "|", ":")
NULL_MARKERS = ("", "NULL", "null", "NA", "N/A", "NaN", "nan", "None", "\\N", "-")
TYPES = (pa.int64(), pa.float64(), pa.date32(), pa.timestamp("us"), pa.timestamp("ns"), pa.bool_())


class InferenceWarning(UserWarning):
    """The sample allows more than one reading; the message names the evidence."""


def infer(source: Source, kind: str = "csv", *, rows: int = 10_000, codec: str | None = None) -> Csv:
    """A format for `source`, from its first `rows` records."""
    if kind != "csv":
        raise OptionError(f"infer: kind: expected 'csv', found {kind!r}")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise OptionError(f"infer: rows: expected a whole number from 1, found {rows!r}")
    text, whole = _sample(source, codec)
    if not text.strip():
        raise FormatError("infer: expected some records, found an empty input", code="invalid")
    delimiter, table, doubts = _delimiter_and_rows(text, rows, whole)
    width = Counter(len(row) for row in table).most_common(1)[0][0]
    ragged = sum(len(row) != width for row in table)
    if ragged:
        doubts.append(f"{ragged} of {len(table)} records have not {width} fields")
    table = [row for row in table if len(row) == width]
    body_types = [_column_type([row[i] for row in table[1:]]) for i in range(width)]
    header = _looks_like_header(table, body_types, doubts)
    if header:
        names = table[0]
        body = table[1:]
        found = body_types
    else:
        names = [f"f{i}" for i in range(width)]
        body = table
        found = [_column_type([row[i] for row in table]) for i in range(width)]
    names = _unique(names)
    nulls = {"", *(marker for _, markers in found for marker in markers)}
    for name, i in zip(names, range(width), strict=True):
        if body and all(row[i] in NULL_MARKERS for row in body):
            doubts.append(f"column {name!r} has no value in the sample, taken as string")
    if doubts:
        warnings.warn(f"infer: {'; '.join(doubts)}", InferenceWarning, stacklevel=2)
    schema = pa.schema([pa.field(name, kind) for name, (kind, _) in zip(names, found, strict=True)])
    return Csv(schema, delimiter=delimiter, header=header, nulls=sorted(nulls))


def _sample(source: Source, codec: str | None) -> tuple[str, bool]:
    first = next(iter(inputs(source, codec)))
    if first.contiguous:
        data: Any = first.data  # type: ignore[attr-defined]
        sample, whole = bytes(data[:SAMPLE_BYTES]), len(data) <= SAMPLE_BYTES
    else:
        window, whole = next(first.windows(SAMPLE_BYTES))
        sample = bytes(window)
    return sample.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace"), whole


def _delimiter_and_rows(text: str, rows: int, whole: bool) -> tuple[str, list[list[str]], list[str]]:
    """The delimiter under which most records have the same number of fields, more than one if any does."""
    scored: list[tuple[float, int, str, list[list[str]]]] = []
    for delimiter in DELIMITERS:
        reader = python_csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        table: list[list[str]] = []
        try:
            for row in reader:
                if row:
                    table.append(row)
                if len(table) > rows:
                    break
        except python_csv.Error:
            continue
        if not whole and len(table) <= rows:
            table = table[:-1]  # cut by the sample's end
        if not table:
            continue
        width, count = Counter(map(len, table)).most_common(1)[0]
        scored.append((count / len(table) if width > 1 else 0.0, width, delimiter, table))
    if not scored:
        raise FormatError("infer: expected delimited records, found none in the sample", code="invalid")
    scored.sort(key=lambda s: (s[0], s[1]), reverse=True)
    doubts = []
    if len(scored) > 1 and scored[0][0] > 0 and scored[1][0] >= scored[0][0]:
        doubts.append(
            f"delimiter {scored[0][2]!r} gives {scored[0][1]} fields and {scored[1][2]!r} gives {scored[1][1]}; took the first"
        )
    best = scored[0] if scored[0][0] > 0 else next(s for s in scored if s[2] == ",")
    return best[2], best[3], doubts


def _column_type(values: list[str]) -> tuple[pa.DataType, set[str]]:
    """The narrowest type all values parse as, and the null markers among them."""
    present = [v for v in values if v not in NULL_MARKERS]
    markers = {v for v in values if v in NULL_MARKERS}
    if not present:
        return pa.string(), set()
    if all(v in ("true", "false") for v in present):
        return pa.bool_(), markers
    for kind in TYPES[:-1]:
        try:
            parse_values(pa.array(present), kind)
        except FormatError:
            continue
        return kind, markers
    return pa.string(), set()


def _looks_like_header(table: list[list[str]], body: list[tuple[pa.DataType, set[str]]], doubts: list[str]) -> bool:
    """A first record that does not parse as the columns below it do names them."""
    first = table[0]
    if len(table) == 1:
        doubts.append("one record only: taken as data, not as a header")
        return False
    misfits = sum(
        kind != pa.string() and _column_type([name])[0] != kind and name not in NULL_MARKERS
        for name, (kind, _) in zip(first, body, strict=True)
    )
    if misfits:
        return True
    below = {value for row in table[1:] for value in row}
    unlike = len(set(first)) == len(first) and not below & set(first)
    if unlike and all(kind == pa.string() for kind, _ in body) and all(name.isidentifier() for name in first):
        doubts.append(f"all columns are text; the first record {first!r} never recurs and was taken as a header")
        return True
    return False


def _unique(names: list[str]) -> list[str]:
    seen: Counter[str] = Counter()
    unique = []
    for i, name in enumerate(names):
        name = name.strip() or f"f{i}"
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}_{seen[name]}")
    return unique
