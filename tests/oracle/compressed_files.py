"""Compressed files as tools of every kind write them. In: bytes. Out: the same, compressed. Refuses to know: readers."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable

import pyarrow as pa

BLOCK = 64 << 10
CRC_TABLE = [0] * 256
for _byte in range(256):
    _rest = _byte
    for _ in range(8):
        _rest = _rest >> 1 ^ (0x82F63B78 if _rest & 1 else 0)
    CRC_TABLE[_byte] = _rest


def crc32c(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def by_arrow(codec: str) -> Callable[[bytes], bytes]:
    return lambda data: pa.compress(data, codec=codec, asbytes=True)


def in_two(write: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Two files, one put behind the other."""
    return lambda data: write(data[:5_001]) + write(data[5_001:])


def hadoop(codec: str) -> Callable[[bytes], bytes]:
    """Blocks behind the size of their content, each of several parts behind their own size."""

    def write(data: bytes) -> bytes:
        blocks = []
        for begin in range(0, len(data), 4 * BLOCK):
            block = data[begin : begin + 4 * BLOCK]
            parts = [by_arrow(codec)(block[i : i + BLOCK]) for i in range(0, len(block), BLOCK)]
            blocks.append(len(block).to_bytes(4, "big") + b"".join(len(p).to_bytes(4, "big") + p for p in parts))
        return b"".join(blocks)

    return write


def framed_snappy(data: bytes) -> bytes:
    """Chunks with masked checksums, some stored as they are, and padding that readers pass over."""
    chunks = [b"\xff\x06\x00\x00sNaPpY"]
    for number, begin in enumerate(range(0, len(data), BLOCK)):
        piece = data[begin : begin + BLOCK]
        stored = number % 3 == 0
        checksum = crc32c(piece)
        masked = ((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF
        body = masked.to_bytes(4, "little") + (piece if stored else by_arrow("snappy")(piece))
        chunks += [bytes([stored]) + len(body).to_bytes(3, "little") + body, b"\xfe\x03\x00\x00pad"]
    return b"".join(chunks)


# By how they are written: the codec, and the writer.
WRITERS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "gzip in two": ("gzip", in_two(gzip.compress)),
    "bz2": ("bz2", bz2.compress),
    "bz2 in two": ("bz2", in_two(bz2.compress)),
    "zstd": ("zstd", by_arrow("zstd")),
    "zstd in two": ("zstd", in_two(by_arrow("zstd"))),
    "lz4 frames": ("lz4", by_arrow("lz4")),
    "lz4 frames in two": ("lz4", in_two(by_arrow("lz4"))),
    "lz4 behind a frame to skip": ("lz4", lambda data: b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + by_arrow("lz4")(data)),
    "lz4 blocks of Hadoop": ("lz4", hadoop("lz4_raw")),
    "brotli": ("brotli", by_arrow("brotli")),
    "deflate": ("deflate", zlib.compress),
    "deflate in two": ("deflate", in_two(zlib.compress)),
    "xz": ("xz", lzma.compress),
    "xz in two": ("xz", in_two(lzma.compress)),
    "xz padded": ("xz", in_two(lambda data: lzma.compress(data) + bytes(8))),
    "snappy as one block": ("snappy", by_arrow("snappy")),
    "snappy blocks of Hadoop": ("snappy", hadoop("snappy")),
    "framed snappy": ("snappy", framed_snappy),
    "framed snappy in two": ("snappy", in_two(framed_snappy)),
}
SUFFIXES = {
    "zstd": ".zst", "gzip": ".gz", "lz4": ".lz4", "snappy": ".snappy", "bz2": ".bz2", "brotli": ".br", "deflate": ".deflate",
    "xz": ".xz",
}  # fmt: skip
