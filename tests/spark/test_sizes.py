"""Spark plans with what our queries really yield: joins choose as they choose with Spark's own reader.

In: the same files by su.read and by spark.read. Out: plans and their statistics, side by side, with and without pushdown.
"""

from __future__ import annotations

import random
import re

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

TYPES = {
    "a": "BIGINT", "b": "INT", "c": "STRING", "d": "DOUBLE", "e": "DATE", "f": "DECIMAL(10,2)", "g": "DECIMAL(30,2)",
    "h": "BOOLEAN", "i": "SMALLINT", "j": "TIMESTAMP_NTZ", "k": "FLOAT", "l": "BINARY",
}  # fmt: skip
DDL = ", ".join(f"{name} {type_}" for name, type_ in TYPES.items())
CHOSEN = [["a"], ["c"], ["a", "c", "l"], ["g", "h"], list(TYPES)]


@pytest.fixture(params=["without pushdown", "with pushdown"])
def session(request, spark):
    if request.param == "with pushdown":
        assert su.enable_pushdown(spark)
    yield spark
    su.disable_pushdown(spark)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sized")
    line = "1,2,text,1.5,2024-01-02,1.25,3.50,true,4,2024-01-02 03:04:05,2.5,YQ==\n"
    for number in range(3):
        (folder / f"{number}.csv").write_text(line * 5_000)
    return str(folder)


def bytes_of(df):
    return int(df._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())


@pytest.mark.parametrize("chosen", CHOSEN, ids=" ".join)
def test_a_read_is_as_large_as_in_spark_whatever_is_selected(session, table, chosen):
    ours = su.read(session, table, "csv", schema=DDL)
    theirs = session.read.schema(DDL).csv(table)
    expected = bytes_of(theirs.select(chosen))
    assert bytes_of(ours.select(chosen)) == pytest.approx(expected, abs=100)
    asked = su.read(session, table, "csv", schema=DDL, columns=chosen)
    assert bytes_of(asked) == pytest.approx(expected, abs=100)
    assert bytes_of(ours.where("b > 1").select(chosen)) >= expected - 100


def test_chunks_and_what_is_parsed_of_them_are_as_large_as_their_files(session, table):
    size = bytes_of(session.read.schema(DDL).csv(table))
    chunks = su.read_chunks(session, table)
    assert bytes_of(chunks) == pytest.approx(size, abs=100)
    schema = fm.Csv(pa.schema([("a", pa.int64()), ("rest", pa.string())]), ragged="truncate")
    parsed = su.parse(chunks, schema)
    assert size / 2 < bytes_of(parsed) <= size
    assert bytes_of(parsed.select("a")) < size / 2
    values = session.read.text(table)
    assert bytes_of(su.parse_column(values, "value", schema)) >= size / 2


def strategy(df):
    return re.findall(r"\w*(?:Join|CartesianProduct)\w*", df._jdf.queryExecution().sparkPlan().toString())


def test_joins_are_planned_as_those_of_sparks_own_reader(session, table, tmp_path):
    (tmp_path / "small.csv").write_text("1,one\n2,two\n")
    small_ddl = "a BIGINT, name STRING"

    def both(query):
        ours = su.read(session, table, "csv", schema=DDL), su.read(session, tmp_path, "csv", schema=small_ddl)
        theirs = session.read.schema(DDL).csv(table), session.read.schema(small_ddl).csv(str(tmp_path))
        return strategy(query(*ours)), strategy(query(*theirs))

    chosen = set()
    size = bytes_of(session.read.schema(DDL).csv(table))
    for limit in (size * 2, size // 2, size // 20, 100, 0, -1):
        session.conf.set("spark.sql.autoBroadcastJoinThreshold", str(limit))
        for query in (
            lambda large, small: large.join(small, "a"),
            lambda large, small: large.join(large.select("a", "c"), "a"),
            lambda large, small: large.select("a", "b").join(small, "a", "left"),
            lambda large, small: small.join(large.where("b > 1").select("a", "h"), "a", "right"),
            lambda large, small: large.join(small, "a", "left_anti").select("a"),
            lambda large, small: large.select("a").crossJoin(small),
        ):
            ours, theirs = both(query)
            assert ours == theirs, limit
            chosen |= set(ours)
    session.conf.unset("spark.sql.autoBroadcastJoinThreshold")
    assert {"BroadcastHashJoin", "SortMergeJoin"} <= chosen


def test_twenty_joins_are_planned_as_those_of_sparks_own_reader(session, tmp_path):
    chance = random.Random(20)
    tables = []
    for number in range(20):
        path = tmp_path / f"{number}.csv"
        path.write_text("".join(f"{row % 7},{row},text\n" for row in range(chance.choice((3, 60, 700, 3_000)))))
        tables.append((str(path), f"k BIGINT, v{number} INT, s{number} STRING"))
    hows = [chance.choice(("inner", "inner", "left", "leftsemi", "leftanti")) for _ in tables]

    def joined(read):
        frame = read(*tables[0])
        for how, (path, ddl) in zip(hows[1:], tables[1:], strict=True):
            frame = frame.join(read(path, ddl), "k", how)
        return frame.groupBy("k").count()

    def strategies(frame):
        plan = frame._jdf.queryExecution().executedPlan().toString()
        return re.findall(
            r"\w*Join\w* \[.*?(?:Inner|LeftOuter|LeftSemi|LeftAnti)(?:, Build\w+)?", re.sub(r"#\d+L?", "", plan)
        )

    session.conf.set("spark.sql.autoBroadcastJoinThreshold", "4000")
    session.conf.set("spark.sql.codegen.wholeStage", "false")  # what is planned, without the stages it is put into
    try:
        ours = strategies(joined(lambda path, ddl: su.read(session, path, "csv", schema=ddl)))
        theirs = strategies(joined(lambda path, ddl: session.read.schema(ddl).csv(path)))
    finally:
        session.conf.unset("spark.sql.autoBroadcastJoinThreshold")
        session.conf.unset("spark.sql.codegen.wholeStage")
    assert ours == theirs
    assert len(ours) == 19
    assert {how.split(" ")[0] for how in ours} >= {"BroadcastHashJoin", "SortMergeJoin"}


def test_rows_of_a_read_are_those_of_its_tasks_in_order(session, tmp_path):
    """The plan that carries the size has as many tasks as there are groups of files, numbered in order."""
    for number in range(7):
        (tmp_path / f"{number}.csv").write_text(f"{number}\n")
    df = su.read(session, tmp_path, fm.Csv(pa.schema([("n", pa.int64())])))
    assert [row.n for row in df.collect()] == list(range(7))
    assert df.union(df).orderBy("n").limit(3).count() == 3
    assert df.cache().count() == 7
    df.unpersist()
