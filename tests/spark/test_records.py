"""One payload, one record: rows as from_json and from_csv give them, whatever rides along and whatever is wrong."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from patience import PATIENCE_S
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StringType, StructType

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema(
    [
        *(("a", pa.int64()), ("b", pa.string()), ("c", pa.float64()), ("d", pa.bool_())),
        *(("l", pa.list_(pa.int64())), ("s", pa.struct([("x", pa.string()), ("y", pa.int32())]))),
    ]
)
FLAT = pa.schema(list(SCHEMA)[:4])
DDL = "a BIGINT, b STRING, c DOUBLE, d BOOLEAN, l ARRAY<BIGINT>, s STRUCT<x: STRING, y: INT>"
FLAT_DDL = "a BIGINT, b STRING, c DOUBLE, d BOOLEAN"
JSON, CSV = fm.Json(SCHEMA), fm.Csv(FLAT)


def record(n):
    full = {
        "a": n, "b": f"text {n} é\n\"q\"", "c": n / 8, "d": n % 2 == 0, "l": list(range(n % 4)), "s": {"x": str(n), "y": n},
    }  # fmt: skip
    return {key: value for at, (key, value) in enumerate(full.items()) if (n + at) % 7} | (
        {"more": [1]} if n % 5 else {}
    )


def csv_record(n):
    return f'{n},"text {n}, ""q""\nline",{n / 8},{str(n % 2 == 0).lower()}'


@pytest.fixture(scope="module")
def payloads(spark):
    rows = [
        (n, f"k{n % 3}", json.dumps(record(n), indent=2 if n % 4 == 0 else None) if n % 9 else None, csv_record(n))
        for n in range(1, 200)
    ]
    return spark.createDataFrame(rows, "n INT, key STRING, json STRING, csv STRING").repartition(3).cache()


def rows(df):
    return sorted(map(repr, df.collect()))


@pytest.mark.parametrize("binary", [False, True])
def test_json_rows_are_those_of_from_json(payloads, binary):
    theirs = payloads.select(F.from_json("json", DDL).alias("v"), "n").select("v.*", "n")
    source = payloads.withColumn("json", F.encode("json", "utf-8")) if binary else payloads
    ours = su.parse(source, JSON, payload="json", unit="record", keep=["n"])
    assert ours.columns == [*SCHEMA.names, "n", "error"]
    assert rows(ours.drop("error")) == rows(theirs)
    assert ours.where("error is not null").count() == 0


def test_csv_rows_are_those_of_from_csv(payloads):
    options = {"escape": '"', "multiLine": "true"}
    theirs = payloads.select(F.from_csv("csv", FLAT_DDL, options).alias("v"), "key").select("v.*", "key")
    ours = su.parse(payloads, CSV, payload="csv", unit="record", keep=["key"], error=None)
    assert rows(ours) == rows(theirs)


def test_columns_are_a_projection_in_their_order_and_filters_drop_rows(payloads):
    ours = su.parse(
        payloads,
        JSON,
        payload="json",
        unit="record",
        columns=["c", "a"],
        filters=[("a", ">", 150)],
        keep=["n"],
        error=None,
    )
    assert ours.columns == ["c", "a", "n"]
    expected = [(record(n).get("c"), n, n) for n in range(151, 200) if n % 9 and n % 7]
    assert sorted(map(tuple, ours.collect()), key=lambda row: row[1]) == expected


POISON = [
    '{"a":1,"b":"fine"}', '{"a":"bad","b":"kept"}', '{"a":3', "[1,2]", "", None, "   ", '{"a":7} tail',
    '{"a":99999999999999999999}',
]  # fmt: skip


@pytest.fixture(scope="module")
def poisoned(spark):
    return spark.createDataFrame(list(enumerate(POISON)), "n INT, value STRING")


def test_a_bad_record_gives_null_fields_and_says_what_was_wrong_and_where(poisoned):
    parsed = (
        su.parse(poisoned, JSON, payload="value", unit="record", columns=["a", "b"], keep=["n"]).orderBy("n").collect()
    )
    assert [(row.a, row.b) for row in parsed] == [
        *((1, "fine"), (None, "kept"), (None, None), (None, None), (None, None), (None, None), (None, None)),
        *((None, None), (None, None)),
    ]
    codes = [row.error and row.error.code for row in parsed]
    assert codes == [None, "wrong_type", "malformed", "not_an_object", None, None, None, "trailing_data", "overflow"]
    told = parsed[1].error
    assert (told.column, told.byte_offset) == ("a", 5)
    assert "expected int64, found '\"bad\"'" in told.message
    assert "value 1" not in told.message


def test_null_fields_of_bad_records_are_those_of_from_json(poisoned):
    theirs = poisoned.select("n", F.from_json("value", "a BIGINT, b STRING").alias("v")).select("n", "v.a", "v.b")
    ours = su.parse(poisoned, JSON, payload="value", unit="record", columns=["a", "b"], keep=["n"]).select(
        "n", "a", "b"
    )
    different = {row.n for row in ours.exceptAll(theirs).collect()} | {
        row.n for row in theirs.exceptAll(ours).collect()
    }
    # Spark reads the first element of an array, what an object holds before it breaks off, and one before a tail.
    assert different <= {2, 3, 7}


def test_skip_drops_bad_records_and_keeps_null_and_blank_ones(poisoned):
    parsed = su.parse(poisoned, JSON, payload="value", unit="record", keep=["n"], on_error="skip")
    assert "error" not in parsed.columns
    assert sorted(row.n for row in parsed.collect()) == [0, 4, 5, 6]


def test_raise_fails_the_job_with_the_column_and_place(poisoned):
    one_bad = poisoned.where("n < 2")
    parsed = su.parse(one_bad, JSON, payload="value", unit="record", on_error="raise")
    with pytest.raises(Exception, match=r"FormatError: json: value \d+, field 0 'a', byte 5: expected int64"):
        parsed.where("b = 'kept'").collect()


def test_collect_keeps_the_bad_bytes_beside_the_error(poisoned):
    parsed = su.parse(poisoned, JSON, payload="value", unit="record", keep=["n"], on_error="collect", error="why")
    raw = {row.n: bytes(row.why.raw).decode() for row in parsed.where("why is not null").collect()}
    assert raw == {n: POISON[n] for n in (1, 2, 3, 7, 8)}


def test_the_error_column_has_the_name_that_is_asked_for_or_is_left_out(poisoned):
    assert su.parse(poisoned, JSON, payload="value", unit="record", error="oops").columns[-1] == "oops"
    assert su.parse(poisoned, JSON, payload="value", unit="record", error=None).columns == SCHEMA.names


AWKWARD = [
    "n", "named_struct('t', current_timestamp(), 'm', map('k', array(1.5D))) nested", "cast(1.5 as decimal(38, 10)) dec",
    "timestamp'2024-01-01 00:00:00' ts", "timestamp_ntz'2024-01-01 00:00:00' ntz", "cast(null as double) nothing",
    "cast(n as byte) tiny", "date'1582-10-15' day", "cast(null as array<struct<a: int>>) no_list",
]  # fmt: skip
IN_JVM_ONLY = [
    "make_interval(1, 2, 3) cal", "interval '1-2' year to month ym", "interval '3 04' day to hour dt", "null void",
    "parse_json('{\"x\": [1]}') variant", "n `dotted.name`", "array(interval '1-1' year to month) list",
    "'é' collate unicode_ci word",
]  # fmt: skip


@pytest.mark.parametrize("extra", [[], IN_JVM_ONLY], ids=["through Arrow", "beside"])
@pytest.mark.parametrize("on_error", ["null", "skip"])
def test_kept_columns_of_any_type_come_out_as_they_went_in(poisoned, extra, on_error):
    source = poisoned.selectExpr("value", *AWKWARD, *extra)
    kept = [name for name in source.columns if name != "value"]
    parsed = su.parse(source, JSON, payload="value", unit="record", columns=["a"], keep=kept, on_error=on_error)
    quoted = [f"`{name}`" for name in kept]
    assert parsed.select(*quoted).schema == source.select(*quoted).schema
    survivors = source if on_error == "null" else source.where("n in (0, 4, 5, 6)")
    shown = [
        f"cast({name} as string) x{at}"
        for at, name in enumerate(quoted)
        if "variant" not in name and "void" not in name
    ]
    shown = [expression for expression in shown if "ts" not in expression and "nested" not in expression]
    assert rows(parsed.selectExpr(*shown)) == rows(survivors.selectExpr(*shown))
    assert parsed.where("a = 1").count() == 1


def test_the_payload_itself_may_be_kept(poisoned):
    options = {"payload": "value", "unit": "record", "error": None}
    parsed = su.parse(poisoned, JSON, columns=["a"], keep=["value"], **options)
    assert {(row.value, row.a) for row in parsed.collect()} >= {(POISON[0], 1), (None, None)}


def test_types_spark_lacks_are_widened_and_columns_are_nullable(spark):
    format = fm.Json(pa.schema([pa.field("u", pa.uint32(), nullable=False), pa.field("t", pa.timestamp("ms"))]))
    df = spark.createDataFrame([('{"u":4294967295,"t":"2024-01-01T00:00:00"}',), (None,)], "value STRING")
    parsed = su.parse(df, format, payload="value", unit="record", error=None)
    assert parsed.schema["u"].dataType == LongType()
    assert parsed.schema["u"].nullable
    assert sorted(row.u or 0 for row in parsed.collect()) == [0, 4294967295]


def test_a_stream_of_messages_is_parsed_row_by_row(spark, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.txt").write_text("\n".join(text for text in POISON if text))
    stream = su.parse(spark.readStream.text(str(tmp_path / "in")), JSON, payload="value", unit="record", columns=["a"])
    query = (
        stream.writeStream.format("memory").queryName("record_stream").option("checkpointLocation", str(tmp_path / "at"))
        .trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination(PATIENCE_S)
    assert sorted(row.a for row in spark.table("record_stream").where("a is not null").collect()) == [1]
    assert spark.table("record_stream").where("error is not null").count() == 5


def test_a_task_that_runs_twice_gives_the_same_rows_twice():
    from spark_udfs.records.record_task import RecordTask

    task = RecordTask(JSON, "value", keep=StructType(), columns=None, filters=None, on_error="null", error="error")
    batch = pa.RecordBatch.from_pydict({"value": pa.array(POISON)})
    assert list(task([batch])) == list(task([batch]))


def test_no_rows_and_empty_partitions_give_no_rows(payloads):
    assert su.parse(payloads.where("n < 0"), JSON, payload="json", unit="record").collect() == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"payload": "nope"}, fm.SchemaError, "no column 'nope'.*payload="),
        ({"payload": "n"}, fm.SchemaError, "expected a string or binary, found int; cast it first"),
        ({"keep": ["nope"]}, fm.SchemaError, "no column 'nope'.*keep="),
        ({"keep": "n"}, fm.OptionError, "keep is a list of names"),
        ({"columns": "a"}, fm.OptionError, "columns is a list of names"),
        ({"columns": ["nope"]}, fm.SchemaError, "nope"),
        ({"on_error": "ignore"}, fm.OptionError, "'null', 'skip', 'raise' or 'collect'"),
        ({"on_error": "collect", "error": None}, fm.OptionError, "name it in error="),
        ({"error": "a"}, fm.SchemaError, "two columns would be named 'a'"),
        ({"stitch": "origin"}, fm.OptionError, "nothing is to be stitched"),
        ({"unit": "row"}, fm.OptionError, "unit is 'chunk' or 'record'"),
    ],
)
def test_wrong_options_are_refused_while_the_query_is_planned(poisoned, options, error, message):
    with pytest.raises(error, match=message):
        su.parse(poisoned, JSON, **({"payload": "value", "unit": "record"} | options))


def test_a_string_payload_and_its_bytes_read_the_same(payloads):
    text = su.parse(payloads, CSV, payload="csv", unit="record", error=None)
    as_bytes = su.parse(
        payloads.withColumn("csv", F.encode("csv", "utf-8")), CSV, payload="csv", unit="record", error=None
    )
    assert rows(text) == rows(as_bytes)
    assert text.schema["b"].dataType == StringType()
