"""Chunks in any order and partitioning become the rows of the whole file. Cases after PySpark's own Arrow tests."""

from __future__ import annotations

import json
import random
import warnings

import pyarrow as pa
import pytest
from pyspark.sql.functions import col, lit
from pyspark.sql.types import LongType, StructField, StructType, TimestampNTZType

import formatter as fm
import spark_udfs as su

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string()), ("price", pa.float64()), ("at", pa.timestamp("us"))])
FORMAT = fm.Csv(SCHEMA)
CHUNK_DDL = "origin STRING, sequence BIGINT, payload BINARY"


def record(number):
    text = f'"quoted, ""{number}""\nline"' if number % 3 == 0 else f"plain {number}"
    return f"{number},{text},{number / 4},2024-01-01 00:00:{number % 60:02}\n".encode()


def expected_text(number):
    return f'quoted, "{number}"\nline' if number % 3 == 0 else f"plain {number}"


def chunk_rows(origins, chunk_bytes, seed=0):
    """Rows (origin, sequence, payload) of several origins, shuffled together."""
    rows = []
    for origin, content in origins.items():
        pieces = [content[at : at + chunk_bytes] for at in range(0, len(content), chunk_bytes)]
        rows += [(origin, sequence, bytearray(piece)) for sequence, piece in enumerate(pieces, 1)]
    random.Random(seed).shuffle(rows)
    return rows


ORIGINS = {name: b"".join(map(record, range(start, start + 50))) for name, start in (("a", 0), ("b", 50), ("c", 100))}


@pytest.fixture(scope="module")
def chunks(spark):
    return spark.createDataFrame(chunk_rows(ORIGINS, 64), CHUNK_DDL)


@pytest.mark.parametrize("chunk_bytes", [1, 7, 64, 10_000])
@pytest.mark.parametrize("partitions", [1, 5, 40])
def test_rows_equal_the_whole_files_whatever_the_chunking_and_partitioning(spark, chunk_bytes, partitions):
    rows = spark.createDataFrame(chunk_rows(ORIGINS, chunk_bytes, seed=partitions), CHUNK_DDL).repartition(partitions)
    parsed = sorted(su.parse(rows, FORMAT, columns=["id", "text"]).collect())
    assert [(row.id, row.text) for row in parsed] == [(number, expected_text(number)) for number in range(150)]


@pytest.mark.parametrize("records_per_batch", [1, 3])
def test_tiny_arrow_batches_change_nothing(spark, chunks, records_per_batch):
    before = spark.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch")
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", records_per_batch)
    try:
        assert sorted(row.id for row in su.parse(chunks, FORMAT).collect()) == list(range(150))
    finally:
        spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", before)


def test_parse_udf_under_map_in_arrow_takes_chunks_in_any_order(spark, chunks):
    udf = su.parse_udf(FORMAT, columns=["price", "id"])
    parsed = chunks.coalesce(1).mapInArrow(udf, udf.schema)
    assert parsed.columns == ["price", "id"]
    assert sorted((row.id, row.price) for row in parsed.collect()) == [(number, number / 4) for number in range(150)]


def test_the_schema_of_a_udf_is_that_of_the_projection_in_its_order():
    udf = su.parse_udf(FORMAT, columns=["at", "id"])
    assert udf.schema == StructType([StructField("at", TimestampNTZType()), StructField("id", LongType())])


def test_empty_partitions_and_no_rows_at_all_give_no_rows(spark, chunks):
    assert su.parse(chunks.where("sequence < 0"), FORMAT).collect() == []
    assert su.parse(chunks.where("origin = 'a'"), FORMAT, stitch="origin").count() == 50


def test_limit_stops_a_task_early_without_an_error(chunks):
    assert len(su.parse(chunks, FORMAT).limit(3).collect()) == 3
    assert su.parse(chunks, FORMAT).first() is not None


def test_a_parsed_frame_joins_and_unions_with_itself(chunks):
    parsed = su.parse(chunks, FORMAT, columns=["id", "price"])
    assert parsed.alias("l").join(parsed.alias("r"), col("l.id") == col("r.id")).count() == 150
    assert parsed.union(parsed).count() == 300


def test_chained_map_in_arrow_calls_see_each_others_rows(chunks):
    parsed = su.parse(chunks, FORMAT, columns=["id"])
    again = parsed.mapInArrow(lambda batches: (batch for batch in batches if batch.num_rows), "id bigint")
    assert sorted(row.id for row in again.collect()) == list(range(150))


def test_integer_origins_and_other_column_names_work(spark):
    renamed = [(7, sequence, payload) for _, sequence, payload in chunk_rows({"a": ORIGINS["a"]}, 50)]
    df = spark.createDataFrame(renamed, "partition INT, number INT, value BINARY")
    parsed = su.parse(df, FORMAT, origin="partition", sequence="number", payload="value")
    assert sorted(row.id for row in parsed.collect()) == list(range(50))


def test_kept_columns_ride_beside_the_parsed_ones(chunks):
    kept = chunks.withColumn("day", lit("monday"))
    rows = su.parse(kept, FORMAT, columns=["id"], keep=["origin", "day"]).collect()
    assert {(row.origin, row.day, row.id // 50) for row in rows} == {
        ("a", "monday", 0),
        ("b", "monday", 1),
        ("c", "monday", 2),
    }


def test_a_kept_column_that_changes_within_an_origin_is_an_error(chunks):
    with pytest.raises(Exception, match="'sequence' in keep= changes within origin"):
        su.parse(chunks, FORMAT, columns=["id"], keep=["sequence"]).collect()


def test_aligned_chunks_need_no_shuffle_and_keep_their_own_columns(spark):
    rows = [("a", number + 1, bytearray(record(number))) for number in range(20)]
    parsed = su.parse(spark.createDataFrame(rows, CHUNK_DDL), FORMAT, columns=["id"], stitch="none", keep=["sequence"])
    assert "Exchange" not in parsed._jdf.queryExecution().executedPlan().toString()
    assert sorted((row.id, row.sequence) for row in parsed.collect()) == [(number, number + 1) for number in range(20)]


def test_auto_shuffles_only_what_is_not_in_one_partition(chunks):
    def plan(df):
        return su.parse(df, FORMAT)._jdf.queryExecution().executedPlan().toString()

    assert "Exchange" in plan(chunks)
    assert "Exchange" not in plan(chunks.coalesce(1))


def test_a_header_is_skipped_once_per_origin_under_every_stitch(spark):
    lines = b"id,text,price,at\n" + ORIGINS["a"]
    header = fm.Csv(SCHEMA, header=True)
    shuffled = spark.createDataFrame(chunk_rows({"a": lines, "b": lines}, 33), CHUNK_DDL)
    assert su.parse(shuffled, header).count() == 100
    aligned = [("a", 1, bytearray(lines)), ("a", 2, bytearray(ORIGINS["b"]))]
    assert su.parse(spark.createDataFrame(aligned, CHUNK_DDL), header, stitch="none").count() == 100


def test_files_read_as_chunks_parse_as_themselves(spark, tmp_path):
    for name, content in ORIGINS.items():
        (tmp_path / f"{name}.csv").write_bytes(content)
    parsed = su.parse(su.read_chunks(spark, tmp_path, chunk_bytes=100), FORMAT, columns=["text", "id"])
    assert sorted((row.id, row.text) for row in parsed.collect()) == [(n, expected_text(n)) for n in range(150)]


def test_filters_drop_rows_in_the_task(chunks):
    parsed = su.parse(chunks, FORMAT, columns=["text"], filters=[("id", ">=", 140)])
    assert sorted(row.text for row in parsed.collect()) == sorted(map(expected_text, range(140, 150)))


def test_a_bad_value_fails_the_job_with_its_origin_and_column(spark):
    rows = [("orders", 1, bytearray(b"1,a,2.5,2024-01-01 00:00:00\n2,b,oops,2024-01-01 00:00:00\n"))]
    with pytest.raises(Exception, match=r"(?s)FormatError.*'price'.*oops"):
        su.parse(spark.createDataFrame(rows, CHUNK_DDL), FORMAT).collect()


def test_a_bad_value_becomes_null_or_its_record_is_skipped_on_request(spark):
    rows = [("orders", 1, bytearray(b"1,a,2.5,2024-01-01 00:00:00\n2,b,oops,2024-01-01 00:00:00\n"))]
    df = spark.createDataFrame(rows, CHUNK_DDL)
    as_null = su.parse(df, FORMAT, columns=["id", "price"], on_error="null")
    assert sorted(map(tuple, as_null.collect())) == [(1, 2.5), (2, None)]
    skipped = su.parse(df, FORMAT, columns=["id", "price"], on_error="skip")
    assert [tuple(row) for row in skipped.collect()] == [(1, 2.5)]


def test_a_null_payload_is_an_error_that_names_the_column(spark):
    df = spark.createDataFrame([("a", 1, None)], CHUNK_DDL)
    with pytest.raises(Exception, match="'payload': row 0 of a batch of chunks is null"):
        su.parse(df, FORMAT).collect()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"columns": ["nope"]}, fm.SchemaError, "nope"),
        ({"columns": "id"}, fm.OptionError, "a list of names"),
        ({"columns": []}, fm.SchemaError, "at least one"),
        ({"payload": "value"}, fm.SchemaError, "no column 'value'.*payload="),
        ({"keep": ["key"]}, fm.SchemaError, "no column 'key'"),
        ({"stitch": "sideways"}, fm.OptionError, "stitch is one of 'auto', 'origin', 'global', 'none'"),
        ({"on_error": "ignore"}, fm.OptionError, "on_error is"),
        ({"origin": "payload", "payload": "origin"}, fm.SchemaError, "expected a string or an integer"),
    ],
)
def test_wrong_options_are_refused_while_the_query_is_planned(chunks, options, error, message):
    with pytest.raises(error, match=message):
        su.parse(chunks, FORMAT, **options)


def test_a_kept_column_named_like_a_parsed_one_is_refused(chunks):
    with pytest.raises(fm.SchemaError, match="both have 'id'"):
        su.parse(chunks.withColumn("id", lit(1)), FORMAT, keep=["id"])


def test_recommended_settings_apply_and_later_ones_win(spark):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder = su.configure(type(spark).Builder()).config("spark.sql.execution.arrow.maxBytesPerBatch", "1m")
    assert builder._options["spark.python.unix.domain.socket.enabled"] == "true"
    assert builder._options["spark.sql.execution.arrow.maxBytesPerBatch"] == "1m"


def test_nested_json_keeps_its_shape_through_spark(spark):
    schema = pa.schema([("id", pa.int64()), ("tags", pa.list_(pa.string())), ("geo", pa.struct([("x", pa.float64())]))])
    lines = [{"id": number, "tags": ["a", "b"][: number % 3], "geo": {"x": number / 2}} for number in range(60)]
    content = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    chunks = spark.createDataFrame(chunk_rows({"a": content}, 23), CHUNK_DDL)
    rows = su.parse(chunks, fm.Json(schema), columns=["geo", "id", "tags"]).orderBy("id").collect()
    assert [row.asDict(recursive=True) for row in rows] == lines
