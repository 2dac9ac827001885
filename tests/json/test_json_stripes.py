"""Faults at the edges of what the index takes at once (64, 512 and 4096 bytes) are found where Python's json finds them."""

import json

import pyarrow as pa
import pytest

import formatter as fm

EDGES = [edge + step for edge in (64, 512, 1024, 4096) for step in (-2, -1, 0, 1)]
CHANGES = [b"\\", b'"', b"\n", b"\x01", b",", b"]", b".", b"e", b"0", b"x", b" ", b"\xc3", b"-"]
LINES = [
    b'{"id":1,"a":[-12.5e+3,0,true,false,null,1E5],"t":"\\\\\\" \\u00e9 \xc3\xa9"}',
    b'{ "id" : 2 , "a" : [ 0.25 , -0 ] , "t" : "\xe6\x97\xa5\xe6\x9c\xac" }',
    b'{"id":3,"a":[],"t":"plain"}',
]


def document(size):
    lines = []
    while sum(map(len, lines)) + len(lines) < size:
        lines.append(LINES[len(lines) % len(LINES)])
    return b"\n".join(lines) + b"\n"


def refuse(word):
    raise ValueError(word)


def ids_by_python(data):
    ids = []
    for line in data.split(b"\n"):
        try:
            record = json.loads(line.decode("utf-8"), parse_constant=refuse)
        except ValueError:
            continue
        if isinstance(record, dict):
            ids.append(record.get("id"))
    return ids


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_byte_at_an_edge_rejects_what_python_rejects(change):
    strict = fm.Json(pa.schema([("id", pa.int64())]), validate="full")
    whole = document(5000)
    for edge in EDGES:
        data = whole[:edge] + change + whole[edge + 1 :]
        try:
            expected = ids_by_python(data)
        except UnicodeDecodeError:
            continue
        table = fm.read(data, strict, on_error="skip")
        if all(isinstance(i, int | None) for i in expected):
            assert table["id"].to_pylist() == expected, (edge, data[edge - 20 : edge + 20])


def test_a_record_longer_than_all_of_them_reads_as_python_reads_it():
    text = 'ä\\"\n' * 3000
    line = json.dumps({"t": text, "n": list(range(2000)), "id": 7}, ensure_ascii=False).encode() + b"\n"
    schema = pa.schema([("id", pa.int64()), ("t", pa.string()), ("n", pa.list_(pa.int64()))])
    for validate in ("touched", "full"):
        rows = fm.read(line * 3, fm.Json(schema, validate=validate)).to_pylist()
        assert rows == [{"id": 7, "t": text, "n": list(range(2000))}] * 3
