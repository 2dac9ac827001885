"""spark.read.format("formatter") gives what Spark's own readers give, split inside files."""

from __future__ import annotations

import datetime

import fsspec
import pyarrow as pa
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

import spark_udfs as su

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


def test_a_far_file_too_large_for_a_look_of_the_driver_is_read_without_a_session(monkeypatch):
    """Readers are planned in a process that has none: it looks for itself where records begin."""
    from spark_udfs.files import split_starts
    from spark_udfs.sources.batch_reader import FormatterReader
    from spark_udfs.sources.source_options import SourceOptions

    monkeypatch.setattr(split_starts, "DRIVER_BYTES_MOST", 1)
    monkeypatch.setattr(split_starts, "GRID_BYTES", 500)
    monkeypatch.setattr("spark_udfs.files.read.GRID_BYTES", 500)
    content = "".join(f'{n},"a quoted,\nname"\n' for n in range(200))
    fsspec.filesystem("memory").pipe("/far/rows.csv", content.encode())
    options = {"kind": "csv", "path": "memory://far/rows.csv", "splitBytes": "500", "multiLine": "true"}
    options["unescapedQuoteHandling"] = "RAISE_ERROR"
    reader = FormatterReader(SourceOptions("formatter", options), StructType().add("id", "long").add("name", "string"))
    parts = reader.partitions()
    assert len(parts) > 5
    ids = [row["id"] for part in parts for batch in reader.read(part) for row in batch.to_pylist()]
    assert ids == list(range(200))
