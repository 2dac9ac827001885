"""Snappy files to their bytes. In: a whole file in one of the three ways they are written: one raw block; Hadoop's (and
Spark's own) blocks, each behind its two sizes; the framed format of the snappy tools. Out: the content. Knows no paths.
"""

from __future__ import annotations

import io

import pyarrow as pa

import formatter as fm

FRAMED = b"\xff\x06\x00\x00sNaPpY"
CODEC = "snappy"


def decompressed(data: bytes, path: str) -> io.BytesIO:
    if not data:
        return io.BytesIO()
    for read in (_framed,) if data.startswith(FRAMED) else (_hadoop, _raw):
        try:
            return io.BytesIO(read(data))
        except (ValueError, IndexError, OSError, pa.ArrowException):
            continue
    raise fm.FormatError(f"{path}: expected snappy: a raw block, Hadoop's blocks or framed ones; found none of them")


def _block(data: bytes) -> bytes:
    """A raw block, which begins with the size of its content as a varint."""
    size = shift = 0
    for byte in data[:5]:
        size |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            content: bytes = pa.decompress(data, decompressed_size=size, codec=CODEC, asbytes=True)
            return content
    raise ValueError("no size")


def _raw(data: bytes) -> bytes:
    return _block(data)


def _hadoop(data: bytes) -> bytes:
    """Blocks: the content's size, then parts behind their own sizes until that much has come; big-endian."""
    out, at = [], 0
    while at < len(data):
        left, at = int.from_bytes(data[at : at + 4], "big"), at + 4
        while left > 0:
            size, at = int.from_bytes(data[at : at + 4], "big"), at + 4
            if not 0 < size <= len(data) - at:
                raise ValueError("no block")
            part = _block(data[at : at + size])
            out.append(part)
            left, at = left - len(part), at + size
        if left:
            raise ValueError("sizes differ")
    return b"".join(out)


def _framed(data: bytes) -> bytes:
    """Chunks: a type, three bytes of size, and four of checksum before the content."""
    out, at = [], 0
    while at < len(data):
        kind, size = data[at], int.from_bytes(data[at + 1 : at + 4], "little")
        body = data[at + 4 : at + 4 + size]
        if len(body) != size:
            raise ValueError("cut")
        if kind == 0:
            out.append(_block(body[4:]))
        elif kind == 1:
            out.append(body[4:])
        elif kind < 128:
            raise ValueError("a chunk that may not be passed over")
        at += 4 + size
    return b"".join(out)
