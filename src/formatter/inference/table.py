"""Where a table stands in a sample, and what names its columns. In: a sample under one reading. Out: the names, the first record
of data, what stands before it; and why.

A header is told by what it is not: values of the kinds that the columns below have. Where all columns are text there is
only the look of the words, which is a doubt.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from formatter import _core
from formatter.errors import shorten, shown
from formatter.inference.kinds import FAMILY
from formatter.inference.number_names import (
    NAMING_WORDS,
    SEVERAL,
    Cell,
    Record,
    counts_up,
    is_index,
    may_be_years,
    may_name_by_count,
)
from formatter.inference.readings import USUAL, Reading, Separators

LEAD_RECORDS = 64
LEAD_CELLS = 4_000
LEAST_LEAD_RECORDS = 12
TYPED_SHARE = 0.75  # of a column's values, for the column to speak of a type
HEADER_LINES_MOST = 5
SPARSE_HEADER = 4  # a record that names less than one in so many of the columns with values is no header
LONGEST_NAME = 60
SURE = 2.0  # of a header where all columns are text: what needs no warning
OBJECTION = 0.75  # and what does, on the other side, however much stands against it
_LETTER = re.compile(r"[^\W\d_]")
_IDENTIFIER = re.compile(r"[^\W\d][\w .\-/()%#$&:+*'?\[\]]*\Z")


@dataclass
class Look:
    """What speaks for a record as names above columns of text, and against it."""

    names: float = 0.5
    values: float = 0.0
    reasons: list[str] = field(default_factory=list)

    def says(self, weight: float, reason: str | None = None) -> None:
        self.names += max(weight, 0)
        self.values += max(-weight, 0)
        if reason:
            self.reasons.append(reason)

    @property
    def score(self) -> float:
        """More than 0 for a header."""
        return self.names - self.values

    @property
    def is_sure(self) -> bool:
        return abs(self.score) >= SURE and min(self.names, self.values) < OBJECTION


@dataclass
class Table:
    """Names and place of a sample's first table."""

    width: int
    names: list[str]
    begin: int  # byte of the first record of data
    first_line: int  # byte of what the format has to read first: the header, or the first record of data
    header_lines: int = 0  # that the format itself reads; names that it cannot find there are told by position
    header: bytes = b""  # the only header line as it stands
    spoken: bool = False  # whether the names stand in the sample
    why: str = ""
    doubts: list[str] = field(default_factory=list)

    def by_position(self) -> None:
        """Names as the format cannot find them in the header, which it passes over."""
        self.names = [name.replace("\0", "") for name in self.names]
        self.header_lines, self.header, self.first_line = 0, b"", self.begin


def find_table(sample: bytes, whole: bool, reading: Reading, encoding: str) -> Table:
    separators = reading.separators
    records = _lead(sample, whole, separators, reading, encoding)
    width = _width(records, reading)
    rows = [record for record in records if record.cells]
    if not rows:
        return Table(0, [], len(sample), len(sample))
    return _Search(sample, separators, width, rows, encoding).table()


def _lead(sample: bytes, whole: bool, separators: Separators, reading: Reading, encoding: str) -> list[Record]:
    """The records up to the table's first ones."""
    count = max(LEAST_LEAD_RECORDS, min(LEAD_RECORDS, LEAD_CELLS // max(reading.width, 1)))
    count += reading.tally["table_first"] + reading.tally["blank"]
    found = separators.engine.records(sample, whole, 0, count)
    return [
        Record(
            begin,
            end,
            after,
            [Cell(text.decode(encoding, "replace"), FAMILY[kind], quoted) for text, kind, quoted in cells],
        )
        for begin, end, after, _, cells in found
    ]


def _width(records: list[Record], reading: Reading) -> int:
    """That of most records, or of a longer header whose last columns the records leave out or have only now and then."""
    usual = int(reading.width)
    if reading.tally["last_always_empty"] and any(record.width == usual - 1 > 0 for record in records[:1]):
        return usual - 1  # a delimiter ends each record of data, and not the header
    widths = reading.tally["widths"]
    if usual > 2 and records[0].width == usual and not records[0].cells[-1].text and usual - 1 in widths[:2]:
        return usual - 1 if 2 * widths.count(usual - 1) >= len(widths) else usual  # a delimiter ends the header alone
    first = next((record for record in records if record.width >= usual), None)
    if first is None or first.width == usual:
        return usual
    longer = sum(width > first.width for width in widths)
    names = [cell.text.strip() for cell in first.cells]
    named = all(names) and len(set(names)) == len(names) and all(cell.family == "text" for cell in first.cells)
    return first.width if named and longer * 100 <= len(widths) else usual


class _Search:
    def __init__(self, sample: bytes, separators: Separators, width: int, rows: list[Record], encoding: str) -> None:
        self.sample = sample
        self.separators = separators
        self.width = width
        self.rows = rows
        self.encoding = encoding
        self.even = [row for row in rows if row.width == width] or rows[:1]
        later = self.even[len(self.even) // 2 :]
        self.families = [self._family([row.cells[i] for row in later]) for i in range(self.even[0].width)]
        self.usually_filled = sorted(map(_filled, later))[3 * len(later) // 4]
        self.typed = [i for i, family in enumerate(self.families) if family not in ("text", "void")]
        self.bare = {i for i in self.typed if self._is_bare([row.cells[i] for row in self.even[1:]])}
        self.doubts: list[str] = []
        self.headers: set[int] = (
            set()
        )  # first bytes of records that have values as those below, but were taken as headers

    @staticmethod
    def _family(cells: list[Cell]) -> str:
        present = [cell.family for cell in cells if cell.family != "void"]
        if not present:
            return "void"
        family, count = Counter(present).most_common(1)[0]
        return family if count >= TYPED_SHARE * len(present) else "text"

    @staticmethod
    def _is_bare(cells: list[Cell]) -> bool:
        present = [cell.quoted for cell in cells if cell.family != "void"]
        return len(present) >= SEVERAL and not any(present)

    def table(self) -> Table:
        if not self.typed:
            return self._text_table()
        first = self._first_data()
        top, begin = self._lines(first)
        if top == begin:
            return self._unnamed(first, self._why_data(self.rows[first]))
        return self._named(top, begin, self._why_header(begin, first))

    # Where data begins

    def _first_data(self) -> int:
        """The place among `rows` of the first record of data."""
        places = [i for i, row in enumerate(self.rows) if row.width == self.width]
        for i in places[: HEADER_LINES_MOST + 1 + len(places) // 4]:
            hits, misses = self._fits(self.rows[i])
            if hits or misses:
                if self._is_data(i, hits, misses):
                    return i
            elif i and self._may_name(self.rows[i - 1]) and self._names_typed(self.rows[i - 1]):
                return i  # right below the header even a record without a number is data
        return places[0] if places else 0

    def _fits(self, row: Record) -> tuple[int, list[int]]:
        """In how many columns of a type the record has a value of it, and in which it has another: text, if it alone is quoted."""
        present = [i for i in self.typed if row.cells[i].family != "void"]
        misses = [
            i for i in present if row.cells[i].family != self.families[i] or (row.cells[i].quoted and i in self.bare)
        ]
        return len(present) - len(misses), misses

    def _is_data(self, place: int, hits: int, misses: list[int]) -> bool:
        row = self.rows[place]
        if hits and counts_up(row, self._others(row)):
            count = sum(cell.family == "number" for cell in row.cells)
            like = "numbers in {} count up" if count > 1 else "number in {} is a year"
            self.doubts.append(f"the {like.format(_shown(row))}, unlike those below: taken as a header")
            return False
        if not hits or not misses:
            return hits > len(misses)
        named = any(self._may_name(above) and self._names_typed(above) for above in self.rows[:place])
        worded = [i for i in misses if _LETTER.search(row.cells[i].text)]
        counted = any(is_index([other.cells[i].text for other in self._others(row)]) for i in worded)
        is_data = named or (hits > len(misses) and not counted)
        self.doubts.append(
            f"{_shown(row)} has values as those below in {hits} columns, but {row.cells[misses[0]].text!r} is no "
            f"{self.families[misses[0]]}: taken as {'data' if is_data else 'a header'}"
        )
        if not is_data:
            self.headers.add(row.begin)
        return is_data

    def _others(self, row: Record) -> list[Record]:
        return [other for other in self.even if other is not row]

    def _names_typed(self, row: Record) -> bool:
        """Whether a record has words in most columns of a type, or words alone that are unlike the values of the others."""
        hits, misses = self._fits(row)
        if hits or misses:
            return len(misses) > hits or row.begin in self.headers or counts_up(row, self._others(row))
        return self._look(row).score > 0

    def _is_sparse(self, row: Record) -> bool:
        """A title padded with delimiters, or delimiters alone."""
        filled = _filled(row)
        return row.width == self.width and (
            filled == 0 or (self.usually_filled > 2 and 3 * filled <= self.usually_filled)
        )

    # What names the columns

    def _look(self, row: Record) -> Look:
        """How much a record looks like names above columns of text."""
        texts = [cell.text.strip() for cell in row.cells]
        below = [
            other for other in self.even if other is not row and [cell.text.strip() for cell in other.cells] != texts
        ]
        look = Look()
        if len(below) + 1 < len(self.even):
            look.says(2, "it recurs as a whole")
        filled = [text for text in texts if text]
        used = [
            i for i, text in enumerate(texts) if text or any(i < other.width and other.cells[i].text for other in below)
        ]
        if len(texts) > 1 and len(filled) < len(used):
            look.says(-2 * (1 - len(filled) / len(used)), f"{len(used) - len(filled)} of its fields are empty")
        if len(set(filled)) < len(filled):
            look.says(-1, "it repeats a word")
        if all(_IDENTIFIER.match(text) and len(text) <= LONGEST_NAME for text in filled):
            look.says(0.5)
        if any(len(text) > LONGEST_NAME for text in filled):
            look.says(-1, "it has a long text")
        known = sum(_IDENTIFIER.match(text) is not None and NAMING_WORDS.search(text) is not None for text in filled)
        if known:
            look.says(min(2.0, 2.0 * known / len(filled) + 0.3), f"{known} of its words often name columns")
        if counts_up(row, self._others(row)):
            look.says(2, "its numbers count up")
        elif any(cell.family not in ("text", "void") for cell in row.cells):
            look.says(-1, "it has values that are no words")
        bare = sum(not cell.quoted for cell in row.cells if cell.text)
        if bare and below and all(cell.quoted for other in below for cell in other.cells if cell.family == "text"):
            look.says(1.5, "it has no quotes, those below have")
        recurs, unlike = 0, 0.0
        repeats = set()  # records that have a value of this one
        for i, cell in enumerate(row.cells):
            values = [other.cells[i].text for other in below if i < other.width and other.cells[i].text]
            if cell.text and cell.text in values:
                recurs += 1
                repeats |= {j for j, other in enumerate(below) if i < other.width and other.cells[i].text == cell.text}
            elif values and cell.text:
                unlike += _unlikeness(cell.text, values)
                if len(values) >= 3 and _is_shaped(cell.text, values):
                    look.says(-1.5, f"{cell.text!r} is written as the values below it")
        if recurs > 1 and len(repeats) == 1 < len(below) - 1:
            recurs = 0  # the header of another table, most likely
        if recurs:
            look.says(-2 * recurs, f"{recurs} of its values recur below")
        elif unlike:
            look.says(min(unlike, 3.0), "its words are unlike the values below")
        return look

    def _lines(self, first: int) -> tuple[int, int]:
        """The places of the header's first line and of the first record of data; the same where nothing names the columns.

        Records between the two that are no names and no titles are data that went astray.
        """
        last = first - 1
        while last >= 0 and not (self._may_name(self.rows[last]) and self._names_typed(self.rows[last])):
            last -= 1
        if last < 0:
            return first, first
        if not all(self._is_sparse(row) for row in self.rows[last + 1 : first]):
            first = last + 1
        if not any(self._fits(self.rows[last])) and self._look(self.rows[last]).score < SURE:
            self.doubts.append(f"{_shown(self.rows[last])} has no word above a column of a type: taken as a header")
        top = last
        while top and first - top < HEADER_LINES_MOST and self._may_name(self.rows[top - 1], above=True):
            top -= 1
        return top, first

    def _why_header(self, begin: int, first: int) -> str:
        header, row = self.rows[begin - 1], self.rows[first]
        i = next((i for i in self.typed if header.cells[i].family == "text"), None)
        if i is None:
            return f"{_shown(header)} stands above the first record of data"
        return f"{header.cells[i].text!r} is no {self.families[i]} as {row.cells[i].text!r} below it"

    def _why_data(self, row: Record) -> str:
        if len(self.even) == 1:
            self.doubts.append(f"one record only, {_shown(row)}: taken as data, not as a header")
        elif may_be_years(row, self._others(row)):
            self.doubts.append(
                f"the numbers in {_shown(row)} may be years that name columns: taken as data, not as a header"
            )
        elif may_name_by_count([cell.text for cell in row.cells]):
            self.doubts.append(f"the numbers in {_shown(row)} count up: taken as data, not as a header")
        i = next((i for i in self.typed if row.cells[i].family == self.families[i]), 0)
        return f"{row.cells[i].text!r} in the first record is a {self.families[i]} as the values below it"

    def _text_table(self) -> Table:
        """Of text alone: the header can only be told by its look."""
        place = next((i for i, row in enumerate(self.rows) if self._may_open(row)), self.rows.index(self.even[0]))
        row = self.rows[place]
        look = self._look(row)
        score = look.score
        told = f"the first record {_shown(row)}" + (f": {', '.join(look.reasons)}" if look.reasons else "")
        if len(self.even) == 1 and (score <= 0 or any(cell.family != "text" for cell in row.cells)):
            self.doubts.append(f"one record only, {_shown(row)}: taken as data, not as a header")
            return self._unnamed(place, "it is the only record")
        if not look.is_sure or len(self.even) == 1:
            taken = "a header" if score > 0 else "data, not as a header"
            self.doubts.append(f"all columns are text; {told}; taken as {taken}")
        return self._named(place, place + 1, told) if score > 0 else self._unnamed(place, told)

    def _may_open(self, row: Record) -> bool:
        """Whether a table of text may begin with the record."""
        worded = any(cell.text.count(" ") > 1 for cell in row.cells)
        return row.width == self.width and not self._is_sparse(row) and not (worded and self._is_prose(row))

    def _may_name(self, row: Record, above: bool = False) -> bool:
        """Whether a record names columns. `above`: another one below it does."""
        if row.width != self.width:
            return False
        filled = [cell for cell in row.cells if cell.family != "void"]
        if len(filled) < 2 and row.width > 1 and (above or self.width > 2):
            return False
        if above and (2 * len(filled) < row.width or self.width < 3 or self._is_prose(row)):
            return False
        if SPARSE_HEADER * len(filled) < min(self.usually_filled, row.width):
            return False
        return not above or all(cell.family == "text" for cell in filled) or counts_up(row, self._others(row))

    def _is_prose(self, row: Record) -> bool:
        """Whether blanks follow the delimiters as in a sentence, and in no other record; within quotes they may."""
        spaced = [other for other in self.even if self._is_spaced(other)]
        return self._is_spaced(row) and not any(other is not row for other in spaced)

    def _is_spaced(self, row: Record) -> bool:
        blank = self.separators.delimiter + b" "
        return blank in self.sample[row.begin : row.end] and not any(cell.quoted for cell in row.cells)

    # Tables

    def _unnamed(self, first: int, why: str) -> Table:
        row = self.rows[first]
        names, told = self._names_elsewhere(first)
        table = Table(
            self.width, names or [f"f{i}" for i in range(self.width)], row.begin, row.begin, spoken=bool(names)
        )
        table.why = told or why
        table.doubts = self.doubts + ([told] if names else [])
        return table

    def _named(self, top: int, first: int, why: str) -> Table:
        lines = self.rows[top:first]
        names = [_joined([row.cells[i].text for row in lines]) for i in range(self.width)]
        begin = lines[-1].after
        table = Table(self.width, names, begin, lines[0].begin, len(lines), spoken=True, why=why, doubts=self.doubts)
        if len(lines) == 1:
            table.header = self.sample[lines[0].begin : lines[0].end]
        else:
            table.doubts.append(f"{len(lines)} lines above the data name the columns, like {names[0]!r}: joined")
        return table

    def _names_elsewhere(self, first: int) -> tuple[list[str], str]:
        """Names that stand before the data in another form: too few or too many, behind a comment mark, with another delimiter."""
        above = self.rows[first - 1] if first else None
        begin = above.end if above is not None else 0
        between = self.sample[begin : self.rows[first].begin]
        lines = [line for line in re.split(rb"[\r\n]+", between) if line.strip()]
        if not lines and above is not None:
            lines = [self.sample[above.begin : above.end]]
        if lines:
            mark = self.separators.comment or b"#"
            line = lines[-1].lstrip(mark).lstrip(b" ")
            readings = [(self.separators.delimiter, None), *((mark, self.separators.quote) for mark in (*USUAL, b" "))]
            for delimiter, quote in readings:
                names = self._split(line, delimiter, quote)
                words = all(_family_of(name) == "text" for name in names)
                if len(names) == self.width > 1 and words and len(set(names)) == len(names):
                    line_shown = shorten(lines[-1].decode(self.encoding, "replace"), 60)
                    return names, f"the columns are named by {line_shown}"
        if above is not None and above.width != self.width and above.width >= max(2, self.width // 2):
            texts = [cell.text.strip() for cell in above.cells]
            if all(cell.family in ("text", "void") for cell in above.cells):
                told = f"the header has {above.width} names for {self.width} columns: {_shown(above)}"
                return self._fitted(texts, self.rows[first:]), told
        return [], ""

    def _split(self, line: bytes, delimiter: bytes, quote: bytes | None) -> list[str]:
        found = Separators(delimiter, b"\n", quote).engine.records(line, True, 0, 1)
        names = [text.decode(self.encoding, "replace").strip() for text, _, _ in found[0][4]] if found else []
        return [name[1:-1] if len(name) > 2 and name[0] == name[-1] in "\"'" else name for name in names]

    def _fitted(self, names: list[str], rows: list[Record]) -> list[str]:
        """Names for all columns: that of the first is missing where it tells the rows apart, else those of the last."""
        if len(names) > self.width:
            spare = len(names) - self.width
            if names.count("") >= spare:
                for _ in range(spare):
                    names.remove("")
            return names[: self.width]
        missing = self.width - len(names)
        column = [row.cells[0].text for row in rows if row.width == self.width]
        named = missing == 1 and len(set(column)) == len(column) > 1
        return ["", *names] if named else names + [f"f{i}" for i in range(len(names), self.width)]


def _filled(row: Record) -> int:
    return sum(not cell.text.isspace() and cell.text != "" for cell in row.cells)


def _family_of(text: str) -> str:
    return FAMILY[_core.look(text.encode())]


def _joined(parts: list[str]) -> str:
    return " ".join(part.strip() if len(parts) > 1 else part for part in parts if part.strip() or len(parts) == 1)


def _shown(row: Record) -> str:
    return shown([cell.text for cell in row.cells])


def _is_shaped(name: str, values: list[str]) -> bool:
    """Whether a word with marks or digits in it has them where most values have them: A-1 as B-22."""
    shape = _shape(name)
    return shape != "a" and sum(_shape(value) == shape for value in values) >= 0.8 * len(values)


def _shape(text: str) -> str:
    return re.sub(r"\d+", "0", re.sub(r"[^\W\d_]+", "a", text))


def _unlikeness(name: str, values: list[str]) -> float:
    """How little a word is like the values of a column."""
    score = 0.0
    count = len(values)
    if sum(any(c.isdigit() for c in value) for value in values) >= 0.8 * count and not any(c.isdigit() for c in name):
        score += 1.0
    lengths = {len(value) for value in values}
    if len(lengths) == 1 and count >= 3 and len(name) not in lengths:
        score += 0.7
    if count >= 10 and len(set(values)) <= count // 2:
        score += 0.7
    marks = [c for c in "@/:.-_ " if sum(c in value for value in values) >= 0.8 * count]
    if marks and not any(c in name for c in marks):
        score += 0.5
    return score
