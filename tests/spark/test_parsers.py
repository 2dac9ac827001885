"""Columns of registered parsers in Spark: workers read by what the driver registered. In: CSV chunks. Out: verdicts."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema(
    [
        pa.field("id", pa.int64()),
        pa.field("price", pa.decimal128(18, 2), metadata={"parser": "currency"}),
        pa.field("shout", pa.string(), metadata={"parser": "shouted in a test"}),
    ]
)


def test_parsers_travel_with_the_format_and_are_registered_again(spark):
    fm.register_parser("shouted in a test", pa.string(), lambda texts: pc.utf8_upper(texts))
    data = b"".join(b'%d,"$1,%03d.50",text %d\n' % (i, i, i) for i in range(300))
    chunks = [("a", n, bytearray(data[at : at + 97])) for n, at in enumerate(range(0, len(data), 97), 1)]
    frame = spark.createDataFrame(chunks[::-1], "origin STRING, sequence BIGINT, payload BINARY").repartition(3)
    format = fm.Csv(SCHEMA)
    rows = su.parse(frame, format, filters=[("price", ">", 1100)]).collect()
    expected = fm.read(data, format, filters=[("price", ">", 1100)]).to_pylist()
    assert len(expected) == 200
    assert sorted(tuple(row) for row in rows) == sorted(tuple(row.values()) for row in expected)
