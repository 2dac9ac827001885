"""Declared formats in Spark: chunks in any order, files in parts, a record a value, pushdown; the rows of fm.read.

In: access logs and HL7 messages. Out: verdicts. Refuses to know: how a format is declared.
"""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

LOG = fm.declared.combined_log(
    pa.schema([("host", pa.string()), ("target", pa.string()), ("status", pa.int32()), ("agent", pa.string())])
)
HL7 = fm.declared.hl7(
    pa.schema([("host", pa.string()), ("status", pa.int32()), ("agent", pa.string())]),
    {"host": "MSH.3", "status": "MSH.10", "agent": "PID.5.1"},
)


def log_line(i):
    return (
        f'10.0.0.{i} - - [29/Feb/2024:10:00:00 +0000] "GET /{i} HTTP/1.1" {200 + i % 3} 7 "-" "a \\"{i}\\""\n'.encode()
    )


def message(i):
    return f"\vMSH|^~\\&|h{i}|A|B|C|2024||ADT|{200 + i % 3}|P\rPID|1||||D{i}^J\r\x1c\r".encode()


FORMATS = {"log": (LOG, log_line), "hl7": (HL7, message)}


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("chunk_bytes", [7, 100, 5000])
def test_chunks_in_any_order_give_the_rows_of_the_whole(spark, name, chunk_bytes):
    format, record = FORMATS[name]
    data = b"".join(map(record, range(60)))
    chunks = [
        ("a", n, bytearray(data[at : at + chunk_bytes])) for n, at in enumerate(range(0, len(data), chunk_bytes), 1)
    ]
    random.Random(chunk_bytes).shuffle(chunks)
    rows = spark.createDataFrame(chunks, "origin STRING, sequence BIGINT, payload BINARY").repartition(3)
    found = su.parse(rows, format, columns=["host", "status"], filters=[("status", "==", 201)])
    expected = fm.read(data, format, columns=["host", "status"], filters=[("status", "==", 201)]).to_pylist()
    assert sorted(tuple(row) for row in found.collect()) == sorted(tuple(row.values()) for row in expected)


@pytest.mark.parametrize("name", FORMATS)
def test_files_are_read_in_parts(spark, name, tmp_path):
    format, record = FORMATS[name]
    data = b"".join(map(record, range(4000)))
    (tmp_path / "one.txt").write_bytes(data)
    found = su.read(spark, str(tmp_path / "one.txt"), format, columns=["host", "agent"])
    expected = [tuple(row.values()) for row in fm.read(data, format, columns=["host", "agent"]).to_pylist()]
    assert sorted(tuple(row) for row in found.collect()) == sorted(expected)


def test_a_record_a_value(spark):
    frame = spark.createDataFrame([(log_line(i),) for i in range(20)], "value BINARY")
    found = su.parse(frame, LOG, payload="value", unit="record").collect()
    assert sorted(row.agent for row in found) == sorted(f'a "{i}"' for i in range(20))
