"""Bytes as texts spell them, by their number in hexadecimal. In: how, and which. Out: escapes for `fm.Delimited`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import product

Escapes = dict[str | bytes, str | bytes]
ASCII = range(128)  # what stands for itself in UTF-8; of others one alone is no text


def spelled(before: str, behind: str = "", *, of: Iterable[int] = ASCII) -> Escapes:
    """`before`, two hexadecimal digits in either case, `behind`: that is the byte."""
    digits = [{f"{number:x}", f"{number:X}"} for number in range(16)]
    return {
        f"{before}{high}{low}{behind}": bytes([number])
        for number in of
        for high, low in product(digits[number >> 4], digits[number & 15])
    }
