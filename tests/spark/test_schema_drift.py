"""A query whose data outgrows its schema notices it, reads on, and starts anew with what is new, losing nothing."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("id", pa.int32()), ("name", pa.string())])


def records_of(spark, records):
    return spark.createDataFrame([(json.dumps(record),) for record in records], "value STRING").repartition(3)


@pytest.mark.parametrize("unit", ["record", "chunk"])
def test_tasks_tell_the_watch_what_they_notice(spark, tmp_path, unit):
    watch = fm.SchemaWatch(fm.Json(SCHEMA), policy="add", state=tmp_path / "drift.json")
    records = [{"id": n, f"new{n % 7}": n / 2} for n in range(60)] + [{"id": "x"}]
    if unit == "record":
        df = records_of(spark, records)
        options = {"payload": "value", "unit": "record", "error": None}
    else:
        lines = [json.dumps(record).encode() + b"\n" for record in records]
        rows = [(n % 4, n // 4 + 1, bytearray(line)) for n, line in enumerate(lines)]
        df, options = spark.createDataFrame(rows, "origin INT, sequence BIGINT, payload BINARY"), {}
    first = su.parse(df, fm.Json(SCHEMA), evolve=watch, **options)
    assert first.where("_rescued IS NOT NULL").count() == 61
    assert {change.column: str(change.after.type) for change in watch.changes} == {
        "id": "string", **{f"new{n}": "double" for n in range(7)},
    }  # fmt: skip
    again = su.parse(df, fm.Json(SCHEMA), evolve=watch, **options)
    assert sorted(again.columns) == sorted([*SCHEMA.names, *(f"new{n}" for n in range(7)), "_rescued"])
    assert again.where("_rescued IS NOT NULL").count() == 0
    assert fm.SchemaWatch(fm.Json(SCHEMA), policy="add", state=tmp_path / "drift.json").format == watch.format


def test_the_policy_fail_fails_the_query_with_the_statements_to_apply(spark):
    watch = fm.SchemaWatch(fm.Json(SCHEMA), policy="fail", table="db.events")
    df = su.parse(records_of(spark, [{"price": 1.5}]), watch.format, payload="value", unit="record", evolve=watch)
    with pytest.raises(Exception, match=r"ALTER TABLE db\.events ADD COLUMNS \(price DOUBLE\)"):
        df.collect()


def test_a_stream_starts_anew_at_most_once_a_change_and_loses_nothing(spark, tmp_path):
    source, state = tmp_path / "in", tmp_path / "drift.json"
    source.mkdir()
    expected = []
    for epoch in range(6):
        records = [{"id": 100 * epoch + n, **({f"new{epoch // 2}": n} if epoch % 2 else {})} for n in range(10)]
        expected += records
        (source / f"{epoch}.json").write_text("\n".join(map(json.dumps, records)))
    watch = fm.SchemaWatch(fm.Json(SCHEMA), policy="add", state=state)
    batches, starts = {}, []

    def keep(df, epoch):
        batches[epoch] = [row.asDict() for row in df.collect()]

    def start():
        starts.append(watch.version)
        lines = spark.readStream.option("maxFilesPerTrigger", 1).text(str(source))
        parsed = su.parse(lines, watch.format, payload="value", unit="record", error=None, evolve=watch)
        writer = parsed.writeStream.foreachBatch(keep).option("checkpointLocation", str(tmp_path / "checkpoint"))
        return writer.trigger(availableNow=True).start()

    assert not su.run_evolving(start, watch).isActive
    assert len(set(starts)) == len(starts) <= 1 + len(watch.changes)
    assert sorted(change.column for change in watch.changes) == ["new0", "new1", "new2"]
    rows = [row for epoch in sorted(batches) for row in batches[epoch]]
    found = []
    for row in rows:
        record = {name: value for name, value in row.items() if value is not None and name not in ("_rescued", "name")}
        found.append(record | json.loads(row["_rescued"] or "{}"))
    assert sorted(found, key=repr) == sorted(expected, key=repr)


def test_what_cannot_evolve_is_refused(spark):
    df = records_of(spark, [{"id": 1}])
    watch = fm.SchemaWatch(fm.Json(SCHEMA))
    with pytest.raises(fm.OptionError, match=r"evolve is a fm\.SchemaWatch"):
        su.parse(df, watch.format, payload="value", unit="record", evolve="add")
    with pytest.raises(fm.OptionError, match="another format"):
        su.parse(df, fm.Csv(SCHEMA), payload="value", unit="record", evolve=watch)
    with pytest.raises(fm.OptionError, match="name it in columns="):
        su.parse(df, watch.format, payload="value", unit="record", columns=["id"], evolve=watch)
