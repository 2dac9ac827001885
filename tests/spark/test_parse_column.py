"""A column of records becomes a struct beside the others, as from_json does it."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string()), ("t", pa.list_(pa.string()))])
DDL = "a BIGINT, b STRING, t ARRAY<STRING>"
JSON = fm.Json(SCHEMA)


@pytest.fixture(scope="module")
def values(spark):
    texts = [json.dumps({"a": n, "b": f"b{n}", "t": ["x"] * (n % 3)}) for n in range(50)]
    texts += ['{"b": "only b"}', '{"a": "bad", "b": "kept"}', "not json", "", None, '{\n"a": 1\n}']
    rows = [(n, text, f"day {n}") for n, text in enumerate(texts)]
    return spark.createDataFrame(rows, "n INT, value STRING, day STRING")


def rows(df):
    return sorted(map(repr, df.collect()))


def test_the_frame_is_that_of_from_json_with_the_struct_null_where_the_record_is(values):
    theirs = values.select("*", F.from_json("value", DDL).alias("v"))
    ours = su.parse_column(values, "value", JSON)
    assert ours.columns == ["n", "value", "day", "v"]
    assert ours.schema["v"].dataType == theirs.schema["v"].dataType
    assert rows(ours) == rows(theirs)
    assert [row.n for row in ours.where("v is null").collect()] == [53, 54]


def test_fields_are_reached_as_from_a_struct(values):
    ours = su.parse_column(values, "value", JSON, into="record")
    assert ours.where("record.a > 45").select("record.b", F.size("record.t")).count() == 4
    assert ours.select("record.*").columns == ["a", "b", "t"]


def test_columns_choose_the_fields(values):
    assert su.parse_column(values, "value", JSON, columns=["b", "a"]).schema["v"].dataType.names == ["b", "a"]


def test_errors_are_a_column_on_request(values):
    told = su.parse_column(values, "value", JSON, error="oops").where("oops is not null")
    assert {(row.n, row.oops.code, row.oops.column) for row in told.collect()} == {
        (51, "wrong_type", "a"),
        (52, "not_an_object", None),
    }
    kept = su.parse_column(values, "value", JSON, error="oops", on_error="collect").where("n = 52").first()
    assert bytes(kept.oops.raw) == b"not json"


def test_skip_and_raise_are_there_too(values):
    assert su.parse_column(values, "value", JSON, on_error="skip").count() == 54
    with pytest.raises(Exception, match="FormatError"):
        su.parse_column(values, "value", JSON, on_error="raise").collect()


@pytest.mark.parametrize("on_error", ["null", "skip"])
def test_columns_that_cannot_travel_stay_where_they_are(values, on_error):
    wide = values.selectExpr(
        "*", "make_interval(n) gap", "parse_json(concat('[', n, ']')) doc", "null nothing", "n as `a.b`", "n as n"
    )
    ours = su.parse_column(wide, "value", JSON, on_error=on_error)
    assert ours.columns == [*wide.columns, "v"]
    assert ours.schema[:-1] == wide.schema[:]
    good = values.where("n not in (51, 52)") if on_error == "skip" else values
    plain = su.parse_column(good, "value", JSON)
    assert rows(ours.select("value", "day", "v")) == rows(plain.select("value", "day", "v"))
    assert rows(ours.selectExpr("cast(gap as string)", "cast(doc as string)", "`a.b`")) == rows(
        good.selectExpr("cast(make_interval(n) as string) gap", "concat('[', n, ']') doc", "n as `a.b`")
    )


def test_several_columns_of_records_are_parsed_one_after_the_other(values):
    twice = values.withColumn("other", F.lit('{"a": 5}'))
    both = su.parse_column(su.parse_column(twice, "value", JSON), "other", JSON, into="w")
    assert both.where("v.a = 3").select("w.a").first()[0] == 5


def test_csv_values_work_the_same(values, spark):
    df = spark.createDataFrame([("1,x",), ('2,"y\nz"',), (None,)], "line STRING")
    parsed = su.parse_column(df, "line", fm.Csv(pa.schema([("i", pa.int64()), ("s", pa.string())])))
    assert sorted((row.v.i, row.v.s) for row in parsed.where("v is not null").collect()) == [(1, "x"), (2, "y\nz")]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"into": "DAY"}, "there is a column 'DAY' already"),
        ({"error": "value"}, "there is a column 'value' already"),
        ({"error": "v"}, "two columns would be named 'v'"),
        ({"columns": ["z"]}, "'z'"),
    ],
)
def test_names_that_are_taken_are_refused(values, options, message):
    with pytest.raises(fm.SchemaError, match=message):
        su.parse_column(values, "value", JSON, **options)
