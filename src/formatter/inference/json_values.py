"""A record's text as Python has it, for a look at what kinds of values stand where. In: text that the reader takes as a JSON
value. Out: the value; its kind, and how it looks in a message. Refuses to know types.

Numbers stay as they are written where Python's own would not hold them, or would take long: no number is too long here.
"""

from __future__ import annotations

import json
import re
from typing import Any

from formatter.errors import shorten

LONG_DIGITS = 400  # more than the largest float64 has; Python takes no integer of more than 4,300
MOST_NESTED = 60  # brackets in each other that are looked into: Arrow's own files hold types of 64 levels
SHOWN = 40  # characters of a value in a message
_BRACKETS = re.compile(r'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)


class Written(str):
    """A number, as it is written."""

    __slots__ = ()

    @property
    def is_integer(self) -> bool:
        return self.lstrip("-").isdigit()


class Members:
    """An object, with keys that may stand twice. `replaced`: a key of it that held half a surrogate pair."""

    __slots__ = ("pairs", "replaced")

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs
        self.replaced: str | None = None
        for place, (name, value) in enumerate(pairs):
            if not name.isascii() and any("\ud800" <= c <= "\udfff" for c in name):
                self.replaced = name
                self.pairs[place] = with_replacements(name), value


def with_replacements(text: str) -> str:
    """As surrogates="replace" reads it."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _integer(text: str) -> int | Written:
    return int(text) if len(text) <= LONG_DIGITS else Written(text)


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is no JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=Members, parse_float=Written, parse_constant=_refused)
_PATIENT = json.JSONDecoder(object_pairs_hook=Members, parse_int=_integer, parse_float=Written, parse_constant=_refused)


def value_of(text: str) -> Any:
    """The value, of which nothing is to be known below MOST_NESTED brackets. A ValueError where Python sees no JSON."""
    try:
        return _DECODER.decode(text)
    except RecursionError:
        return _PATIENT.decode(_shallow(text))
    except ValueError:  # no JSON, or an integer that is too long for Python
        return _PATIENT.decode(text)


def _shallow(text: str) -> str:
    """Without what stands in more brackets than anybody looks into."""
    kept, at, depth = [], 0, 0
    for token in _BRACKETS.finditer(text):
        bracket = token[0]
        if bracket in ("{", "["):
            depth += 1
            if depth == MOST_NESTED + 2:
                kept.append(text[at : token.end()])
                at = len(text)  # unless it is closed again
        elif bracket in ("}", "]"):
            if depth == MOST_NESTED + 2:
                at = token.start()
            depth -= 1
    return "".join([*kept, text[at:]])


_KINDS = {type(None): "null", bool: "boolean", int: "integer", str: "string", list: "array", Members: "object"}


def kind_of(value: Any) -> str:
    known = _KINDS.get(type(value))
    return known or ("integer" if value.is_integer else "number")


def shown(value: Any) -> str:
    if isinstance(value, Members):
        return "{" + ", ".join(f"{name!r}: ..." for name, _ in value.pairs[:3]) + "}"
    if isinstance(value, list):
        return f"[{len(value)} items]"
    quoted = shorten(str(value), SHOWN)
    return quoted if kind_of(value) == "string" else quoted[1:-1]
