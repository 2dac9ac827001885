"""Chunks of several formats in one frame. In: CSV and JSON. Out: verdicts."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("id", pa.int64()), ("city", pa.string())])
FORMATS = {"csv": fm.Csv(SCHEMA, header=True), "json": fm.Json(SCHEMA)}
DATA = {
    "a": ("csv", b"city,id\n" + b"".join(b'"O\nslo",%d\n' % i for i in range(40))),
    "b": ("json", b"".join(b'{"id":%d,"city":"Rome"}\n' % i for i in range(40, 80))),
    "c": ("csv", b"id,city\n80,Lima\n"),
}
ROWS = [(i, "O\nslo" if i < 40 else "Rome" if i < 80 else "Lima") for i in range(81)]
NAMES = "origin STRING, sequence BIGINT, payload BINARY, kind STRING"


def chunks_of(spark, size):
    rows = [
        (origin, n, bytearray(data[at : at + size]), kind)
        for origin, (kind, data) in DATA.items()
        for n, at in enumerate(range(0, len(data), size), 1)
    ]
    random.Random(1).shuffle(rows)
    return spark.createDataFrame(rows, NAMES).repartition(3)


@pytest.mark.parametrize("size", [37, 10_000])
def test_a_column_says_which_format_a_chunk_has(spark, size):
    frame = chunks_of(spark, size)
    assert sorted(map(tuple, su.parse(frame, FORMATS, format_column="kind").collect())) == ROWS
    by_origin = {origin: FORMATS[kind] for origin, (kind, _) in DATA.items()}
    some = su.parse(frame, by_origin, columns=["city"], filters=[("id", ">", 78)], keep=["kind"])
    assert sorted(map(tuple, some.collect())) == [("Lima", "csv"), ("Rome", "json")]
    if size > 1000:
        whole = su.parse(frame, FORMATS, format_column="kind", stitch="none")
        assert sorted(map(tuple, whole.collect())) == ROWS


def test_what_is_rescued_has_one_column_for_all_formats(spark):
    more = [("a", 1, bytearray(b"id,city\n1,Oslo,7\n"), "csv"), ("b", 1, bytearray(b'{"id":2,"lat":3}\n'), "json")]
    rows = su.parse(spark.createDataFrame(more, NAMES), FORMATS, format_column="kind", rescue="rest").collect()
    assert sorted((row["id"], row["rest"] is None) for row in rows) == [(1, False), (2, False)]


def test_what_does_not_go_together_is_refused(spark):
    frame = chunks_of(spark, 10_000)
    with pytest.raises(fm.OptionError, match="found several formats"):
        su.parse(frame, FORMATS, format_column="kind", stitch="global")
    with pytest.raises(fm.OptionError, match="goes with a dict of formats"):
        su.parse(frame, FORMATS["csv"], format_column="kind")
    with pytest.raises(fm.SchemaError, match="knd"):
        su.parse(frame, FORMATS, format_column="knd")
    with pytest.raises(fm.SchemaError, match="one schema"):
        su.parse(frame, {**FORMATS, "x": fm.Json(pa.schema([("id", pa.int32())]))}, format_column="kind")
    with pytest.raises(Exception, match="'csv' is none of the formats 'json'"):
        su.parse(frame, {"json": FORMATS["json"]}, format_column="kind").collect()
