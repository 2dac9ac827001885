"""Which separators, quote, escape and comment mark explain a sample best. In: its first bytes. Out: readings with what speaks
for each, best first.

A reading scores by three things: the share of records that have the width of its table, the number of fields that gives,
and how much the fields look like whole ones. The counting is done by the core, one pass a reading.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from formatter import _core
from formatter.inference.kinds import FAMILY

HEAD_BYTES = 128 << 10  # of the sample in which readings compete
HEAD_RECORDS = 2_000
LEAST_RECORDS = 20  # in the head, or it is looked at whole
BEST_GRADE = 4

# What separates fields in most files, and how much rarer each is than the one before: it decides between equals only.
USUAL = {b",": 1.0, b"\t": 0.99, b";": 0.98, b"|": 0.97}
# What may separate fields where none of those does so well.
UNUSUAL = {
    b":": 0.8, b" ": 0.7, b"^": 0.9, b"~": 0.9, b"#": 0.6, b"*": 0.5, b"&": 0.5, b"!": 0.5, b"$": 0.5, b"=": 0.5,
    b"_": 0.3, b"/": 0.3, b"%": 0.3, b"\xc2\xa6": 0.8,
} | {bytes([code]): 1.0 for code in (*range(1, 9), 11, 12, *range(14, 32))}  # fmt: skip
COMMENT_MARKS = b"#%!;/"
COMMENTS_LOOKED_AT = 100
SINGLE_FIELD = 0.22  # what one field a record counts for, where two count a half
FIRST_RECORD_OTHERWISE = 0.45  # for a first record that is none of the table: most files begin with their table
TITLE_FIRST = 0.6  # and where it is a line of one field, as titles are
QUOTED_BONUS = 0.05  # for fields with quotes around them, where the same without quotes does as well
APOSTROPHE = 0.85  # for the rarer quote where the usual one quotes fields, too
GOOD_SCORE = 0.6  # with this, nothing unusual is tried
SEPARATOR_RUNS = 0.98  # for delimiters of several bytes, which stand equally often in most lines
SEPARATOR_RUN = re.compile(rb"[!#$%&*,;:<=>?@^`|~]{2,4}")


@dataclass(frozen=True)
class Separators:
    """One way to read the sample."""

    delimiter: bytes = b","
    record_end: bytes = b"\n"
    quote: bytes | None = b'"'
    escape: bytes | None = None
    comment: bytes | None = None
    sticky: bool = False
    newlines_in_quotes: bool = True

    @cached_property
    def engine(self) -> Any:
        return _core.Reading(
            self.delimiter, self.record_end, self.quote, self.escape, self.comment, self.sticky, self.newlines_in_quotes
        )

    def tally(self, data: bytes, whole: bool, records: int = HEAD_RECORDS) -> dict[str, Any]:
        found: dict[str, Any] = self.engine.tally_dialect(data, whole, records)
        return found


@dataclass(frozen=True)
class Reading:
    """Separators and how well they explain the head of a sample."""

    separators: Separators
    tally: dict[str, Any] = field(repr=False)
    score: float

    @property
    def width(self) -> int:
        return int(self.tally["width"])


class Head:
    """The first bytes of a sample, and the readings of it that were tried."""

    def __init__(self, data: bytes, whole: bool, record_end: bytes, given: Mapping[str, Any]) -> None:
        self.data = data
        self.whole = whole
        self.record_end = record_end
        self.given = given
        self._tried: dict[Separators, Reading] = {}

    @cached_property
    def comment_marks(self) -> list[bytes]:
        """What several lines begin with, or one with the usual mark."""
        found = []
        for code in COMMENT_MARKS:
            mark = bytes([code])
            lines = self.data.startswith(mark) + self.data.count(self.record_end + mark)
            if lines > (mark != b"#"):
                found.append(mark)
        return found

    def read(self, separators: Separators) -> Reading:
        separators = replace(separators, **self.given)
        reading = self._tried.get(separators)
        if reading is None:
            tally = separators.tally(self.data, self.whole)
            reading = self._tried[separators] = Reading(separators, tally, _score(separators, tally))
        return reading


def record_end_of(data: bytes) -> bytes:
    """Where records end, by how often each way of ending a line occurs."""
    returns = data.count(b"\r")
    if not returns:
        return b"\n"
    feeds = data.count(b"\n")
    both = data.count(b"\r\n")
    if feeds and data.count(b"\r\r\n") == feeds:
        return b"\r\r\n"
    return b"\r" if returns - both > feeds else b"\n"


def find_readings(data: bytes, whole: bool, given: Mapping[str, Any]) -> list[Reading]:
    """The best reading with each delimiter that the head of the sample suggests, the best first. `given`: what is known of the
    separators."""
    record_end = given.get("record_end") or record_end_of(data)
    head = Head(data[:HEAD_BYTES], whole and len(data) <= HEAD_BYTES, record_end, given)
    single = _single(head)
    if single.tally["records"] < LEAST_RECORDS and len(data) > HEAD_BYTES:
        head = Head(data, whole, record_end, given)
        single = _single(head)
    if "delimiter" in given:
        return [single]
    usual = [mark for mark in USUAL if mark in head.data]
    found = [single, *(_best_with(head, mark) for mark in usual)]
    best = max(found, key=lambda r: r.score)
    if best.score < GOOD_SCORE:
        found += [_best_with(head, mark) for mark in _unusual_marks(head, best)]
    found += [_best_with(head, run) for run in _separator_runs(head)]
    found = [single, *(reading for reading in found if reading.width > 1)]
    return sorted(found, key=lambda reading: reading.score, reverse=True)


def _single(head: Head) -> Reading:
    """Each record one field: a delimiter that occurs nowhere."""
    absent = next((mark for mark in (*USUAL, *UNUSUAL) if mark not in head.data), b"\x7f")
    return _best_with(head, head.given.get("delimiter", absent))


def _best_with(head: Head, delimiter: bytes) -> Reading:
    """The best reading with this delimiter: of the quotes, escapes and comment marks that its surroundings suggest."""
    base = Separators(delimiter, head.record_end, None)
    readings = [head.read(base)]
    for quote in (b'"', b"'"):
        if quote not in delimiter and _quotes_fields(head, quote, delimiter):
            readings.append(head.read(replace(base, quote=quote)))
            if readings[-1].tally["quotes"]["reopened"]:
                readings.append(head.read(replace(base, quote=quote, sticky=True)))
    usual = any(r.separators.quote == b'"' and r.tally["quotes"]["quoted"] for r in readings)
    best = max(readings, key=lambda r: r.score * (APOSTROPHE if usual and r.separators.quote == b"'" else 1))
    if b"\\" in head.data and delimiter != b"\\":
        escaped = head.read(replace(best.separators, escape=b"\\"))
        if escaped.tally["quotes"]["escaped"] and 2 * _flaws(escaped) <= _flaws(best) > 0:
            best = escaped
    return _commented(head, best)


def _commented(head: Head, plain: Reading) -> Reading:
    """The same with a comment mark, if lines that begin with one are unlike the others."""
    for mark in head.comment_marks:
        if mark != plain.separators.delimiter:
            commented = head.read(replace(plain.separators, comment=mark))
            if _are_comments(head, plain, commented, mark):
                return commented
    return plain


def _are_comments(head: Head, plain: Reading, commented: Reading, mark: bytes) -> bool:
    lines = commented.tally["comments"]
    if not lines or not commented.tally["records"]:
        return False
    if plain.width == commented.width == 1:
        return bool(lines > 1) or (head.record_end + head.data).count(head.record_end + mark + b" ") > 0
    marked = re.findall(rb"(?:\A|[\r\n])(" + re.escape(mark) + rb"[^\r\n]*)", head.data)[:COMMENTS_LOOKED_AT]
    like = sum(len(_cells(line, plain.separators)) == commented.width for line in marked)
    like -= head.data.startswith(mark) and _names_behind(marked[0], plain.separators, mark, commented.width)
    return 2 * like < len(marked) and commented.score >= plain.score


def _cells(line: bytes, separators: Separators) -> list[tuple[bytes, int, bool]]:
    found: list[Any] = separators.engine.records(line, True, 0, 1)
    return list(found[0][4]) if found else []


def _names_behind(line: bytes, separators: Separators, mark: bytes, width: int) -> bool:
    """Whether a line is a header behind a comment mark: words alone."""
    cells = _cells(line.lstrip(mark), separators)
    return len(cells) == width and all(text.strip() and FAMILY[kind] == "text" for text, kind, _ in cells)


def _flaws(reading: Reading) -> int:
    """Quotes astray, and records of other widths than the table's."""
    tally, quotes = reading.tally, reading.tally["quotes"]
    astray = quotes["reopened"] + quotes["inside_text"] + quotes["unclosed"]
    return int(astray + tally["records"] - tally["table_records"])


def _score(separators: Separators, tally: dict[str, Any]) -> float:
    records = tally["table_records"]
    if not records:
        return 0.0
    # A delimiter at the end of every record separates nothing there.
    width = tally["width"] - (tally["last_always_empty"] and records > 1)
    share = 0.5 * (records / tally["records"] + tally["table_bytes"] / max(tally["bytes"], 1))
    fields = 1 - 1 / width if width > 1 else SINGLE_FIELD
    grade = tally["grades"] / (BEST_GRADE * tally["cells"])
    quotes = tally["quotes"]
    astray = quotes["reopened"] + 3 * quotes["unclosed"]
    quoting = 1 - 0.5 * astray / (astray + quotes["quoted"] + 1) + (QUOTED_BONUS if quotes["quoted"] else 0)
    score = share * fields * grade**3 * quoting
    if width > 1:
        if (rarity := UNUSUAL.get(separators.delimiter)) is not None:
            score *= rarity * max(records - 2, 0) / records
        else:
            score *= USUAL.get(separators.delimiter, SEPARATOR_RUNS)
        if tally["table_first"]:
            titled = all(width == 1 for width in tally["widths"][: tally["table_first"]])
            score *= TITLE_FIRST if titled else FIRST_RECORD_OTHERWISE
    return float(score)


def _quotes_fields(head: Head, quote: bytes, delimiter: bytes) -> bool:
    """Whether some field opens with the quote, and some closes with it."""
    if quote not in head.data:
        return False
    before = rb"(?:\A|[\r\n]|" + re.escape(delimiter) + rb")[ \t]*" + quote
    behind = quote + rb"[ \t]*(?:[\r\n]|\Z|" + re.escape(delimiter) + rb")"
    return re.search(before, head.data) is not None and re.search(behind, head.data) is not None


def _unusual_marks(head: Head, best: Reading) -> Iterator[bytes]:
    """Those that stand between fields rather than inside values: 01:25:58 is one value."""
    typed, text = best.tally["inside_typed"], best.tally["inside_text"]
    for mark in UNUSUAL:
        if mark in head.data and not any(typed[code] > text[code] for code in mark):
            yield mark


def _separator_runs(head: Head) -> Iterator[bytes]:
    """Delimiters of several bytes: runs of marks that most lines have equally often."""
    lines = [line for line in head.data[:16384].split(head.record_end)[:20] if line.strip()]
    if not lines:
        return
    for run in dict.fromkeys(SEPARATOR_RUN.findall(lines[0])):
        counts = [line.count(run) for line in lines]
        if min(counts) > 0 and counts.count(counts[0]) * 10 >= 9 * len(counts):
            yield run
