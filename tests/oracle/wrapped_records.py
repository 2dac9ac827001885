"""The items of arrays in wrapping documents, by Python's json module.

In: text of documents one behind the other, the keys that lead to the array. Out: the items, in order. Refuses to know schemas.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any


class Members(list[tuple[str, Any]]):
    """An object, as its members were written."""


def items_of(text: str, keys: Sequence[str]) -> list[Any]:
    reader = json.JSONDecoder(object_pairs_hook=Members)
    found: list[Any] = []
    at = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    while at < len(text):
        document, at = reader.raw_decode(text, at)
        found += _items_at(document, keys)
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
    return found


def _items_at(document: Any, keys: Sequence[str]) -> list[Any]:
    for key in keys:
        if not isinstance(document, Members):
            return []
        document = next((value for name, value in document if name == key), None)
    return document if isinstance(document, list) and not isinstance(document, Members) else []


def as_plain(value: Any) -> Any:
    """The same with dicts for objects, the last of equal keys."""
    if isinstance(value, Members):
        return {name: as_plain(member) for name, member in value}
    return [as_plain(item) for item in value] if isinstance(value, list) else value
