"""Run in a process of its own by test_deployment.py: a session of one kind, a read checked row by row.

In: the kind of session, a folder with a.csv (ids 0 to 9999, quoted text), an archive. Out: exit code 0, facts on stdout.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "src"), str(ROOT), str(ROOT / "tools")]  # of this process: executors must find their own

import pyarrow as pa  # noqa: E402
from java_home import use_java  # noqa: E402

use_java()

from pyspark.sql import SparkSession  # noqa: E402

import formatter as fm  # noqa: E402
import spark_udfs as su  # noqa: E402
from spark_udfs.jvm.quote_survey import quote_survey  # noqa: E402

FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))


def where(batches):
    import formatter

    for _ in batches:
        pass
    yield pa.RecordBatch.from_pydict({"file": [formatter.__file__]})


def streamed(spark, folder, row_count):
    """Files and chunks as streams, into files."""
    su.register_chunks(spark)
    source = spark.readStream.format("formatter").schema("id BIGINT, text STRING")
    files = source.options(kind="csv", mode="DROPMALFORMED", multiLine="true").load(str(folder))
    chunks = spark.readStream.format("formatter_chunks").option("layout", "whole").option("chunkBytes", "5000")
    parsed = su.parse_stream(chunks.load(str(folder)), FORMAT, last_sequence="last_sequence", on_error="skip")
    for name, rows in (("files", files), ("chunks", parsed)):
        out = folder.parent / f"{name}-{spark.version}"
        writer = rows.writeStream.trigger(availableNow=True).option("checkpointLocation", f"{out}-state")
        assert writer.start(str(out)).awaitTermination(1_800)
        assert spark.read.parquet(str(out)).count() == row_count, name


def main() -> None:
    kind, folder, archive = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
    builder = SparkSession.builder.appName("formatter deployment")
    if kind == "connect":
        builder = su.configure(builder.remote("local[2]"))
    else:
        builder = su.configure(builder.master("local-cluster[2,1,1024]"), archive=archive)
        builder = builder.config("spark.pyspark.python", sys.argv[4])
    builder = builder.config("spark.ui.enabled", "false").config("spark.driver.host", "127.0.0.1")
    builder = builder.config("spark.driver.bindAddress", "127.0.0.1").config("spark.log.level", "ERROR")
    spark = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    df = su.read(spark, folder / "a.csv", FORMAT, on_error="collect")
    rows = sorted((row.id, row.text) for row in df.collect())
    expected = [(number, f'"{number}\n') for number in range(10_000) if number % 1_000 != 999]
    assert rows == expected, (len(rows), rows[:3])
    assert [row.byte_offset > 0 for row in su.rejects(df).collect()] == [True] * 10
    assert sum(row.rows for row in su.measure(df).collect()) == len(expected)
    options = {"mode": "DROPMALFORMED"}
    assert su.read(spark, str(folder), "csv", schema="id BIGINT, text STRING", options=options).count() == len(expected)
    chunks = su.read_chunks(spark, folder / "a.csv", chunk_bytes=1_000)
    for stitch in ("auto", "global"):
        parsed = su.parse(chunks.repartition(5), FORMAT, on_error="skip", columns=["id"], stitch=stitch)
        assert sorted(row.id for row in parsed.collect()) == [number for number, _ in expected]
    assert (quote_survey(spark, *b',\n"') is None) == (kind == "connect")  # executors got the class for it
    whole = su.parse(chunks, FORMAT, on_error="skip", stitch="global")
    assert sorted(map(tuple, whole.collect())) == expected
    records = spark.createDataFrame([(1, '{"id": 7, "text": "x"}'), (2, "{")], "key INT, value STRING")
    as_json = fm.Json(FORMAT.schema)
    by_record = su.parse(records, as_json, payload="value", unit="record", keep=["key"]).select(
        "key", "id", "error.code"
    )
    assert sorted(map(tuple, by_record.collect()), key=str) == [(1, 7, None), (2, None, "malformed")]
    assert su.parse_column(records, "value", as_json, into="v").where("v.id = 7").count() == 1
    su.register(spark)
    source = spark.read.format("formatter").schema("id BIGINT, text STRING")
    source = source.options(kind="csv", mode="DROPMALFORMED", multiLine="true").load(str(folder))
    assert source.where("id < 10 and not (id <=> 3)").count() == 9
    streamed(spark, folder, len(expected))
    if kind == "connect":
        with contextlib.suppress(fm.OptionError):
            raise SystemExit(f"a Connect client got {su.metrics(spark).count()} reports")
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            assert su.enable_pushdown(spark) is False
        assert any(
            "unless columns= and filters= say less: a Spark Connect client" in str(each.message) for each in said
        )
    else:
        assert su.metrics(spark).count() > 0
    files = {row.file for row in spark.range(0, 4, 1, 4).mapInArrow(where, "file string").collect()}
    print("executors use", *files)
    spark.stop()


if __name__ == "__main__":
    main()
