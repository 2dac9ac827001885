"""compat="spark": the structs of from_json and from_csv, to the last row."""

from __future__ import annotations

import pyarrow as pa
import pytest
from compat_soup import PER_FAILFAST, compare, differences, read_here
from generated_records import USUAL, Case
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su

RECORDS, SEED = 5000, 17
DDL = "a INT, s STRING, _corrupt_record STRING"
JSON = [
    '{"a": 1, "s": "x"}', '{"a": 1.0, "s": "x"}', '{"a": "1", "s": 2}', '{"s": {"b": [1.50, 1e3]}}', '{"a": 1} {"a": 2}', "[]",
    None,
    '[{"a": 3}, {"a": 4}]', "{'a': 5}", '{"a": 6', "", " ", "null", '{"a": 7, "a": 8}', '\ufeff{"a": 9}', 
    '{"a": 2147483648, "s": "y"}',
    '{"s": "\\ud800"}', '{"s": "a\nb"}', '{"b": ' + "[" * 1001 + "]" * 1001 + "}", '{"b": ' + "1" * 1001 + "}",
    '{"b": ' + "[" * 999 + "]" * 999 + ', "a": 1}', '{"b": ' + "1" * 1000 + ', "a": 1}', '{"b": 01, "a": 1}',
    '{"_corrupt_record": "z"}',
]  # fmt: skip
CSV = [
    "1,x",
    "1",
    "1,x,y",
    '1,"x, y"',
    '1,"x ""y"""',
    '1,"x \\"y\\""',
    "1,",
    ",",
    "",
    " ",
    None,
    "z,x",
    '1,""',
    "1,x\n2,y",
    "\ufeff1,x",
]


def case(kind, schema, records, **options):
    return Case(kind, schema, options, records, USUAL)


def test_random_records_and_options_give_what_from_json_and_from_csv_give(pushing):
    assert compare(pushing, RECORDS, SEED) == []


@pytest.mark.parametrize("as_bytes", [False, True])
@pytest.mark.parametrize(("kind", "records", "least"), [("json", JSON, 4), ("csv", CSV, 4)])
def test_records_that_spark_reads_otherwise_are_read_by_spark_and_usual_ones_are_not(
    pushing, kind, records, least, as_bytes
):
    wanted = case(kind, DDL, records)
    assert differences(pushing, wanted, as_bytes) == []
    assert least <= read_here(pushing, wanted) < len(records)
    assert read_here(pushing, case(kind, DDL, records[:1] * 100)) == 100 - (kind == "csv")  # the first one of a task


def test_a_byte_order_mark_is_passed_over_in_front_of_the_first_record_of_a_task_alone(pushing):
    for records in (["1,x", "\ufeff2,y"], ["\ufeff1,x", "\ufeff2,y"], [None, "\ufeff1,x", "2,y"], ["", "\ufeff1,x"]):
        for as_bytes in (False, True):
            assert differences(pushing, case("csv", "a INT, s STRING", records), as_bytes) == [], records


@pytest.mark.parametrize(
    ("schema", "values"),
    [
        ("v DOUBLE, w FLOAT, l ARRAY<DOUBLE>", ["-0", "-0.0", "1e400", "9223372586610589697", "0.1", '"NaN"', "NaN"]),
        ("v TINYINT, w SMALLINT, l ARRAY<INT>", ["200", "-129", "1.0", "1e2", "-0", "127"]),
        ("v TIMESTAMP, w TIMESTAMP_NTZ, l ARRAY<TIMESTAMP_NTZ>", [
            '"2024-02-29T10:11:12+02:00"', '"2024-02-29t10:11:12"', '"2024-02-29T10:11:12.1234567"', '"2024-02-29T10:11"',
            '"2024-02-29"',
            '"2024-02-29T10:11:12+19:00"', '"2024-02-29 10:11:12.5"', "12", '"20240229T101112"', '"2024-02-29T10:11:12Z"',
        ]),
        ("v DATE, w DECIMAL(5,2), l ARRAY<DATE>", ['"2024-02-29"', '"20240229"', '"2024-2-9"', "1.239", "1e2", '"1,234"',
        '"2024-02-29T00"']),
        ("v BINARY, w BOOLEAN, l MAP<STRING, BINARY>", ['"AAAA"', '"A-_A"', '"AA=="', '"AA"', "true",
        '{"k": "A-_A", "k": "AAAA"}']),
    ],
)  # fmt: skip
def test_values_that_can_be_written_in_several_ways_are_those_of_spark(pushing, schema, values):
    records = [f'{{"v": {value}, "w": {value}, "l": [{value}]}}' for value in values]
    records += [f'{{"v": {value}, "l": {value}}}' for value in values]
    assert differences(pushing, case("json", schema, records), as_bytes=False) == []
    flat = schema.rpartition(", l ")[0].replace("BINARY", "STRING")
    fields = [value.strip('"') for value in values]
    assert (
        differences(pushing, case("csv", flat, [f"{field},{field}" for field in fields], sep=","), as_bytes=False) == []
    )


def test_modes_and_settings_are_those_of_spark(pushing):
    for mode in ("FAILFAST", "DROPMALFORMED", "nonsense"):
        for records in (JSON[:1], JSON[:PER_FAILFAST]):
            assert differences(pushing, case("json", DDL, records, mode=mode), as_bytes=False) == []
    partial = Case("json", DDL, {}, JSON, {**USUAL, "spark.sql.json.enablePartialResults": "false"})
    assert differences(pushing, partial, as_bytes=False) == []


def test_single_fields_are_those_of_spark_with_pushdown(pushing):
    df = pushing.createDataFrame([(n, record) for n, record in enumerate(JSON)], "n INT, value STRING")
    ours = su.parse_column(df, "value", "json", schema=DDL, compat="spark")
    theirs = df.withColumn("v", F.from_json("value", DDL))
    for query in (["n", "v.a"], ["n", "v._corrupt_record", "v.s"], ["n", "v"]):
        assert sorted(map(repr, ours.select(*query).collect())) == sorted(map(repr, theirs.select(*query).collect()))
    assert ours.where("v.a = 1").count() == theirs.where("v.a = 1").count()
    assert ours.where("v is null").count() == theirs.where("v is null").count()
    assert ours.schema["v"].dataType == theirs.schema["v"].dataType


def test_columns_that_cannot_travel_stay_where_they_are(spark):
    df = spark.createDataFrame([(n, record) for n, record in enumerate(JSON)], "n INT, value STRING")
    wide = df.selectExpr("*", "make_interval(n) gap", "n as `a.b`")
    ours = su.parse_column(wide, "value", "json", schema=DDL, compat="spark")
    assert ours.columns == [*wide.columns, "v"]
    plain = su.parse_column(df, "value", "json", schema=DDL, compat="spark")
    assert sorted(map(repr, ours.select("n", "v").collect())) == sorted(map(repr, plain.select("n", "v").collect()))


def test_parse_gives_the_fields_as_columns(spark):
    df = spark.createDataFrame([(n, record) for n, record in enumerate(CSV)], "n INT, payload STRING")
    ours = su.parse(df, "csv", schema=DDL, unit="record", keep=["n"], compat="spark")
    theirs = df.select(F.from_csv("payload", DDL).alias("v"), "n").select("v.*", "n")
    assert ours.schema == theirs.schema
    assert sorted(map(repr, ours.collect())) == sorted(map(repr, theirs.collect()))
    some = su.parse_column(
        df, "payload", fm.Csv(pa.schema([("a", pa.int32()), ("s", pa.string())])), columns=["a"], compat="spark"
    )
    assert some.schema["v"].dataType.names == ["a"]


def test_what_spark_has_no_word_for_is_refused(spark):
    df = spark.createDataFrame([("{}",)], "value STRING")
    json = fm.Json(pa.schema([("a", pa.int64())]))
    for options, message in (
        ({"on_error": "skip"}, "on_error= does not go with compat"),
        ({"error": "e"}, "error= does not go with compat"),
        ({"rescue": "r"}, "rescue= does not go with compat"),
        ({"columns": {"a": "variant"}}, "say it in schema="),
        ({"schema": "a INT"}, "give 'json', with schema= and options="),
    ):
        with pytest.raises(fm.OptionError, match=message):
            su.parse_column(df, "value", json, compat="spark", **options)
    with pytest.raises(fm.OptionError, match="compat is 'spark' or None"):
        su.parse_column(df, "value", json, compat="hive")
    with pytest.raises(fm.OptionError, match="for unit='record'"):
        su.parse(df, json, payload="value", compat="spark")
    with pytest.raises(fm.SchemaError, match="no column 'z'"):
        su.parse_column(df, "value", json, columns=["z"], compat="spark")
