"""One pass over a sample's table, and what quotes and records of other widths make of it. In: a sample, a reading, where the table
stands. Out: what stands in its columns, the quote rule, what to do with short and long records, where the table ends.

Clean samples take one pass. Where quotes go astray or widths differ, the few readings that could mend it are tried, and
that with the most records of the table's width wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from formatter.errors import shown as _shown
from formatter.inference.given import Given
from formatter.inference.kinds import FAMILY
from formatter.inference.readings import Reading, Separators
from formatter.inference.sample import Sample
from formatter.inference.table import Table

TAIL_RECORDS = 12  # looked at to tell notes and other tables from records of this one
FEW_FIELDS = 3  # a record of a third of the table's fields behind it is a note


@dataclass
class Counted:
    separators: Separators
    table: Table
    tally: dict[str, Any]
    columns: list[dict[str, Any]]
    whole: bool  # all records were counted
    quote_rule: str = "strict"
    why_quotes: str = ""
    ragged: Any = "error"
    why_ragged: str = ""
    footer: int = 0
    why_footer: str = ""
    comments: int = 0
    doubts: list[str] = field(default_factory=list)

    @property
    def width(self) -> int:
        return self.table.width

    @property
    def used(self) -> int:
        return int(self.tally["used"])


def count_table(sample: Sample, readings: list[Reading], table: Table, rows: int, given: Given) -> Counted:
    best = readings[0]
    separators = best.separators
    if separators.quote is None and b'"' not in sample.data[: best.tally["used"]]:
        separators = replace(separators, **{"quote": b'"', **given.separators})  # behind the head there may be some
    counted = _count(sample, separators, table, rows)
    if _flaws(counted):
        mendings = {replace(other, **given.separators): None for other in _mendings(sample, counted)}
        others = [_count(sample, other, table, rows) for other in mendings if other != separators]
        counted = min(
            [counted, *others], key=lambda c: (_flaws(c), not c.separators.sticky)
        )  # sticky loses no quote of a text
    counted.comments = counted.tally["comments"] + _comments_above(sample, separators, table)
    _decide_quotes(counted, sample, given)
    _find_tail(counted, sample)
    _decide_ragged(counted)
    if counted.comments and separators.comment is not None:
        counted.doubts.append(_comment_doubt(sample, separators, counted.comments))
    if counted.tally["repeats"]:
        counted.doubts.append(
            f"{counted.tally['repeats']} more lines repeat the header: repeated_headers=True drops them"
        )
    return counted


def _count(sample: Sample, separators: Separators, table: Table, rows: int) -> Counted:
    tally, columns = separators.engine.tally_columns(
        sample.data, sample.whole, table.begin, rows, table.width, table.header
    )
    _add_header_quotes(tally["quotes"], sample, separators, table)
    whole = sample.whole and tally["used"] == len(sample.data)
    return Counted(separators, table, tally, columns, whole)


def _add_header_quotes(quotes: dict[str, int], sample: Sample, separators: Separators, table: Table) -> None:
    header = sample.data[table.first_line : table.begin]
    if separators.quote is None or separators.quote not in header:
        return
    found = separators.tally(header, True)["quotes"]
    stray = found.pop("first_stray")
    for name, count in found.items():
        quotes[name] += count
    if stray >= 0:
        quotes["first_stray"] = table.first_line + stray


def _flaws(counted: Counted) -> int:
    """Records of other widths, and quotes that are none."""
    tally, quotes = counted.tally, counted.tally["quotes"]
    uneven = tally["records"] - tally["even"]
    astray = quotes["reopened"] + 4 * quotes["swallowed"] + quotes["unclosed"]  # one swallows a record at least
    return int(2 * uneven + (astray if counted.separators.quote else 0))


def _mendings(sample: Sample, counted: Counted) -> Iterator[Separators]:
    """Readings under which fewer records may go astray."""
    separators, quotes = counted.separators, counted.tally["quotes"]
    if separators.quote is not None:
        if quotes["reopened"]:
            yield replace(separators, sticky=True)
        if quotes["multiline"] or quotes["swallowed"] or quotes["unclosed"]:
            yield replace(separators, newlines_in_quotes=False)
        if separators.escape is None and b"\\" + separators.quote in sample.data:
            yield replace(separators, escape=b"\\")
        if not quotes["quoted"]:
            yield replace(separators, quote=None)
    if separators.record_end == b"\n" and (pairs := sample.data.count(b"\r\n")) and pairs < sample.data.count(b"\n"):
        yield replace(separators, record_end=b"\r\n")


def _decide_quotes(counted: Counted, sample: Sample, given: Given) -> None:
    separators, quotes = counted.separators, counted.tally["quotes"]
    astray = quotes["reopened"] + quotes["inside_text"] + quotes["unclosed"]
    if separators.quote is None and "quote" in given.options:
        return
    if not astray and separators.quote is not None:
        return
    place = quotes["first_stray"] if astray else sample.data.find(b'"')
    around = _shown(sample.data[max(0, place - 20) : place + 20].decode(sample.charset, "replace"), 60)
    if "quote" not in given.options and (separators.quote is None or not (quotes["quoted"] or quotes["unclosed"])):
        counted.separators = replace(separators, quote=None)
        counted.why_quotes = f"no field stands in quotes, though text has some (byte {place}, in {around})"
        counted.doubts.append(f"{counted.why_quotes}: quote=None")
        return
    if quotes["unclosed"] and not quotes["multiline"]:
        counted.separators = replace(separators, newlines_in_quotes=False)  # then it costs no record
    counted.quote_rule = given.options.get("quotes", "sticky" if separators.sticky else "lenient")
    counted.why_quotes = f"quotes stand where none belong in {astray} fields, the first at byte {place} in {around}"
    counted.doubts.append(f"{counted.why_quotes}: quotes={counted.quote_rule!r}")


def _comments_above(sample: Sample, separators: Separators, table: Table) -> int:
    if separators.comment is None:
        return 0
    above = separators.record_end + sample.data[: table.begin]
    return above.count(separators.record_end + separators.comment)


def _comment_doubt(sample: Sample, separators: Separators, comments: int) -> str:
    mark = separators.comment or b""
    place = (
        0
        if sample.data.startswith(mark)
        else sample.data.find(separators.record_end + mark) + len(separators.record_end)
    )
    line = sample.data[place : place + 80].splitlines()[0].decode(sample.charset, "replace")
    return f"{comments} records begin with {mark.decode()!r}, like {_shown(line, 60)}: taken as comments"


def _find_tail(counted: Counted, sample: Sample) -> None:
    """Records behind the table that are none of it: notes, another table."""
    tally = counted.tally
    behind = tally["records"] - tally["tail_first"]
    if not behind or not tally["tail_first"]:
        return
    tail = counted.separators.engine.records(sample.data, sample.whole, tally["tail_begin"], TAIL_RECORDS)
    fields = [[FAMILY[kind] for _, kind, _ in cells] for _, _, _, _, cells in tail if cells]
    if not fields or not _is_foreign(fields[0], counted):
        return
    first = next(cells for _, _, _, _, cells in tail if cells)
    shown = _shown([text.decode(sample.charset, "replace") for text, _, _ in first])
    if not counted.whole:
        counted.doubts.append(f"behind record {tally['tail_first']} other records follow, the first {shown}")
        return
    counted.footer = behind
    counted.why_footer = f"{behind} records behind the table are none of it, the first {shown}"
    counted.doubts.append(f"{counted.why_footer}: skip_footer={behind}")
    again = _count(sample, counted.separators, counted.table, tally["tail_first"])
    counted.tally, counted.columns = again.tally | {"used": tally["used"], "repeats": tally["repeats"]}, again.columns


def _is_foreign(families: list[str], counted: Counted) -> bool:
    """Whether a record of another width holds what the table's columns do not."""
    if FEW_FIELDS * len(families) <= counted.width:
        return True
    hits = misses = 0
    for family, column in zip(families, counted.columns, strict=False):
        counts = {FAMILY[kind]: 0 for kind in column["kinds"]}
        for kind, found in column["kinds"].items():
            counts[FAMILY[kind]] += found[0]
        counts.pop("void", None)
        usual = max(counts, key=lambda name: counts[name], default="void")
        if usual not in ("text", "void") and family != "void":
            hits += family == usual
            misses += family == "text"
    return misses > hits


def _decide_ragged(counted: Counted) -> None:
    tally = counted.tally
    others = tally["others"]
    short = sum(records for width, records, _ in others if width < counted.width)
    long = sum(records for width, records, _ in others if width > counted.width)
    if not short and not long:
        return
    counted.ragged = "fit" if short and long else "pad" if short else "truncate"
    first, found = min((first, width) for width, _, first in others)
    counted.why_ragged = (
        f"{short} of {tally['records']} records have less than {counted.width} fields, {long} have more, the first is record "
        f"{first} with {found}"
    )
    counted.doubts.append(f"{counted.why_ragged}: ragged={counted.ragged!r}")
