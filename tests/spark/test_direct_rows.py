"""Direct rows: the same rows as Spark's own operator makes, of every type, and Spark's own wherever ours does not fit."""

from __future__ import annotations

import datetime
import decimal
import math
from random import Random

import pyarrow as pa
import pytest
from pyspark.errors import PythonException
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su
from spark_udfs.jvm import direct_rows, session_jvm
from spark_udfs.types.spark_types import SparkColumns

ROWS = 300
MOMENT = datetime.datetime(2024, 2, 29, 23, 59, 59, 123456)


def column(type_, value):
    return pa.array([None if row % 7 == 3 else value(row) for row in range(ROWS)], type_)


FLAT = pa.table(
    {
        "b": column(pa.bool_(), lambda row: row % 3 == 0),
        "i8": column(pa.int8(), lambda row: row % 256 - 128),
        "i16": column(pa.int16(), lambda row: -row),
        "i32": column(pa.int32(), lambda row: row * 7_000_000),
        "i64": column(pa.int64(), lambda row: -(row << 40)),
        "f32": column(pa.float32(), lambda row: row / 8),
        "f64": column(pa.float64(), lambda row: float("nan") if row == 5 else row / 3),
        "day": column(pa.date32(), lambda row: datetime.date(1969, 1, 1) + datetime.timedelta(row * 100)),
        "at": column(pa.timestamp("us"), lambda row: MOMENT + datetime.timedelta(row)),
        "zoned": column(pa.timestamp("us", "UTC"), lambda row: MOMENT + datetime.timedelta(hours=row)),
        "text": column(pa.string(), lambda row: "zß水🍌"[: row % 5] * (row % 11)),
        "wide": column(pa.large_string(), lambda row: "w" * row),
        "bytes": column(pa.binary(), lambda row: bytes([row % 256]) * (row % 20)),
        "money": column(pa.decimal128(9, 2), lambda row: decimal.Decimal(row * 7 - 900).scaleb(-2)),
        "long": column(pa.decimal128(18, 0), lambda row: decimal.Decimal(-(10**17) * (row % 9))),
        "full": pa.array(range(ROWS), pa.int64()),
    }
)
INNER = pa.struct(
    [("x", pa.int64()), ("deep", pa.struct([("y", pa.string()), ("z", pa.float64())])), ("w", pa.bool_())]
)
NESTED = FLAT.select(["i64", "text"]).append_column(
    "s",
    column(
        INNER,
        lambda row: {
            "x": None if row % 5 == 0 else row,
            "deep": None if row % 2 else {"y": "y" * row, "z": row / 7},
            "w": row % 3 == 0,
        },
    ),
)
OTHER = FLAT.select(["text", "i8"]).append_column(
    "list", column(pa.list_(pa.int32()), lambda row: list(range(row % 4)))
)
OTHER = OTHER.append_column("wider", column(pa.decimal128(20, 2), lambda row: decimal.Decimal(row).scaleb(-2)))


def ours(function):
    """As far as plans know."""
    function.__name__ = "formatter.test"
    return function


def yields(table: pa.Table):
    """Gives a table, sliced so that offsets and bits begin anywhere."""

    def slices(batches):
        for _ in batches:
            pass
        for start, size in ((0, 1), (1, 64), (65, 7), (72, 0), (72, 200), (272, 28)):
            columns = [column.combine_chunks() for column in table.slice(start, size).columns]
            yield pa.RecordBatch.from_arrays(columns, schema=table.schema)

    return ours(slices)


def counts_batches():
    def counted(batches):
        for batch in batches:
            yield pa.RecordBatch.from_arrays([pa.array([batch.num_rows], pa.int64())], names=["rows"])

    return ours(counted)


def told_of(df) -> str:
    return df._jdf.queryExecution().executedPlan().toString()


@pytest.fixture
def direct(spark):
    assert su.enable_direct_rows(spark)
    yield spark
    spark.conf.set(direct_rows.SWITCH, "true")


@pytest.mark.parametrize("table", [FLAT, NESTED, OTHER], ids=["flat", "nested", "not understood"])
def test_rows_are_those_of_sparks_own_operator(direct, table) -> None:
    frame = lambda: direct.range(0, 3, 1, 1).mapInArrow(yields(table), SparkColumns.of(table.schema).struct)  # noqa: E731
    assert "FormatterMapInArrow" in told_of(frame())
    direct_rows_found = [repr(row) for row in frame().collect()]
    hashed = frame().select(F.xxhash64("*").alias("h")).agg(F.sum(F.col("h").cast("decimal(38,0)"))).collect()
    direct.conf.set(direct_rows.SWITCH, "false")
    assert "FormatterMapInArrow" not in told_of(frame())
    assert direct_rows_found == [repr(row) for row in frame().collect()]
    assert hashed == frame().select(F.xxhash64("*").alias("h")).agg(F.sum(F.col("h").cast("decimal(38,0)"))).collect()
    assert len(direct_rows_found) == ROWS


def written(df) -> list[str]:
    """Every byte of the rows that an operator gives to the next one."""
    return [row.toString() for row in df._jdf.queryExecution().executedPlan().executeCollect()]


def drawn(random: Random, rows: int) -> pa.Table:
    """Columns of every kind, some of them without nulls, with texts from none to more than a block of rows."""
    words = ["", "a", "seven b", "eight by", "nine byte", "word " * 30, "long " * 9_000]
    structs = [{"x": n, "y": words[n % 5], "z": None if n % 3 else {"w": words[n % 6]}} for n in range(11)]
    kinds = [
        (pa.bool_(), [True, False]),
        (pa.int8(), [-1, 127]),
        (pa.int16(), [-2, 9]),
        (pa.int32(), [1, -(2**31)]),
        (pa.int64(), [2**63 - 1, -1]),
        (pa.float32(), [0.5, -0.0, math.inf]),
        (pa.float64(), [0.1, math.nan]),
        (pa.string(), words),
        (pa.large_binary(), [word.encode() for word in words]),
        (pa.struct([("x", pa.int16()), ("y", pa.string()), ("z", pa.struct([("w", pa.large_string())]))]), structs),
    ]
    columns = {}
    for at in range(random.choice([1, 7, 64, 65, 130])):
        type_, values = random.choice(kinds)
        values = values if random.random() < 0.3 else values[:5]
        some = [*values, None] if random.random() < 0.7 else values
        columns[f"c{at}"] = pa.array(random.choices(some, k=rows), type_)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(6))
def test_written_rows_have_the_bytes_of_sparks_own(direct, seed) -> None:
    table = drawn(Random(seed), ROWS)
    frame = lambda: direct.range(0, 3, 1, 1).mapInArrow(yields(table), SparkColumns.of(table.schema).struct)  # noqa: E731
    direct_rows_found = written(frame())
    direct.conf.set(direct_rows.SWITCH, "false")
    assert direct_rows_found == written(frame())


def test_variants_are_those_of_sparks_own_operator(direct) -> None:
    values = pa.array(['{"v": {"a": [1, null]}, "n": 1}', '{"n": 2}', '{"v": "x", "n": 3}', None] * 500)
    format = fm.Json(pa.schema([("v", fm.variant()), ("n", pa.int64())]))
    frame = lambda: su.parse_column(direct.createDataFrame(pa.table({"j": values})), "j", format).select("v.*")  # noqa: E731
    assert "FormatterMapInArrow" in told_of(frame())
    found = list(map(str, frame().collect()))
    direct.conf.set(direct_rows.SWITCH, "false")
    assert found == list(map(str, frame().collect()))
    assert found[1] == "Row(v=None, n=2)"


EXPRESSIONS = (
    "NOT b AS b", "i8 + i16 AS i16", "i32 * 2L AS i32", "i64 - 1 AS i64", "f32 / 2 AS f32", "f64 * 2 AS f64", "day + 1 AS day",
    "at + INTERVAL 1 DAY AS at", "zoned", "concat(text, wide) AS text", "hex(bytes) AS bytes", "money + 1 AS money", "long", "full"
)  # fmt: skip


def test_operators_above_read_columns_where_no_row_is_written(direct) -> None:
    frame = lambda: direct.range(0, 3, 1, 1).mapInArrow(yields(FLAT), SparkColumns.of(FLAT.schema).struct)  # noqa: E731
    queries = {
        "projected": lambda: frame().selectExpr(*EXPRESSIONS),
        "filtered": lambda: frame().where("full % 3 = 1 AND (text IS NULL OR length(text) > 1)").select("wide", "money"),
        "summed": lambda: frame().selectExpr("sum(money)", "max(day)", "min(full)", "count(text)", "max(text)", "first(text)"),
        "grouped": lambda: frame().groupBy("b", "text").agg(F.sum("long"), F.max("wide"), F.collect_list("full"))
                           .orderBy("b", "text"),
        "limited": lambda: frame().selectExpr("full + 1 AS next").limit(90).selectExpr("sum(next)"),
        "exploded": lambda: frame().selectExpr("explode(split(text, '')) AS one", "full").where("one <> ''"),
        "joined": lambda: frame().join(F.broadcast(frame().selectExpr("full + 1 AS full", "text AS before")), "full")
                          .select("text", "before"),
        "twice": lambda: frame().select("full", "i8").union(frame().selectExpr("full + 1000", "i8"))
                         .selectExpr("sum(full)", "sum(i8)"),
    }  # fmt: skip
    for name, query in queries.items():
        found = [repr(row) for row in query().collect()]
        assert "FormatterRows" in told_of(query()), name
        for switch in ("spark.sql.codegen.wholeStage", direct_rows.SWITCH):
            direct.conf.set(switch, "false")
            assert found == [repr(row) for row in query().collect()], (name, switch)
            direct.conf.set(switch, "true")
    assert "*(2) FormatterRows" in told_of(queries["filtered"]())


def test_operators_that_send_themselves_to_executors_stand_above_it(direct) -> None:
    frame = direct.range(0, 3, 1, 1).mapInArrow(yields(FLAT), SparkColumns.of(FLAT.schema).struct)
    assert [row.full for row in frame.orderBy(F.desc("full")).collect()] == list(range(ROWS - 1, -1, -1))
    assert frame.groupBy("b").count().count() == 3
    assert frame.join(frame.select("full"), "full").count() == ROWS
    assert len(frame.limit(5).collect()) == 5


def test_batches_on_their_way_in_keep_to_rows_and_bytes(direct) -> None:
    rows = direct.range(0, 5000, 1, 1).select(F.repeat(F.lit("x"), 1000).alias("value"))
    sizes = [row.rows for row in rows.mapInArrow(counts_batches(), "rows bigint").collect()]
    assert sum(sizes) == 5000
    largest = int(direct.conf.get("spark.sql.execution.arrow.maxBytesPerBatch").removesuffix("m")) << 20
    assert len(sizes) > 1
    assert max(sizes) * 1000 <= largest + 1000
    many = direct.range(0, 40_000, 1, 1).mapInArrow(counts_batches(), "rows bigint").collect()
    most = int(direct.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch"))
    assert sum(row.rows for row in many) == 40_000
    assert max(row.rows for row in many) == most
    assert direct.range(0).mapInArrow(counts_batches(), "rows bigint").collect() == []


def test_a_column_of_another_type_than_declared_is_an_error(direct) -> None:
    swapped = direct.range(0, 1, 1, 1).mapInArrow(yields(FLAT.select(["text", "i64"])), "i64 bigint, text string")
    with pytest.raises(Exception, match="ARROW_TYPE_MISMATCH"):
        swapped.collect()


def test_functions_that_are_not_ours_are_left_alone(direct) -> None:
    def foreign(batches):
        yield from batches

    assert "FormatterMapInArrow" not in told_of(direct.range(3).mapInArrow(foreign, "id bigint"))


def test_records_are_read_through_it_when_the_session_was_configured(direct) -> None:
    values = direct.createDataFrame([(1, '{"a":1}'), (2, None)], "key int, value string")
    parsed = su.parse(values, fm.Json(pa.schema([("a", pa.int64())])), payload="value", unit="record", keep=["key"])
    assert "FormatterMapInArrow" in told_of(parsed)
    assert [(row.a, row.key) for row in parsed.collect()] == [(1, 1), (None, 2)]


def test_it_can_be_detached_and_attached_again(direct) -> None:
    su.disable_direct_rows(direct)
    assert "FormatterMapInArrow" not in told_of(direct.range(3).mapInArrow(counts_batches(), "rows bigint"))
    assert su.enable_direct_rows(direct)
    assert su.enable_direct_rows(direct)
    assert len(direct_rows.STRATEGY.attached(direct)) == 1


def test_what_was_compiled_once_is_kept_for_the_next_session(direct, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    compiled, compiled_names = session_jvm.compiled, []
    monkeypatch.setattr(
        session_jvm, "compiled", lambda spark, *names: compiled_names.append(names) or compiled(spark, *names)
    )
    for again in range(3):
        monkeypatch.setattr(session_jvm, "_classes", {})  # as in another JVM
        su.disable_direct_rows(direct)
        assert su.enable_direct_rows(direct)
        assert direct.range(3).mapInArrow(counts_batches(), "rows bigint").selectExpr("sum(rows)").first() == (3,)
        [kept] = (tmp_path / "formatter").glob("*.jar")
        if again == 1:
            kept.write_bytes(kept.read_bytes()[:1000])
    assert compiled_names == [direct_rows.STRATEGY.sources] * 2
    nowhere = tmp_path / "a file"
    nowhere.touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(nowhere))
    su.disable_direct_rows(direct)
    assert su.enable_direct_rows(direct)


def test_whether_it_fits_is_asked_once_a_machine(direct, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    unfit, asked = direct_rows._unfit, []
    monkeypatch.setattr(direct_rows, "_unfit", lambda spark: asked.append(1) or unfit(spark))
    for _ in range(3):
        su.disable_direct_rows(direct)
        assert su.enable_direct_rows(direct)
        assert direct.range(3).mapInArrow(counts_batches(), "rows bigint").selectExpr("sum(rows)").first() == (3,)
    assert asked == [1]
    [proof] = (tmp_path / "formatter").glob("*.proven")
    proof.unlink()
    su.disable_direct_rows(direct)
    monkeypatch.setattr(direct_rows, "_unfit", lambda spark: "it is Tuesday")
    for _ in range(2):  # what does not fit is asked again, and said again
        with pytest.warns(direct_rows.DirectRowsWarning, match="does not fit Spark .*it is Tuesday"):
            assert not su.enable_direct_rows(direct)
    monkeypatch.undo()
    assert su.enable_direct_rows(direct)


def test_a_spark_whose_tasks_cannot_run_the_code_is_told_so_and_keeps_its_own_operator(direct, monkeypatch) -> None:
    su.disable_direct_rows(direct)
    source = session_jvm.source
    monkeypatch.setattr(session_jvm, "source", lambda name: source(name).replace("(scala.Option) references[7],", ""))
    with pytest.warns(direct_rows.DirectRowsWarning, match=r"does not fit Spark .*[Cc]ompile") as told:
        assert not su.enable_direct_rows(direct)
    assert told[0].filename == __file__
    assert "FormatterMapInArrow" not in told_of(direct.range(3).mapInArrow(counts_batches(), "rows bigint"))
    monkeypatch.undo()
    assert su.enable_direct_rows(direct)


def test_source_that_does_not_compile_is_told_and_changes_nothing(direct, monkeypatch) -> None:
    su.disable_direct_rows(direct)
    monkeypatch.setattr(session_jvm, "source", lambda name: "class {")
    with pytest.warns(direct_rows.DirectRowsWarning, match="does not fit"):
        assert not su.enable_direct_rows(direct)
    assert direct.range(3).mapInArrow(counts_batches(), "rows bigint").count() >= 1
    monkeypatch.undo()
    assert su.enable_direct_rows(direct)


def test_an_error_in_the_function_reaches_the_driver(direct) -> None:
    values = direct.createDataFrame([("nope",)], "value string")
    parsed = su.parse(values, fm.Json(pa.schema([("a", pa.int64())])), payload="value", unit="record", on_error="raise")
    with pytest.raises(PythonException, match=r"(not_an_object|json: )"):
        parsed.collect()
