"""Damaged records: read as text alone, and by structure among good ones, they must come to the same end.

The last line of an input without a line end is decided by its text; lines before it by their structure, and by the shape
their neighbours have. A difference would make results depend on the cut.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("price", pa.float64()),
        ("at", pa.timestamp("us")),
        ("tags", pa.list_(pa.string())),
        ("user", pa.struct([("id", pa.int64()), ("name", pa.string())])),
    ]
)
FLAT = b'{"id":17,"name":"a b","price":-1.25,"at":"2024-05-06T07:08:09","ok":true,"other":null}'
NESTED = b'{"id":1,"tags":["x",null],"user":{"id":2,"name":"\\u00e9\\""},"more":[{"a":[1,2]},{}],"name":"\xc3\xa9"}'
INSERTED = b'{}[]:,"\\ 0-.e\r\t\xff'


def mutated(rng: random.Random, line: bytes) -> bytes:
    out = bytearray(line)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(out))
        kind = rng.randrange(4)
        if kind == 0:
            out[at] = rng.choice(INSERTED)
        elif kind == 1:
            del out[at]
        elif kind == 2:
            out[at:at] = bytes([rng.choice(INSERTED)])
        else:
            out[at:at] = out[rng.randrange(len(out)) :][:20]
    return bytes(out)


def read(data: bytes, format: fm.Json, columns: list[str] | None) -> tuple[list[dict], list[tuple]]:
    found: list[pa.Table] = []
    table = fm.read(data, format, columns=columns, on_error="collect", rejects=found, threads=1)
    table.validate(full=True)
    rejects = [(r["byte_offset"], r["column"], r["code"], r["raw"]) for r in found[0].to_pylist()]
    return table.to_pylist(), rejects


@pytest.mark.parametrize("good", [FLAT, NESTED])
@pytest.mark.parametrize("validate", ["touched", "full"])
@pytest.mark.parametrize("columns", [None, ["id", "name"], ["user.id"]])
def test_structure_and_text_agree_about_damaged_records(good, validate, columns):
    rng = random.Random(7)
    before = (good + b"\n") * 3
    for _ in range(250):
        options = {"on_duplicate_key": rng.choice(["last", "first", "error"])}
        format = fm.Json(SCHEMA, validate=validate, **options)
        line = mutated(rng, good)
        rows, rejects = read(line, format, columns)
        around, _ = read(before, format, columns)
        together, found = read(before + line + b"\n" + good, format, columns)
        assert repr(together) == repr(around + rows + around[:1]), line
        assert [(offset - len(before), *rest) for offset, *rest in found] == rejects, line
