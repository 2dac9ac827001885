"""Functions in the shape that operators like: fields of structs apart, columns beside values that are made of payloads alone.

In: queries above our functions. Out: verdicts: rows are those without direct rows, and the plan is the one that was wanted.
"""

from __future__ import annotations

import contextlib

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su
from spark_udfs.jvm import direct_rows

RECORDS = [
    '{"a": 1, "s": {"x": "u", "t": {"y": 2.5}}}',
    '{"a": 2, "s": null}',
    None,
    '{"s": {"t": {}}}',
    "no record",
    '{"a": 3}',
]
DDL = "a INT, s STRUCT<x: STRING, t: STRUCT<y: DOUBLE>>"
PATHS = {"a": "$.a", "x": "$.s.x", "s": "$.s"}


@pytest.fixture
def direct(spark):
    assert su.enable_direct_rows(spark)
    yield spark
    su.disable_direct_rows(spark)
    su.enable_direct_rows(spark)


@contextlib.contextmanager
def turned_off(spark):
    spark.conf.set(direct_rows.SWITCH, "false")
    yield
    spark.conf.set(direct_rows.SWITCH, "true")


@pytest.fixture
def values(direct):
    rows = [(n, record, n % 2 == 0, f"k{n % 3}", float(n), bytes([n])) for n, record in enumerate(RECORDS * 5)]
    return direct.createDataFrame(rows, "n INT, value STRING, even BOOLEAN, k STRING, d DOUBLE, raw BINARY")


def plan_of(df):
    return df._jdf.queryExecution().executedPlan().toString()


def rows(df):
    return sorted(map(repr, df.collect()))


def assert_same_rows(df, query):
    found = rows(query(df))
    with turned_off(df.sparkSession):
        assert "FormatterMapInArrow" not in plan_of(query(df))
        assert rows(query(df)) == found


def test_fields_leave_a_struct_that_nobody_reads_whole(values):
    parsed = su.parse_column(values, "value", "json", schema=DDL)
    assert_same_rows(parsed, lambda df: df.select("n", "v.a", "v.s.x", F.col("v.a") + 1, "v.a"))
    plan = plan_of(parsed.select("n", "v.a"))
    assert "v#" not in plan
    assert "*(2) FormatterRows" in plan
    assert_same_rows(parsed, lambda df: df.select("v.s", "v.a"))
    assert_same_rows(parsed, lambda df: df.select(F.col("v.s.t.y").alias("y"), "even"))


def test_a_struct_that_is_read_whole_stays_whole(values):
    parsed = su.parse_column(values, "value", "json", schema=DDL)
    for query in (["v", "v.a"], ["v"], [F.struct("v", "n").alias("w"), "v.s"], [F.col("v").isNull(), "v.a"]):
        assert_same_rows(parsed, lambda df, query=query: df.select(*query))


def test_renamed_columns_keep_their_names_and_values(values):
    def query(df):
        twice = su.parse_column(df, "value", "json", schema=DDL).select(
            F.col("v").alias("w"), F.col("n").alias("m"), "k"
        )
        return twice.select("m", F.col("w.a").alias("n"), "w.s.x", F.col("m").alias("again"), "k")

    assert query(values).columns == ["m", "n", "x", "again", "k"]
    assert_same_rows(values, query)


@pytest.mark.parametrize(
    "query",
    [
        lambda df: df.select("v.*"),
        lambda df: df.select("n", "v.*", "k", "d", "raw", "even"),
        lambda df: df.select("*"),
        lambda df: df.select("v"),
        lambda df: df.select("value", "v.a", "v.a"),
        lambda df: df.where("v.a > 1").select("n", "v.x"),
        lambda df: df.groupBy("k", "v.a").count(),
        lambda df: df.select("v.a", "n").join(df.select("n", F.col("v.s").alias("t")), "n"),
        lambda df: df.select(F.count("*"), F.max("v.a")),
        lambda df: df.orderBy("n").limit(4).select("v.a", "n"),
        lambda df: df.select("k").distinct(),
        lambda df: df.select(F.upper("k"), "v.x").where("x is not null"),
    ],
    ids=range(12),
)
def test_values_by_path_come_in_batches_beside_other_columns(values, query):
    with_values = values.select("*", su.get_json("value", PATHS).alias("v"))
    assert_same_rows(with_values, query)
    plan = plan_of(query(with_values))
    assert "ArrowEvalPython" not in plan


def test_values_of_expressions_and_of_bytes_work_too(values):
    for payload in (F.concat("value", F.lit(" ")), F.col("value").cast("binary")):
        assert_same_rows(
            values,
            lambda df, payload=payload: df.select("n", su.get_json(payload, PATHS).alias("v")).select("n", "v.*"),
        )


def test_columns_that_are_not_read_as_they_lie_stay_with_sparks_operator(values):
    wide = values.select("*", F.array("n").alias("l"), F.expr("make_interval(n)").alias("gap")).repartition(2)
    with_values = wide.select("*", su.get_json("value", PATHS).alias("v"))
    plan = plan_of(with_values.select("l", "v.a"))
    assert "ArrowEvalPython" in plan
    assert "FormatterMapInArrow" not in plan
    assert "FormatterMapInArrow" in plan_of(with_values.select("n", "v.a"))
    assert_same_rows(with_values.drop("gap"), lambda df: df.select("n", "v.a"))


def test_records_beside_columns_that_stay_are_dropped_where_they_are_bad(values):
    def query(df):
        wide = df.withColumn("gap", F.expr("make_interval(n)"))
        return su.parse_column(wide, "value", "json", schema=DDL, on_error="skip").select("n", "v.a")

    assert_same_rows(values, query)
    assert values.count() - query(values).count() == 5


def test_bad_data_is_told_in_a_sentence(values):
    wide = values.withColumn("gap", F.expr("make_interval(n)"))
    parsed = su.parse_column(wide, "value", fm.Json(pa.schema([("a", pa.int64())])), on_error="raise").select(
        "n", "v.a"
    )
    with pytest.raises(Exception, match="expected an object"):
        parsed.collect()


def test_paths_above_a_cached_table_end_under_adaptive_execution(direct):
    """Its stage is found again in the plan that is made when it has run."""
    cached = direct.createDataFrame([(record,) for record in RECORDS], "value STRING").cache()
    cached.count()
    found = cached.select(su.get_json("value", PATHS).alias("v")).select("v.*")
    assert direct.conf.get("spark.sql.adaptive.enabled") == "true"
    assert found.agg(F.count("a"), F.count("x"), F.count("s")).collect() == [(3, 1, 2)]
    assert sorted(row["a"] or "" for row in found.groupBy("a").count().collect()) == ["", "1", "2", "3"]
    cached.unpersist()
