"""One format for what lies in many places. In: stretches of inputs, the first from an input's beginning, the others from anywhere.
Out: a format that reads them all, and doubts.

Of JSON lines a stretch gives the lines that are whole in it, merged path by path. Of CSV the first stretch says what the
table looks like; in the others records are looked for that look so, and all of them together decide the types. Where such
a record begins is tried line by line: inside quotes a line end is none, and then widths and quotes go astray.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from formatter.formats import Csv, Json
from formatter.inference.counting import Counted
from formatter.inference.csv import Inferred, infer_csv
from formatter.inference.json import ANY_AS_TEXT, infer_json
from formatter.inference.json_records import JsonSample, layout_of
from formatter.inference.sample import Sample, decoded

EVERY_ROW = 1 << 62
STARTS_TRIED = 32  # line ends of a stretch of CSV behind which a record may begin


@dataclass(frozen=True)
class Stretch:
    """`offset`: of these bytes in the input called `name`. `ends`: the input ends with them."""

    name: str
    data: bytes
    offset: int = 0
    ends: bool = False


def infer_stretches(stretches: Sequence[Stretch], kind: str) -> tuple[Csv | Json, list[str]]:
    return _infer_json(stretches) if kind == "json" else _infer_csv(stretches)


def infer_records(records: Sequence[bytes], kind: str) -> tuple[Csv | Json, list[str]]:
    """Of arrays whose values are one record each: of JSON whatever line ends they have, of CSV without a header."""
    if kind == "json":
        lines = b"\n".join(record.replace(b"\n", b" ") for record in records)
        return infer_json([JsonSample(lines, True)], EVERY_ROW)
    found = infer_csv(decoded(b"\n".join(records), True), EVERY_ROW, headless=True)
    return found.format, found.doubts


def with_text(format: Csv | Json, name: str) -> Csv | Json:
    """The format with a column kept as text."""
    read_as = ANY_AS_TEXT if isinstance(format, Json) else None
    place = format.schema.get_field_index(name)
    return replace(format, schema=format.schema.set(place, pa.field(name, pa.string(), metadata=read_as)))


def begins_at_lines(first: bytes, kind: str) -> bool:
    """Whether records may be looked for behind any line end of an input that begins so."""
    if kind == "json":
        return layout_of(JsonSample(first, False)) == "lines"
    return not decoded(first, False).encoding.startswith("utf-16")


def _infer_json(stretches: Sequence[Stretch]) -> tuple[Json, list[str]]:
    several = len({stretch.name for stretch in stretches}) > 1
    whole = [_sample_of(one, several) for one in stretches]
    samples = [_lines_of(one, several) for one in stretches] if layout_of(whole[0]) == "lines" else whole
    kept = [sample for sample in samples if sample.data.strip()]
    return infer_json(kept or whole[:1], EVERY_ROW)


def _sample_of(stretch: Stretch, several: bool) -> JsonSample:
    return JsonSample(stretch.data, stretch.ends, stretch.name if several else "", stretch.offset)


def _lines_of(stretch: Stretch, several: bool) -> JsonSample:
    """The lines that are whole; of an input's only line its beginning."""
    data = stretch.data
    begin = data.find(b"\n") + 1 if stretch.offset else 0
    end = len(data) if stretch.ends else data.rfind(b"\n") + 1
    if stretch.offset and not begin:
        begin = len(data)
    name = stretch.name if several else ""
    return JsonSample(data[begin : max(begin, end)], True, name, stretch.offset + begin)


def _infer_csv(stretches: Sequence[Stretch]) -> tuple[Csv, list[str]]:
    first = stretches[0]
    sample = decoded(first.data, first.ends)
    head = infer_csv(sample, EVERY_ROW)
    if head.counted is None or len(stretches) == 1:
        return head.format, head.doubts
    alone = (
        "is in UTF-16" if sample.encoding.startswith("utf-16") else "ends with a footer" if head.counted.footer else ""
    )
    if alone:
        return head.format, [*head.doubts, f"{first.name} {alone}: nothing else was looked at"]
    parts = [sample.data[: head.counted.used]]
    others: dict[str, int] = {}
    for stretch in stretches[1:]:
        part = _records_of(stretch, sample, head, head.counted)
        if part is None:
            others[stretch.name] = others.get(stretch.name, 0) + 1
        else:
            parts.append(part)
    end = head.counted.separators.record_end
    joined = b"".join(part if part.endswith(end) else part + end for part in parts if part)
    found = infer_csv(decoded(joined, True), EVERY_ROW)
    doubts = [
        f"{name}: in {count} {'places' if count > 1 else 'place'} no such records were found as {first.name} begins with"
        for name, count in others.items()
    ]
    return found.format, found.doubts + doubts


def _records_of(stretch: Stretch, sample: Sample, head: Inferred, counted: Counted) -> bytes | None:
    """The whole records of a stretch, without what stands before the table; None: it has none of this table."""
    data, end = stretch.data, counted.separators.record_end
    if stretch.offset == 0:
        data = decoded(data, False).data
        begin = _behind_preamble(data, sample, head, end)
        return None if begin is None else _best(data, [begin], stretch.ends, counted, flaws_most=len(data))
    if counted.width == 1:
        return b""  # every line looks like a record of one field
    starts: list[int] = []
    at = 0
    while len(starts) < STARTS_TRIED and (at := data.find(end, at) + len(end)) >= len(end):
        starts.append(at)
    return _best(data, starts, stretch.ends, counted, flaws_most=0)


def _behind_preamble(data: bytes, sample: Sample, head: Inferred, end: bytes) -> int | None:
    """Where the records of another file begin, which has to name the same columns."""
    table: Any = head.table
    before = sample.data[: table.begin]
    if not table.header_lines:
        lines = before.count(end)
        at = 0
        for _ in range(lines):
            at = data.find(end, at) + len(end)
        return at
    header = sample.data[table.first_line : table.begin]
    place = 0 if data.startswith(header) else data.find(end + header) + len(end)
    return place + len(header) if data[place : place + len(header)] == header else None


def _best(data: bytes, starts: Sequence[int], ends: bool, counted: Counted, *, flaws_most: int) -> bytes | None:
    """From the first of the starts behind which no more goes astray than may."""
    engine, header = counted.separators.engine, counted.table.header
    for start in starts:
        tally, _ = engine.tally_columns(data, ends, start, EVERY_ROW, counted.width, header)
        quotes = tally["quotes"]
        flaws = tally["records"] - tally["even"] + quotes["reopened"] + quotes["swallowed"] + quotes["unclosed"]
        if flaws <= flaws_most and (tally["records"] or ends):
            return data[start : tally["used"]]
    return None
