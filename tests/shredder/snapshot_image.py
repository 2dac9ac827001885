"""Snapshots made by hand, from the layout in docs/shredder.md: states that would take ages to reach, or none can reach.

In: the fields. Out: bytes with a right checksum.
"""

import struct


def checksum(body: bytes) -> int:
    total = 0xCBF29CE484222325
    for byte in body:
        total = (total ^ byte) * 0x100000001B3 % 2**64
    return total


def image(
    *, version=1, flags=0, max_sequence=0, prefix=0, last_delimiter=0, highest=None, words=(), pending=None, floor=9
):
    """`words`: a (seen, has_delimiter) pair for each 64 slots from prefix + 1 on."""
    highest = prefix if highest is None else highest
    pending = sum(seen.bit_count() for seen, _ in words) if pending is None else pending
    body = struct.pack(
        "<4sHBBQQQQII", b"FmSR", version, 0, flags, max_sequence, prefix, last_delimiter, highest, pending, floor
    )
    body += b"".join(struct.pack("<QQ", *pair) for pair in words)
    return body + struct.pack("<Q", checksum(body))
