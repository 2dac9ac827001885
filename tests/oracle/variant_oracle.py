"""Spark's VARIANT of a JSON value, from the format's description: one pass over what Python's json module reads.

In: a JSON text. Out: the bytes of value and metadata. Raises ValueError for what is no JSON and for what no variant holds.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

DEPTH_MOST = 1000


class _Number(str):
    pass


class _Object(list):
    pass


def _refused(constant: str) -> Any:
    raise ValueError(constant)


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, parse_int=_Number, parse_float=_Number, parse_constant=_refused)


def variant_of(text: str) -> tuple[bytes, bytes]:
    value = _DECODER.decode(text)
    keys: dict[str, int] = {}
    return _value(value, keys, 0), _metadata(list(keys))


def _width(number: int) -> int:
    return max(1, (number.bit_length() + 7) // 8)


def _metadata(keys: list[str]) -> bytes:
    texts = [key.encode() for key in keys]
    ends = [sum(map(len, texts[:i])) for i in range(len(texts) + 1)]
    width = _width(max(ends[-1], len(texts)))
    numbers = b"".join(number.to_bytes(width, "little") for number in (len(texts), *ends))
    return bytes([1 | (width - 1) << 6]) + numbers + b"".join(texts)


def _value(value: Any, keys: dict[str, int], depth: int) -> bytes:
    if value is None or value is True or value is False:
        return bytes([{None: 0, True: 1, False: 2}[value] << 2])
    if isinstance(value, _Number):
        return _number(value)
    if isinstance(value, str):
        text = value.encode()  # a surrogate without its partner raises
        return (bytes([len(text) << 2 | 1]) if len(text) < 64 else b"\x40" + len(text).to_bytes(4, "little")) + text
    if depth == DEPTH_MOST:
        raise ValueError("too deep")
    if isinstance(value, _Object):
        return _object(value, keys, depth)
    items = [_value(item, keys, depth + 1) for item in value]
    return _container(items, list(range(len(items))), None)


def _object(members: _Object, keys: dict[str, int], depth: int) -> bytes:
    names = [name for name, _ in members]
    if len(set(names)) != len(names):
        raise ValueError("a key stands twice")
    parts = []
    for name, member in members:
        name.encode()
        keys.setdefault(name, len(keys))
        parts.append(_value(member, keys, depth + 1))
    order = sorted(range(len(names)), key=lambda i: names[i].encode("utf-16-be"))
    return _container(parts, order, [keys[name] for name in names])


def _container(parts: list[bytes], order: list[int], ids: list[int] | None) -> bytes:
    begins = [0]
    for part in parts:
        begins.append(begins[-1] + len(part))
    width, large = _width(begins[-1]), len(parts) > 255
    head = len(parts).to_bytes(4 if large else 1, "little")
    offsets = b"".join(begins[i].to_bytes(width, "little") for i in [*order, len(parts)])
    if ids is None:
        return bytes([large << 4 | (width - 1) << 2 | 3]) + head + offsets + b"".join(parts)
    id_width = _width(max(ids, default=0))
    numbers = b"".join(ids[i].to_bytes(id_width, "little") for i in order)
    return bytes([large << 6 | (id_width - 1) << 4 | (width - 1) << 2 | 2]) + head + numbers + offsets + b"".join(parts)


def _number(text: str) -> bytes:
    import struct

    if not set(text) & set("eE"):
        exact = Decimal(text)
        sign, digits, exponent = exact.as_tuple()
        scale = -exponent
        unscaled = int("".join(map(str, digits))) * (-1 if sign else 1)
        if "." not in text and -(2**63) <= unscaled < 2**63:
            width = next(width for width in (1, 2, 4, 8) if -(2 ** (8 * width - 1)) <= unscaled < 2 ** (8 * width - 1))
            return bytes([{1: 3, 2: 4, 4: 5, 8: 6}[width] << 2]) + unscaled.to_bytes(width, "little", signed=True)
        for most, kind, width in ((9, 8, 4), (18, 9, 8), (38, 10, 16)):
            if scale <= most and abs(unscaled) < 10**most:
                return bytes([kind << 2, scale]) + unscaled.to_bytes(width, "little", signed=True)
    return b"\x1c" + struct.pack("<d", float(text))
