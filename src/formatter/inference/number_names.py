"""Numbers that name columns: years, places, steps. In: a record, the records it may stand above. Out: whether its numbers are
names, or may be. Refuses to know what else speaks for a header.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

YEARS = range(1400, 2101)
COUNTED_COLUMNS = (
    6  # so many numbers in even steps, or in the order of years, name columns, also where nothing else does
)
CERTAIN_YEARS = 3  # so many in order are no accident: a few of the values below may be years, too
FEW = 0.1  # a share of values or records
SORTED_VALUES = 8  # in order by no accident
SEVERAL = 3  # values, to speak for a column
NAMING_WORDS = re.compile(
    r"(?i)\b(id|key|code|name|names|first|last|title|type|kind|class|category|group|date|time|year|month|day|hour|start|end|"
    r"created|updated|timestamp|city|state|country|county|region|address|street|zip|postal|phone|email|e-mail|url|link|"
    r"age|sex|gender|price|cost|amount|total|sum|count|number|num|no|nr|qty|quantity|rate|percent|value|values|score|rank|"
    r"status|description|desc|comment|comments|note|notes|text|label|source|target|lat|lon|latitude|longitude|x|y|z|"
    r"width|height|weight|length|size|unit|units|currency|version|user|username|language|author|index|column|col\d*|field\d*|"
    r"nom|nombre|nome|fecha|datum|data|jahr|naam|stadt|ort|ville|ciudad|pays|land|wert|preis|prix|precio|anzahl|menge)\b"
)
_UNIT = re.compile(r"\([^()]*[^()\d\s][^()]*\)\s*\Z")  # (ha), (% of GDP)


class Cell(NamedTuple):
    text: str
    family: str
    quoted: bool


class Record(NamedTuple):
    begin: int
    end: int  # of its text
    after: int
    cells: list[Cell]

    @property
    def width(self) -> int:
        return len(self.cells)


def counts_up(row: Record, below: Sequence[Record]) -> bool:
    """Whether numbers of the record name columns: years in order, places from 0 or 1, other even steps, unlike those below."""
    places = [i for i, cell in enumerate(row.cells) if cell.family == "number"]
    numbers = [row.cells[i].text for i in places]
    if not numbers or len(numbers) == row.width or not all(text.isdecimal() for text in numbers):
        return False
    values = [int(text) for text in numbers]
    texts = [[other.cells[i].text for i in places] for other in below]
    if all(map(_is_year, numbers)):
        return _is_ordered(values) and _are_names(values, texts, row, below)
    if len(values) < 2 or not _is_even(values):
        return False
    worded = row.cells[0].family != "number"
    if len(values) >= COUNTED_COLUMNS and worded:
        return not any(map(_is_even, _whole_numbers(texts)))
    recurs = any(not set(numbers).isdisjoint(line) for line in texts)
    return (worded or len(values) >= COUNTED_COLUMNS) and values[:2] in ([0, 1], [1, 2]) and not recurs


def may_be_years(row: Record, below: Sequence[Record]) -> bool:
    """Whether a record of data has words and years in order alone, and most others have no years there."""
    places = [i for i, cell in enumerate(row.cells) if cell.family not in ("text", "void")]
    numbers = [row.cells[i].text for i in places]
    if not places or len(places) == row.width or not all(map(_is_year, numbers)):
        return False
    texts = [other.cells[i].text for other in below for i in places]
    return _is_ordered([int(text) for text in numbers]) and 2 * sum(map(_is_year, texts)) < len(texts)


def may_name_by_count(texts: list[str]) -> bool:
    """Whether nothing but numbers might name columns: years in order, places from 0, or many from 1."""
    if len(texts) < 2 or not is_index(texts):
        return False
    first = int(texts[0])
    return first == 0 or first in YEARS or (first == 1 and len(texts) >= COUNTED_COLUMNS)


def is_index(column: list[str]) -> bool:
    numbers = [int(text) for text in column if text.isdecimal()]
    return len(numbers) == len(column) and all(b - a == 1 for a, b in pairwise(numbers))


def _are_names(years: list[int], texts: list[list[str]], row: Record, below: Sequence[Record]) -> bool:
    """Whether years in order name columns: how many there are, what stands beside them and what below."""
    rows = _whole_numbers(texts)
    if len(years) >= COUNTED_COLUMNS and sum(map(_is_ordered, rows)) <= FEW * len(rows):
        return True
    if len(years) >= CERTAIN_YEARS and _is_corner(row, below):
        return True
    values = [text for line in texts for text in line if text]
    years_below = sum(map(_is_year, values))
    if years_below > FEW * len(values):
        return False
    if len(years) >= CERTAIN_YEARS or _has_words(row, below):
        return True
    if len(years) > 1:
        return years_below == 0
    return len(values) >= SEVERAL and not any(text.isdecimal() for text in values)


def _is_corner(row: Record, below: Sequence[Record]) -> bool:
    """Whether nothing stands where each other record has a name of its own."""
    names = [other.cells[0].text for other in below]
    return not row.cells[0].text and len(names) >= SEVERAL and all(names) and len(set(names)) == len(names)


def _has_words(row: Record, below: Sequence[Record]) -> bool:
    """Whether what stands beside numbers is words that name columns, or is not sorted as the texts below are."""
    if any(NAMING_WORDS.search(cell.text) or _UNIT.search(cell.text) for cell in row.cells):
        return True
    for i, cell in enumerate(row.cells):
        texts = [other.cells[i].text for other in below]
        are_sorted = len(texts) >= SORTED_VALUES and all(a < b for a, b in pairwise(texts))
        if cell.family == "text" and are_sorted and cell.text > texts[0]:
            return True
    return False


def _is_year(text: str) -> bool:
    return len(text) == 4 and text.isdecimal() and int(text) in YEARS


def _is_ordered(values: list[int]) -> bool:
    return all(a < b for a, b in pairwise(values)) or all(a > b for a, b in pairwise(values))


def _is_even(values: list[int]) -> bool:
    """Whether numbers go on by the same step, which is not 0."""
    steps = {b - a for a, b in pairwise(values)}
    return len(steps) == 1 and 0 not in steps


def _whole_numbers(rows: list[list[str]]) -> list[list[int]]:
    """Of records that have as many as could name columns, those there are."""
    found = [[int(text) for text in texts if text.isdecimal()] for texts in rows]
    return [numbers for numbers in found if len(numbers) >= COUNTED_COLUMNS]
