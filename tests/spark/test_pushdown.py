"""What Spark reads of a parsed frame is all that is parsed, and the answers stay those of a full parse."""

from __future__ import annotations

import json
import math
import warnings

import pyarrow as pa
import pytest
from patience import PATIENCE_S
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su
from spark_udfs.jvm import session_jvm
from spark_udfs.pushdown.enabling import SWITCH, PushdownWarning, pushdown_note

SCHEMA = pa.schema(
    [
        *(("a", pa.int64()), ("b", pa.string()), ("c", pa.float64()), ("d", pa.timestamp("us"))),
        *(("e", pa.bool_()), ("f", pa.date32()), ("g", pa.decimal128(12, 2)), ("h", pa.int32()), ("i", pa.float32())),
        ("geo", pa.struct([("x", pa.float64()), ("y", pa.int64())])),
    ]
)
FLAT = pa.schema(list(SCHEMA)[:-1])


def record(n):
    return {
        "a": n if n % 11 else None,
        "b": ["", "alpha", "béta", "gamma'\"\\", None][n % 5],
        "c": n / 4 if n % 7 else None,
        "d": f"2024-01-01 00:{n % 60:02}:00",
        "e": n % 3 == 0 if n % 8 else None,
        "f": f"2024-02-{1 + n % 28:02}",
        "g": f"{n}.25",
        "h": -n,
        "i": n / 2 if n != 1 else -0.0,
        "geo": {"x": n / 8, "y": n} if n % 6 else None,
    }


def csv_line(n):
    row = {**record(n), "c": "NaN" if n % 13 == 0 else record(n)["c"], "i": "NaN" if n % 17 == 0 else record(n)["i"]}
    del row["geo"]
    texts = {True: "true", False: "false", None: ""}
    values = [texts[value] if isinstance(value, bool) or value is None else str(value) for value in row.values()]
    return ",".join('"' + value.replace('"', '""') + '"' if '"' in value else value for value in values)


JSON, CSV = fm.Json(SCHEMA), fm.Csv(FLAT)
ROWS = 300


@pytest.fixture(scope="module")
def payloads(pushing):
    rows = [
        (n, json.dumps(record(n)) if n % 50 else None, csv_line(n) if n % 50 else "") for n in range(ROWS)
    ]  # some null or blank
    return pushing.createDataFrame(rows, "key INT, json STRING, csv STRING").repartition(3).cache()


@pytest.fixture(scope="module")
def frames(payloads):
    chunks = payloads.groupBy((F.col("key") % 5).cast("string").alias("origin")).agg(
        F.lit(1).cast("bigint").alias("sequence"),
        F.encode(F.concat_ws("\n", F.collect_list("csv")), "utf-8").alias("payload"),
    )
    return {
        "json": su.parse(payloads, JSON, payload="json", unit="record", keep=["key"]),
        "csv": su.parse(payloads, CSV, payload="csv", unit="record", keep=["key"], on_error="raise"),
        "chunks": su.parse(chunks, CSV, keep=["origin"]).withColumn("key", F.col("a").cast("int")),
        "global": su.parse(chunks, CSV, stitch="global").withColumn("key", F.col("h")),
        "aligned": su.parse(chunks, CSV, stitch="none", on_error="null").withColumn("key", F.col("h")),
    }


def answers(df):
    return sorted(map(repr, df.collect()))


def both_ways(spark, query):
    """(the query's answers with everything parsed, those with pushdown)"""
    spark.conf.set(SWITCH, "false")
    try:
        frame = query()
        assert pushdown_note(frame) == []
        full = answers(frame)
    finally:
        spark.conf.set(SWITCH, "true")
    return full, answers(query())


QUERIES = {
    "select": lambda df: df.select("a", "b"),
    "select reordered": lambda df: df.select("h", "a"),
    "expression": lambda df: df.select((F.col("a") + F.col("h")).alias("sum"), F.upper("b")),
    "where": lambda df: df.select("a", "b").where("a > 5"),
    "where on another column": lambda df: df.where("c < 20").select("b"),
    "where alone": lambda df: df.where("h < -250"),
    "many conditions": lambda df: df.where("a > 5 and a < 200 and b != 'alpha' and e").select("a"),
    "or": lambda df: df.where("a = 3 or b = 'béta' or h >= -1").select("h"),
    "or with something opaque": lambda df: df.where("a = 3 or length(b) = 5").select("h"),
    "in": lambda df: df.where("a in (1, 2, 3, null)").select("a"),
    "starts with": lambda df: df.where(F.col("b").startswith("al")).select("a"),
    "like": lambda df: df.where("b like '%é%' or b like '%a' or b like ''").select("a", "b"),
    "in set": lambda df: df.where(F.col("h").isin([-n for n in range(40)])).select("a"),
    "not in": lambda df: df.where("a not in (1, 2, 3)").select("a"),
    "not equal": lambda df: df.where("a <> 7").select("a"),
    "null": lambda df: df.where("b is null and a is not null").select("a"),
    "null safe": lambda df: df.where("b <=> 'alpha' or a <=> null").select("a", "b"),
    "flag": lambda df: df.where("not e").select("a", "e"),
    "greater float with NaN": lambda df: df.where("c > 50").select("a", "c"),
    "less float with NaN": lambda df: df.where("c <= 50").select("a", "c"),
    "NaN itself": lambda df: df.where("c = double('NaN') or i >= 100").select("a", "c", "i"),
    "NaN in a list": lambda df: df.where("c in (double('NaN'), 1.0) or i in (float('NaN'), 2.5)").select("a", "c", "i"),
    "less than NaN": lambda df: df.where("c < double('NaN') and i <= float('NaN')").select("c", "i"),
    "zero of either sign": lambda df: df.where("i = 0 or i in (float('-0.0'), 3.5)").select("a", "i"),
    "beyond the type": lambda df: df.where("h <> 5000000000 and a > -99999999999999999999").select("a", "h"),
    "fractions in a list": lambda df: df.where("a in (2.5, 1) or g in (3.25, 4.250)").select("a", "g"),
    "not in with nulls": lambda df: df.where("b not in ('alpha') and not (a in (4, 5))").select("a", "b"),
    "float32": lambda df: df.where("i < 10.1").select("a", "i"),
    "not equal float": lambda df: df.where("c <> 5").select("c"),
    "timestamp": lambda df: df.where("d >= timestamp_ntz'2024-01-01 00:30:00'").select("d"),
    "date": lambda df: df.where("f = date'2024-02-03' or f > date'2024-02-20'").select("f"),
    "decimal": lambda df: df.where("g > 100 and g < 120.3").select("g"),
    "int against a wide literal": lambda df: df.where("h > -5000000000").select("h"),
    "int against a fraction": lambda df: df.where("a > 5.5").select("a"),
    "mirrored": lambda df: df.where("10 > a").select("a"),
    "cast": lambda df: df.where("cast(a as string) like '1%'").select("a"),
    "count": lambda df: df.agg(F.count("*")),
    "count where": lambda df: df.where("a > 5").agg(F.count("*")),
    "group by": lambda df: df.groupBy("b").agg(F.max("a"), F.count("e")),
    "group by expression": lambda df: df.groupBy(F.length("b")).count(),
    "having": lambda df: df.groupBy("b").agg(F.sum("a").alias("s")).where("s > 100"),
    "distinct": lambda df: df.select("b").distinct(),
    "order": lambda df: df.orderBy("a", "h").select("b", "h").limit(10_000),
    "top": lambda df: df.orderBy(F.col("h")).select("a").limit(5),
    "self join": lambda df: df.alias("l").join(df.alias("r"), F.col("l.a") == F.col("r.a")).select("l.b", "r.c"),
    "join": lambda df: df.join(df.select(F.col("h").alias("k"), F.col("c").alias("other")), F.col("h") == F.col("k"))
    .where("other < 30")
    .select("a", "other"),
    "left join": lambda df: df.join(df.where("a > 290").select("h", F.lit(1).alias("one")), "h", "left").select("h", "one"),
    "semi join": lambda df: df.join(df.where("a > 290").select("h"), "h", "left_semi").select("b"),
    "union": lambda df: df.select("a", "b").union(df.select("h", "b").where("h > -9")),
    "union of whole": lambda df: df.union(df).select("b"),
    "subquery": lambda df: df.where(F.col("h") > -20).select("a").intersect(df.select("a")),
    "window": lambda df: df.selectExpr("a", "sum(h) over (partition by b order by h) s"),
    "explode": lambda df: df.selectExpr("a", "explode(array(h, key)) x"),
    "repartition": lambda df: df.repartition(2, "h").select("a"),
    "with column": lambda df: df.withColumn("z", F.col("a") * 2).drop("b").where("z > 20").select("z", "key"),
    "pivot": lambda df: df.groupBy("e").pivot("b", ["alpha", "béta"]).agg(F.sum("a")),
    "key only": lambda df: df.select("key"),
    "key and where": lambda df: df.where("key > 10").select("a"),
}  # fmt: skip


@pytest.mark.parametrize("kind", ["json", "csv", "chunks"])
@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_that_of_a_full_parse(pushing, frames, kind, query):
    full, pushed = both_ways(pushing, lambda: QUERIES[query](frames[kind]))
    assert pushed == full
    if query not in ("where alone",):
        assert full


@pytest.mark.parametrize("kind", ["global", "aligned"])
@pytest.mark.parametrize("query", ["where", "count", "self join", "group by", "greater float with NaN", "null"])
def test_every_way_of_stitching_takes_part(pushing, frames, kind, query):
    full, pushed = both_ways(pushing, lambda: QUERIES[query](frames[kind]))
    assert pushed == full
    assert pushdown_note(QUERIES[query](frames[kind]))


NOTED = {
    "select": "records[columns: a, b]",
    "where": "records[columns: a, b; filters: (a IS NOT NULL) and (a > 5L)]",
    "where on another column": "records[columns: b, c; filters: (c IS NOT NULL) and (c < 20.0D)]",
    "count": "records[columns: ; in tasks: count(1)]",
    "count where": "records[columns: a; filters: (a IS NOT NULL) and (a > 5L); in tasks: count(1)]",
    "group by": "records[columns: a, b, e; in tasks: max(a), count(e)]",
    "distinct": "records[columns: b; in tasks: groups]",
    "window": "records[columns: a, b, h]",
    "repartition": "records[columns: a, h]",
    "top": "records[columns: a, h]",
    "key only": "records[columns: key]",
}


@pytest.mark.parametrize("query", NOTED)
def test_the_plan_says_what_is_pushed(frames, query):
    assert pushdown_note(QUERIES[query](frames["json"])) == [NOTED[query]]


@pytest.mark.parametrize(
    ("query", "columns"), [("self join", [{"a", "b"}, {"a", "c"}]), ("union", [{"a", "b"}, {"b", "h"}])]
)
def test_each_side_of_a_join_or_union_is_narrowed_by_itself(frames, query, columns):
    notes = pushdown_note(QUERIES[query](frames["json"]))
    named = [set(note.split("columns: ")[1].split("]")[0].split(";")[0].split(", ")) for note in notes]
    assert named == columns


def test_only_the_values_that_are_needed_are_decoded(frames, pushing):
    """By the kernel's own counters: the task that the plan carries is run here, on one batch."""
    from formatter.values import RecordParser
    from spark_udfs.pushdown import narrowing
    from spark_udfs.records.record_task import RecordTask

    payloads = pa.array([json.dumps(record(n)) for n in range(100)])
    task = RecordTask(JSON, "json", keep=pa_struct(), columns=None, filters=None, on_error="null", error="error")
    narrow = narrowing.narrowed_task(task, [0, 1], {}, [[">", 0, 90]]).task
    parser = narrow.parser()
    assert isinstance(parser, RecordParser)
    decoded = parser.parse(payloads).values_decoded
    full = task.parser().parse(payloads).values_decoded
    assert sum(full) == 100 * len(SCHEMA)
    assert sum(decoded) == 100 + 8 + 8  # the filter's column, then both columns of the eight survivors: 99 has no a
    assert narrow.decoded == ("a", "b")


def pa_struct():
    from pyspark.sql.types import StructType

    return StructType([])


def test_fields_of_a_struct_column_are_pruned_too(pushing, payloads):
    parsed = su.parse_column(payloads, "json", JSON)
    queries = {
        "v(a, c)": lambda: parsed.where("v.a > 5").select("key", "v.c"),
        "v(a, b)": lambda: parsed.groupBy("v.b").agg(F.sum("v.a")),
        "v(a)": lambda: parsed.where("v is null").select("key"),
        "v(h)": lambda: parsed.select(F.col("v.h") + 1, F.col("v").isNull()),
        "v(geo)": lambda: parsed.select("v.geo.y"),
        "v]": lambda: parsed.select("v", "v.a"),
    }
    for noted, query in queries.items():
        full, pushed = both_ways(pushing, query)
        assert pushed == full
        assert any(noted in note for note in pushdown_note(query())), (noted, pushdown_note(query()))


def test_fields_of_parsed_structs_and_of_the_error_can_be_chosen(pushing, frames):
    for query in (
        lambda: frames["json"].select("geo.y", "a"),
        lambda: frames["json"].select("error.code", "a"),
        lambda: frames["json"].where("geo.x > 5").select("geo.y"),
    ):
        full, pushed = both_ways(pushing, query)
        assert pushed == full


def test_columns_that_only_ride_along_do_not_travel_for_nothing(payloads):
    parsed = su.parse_column(payloads, "json", JSON)
    plan = parsed.select("v.a")._jdf.queryExecution().optimizedPlan().toString()
    assert "(json#" in plan.split("formatter.records")[1].split(")#")[0]
    assert "csv#" not in plan.split("formatter.records")[1].split("\n")[0]


POISON = ['{"a":1,"b":"x","h":1}', '{"a":"bad","b":"y","h":2}', '{"a":3,"b":"z","h":"bad"}', "{", None, '{"a":4,"h":4}']


@pytest.fixture(scope="module")
def poisoned(pushing):
    return pushing.createDataFrame([(n, text) for n, text in enumerate(POISON)], "key INT, value STRING")


@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
@pytest.mark.parametrize(
    "query",
    [
        lambda df: df.select("key", "a"),
        lambda df: df.select("key"),
        lambda df: df.agg(F.count("*")),
        lambda df: df.where("a > 1").select("key"),
        lambda df: df.where("b is null").select("key"),
    ],
)
def test_bad_records_count_the_same_whatever_is_read_of_them(pushing, poisoned, on_error, query):
    full, pushed = both_ways(
        pushing,
        lambda: query(su.parse(poisoned, JSON, payload="value", unit="record", keep=["key"], on_error=on_error)),
    )
    assert pushed == full


def test_the_error_column_tells_of_columns_that_are_not_read(pushing, poisoned):
    parsed = su.parse(poisoned, JSON, payload="value", unit="record", keep=["key"])
    full, pushed = both_ways(pushing, lambda: parsed.select("key", "a", "error.column"))
    assert pushed == full
    assert sum("column='h'" in row for row in full) == 1


def test_raise_meets_only_errors_of_what_is_read(pushing, poisoned):
    parsed = su.parse(poisoned.where("key in (0, 2, 5)"), JSON, payload="value", unit="record", on_error="raise")
    assert sorted(row.a for row in parsed.select("a").collect()) == [1, 3, 4]
    with pytest.raises(Exception, match="'h'"):
        parsed.select("a", "h").collect()


def test_skipped_records_of_chunks_stay_skipped(pushing):
    chunk = [("o", 1, bytearray(b"1,x\n2,y,z\nbad,w\n4,v\n"))]
    rows = pushing.createDataFrame(chunk, "origin STRING, sequence BIGINT, payload BINARY")
    format = fm.Csv(pa.schema([("n", pa.int64()), ("t", pa.string())]))
    for query in (lambda df: df.select("t"), lambda df: df.agg(F.count("*")), lambda df: df.where("n > 1").select("t")):
        full, pushed = both_ways(pushing, lambda query=query: query(su.parse(rows, format, on_error="skip")))
        assert pushed == full


def test_a_cached_frame_answers_from_its_cache(pushing, payloads):
    parsed = su.parse(payloads, JSON, payload="json", unit="record", keep=["key"]).cache()
    try:
        assert parsed.count() == ROWS
        assert parsed.select("a").where("a > 290").count() == len([n for n in range(291, 300) if n % 11])
        narrow = parsed.select("a", "b").cache()
        assert narrow.select("b").distinct().count() == 5
        narrow.unpersist()
    finally:
        parsed.unpersist()


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_adaptive_execution_makes_no_difference(pushing, frames, adaptive):
    before = pushing.conf.get("spark.sql.adaptive.enabled")
    pushing.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        for query in ("self join", "group by", "union"):
            full, pushed = both_ways(pushing, lambda query=query: QUERIES[query](frames["json"]))
            assert pushed == full
    finally:
        pushing.conf.set("spark.sql.adaptive.enabled", before)


def test_a_temporary_view_and_sql_are_narrowed_too(pushing, frames):
    frames["json"].createOrReplaceTempView("parsed_records")
    query = pushing.sql("SELECT b, (SELECT max(h) FROM parsed_records) m FROM parsed_records WHERE a > 280")
    assert len(query.collect()) == len([n for n in range(281, 300) if n % 11])
    assert pushdown_note(query)


def test_a_stream_is_narrowed(pushing, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.txt").write_text("\n".join(json.dumps(record(n)) for n in range(1, 40)))
    lines = pushing.readStream.text(str(tmp_path / "in"))
    parsed = su.parse(lines, JSON, payload="value", unit="record")
    query = (
        parsed.where("a > 20").select("a", "b").writeStream.format("memory").queryName("narrowed_stream")
        .option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination(PATIENCE_S)
    explained = query._jsq.toString() and query._jsq.explainInternal(True)
    assert "records[columns: a, b; filters:" in explained
    rows = pushing.table("narrowed_stream").collect()
    assert sorted(row.a for row in rows) == [n for n in range(21, 40) if n % 11]


def test_the_switch_and_disabling_turn_it_off_and_on(pushing, frames):
    query = QUERIES["select"]
    pushing.conf.set(SWITCH, "false")
    assert pushdown_note(query(frames["json"])) == []
    pushing.conf.set(SWITCH, "true")
    assert pushdown_note(query(frames["json"]))
    su.disable_pushdown(pushing)
    assert pushdown_note(query(frames["json"])) == []
    assert su.enable_pushdown(pushing)
    assert su.enable_pushdown(pushing), "enabling twice is enabling once"
    assert pushdown_note(query(frames["json"])) == [NOTED["select"]]


def test_a_function_of_someone_elses_is_left_alone(pushing):
    def formatter_records(batches):
        yield from batches

    df = pushing.range(3).withColumn("b", F.lit(1)).mapInArrow(formatter_records, "id bigint, b int")
    assert pushdown_note(df.select("b")) == []
    assert df.select("b").count() == 3


def test_a_session_without_a_jvm_gets_one_warning_and_full_parses():
    class Connect:
        version = "4.3.0"

    with pytest.warns(PushdownWarning, match="Connect client") as caught:
        assert su.enable_pushdown(Connect()) is False
    assert len(caught) == 1
    su.disable_pushdown(Connect())


def test_a_rule_that_does_not_compile_leaves_the_session_as_it_was(pushing, frames, monkeypatch):
    su.disable_pushdown(pushing)
    with monkeypatch.context() as patched:
        patched.setattr(session_jvm, "source", lambda name: "class {")
        with pytest.warns(PushdownWarning, match=r"does not fit Spark .*CompileException"):
            assert su.enable_pushdown(pushing) is False
    assert pushdown_note(QUERIES["select"](frames["json"])) == []
    with warnings.catch_warnings():
        warnings.simplefilter("error", PushdownWarning)
        assert su.enable_pushdown(pushing)


def test_not_a_number_never_slips_through_a_filter(frames):
    """Spark's NaN is above every number."""
    greater = [row.c for row in frames["csv"].where("c > 50").select("c").collect()]
    assert any(map(math.isnan, greater))
    assert all(value > 50 or math.isnan(value) for value in greater)
