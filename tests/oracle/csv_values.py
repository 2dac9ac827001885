"""One field's content to one plain value, by the textbook: re, int, Fraction, Decimal, datetime.

In: content bytes, an Arrow field, the dialect's value options. Out: a value that pyarrow can take, or Bad(code).
Refuses to know: quoting, records, nulls.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import math
import re
import struct
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import pyarrow as pa


class Bad(Exception):
    """The content is no value of the column's type."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


INT = re.compile(rb"[+-]?[0-9]+\Z")
FLOAT = re.compile(rb"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\Z")
SPECIAL_FLOAT = re.compile(rb"([+-]?)(inf|infinity|nan)\Z", re.IGNORECASE)
PLAIN_DECIMAL = re.compile(rb"([+-]?)([0-9]+)?(?:\.([0-9]*))?\Z")
DATE = re.compile(rb"([0-9]{4})-([0-9]{2})-([0-9]{2})")
TIME = re.compile(
    rb"[Tt ]([0-9]{2})(?::([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]+))?)?)?"  # HH[:MM[:SS[.f+]]]
    rb"([Zz]|[+-][0-9]{2}(?::?[0-9]{2})?)?\Z"
)
BASIC_DATE = re.compile(rb"([0-9]{4})([0-9]{2})([0-9]{2})")
BASIC_TIME = re.compile(rb"([Tt ][0-9]{2})(?:([0-9]{2})(?:([0-9]{2}))?)?(?![0-9:])")
UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()


def decode_value(content: bytes, column: pa.Field, dialect: Any) -> Any:
    kind = column.type
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_boolean(kind):
        return decode_bool(content, dialect)
    if pa.types.is_integer(kind):
        return decode_int(content, kind)
    if pa.types.is_floating(kind):
        return decode_float(swap_point(content, dialect), kind)
    if pa.types.is_decimal(kind):
        return decode_decimal(swap_point(content, dialect), kind)
    if pa.types.is_date32(kind):
        return decode_date(content)
    if pa.types.is_timestamp(kind):
        return decode_timestamp(content, kind.unit)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError:
            raise Bad("bad_utf8") from None
    return decode_binary(content, (column.metadata or {}).get(b"encoding"))


def swap_point(content: bytes, dialect: Any) -> bytes:
    if dialect.decimal == ".":
        return content
    if b"." in content:
        raise Bad("invalid")
    return content.replace(dialect.decimal.encode(), b".")


def decode_bool(content: bytes, dialect: Any) -> bool:
    text = content.decode("utf-8", "replace")
    if text in dialect.true_values:
        return True
    if text in dialect.false_values:
        return False
    raise Bad("invalid")


def decode_int(content: bytes, kind: pa.DataType) -> int:
    if not INT.match(content):
        raise Bad("invalid")
    value = _long_int(content)
    span = 1 << kind.bit_width
    low = -span // 2 if pa.types.is_signed_integer(kind) else 0
    if not low <= value < low + span:
        raise Bad("overflow")
    return value


def _long_int(digits: bytes) -> int:
    """int() refuses more than 4300 digits by default; leading zeros must not count."""
    sign = -1 if digits.startswith(b"-") else 1
    bare = digits.lstrip(b"+-").lstrip(b"0") or b"0"
    return sign * int(bare) if len(bare) < 4000 else sign * 10**4000


def decode_float(content: bytes, kind: pa.DataType) -> float:
    if special := SPECIAL_FLOAT.match(content):
        value = math.nan if special[2].lower() == b"nan" else math.inf
        return -value if special[1] == b"-" else value
    if not FLOAT.match(content):
        raise Bad("invalid")
    value = float(content)
    if math.isinf(value):
        raise Bad("overflow")
    return value if pa.types.is_float64(kind) else nearest_float32(content, value)


def nearest_float32(text: bytes, near: float) -> float:
    """The float32 nearest to the exact decimal: rounding to double first would round twice."""
    if near == 0.0 or abs(near) < 1e-60:
        return math.copysign(0.0, near)
    if abs(near) > 1e39:
        raise Bad("overflow")
    exact = abs(Fraction(Decimal(text.decode())))
    largest = Fraction(2) ** 128 - Fraction(2) ** 104
    if exact >= largest + Fraction(2) ** 103:
        raise Bad("overflow")
    bits = struct.unpack("<I", struct.pack("<f", min(abs(near), float(largest))))[0]
    candidates = [b for b in (bits - 1, bits, bits + 1) if 0 <= b <= 0x7F7FFFFF]
    best = min(candidates, key=lambda b: (abs(Fraction(_float32(b)) - exact), b & 1))
    return math.copysign(_float32(best), near)


def _float32(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def decode_decimal(content: bytes, kind: pa.DataType) -> Decimal:
    match = PLAIN_DECIMAL.match(content)
    if not match or not (match[2] or match[3]):
        raise Bad("invalid")
    whole, fraction = match[2] or b"", match[3] or b""
    kept, beyond = fraction[: kind.scale], fraction[kind.scale :]
    if beyond.strip(b"0"):
        raise Bad("precision")
    digits = (whole + kept.ljust(kind.scale, b"0")).lstrip(b"0") or b"0"
    if len(digits) > kind.precision:
        raise Bad("overflow")
    with localcontext(prec=80):
        value = Decimal(int(digits)).scaleb(-kind.scale)
        return -value if match[1] == b"-" else value


def _days(year: bytes, month: bytes, day: bytes) -> int:
    try:
        return datetime.date(int(year), int(month), int(day)).toordinal() - EPOCH_ORDINAL
    except ValueError:
        raise Bad("invalid") from None


def _extended(content: bytes) -> bytes:
    """20230102T030405.6Z as 2023-01-02T03:04:05.6Z; what is not in the basic form stays as it is."""
    date = BASIC_DATE.match(content)
    if not date:
        return content
    day, rest = b"-".join(date.groups()), content[date.end() :]
    time = BASIC_TIME.match(rest)
    if not rest or not time:
        return day + rest.replace(b":", b"?")
    return day + b":".join(part for part in time.groups() if part) + rest[time.end() :]


def decode_date(content: bytes) -> int:
    match = DATE.fullmatch(_extended(content))
    if not match:
        raise Bad("invalid")
    return _days(match[1], match[2], match[3])


def decode_timestamp(content: bytes, unit: str) -> int:
    date = None if BASIC_DATE.fullmatch(content) else DATE.match(content := _extended(content))
    if not date:
        raise Bad("invalid")
    seconds = _days(date[1], date[2], date[3]) * 86_400
    fraction = b""
    if date.end() < len(content):
        time = TIME.match(content, date.end())
        if not time:
            raise Bad("invalid")
        hour, minute, second = int(time[1]), int(time[2] or b"0"), int(time[3] or b"0")
        if hour > 23 or minute > 59 or second > 59:
            raise Bad("invalid")
        seconds += hour * 3600 + minute * 60 + second - _offset_seconds(time[5])
        fraction = time[4] or b""
    digits = UNIT_DIGITS[unit]
    if fraction[digits:].strip(b"0"):
        raise Bad("precision")
    value = seconds * 10**digits + int(fraction[:digits].ljust(digits, b"0") or b"0")
    if not -(2**63) <= value < 2**63:
        raise Bad("overflow")
    return value


def _offset_seconds(zone: bytes | None) -> int:
    if zone is None or zone in b"Zz":
        return 0
    hours, minutes = int(zone[1:3]), int(zone[3:].lstrip(b":") or b"0")
    if hours > 23 or minutes > 59:
        raise Bad("invalid")
    return (hours * 3600 + minutes * 60) * (-1 if zone[:1] == b"-" else 1)


def decode_binary(content: bytes, encoding: bytes | None) -> bytes:
    if encoding is None:
        return content
    try:
        if encoding == b"hex":
            if not re.fullmatch(rb"([0-9a-fA-F]{2})*", content):
                raise Bad("invalid")
            return binascii.unhexlify(content)
        standard = content.translate(bytes.maketrans(b"-_", b"+/"))
        value = base64.b64decode(standard, validate=True)
        if base64.b64encode(value) != standard:  # bits behind the last byte
            raise Bad("invalid")
        return value
    except binascii.Error:
        raise Bad("invalid") from None
