"""Arrow types to Spark and back: lossless, or refused with a remedy before any task runs."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql import types as spark_types
from pyspark.sql.types import StructType

import formatter as fm
import spark_udfs as su
from formatter.variants import is_variant
from spark_udfs.types.spark_types import SparkColumns

# Arrow type, sample values, what they are in Spark
CARRIED = [
    (pa.bool_(), [True, None], "boolean", [True, None]),
    (pa.int8(), [-128, 127], "tinyint", [-128, 127]),
    (pa.int64(), [-(2**63), 2**63 - 1], "bigint", [-(2**63), 2**63 - 1]),
    (pa.uint8(), [0, 255], "smallint", [0, 255]),
    (pa.uint16(), [0, 65_535], "int", [0, 65_535]),
    (pa.uint32(), [0, 2**32 - 1], "bigint", [0, 2**32 - 1]),
    (pa.uint64(), [0, 2**64 - 1], "decimal(20,0)", [Decimal(0), Decimal(2**64 - 1)]),
    (pa.float16(), [1.5, None], "float", [1.5, None]),
    (pa.float64(), [0.1, -1e300], "double", [0.1, -1e300]),
    (pa.string(), ["", "ä"], "string", ["", "ä"]),
    (pa.string_view(), ["", "ä" * 20], "string", ["", "ä" * 20]),
    (pa.large_binary(), [b"\x00", None], "binary", [b"\x00", None]),
    (pa.binary(2), [b"ab", None], "binary", [b"ab", None]),
    (pa.dictionary(pa.int32(), pa.string()), ["a", "b"], "string", ["a", "b"]),
    (pa.date64(), [dt.date(1969, 12, 31)], "date", [dt.date(1969, 12, 31)]),
    (pa.timestamp("s"), [dt.datetime(2024, 2, 29, 1, 2, 3)], "timestamp_ntz", [dt.datetime(2024, 2, 29, 1, 2, 3)]),
    (pa.timestamp("ms"), [dt.datetime(1950, 1, 1)], "timestamp_ntz", [dt.datetime(1950, 1, 1)]),
    (pa.duration("ms"), [dt.timedelta(days=-1)], "interval day to second", [dt.timedelta(days=-1)]),
    (pa.decimal128(10, 2), [Decimal("1.25")], "decimal(10,2)", [Decimal("1.25")]),
    (pa.decimal256(38, 4), [Decimal("-1.0625")], "decimal(38,4)", [Decimal("-1.0625")]),
    (pa.decimal32(5, 2), [Decimal("-1.25")], "decimal(5,2)", [Decimal("-1.25")]),
    (pa.decimal64(15, 2), [None], "decimal(15,2)", [None]),
    (pa.decimal256(38, 38), [Decimal("0." + 38 * "9")], "decimal(38,38)", [Decimal("0." + 38 * "9")]),
    (pa.duration("us"), [dt.timedelta(microseconds=-1)], "interval day to second", [dt.timedelta(microseconds=-1)]),
    (pa.time32("s"), [dt.time(1, 2, 3)], "time(6)", [dt.time(1, 2, 3)]),
    (pa.time32("ms"), [dt.time(1, 2, 3, 4_000)], "time(6)", [dt.time(1, 2, 3, 4_000)]),
    (pa.time64("us"), [dt.time(23, 59, 59, 999_999)], "time(6)", [dt.time(23, 59, 59, 999_999)]),
    (pa.large_string(), ["ä", None], "string", ["ä", None]),
    (pa.null(), [None], "void", [None]),
    (pa.binary_view(), [b"x" * 20], "binary", [b"x" * 20]),
    (pa.list_(pa.string_view()), [["x" * 20, None]], "array<string>", [["x" * 20, None]]),
    (pa.list_(pa.dictionary(pa.int8(), pa.string())), [["a", "b"]], "array<string>", [["a", "b"]]),
    (pa.list_(pa.binary(2)), [[b"ab"]], "array<binary>", [[b"ab"]]),
    (
        pa.struct([("a", pa.large_list(pa.uint64())), ("b", pa.timestamp("s"))]),
        [{"a": [2**64 - 1], "b": dt.datetime(1970, 1, 1)}],
        "struct<a:array<decimal(20,0)>,b:timestamp_ntz>",
        [([Decimal(2**64 - 1)], dt.datetime(1970, 1, 1))],
    ),
    (pa.large_list(pa.uint8()), [[1, 255], []], "array<smallint>", [[1, 255], []]),
    (pa.list_(pa.int32(), 2), [[1, 2], None], "array<int>", [[1, 2], None]),
    (pa.struct([("a", pa.uint16())]), [{"a": 65_535}], "struct<a:int>", [(65_535,)]),
    (pa.map_(pa.string(), pa.int64()), [{"k": 1}], "map<string,bigint>", [{"k": 1}]),
]


@pytest.mark.parametrize(("arrow", "values", "name", "expected"), CARRIED, ids=[str(case[0]) for case in CARRIED])
def test_each_arrow_type_reaches_spark_with_its_values(spark, arrow, values, name, expected):
    decoded = pa.schema([pa.field("x", arrow)])
    columns = SparkColumns.of(decoded)
    assert columns.struct["x"].dataType.simpleString() == name
    batch = pa.RecordBatch.from_arrays([pa.array(values, arrow)], schema=decoded)
    rows = spark.range(0, 1, 1, 1).mapInArrow(lambda _: iter([columns.convert(batch)]), columns.struct).collect()
    assert [row.x for row in rows] == expected


REFUSED = [
    (pa.timestamp("ns"), r"timestamp\('us'\)"),
    (pa.duration("ns"), r"duration\('us'\)"),
    (pa.decimal256(50, 0), "at most 38 digits"),
    (pa.time64("ns"), r"time64\('us'\)"),
    (pa.list_view(pa.int32()), "declare list<"),
    (pa.uuid(), "declare another type"),
    (pa.run_end_encoded(pa.int32(), pa.string()), "declare another type"),
    (pa.month_day_nano_interval(), "leave the column out"),
    (pa.list_(pa.struct([("t", pa.timestamp("ns"))])), r"'x\.element\.t'"),
]


@pytest.mark.parametrize(("arrow", "remedy"), REFUSED, ids=[str(case[0]) for case in REFUSED])
def test_a_type_that_would_lose_values_is_refused_with_a_remedy(arrow, remedy):
    with pytest.raises(fm.SchemaError, match=remedy):
        SparkColumns.of(pa.schema([pa.field("x", arrow)]))


def test_a_value_outside_the_wider_type_is_an_error_not_a_wrong_value():
    schema = pa.schema([pa.field("x", pa.timestamp("s"))])
    batch = pa.RecordBatch.from_arrays([pa.array([2**60], pa.int64()).view(pa.timestamp("s"))], schema=schema)
    with pytest.raises(fm.FormatError, match="does not fit") as caught:
        SparkColumns.of(schema).convert(batch)
    assert (caught.value.code, caught.value.column) == ("overflow", "x")


def test_two_swapped_columns_of_one_type_never_pass():
    declared = SparkColumns.of(pa.schema([("a", pa.int64()), ("b", pa.int64())]))
    swapped = pa.RecordBatch.from_pydict({"b": [1], "a": [2]})
    with pytest.raises(fm.SchemaError, match="order counts"):
        declared.convert(swapped)


def test_no_columns_at_all_is_refused():
    with pytest.raises(fm.SchemaError, match="name at least one"):
        SparkColumns.of(pa.schema([]))


def test_required_columns_stay_required_through_conversion():
    decoded = pa.schema([pa.field("x", pa.uint8(), nullable=False)])
    columns = SparkColumns.of(decoded)
    assert not columns.struct["x"].nullable
    batch = pa.RecordBatch.from_arrays([pa.array([1], pa.uint8())], schema=decoded)
    assert columns.convert(batch).schema == pa.schema([pa.field("x", pa.int16(), nullable=False)])


def test_a_ddl_string_names_the_same_schema_as_arrow_does(spark):
    ddl = "id BIGINT NOT NULL, name STRING, at TIMESTAMP, tags ARRAY<STRING>, price DECIMAL(9,2)"
    assert su.arrow_schema(ddl) == pa.schema(
        [
            pa.field("id", pa.int64(), nullable=False),
            pa.field("name", pa.string()),
            pa.field("at", pa.timestamp("us", "UTC")),
            pa.field("tags", pa.list_(pa.field("element", pa.string()))),
            pa.field("price", pa.decimal128(9, 2)),
        ]
    )


def test_every_spark_type_comes_back_as_itself(spark):
    ddl = (
        "a BOOLEAN, b TINYINT, c SMALLINT, d INT, e BIGINT, f FLOAT, g DOUBLE, h STRING, i BINARY, j DATE, "
        "k TIMESTAMP, l TIMESTAMP_NTZ, m INTERVAL DAY TO SECOND, n DECIMAL(38,10), o ARRAY<INT>, "
        "p MAP<STRING,DOUBLE>, q STRUCT<r: INT, s: STRING>"
    )
    struct = StructType.fromDDL(ddl)
    assert SparkColumns.of(su.arrow_schema(struct)).struct == struct


def test_field_metadata_of_a_struct_type_reaches_the_arrow_schema():
    struct = StructType().add("body", "binary", metadata={"encoding": "base64"})
    assert su.arrow_schema(struct).field("body").metadata == {b"encoding": b"base64"}


def test_a_spark_type_without_an_arrow_like_is_refused_by_name():
    struct = StructType([spark_types.StructField("v", spark_types.CalendarIntervalType())])
    with pytest.raises(fm.SchemaError, match="column 'v' is interval"):
        su.arrow_schema(struct)


def test_a_collation_is_refused_rather_than_lost(spark):  # which reads declarations with collations itself
    for ddl in ("a STRING COLLATE UTF8_LCASE", "a ARRAY<STRING COLLATE UNICODE_CI>"):
        with pytest.raises(fm.SchemaError, match=r"texts are parsed without a collation; declare a STRING"):
            su.arrow_schema(ddl)
    assert su.arrow_schema("a STRING COLLATE UTF8_BINARY").types == [pa.string()]


def test_a_variant_keeps_its_mark_both_ways():
    struct = StructType([spark_types.StructField("v", spark_types.ArrayType(spark_types.VariantType()))])
    assert is_variant(su.arrow_schema(struct).field("v").type.value_type)
    assert SparkColumns.of(su.arrow_schema(struct)).struct == struct


def test_something_that_is_no_schema_is_refused():
    with pytest.raises(fm.SchemaError, match="found int"):
        su.arrow_schema(7)
