"""Chunks parsed where they are: whatever the partitioning, the rows are those of the whole origin, each once."""

from __future__ import annotations

import itertools
import json
import random

import pyarrow as pa
import pytest
from pyspark.sql import functions as f

import formatter as fm
import spark_udfs as su
from spark_udfs.stitch.unmoved import unmoved

CHUNK_DDL = "origin STRING, sequence BIGINT, payload BINARY"
SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string())])


def cut(content, sizes):
    """Pieces of these sizes, which take turns."""
    pieces, at = [], 0
    while at < len(content):
        size = sizes[len(pieces) % len(sizes)]
        pieces.append(content[at : at + size])
        at += size
    return pieces


def frame_of(spark, pieces, partitions=3):
    rows = [(origin, number, bytearray(p)) for origin, mine in pieces.items() for number, p in enumerate(mine, 1)]
    random.Random(partitions).shuffle(rows)
    return spark.createDataFrame(spark.sparkContext.parallelize(rows, partitions), CHUNK_DDL)


def chunk_frame(spark, origins, sizes):
    return frame_of(spark, {origin: cut(content, sizes) for origin, content in origins.items()})


def whole(origins, format, **options):
    return sorted(
        (
            tuple(row.values())
            for content in origins.values()
            for row in fm.read(content, format, **options).to_pylist()
        ),
        key=repr,
    )


def parsed(frame, format, **options):
    return sorted(map(tuple, su.parse(frame, format, stitch="global", **options).collect()), key=repr)


def quoted(number):
    if number % 7 == 3:
        lines = "\n".join(f"{n},looks like a record" for n in range(number % 5 * 9))
        return f'{number},"{lines} ""{number}"", with\nnewlines"\n'.encode()
    return f"{number},plain {number}\n".encode() if number % 4 else f'{number},"quoted, {number}"\n'.encode()


QUOTED = {name: b"".join(map(quoted, range(start, start + 60))) for name, start in (("a", 0), ("b", 60), ("c", 120))}
PLAIN = {
    name: b"".join(b"%d,plain %d\n" % (n, n) for n in range(start, start + 60)) for name, start in (("a", 0), ("b", 60))
}

DIALECTS = {
    "quoted": (QUOTED, fm.Csv(SCHEMA)),
    "unquoted": (PLAIN, fm.Csv(SCHEMA, quote=None)),
    "crlf": ({name: content.replace(b"\n", b"\r\n") for name, content in QUOTED.items()}, fm.Csv(SCHEMA)),
    "long delimiters": (
        {name: content.replace(b",", b"::").replace(b"\n", b"|~|") for name, content in QUOTED.items()},
        fm.Csv(SCHEMA, delimiter="::", record_delimiter="|~|"),
    ),
    "escapes and comments": (
        {name: b"# by \"hand\n" + content.replace(b'""', b'\\"') for name, content in QUOTED.items()},
        fm.Csv(SCHEMA, escape="\\", comment="#"),
    ),
    "json": (
        {name: b"".join(json.dumps({"id": n, "text": f"ä\n{n}"}).encode() + b"\n" for n in range(60)) for name in "ab"},
        fm.Json(SCHEMA),
    ),
    "no end": ({name: content[:-1] for name, content in QUOTED.items()}, fm.Csv(SCHEMA)),
    "byte order mark": ({"a": b"\xef\xbb\xbf" + QUOTED["a"]}, fm.Csv(SCHEMA)),
    "header": ({name: b"id,text\n" + content for name, content in QUOTED.items()}, fm.Csv(SCHEMA, header=True)),
    "header in another order": (
        {name: b"\n\nmore,text,id\n" + b"".join(b"x,t%d,%d\n" % (n, n) for n in range(50)) for name in "ab"},
        fm.Csv(SCHEMA, header=True),
    ),
    "odd record end": ({name: content.replace(b"\n", b"\xfe") for name, content in PLAIN.items()},
                       fm.Csv(SCHEMA, quote=None, record_delimiter=b"\xfe")),
}  # fmt: skip


CHUNKINGS = {"1": [1], "7": [7], "64": [64], "uneven": [5, 300, 1], "whole": [100_000]}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_rows_equal_the_whole_files_whatever_the_chunking(spark, dialect):
    """Every chunking is an origin of its own, so that one query tries them all."""
    contents, format = DIALECTS[dialect]
    origins, pieces = {}, {}
    for name, content in contents.items():
        for chunking, sizes in CHUNKINGS.items():
            origins[f"{name} {chunking}"] = content
            pieces[f"{name} {chunking}"] = cut(content, sizes)
    assert parsed(frame_of(spark, pieces, partitions=7), format) == whole(origins, format)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("chunk_bytes", "partitions"),
    [*itertools.product([4 << 10, 256 << 10, 4 << 20], [2, 40]), (4 << 10, 200)],  # larger ones leave most of 200 empty
)
def test_large_chunks_over_any_partitioning_give_exact_rows(spark, chunk_bytes, partitions):
    content = b"".join(quoted(number) for number in range(60_000))
    frame = frame_of(spark, {"a": cut(content, [chunk_bytes]), "b": cut(content[:-1], [chunk_bytes])}, partitions)
    table = su.parse(frame, fm.Csv(SCHEMA), stitch="global").toArrow().sort_by([("id", "ascending")])
    expected = fm.read(content, fm.Csv(SCHEMA))
    both = pa.concat_tables([expected, expected]).sort_by([("id", "ascending")])
    assert table.column("id").to_pylist() == both.column("id").to_pylist()
    assert table.column("text").to_pylist() == both.column("text").to_pylist()


def test_filters_and_columns_apply_to_spanning_records_too(spark):
    options = {"columns": ["text"], "filters": [("id", ">", 100)]}
    frame = chunk_frame(spark, QUOTED, [13])
    assert parsed(frame, fm.Csv(SCHEMA), **options) == whole(QUOTED, fm.Csv(SCHEMA), **options)


def test_records_come_from_the_chunk_they_end_in_and_keep_its_columns(spark):
    rows = [("a", 1, bytearray(b"1,x\n2,"), "m"), ("a", 2, bytearray(b"yy"), "n"), ("a", 3, bytearray(b"y\n3,z"), "o")]
    frame = spark.createDataFrame(rows, f"{CHUNK_DDL}, day STRING")
    kept = parsed(frame, fm.Csv(SCHEMA), keep=["origin", "sequence", "day"])
    assert kept == [(1, "x", "a", 1, "m"), (2, "yyy", "a", 3, "o"), (3, "z", "a", 3, "o")]


def test_integer_origins_and_other_column_names_work(spark):
    rows = [(7, 2, bytearray(b"x\n")), (7, 1, bytearray(b"1,"))]
    frame = spark.createDataFrame(rows, "partition INT, number INT, value BINARY")
    names = {"origin": "partition", "sequence": "number", "payload": "value"}
    assert parsed(frame, fm.Csv(SCHEMA), **names) == [(1, "x")]


def test_no_chunk_moves_and_none_is_joined(spark):
    plan = su.parse(chunk_frame(spark, PLAIN, [50]), fm.Csv(SCHEMA, quote=None), stitch="global")
    text = plan._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" not in text
    assert "Join" not in text


@pytest.mark.parametrize(
    ("format", "found"),
    [
        (fm.Framed(fm.Native(SCHEMA.remove(1))), "Framed"),
        (fm.Json(SCHEMA, records="array"), "records='array'"),
        (fm.Csv(SCHEMA, encoding="latin-1"), "encoding="),
        (fm.Csv(SCHEMA, max_quoted_lines=2), "max_quoted_lines"),
    ],
)
def test_formats_that_no_delimiter_ends_are_refused_while_the_query_is_planned(spark, format, found):
    with pytest.raises(fm.OptionError, match=f"{found}.*; use stitch='origin'"):
        su.parse(chunk_frame(spark, PLAIN, [50]), format, stitch="global")


def test_no_chunks_give_no_rows(spark):
    assert parsed(chunk_frame(spark, PLAIN, [50]).where("sequence < 0"), fm.Csv(SCHEMA)) == []


BAD = b'1,"a\nb"\n22,b\nx3,c\n4,d\n'


@pytest.mark.parametrize("chunk_bytes", [1, 4, 100])
def test_a_bad_value_fails_the_job_with_its_place_in_the_origin(spark, chunk_bytes):
    with pytest.raises(fm.FormatError) as whole_file:
        fm.read(BAD, fm.Csv(SCHEMA))
    frame = chunk_frame(spark, {"orders": BAD}, [chunk_bytes])
    with pytest.raises(Exception, match=rf"(?s)origin 'orders'.*'id', byte {whole_file.value.byte_offset}: .*x3"):
        su.parse(frame, fm.Csv(SCHEMA), stitch="global").collect()


@pytest.mark.parametrize("on_error", ["null", "skip"])
def test_a_bad_value_becomes_null_or_its_record_is_skipped_on_request(spark, on_error):
    frame = chunk_frame(spark, {"orders": BAD}, [3])
    expected = whole({"orders": BAD}, fm.Csv(SCHEMA), on_error=on_error)
    assert parsed(frame, fm.Csv(SCHEMA), on_error=on_error) == expected


def test_stray_quotes_give_the_rows_of_the_whole_file(spark):
    content = b'1,a"b\n2,c\n3,"d\n4",e"\n5,f\n' * 3
    frame = chunk_frame(spark, {"a": content}, [4])
    options = {"on_error": "skip"}
    assert parsed(frame, fm.Csv(SCHEMA), **options) == whole({"a": content}, fm.Csv(SCHEMA), **options)


def test_an_open_quote_with_a_bound_costs_its_line_where_origins_come_together(spark):
    content = b'1,a\n2,"b\n' + b'3,c\n4,"d\ne"\n' * 20
    format = fm.Csv(SCHEMA, quotes="lenient", max_quoted_lines=2)
    frame = chunk_frame(spark, {"a": content, "b": content[:-5]}, [4, 9])
    options = {"on_error": "skip"}
    got = sorted(tuple(row) for row in su.parse(frame, format, stitch="origin", **options).collect())
    assert got == whole({"a": content, "b": content[:-5]}, format, **options)
    assert len(got) == 81


def test_bytes_that_are_no_text_never_disturb_the_search_for_record_ends(spark):
    schema = pa.schema([("id", pa.int64()), ("raw", pa.binary())])
    content = b"".join(b"%d,\xff\xfe\x80%c\xc3\n" % (n, 128 + n) for n in range(100))
    format = fm.Csv(schema, quote=None)
    got = parsed(chunk_frame(spark, {"a": content}, [9]), format)
    assert got == whole({"a": content}, format)


@pytest.mark.parametrize(
    ("drop", "again", "message"),
    [(2, None, "origin 'a': chunks 2 never came"), (None, 2, "origin 'a': sequence 2: this chunk came twice")],
)
def test_missing_and_repeated_chunks_are_errors_that_name_them(spark, drop, again, message):
    pieces = cut(PLAIN["a"], [100])
    rows = [("a", number, bytearray(piece)) for number, piece in enumerate(pieces, 1) if number != drop]
    rows += [row for row in rows if row[1] == again]
    with pytest.raises(Exception, match=message):
        su.parse(spark.createDataFrame(rows, CHUNK_DDL), fm.Csv(SCHEMA), stitch="global").collect()


@pytest.mark.parametrize("quote", ['"', None])
def test_a_null_payload_is_an_error_that_names_the_column(spark, quote):
    frame = spark.createDataFrame([("a", 1, bytearray(b"1,x\n")), ("a", 2, None)], CHUNK_DDL)
    with pytest.raises(Exception, match=r"'payload': .*is null; filter such rows out first"):
        su.parse(frame, fm.Csv(SCHEMA, quote=quote), stitch="global").collect()


def test_a_header_without_a_wanted_column_is_an_error(spark):
    frame = chunk_frame(spark, {"a": b"id,name\n1,x\n"}, [4])
    with pytest.raises(Exception, match="expected the columns 'text'"):
        su.parse(frame, fm.Csv(SCHEMA, header=True), stitch="global").collect()


def test_auto_moves_nothing_where_each_origin_is_in_one_partition_already(spark):
    def shuffles(frame):
        plan = su.parse(frame, fm.Csv(SCHEMA))._jdf.queryExecution().executedPlan().toString()
        return plan.count("Exchange")

    frame = chunk_frame(spark, PLAIN, [50])
    assert shuffles(frame) == 1
    assert shuffles(frame.repartition(3, "origin")) == 1
    assert shuffles(frame.coalesce(1)) == 0
    moved = su.parse(frame.repartition(3, "sequence"), fm.Csv(SCHEMA))._jdf.queryExecution().executedPlan().toString()
    assert "hashpartitioning(origin" in moved
    assert parsed(frame.repartition(3, "origin"), fm.Csv(SCHEMA)) == whole(PLAIN, fm.Csv(SCHEMA))


def test_tasks_report_what_a_stream_would_count(spark):
    frame = chunk_frame(spark, QUOTED, [40])
    totals = {}
    for stitch in ("global", "origin"):
        su.parse(frame, fm.Csv(SCHEMA), stitch=stitch).collect()
        rows = [row for row in su.metrics(spark).collect() if f"parse csv, stitch {stitch}" in row.plan]
        last = [row for row in rows if row.plan == rows[-1].plan]
        totals[stitch] = [
            sum(row[name] for row in last) for name in ("bytes", "records", "rows", "rejects", "spanning")
        ]
    assert totals["global"] == totals["origin"]
    assert totals["global"][0] == sum(map(len, QUOTED.values()))
    assert totals["global"][4] > 60


def test_other_chunks_than_those_looked_over_are_an_error_that_names_them(spark, tmp_path):
    """What is read changes between the two looks, as a source may that is asked anew each time."""
    state = tmp_path / "extra"
    state.write_bytes(b"")

    def grown(batches):
        for batch in batches:
            payloads = [payload + state.read_bytes() for payload in batch.column("payload").to_pylist()]
            yield batch.set_column(2, "payload", pa.array(payloads, pa.binary()))

    source = chunk_frame(spark, PLAIN, [100]).mapInArrow(grown, CHUNK_DDL)
    frame = su.parse(source, fm.Csv(SCHEMA), stitch="global")
    assert frame.count() == 120
    state.write_bytes(b"more")
    with pytest.raises(
        Exception, match=r"(?s)origin '[ab]': sequence \d+: this chunk of \d+ bytes was not among.*cache it"
    ):
        frame.collect()


def test_what_only_moves_chunks_is_left_out_of_the_look_over(spark):
    frame = chunk_frame(spark, QUOTED, [40])
    for moved in (
        frame.repartition(5),
        frame.orderBy(f.rand()),
        frame.repartition(3, "sequence").select("payload", "origin", "sequence").sortWithinPartitions("sequence"),
        frame.withColumn("day", f.lit(1)).repartition(4).drop("day"),
    ):
        plan = unmoved(moved)._jdf.queryExecution().executedPlan().toString()
        assert "Exchange" not in plan
        assert "Sort" not in plan
        assert unmoved(moved).columns == moved.columns
        assert parsed(moved, fm.Csv(SCHEMA)) == whole(QUOTED, fm.Csv(SCHEMA))


def test_moves_that_values_depend_on_stay(spark):
    frame = chunk_frame(spark, PLAIN, [50])
    first, numbered = frame.orderBy("sequence").limit(3), frame.repartition(3).withColumn("at", f.spark_partition_id())
    assert "orderBy=[sequence" in unmoved(first)._jdf.queryExecution().executedPlan().toString()
    assert "Exchange" in unmoved(numbered)._jdf.queryExecution().executedPlan().toString()


def test_cached_chunks_are_looked_over_where_they_are(spark):
    frame = chunk_frame(spark, PLAIN, [50]).repartition(3).cache()
    try:
        assert "InMemoryTableScan" in unmoved(frame.repartition(2))._jdf.queryExecution().executedPlan().toString()
        assert parsed(frame.repartition(2), fm.Csv(SCHEMA)) == whole(PLAIN, fm.Csv(SCHEMA))
    finally:
        frame.unpersist()


def test_streams_are_refused(spark, tmp_path):
    stream = spark.readStream.schema(CHUNK_DDL).parquet(str(tmp_path))
    with pytest.raises(fm.OptionError, match=r"use su.parse_stream"):
        su.parse(stream, fm.Csv(SCHEMA), stitch="global")


@pytest.mark.parametrize("column_count", [1, 3])
def test_rows_of_one_width_are_those_of_the_whole_origins(spark, column_count):
    kinds = [pa.int8(), pa.int64(), pa.float32()][:column_count]
    format = fm.Native(pa.schema([(f"c{at}", kind) for at, kind in enumerate(kinds)]))
    content = random.Random(column_count).randbytes(format.row_width * 200).replace(b"\xff", b"\x01")
    pieces = {f"in {sizes}": cut(content, sizes) for sizes in ([1], [5], [13], [64, 1], [1_000], [100_000])}
    pieces["b"] = cut(content[: 7 * format.row_width], [9])
    expected = whole(dict.fromkeys(pieces, content) | {"b": content[: 7 * format.row_width]}, format)
    assert parsed(frame_of(spark, pieces, partitions=4), format) == expected


def test_rows_of_one_width_may_not_be_cut_at_the_end(spark):
    format = fm.Native(pa.schema([("a", pa.int32())]))
    with pytest.raises(fm.FormatError) as whole_file:
        fm.read(b"12345678123", format)
    frame = chunk_frame(spark, {"a": b"12345678123"}, [3])
    with pytest.raises(Exception, match=rf"origin 'a'.*byte {whole_file.value.byte_offset}"):
        su.parse(frame, format, stitch="global").collect()
