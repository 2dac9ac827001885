"""A Csv format from a sample: dialect, header, types. In: the start of an input. Out: a Csv, what decided it, and doubts.

First the readings compete on the sample's head (readings.py); the best one shows where the table stands and what names its
columns (table.py); one pass over the sample counts what stands in each column and what went astray (counting.py); that
decides the types (columns.py). The format is then proven on the sample by the parser that will read the rest.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa

from formatter.errors import FormatError, SchemaError, shown
from formatter.formats import Csv
from formatter.inference.columns import TEXT, Column, Found, find_types
from formatter.inference.counting import Counted, count_table
from formatter.inference.dialect import Dialect
from formatter.inference.given import Given
from formatter.inference.readings import UNUSUAL, Reading, find_readings
from formatter.inference.sample import Sample
from formatter.inference.table import Table, find_table
from formatter.readers import read

CLOSE_SCORES = 0.7  # a second reading with this share of the best one's score is a doubt
RARE = 0.7  # a delimiter that weighs less is one
CLOSE_TO_SINGLE = 0.35  # and this, where the best one sees no delimiter
UNNAMEABLE = "\0\ufffd"  # in no column's name: Arrow's C interface ends at the one, the other stands for bad bytes
ROUNDS_MOST = 3  # of making columns text that the proof refuses
_BLANKS = re.compile(rb"(?<=\S)(?: {2,}|\t+)(?=\S)")


@dataclass
class Inferred:
    """A format, and what it rests on."""

    format: Csv
    dialect: Dialect
    doubts: list[str]
    columns: list[tuple[Column, Found]] = field(default_factory=list)
    table: Table | None = None
    counted: Counted | None = None


def infer_csv(sample: Sample, rows: int, given: Given | None = None, *, headless: bool = False) -> Inferred:
    """The format for the sample's input, from its first `rows` records and what is given. `headless`: all of them are data."""
    given = given or Given()
    if not sample.data.strip(b" \t\r\n"):
        return _empty(sample, given)
    readings = find_readings(sample.data, sample.whole, given.separators)
    table = find_table(sample.data, sample.whole, readings[0], sample.charset)
    if headless:
        table = Table(table.width, [f"f{i}" for i in range(table.width)], 0, 0, why="every record is a value")
    counted = count_table(sample, readings, table, rows, given)
    columns = [Column(tally, sample.data, sample.charset, counted.separators.delimiter) for tally in counted.columns]
    found, unsure = find_types(columns)
    if any(mark in name for name in table.names for mark in UNNAMEABLE):
        table.by_position()
    doubts = [*sample.doubts, *_delimiter_doubts(sample, readings), *table.doubts, *counted.doubts]
    try:
        inferred = _decided(sample, readings[0], counted, columns, found, [*doubts, *unsure], given)
    except (FormatError, SchemaError):  # the parser does not find these names in the header
        table.by_position()
        inferred = _decided(sample, readings[0], counted, columns, found, [*doubts, *unsure], given)
    return inferred


def _empty(sample: Sample, given: Given) -> Inferred:
    dialect = Dialect()
    dialect.decide("encoding", sample.encoding, sample.why)
    if sample.data.strip(b"\r\n"):
        dialect.decide("skip_lines", len(sample.data.splitlines()), "its lines are blank")
    dialect.take(given)
    return Inferred(dialect.csv(pa.schema([])), dialect, [])


def _decided(
    sample: Sample,
    reading: Reading,
    counted: Counted,
    columns: list[Column],
    found: list[Found],
    doubts: list[str],
    given: Given,
) -> Inferred:
    """All options and the schema, proven on the sample."""
    dialect, table = Dialect(), counted.table
    dialect.decide("encoding", sample.encoding, sample.why)
    if sample.errors != "strict":
        dialect.decide("errors", sample.errors, sample.why)
    _decide_separators(dialect, reading, counted)
    dialect.take(given)
    _decide_records(dialect, table, counted, sample, doubts)
    names = _decide_names(dialect, table, counted, doubts)
    _decide_values(dialect, columns, found)
    if not dialect.has("trim") and (spaced := counted.tally["quotes"]["spaced"]):
        dialect.decide("trim", True, f"blanks stand outside the quotes of {spaced} fields")
        doubts.append(f"blanks stand outside the quotes of {spaced} fields: trim=True")
    doubts += [f"column {name!r}: {doubt}" for name, f in zip(names, found, strict=True) for doubt in f.doubts]
    doubts += _null_doubts(names, columns, found)
    format = dialect.csv(pa.schema([(name, f.type) for name, f in zip(names, found, strict=True)]))
    format = _proven(format, sample, counted, doubts)
    return Inferred(format, dialect, doubts, list(zip(columns, found, strict=True)), table, counted)


def _delimiter_doubts(sample: Sample, readings: list[Reading]) -> list[str]:
    best = readings[0]
    close = CLOSE_SCORES if best.width > 1 else CLOSE_TO_SINGLE
    rivals = [r for r in readings[1:] if r.score >= close * best.score and r.width > 1]
    if best.width <= 1:
        lines = [line for line in sample.data[:16384].splitlines()[:50] if line.strip()][:-1]
        aligned = Counter(len(_BLANKS.findall(line)) for line in lines)
        if lines and (most := aligned.most_common(1)[0])[0] > 0 and most[1] * 10 >= len(lines) * 8:
            return [
                f"{most[0] + 1} columns seem to be set apart by several blanks, which is no delimiter: one column of text"
            ]
    rare = UNUSUAL.get(best.separators.delimiter, 1.0) < RARE
    if not rivals:
        return [f"delimiter {_shown(best)} is a rare one, and may be part of longer values"] * (best.width > 1 and rare)
    taken = (
        f"delimiter {_shown(best)} gives {best.width} fields" if best.width > 1 else "no delimiter was taken: one field"
    )
    others = ", ".join(f"{_shown(r)} gives {r.width}" for r in rivals)
    return [f"{taken}, but {others}" + ("; took the first" if best.width > 1 else "")]


def _shown(reading: Reading) -> str:
    return repr(reading.separators.delimiter.decode("latin-1"))


def _decide_separators(dialect: Dialect, reading: Reading, counted: Counted) -> None:
    separators, tally = counted.separators, reading.tally
    if counted.width > 1:
        why = f"{tally['table_records']} of the first {tally['records']} records have {reading.width} fields with it"
        dialect.decide("delimiter", separators.delimiter, why)
    else:
        dialect.decide("delimiter", separators.delimiter, "no delimiter makes records alike: one field each")
    if separators.record_end != b"\n":
        dialect.decide("record_delimiter", separators.record_end, "lines end with it")
    quotes = counted.tally["quotes"]
    if separators.quote is None:
        dialect.decide("quote", None, counted.why_quotes)
    elif quotes["quoted"]:
        dialect.decide("quote", separators.quote, f"{quotes['quoted']} fields stand in it")
    if separators.escape is not None:
        dialect.decide(
            "escape", separators.escape, f"it stands before {quotes['escaped']} quotes or separators in fields"
        )
    if counted.quote_rule != "strict":
        dialect.decide("quotes", counted.quote_rule, counted.why_quotes)
    if not separators.newlines_in_quotes:
        dialect.decide("newlines_in_quotes", False, "no field of the sample's table needs more than a line")
    if separators.comment is not None and counted.comments:
        dialect.decide(
            "comment", separators.comment, f"{counted.comments} lines begin with it and are unlike the records"
        )


def _decide_records(dialect: Dialect, table: Table, counted: Counted, sample: Sample, doubts: list[str]) -> None:
    if counted.ragged != "error":
        dialect.decide("ragged", counted.ragged, counted.why_ragged)
    skipped = sample.data[: table.first_line]
    if not _is_passed_over(skipped, counted):
        lines = skipped.count(counted.separators.record_end)
        first = shown(
            next((line for line in skipped.splitlines() if line.strip()), b"").decode(sample.charset, "replace"), 60
        )
        why = f"{lines} lines stand before the {'header' if table.header_lines else 'table'}, like {first}"
        dialect.decide("skip_lines", lines, why)
        doubts.append(f"{why}: skip_lines={lines}")
    if counted.footer:
        dialect.decide("skip_footer", counted.footer, counted.why_footer)
    if counted.tally["repeats"] and table.header_lines:
        dialect.decide("repeated_headers", True, f"{counted.tally['repeats']} more lines repeat the header")


def _is_passed_over(skipped: bytes, counted: Counted) -> bool:
    """Whether the format passes over these lines by itself: blank ones and comments."""
    comment = counted.separators.comment
    lines = skipped.split(counted.separators.record_end)
    return all(not line.rstrip(b"\r") or (comment is not None and line.startswith(comment)) for line in lines)


def _decide_names(dialect: Dialect, table: Table, counted: Counted, doubts: list[str]) -> list[str]:
    """The columns' names as the format will know them."""
    names = list(table.names)
    stripped = [name.strip(" \t") for name in names]
    if table.header_lines == 1:
        dialect.decide("header", True, table.why)
    elif table.header_lines:
        dialect.decide("header", tuple(range(table.header_lines)), table.why)
    else:
        dialect.decide("header", False, table.why)
    if not table.header_lines:
        names = stripped
    elif stripped != names or _has_blanks_around(table, counted):
        dialect.decide("trim_names", True, "names have blanks around")
        names = stripped
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        told = f"{Counter(names)[repeated[0]]} columns are named {repeated[0]!r}: names made unique"
        if table.header_lines:
            dialect.decide("unique_names", True, told)
        doubts.append(told)
        names = unique(names)
    return names


def _has_blanks_around(table: Table, counted: Counted) -> bool:
    """Whether blanks stand at the ends of a header's fields."""
    delimiter = re.escape(counted.separators.delimiter)
    return (
        re.search(rb"(?:\A|%b)[ \t]|[ \t](?:%b|\Z)" % (delimiter, delimiter), table.header.strip(b"\r\n")) is not None
    )


def unique(names: list[str]) -> list[str]:
    """name, name_2, ...: a later one of the same name counts on until no other has it."""
    taken, made = set(names), []
    seen: Counter[str] = Counter()
    for name in names:
        seen[name] += 1
        if seen[name] > 1:
            while (other := f"{name}_{seen[name]}") in taken:
                seen[name] += 1
            taken.add(other)
            name = other
        made.append(name)
    return made


def _decide_values(dialect: Dialect, columns: list[Column], found: list[Found]) -> None:
    nulls = {marker for f in found for marker in f.nulls if f.type != TEXT}
    if nulls:
        dialect.decide("nulls", ("", *sorted(nulls)), "they stand for no value in columns of other values")
    if columns and all(0 < column.tally["quoted"] == sum(column.counts.values()) for column in columns):
        dialect.decide("quoted_nulls", "everywhere", "every field stands in quotes, so they say nothing")
    elif any(f.nulls and f.type != TEXT and column.tally["quoted"] for column, f in zip(columns, found, strict=True)):
        dialect.decide("quoted_nulls", True, "columns of other values stand in quotes")
    spelled = dict.fromkeys(word for f in found for word in f.spelling)
    trues = [word for word in spelled if word.lower() == "true" and word != "true"]
    if trues:
        dialect.decide("true_values", ("true", "1", *trues), "so they are spelled")
        falses = [word for word in spelled if word.lower() == "false" and word != "false"]
        dialect.decide("false_values", ("false", "0", *falses), "so they are spelled")
    if any(f.comma for f in found):
        dialect.decide("decimal", ",", next(f.why for f in found if f.comma))
    formats = tuple(dict.fromkeys(format for f in found for format in f.formats))
    if formats:
        dialect.decide("timestamp_formats", formats, next(f.why for f in found if f.formats))
    if any(f.spaced for f in found):
        dialect.decide("trim", True, "blanks stand around values")


def _null_doubts(names: list[str], columns: list[Column], found: list[Found]) -> list[str]:
    """A null marker of one column is null in all of them, also where it may be text."""
    markers = {marker: name for name, f in zip(names, found, strict=True) if f.type != TEXT for marker in f.nulls}
    doubts = []
    for name, column, f in zip(names, columns, found, strict=True):
        if f.type == TEXT and (shared := sorted(column.words() & markers.keys())):
            doubts.append(
                f"{shared[0]!r} is null in column {markers[shared[0]]!r}, so it is null in the text of {name!r} too"
            )
    return doubts


def _proven(format: Csv, sample: Sample, counted: Counted, doubts: list[str]) -> Csv:
    """Reads the sample by the format; columns that still fail are text, and what is left is told."""
    whole = sample.whole and counted.whole
    data = sample.data[: counted.used] if not whole else sample.data
    for _ in range(ROUNDS_MOST):
        rejects: list[pa.Table] = []
        options: dict[str, Any] = {"encoding": sample.charset}
        if not whole:
            options["skip_footer"] = 0
        read(data, replace(format, **options), on_error="collect", threads=1, rejects=rejects)
        found = rejects[0].select(["column", "code", "message"]).to_pylist()
        texts = {f.name for f in format.schema if f.type == TEXT}
        failing = {row["column"]: row["message"] for row in reversed(found) if row["code"] != "stray_quote"}
        failing = {name: message for name, message in failing.items() if name is not None and name not in texts}
        if not failing:
            break
        for name, message in sorted(failing.items()):
            doubts.append(f"column {name!r}: {message}; taken as string")
            format = replace(
                format, schema=format.schema.set(format.schema.get_field_index(name), pa.field(name, TEXT))
            )
    if found:
        doubts.append(f"{len(found)} records of the sample are not read, the first: {found[0]['message']}")
    return format
