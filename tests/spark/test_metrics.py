"""What tasks report, and rejects as a DataFrame."""

from __future__ import annotations

import logging

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
DATA = "1,a\nx,b\n3,c\n4\n5,e\n"


@pytest.fixture
def folder(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(DATA)
    return tmp_path


def reported(spark, name):
    return [row for row in su.metrics(spark).collect() if name in row.plan]


def test_each_task_reports_rows_bytes_rejects_and_kernel(spark, folder):
    df = su.read(spark, folder, FORMAT, on_error="skip")
    assert df.count() == 6
    [row] = reported(spark, str(folder))
    assert (row.rows, row.records, row.rejects, row.spanning, row.bytes) == (6, 10, 4, 0, 2 * len(DATA))
    assert row.kernel == fm.active_kernel()
    assert row.seconds > 0


def test_a_plan_run_twice_reports_each_run_under_its_stage(spark, folder):
    df = su.read(spark, folder, FORMAT, on_error="skip", columns=["id"])
    df.collect()
    df.collect()
    rows = reported(spark, str(folder))
    assert [row.rows for row in rows] == [6, 6]
    assert len({row.stage for row in rows}) == 2


def test_the_log_has_a_line_when_all_tasks_of_a_stage_are_done(spark, folder, caplog):
    with caplog.at_level(logging.INFO, logger="spark_udfs"):
        su.read(spark, folder, FORMAT, on_error="skip").collect()
    [line] = [record.message for record in caplog.records if str(folder) in record.message]
    assert "1 tasks, 6 rows" in line
    assert "4 rejects" in line
    assert f"kernel {fm.active_kernel()}" in line


def test_the_log_warns_of_a_stage_with_bad_records_alone(spark, folder, caplog):
    with caplog.at_level(logging.INFO, logger="spark_udfs"):
        su.read(spark, folder, FORMAT, on_error="null").collect()
        (folder / "a.csv").unlink()
        (folder / "b.csv").write_text("1,a\n")
        su.read(spark, folder, FORMAT, on_error="skip").collect()
    told = [record.levelname for record in caplog.records if str(folder) in record.message]
    assert told == ["WARNING", "INFO"]


@pytest.mark.parametrize(("most", "fine"), [(4, True), (3, False), (0.4, True), (0.3, False)])
def test_a_task_of_a_read_with_more_bad_records_than_allowed_fails_with_their_counts(spark, folder, most, fine):
    df = su.read(spark, folder, FORMAT, on_error="skip", max_errors=most)
    if fine:
        assert df.count() == 6
        return
    with pytest.raises(
        Exception, match=r"max_errors: expected at most .* of a task to be bad, found 4 of 10: 4 rejected"
    ):
        df.collect()


def test_a_task_that_pushdown_has_narrowed_bears_no_more_bad_records(spark, folder):
    assert su.enable_pushdown(spark)
    df = su.read(spark, folder, FORMAT, on_error="skip", max_errors=3)
    try:
        for narrowed in (df.select(df.columns[0]), df.groupBy().count(), df.where(f"{df.columns[0]} IS NOT NULL")):
            assert "[columns:" in narrowed._jdf.queryExecution().optimizedPlan().toString()
            with pytest.raises(Exception, match="max_errors: expected at most 3 records of a task to be bad, found 4"):
                narrowed.collect()
    finally:
        su.disable_pushdown(spark)


@pytest.mark.parametrize("stitch", ["origin", "global"])
@pytest.mark.parametrize(("on_error", "bad"), [("skip", "2 rejected, 0 values"), ("null", "0 rejected, 2 values")])
def test_a_task_of_a_parse_with_more_bad_records_than_allowed_fails_with_their_counts(spark, stitch, on_error, bad):
    rows = [("a", 1, bytearray(DATA[:7].encode())), ("a", 2, bytearray(DATA[7:].encode()))]
    chunks = spark.createDataFrame(rows, "origin STRING, sequence BIGINT, payload BINARY").coalesce(1)
    assert su.parse(chunks, FORMAT, on_error=on_error, stitch=stitch, max_errors=2).count() >= 3
    with pytest.raises(Exception, match=f"max_errors: expected at most 0 records .* of 5: {bad}"):
        su.parse(chunks, FORMAT, on_error=on_error, stitch=stitch, max_errors=0).collect()


def test_a_tolerance_of_no_sense_is_refused_while_the_query_is_planned(spark, folder):
    for options in ({"max_errors": 1}, {"max_errors": 2.0, "on_error": "skip"}):
        with pytest.raises(fm.OptionError, match="max_errors"):
            su.read(spark, folder, FORMAT, **options)


def test_filtered_rows_are_counted_as_such(spark, folder):
    su.read(spark, folder, FORMAT, on_error="skip", filters=[("id", ">", 3)]).collect()
    [row] = reported(spark, str(folder))
    assert (row.rows, row.filtered) == (2, 4)


def test_rejects_are_a_frame_beside_the_rows(spark, folder):
    df = su.read(spark, folder, FORMAT, on_error="collect")
    assert [row.id for row in df.collect()] == [1, 3, 5] * 2
    rejects = su.rejects(df).collect()
    found = [(row.origin.rpartition("/")[2], row.byte_offset, row.column, row.code, bytes(row.raw)) for row in rejects]
    of_one = [(4, "id", "invalid", b"x,b"), (12, None, "too_few_fields", b"4")]
    assert found == [(name, *one) for name in ("a.csv", "b.csv") for one in of_one]
    assert "record 1, field 0 'id', byte 4: expected int64, found 'x'" in rejects[0].message


def test_rejects_and_rows_are_all_records_whatever_the_projection(spark, folder):
    df = su.read(spark, folder, FORMAT, on_error="collect", columns=["text"])
    assert df.count() + su.rejects(df).count() == 10
    assert su.rejects(df).count() == 2  # a bad id is nobody's concern here


def test_measure_counts_by_reading_once_more(spark, folder):
    [row] = su.measure(su.read(spark, folder, FORMAT, on_error="null")).collect()
    assert (row.rows, row.records, row.nulled) == (10, 10, 4)


def test_a_frame_made_otherwise_has_no_rejects(spark, folder):
    df = su.read(spark, folder, FORMAT, on_error="collect")
    with pytest.raises(fm.OptionError, match="before any select"):
        su.rejects(df.select("id"))


@pytest.mark.parametrize("stitch", ["origin", "global"])
def test_chunks_give_rejects_and_counts_as_files_do(spark, folder, stitch):
    chunks = su.read_chunks(spark, folder, chunk_bytes=3)
    df = su.parse(chunks, FORMAT, on_error="collect", stitch=stitch)
    assert sorted(row.id for row in df.collect()) == [1, 1, 3, 3, 5, 5]
    found = sorted((row.origin.rpartition("/")[2], row.byte_offset, row.code) for row in su.rejects(df).collect())
    assert found == [(name, *one) for name in ("a.csv", "b.csv") for one in ((4, "invalid"), (12, "too_few_fields"))]
    measured = su.measure(df).collect()
    assert sum(row.rows for row in measured) == 6
    assert sum(row.spanning for row in measured) > 0


def test_parsing_chunks_reports_spanning_records(spark, folder):
    df = su.parse(su.read_chunks(spark, folder, chunk_bytes=3), FORMAT, on_error="skip", stitch="origin")
    df.collect()
    rows = [row for row in su.metrics(spark).collect() if "parse csv, stitch origin" in row.plan]
    assert sum(row.rows for row in rows) >= 6
    assert sum(row.spanning for row in rows) >= 8


def test_every_row_of_a_permissive_read_is_counted(spark, tmp_path):
    """Bad records are rows there; those a filter leaves out are not."""
    (tmp_path / "f.csv").write_text("1,a\nx,b\n3,c,d\n4,d\n")
    df = su.read(spark, tmp_path, "csv", schema="a INT, b STRING")
    assert df.count() == 4
    last = su.metrics(spark).orderBy("stage").collect()[-1]
    assert (last.records, last.rows, last.filtered, last.rejects) == (4, 4, 0, 2)
    some = su.read(spark, tmp_path, "csv", schema="a INT, b STRING", filters=[("a", ">", 1)])
    assert some.count() == 2
    last = su.metrics(spark).orderBy("stage").collect()[-1]
    assert (last.records, last.rows, last.filtered) == (4, 2, 2)


def shown(spark, frame):
    """What the last query of the frame's rows has in Spark's own SQL tab, by name, and what its stages read."""
    rows = frame.collect()
    spark.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    store = spark._jsparkSession.sharedState().statusStore()
    execution = store.executionsList().last()
    values = {found._1(): found._2() for found in _all_of(spark, store.executionMetrics(execution.executionId()))}
    graph = store.planGraph(execution.executionId()).allNodes()
    nodes = [node for node in _all_of(spark, graph) if node.name() == "FormatterMapInArrow"]
    metrics = [metric for node in nodes for metric in _all_of(spark, node.metrics())]
    told = {metric.name(): values.get(metric.accumulatorId()) for metric in metrics}
    return (
        rows,
        told,
        [
            spark.sparkContext._jsc.sc().statusStore().lastStageAttempt(int(stage))
            for stage in _all_of(spark, execution.stages())
        ],
    )


def _all_of(spark, found):
    return list(spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(found.toSeq()))


@pytest.mark.parametrize("adaptive", ["true", "false"])
def test_sparks_own_pages_show_what_was_read(spark, tmp_path, adaptive):
    content = "".join(f"{n},{n / 2}\n" for n in range(2_000)) + "x,1\n"
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text(content)
    assert su.enable_direct_rows(spark)
    spark.conf.set("spark.sql.adaptive.enabled", adaptive)
    try:
        df = su.read(spark, tmp_path, "csv", schema="id BIGINT, price DOUBLE")
        rows, told, stages = shown(spark, df.groupBy((df.id % 3).alias("third")).count())
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")
    assert sum(row["count"] for row in rows) == 4_002
    counted = {name: told[name].split("\n")[-1].split(" ")[0] for name in ("records", "rejected records")}
    assert counted == {"records": "4,002", "rejected records": "2"}
    assert told["bytes parsed"].split("\n")[-1].startswith(f"{2 * len(content) / 1024:.1f} KiB")
    assert told["number of output rows"].split("\n")[-1].split(" ")[0] == "4,002"
    assert sum(stage.inputBytes() for stage in stages) == 2 * len(content)
    assert sum(stage.inputRecords() for stage in stages) == 4_002


def test_each_of_two_functions_in_one_task_shows_its_own(spark, tmp_path):
    (tmp_path / "a.csv").write_text("".join(f'"{n},7"\n' for n in range(500)))
    assert su.enable_direct_rows(spark)
    lines = su.read(spark, tmp_path, fm.Csv(pa.schema([("line", pa.string())])))
    parsed = su.parse_column(lines, "line", fm.Csv(pa.schema([("n", pa.int64()), ("seven", pa.int64())])))
    rows, told, stages = shown(spark, parsed.where("v.n >= 400 AND v.seven = 7"))
    assert len(rows) == 100
    assert sum(stage.inputRecords() for stage in stages) == 500
    assert sum(stage.inputBytes() for stage in stages) == (tmp_path / "a.csv").stat().st_size
    assert told["records"] == "500"
