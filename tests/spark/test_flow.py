"""The flow room beside Spark's own: key hashes that agree, session windows that come out whole."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pyarrow as pa

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
        "at": pa.array([datetime.datetime(2024, 1, 1, 1, 2, 3, 4), None, datetime.datetime(1960, 1, 1)], pa.timestamp("us")),
        "price": pa.array([Decimal("1.50"), Decimal("-3.25"), None], pa.decimal128(9, 2)),
        "wide": pa.array([Decimal("12345678901234567890.5"), Decimal("-1.0"), Decimal("128.0")], pa.decimal128(25, 1)),
    }
    table = pa.table(columns)
    frame = spark.createDataFrame(table)
    for names in [[name] for name in columns] + [list(columns)]:
        expected = [row[0] % 2**64 for row in frame.selectExpr(f"xxhash64({', '.join(names)})").collect()]
        (batch,) = table.to_batches()
        assert key_hashes(batch, names).to_pylist() == expected, names
