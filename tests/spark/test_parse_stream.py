"""Chunks that stream in: rows are those of the whole origins, once, whatever the micro-batches, order and restarts."""

from __future__ import annotations

import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from patience import PATIENCE_S

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
FORMAT = fm.Csv(SCHEMA)
CHUNKS = pa.schema(
    [
        ("origin", pa.string()),
        ("sequence", pa.int64()),
        ("payload", pa.binary()),
        ("last", pa.int64()),
        ("day", pa.string()),
    ]
)
DDL = "origin STRING, sequence BIGINT, payload BINARY, last BIGINT, day STRING"


def content_of(start, count=40):
    return b"".join(b'%d,"text, %d\nmore"\n' % (n, n) for n in range(start, start + count))


ORIGINS = {"a": content_of(0), "b": content_of(40), "c": content_of(80)[:-1]}


def rows_of(origins, chunk_bytes, day="monday"):
    rows = []
    for origin, content in origins.items():
        pieces = [content[at : at + chunk_bytes] for at in range(0, len(content), chunk_bytes)]
        rows += [(origin, number, piece, len(pieces), day) for number, piece in enumerate(pieces, 1)]
    return rows


class Feed:
    """A folder of files, one a micro-batch, a query that reads it, and the sink's rows."""

    def __init__(self, spark, folder):
        self.spark, self.folder, self.files, self.name = spark, folder, 0, f"sink_{folder.name.replace('-', '_')}"
        (folder / "in").mkdir()

    def add(self, rows):
        table = pa.table(
            [pa.array(column, field.type) for column, field in zip(zip(*rows, strict=True), CHUNKS, strict=True)],
            schema=CHUNKS,
        )
        hidden = self.folder / "in" / f"_{self.files}"
        pq.write_table(table, hidden)
        hidden.rename(self.folder / "in" / f"{self.files:05}.parquet")
        self.files += 1

    def chunks(self):
        return self.spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1).parquet(str(self.folder / "in"))

    def run(self, format=FORMAT, **options):
        parsed = su.parse_stream(self.chunks(), format, **options)
        writer = parsed.writeStream.format("parquet").option("checkpointLocation", str(self.folder / "state"))
        query = writer.trigger(availableNow=True).start(str(self.folder / "out"))
        assert query.awaitTermination(PATIENCE_S)
        return query

    def rows(self):
        return sorted(map(tuple, self.spark.read.parquet(str(self.folder / "out")).collect()))


@pytest.fixture
def feed(spark, tmp_path):
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield Feed(spark, tmp_path)
    spark.conf.set("spark.sql.shuffle.partitions", before)


def expected(origins):
    return sorted(tuple(row.values()) for content in origins.values() for row in fm.read(content, FORMAT).to_pylist())


def test_records_that_span_micro_batches_come_out_once_in_any_order(feed):
    rows = rows_of(ORIGINS, 23)
    random.Random(3).shuffle(rows)
    for part in range(4):
        feed.add(rows[part::4])
    feed.run(last_sequence="last")
    assert feed.rows() == expected(ORIGINS)


def test_a_query_goes_on_where_it_stopped_and_redelivered_chunks_change_nothing(feed):
    rows = rows_of(ORIGINS, 50)
    random.Random(5).shuffle(rows)
    feed.add(rows[:20])
    feed.run(last_sequence="last", keep=["day"])
    feed.add(rows[10:30])
    feed.add(rows)
    feed.run(last_sequence="last", keep=["day"])
    feed.add(rows[:7])
    feed.run(last_sequence="last", keep=["day"])
    assert feed.rows() == [(*row, "monday") for row in expected(ORIGINS)]


MIXED = {
    "a": ("monday", b"text,id\n" + b"".join(b'"text, %d\nmore",%d\n' % (n, n) for n in range(40))),
    "b": ("tuesday", b"".join(b'{"id":%d,"text":"json"}\n' % n for n in range(40, 80))[:-1]),
    "c": ("monday", b"id,text\n80,csv\n"),
}
BY_DAY = {"monday": fm.Csv(SCHEMA, header=True), "tuesday": fm.Json(SCHEMA)}
MIXED_ROWS = [(n, f"text, {n}\nmore" if n < 40 else "json" if n < 80 else "csv") for n in range(81)]


@pytest.mark.parametrize("by_column", [True, False])
def test_origins_have_formats_of_their_own_over_restarts(feed, by_column):
    rows = [row for origin, (day, data) in MIXED.items() for row in rows_of({origin: data}, 37, day)]
    random.Random(3).shuffle(rows)
    by_origin = {origin: BY_DAY[day] for origin, (day, _) in MIXED.items()}
    formats, more = (BY_DAY, {"format_column": "day"}) if by_column else (by_origin, {"keep": ["day"]})
    for at in range(0, len(rows), 17):
        feed.add(rows[at : at + 17])
        feed.run(formats, last_sequence="last", **more)  # each a query that begins where the one before ended
    assert sorted(row[:2] for row in feed.rows()) == MIXED_ROWS


def test_an_origin_keeps_its_format_and_a_chunk_cannot_change_it(feed):
    feed.add([("a", 1, b"id,text\n1,", 3, "monday")])
    feed.run(BY_DAY, format_column="day", last_sequence="last")
    feed.add([("a", 2, b"x\n", 3, "tuesday")])
    with pytest.raises(Exception, match="changes within origin 'a' "):
        feed.run(BY_DAY, format_column="day", last_sequence="last")


def test_formats_that_a_query_cannot_keep_are_refused(feed):
    feed.add([("a", 1, b"1,x\n", 1, "monday")])
    with pytest.raises(fm.SchemaError, match="dya"):
        su.parse_stream(feed.chunks(), BY_DAY, format_column="dya")
    with pytest.raises(fm.OptionError, match="goes with a dict of formats"):
        su.parse_stream(feed.chunks(), FORMAT, format_column="day")
    with pytest.raises(fm.OptionError, match="text or whole numbers, found 1"):
        su.parse_stream(feed.chunks(), {1.5: FORMAT}, format_column="day")
