"""The flow room beside Spark's own: key hashes that agree, session windows that come out whole."""

from __future__ import annotations

import datetime
import os
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from patience import PATIENCE_S

from formatter import flow
from formatter.flow.key_hash import key_hashes


def test_spark_computes_the_same_hash(spark):
    columns = {
        "flag": pa.array([True, False, None]),
        "small": pa.array([-5, 0, 7], pa.int32()),
        "long": pa.array([2**60, None, -1], pa.int64()),
        "real": pa.array([1.5, -0.0, float("nan")], pa.float32()),
        "double": pa.array([1e300, 0.0, None], pa.float64()),
        "text": pa.array(["", "a key", "a key that is longer than thirty-two bytes"]),
        "raw": pa.array([b"\x00\xff", None, b"x"], pa.binary()),
        "day": pa.array([datetime.date(1969, 1, 1), datetime.date(2024, 2, 29), None]),
        "at": pa.array(
            [datetime.datetime(2024, 1, 1, 1, 2, 3, 4), None, datetime.datetime(1960, 1, 1)], pa.timestamp("us")
        ),
        "price": pa.array([Decimal("1.50"), Decimal("-3.25"), None], pa.decimal128(9, 2)),
        "wide": pa.array([Decimal("12345678901234567890.5"), Decimal("-1.0"), Decimal("128.0")], pa.decimal128(25, 1)),
    }
    table = pa.table(columns)
    frame = spark.createDataFrame(table)
    for names in [[name] for name in columns] + [list(columns)]:
        expected = [row[0] % 2**64 for row in frame.selectExpr(f"xxhash64({', '.join(names)})").collect()]
        (batch,) = table.to_batches()
        assert key_hashes(batch, names).to_pylist() == expected, names


EVENTS = pa.schema([("user", pa.string()), ("at", pa.timestamp("us", "UTC"))])
NOON = datetime.datetime(2024, 5, 1, 12, tzinfo=datetime.UTC)


def second(n: int) -> datetime.datetime:
    return NOON + datetime.timedelta(seconds=n)


@pytest.mark.parametrize("batch_rows", [1, 2, 7, 1024])
def test_session_windows_of_structured_streaming_come_out_whole_at_every_batch_size(spark, tmp_path, batch_rows):
    """Our bridge cuts the micro-batches (a file each); Spark's own session_window must give each session once."""
    from pyspark.sql import functions as f

    script = [("five", n) for n in range(5)]  # five events in one gap
    script += [("two", 0), ("two", 14), ("two", 7)]  # the third joins the first two
    script += [("three", 0), ("three", 16), ("three", 32), ("three", 8), ("three", 24)]
    # Spark holds rows against the watermark of the micro-batch before the last: "late" comes two after "close".
    script += [("close", 500), ("close", 700), ("late", 1), ("close", 1000)]
    bridge = flow.Bridge(EVENTS, policy=flow.BatchPolicy(max_rows=batch_rows, max_latency_ms=None), key="user")
    for number, (user, at) in enumerate(script):
        if user in ("close", "late"):
            bridge.producer.checkpoint(number)  # flushes: the next row gets a micro-batch of its own
        bridge.producer.send(pa.record_batch([[user], pa.array([second(at)], EVENTS.field("at").type)], schema=EVENTS))
    bridge.producer.close()
    incoming = tmp_path / "in"
    incoming.mkdir()
    stream = spark.readStream.schema("user string, at timestamp, key_hash decimal(20, 0)")
    stream = stream.option("maxFilesPerTrigger", 1).parquet(str(incoming))
    sessions = (
        stream.withWatermark("at", "60 seconds")
        .groupBy("user", f.session_window("at", "10 seconds"))
        .agg(f.count("*").alias("events"))
    )
    for number, action in enumerate(action for action in bridge.consumer if isinstance(action, flow.Rows)):
        pq.write_table(pa.Table.from_batches([action.batch]), incoming / f"part-{number:05d}.parquet")
        os.utime(incoming / f"part-{number:05d}.parquet", (1_700_000_000 + number, 1_700_000_000 + number))
    partitions = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    try:
        query = sessions.writeStream.outputMode("append").format("memory").queryName(f"sessions_{batch_rows}")
        query = query.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True).start()
        assert query.awaitTermination(PATIENCE_S)
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", partitions)
    width = f.col("session_window.end").cast("long") - f.col("session_window.start").cast("long")
    rows = spark.table(f"sessions_{batch_rows}").select("user", width, "events").collect()
    assert sorted(map(tuple, rows)) == [
        ("close", 10, 1), ("close", 10, 1), ("five", 14, 5), ("three", 42, 5), ("two", 24, 3),
    ]  # fmt: skip
