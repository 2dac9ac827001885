"""Numbers as people write them: thousands separators, money, percent, hex. In: texts. Out: numbers, null where there is none."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

MONEY = pa.decimal128(18, 2)
THOUSANDS = r"^[+-]?(\d{1,3}([,_' ]\d{3})*|\d+)(\.\d+)?$"
WHOLE_THOUSANDS = r"^[+-]?(\d{1,3}([,_' ]\d{3})*|\d+)$"


def matching(texts: pa.Array, pattern: str) -> pa.Array:
    """The texts that look so; null for the others."""
    return pc.if_else(pc.match_substring_regex(texts, pattern), texts, pa.scalar(None, texts.type))


def _bare(texts: pa.Array) -> pa.Array:
    return pc.replace_substring_regex(pc.replace_substring_regex(texts, r"^\+", ""), "[,_' ]", "")


def whole_thousands(texts: pa.Array) -> pa.Array:
    """`1,234,567`, `1 234 567`, `1'234'567`, `1_234_567`."""
    bare = _bare(matching(texts, WHOLE_THOUSANDS))
    digits = pc.replace_substring_regex(bare, r"^(-?)0+(\d)", r"\1\2")
    # Of nineteen digits some are too many; those compare as text does, for all have the same length.
    fits = pc.or_(
        pc.less(pc.utf8_length(pc.ascii_ltrim(digits, "-")), 19),
        pc.and_(
            pc.equal(pc.utf8_length(pc.ascii_ltrim(digits, "-")), 19),
            pc.less_equal(pc.ascii_ltrim(digits, "-"), "9223372036854775807"),
        ),
    )
    return pc.if_else(fits, digits, pa.scalar(None, pa.string())).cast(pa.int64())


def thousands(texts: pa.Array) -> pa.Array:
    """The same with a fraction behind a point."""
    return _bare(matching(texts, THOUSANDS)).cast(pa.float64())


def currency(texts: pa.Array) -> pa.Array:
    """`$1,234.50`, `12 EUR`, `-£3`, and `(1.25)` for what is owed: at most two digits behind the point, sixteen before."""
    sign = r"(?:[$€£¥₹]|[A-Z]{3})?"
    owed = rf"^\({sign} ?([\d,]+(?:\.\d+)?) ?{sign}\)$"
    plain = pc.replace_substring_regex(texts, owed, r"-\1")
    plain = pc.replace_substring_regex(plain, rf"^([+-]?){sign} ?([+-]?[\d, ']*\d(?:\.\d+)?) ?{sign}$", r"\1\2")
    bare = _bare(matching(plain, THOUSANDS))
    return matching(bare, r"^-?0*\d{1,16}(\.\d{1,2})?$").cast(MONEY)


def percent(texts: pa.Array) -> pa.Array:
    """`12.5%` is 0.125; without the sign it is no percentage."""
    number = pc.replace_substring_regex(matching(texts, r"^[+-]?\d+(\.\d+)? ?%$"), r"^\+| ?%$", "")
    return pc.divide(number.cast(pa.float64()), 100.0)


def hex_integer(texts: pa.Array) -> pa.Array:
    """`0xFF`, `ff`: up to sixteen digits."""
    digits = pc.replace_substring_regex(matching(texts, "^(0[xX])?[0-9a-fA-F]{1,16}$"), "^0[xX]", "")
    return pa.array([None if text is None else int(text, 16) for text in digits.to_pylist()], pa.uint64())


PARSERS = {
    "thousands": (pa.float64(), thousands),
    "whole_thousands": (pa.int64(), whole_thousands),
    "currency": (MONEY, currency),
    "percent": (pa.float64(), percent),
    "hex": (pa.uint64(), hex_integer),
}
