"""Dates by pattern, durations as ISO 8601. In: texts. Out: times, null where there is none."""

from __future__ import annotations

import datetime
import re
from fractions import Fraction

import pyarrow as pa

from formatter.errors import OptionError
from formatter.parsers.per_value import PerValue, per_value

DURATION = re.compile(
    r"([+-]?)P(?=[\dT])(?:(\d+)W)?(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:[.,]\d{1,6})?)S)?)?", re.ASCII
)
SECONDS = (7 * 86400, 86400, 3600, 60, 1)


def duration(text: str) -> int:
    """Microseconds. Years and months have no one length: they are none."""
    found = DURATION.fullmatch(text)
    if found is None:
        raise ValueError(text)
    parts = zip(SECONDS, found.groups()[1:], strict=True)
    total = sum(seconds * Fraction((number or "0").replace(",", ".")) for seconds, number in parts) * 1_000_000
    if total >= 1 << 63:
        raise ValueError(text)
    return int(-total if found[1] == "-" else total)


def _date_by(pattern: str) -> tuple[pa.DataType, PerValue]:
    _checked(pattern)
    return pa.date32(), per_value(lambda text: datetime.datetime.strptime(text, pattern).date())


def _timestamp_by(pattern: str) -> tuple[pa.DataType, PerValue]:
    _checked(pattern)
    kind = pa.timestamp("us", "UTC") if "%z" in pattern else pa.timestamp("us")
    return kind, per_value(lambda text: datetime.datetime.strptime(text, pattern))


def _checked(pattern: str) -> None:
    try:
        datetime.datetime.strptime(datetime.datetime(2000, 1, 31, tzinfo=datetime.UTC).strftime(pattern), pattern)
    except (ValueError, re.error) as error:
        raise OptionError(f"parser: {pattern!r}: expected a pattern of strptime ({error})") from None


PARSERS = {"duration": (pa.duration("us"), per_value(duration))}
FAMILIES = {"date": _date_by, "timestamp": _timestamp_by}
