"""A Csv format from a sample: encoding, delimiter, header, types. In: the start of an input. Out: a Csv, and doubts.

Types are proven on the sample by the same parser that will read the rest, never guessed from looks alone.
"""

from __future__ import annotations

import codecs
import csv as python_csv
import io
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from formatter.errors import FormatError, shorten
from formatter.formats import Csv
from formatter.readers import read
from formatter.values import parse_values

DELIMITERS = (",", "\t", ";", "|", ":")
NULL_MARKERS = ("", "NULL", "null", "NA", "N/A", "NaN", "nan", "None", "\\N", "-")
INTEGERS = (pa.int64(), pa.uint64(), pa.decimal128(38, 0))
TYPES = (pa.float64(), pa.date32(), pa.timestamp("us"), pa.timestamp("ns"))
SPELLINGS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
_INTEGER = re.compile(r"[+-]?\d+\Z")
_PADDED = re.compile(r"[+-]?0\d")
_COMMA_NUMBER = re.compile(r"[+-]?\d+,\d+\Z")
_ZONE = re.compile(r"(Z|[+-]\d\d(:?\d\d)?)\Z")

Row = list[str]


@dataclass
class Found:
    """What the values of a column are, and how they are written."""

    type: pa.DataType
    nulls: frozenset[str] = frozenset()
    spelling: tuple[str, str] | None = None
    comma: bool = False
    spaced: bool = False
    doubt: str = ""


def infer_csv(sample: bytes, whole: bool, rows: int) -> tuple[Csv, list[str]]:
    """The format, and what was unsure. `whole`: the sample is all there is."""
    doubts: list[str] = []
    encoding = _encoding(sample, whole, doubts)
    text = sample.removeprefix(codecs.BOM_UTF8).decode(encoding, "replace")  # the mark of UTF-16 goes by itself
    delimiter, table = _delimiter_and_rows(text, rows, whole, doubts)
    comment = "#" if table[0][0].startswith("#") and not all(row[0].startswith("#") for row in table) else None
    if comment:
        kept = [row for row in table if not row[0].startswith("#")]
        doubts.append(f"{len(table) - len(kept)} records begin with '#', like {table[0][0]!r}: taken as comments")
        table = kept
    ragged, table = _even(table, doubts)
    width = len(table[0])
    body_types = [_column([row[i] for row in table[1:]]) for i in range(width)]
    header = _looks_like_header(table, body_types, doubts)
    body = table[1:] if header else table
    found = body_types if header else [_column([row[i] for row in table]) for i in range(width)]
    names = table[0] if header else [f"f{i}" for i in range(width)]
    if any(f.comma for f in found) and any(f.type == pa.float64() and not f.comma for f in found):
        doubts.append("some columns have a decimal comma, others a decimal point: those with the comma taken as string")
        found = [Found(pa.string()) if f.comma else f for f in found]
    _name_doubts(names, found, body, doubts)
    trim = any(f.spaced for f in found)
    columns = {
        (name.strip(" \t") if trim else name): f.type for name, f in reversed(list(zip(names, found, strict=True)))
    }
    for name, count in Counter(names).items():
        if count > 1:
            doubts.append(
                f"{count} columns are named {name!r}: only the first can be told by its name, the others are left out"
            )
    spellings = [f.spelling for f in found if f.spelling]
    format = Csv(
        pa.schema(list(reversed(columns.items()))),
        delimiter=delimiter,
        header=header,
        nulls=sorted({"", *(marker for f in found for marker in f.nulls)}),
        true_values=tuple(dict.fromkeys(["true", "1", *(s[0] for s in spellings)])),
        false_values=tuple(dict.fromkeys(["false", "0", *(s[1] for s in spellings)])),
        decimal="," if any(f.comma for f in found) else ".",
        trim=trim,
        comment=comment,
        ragged=ragged,
        encoding=encoding,
    )
    return _proven(format, sample, whole, doubts), doubts


def _encoding(sample: bytes, whole: bool, doubts: list[str]) -> str:
    if sample.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = sample[:4096]
    zeros = [head[side::2].count(0) for side in (0, 1)]
    if 4 * max(zeros) > len(head) and min(zeros) * 8 < max(zeros):
        encoding = "utf-16-le" if zeros[1] > zeros[0] else "utf-16-be"
        doubts.append(
            f"every other byte is 0 ({max(zeros)} of the first {len(head)}) and there is no mark: taken as {encoding}"
        )
        return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample, final=whole)
    except UnicodeDecodeError as error:
        around = sample[max(0, error.start - 10) : error.start + 10]
        doubts.append(f"byte {error.start} is no UTF-8 (in {around!r}): taken as latin-1")
        return "latin-1"
    return "utf-8"


def _delimiter_and_rows(text: str, rows: int, whole: bool, doubts: list[str]) -> tuple[str, list[Row]]:
    """The delimiter under which most records have the same number of fields, more than one if any does."""
    scored: list[tuple[float, int, str, list[Row]]] = []
    python_csv.field_size_limit(max(python_csv.field_size_limit(), len(text) + 1))
    for delimiter in DELIMITERS:
        reader = python_csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
        table: list[Row] = []
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
        table = table[:rows]
        if not table:
            continue
        width, count = Counter(map(len, table)).most_common(1)[0]
        scored.append((count / len(table) if width > 1 else 0.0, width, delimiter, table))
    if not scored:
        raise FormatError("infer: expected delimited records, found none in the sample", code="invalid")
    scored.sort(key=lambda s: (s[0], s[1]), reverse=True)
    if len(scored) > 1 and scored[0][0] > 0 and scored[1][0] >= scored[0][0]:
        doubts.append(
            f"delimiter {scored[0][2]!r} gives {scored[0][1]} fields and {scored[1][2]!r} gives {scored[1][1]}; took the first"
        )
    best = scored[0] if scored[0][0] > 0 else next((s for s in scored if s[2] == ","), scored[0])
    return best[2], best[3]


def _even(table: list[Row], doubts: list[str]) -> tuple[Any, list[Row]]:
    """Records of the usual width; how the others are to be read."""
    width = Counter(map(len, table)).most_common(1)[0][0]
    short = [i for i, row in enumerate(table) if len(row) < width]
    long = [i for i, row in enumerate(table) if len(row) > width]
    if not short and not long:
        return "error", table
    first = min(short[:1] + long[:1])
    ragged = "fit" if short and long else "pad" if short else "truncate"
    doubts.append(
        f"{len(short)} of {len(table)} records have less than {width} fields, {len(long)} have more, the first is record "
        f"{first} with {len(table[first])}: ragged={ragged!r}"
    )
    return ragged, [row for row in table if len(row) == width]


def _column(values: Row) -> Found:
    """The narrowest type all values parse as, and how they are spelled."""
    present = [v for v in values if v not in NULL_MARKERS]
    markers = frozenset(v for v in values if v in NULL_MARKERS)
    if not present:
        return Found(pa.string(), doubt="no value in the sample, taken as string")
    found = _typed(present, markers)
    if found.type == pa.string() and not found.doubt:
        stripped = [v.strip(" \t") for v in present]
        if stripped != present and (trimmed := _typed([v for v in stripped if v], markers)).type != pa.string():
            return replace(
                trimmed, spaced=True, doubt=f"spaces around values like {shorten(present[0], 30)}: trim=True"
            )
    return found


def _typed(present: Row, markers: frozenset[str]) -> Found:
    if not present:
        return Found(pa.string())
    if all(map(_INTEGER.match, present)):
        padded = next((v for v in present if _PADDED.match(v)), None)
        if padded is not None:
            return Found(
                pa.string(), doubt=f"values like {padded!r} begin with zeros that a number would lose, taken as string"
            )
        for kind in INTEGERS:
            if _fits(present, kind):
                large = max(present, key=len)
                doubt = f"integers like {large} are beyond 64 bits, taken as decimal" if kind == INTEGERS[-1] else ""
                return Found(kind, markers, doubt=doubt)
        return Found(pa.string(), doubt="integers of more than 38 digits, taken as string")
    for spelling in SPELLINGS:
        if all(v in spelling for v in present):
            return Found(pa.bool_(), markers, spelling)
    for kind in TYPES:
        if not _fits(present, kind):
            continue
        if not pa.types.is_timestamp(kind):
            return Found(kind, markers)
        zones = sum(_ZONE.search(v, 11) is not None for v in present)
        doubt = (
            f"{zones} of {len(present)} times have an offset, the others are taken as UTC"
            if 0 < zones < len(present)
            else ""
        )
        return Found(pa.timestamp(kind.unit, "UTC") if zones else kind, markers, doubt=doubt)
    if all(_COMMA_NUMBER.match(v) or _INTEGER.match(v) for v in present):
        return Found(pa.float64(), markers, comma=True)
    return Found(pa.string())


def _fits(present: Row, kind: pa.DataType) -> bool:
    try:
        parse_values(pa.array(present), kind)
    except FormatError:
        return False
    return True


def _looks_like_header(table: list[Row], body: list[Found], doubts: list[str]) -> bool:
    """A first record that does not parse as the columns below it do names them."""
    first = table[0]
    if len(table) == 1:
        doubts.append("one record only: taken as data, not as a header")
        return False
    misfits = sum(
        f.type != pa.string() and name not in NULL_MARKERS and _column([name]).type != f.type
        for name, f in zip(first, body, strict=True)
    )
    if misfits:
        return True
    below = {value for row in table[1:] for value in row}
    unlike = len(set(first)) == len(first) and not below & set(first)
    if unlike and all(f.type == pa.string() for f in body) and all(name.strip().isidentifier() for name in first):
        doubts.append(f"all columns are text; the first record {first!r} never recurs and was taken as a header")
        return True
    if unlike and all(f.type == pa.string() for f in body):
        doubts.append(f"all columns are text; the first record {first!r} was taken as data, not as a header")
    return False


def _name_doubts(names: Row, found: list[Found], body: list[Row], doubts: list[str]) -> None:
    doubts += [f"column {name!r}: {f.doubt}" for name, f in zip(names, found, strict=True) if f.doubt]
    markers = {marker: name for name, f in zip(names, found, strict=True) for marker in f.nulls if marker}
    for i, (name, f) in enumerate(zip(names, found, strict=True)):
        if f.type == pa.string():
            shared = sorted({row[i] for row in body} & set(markers))
            for marker in shared[:1]:
                doubts.append(
                    f"{marker!r} is null in column {markers[marker]!r}, so it is null in the text of {name!r} too"
                )


def _proven(format: Csv, sample: bytes, whole: bool, doubts: list[str]) -> Csv:
    """Reads the sample by the format; columns that still fail are text, and what is left is told."""
    for _ in range(len(format.schema) + 1):
        found = _rejects(format, sample, whole)
        texts = {f.name for f in format.schema if f.type == pa.string()}
        failing = {row["column"] for row in found if row["code"] != "stray_quote"} - texts - {None}
        if not failing:
            break
        for name in sorted(failing):
            doubts.append(
                f"column {name!r}: {next(r for r in found if r['column'] == name)['message']}; taken as string"
            )
            position = format.schema.get_field_index(name)
            format = replace(format, schema=format.schema.set(position, pa.field(name, pa.string())))
    strays = [row for row in found if row["code"] in ("stray_quote", "unterminated_quote")]
    if strays:
        plain = replace(format, quote=None)
        if len(_rejects(plain, sample, whole)) < len(found):
            doubts.append(f"quotes are no quotes ({strays[0]['message']}): quote=None")
            return plain
    if found:
        doubts.append(f"{len(found)} records of the sample are not read, the first: {found[0]['message']}")
    return format


def _rejects(format: Csv, sample: bytes, whole: bool) -> list[dict[str, Any]]:
    """Of the sample, less those of a last record that the sample's end cuts."""
    rejects: list[pa.Table] = []
    read(sample, format, on_error="collect", threads=1, rejects=rejects)
    last = len(sample) if whole else sample.rfind(b"\n")
    cut = () if whole else ("unterminated_quote",)
    return [row for row in rejects[0].to_pylist() if row["byte_offset"] <= last and row["code"] not in cut]
