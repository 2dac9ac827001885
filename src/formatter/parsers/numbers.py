"""Numbers as people write them: thousands separators, money, percent, hex. In: texts. Out: numbers, null where there is none."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc

from formatter.errors import OptionError

MONEY = pa.decimal128(18, 2)
# Behind `_plain` the decimal mark is a point, blanks are those of ASCII, and of the marks between groups these four are left.
_GROUPS = "|".join(rf"\d{{1,3}}(?:{mark}\d{{3}})+" for mark in (",", "_", "'", " ")) + r"|\d{1,2}(?:,\d{2})+,\d{3}"
_WHOLE = rf"(?:{_GROUPS}|\d+)"
_NUMBER = rf"{_WHOLE}(?:\.\d+)?"
_SIGN = r"(?:[A-Z]{0,3}\p{Sc}|[A-Z]{3}|kr\.?|zł|Kč|Ft|Fr\.|lei|лв\.?|руб\.?)"


def matching(texts: pa.Array, pattern: str) -> pa.Array:
    """The texts that look so; null for the others."""
    return pc.if_else(pc.match_substring_regex(texts, pattern), texts, pa.scalar(None, texts.type))


def _plain(texts: pa.Array, decimal: str) -> pa.Array:
    """As English writes it: what other marks mean the same are those of ASCII, and a minus stands in front."""
    for marks, mark in (("[\u00a0\u2007\u2009\u202f]", " "), ("\u2212", "-"), ("\u2019", "'")):
        texts = pc.replace_substring_regex(texts, marks, mark)
    if decimal == ",":
        texts = pc.replace_substring(pc.replace_substring(texts, ".", "_"), ",", ".")
    return pc.replace_substring_regex(texts, r"^(\d.*?) ?-$", r"-\1")


def _bare(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"^\+", ""), "[,_' ]", "")


def whole_thousands(texts: pa.Array, decimal: str = ".") -> pa.Array:
    """`1,234,567`, `1 234 567`, `1'234'567`, `1_234_567`, `12,34,567`, `1,234-`."""
    bare = _bare(matching(_plain(texts, decimal), rf"^[+-]?{_WHOLE}$"))
    digits = pc.replace_substring_regex(bare, r"^(-?)0+(\d)", r"\1\2")
    # Of nineteen digits some are too many; those compare as text does, for all have the same length.
    count = pc.utf8_length(pc.ascii_ltrim(digits, "-"))
    largest = pc.if_else(pc.starts_with(digits, "-"), "9223372036854775808", "9223372036854775807")
    fits = pc.or_(pc.less(count, 19), pc.and_(pc.equal(count, 19), pc.less_equal(pc.ascii_ltrim(digits, "-"), largest)))
    return pc.if_else(fits, digits, pa.scalar(None, pa.string())).cast(pa.int64())


def thousands(texts: pa.Array, decimal: str = ".") -> pa.Array:
    """The same with a fraction behind a point."""
    return _bare(matching(_plain(texts, decimal), rf"^[+-]?{_NUMBER}$")).cast(pa.float64())


def currency(texts: pa.Array, decimal: str = ".") -> pa.Array:
    """`$1,234.50`, `12 EUR`, `-£3`, and `(1.25)` for what is owed: at most two digits behind the point, sixteen before."""
    owed = rf"^\({_SIGN}? ?({_NUMBER}) ?{_SIGN}?\)$"
    plain = pc.replace_substring_regex(_plain(texts, decimal), owed, r"-\1")
    signed = rf"^([+-]?) ?{_SIGN}? ?([+-]?{_NUMBER}) ?{_SIGN}?$"
    bare = _bare(matching(pc.replace_substring_regex(plain, signed, r"\1\2"), rf"^[+-]?{_NUMBER}$"))
    return matching(bare, r"^-?0*\d{1,16}(\.\d{1,2})?$").cast(MONEY)


def percent(texts: pa.Array, decimal: str = ".") -> pa.Array:
    """`12.5%` is 0.125; without the sign it is no percentage."""
    number = pc.replace_substring_regex(matching(_plain(texts, decimal), rf"^[+-]?{_NUMBER} ?%$"), " ?%$", "")
    return pc.divide(_bare(number).cast(pa.float64()), 100.0)


def hex_integer(texts: pa.Array) -> pa.Array:
    """`0xFF`, `ff`: up to sixteen digits."""
    digits = pc.replace_substring_regex(matching(texts, "^(0[xX])?[0-9a-fA-F]{1,16}$"), "^0[xX]", "")
    return pa.array([None if text is None else int(text, 16) for text in digits.to_pylist()], pa.uint64())


def _by_mark(
    kind: pa.DataType, parse: Callable[[pa.Array, str], pa.Array]
) -> Callable[..., tuple[pa.DataType, Callable[..., pa.Array]]]:
    def marked(decimal: str) -> tuple[pa.DataType, Callable[..., pa.Array]]:
        if decimal not in (".", ","):
            raise OptionError(f"parser: expected a decimal mark of '.' or ',' behind the colon, found {decimal!r}")
        return kind, lambda texts: parse(texts, decimal)

    return marked


PARSERS = {
    "thousands": (pa.float64(), thousands),
    "whole_thousands": (pa.int64(), whole_thousands),
    "currency": (MONEY, currency),
    "percent": (pa.float64(), percent),
    "hex": (pa.uint64(), hex_integer),
}
FAMILIES = {
    "thousands": _by_mark(pa.float64(), thousands),
    "whole_thousands": _by_mark(pa.int64(), whole_thousands),
    "currency": _by_mark(MONEY, currency),
    "percent": _by_mark(pa.float64(), percent),
}
