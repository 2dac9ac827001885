"""Looking chunks over in the JVM and in Python finds the same; where the JVM cannot, Python does."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import formatter as fm
import spark_udfs as su
from formatter import _core
from spark_udfs.chunks.chunk_rows import ChunkColumns
from spark_udfs.jvm import quote_survey
from spark_udfs.stitch import chunk_survey
from spark_udfs.stitch.placed_chunks import placed

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])
DDL = "origin STRING, sequence BIGINT, payload BINARY"
NOT_SOUGHT = 0xFFFFFFFE  # quote_survey.java


def random_chunks(seed, count=300):
    """Mostly small ones: quotes, separators and text in all neighbourhoods; some over many blocks of the search."""
    chance = random.Random(seed)
    for number in range(count):
        alphabet = chance.choice([b'"\n,a', b'a\n,"\r', b"ab\n", b'a"', b"a", b'\xff\x80"\na', b"a" * 60 + b'"\n,'])
        size = chance.choice([0, 1, 7, 8, 9, 63, 64, 65, 200, 5_000 if number % 10 == 0 else 300])
        yield bytes(chance.choices(alphabet, k=size))
    for size in (4_095, 4_096, 4_097, 70_000, 200_000):
        text = bytearray(b"x" * size)
        for at in chance.sample(range(size), 5):
            text[at] = ord(chance.choice('"\n,'))
        yield bytes(text)


def surveys(spark, monkeypatch, chunks, format, in_jvm):
    frame = spark.createDataFrame([("a", n, bytearray(chunk)) for n, chunk in enumerate(chunks, 1)], DDL)
    with monkeypatch.context() as patch:
        if not in_jvm:
            patch.setattr(chunk_survey, "quote_survey", lambda *_: None)
        return chunk_survey.survey_of(frame, format, ChunkColumns()).sort_by("sequence").combine_chunks().to_pylist()


@pytest.mark.parametrize("delimiter", [",", "\t"])
@pytest.mark.parametrize("record_delimiter", ["\n", ";"])
def test_java_says_what_the_engine_says(spark, monkeypatch, delimiter, record_delimiter):
    assert quote_survey.quote_survey(spark, 44, 10, 34) is not None
    format = fm.Csv(SCHEMA, delimiter=delimiter, record_delimiter=record_delimiter)
    table = bytes.maketrans(b",\n", (delimiter + record_delimiter).encode())
    chunks = [chunk.translate(table) for chunk in random_chunks(f"{delimiter}{record_delimiter}")]
    java, python = (surveys(spark, monkeypatch, chunks, format, in_jvm) for in_jvm in (True, False))
    for chunk, ours, engines in zip(chunks, java, python, strict=True):
        courses, expected = (np.frombuffer(each.pop("courses"), _core.COURSE_TYPE) for each in (ours, engines))
        assert ours == engines, chunk[:200]
        assert courses["start"].tolist() == expected["start"].tolist()
        assert courses["end"].tolist() == expected["end"].tolist()
        likely = ours["assumed"]
        assert courses["last_end"][likely] == expected["last_end"][likely], chunk[:200]
        assert courses["last_end"][1 - likely] in (NOT_SOUGHT, expected["last_end"][1 - likely])


@pytest.mark.parametrize("why", ["no session", "no compiler"])
def test_without_java_rows_are_the_same(spark, monkeypatch, why):
    content = b"".join(b'%d,"text\n%d"\n' % (n, n) for n in range(500))
    rows = [("a", n, bytearray(content[at : at + 90])) for n, at in enumerate(range(0, len(content), 90), 1)]
    frame = spark.createDataFrame(rows, DDL).repartition(3)
    if why == "no session":
        monkeypatch.setattr(chunk_survey, "quote_survey", lambda *_: None)
    else:
        monkeypatch.setattr(quote_survey, "_methods", {})
        monkeypatch.setattr(quote_survey, "SOURCE", "pushdown_rule.java")  # has no such class in it
    got = su.parse(frame, fm.Csv(SCHEMA), stitch="global").toArrow().sort_by("id")
    assert got.to_pylist() == fm.read(content, fm.Csv(SCHEMA)).to_pylist()


def test_chunks_that_begin_unlike_what_they_look_are_looked_at_again(spark):
    """Text in quotes that reads like records: every chunk in it looks as if it began outside."""
    inside = b"".join(b"%d,not a record\n" % n for n in range(300))
    content = b"1,a\n" + b'2,"' + inside + b'"\n3,c\n' + b'4,"' + inside + b'x"\n'
    for size in (50, 1_000, 100_000):
        rows = [("a", n, bytearray(content[at : at + size])) for n, at in enumerate(range(0, len(content), size), 1)]
        frame = spark.createDataFrame(rows, DDL).repartition(3)
        got = su.parse(frame, fm.Csv(SCHEMA), stitch="global").toArrow().sort_by("id")
        assert got.to_pylist() == fm.read(content, fm.Csv(SCHEMA)).to_pylist()


@pytest.mark.parametrize("large", ["true", "false"])
def test_payloads_with_wide_offsets_are_surveyed_as_others(spark, large):
    format = fm.Csv(SCHEMA, escape="\\", delimiter="||")
    content = b"".join(b'%d||"text\\"\n%d"\n' % (n, n) for n in range(200))
    rows = [("a", n, bytearray(content[at : at + 90])) for n, at in enumerate(range(0, len(content), 90), 1)]
    name = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(name, large)
    try:
        got = su.parse(spark.createDataFrame(rows, DDL).repartition(3), format, stitch="global").toArrow()
        assert got.sort_by("id").to_pylist() == fm.read(content, format).to_pylist()
    finally:
        spark.conf.unset(name)


def test_a_chunk_where_none_was_looked_over_is_an_error():
    none = placed(pa.table({"origin": pa.array([], pa.string()), "sequence": pa.array([], pa.int64()),
                            "size": pa.array([], pa.int64())}), fm.Csv(SCHEMA), ChunkColumns())  # fmt: skip
    with pytest.raises(fm.SequenceError, match="this chunk of 7 bytes was not among the chunks"):
        none.of(pa.array(["a"]), pa.array([1]), np.array([7]))


def test_a_large_plan_reaches_the_tasks_by_broadcast(spark, monkeypatch):
    from spark_udfs.stitch import stitch_global

    monkeypatch.setattr(stitch_global, "BROADCAST_BYTES", 1)
    content = b"".join(b"%d,text\n" % n for n in range(500))
    rows = [("a", n, bytearray(content[at : at + 30])) for n, at in enumerate(range(0, len(content), 30), 1)]
    parsed = su.parse(spark.createDataFrame(rows, DDL).repartition(5), fm.Csv(SCHEMA, quote=None), stitch="global")
    assert sorted(row.id for row in parsed.collect()) == list(range(500))
    assert parsed.where("id > 490").count() == 9
