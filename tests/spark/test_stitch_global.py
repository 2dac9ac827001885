"""Chunks parsed where they are: whatever the partitioning, the rows are those of the whole origin, each once."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

CHUNK_DDL = "origin STRING, sequence BIGINT, payload BINARY"
SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])


def cut(content, chunk_bytes):
    return [content[at : at + chunk_bytes] for at in range(0, len(content), chunk_bytes)]


def chunk_frame(spark, origins, chunk_bytes, partitions=3, seed=0):
    """Chunks of several origins, shuffled together. `chunk_bytes` may be a list of sizes that take turns."""
    rows = []
    for origin, content in origins.items():
        pieces = cut(content, chunk_bytes) if isinstance(chunk_bytes, int) else cut_unevenly(content, chunk_bytes)
        rows += [(origin, sequence, bytearray(piece)) for sequence, piece in enumerate(pieces, 1)]
    random.Random(seed).shuffle(rows)
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), CHUNK_DDL)


def cut_unevenly(content, sizes):
    pieces, at = [], 0
    while at < len(content):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(content[at : at + size])
        at += size
    return pieces


def whole(origins, format, **options):
    return sorted(
        (
            tuple(row.values())
            for content in origins.values()
            for row in fm.read(content, format, **options).to_pylist()
        ),
        key=repr,
    )


def parsed(frame, format, **options):
    return sorted(map(tuple, su.parse(frame, format, stitch="global", **options).collect()), key=repr)


def quoted(number):
    if number % 7 == 3:
        lines = "\n".join(f"{n},looks like a record" for n in range(number % 5 * 9))
        return f'{number},"{lines} ""{number}"", with\nnewlines"\n'.encode()
    return f"{number},plain {number}\n".encode() if number % 4 else f'{number},"quoted, {number}"\n'.encode()


QUOTED = {name: b"".join(map(quoted, range(start, start + 60))) for name, start in (("a", 0), ("b", 60), ("c", 120))}
PLAIN = {
    name: b"".join(b"%d,plain %d\n" % (n, n) for n in range(start, start + 60)) for name, start in (("a", 0), ("b", 60))
}

DIALECTS = {
    "quoted": (QUOTED, fm.Csv(SCHEMA)),
    "unquoted": (PLAIN, fm.Csv(SCHEMA, quote=None)),
    "crlf": ({name: content.replace(b"\n", b"\r\n") for name, content in QUOTED.items()}, fm.Csv(SCHEMA)),
    "long delimiters": (
        {name: content.replace(b",", b"::").replace(b"\n", b"|~|") for name, content in QUOTED.items()},
        fm.Csv(SCHEMA, delimiter="::", record_delimiter="|~|"),
    ),
    "escapes and comments": (
        {name: b"# by \"hand\n" + content.replace(b'""', b'\\"') for name, content in QUOTED.items()},
        fm.Csv(SCHEMA, escape="\\", comment="#"),
    ),
    "json": (
        {name: b"".join(json.dumps({"id": n, "text": f"ä\n{n}"}).encode() + b"\n" for n in range(60)) for name in "ab"},
        fm.Json(SCHEMA),
    ),
    "no end": ({name: content[:-1] for name, content in QUOTED.items()}, fm.Csv(SCHEMA)),
    "byte order mark": ({"a": b"\xef\xbb\xbf" + QUOTED["a"]}, fm.Csv(SCHEMA)),
    "header": ({name: b"id,text\n" + content for name, content in QUOTED.items()}, fm.Csv(SCHEMA, header=True)),
    "header in another order": (
        {name: b"\n\nmore,text,id\n" + b"".join(b"x,t%d,%d\n" % (n, n) for n in range(50)) for name in "ab"},
        fm.Csv(SCHEMA, header=True),
    ),
    "odd record end": ({name: content.replace(b"\n", b"\xfe") for name, content in PLAIN.items()},
                       fm.Csv(SCHEMA, quote=None, record_delimiter=b"\xfe")),
}  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("chunk_bytes", "partitions"), [(1, 2), (7, 5), (64, 3), ([5, 0, 300, 1], 4), (100_000, 2)])
def test_rows_equal_the_whole_files_whatever_the_chunking(spark, dialect, chunk_bytes, partitions):
    origins, format = DIALECTS[dialect]
    sizes = [max(1, size) for size in chunk_bytes] if isinstance(chunk_bytes, list) else chunk_bytes
    assert parsed(chunk_frame(spark, origins, sizes, partitions), format) == whole(origins, format)
