"""What nobody has described, in Spark: a sample spread over files or over a column's partitions, and the library's warnings."""

from __future__ import annotations

import gzip
import warnings

import pytest
from pyspark.sql.functions import col, from_json

import formatter as fm
import spark_udfs as su

LINES = 30_000


def quietly(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*arguments, **options)
    return result, " ".join(str(one.message) for one in caught if issubclass(one.category, fm.InferenceWarning))


@pytest.fixture(scope="module")
def drifting(tmp_path_factory):
    """Ten megabytes of JSON in eight files: a fraction only in the middle of one, a new member at the end of another."""
    folder = tmp_path_factory.mktemp("drifting")
    for part in range(8):
        lines = [f'{{"id": {i}, "at": {{"x": {i}}}, "pad": "{"-" * 10}"}}' for i in range(LINES)]
        if part == 3:
            lines[LINES // 3 : 2 * LINES // 3] = [f'{{"id": {i}.5}}' for i in range(LINES // 3)]
        if part == 6:
            lines[-LINES // 3 :] = ['{"id": 1, "at": {"late": [true]}}'] * (LINES // 3)
        (folder / f"{part}.json").write_text("\n".join(lines) + "\n")
    return folder


def test_a_sample_is_spread_over_files_and_inside_them(spark, drifting):
    format, doubts = quietly(su.infer, spark, drifting)
    assert isinstance(format, fm.Json)
    assert str(format.schema.field("id").type) == "double"
    assert format.schema.field("at").type.get_field_index("late") == 1
    assert doubts == ""
    assert fm.infer(drifting / "0.json", "json").schema.field("id").type == "int64"


def test_the_same_seed_looks_at_the_same_places(drifting):
    from spark_udfs.files.file_listing import LOCAL, list_files
    from spark_udfs.files.sampled import sample_of

    files = list_files(drifting)
    once, again, other = (sample_of(files, LOCAL, 0.1, seed, None)[1] for seed in (1, 1, 2))
    assert once == again
    assert once != other
    looked = sum(len(stretch.data) for stretch in once[1:])
    assert 0.05 < looked / sum(file.size for file in files) < 0.11


def test_a_ratio_of_one_looks_at_everything(spark, tmp_path):
    rows = "".join(f"{i}\n" for i in range(2_000_000))
    (tmp_path / "a.csv").write_text("n\n" + rows + "x\n")
    format, doubts = quietly(su.infer, spark, tmp_path, samplingRatio=1.0)
    assert str(format.schema.field("n").type) == "string"
    assert "'x' in record 2000000" in doubts
    assert str(su.infer(spark, tmp_path, samplingRatio=0.001, seed=3).schema.field("n").type) == "int64"


def test_compressed_files_are_looked_at_from_their_beginning(spark, tmp_path):
    for part, value in enumerate(("1", "2.5")):
        (tmp_path / f"{part}.csv.gz").write_bytes(gzip.compress(f"id,n\n1,{value}\n".encode() * 1))
    format = su.infer(spark, tmp_path)
    assert format.header
    assert [str(kind) for kind in format.schema.types] == ["int64", "double"]


def test_the_kind_is_told_by_names_and_else_by_content(spark, tmp_path):
    (tmp_path / "part-0").write_text('{"a": 1}\n')
    assert isinstance(su.infer(spark, tmp_path), fm.Json)
    (tmp_path / "part-0").write_text("a;b\n1;2\n3;4\n")
    assert isinstance(su.infer(spark, tmp_path), fm.Csv)


def test_types_that_spark_lacks_are_text_and_told(spark, tmp_path):
    (tmp_path / "a.json").write_text('{"t": "2024-01-01T00:00:00.123456789"}\n' * 3)
    format, doubts = quietly(su.infer, spark, tmp_path)
    assert "Spark keeps microseconds" in doubts
    assert su.read(spark, tmp_path, format).first() == ("2024-01-01T00:00:00.123456789",)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"kind": "xml"}, "kind"), ({"samplingRatio": 0}, "above 0"), ({"samplingRatio": True}, "above 0")],
)
def test_arguments_out_of_range_are_refused(spark, tmp_path, options, message):
    (tmp_path / "a.csv").write_text("1\n")
    with pytest.raises(fm.OptionError, match=message):
        su.infer(spark, tmp_path, **options)


def test_reading_without_a_schema_warns_of_what_other_files_have(spark, tmp_path, capsys):
    (tmp_path / "a.json").write_text('{"v": 1}\n')
    (tmp_path / "b.json").write_text('{"v": "x"}\n')
    df, doubts = quietly(su.read, spark, tmp_path, "json")
    assert "v: integer (1 times, as 1), string (1 times, as 'x'): kept as text" in doubts
    assert sorted(df.collect()) == [("1",), ("x",)]
    assert "a.json and 1 more look like" in capsys.readouterr().out


@pytest.fixture
def known(spark):
    su.register(spark)
    return spark


def test_the_source_needs_no_schema(known, tmp_path):
    for day in (1, 2):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "a.csv").write_text(f'id;"the note"\n{day};"a;\nb"\n{day}.5;c\n')
    df = known.read.format("formatter").load(str(tmp_path))
    assert df.schema.simpleString() == "struct<id:double,the note:string,day:int>"
    assert sorted(map(tuple, df.where("id > 1").collect())) == [(1.5, "c", 1), (2.0, "a;\nb", 2), (2.5, "c", 2)]


def test_the_source_takes_a_ratio_and_a_seed_and_no_other_option_without_a_schema(known, tmp_path):
    (tmp_path / "a.json").write_text('{"a": [{"b": 1}, {"c": null}]}\n')
    read = known.read.format("formatter").option("samplingRatio", "0.5").option("seed", "7").option("kind", "json")
    assert read.load(str(tmp_path)).collect()[0].asDict(recursive=True) == {
        "a": [{"b": 1, "c": None}, {"b": None, "c": None}]
    }
    with pytest.raises(Exception, match="'header' is none of"):
        known.read.format("formatter").option("header", "true").load(str(tmp_path))
    with pytest.raises(Exception, match="samplingRatio is a number above 0"):
        known.read.format("formatter").option("samplingRatio", "2").load(str(tmp_path))


def test_the_source_warns_where_it_plans(tmp_path):
    from spark_udfs.sources.data_sources import FormatterSource

    (tmp_path / "a.json").write_text('{"v": 1}\n{"v": "x"}\n')
    _, doubts = quietly(FormatterSource({"path": str(tmp_path)}).schema)
    assert "formatter: v: integer (1 times" in doubts


def test_a_column_of_json_is_merged_at_every_depth(spark):
    values = [('{"a": {"x": 1}, "t": [1]}',), (None,), ('{"a": {"y": [{"z": 1.5}]}, "t": [2.5]}',), ("",)]
    df = spark.createDataFrame(values, "value string").repartition(3)
    schema = su.schema_of(df, "value")
    assert schema.simpleString() in (
        "struct<a:struct<x:bigint,y:array<struct<z:double>>>,t:array<double>>",
        "struct<a:struct<y:array<struct<z:double>>,x:bigint>,t:array<double>>",
    )
    ours = su.parse_column(df, "value", "json", schema=schema).where("value like '{%'").select("v")
    theirs = df.select(from_json(col("value"), schema).alias("v")).where("value like '{%'")
    assert sorted(map(str, ours.collect())) == sorted(map(str, theirs.collect()))


def test_a_column_of_csv_tells_its_dialect(spark):
    df = spark.createDataFrame([("1;a",), ("2.5;b",)], "value string")
    schema, doubts = quietly(su.schema_of, df, "value")
    assert schema.simpleString() == "struct<f0:double,f1:string>"
    assert "the records need the option sep=';'" in doubts
    rows = su.parse_column(df, "value", "csv", schema=schema, options={"sep": ";"}).select("v.*")
    assert sorted(rows.collect()) == [(1.0, "a"), (2.5, "b")]


def test_a_share_of_every_partition_is_looked_at(spark):
    df = spark.range(0, 40_000, 1, 4).selectExpr(
        "case when id < 30000 then '{\"n\": 1}' else '{\"n\": 1.5}' end as value"
    )
    assert su.schema_of(df, "value").simpleString() == "struct<n:double>"
    assert su.schema_of(df, "value", samplingRatio=0.01, seed=4).simpleString() == "struct<n:double>"


def test_a_column_without_records_has_no_schema(spark):
    with pytest.raises(fm.OptionError, match="no records"):
        su.schema_of(spark.createDataFrame([(None,)], "value string"), "value")
