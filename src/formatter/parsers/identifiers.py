"""Addresses and identifiers: IPv4, IPv6, UUID. In: texts. Out: numbers or bytes, null where there is none."""

from __future__ import annotations

import ipaddress
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from formatter.parsers.numbers import matching
from formatter.parsers.per_value import per_value

OCTET = r"(25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)"
DASHED = "^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$|^[0-9a-fA-F]{32}$"


def ipv4(texts: pa.Array) -> pa.Array:
    """`10.0.0.1` as the number its four bytes are, the first one highest."""
    parts = pc.split_pattern(matching(texts, rf"^{OCTET}(\.{OCTET}){{3}}$"), ".")
    octets = [pc.list_element(parts, i).cast(pa.uint32()) for i in range(4)] if parts.null_count < len(parts) else []
    if not octets:
        return pa.nulls(len(texts), pa.uint32())
    return reduce(lambda high, low: pc.add(pc.multiply(high, pa.scalar(256, pa.uint32())), low), octets)


def ipv6(text: str) -> bytes:
    """In any of its spellings, with IPv4 inside too; without a zone."""
    if "%" in text:
        raise ValueError(text)
    return ipaddress.IPv6Address(text).packed


def uuid(texts: pa.Array) -> pa.Array:
    """Its 16 bytes in the order they are written, with dashes or without."""
    digits = pc.replace_substring(matching(texts, DASHED), "-", "")
    packed = bytes.fromhex("".join(pc.fill_null(digits, "0" * 32).to_pylist()))
    valid = pa.py_buffer(np.packbits(np.asarray(digits.is_valid()), bitorder="little"))
    return pa.Array.from_buffers(pa.binary(16), len(texts), [valid, pa.py_buffer(packed)])


PARSERS = {
    "ipv4": (pa.uint32(), ipv4),
    "ipv6": (pa.binary(16), per_value(ipv6)),
    "uuid": (pa.binary(16), uuid),
}
