"""JSON arrays in files, read by several tasks: the rows of fm.read, whatever the splits and whatever wraps the array."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su
from spark_udfs.files import read as read_module
from spark_udfs.files import split_starts

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])


def items(count):
    return [
        {"text": '"},{' + "\\" * (n % 3) + "x" * (n % 50), "id": n, "of": [{"a": 1}, {"b": [2, {}]}]}
        for n in range(count)
    ]


def wrapped(rows, size):
    return "\n".join(
        json.dumps({"at": [{"x": 1}], "Records": rows[n : n + size], "end": {"Records": [7]}})
        for n in range(0, len(rows), size)
    )


INPUTS = {
    "one array": ("/*", lambda rows: json.dumps(rows, indent=1)),
    "one array by its name": ("array", json.dumps),
    "one document": ("/Records/*", lambda rows: wrapped(rows, len(rows))),
    "a document a line": ("/Records/*", lambda rows: wrapped(rows, 7)),
}


@pytest.fixture
def small_grid(monkeypatch):
    for module in (split_starts, read_module):
        monkeypatch.setattr(module, "GRID_BYTES", 1_000)
    split_starts._remembered.clear()
    yield
    split_starts._remembered.clear()


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("by_tasks", [False, True])
def test_one_file_is_read_by_several_tasks(spark, tmp_path, monkeypatch, small_grid, name, by_tasks):
    if by_tasks:  # as where the driver is far from the file
        monkeypatch.setattr(split_starts, "_is_at_hand", lambda *_: False)
    records, write = INPUTS[name]
    path = tmp_path / "a.json"
    path.write_text(write(items(400)))
    format = fm.Json(SCHEMA, records=records)
    df = su.read(spark, path, format, split_bytes=3_000)
    assert df.rdd.getNumPartitions() > 5
    assert [tuple(row) for row in df.collect()] == [tuple(row.values()) for row in fm.read(path, format).to_pylist()]
    assert df.count() == 400


def test_bad_items_and_bad_text_around_them_are_told_once(spark, tmp_path, small_grid):
    path = tmp_path / "a.json"
    text = (
        wrapped(items(200), 7).replace('"id": 50,', '"id": "x",').replace('"end": {"Records": [7]}}', '"end": nope}', 3)
    )
    path.write_text(text)
    format = fm.Json(SCHEMA, records="/Records/*")
    found: list[pa.Table] = []
    rows = fm.read(path, format, on_error="collect", rejects=found).to_pylist()
    df = su.read(spark, path, format, on_error="collect", split_bytes=2_000)
    assert [row.asDict() for row in df.collect()] == rows
    told = [(row.code, row.byte_offset) for row in su.rejects(df).collect()]
    assert sorted(told) == sorted((row["code"], row["byte_offset"]) for row in found[0].to_pylist())
    assert len(told) == 4
