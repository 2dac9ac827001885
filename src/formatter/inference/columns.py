"""The type of a column from what stands in it. In: how many values of each kind a column has. Out: the narrowest type that
holds them all, how they are spelled, and what is unsure.

Types are ranked: integers are numbers, a date is a timestamp at midnight. One value that belongs to no type makes a column
text, unless it is the same word each time, which then stands for no value.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.inference.kinds import DATES, NUMBERS, VALUE_KINDS, VOID, WHOLE

NULL_MARKERS = tuple(_core.null_markers())
SPELLINGS = (("true", "false"), ("True", "False"), ("TRUE", "FALSE"))
TEXT, WHOLE_NUMBERS, NUMBER = pa.string(), pa.int64(), pa.float64()
WORD_SHARE = 0.5  # of a column's values at most may be a word that stands for no value
WORD_TIMES, LONGEST_WORD = 3, 10  # how often it stands there at least, and how long it is at most
WORD_VALUES = 20  # typed values at least beside a word that no list of null markers has
EXAMPLE_LENGTH = 40
EXACT_DIGITS = 15  # of an integer that a float64 keeps, whatever they are
_ENDS = re.compile(rb"[\r\n]")
_MONTH_FIRST, _DAY_FIRST = {"%1": "%m", "%2": "%d"}, {"%1": "%d", "%2": "%m"}


@dataclass
class Found:
    """What a column is, and how its values are written."""

    type: pa.DataType
    nulls: frozenset[str] = frozenset()
    spelling: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()  # of dates and times that are not ISO 8601
    comma: bool = False  # before decimals
    point: bool = False
    spaced: bool = False  # only without the blanks around its values
    order: str = ""  # "month" or "day": which comes first in its dates
    why: str = ""
    doubts: list[str] = field(default_factory=list)


class Column:
    """The tally of one column, by the names of kinds."""

    def __init__(self, tally: dict[str, Any], sample: bytes, encoding: str, delimiter: bytes) -> None:
        self.tally = tally
        self.delimiter = delimiter
        self.sample = sample
        self.encoding = encoding
        self.counts = {VALUE_KINDS[kind]: found[0] for kind, found in tally["kinds"].items()}
        self.kinds = self.counts.keys() - VOID
        self.values = sum(count for kind, count in self.counts.items() if kind not in VOID)
        self.markers = [NULL_MARKERS[bit] for bit in range(len(NULL_MARKERS)) if tally["markers"] >> bit & 1]

    def words(self) -> set[str]:
        """Null markers and the few different texts that were kept."""
        return {*self.markers, *(word.decode(self.encoding, "replace") for word, _ in self.tally["words"])}

    def example(self, *kinds: str) -> str:
        """The first value of one of these kinds as it stands in the sample, with its record."""
        found = [
            self.tally["kinds"][code] for code, name in enumerate(VALUE_KINDS) if name in kinds and name in self.counts
        ]
        return self.at(min(place for _, place, _ in found))

    def at(self, place: int) -> str:
        text = self.sample[place : place + 60].lstrip(b" \t")
        for mark in (b'"', b"'"):
            if text.startswith(mark) and mark in text[1:]:
                return text[1:].split(mark)[0].decode(self.encoding, "replace")[:EXAMPLE_LENGTH]
        return _ENDS.split(text.split(self.delimiter)[0])[0].decode(self.encoding, "replace").strip()[:EXAMPLE_LENGTH]


def find_types(columns: list[Column]) -> tuple[list[Found], list[str]]:
    """The types of all columns, and what of several columns together is unsure: they share decimal marks and formats."""
    found = [find_type(column) for column in columns]
    doubts: list[str] = []
    if any(f.comma for f in found):
        for i, column in enumerate(columns):
            if found[i].type == TEXT and column.kinds <= NUMBERS and "comma_group" in column.kinds:
                found[i] = _number(column, set(column.kinds) | {"comma_real"})
                found[i].doubts.append(
                    f"values like {column.example('comma_group')!r} are taken as decimals, since other columns have some"
                )
        if any(f.point for f in found):
            doubts.append(
                "some columns have a decimal comma, others a decimal point: those with the comma taken as string"
            )
            found = [Found(TEXT, f.nulls, why=f.why) if f.comma else f for f in found]
    orders = {f.order for f, column in zip(found, columns, strict=True) if f.order and not _is_ambiguous(column)}
    if len(orders) == 1:
        order = orders.pop()
        for i, column in enumerate(columns):
            if found[i].order and _is_ambiguous(column):
                found[i] = _moment(column, set(column.kinds), order)
    elif orders:
        doubts.append(
            "some columns have the month first in their dates, others the day: those with the month taken as string"
        )
        found = [Found(TEXT, f.nulls, why=f.why) if f.order == "month" else f for f in found]
    return found, doubts


def find_type(column: Column) -> Found:
    """The type of the values; null markers and blanks do not count."""
    if not column.values:
        return Found(
            TEXT, frozenset(column.markers), why="it has no value", doubts=["no value in the sample, taken as string"]
        )
    words = frozenset(column.markers)
    doubts: list[str] = []
    kinds = set(column.kinds)
    if "text" in kinds and (word := _null_word(column)) is not None:
        kinds.discard("text")
        words |= {word}
        doubts.append(
            f"{word!r} is the only word among {column.values - column.counts['text']} values that are none: taken as null"
        )
    if "nan" in kinds and not kinds - {"nan"} <= NUMBERS:
        kinds.discard("nan")
        words |= _nans(column)
    found = _find(column, kinds)
    if found.type == TEXT and "text" in column.kinds:
        doubts = []
    found.nulls |= words
    found.doubts = doubts + found.doubts
    if found.type != TEXT and column.tally["spaced"]:
        found.spaced = True
        found.doubts.append(f"blanks around {column.tally['spaced']} of {column.values} values: trim=True")
    return found


def _find(column: Column, kinds: set[str]) -> Found:
    if not kinds:
        return Found(TEXT, why="it has no value", doubts=["no value in the sample, taken as string"])
    if "text" in kinds:
        return _text(column)
    if kinds <= NUMBERS:
        return _number(column, kinds)
    if kinds == {"boolean"}:
        spellings = [pair for bit, pair in enumerate(SPELLINGS) if column.tally["spellings"] >> bit & 1]
        spelling = tuple(word for pair in spellings for word in pair)
        return Found(pa.bool_(), spelling=spelling, why="true and false are its only values")
    if kinds <= DATES | {"time"}:
        return _moment(column, kinds)
    return _mixed(column, kinds)


def _null_word(column: Column) -> str | None:
    """The only text among values of other kinds, if there are enough of those."""
    words, texts = column.tally["words"], column.counts["text"]
    typed = column.values - texts
    words = [(word, count) for word, count in words if _core.look(word) == VALUE_KINDS.index("text")]
    if len(words) != 1 or words[0][1] != texts or column.tally["other_words"]:
        return None
    if typed < WORD_VALUES or not WORD_TIMES <= texts <= WORD_SHARE * column.values or len(words[0][0]) > LONGEST_WORD:
        return None
    return str(words[0][0].decode(column.encoding, "replace"))


def _nans(column: Column) -> frozenset[str]:
    words = (word.decode(column.encoding, "replace") for word, _ in column.tally["words"])
    return frozenset(word for word in words if word.lower() == "nan")


def _text(column: Column) -> Found:
    texts = column.counts["text"]
    others = column.values - texts
    found = Found(TEXT, why=f"{column.example('text')!r} is no number, time or word for true and false")
    if others > 9 * texts:
        kinds = ", ".join(f"{count} {kind}" for kind, count in column.counts.items() if kind not in VOID | {"text"})
        record = column.tally["kinds"][VALUE_KINDS.index("text")][2]
        found.doubts.append(
            f"{others} of {column.values} values are no text ({kinds}), but {column.example('text')!r} in record {record} is: "
            "taken as string"
        )
    return found


def _mixed(column: Column, kinds: set[str]) -> Found:
    shown = ", ".join(f"{column.counts[kind]} {kind} as {column.example(kind)!r}" for kind in sorted(kinds))
    return Found(TEXT, why=f"its values are of several kinds: {shown}", doubts=[f"{shown}: taken as string"])


# Numbers


def _number(column: Column, kinds: set[str]) -> Found:
    for kind, reason in (
        ("zero_led", "begin with zeros that a number would lose"),
        ("plus_led", "begin with a plus that a number would lose, as telephone numbers do"),
        ("long_digits", "have more than 38 digits"),
    ):
        if kind in kinds:
            reason = f"values like {column.example(kind)!r} {reason}, taken as string"
            return Found(TEXT, why=reason, doubts=[reason])
    for kind in ("point_grouped", "grouped"):
        if kind in kinds:
            reason = (
                f"{column.counts[kind]} values have groups of thousands, like {column.example(kind)!r}, taken as string"
            )
            return Found(TEXT, why=reason, doubts=[reason])
    if "comma_group" in kinds and "comma_real" not in kinds:
        # 123,000 and 1,500: thousands, or three decimals each.
        reason = f"values like {column.example('comma_group')!r} are thousands or decimals, taken as string"
        return Found(TEXT, why=reason, doubts=[reason])
    if "comma_real" in kinds:
        if kinds & {"real", "long_real"}:
            return _mixed(column, kinds)
        return Found(
            NUMBER,
            comma=True,
            why=f"numbers with a decimal comma, like {column.example('comma_real', 'comma_group')!r}",
        )
    if kinds & {"real", "long_real"} or kinds == {"nan"}:
        return _real(column, kinds)
    nans = _nans(column) if "nan" in kinds else frozenset()
    if "wide_integer" in kinds or ("natural" in kinds and column.tally["negative"]):
        doubt = f"integers like {column.example('wide_integer', 'natural')} are beyond 64 bits, taken as decimal"
        return Found(pa.decimal128(38, 0), nans, why="whole numbers beyond 64 bits", doubts=[doubt])
    if "natural" in kinds:
        return Found(pa.uint64(), nans, why="whole numbers beyond int64")
    return Found(WHOLE_NUMBERS, nans, why="whole numbers")


def _real(column: Column, kinds: set[str]) -> Found:
    found = Found(NUMBER, point=True, why=f"numbers with decimals, like {column.example('real', 'long_real', 'nan')!r}")
    if "long_real" in kinds:
        found.doubts.append(f"float64 rounds values like {column.example('long_real')!r}")
    if column.tally["digits"] > EXACT_DIGITS or kinds & (WHOLE - {"integer"}):
        found.doubts.append(
            f"float64 rounds the integers of {column.tally['digits']} and more digits among the decimals"
        )
    return found


# Dates and times


def _moment(column: Column, kinds: set[str], order: str = "") -> Found:
    found = Found(TEXT)
    has_date, has_time, has_zone, bare = bool(kinds & DATES - {"dated"}), "time" in kinds, "zoned" in kinds, False
    timed = bool(kinds & {"timestamp", "zoned"})
    for _, _, _, _, _, dated, clocked, zoned in column.tally["patterns"]:
        has_date |= dated
        has_time |= clocked and not dated
        timed |= dated and clocked
        has_zone |= zoned
        bare |= clocked and not zoned
    if (has_date and has_time) or column.tally["other_patterns"]:
        return _mixed(column, kinds)
    formats = _formats(column, found, order) if "dated" in kinds else ()
    if formats is None:
        return found
    found.formats = formats
    fine = column.tally["fineness"]
    unit = "us" if fine <= 6 else "ns"
    if fine > 9:
        return Found(
            TEXT, why="its times are finer than nanoseconds", doubts=["times finer than nanoseconds, taken as string"]
        )
    if has_time:
        found.type = pa.time32("s") if not fine else pa.time64(unit)
        found.why = f"times of day, like {column.example('time', 'dated')!r}"
    elif not timed:
        found.type = pa.date32()
        found.why = f"dates, like {column.example('date', 'dated')!r}"
    else:
        found.type = pa.timestamp(unit, "UTC") if has_zone else pa.timestamp(unit)
        found.why = f"dates with times, like {column.example('timestamp', 'zoned', 'dated')!r}"
        zoned = column.counts.get("zoned", 0)
        if has_zone and (zoned < column.values - column.counts.get("date", 0) if zoned else bare):
            found.doubts.append(f"{zoned} of {column.values} times have an offset, the others are taken as UTC")
    if formats:
        found.why += f", by {' and '.join(map(repr, formats))}"
    return found


def _is_ambiguous(column: Column) -> bool:
    return not any(pattern[2] or pattern[3] for pattern in column.tally["patterns"])


def _formats(column: Column, found: Found, order: str) -> tuple[str, ...] | None:
    """The formats of a column's dates, with what is month and what is day decided; None: its values disagree.
    `order`: what other columns say comes first."""
    patterns = column.tally["patterns"]
    open_ones = [pattern for pattern in patterns if b"%1" in pattern[0]]
    month_first = sum(pattern[2] for pattern in open_ones)
    day_first = sum(pattern[3] for pattern in open_ones)
    if month_first and day_first:
        doubt = f"{month_first} dates have the month first, {day_first} the day: taken as string"
        found.why, found.doubts = doubt, [doubt]
        return None
    if open_ones:
        if month_first or day_first:
            order = "month" if month_first else "day"
        elif not order:
            order = "month" if all(b"/" in pattern[0] for pattern in open_ones) else "day"
            example = column.at(open_ones[0][4])
            found.doubts.append(
                f"dates like {example!r} may have the month or the day first: taken with the {order} first"
            )
        found.order = order
    places = _MONTH_FIRST if order == "month" else _DAY_FIRST
    return tuple(dict.fromkeys(_substituted(pattern[0].decode(), places) for pattern in patterns))


def _substituted(pattern: str, order: dict[str, str]) -> str:
    for mark, letter in order.items():
        pattern = pattern.replace(mark, letter)
    return pattern
