"""Payloads that wrap arrays, in Spark: rows as Spark's own from_json and explode give them, other columns repeated."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("id", pa.int64()), ("t", pa.string())])
FORMAT = fm.Json(SCHEMA, records="/Records/*")
DDL = "Records ARRAY<STRUCT<id: BIGINT, t: STRING>>"


@pytest.fixture(scope="module")
def payloads(spark):
    rows = [
        (f"k{n}", n, json.dumps({"of": n, "Records": [{"id": 10 * n + i, "t": "x" * i} for i in range(n % 5)]}))
        for n in range(60)
    ]
    return spark.createDataFrame(
        [*rows, ("null", -1, None), ("none", -2, "{}")], "key STRING, n INT, value STRING"
    ).repartition(3)


def exploded(payloads):
    return payloads.select("key", "n", F.explode(F.from_json("value", DDL).Records).alias("v"))


def test_other_columns_are_repeated_as_explode_repeats_them(payloads):
    ours = su.parse_column(payloads, "value", FORMAT).select("key", "n", "v.id", "v.t")
    theirs = exploded(payloads).select("key", "n", "v.id", "v.t")
    assert sorted(ours.collect()) == sorted(theirs.collect())
    assert ours.count() == theirs.count() == 120
    parsed = su.parse(payloads, FORMAT, payload="value", unit="record", keep=["n"], error=None)
    assert sorted(parsed.collect()) == sorted(exploded(payloads).select("v.id", "v.t", "n").collect())


def test_queries_above_see_the_same_rows_with_pushdown(spark, payloads):
    su.enable_pushdown(spark)
    try:
        rows = su.parse_column(payloads, "value", FORMAT)
        theirs = exploded(payloads)
        assert sorted(rows.where("v.id > 300").select("n", "v.t").collect()) == sorted(
            theirs.where("v.id > 300").select("n", "v.t").collect()
        )
        assert rows.select("n").distinct().count() == theirs.select("n").distinct().count()
        assert rows.count() == 120
        parsed = su.parse(payloads, FORMAT, payload="value", unit="record", keep=["n"], error=None)
        wanted = [(n, sum(1 for _ in range(n % 5))) for n in range(60) if n % 5]
        assert sorted(map(tuple, parsed.groupBy("n").count().collect())) == wanted
    finally:
        su.disable_pushdown(spark)


def test_columns_that_cannot_travel_stay_where_they_are_and_are_repeated(spark, payloads):
    frame = payloads.withColumn("gap", F.expr("make_interval(0, 0, 0, n)"))
    ours = su.parse_column(frame, "value", FORMAT, error="wrong").select("n", F.expr("'' || gap"), "v.id", "wrong")
    theirs = exploded(payloads).select("n", F.expr("'' || make_interval(0, 0, 0, n)"), "v.id", F.lit(None))
    assert sorted(map(tuple, ours.collect())) == sorted(map(tuple, theirs.collect()))


def test_each_bad_record_says_what_is_wrong_beside_the_good_ones_of_its_payload(spark):
    frame = spark.createDataFrame(
        [(1, '{"Records":[{"id":1},7,{"id":"x"}]}'), (2, "nope"), (3, None)], "n INT, value STRING"
    )
    for on_error, ids in (("null", [1, None, None, None]), ("collect", [1, None, None, None]), ("skip", [1])):
        error = None if on_error == "skip" else "wrong"
        rows = su.parse(
            frame, FORMAT, payload="value", unit="record", keep=["n"], on_error=on_error, error=error
        ).collect()
        assert [row.id for row in rows] == ids
        if on_error == "skip":
            continue
        assert [row.wrong and (row.wrong.code, row.wrong.byte_offset) for row in rows] == [
            None, ("not_an_object", 21), ("wrong_type", 29), ("not_an_object", 0),
        ]  # fmt: skip
        if on_error == "collect":
            assert [row.wrong and bytes(row.wrong.raw) for row in rows] == [None, b"7", b'{"id":"x"}', b"nope"]
