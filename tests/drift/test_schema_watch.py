"""A watch notices what a schema lacks, lets types only grow, and goes on where it was killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from decimal import Decimal

import pyarrow as pa
import pytest

import formatter as fm

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string())])


def grown(kind: pa.DataType, *values: str) -> pa.Field:
    """What a column of this type becomes when these JSON texts come."""
    watch = fm.SchemaWatch(fm.Json(pa.schema([("v", kind)])), policy="add")
    for value in values:
        watch.observe(fm.read(f'{{"v": {value}}}'.encode(), watch.format))
    return watch.format.schema.field("v")


@pytest.mark.parametrize(
    ("kind", "values", "expected"),
    [
        (pa.int8(), ["300"], pa.int64()),
        (pa.int32(), ["99999999999"], pa.int64()),
        (pa.int32(), ["1.5"], pa.float64()),
        (pa.int64(), ["1.25"], pa.decimal128(21, 2)),
        (pa.int64(), ["9223372036854775808"], pa.decimal128(19, 0)),
        (pa.int32(), ["99999999999", "1.5"], pa.decimal128(20, 1)),
        (pa.uint64(), ["-1"], pa.decimal128(20, 0)),
        (pa.float32(), ["1e300"], pa.float64()),
        (pa.float64(), ["1e400"], pa.string()),
        (pa.decimal128(4, 2), ["12345.125"], pa.decimal128(8, 3)),
        (pa.int64(), ["1e-30"], pa.string()),
        (pa.bool_(), ["1"], pa.string()),
        (pa.date32(), ['"soon"'], pa.string()),
        (pa.int32(), ['"x"', "5", "[1]"], pa.string()),
        (pa.list_(pa.int8()), ["[1, 300]"], pa.list_(pa.int64())),
        (pa.struct([("a", pa.int32())]), ['{"a": 1, "b": [true]}'], pa.struct([("a", pa.int32()), ("b", pa.list_(pa.bool_()))])),
        (pa.map_(pa.string(), pa.int32()), ['{"k": 1.5}'], pa.map_(pa.string(), pa.float64())),
    ],
)  # fmt: skip
def test_types_only_grow(kind, values, expected):
    field = grown(kind, *values)
    assert field.type == expected
    for value in values:  # and hold then what made them grow
        table = fm.read(f'{{"v": {value}}}'.encode(), fm.Json(pa.schema([field]), rescue="_rescued"))
        assert table.column("_rescued").to_pylist() == [None]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["9007199254740993", "1.5"], pa.decimal128(20, 1)),
        (["1", "9007199254740993", "2", "1.5"], pa.decimal128(20, 1)),
        (["1.5", "9007199254740993"], pa.string()),
        (["9007199254740992", "1.5"], pa.float64()),
        (["1.5", "1e23", "100000000000000000000"], pa.float64()),
        (["[1.5, 2]", "[9007199254740993]"], pa.list_(pa.string())),
        (['{"n": 9007199254740993}', '{"n": 1.5}'], pa.struct([("n", pa.decimal128(20, 1))])),
    ],
)
def test_a_new_field_is_no_double_if_one_lacks_a_whole_number_that_was_seen(values, expected, tmp_path):
    lines = [f'{{"v": {value}}}'.encode() for value in values]
    told_at_once = fm.SchemaWatch(fm.Json(SCHEMA), policy="add")
    told_at_once.observe(fm.parse_records(lines, told_at_once.format))
    replaying = fm.SchemaWatch(fm.Json(SCHEMA), policy="add")
    for line in lines:  # each by a process of its own, which goes on from a state; and told of to another
        watch = fm.SchemaWatch(fm.Json(SCHEMA), state=tmp_path / "drift.json")
        watch.observe(fm.parse_records([line], watch.format))
        replaying.replay(watch.take_steps())
    for known in (told_at_once, watch, replaying):
        (change,) = known.changes
        assert change.after.type == expected
        assert b"whole" not in (change.after.metadata or {})


def test_whole_numbers_that_no_double_holds_arrive_as_they_are():
    lines = [b'{"a": 9007199254740993, "b": 1.5}', b'{"a": 1.5, "b": 9007199254740993}']
    watch = fm.SchemaWatch(fm.Json(SCHEMA), policy="add")
    watch.observe(fm.parse_records(lines, watch.format))
    rows = fm.parse_records(lines, watch.format).select(["a", "b", "_rescued"]).to_pylist()
    assert rows == [
        {"a": Decimal("9007199254740993"), "b": "1.5", "_rescued": None},
        {"a": Decimal("1.5"), "b": "9007199254740993", "_rescued": None},
    ]


def test_new_fields_come_behind_the_others_with_evidence_and_ddl():
    watch = fm.SchemaWatch(fm.Json(SCHEMA), policy="add", table="db.orders")
    data = b'{"id": 1, "b c": [1, 2.5]}\n{"id": "x", "a": null, "user": {"n": 1}}\n{"user": {"n": null, "m": {}}, "b c": []}\n'
    changes = watch.observe(fm.read(data, watch.format), place="day 1")
    assert [(c.column, c.before and str(c.before.type), str(c.after.type), c.count, c.first, c.examples) for c in changes] == [
        ("b c", None, "list<item: double>", 2, "day 1, row 0", ("[1,2.5]",)),
        ("id", "int32", "string", 1, "day 1, row 1", ('"x"',)),
        ("user", None, "struct<n: int64>", 2, "day 1, row 1", ('{"n":1}', '{"n":null,"m":{}}')),
    ]  # fmt: skip
    assert watch.format.schema.names == ["id", "name", "b c", "user", "_rescued"]
    assert watch.ddl == (
        "ALTER TABLE db.orders ADD COLUMNS (`b c` ARRAY<DOUBLE>)",
        "ALTER TABLE db.orders ALTER COLUMN id TYPE STRING",
        "ALTER TABLE db.orders ADD COLUMNS (user STRUCT<n: BIGINT>)",
    )
    rescued = fm.read(data, watch.format).column("_rescued").to_pylist()
    assert rescued == [None, '{"a":null}', '{"user":{"m":{}}}']  # null and {} say nothing of a type
    assert watch.observe(fm.read(data, watch.format)) == ()


def test_the_policies_differ_in_what_becomes_of_the_format():
    data = b'{"id": 1, "new": true}\n'
    rescue = fm.SchemaWatch(fm.Json(SCHEMA))
    assert [change.column for change in rescue.observe(fm.read(data, rescue.format))] == ["new"]
    assert rescue.format == fm.Json(SCHEMA, rescue="_rescued")
    fail = fm.SchemaWatch(fm.Json(SCHEMA), policy="fail", table="t1")
    with pytest.raises(
        fm.DriftError, match=r"'new' \(no column, needs bool; row 0: true\); apply: ALTER TABLE t1 ADD"
    ) as raised:
        fail.observe(fm.read(data, fail.format))
    assert raised.value.ddl == ("ALTER TABLE t1 ADD COLUMNS (new BOOLEAN)",)


def test_fields_of_csv_are_named_by_header_or_number():
    named = fm.SchemaWatch(fm.Csv(SCHEMA, header=True), policy="add")
    data = b"id,price,name,when\n1,1.50,a,x\n2,7,b,\n"
    named.observe(fm.read(data, named.format))
    assert [str(field.type) for field in named.format.schema] == ["int32", "string", "double", "string", "string"]
    assert fm.read(data, named.format).column("_rescued").null_count == 2
    numbered = fm.SchemaWatch(fm.Csv(SCHEMA), policy="add")
    data = b"1,a\n99999999999,b,,x,7\n3\n"
    numbered.observe(fm.read(data, numbered.format))
    assert numbered.format.schema.names == ["id", "name", "field_2", "field_3", "field_4", "_rescued"]
    assert fm.read(data, numbered.format).slice(1, 1).to_pylist() == [
        {"id": 99999999999, "name": "b", "field_2": None, "field_3": "x", "field_4": 7, "_rescued": None}
    ]


def test_one_of_two_equal_keys_and_a_broken_record_are_no_change():
    watch = fm.SchemaWatch(fm.Json(SCHEMA), policy="fail")
    assert watch.observe(fm.parse_records([b'{"id": 1, "id": 2}', b"broken"], watch.format)) == ()


def test_a_stream_with_many_new_fields_and_conflicts_loses_nothing(tmp_path):
    chance = random.Random(5)
    columns = [f"c{i}" for i in range(40)]
    start = fm.Json(pa.schema([(name, pa.int32()) for name in columns]))
    path = tmp_path / "drift.json"
    seen = total = restarts = 0
    for epoch in range(30):
        watch = fm.SchemaWatch(start, policy="add", state=path)  # every micro-batch by a new process, so to say
        format, version = watch.format, watch.version
        records = []
        for _ in range(60):
            record = {
                name: chance.choice([1, 2**31, 1.5, "t", None]) if epoch else 1 for name in chance.sample(columns, 5)
            }
            record |= {
                f"new{chance.randrange(10 * epoch + 1)}": chance.choice([1, 2.5, "t", True, [1], {"a": 1}])
                for _ in "ab"
            }
            records.append(record)
        data = "\n".join(map(json.dumps, records)).encode()
        table = fm.read(data, format)
        for row, record in zip(table.to_pylist(), records, strict=True):
            rescued = json.loads(row["_rescued"] or "{}")
            for name, value in record.items():
                total += 1
                column = row.get(name)
                arrived = column is not None or value is None or name in rescued
                seen += arrived and (name not in rescued or rescued[name] == value or isinstance(value, list | dict))
        watch.observe(table, place=f"epoch {epoch}")
        restarts += watch.version != version
        names = watch.format.schema.names
        assert names[: len(format.schema.names) - 1] == format.schema.names[:-1]  # order is kept
        before = {field.name: field for field in format.schema}
        for field in watch.format.schema:
            held = before.get(field.name)
            assert held is None or held == field or held.type != pa.string()  # text is the widest
    assert seen == total
    assert restarts <= 30 < len(watch.changes)


def test_state_survives_a_kill_at_any_time(tmp_path):
    script = """
import json, sys, itertools
import pyarrow as pa, formatter as fm
watch = fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int32())])), policy="add", state=sys.argv[1])
for n in itertools.count(len(watch.changes)):
    watch.observe(fm.read(json.dumps({"id": n, f"new{n}": n}).encode(), watch.format))
    print(n, flush=True)
"""
    path = tmp_path / "drift.json"
    noticed = 0
    for _ in range(3):
        process = subprocess.Popen([sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True)
        for _ in range(12):
            noticed = int(process.stdout.readline())
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        watch = fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int32())])), policy="add", state=path)
        names = [change.column for change in watch.changes]
        assert names[: noticed + 1] == [f"new{n}" for n in range(noticed + 1)]
        assert watch.format.schema.names == ["id", *names, "_rescued"]


def test_states_of_another_schema_and_damaged_ones_are_refused(tmp_path):
    path = tmp_path / "drift.json"
    fm.SchemaWatch(fm.Json(SCHEMA), state=path).observe(pa.array(['{"new": 1}']))
    with pytest.raises(fm.CheckpointError, match="of another schema"):
        fm.SchemaWatch(fm.Json(pa.schema([("id", pa.int64())])), state=path)
    path.write_text("{")
    with pytest.raises(fm.CheckpointError, match="cannot be read"):
        fm.SchemaWatch(fm.Json(SCHEMA), state=path)


def test_what_cannot_be_watched_is_refused():
    with pytest.raises(fm.OptionError, match="policy: expected one of rescue, add, fail"):
        fm.SchemaWatch(fm.Json(SCHEMA), policy="drop")
    with pytest.raises(fm.OptionError, match="paths="):
        fm.SchemaWatch(fm.Json(SCHEMA, paths={"id": "/a/id"}))
    with pytest.raises(fm.OptionError, match=r"expected fm\.Csv or fm\.Json"):
        fm.SchemaWatch(fm.Native(SCHEMA.remove(1)))
    with pytest.raises(fm.SchemaError, match="no column '_rescued'"):
        fm.SchemaWatch(fm.Json(SCHEMA)).observe(pa.table({"id": [1]}))


def test_a_watch_that_replays_the_steps_of_others_has_noticed_the_same():
    lines = [b'{"id": 1.5}', b'{"new": 1}', b'{"new": "x", "id": 99999999999}', b'{"new": [1]}']
    whole, parts = fm.SchemaWatch(fm.Json(SCHEMA)), fm.SchemaWatch(fm.Json(SCHEMA))
    whole.observe(fm.parse_records(lines, whole.format))
    for line in lines:
        task = fm.SchemaWatch(fm.Json(SCHEMA))
        task.observe(fm.parse_records([line], task.format))
        parts.replay(task.take_steps())
    assert [(c.column, c.after) for c in parts.changes] == [(c.column, c.after) for c in whole.changes]
