"""Schemas as DDL are read as Spark reads them, without asking it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyspark.sql import types as spark_types

import spark_udfs as su
from spark_udfs.types.ddl import PLAIN, struct_type

WORDS = sorted({*PLAIN, "timestamp", "decimal", "decimal(10,2)", "dec ( 38 , 0 )", "NUMERIC(5)"})
NAMES = st.sampled_from(["a", "b_1", "`a b`", "`x``y`", "Id", "date", "value", "`,`", "_c0", "timestamp"])


def nested(inner):
    fields = st.lists(
        st.tuples(NAMES, st.sampled_from([" ", ": ", ":"]), inner), min_size=1, max_size=3, unique_by=lambda f: f[0]
    )
    return st.one_of(
        inner.map(lambda item: f"array<{item}>"),
        st.tuples(inner, inner).map(lambda pair: f"map<{pair[0]}, {pair[1]}>"),
        fields.map(lambda found: "struct<" + ", ".join(map("".join, found)) + ">"),
    )


TYPES = st.recursive(st.sampled_from(WORDS + [word.upper() for word in WORDS]), nested, max_leaves=4)
FIELDS = st.tuples(NAMES, TYPES, st.sampled_from(["", " NOT NULL", " not null"]))
DDLS = st.lists(FIELDS, min_size=1, max_size=4, unique_by=lambda field: field[0]).map(
    lambda fields: ", ".join(f"{name} {type_}{end}" for name, type_, end in fields)
)


@settings(max_examples=150, deadline=None)
@given(ddl=DDLS)
def test_what_is_read_here_is_what_spark_reads(spark, ddl):
    found = struct_type(ddl, spark_types.TimestampType())
    assert found is not None, ddl
    assert found == spark_types.StructType.fromDDL(ddl)


@pytest.mark.parametrize(
    "ddl",
    ["a INT COMMENT 'x'", "a STRING COLLATE UNICODE", "a INTERVAL DAY TO SECOND", "a", "a INT,", "a INT b", "a DECIMAL(39,1)",
     "a DECIMAL(3,4)", "1a INT", "a array<int", "a INT, A INT", "", "a.b INT", "struct<a: INT>", "a VARCHAR(3)"],
)  # fmt: skip
def test_what_is_not_plain_is_left_to_spark(ddl):
    assert struct_type(ddl, None) is None


def test_a_timestamp_is_what_the_session_says(spark):
    assert str(su.arrow_schema("t TIMESTAMP").field("t").type) == "timestamp[us, tz=UTC]"
    spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")
    try:
        assert str(su.arrow_schema("t TIMESTAMP").field("t").type) == "timestamp[us]"
    finally:
        spark.conf.unset("spark.sql.timestampType")
