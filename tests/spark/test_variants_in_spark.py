"""Variants in Spark: the bytes of its own parse_json, from_json and singleVariantColumn, by our parser."""

from __future__ import annotations

import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql.functions import col, from_json, parse_json, regexp_replace, try_parse_json
from variant_soup import KINDS, compare, documents_of

import formatter as fm
import spark_udfs as su

SUITE = sorted((Path(__file__).parents[1] / "corpus" / "json-test-suite").glob("[yi]_*.json"))
WHOLE = fm.Json(pa.schema([("v", fm.variant())]), paths={"v": ""})
RECORDS_OF_A_KIND = 4_000


def bytes_of(df, name="v"):
    """A variant itself is nothing that Spark compares or hashes; its two binaries are."""

    def both_parts(batches):
        for batch in batches:
            variants = batch.column(0)
            yield pa.RecordBatch.from_arrays(
                [variants.field("value"), variants.field("metadata")], ["value", "metadata"]
            )

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        rows = df.select(name).mapInArrow(both_parts, "value binary, metadata binary").collect()
    return [None if row.value is None else (bytes(row.value), bytes(row.metadata)) for row in rows]


@pytest.mark.parametrize("kind", KINDS)
def test_records_have_the_bytes_of_parse_json(spark, kind):
    texts = documents_of(kind, RECORDS_OF_A_KIND // (10 if kind == "wide" else 1))
    df = spark.createDataFrame(pa.table({"text": pa.array(texts)})).coalesce(1)
    ours = bytes_of(su.parse_column(df, "text", WHOLE).select("v.v"))
    assert ours == bytes_of(df.select(parse_json("text").alias("v")))
    assert None not in ours


def test_records_that_differ_are_found(spark, monkeypatch):
    monkeypatch.setattr("variant_soup.documents_of", lambda kind, count, seed: ['{"a":1}', '{"a":1,"b":[1.50]}'])
    assert compare(spark, 2, 1) == []
    parse = su.parse_column

    def parsed_otherwise(df, column, format):
        return parse(df.withColumn("as", regexp_replace("text", "1.50", "1.5")), "as", format)

    monkeypatch.setattr(su, "parse_column", parsed_otherwise)
    assert compare(spark, 2, 1) == ['{"a":1,"b":[1.50]}'] * 2


def test_the_suites_accepted_documents_have_the_bytes_of_parse_json(spark):
    texts = []
    for path in SUITE:
        try:
            texts.append((path.stem, path.read_bytes().decode()))
        except UnicodeDecodeError:
            continue
    df = spark.createDataFrame(texts, "name string, text string").coalesce(1)
    theirs = bytes_of(df.select(try_parse_json("text").alias("v")))
    ours = bytes_of(su.parse_column(df, "text", WHOLE).select("v.v"))
    assert len(ours) > 100
    differing = [name for (name, _), one, other in zip(texts, ours, theirs, strict=True) if one != other]
    assert differing == []


def test_columns_inside_records_are_those_of_from_json(spark):
    texts = [
        '{"v":null,"l":[1,null,{"b":[]}],"m":{"x":null,"y":1},"s":{"w":[1.5]}}', '{"v":1}', "{}", '{"v":"x","l":null}',
        '{"v":{"a":1,"a":2},"s":{}}',
    ]  # fmt: skip
    ddl = "v variant, l array<variant>, m map<string,variant>, s struct<w:variant>"
    df = spark.createDataFrame([(text,) for text in texts], "text string").coalesce(1)
    ours = su.parse_column(df, "text", "json", schema=ddl).select("v.*")
    theirs = df.select(from_json("text", ddl).alias("v")).select("v.*")
    assert ours.schema == theirs.schema
    assert list(map(str, ours.collect())) == list(map(str, theirs.collect()))


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lines")
    (folder / "a.json").write_text('{"a":1}\n[1,{"a":2}]\n3\n\nnull\n"x"\n{bad\n{"a":1,"a":2}\n 4 \n')
    return str(folder)


@pytest.mark.parametrize("schema", [None, "v variant, _corrupt_record string"])
def test_a_single_variant_column_reads_what_spark_reads(spark, lines, schema):
    reader = spark.read.option("singleVariantColumn", "v")
    theirs = (reader if schema is None else reader.schema(schema)).json(lines)
    ours = su.read(spark, lines, "json", schema=schema, options={"singleVariantColumn": "v"})
    assert ours.schema == theirs.schema
    assert list(map(str, ours.collect())) == list(map(str, theirs.collect()))


@pytest.mark.parametrize(
    ("schema", "options", "error", "message"),
    [
        ("v variant, id int", {}, fm.SchemaError, "one of the column 'v' VARIANT"),
        ("v string", {}, fm.SchemaError, "one of the column 'v' VARIANT"),
        (None, {"multiLine": "true"}, fm.OptionError, "multiLine"),
    ],
)
def test_a_single_variant_column_stands_alone(spark, lines, schema, options, error, message):
    with pytest.raises(error, match=message):
        su.read(spark, lines, "json", schema=schema, options={"singleVariantColumn": "v", **options})


def test_columns_are_asked_for_as_variants(spark, lines):
    df = spark.createDataFrame([('{"id": 1, "v": {"a": [1]}}',)], "text string")
    format = fm.Json(pa.schema([("id", pa.int64())]))
    parsed = su.parse_column(df, "text", format, columns={"id": None, "v": "variant"}).select("v.id", "v.v")
    assert parsed.selectExpr("id", "variant_get(v, '$.a[0]', 'int') as a").first() == (1, 1)
    records = su.parse(df, format, payload="text", unit="record", columns={"v": "variant"})
    assert bytes_of(records) == bytes_of(df.select(from_json("text", "v variant").alias("r")).select("r.v"))
    read = su.read(spark, lines, format, columns={"a": "variant"}, on_error="skip")
    assert [str(row.a) for row in read.collect()] == ["1", "2"]  # of two keys the last one, as the format says


def test_a_variant_column_of_a_frame_keeps_its_place(spark):
    df = spark.createDataFrame([('{"a": 1}', "k")], "text string, key string").withColumn("other", parse_json("text"))
    parsed = su.parse_column(df.where(col("key") == "k"), "text", WHOLE, into="mine")
    assert parsed.columns == ["text", "key", "other", "mine"]
    assert bytes_of(parsed, "other") == bytes_of(parsed.select("mine.v"), "v")


def test_a_pushed_filter_on_a_variant_is_left_to_spark(pushing, lines):
    rows = su.read(pushing, lines, "json", options={"singleVariantColumn": "v"})
    assert rows.where("v IS NOT NULL").count() == 6
    assert rows.where("variant_get(v, '$.a', 'int') = 1").count() == 1
    assert rows.count() == 8
    both = fm.Json(pa.schema([("v", fm.variant()), ("a", pa.int64())]), paths={"v": ""})
    values = pushing.createDataFrame([('{"a": 1}',), ('{"a": 2}',), (None,)], "text string")
    parsed = su.parse_column(values, "text", both, into="r")
    assert parsed.where("r.a = 2 AND r.v IS NOT NULL").selectExpr("to_json(r.v) AS text").collect() == [('{"a":2}',)]
