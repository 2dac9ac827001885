"""What has to work on every Spark from 4.0 on, with all that the version at hand can do and with none of it.

`make test-spark-matrix` runs this under the newest patch of each.
"""

from __future__ import annotations

import warnings

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su
from spark_udfs.jvm.direct_rows import DirectRowsWarning
from spark_udfs.pushdown.enabling import PushdownWarning, pushdown_note

SCHEMA = pa.schema([("id", pa.int64()), ("name", pa.string()), ("price", pa.float64()), ("tags", pa.list_(pa.int32()))])
FLAT = pa.schema(list(SCHEMA)[:3])
DDL = "id BIGINT, name STRING, price DOUBLE"
ROWS = 3_000


@pytest.fixture(params=["plain", "with pushdown and direct rows"])
def session(request, spark):
    """Where a version cannot do one of the two it says so in a warning, and rows come all the same."""
    enabled = request.param != "plain"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DirectRowsWarning)
        warnings.simplefilter("ignore", PushdownWarning)
        if enabled:
            su.enable_direct_rows(spark)
            su.enable_pushdown(spark)
        else:
            su.disable_direct_rows(spark)
        yield spark
    su.disable_pushdown(spark)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    here = tmp_path_factory.mktemp("versions")
    for part in range(3):
        ids = range(part * ROWS // 3, (part + 1) * ROWS // 3)
        (here / f"{part}.csv").write_text("".join(f'{n},"name, {n % 7}\n",{n / 4}\n' for n in ids))
    return here


def test_variants_have_the_bytes_of_parse_json(session):
    values = session.createDataFrame([('{"b": [1, null], "a": 2.5}',), ("[]",)], "value string")
    format = fm.Json(pa.schema([("v", fm.variant())]), paths={"v": ""})
    parsed = su.parse_column(values, "value", format).selectExpr("v.v", "parse_json(value) as theirs")
    rows = [(one.v, one.theirs) for one in parsed.collect()]
    assert [(one.value, one.metadata) for one, _ in rows] == [(two.value, two.metadata) for _, two in rows]
    assert [str(one) for one, _ in rows] == ['{"a":2.5,"b":[1,null]}', "[]"]


def test_files_are_read_and_counted(session, folder):
    df = su.read(session, folder, fm.Csv(FLAT))
    theirs = session.read.schema(DDL).option("multiLine", True).csv(str(folder))
    assert df.count() == ROWS == theirs.count()
    assert df.exceptAll(theirs).count() == theirs.exceptAll(df).count() == 0
    assert df.where("id > 2500").count() == theirs.where("id > 2500").count()
    assert df.where("price < 10").select("name").collect() == theirs.where("price < 10").select("name").collect()
    assert df.select("id").agg({"id": "sum"}).collect() == theirs.agg({"id": "sum"}).collect()
    assert df.groupBy("name").count().count() == 7
    assert df.limit(5).count() == 5
    assert df.join(theirs, "id").count() == ROWS


def test_a_read_is_planned_with_its_size(session, folder):
    size = sum(path.stat().st_size for path in folder.iterdir())
    planned = su.read(session, folder, fm.Csv(FLAT))._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()
    assert int(planned) == pytest.approx(size, abs=16)


def test_chunks_are_parsed_wherever_they_are(session, folder):
    chunks = su.read_chunks(session, folder, chunk_bytes=1_000)
    for stitch in ("origin", "global"):
        parsed = su.parse(chunks.repartition(5), fm.Csv(FLAT), stitch=stitch)
        assert parsed.count() == ROWS
        assert parsed.agg({"id": "sum"}).collect()[0][0] == ROWS * (ROWS - 1) // 2


def test_records_in_a_column_are_parsed(session):
    values = session.range(ROWS).selectExpr(
        """concat('{"id": ', id, ', "name": "n', id % 3, '", "price": 0.5, "tags": [', id, ', 2]}') AS value""",
        "id AS kept",
    )
    parsed = su.parse_column(values, "value", fm.Json(SCHEMA))
    assert parsed.where("v.id = kept AND v.tags[0] = kept").count() == ROWS
    assert parsed.select("v.name").distinct().count() == 3
    assert su.parse(values, fm.Json(SCHEMA), payload="value", unit="record", keep=["kept"], error=None).count() == ROWS


def test_sparks_own_door_reads_the_same(session, folder):
    su.register(session)
    df = session.read.format("formatter").schema(DDL).option("kind", "csv").option("multiLine", True).load(str(folder))
    assert df.count() == ROWS
    assert df.where("id < 10").count() == 10


def test_sql_reads_files_by_a_table_function(session, folder):
    su.register(session)
    called = f"formatter_read('{folder}', 'csv', '{DDL}', map('multiLine', 'true'))"
    assert session.sql(f"SELECT count(*), sum(id) FROM {called} WHERE name <> 'none'").first() == (
        ROWS,
        ROWS * (ROWS - 1) // 2,
    )
    assert session.sql(f"SELECT l.id FROM {called} l JOIN {called} r ON l.id = r.id WHERE r.price < 1").count() == 4


def test_bad_data_is_an_error_and_rejects_are_rows(session, tmp_path):
    (tmp_path / "f.csv").write_text("1,a,1.5\nx,b,2.5\n")
    with pytest.raises(Exception, match="record 1, field 0 'id'"):
        su.read(session, tmp_path, fm.Csv(FLAT)).collect()
    assert su.rejects(su.read(session, tmp_path, fm.Csv(FLAT), on_error="collect")).count() == 1
    assert su.read(session, tmp_path, "csv", schema=DDL).where("id IS NULL").count() == 1


def test_what_is_enabled_works_and_says_what_it_does(spark, folder):
    """Each proves itself by a query when it is enabled: what it then claims must be so."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        pushes = su.enable_pushdown(spark)
        direct = su.enable_direct_rows(spark)
    ours = [str(one.message) for one in told if issubclass(one.category, UserWarning)]
    assert len(ours) == (not pushes) + (not direct)
    df = su.read(spark, folder, fm.Csv(FLAT)).where("id > 10").select("name")
    assert bool(pushdown_note(df)) == pushes
    assert ("FormatterMapInArrow" in df._jdf.queryExecution().executedPlan().toString()) == direct
    assert df.count() == ROWS - 11
    su.disable_pushdown(spark)
