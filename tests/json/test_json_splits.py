"""Parts of files of JSON arrays, read apart: each record once, in whichever part it starts; a wrong guess is put right.

In: documents, lines that parts lie between. Out: rows and rejects of all parts, against those of the whole.
"""

from __future__ import annotations

import io
import json
import random

import pyarrow as pa
import pytest

import formatter as fm
from formatter.splits import Part, SplitReader, SplitScan, can_be_split, proven_starts

SCHEMA = pa.schema([("id", pa.int64())])


def items(chance, count):
    return [
        {"id": i, "t": "\\" * (i % 4) + '"},{"' + "x" * chance.randrange(30), "l": [{"a": 1}, {"b": [2, {"c": 3}]}]}
        for i in range(count)
    ]


def many_documents(chance):
    rows = items(chance, 90)
    documents, at = [], 0
    while at < len(rows):
        size = chance.randrange(6)
        documents.append(
            {"at": [{"x": 1}, {"x": 2}], "Records": rows[at : at + size], "Record": {"Records": [{"id": 7}]}}
        )
        at += size
    return "\n".join(json.dumps(document, indent=chance.choice([None, 1])) for document in documents).encode()


INPUTS = {
    "one array": ("/*", lambda chance: json.dumps(items(chance, 90)).encode()),
    "one document": ("/Records/*", lambda chance: json.dumps({"Records": items(chance, 90), "of": items(chance, 40)}).encode()),
    "the array last": ("/Records/*", lambda chance: json.dumps({"of": items(chance, 60), "Records": items(chance, 60)}).encode()),
    "many documents": ("/Records/*", many_documents),
    "items that are no objects": ("/*", lambda chance: json.dumps([[{"id": 1}, {"id": 2}], 7, "{", {"id": 3}] * 40).encode()),
    "no array": ("/Records/*", lambda chance: json.dumps({"of": items(chance, 60)}).encode()),
    "nothing": ("/Records/*", lambda chance: b""),
    "an array that is cut off": ("/*", lambda chance: json.dumps(items(chance, 60)).encode()[:-30]),
}  # fmt: skip


def in_parts(data, format, lines):
    scan, stream = SplitScan(format), io.BytesIO(data)
    ends = [*lines[1:], len(data)]
    summaries = [scan.summarize(stream, begin, end) for begin, end in zip(lines, ends, strict=True)]
    asked: list[int] = []

    def next_start(start, line):
        asked.append(line)
        return scan.next_start(stream, start, line)

    starts = proven_starts(summaries, lines, len(data), next_start)
    cuts = list(dict.fromkeys([*starts, len(data)]))
    rows, rejects = [], []
    for begin, end in zip(cuts, cuts[1:] or cuts, strict=False):
        if begin < end or not data:
            reader = SplitReader(format, on_error="collect")
            part = Part(begin, end, True, end == len(data))
            rows += [v for b in reader.batches(io.BytesIO(data), part) for v in b.column("id").to_pylist()]
            rejects += [(error.byte_offset, error.code, raw) for error, raw in reader.found]
    return rows, rejects, asked


@pytest.mark.parametrize("name", INPUTS)
def test_parts_have_each_record_once_wherever_the_lines_are(name):
    records, write = INPUTS[name]
    data, format = write(random.Random(3)), fm.Json(SCHEMA, records=records)
    assert can_be_split(format)
    found: list[pa.Table] = []
    whole = fm.read(data, format, on_error="collect", rejects=found)["id"].to_pylist()
    told = [(row["byte_offset"], row["code"], row["raw"]) for row in found[0].to_pylist()]
    for size in (1, 2, 7, 64, 65, 500, 3000):
        lines = list(range(0, max(len(data), 1), size if len(data) < 40 * size else max(size, len(data) // 40)))
        rows, rejects, _ = in_parts(data, format, lines)
        assert rows == whole, size
        assert rejects == told, size


def test_most_guesses_hold_for_records_of_a_kind():
    chance = random.Random(5)
    for name in ("one array", "many documents"):
        records, write = INPUTS[name]
        data = write(chance)
        lines = [0, *sorted(chance.sample(range(1, len(data) - 2000), 40))]
        _, _, asked = in_parts(data, fm.Json(SCHEMA, records=records), lines)
        assert len(asked) < 10, name


def test_a_part_whose_file_has_changed_is_told():
    data, format = json.dumps(items(random.Random(1), 50)).encode(), fm.Json(SCHEMA, records="/*")
    reader = SplitReader(format)
    with pytest.raises(fm.FormatError, match="changed"):
        list(reader.batches(io.BytesIO(data), Part(0, data.index(b'"id": 20') + 3, True, False)))
