"""Session windows over a parsed stream: one result a session, whatever the micro-batches cut in two."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest
from patience import PATIENCE_S

import formatter as fm
import spark_udfs as su

EVENTS = fm.Csv(pa.schema([("user", pa.string()), ("at", pa.timestamp("us", "UTC")), ("note", pa.string())]))
NOON = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC)

# user, second: five events in one gap; two sessions that a later event joins; three that two events join
SCRIPT = [("five", n) for n in range(5)]
SCRIPT += [("two", 0), ("two", 14), ("two", 7)]
SCRIPT += [("three", 0), ("three", 16), ("three", 32), ("three", 8), ("three", 24)]
SCRIPT += [("close", 500), ("close", 700), ("close", 1000)]
SESSIONS = [("close", 10, 1), ("close", 10, 1), ("five", 14, 5), ("three", 42, 5), ("two", 24, 3)]


def text():
    lines = [
        f'{user},{(NOON + datetime.timedelta(seconds=n)).isoformat()},"a note,\nof two lines"\n' for user, n in SCRIPT
    ]
    return "".join(lines).encode()


@pytest.mark.slow
@pytest.mark.parametrize("records_per_batch", [1, 2, 7, 1024])
def test_each_session_comes_out_once_at_every_micro_batch_size(spark, tmp_path, records_per_batch):
    from pyspark.sql import functions as f

    su.register_chunks(spark)
    content = text()
    size = len(content) // len(SCRIPT)
    incoming = tmp_path / "in"
    incoming.mkdir()
    (incoming / "events.csv").write_bytes(content)
    chunks = spark.readStream.format("formatter_chunks").option("layout", "whole").option("chunkBytes", str(size - 3))
    chunks = chunks.option("maxBytesPerTrigger", str(size * records_per_batch)).load(str(incoming))
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        events = su.parse_stream(chunks, EVENTS, columns=["user", "at"], last_sequence="last_sequence")
        sessions = (
            events.withWatermark("at", "60 seconds")
            .groupBy("user", f.session_window("at", "10 seconds"))
            .agg(f.count("*").alias("events"))
        )
        writer = sessions.writeStream.outputMode("append").option("checkpointLocation", str(tmp_path / "state"))
        assert writer.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination(PATIENCE_S)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", before)
    width = f.col("session_window.end").cast("long") - f.col("session_window.start").cast("long")
    rows = spark.read.parquet(str(tmp_path / "out")).select("user", width, "events").collect()
    assert sorted(map(tuple, rows)) == SESSIONS
