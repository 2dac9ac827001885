"""spark.read.format("formatter") gives what Spark's own readers give, split inside files."""

from __future__ import annotations

import datetime

import numpy as np
import pyarrow as pa
import pytest
from pyspark.errors import AnalysisException, IllegalArgumentException
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, IntegerType, StructType

import formatter as fm
import spark_udfs as su
from spark_udfs.pushdown.enabling import pushdown_note

DDL = "id BIGINT, name STRING, price DOUBLE, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, amount DECIMAL(10,2), flag BOOLEAN"
FILTERS = "spark.sql.python.filterPushdown.enabled"


@pytest.fixture(scope="module")
def known(spark):
    su.register(spark)
    return spark


@pytest.fixture(scope="module")
def csv(tmp_path_factory):
    folder = tmp_path_factory.mktemp("source")
    lines = ["id,name,price,day,at,local,amount,flag"]
    for n in range(3_000):
        name = f'"quoted, ""{n}""\nline"' if n % 3 == 0 else f"plain {n}"
        price = "NaN" if n % 50 == 0 else str(n / 4)
        at = f"2024-01-01 00:{n % 60:02}:00"
        lines.append(f"{n},{name},{price},2024-02-{1 + n % 28:02},{at},{at},{n}.25,{str(n % 2 == 0).lower()}")
    (folder / "rows.csv").write_text("\n".join(lines) + "\n")
    return str(folder / "rows.csv")


def source(spark, path, schema=DDL, **options):
    return (
        spark.read.format("formatter")
        .schema(schema)
        .options(kind="csv", header="true", multiLine="true", **options)
        .load(path)
    )


def rows(df):
    return sorted(map(repr, df.collect()))


def test_rows_are_those_of_sparks_own_reader(known, csv):
    theirs = known.read.schema(DDL).csv(csv, header=True, multiLine=True, escape='"')
    assert rows(source(known, csv)) == rows(theirs)


def test_a_file_is_split_and_no_row_is_lost_or_repeated(known, tmp_path):
    line = '{},"a quoted,\nname",{}\n'
    with open(tmp_path / "big.csv", "w") as file:
        for n in range(400_000):
            file.write(line.format(n, n % 7))
    ddl = "id BIGINT, name STRING, kind INT"
    df = (
        known.read.format("formatter")
        .schema(ddl)
        .options(kind="csv", splitBytes="4000000", multiLine="true", unescapedQuoteHandling="RAISE_ERROR")
        .load(str(tmp_path / "big.csv"))
    )
    assert df.rdd.getNumPartitions() > 1 if hasattr(df, "rdd") else True
    found = df.agg(F.count("*"), F.countDistinct("id"), F.sum("id")).first()
    assert tuple(found) == (400_000, 400_000, sum(range(400_000)))


@pytest.mark.parametrize("pushing", [True, False])
@pytest.mark.parametrize(
    "where",
    [
        "id > 2990", "id = 5 and flag = false", "name = 'plain 7'", "name in ('plain 7', 'plain 8', null)", "price > 740",
        "price < 2", "price is null", "day = date'2024-02-03' and id < 90", "amount >= 2990.25", "id <> 3 and id < 6",
        "not (id <=> 5) and id < 9", "not (price <=> 2.0) and id < 60",
        "local < timestamp_ntz'2024-01-01 00:01:00'", "not (id is null) and id <=> 4", "name like 'plain 29%'",
    ],
)  # fmt: skip
def test_filters_drop_exactly_what_spark_would(known, csv, where, pushing):
    theirs = known.read.schema(DDL).csv(csv, header=True, multiLine=True, escape='"')
    su.register(known, filters=pushing)
    if not pushing:
        known.conf.set(FILTERS, "false")
    try:
        assert rows(source(known, csv).where(where)) == rows(theirs.where(where))
    finally:
        su.register(known)


def test_filters_it_is_told_of_drop_rows_in_the_reader():
    from pyspark.sql.datasource import EqualNullSafe, EqualTo, GreaterThan, In, IsNotNull, Not, StringContains

    from spark_udfs.pushdown.predicates import clause_of

    fields = {
        "id": pa.field("id", pa.int64()),
        "name": pa.field("name", pa.string()),
        "price": pa.field("price", pa.float64()),
        "day": pa.field("day", pa.date32()),
    }
    day = datetime.date(2024, 1, 1)
    assert clause_of(EqualTo(("id",), 5), fields) == ("id", "==", 5)
    assert clause_of(Not(EqualTo(("day",), day)), fields) == ("day", "!=", day)
    assert clause_of(Not(EqualNullSafe(("id",), 5)), fields) is None, "a null passes"
    assert clause_of(StringContains(("name",), "a"), fields) == ("name", "contains", "a")
    assert clause_of(In(("id",), (1, None)), fields) == ("id", "in", [1])
    assert clause_of(IsNotNull(("price",)), fields) == ("price", "is_not_null")
    assert clause_of(GreaterThan(("price",), 5.0), fields) is None, "Spark's NaN is above every number"
    assert clause_of(StringContains(("id",), "x"), fields) is None
    assert clause_of(EqualTo(("other", "inner"), 5), fields) is None


def test_the_schema_may_name_some_columns_of_a_file(known, csv):
    df = source(known, csv, schema="amount DECIMAL(10,2), id BIGINT", fileSchema=StructType.fromDDL(DDL).json())
    assert df.columns == ["amount", "id"]
    assert df.where("id = 7").first()[0] == pytest.approx(7.25)


def test_folders_are_columns_where_the_schema_names_them(known, tmp_path):
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "part.json").write_text(f'{{"id": {day * 10}}}\n{{"id": {day * 10 + 1}}}\n')
    df = known.read.format("formatter").schema("id BIGINT, day INT").option("kind", "json").load(str(tmp_path))
    assert sorted(map(tuple, df.collect())) == [(10, 1), (11, 1), (20, 2), (21, 2)]
    assert sorted(map(tuple, df.where("day = 2").collect())) == [(20, 2), (21, 2)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "xml"}, "kind is 'csv' or 'json'"),
        ({"kind": "csv", "splitBytes": "many"}, "splitBytes is a whole number"),
        ({"kind": "csv", "seperator": ";"}, "no option 'seperator'"),
    ],
)
def test_wrong_options_are_refused_by_name(known, csv, options, message):
    with pytest.raises(Exception, match=message):
        known.read.format("formatter").schema(DDL).options(**options).load(csv).collect()


def test_a_stream_is_asked_for_a_schema(known, csv):
    with pytest.raises(Exception, match="a stream needs a schema"):
        known.readStream.format("formatter").option("kind", "csv").load(csv).writeStream.format(
            "noop"
        ).start().awaitTermination(60)


def test_a_far_file_too_large_for_a_look_of_the_driver_is_read_without_a_session(monkeypatch, tmp_path):
    """Readers are planned in a process that has none: it looks for itself where records begin."""
    from spark_udfs.files import split_starts
    from spark_udfs.sources.batch_reader import FormatterReader
    from spark_udfs.sources.source_options import SourceOptions

    monkeypatch.setattr(split_starts, "DRIVER_BYTES_MOST", 1)
    monkeypatch.setattr(split_starts, "GRID_BYTES", 500)
    monkeypatch.setattr("spark_udfs.files.read.GRID_BYTES", 500)
    content = "".join(f'{n},"a quoted,\nname"\n' for n in range(200))
    (tmp_path / "rows.csv").write_text(content)
    # By fsspec, as far files are. Not in its memory: there all who open a file share one place to read at.
    options = {"kind": "csv", "path": f"local://{tmp_path}/rows.csv", "splitBytes": "500", "multiLine": "true"}
    options["unescapedQuoteHandling"] = "RAISE_ERROR"
    reader = FormatterReader(SourceOptions("formatter", options), StructType().add("id", "long").add("name", "string"))
    parts = reader.partitions()
    assert len(parts) > 5
    ids = [row["id"] for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert ids == list(range(200))


TRIPS = 'id,price,city\n1,2.5,"a, b"\n2,3.5,c\n'


@pytest.fixture
def call(known, tmp_path):
    """A call of formatter_read that gives four rows."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(TRIPS)
    return f"formatter_read('{tmp_path}', 'csv', 'id BIGINT, price DOUBLE, city STRING', map('header', 'true'))"


def test_sql_alone_reads_files_by_a_table_function_with_pushdown(pushing, known, call, tmp_path):
    theirs = known.read.schema("id BIGINT, price DOUBLE, city STRING").csv(str(tmp_path), header=True)
    assert rows(known.sql(f"SELECT * FROM {call}")) == rows(theirs)
    joined = known.sql(
        f"SELECT l.city, sum(r.id) s FROM {call} l JOIN {call} r USING (id) WHERE r.price > 3 GROUP BY l.city"
    )
    assert joined.collect() == [("c", 8)]
    assert pushdown_note(known.sql(f"SELECT city FROM {call}")) == ["read[columns: city]"]
    assert known.sql(f"SELECT id FROM {call}")._jdf.queryExecution().optimizedPlan().stats().sizeInBytes() < 1_000
    both_files = f"array('{tmp_path}/a.csv', '{tmp_path}/b.csv')"
    more = "map('rescue', 'rest', 'header', 'true', 'split_bytes', '1000', 'file_column', 'file')"
    found = known.sql(
        f"SELECT city, rest, file.file_name FROM formatter_read({both_files}, 'csv', 'id BIGINT, city STRING', {more})"
    )
    assert sorted({row[2] for row in found.collect()}) == ["a.csv", "b.csv"]
    assert known.sql(f"SELECT * FROM formatter_read('{tmp_path}')").columns == ["id", "price", "city"]


def test_views_and_tables_are_made_of_the_table_function(known, call):
    known.sql(f"CREATE OR REPLACE TEMPORARY VIEW of_function AS SELECT * FROM {call}")
    assert known.sql("SELECT count(*), sum(id) FROM of_function").first() == (4, 6)
    known.sql(f"CREATE TABLE of_function_kept USING parquet AS SELECT * FROM {call}")
    try:
        assert known.table("of_function_kept").count() == 4
    finally:
        known.sql("DROP TABLE of_function_kept")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ("", "found 0 of them"),
        ("'/nowhere'", "no files at '/nowhere'"),
        ("5", "found 5, which is integer"),
        ("'/nowhere', 'xml', 'a INT'", "one of 'csv', 'json', found 'xml'"),
        ("array(1)", "not all of which is text"),
        ("'/', 'csv', 'a INT', map('haeder', 'true')", "no option 'haeder'"),
        ("'/', 'csv', 'a INT', map('split_bytes', 'x')", "whole number"),
    ],
)
def test_a_call_of_the_table_function_that_is_wrong_says_why(known, arguments, says):
    with pytest.raises(Exception, match=says):
        known.sql(f"SELECT * FROM formatter_read({arguments})").collect()


def test_what_is_wrong_in_sql_is_told_without_the_steps_of_two_languages(known):
    for arguments in ("'/nowhere'", "'/', 'csv', 'a INT', map('haeder', 'true')", "'/', 'csv', 'a INTT x'"):
        with pytest.raises(IllegalArgumentException) as caught:
            known.sql(f"SELECT * FROM formatter_read({arguments})")
        assert str(caught.value).startswith("formatter_read")
        assert "table_function.py" not in str(caught.value)


def test_the_table_function_takes_its_arguments_by_name(known, call, tmp_path):
    named = "options => map('header', 'true'), schema => 'id BIGINT', format => 'csv'"
    for path in (f"path => '{tmp_path}'", f"'{tmp_path}'"):
        assert known.sql(f"SELECT sum(id) FROM formatter_read({path}, {named})").first() == (6,)
    for arguments, says in (
        (f"'{tmp_path}', paths => 'x'", "found paths => "),
        (f"'{tmp_path}', path => 'x'", "found path => "),
        ("format => 'csv'", "found no path"),
    ):
        with pytest.raises(IllegalArgumentException, match=says):
            known.sql(f"SELECT * FROM formatter_read({arguments})")


@pytest.mark.parametrize(
    ("options", "path", "says"),
    [({"kind": "csv", "haeder": "true"}, "", "no option 'haeder'"), ({}, "", "kind is 'csv' or 'json'"),
     ({"kind": "csv"}, "/nowhere", "no files at")],
)  # fmt: skip
def test_what_the_source_is_asked_wrongly_is_told_without_our_steps_to_it(known, tmp_path, options, path, says):
    (tmp_path / "a.csv").write_text("1\n")
    reader = known.read.format("formatter").schema("id INT").options(**options)
    with pytest.raises(AnalysisException, match=says) as caught:
        reader.load(f"{tmp_path}{path}").collect()
    assert "Traceback" not in str(caught.value)


def test_a_column_that_is_not_null_is_held_to_that(known, tmp_path):
    """Spark takes a source at its word, and reads some value where there is none."""
    (tmp_path / "a.csv").write_text("1,x\n2,y\n")
    reader = known.read.format("formatter").option("kind", "csv")
    assert reader.schema("a INT NOT NULL, b STRING").load(str(tmp_path)).collect() == [(1, "x"), (2, "y")]
    (tmp_path / "a.csv").write_text("1,x\n,y\n")
    with pytest.raises(Exception, match="column 'a' is NOT NULL, and a record has no value for it") as caught:
        reader.schema("a INT NOT NULL, b STRING").load(str(tmp_path)).collect()
    assert "Traceback" not in str(caught.value)
    inside = StructType().add("l", ArrayType(IntegerType(), containsNull=False))
    with pytest.raises(AnalysisException, match="column 'l' has values inside that are NOT NULL"):
        known.read.format("formatter").option("kind", "json").schema(inside).load(str(tmp_path)).collect()


def test_a_table_says_why_it_cannot_be_read_and_what_can(known, call, tmp_path):
    known.sql(f"CREATE TABLE of_source (id BIGINT) USING formatter OPTIONS (kind 'csv', path '{tmp_path}')")
    try:
        with pytest.raises(Exception, match="AS SELECT \\* FROM formatter_read"):
            known.sql("SELECT * FROM of_source").collect()
    finally:
        known.sql("DROP TABLE of_source")


def test_registered_formats_are_kinds_by_their_names(known, tmp_path):
    def semicolons(data, fields):
        stops = np.flatnonzero((data == ord(";")) | (data == ord("\n"))).reshape(-1, 2)
        begins = np.concatenate([[0], stops.ravel()[:-1] + 1]).reshape(-1, 2)
        return stops[:, 1] + 1, begins[:, fields], stops[:, fields]

    (tmp_path / "a.txt").write_text("1;x\nNA;-\n")
    fm.register_format("of a module that workers lack", rows)
    fm.register_format("two by semicolon", semicolons)
    su.register(known)
    df = known.read.format("formatter").schema("n BIGINT, t STRING").option("kind", "two by semicolon")
    assert df.option("nulls", '["NA", "-"]').load(str(tmp_path)).collect() == [(1, "x"), (None, None)]
    with pytest.raises(Exception, match="expected int64, found 'NA'"):
        df.option("nulls", "-").load(str(tmp_path)).collect()
    called = f"SELECT n FROM formatter_read('{tmp_path}', 'two by semicolon', 'n STRING, t STRING') WHERE t = 'x'"
    assert known.sql(called).collect() == [("1",)]


def test_what_has_no_column_is_rescued_where_the_source_is_told(known, tmp_path):
    (tmp_path / "a.json").write_text('{"a": 1, "b": 2}\n{"a": "x"}\n')
    read = known.read.format("formatter").option("kind", "json").option("rescue", "rest")
    found = read.schema("a INT, rest STRING").load(str(tmp_path)).collect()
    assert found == [(1, '{"b":2}'), (None, '{"a":"x"}')]
    assert read.load(str(tmp_path)).columns[-1] == "rest"
