"""Files read through su.read are narrowed like any parsed frame: columns, predicates, folders, modes."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import formatter as fm
import spark_udfs as su
from spark_udfs.pushdown import narrowing
from spark_udfs.pushdown.enabling import SWITCH, pushdown_note

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("flag", pa.bool_())])
DDL = "id BIGINT, name STRING, price DOUBLE, flag BOOLEAN"
ROWS = 400


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("days")
    for day in (1, 2, 3):
        here = root / f"day={day}"
        here.mkdir()
        rows = range((day - 1) * ROWS, day * ROWS)
        lines = [f'{n},"name, {n % 5}",{"NaN" if n % 9 == 0 else n / 4},{str(n % 2 == 0).lower()}' for n in rows]
        (here / "part.csv").write_text("id,name,price,flag\n" + "\n".join(lines) + "\n")
    return root


@pytest.fixture(scope="module")
def bad(tmp_path_factory):
    file = tmp_path_factory.mktemp("bad") / "bad.csv"
    file.write_text("1,a,1.5,true\n2,b,oops,true\nx,c,2.5,false\n4,d\n5,e,5.5,false\n")
    return file


def both_ways(spark, query):
    spark.conf.set(SWITCH, "false")
    try:
        full = sorted(map(repr, query().collect()))
    finally:
        spark.conf.set(SWITCH, "true")
    return full, sorted(map(repr, query().collect()))


QUERIES = {
    "select": lambda df: df.select("name", "id"),
    "where": lambda df: df.select("id", "name").where("id > 700"),
    "NaN": lambda df: df.where("price > 150").select("price"),
    "less": lambda df: df.where("price < 10").select("id", "price"),
    "count": lambda df: df.agg(F.count("*")),
    "folder": lambda df: df.where("day = 2").select("id"),
    "folder in": lambda df: df.where("day in (1, 3) and id % 2 = 0").select("day", "name"),
    "folder or": lambda df: df.where("day = 1 or id > 1100").select("id"),
    "folder only": lambda df: df.groupBy("day").count(),
    "no folder": lambda df: df.where("day = 77").select("id"),
    "join": lambda df: df.join(df.select(F.col("id").alias("k"), "flag"), F.col("id") == F.col("k")).select("name"),
    "union": lambda df: df.select("id").union(df.where("flag").select("id")),
    "all": lambda df: df.where("not flag"),
    "names in another case": lambda df: df.where("ID > 700 and NAME <> 'name, 3'").select("Price"),
    "names that change places": lambda df: df.selectExpr("id AS name", "name AS id").where(
        "name > 5 and id > 'name, 2'"
    ),
    "nothing is null": lambda df: df.where("not (id <=> 7) and (flag or price is null)").select("name"),
    "a condition as a column": lambda df: df.selectExpr("id", "id > 5 AND price < 9 AS yes").where(
        "yes or yes is null"
    ),
    "the other way round": lambda df: df.where("700 < id and 2.5 > price or 'name, 1' = name").select("id"),
    "a value without rows": lambda df: df.where("id in (1, null) or name is null or id = null").select("id"),
    "two of one name": lambda df: (
        df.alias("l").join(df.alias("r"), F.expr("l.id = r.id + 1 and r.flag")).select("r.name")
    ),
}


@pytest.mark.parametrize("query", QUERIES)
def test_the_answer_is_that_of_a_full_read(pushing, folder, query):
    def frame():
        return QUERIES[query](su.read(pushing, str(folder), fm.Csv(SCHEMA, header=True)))

    full, pushed = both_ways(pushing, frame)
    assert pushed == full
    assert pushdown_note(frame())


@pytest.mark.parametrize("mode", ["PERMISSIVE", "DROPMALFORMED"])
@pytest.mark.parametrize(
    "query",
    [
        lambda df: df.select("name"),
        lambda df: df.agg(F.count("*")),
        lambda df: df.where("id > 1").select("name"),
        lambda df: df.where("price is null").select("id"),
        lambda df: df.select("_bad", "id"),
        lambda df: df.where("_bad is not null").select("id"),
    ],
)
def test_bad_records_count_the_same_whatever_is_read_of_them(pushing, bad, mode, query):
    schema = pa.schema([*SCHEMA, ("_bad", pa.string())]) if mode == "PERMISSIVE" else SCHEMA
    options = {"mode": mode} | ({"columnNameOfCorruptRecord": "_bad"} if mode == "PERMISSIVE" else {})

    def frame():
        df = su.read(pushing, str(bad), "csv", schema=schema, options=options)
        return query(df if "_bad" in df.columns else df.withColumn("_bad", F.lit(None)))

    full, pushed = both_ways(pushing, frame)
    assert pushed == full


@pytest.mark.parametrize("on_error", ["skip", "null", "collect"])
def test_modes_of_ours_keep_their_rows(pushing, bad, on_error):
    def frame():
        return su.read(pushing, str(bad), fm.Csv(SCHEMA), on_error=on_error).where("id > 0").select("name")

    full, pushed = both_ways(pushing, frame)
    assert pushed == full


def test_json_files_are_narrowed_too(pushing, tmp_path):
    nested = pa.schema([*SCHEMA, ("tags", pa.list_(pa.string()))])
    rows = [{"id": n, "name": f"n{n}", "price": n / 2, "flag": True, "tags": ["a"] * (n % 3)} for n in range(100)]
    (tmp_path / "rows.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    df = su.read(pushing, str(tmp_path), fm.Json(nested))
    query = df.where("id >= 90").select(F.size("tags"))
    assert pushdown_note(query) == ["read[columns: id, tags; filters: (id IS NOT NULL) and (id >= 90L)]"]
    assert sorted(row[0] for row in query.collect()) == sorted(n % 3 for n in range(90, 100))


def test_folders_that_cannot_match_are_not_read(pushing, folder):
    """The narrowed task is run here, beside a file that is no longer there."""
    df = su.read(pushing, str(folder), fm.Csv(SCHEMA, header=True))
    from spark_udfs.tasks.siblings import ATTRIBUTE

    rows, task = df.__dict__[ATTRIBUTE]
    names = list(task.names)
    narrow = narrowing.narrowed_task(task, [names.index("id")], {}, [["==", names.index("day"), 2]])
    groups = rows.toArrow().to_batches()
    units = list(narrow.task.parts(groups))
    assert {unit.path.split("day=")[1][0] for unit in units} == {"2"}
    ids = [value for batch in narrow(groups) for value in batch.column(0).to_pylist()]
    assert sorted(ids) == list(range(ROWS, 2 * ROWS))
