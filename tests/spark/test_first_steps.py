"""What a newcomer meets first: no options to know, one sentence where something is wrong, no warnings of others."""

from __future__ import annotations

import os
import pickle
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import fs as pa_fs
from pyspark.sql import SparkSession

import formatter as fm
import spark_udfs as su
from spark_udfs.files import file_listing
from spark_udfs.tasks.sent_functions import PANDAS_NOTICE, Sent

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = pa.schema([("a", pa.int64()), ("b", pa.string())])


def test_files_without_a_schema_are_inferred_and_the_call_that_says_so_is_printed(spark, tmp_path, capsys):
    (tmp_path / "empty.csv").write_text("")
    (tmp_path / "f.csv").write_text("id;the price\n1;2.5\n2;3.5\n")
    rows = su.read(spark, tmp_path, "csv").collect()
    assert [row.asDict() for row in rows] == [{"id": 1, "the price": 2.5}, {"id": 2, "the price": 3.5}]
    printed = capsys.readouterr().out
    assert "f.csv" in printed
    call = printed.splitlines()[-1].strip()
    assert call == "su.Csv('id BIGINT, `the price` DOUBLE', delimiter=';', header=True)"
    again = su.read(spark, tmp_path, eval(call, {"su": su}))
    assert again.collect() == rows


def test_json_without_a_schema_is_inferred(spark, tmp_path, capsys):
    (tmp_path / "f.json").write_text('{"a": 1, "b": {"c": "x"}}\n')
    assert [row.asDict(recursive=True) for row in su.read(spark, tmp_path, "json").collect()] == [
        {"a": 1, "b": {"c": "x"}}
    ]
    assert "su.Json('a BIGINT, b STRUCT<" in capsys.readouterr().out


def test_nothing_can_be_inferred_of_empty_files(spark, tmp_path):
    (tmp_path / "f.csv").write_text("")
    with pytest.raises(fm.OptionError, match="all files are empty; give schema="):
        su.read(spark, tmp_path, "csv")


def test_options_without_a_schema_are_refused_with_what_to_do(spark, tmp_path):
    (tmp_path / "f.csv").write_text("1\n")
    with pytest.raises(fm.OptionError, match="schema= is needed"):
        su.read(spark, tmp_path, "csv", options={"header": True})


def test_bad_data_is_told_in_a_sentence_and_without_our_steps_to_it(spark, tmp_path):
    (tmp_path / "f.csv").write_text("1,x\ny,x\n")
    with pytest.raises(Exception, match="record 1, field 0 'a'") as caught:
        su.read(spark, tmp_path, fm.Csv(SCHEMA)).collect()
    said = str(caught.value)
    assert "read_task.py" not in said
    assert said.count("\n") < 4
    values = spark.createDataFrame([("y,x",)], "value STRING")
    with pytest.raises(Exception, match="field 0 'a'") as caught:
        su.parse_column(values, "value", fm.Csv(SCHEMA), on_error="raise").collect()
    assert "record_task.py" not in str(caught.value)


def test_a_file_whose_header_lacks_a_column_is_named_in_a_sentence(spark, tmp_path):
    (tmp_path / "good.csv").write_text("a,b\n1,x\n")
    (tmp_path / "poor.csv").write_text("a,c\n1,x\n")
    with pytest.raises(Exception, match=r"poor\.csv: csv: header: expected the columns 'b', found 'a,c'") as caught:
        su.read(spark, tmp_path, fm.Csv(SCHEMA, header=True)).collect()
    assert "splits.py" not in str(caught.value)
    with pytest.raises(fm.SchemaError, match=r"poor\.csv: csv: header: expected the columns 'b'"):
        fm.read(tmp_path / "poor.csv", fm.Csv(SCHEMA, header=True))


def test_a_header_that_would_be_passed_over_with_all_lines_is_an_error(spark, tmp_path):
    """Of files whose lines end in a lone return, in which Spark's own reader finds lines."""
    (tmp_path / "old.csv").write_bytes(b"a,b\r1,x\r2,y\r")
    options = {"header": True}
    with pytest.raises(Exception, match=r"old\.csv: csv: header: expected a line end .* set record_delimiter='\\r'"):
        su.read(spark, tmp_path, "csv", schema=SCHEMA, options=options).collect()
    read = su.read(spark, tmp_path, "csv", schema=SCHEMA, options=options | {"lineSep": "\r"})
    assert read.collect() == [(1, "x"), (2, "y")]
    (tmp_path / "old.csv").write_bytes(b'"a\rb",c\r\n1,x\r\n')
    assert su.read(spark, tmp_path, "csv", schema=SCHEMA, options=options | {"multiLine": True}).collect() == [(1, "x")]


@pytest.mark.parametrize("path", [5, b"/data", [None], ["a.csv", 5]])
def test_what_is_no_path_is_refused_by_name(spark, path):
    with pytest.raises(
        fm.OptionError, match=r"a path is a text or a pathlib\.Path, several are a list of them, found "
    ):
        su.read(spark, path, fm.Csv(SCHEMA))


def test_paths_may_come_one_by_one(spark, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"1,{name}\n")
    assert su.read(spark, sorted(tmp_path.glob("*.csv")), fm.Csv(SCHEMA)).count() == 2
    assert su.read(spark, tmp_path.glob("*.csv"), fm.Csv(SCHEMA)).count() == 2


def test_an_error_of_another_function_keeps_its_steps(spark):
    def fails(batches):
        for _ in batches:
            raise ValueError("theirs")
        yield

    with pytest.raises(Exception, match="in fails"):
        spark.range(0, 1, 1, 1).mapInArrow(fails, "id BIGINT").collect()


def said_without_the_package(sent):
    """By a Python that unpickles a function, and has nothing but itself."""
    program = "import pickle, sys; pickle.loads(sys.stdin.buffer.read())"
    done = subprocess.run([sys.executable, "-S", "-E", "-c", program], input=sent, capture_output=True, cwd="/")
    return done.stderr.decode().splitlines()[-1]


LACKING = re.compile("ImportError: spark: .* set PYSPARK_PYTHON to a Python that has it")


def test_a_worker_without_the_package_says_so_in_a_sentence():
    sent = pickle.dumps(Sent(fm.Csv))
    assert LACKING.match(said_without_the_package(sent))
    assert pickle.loads(sent) is fm.Csv


def sent_functions(spark, plan):
    """As they are pickled, those of a physical plan."""
    kind = plan.getClass().getSimpleName()
    functions = [plan.func()] if "MapInArrow" in kind else [plan.udfs().head()] if "EvalPython" in kind else []
    commands = [
        map(int, spark._jvm.scala.jdk.javaapi.CollectionConverters.asJava(udf.func().command())) for udf in functions
    ]
    below = [
        sent for at in range(plan.children().length()) for sent in sent_functions(spark, plan.children().apply(at))
    ]
    return [*(bytes(byte & 0xFF for byte in command) for command in commands), *below]


def test_it_says_so_of_a_function_that_was_narrowed_or_shaped_anew(pushing, tmp_path):
    (tmp_path / "f.csv").write_text("1,x\n")
    read = su.read(pushing, tmp_path, fm.Csv(SCHEMA))
    values = pushing.createDataFrame([('{"a": 1, "b": {"c": 2}}', 3)], "value STRING, n INT")
    parsed = su.parse_column(values, "value", "json", schema="a INT, b STRUCT<c INT, d INT>")
    known = values.select("n", su.get_json("value", {"a": "$.a"}).alias("v")).select("n", "v.a")
    for df in (read.where("a > 0").select("b"), read.groupBy().count(), parsed.select("v.b.c", "n"), known):
        sent = sent_functions(pushing, df._jdf.queryExecution().sparkPlan())
        assert sent
        assert all(LACKING.match(said_without_the_package(one)) for one in sent)


def test_local_tasks_run_on_this_python_unless_another_is_named(monkeypatch):
    for name in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE", "MASTER"):
        monkeypatch.delenv(name, raising=False)

    def chosen(**settings):
        monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
        builder = SparkSession.Builder()
        for name, value in settings.items():
            builder = builder.config(f"spark.{name.replace('_', '.')}", value)
        su.configure(builder)
        return os.environ.get("PYSPARK_PYTHON")

    assert chosen(master="local[2]") == chosen() == sys.executable
    assert chosen(master="local-cluster[2,1,1024]") == sys.executable
    assert chosen(master="local[2]", pyspark_python="/other") == "/other"
    assert chosen(master="yarn") is None
    assert chosen(remote="sc://host") is None
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    assert chosen() is None
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT")
    monkeypatch.setenv("PYSPARK_PYTHON", "mine")
    su.configure(SparkSession.Builder().master("local"))
    assert os.environ["PYSPARK_PYTHON"] == "mine"


def test_no_query_of_ours_warns_of_others(spark, tmp_path):
    (tmp_path / "f.csv").write_text("1,x\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        df = su.read(spark, tmp_path, fm.Csv(SCHEMA))
        su.rejects(df)
        su.measure(df)
        chunks = su.read_chunks(spark, tmp_path)
        su.parse(chunks, fm.Csv(SCHEMA))
        su.parse(chunks, fm.Csv(SCHEMA), stitch="global")
        su.parse_column(spark.read.text(str(tmp_path)), "value", fm.Csv(SCHEMA))


def test_a_session_of_ours_starts_without_a_warning_of_pyspark_about_itself():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        su.configure(SparkSession.Builder().config("spark.master", "yarn"))
        for module in ("pyspark.testing.utils", "theirs"):
            warnings.warn_explicit(f"{PANDAS_NOTICE} >= 3.0.0.", FutureWarning, "file.py", 1, module=module)
    assert len(told) == 1


def test_a_file_column_says_what_sparks_metadata_says(spark, tmp_path):
    (tmp_path / "k=1").mkdir()
    (tmp_path / "k=1" / "a.csv").write_text("1,x\n")
    (tmp_path / "k=1" / "b.csv").write_text("2,x\n3,x\n")
    ours = su.read(spark, tmp_path, fm.Csv(SCHEMA), file_column="file")
    assert ours.columns == ["a", "b", "k", "file"]
    theirs = (
        spark.read.schema("a BIGINT, b STRING").csv(str(tmp_path)).select("a", "_metadata.*").orderBy("a").collect()
    )
    found = ours.select("a", "file.*").orderBy("a").collect()
    assert len(found) == 3
    for mine, sparks in zip(found, theirs, strict=True):
        both = mine.asDict(), sparks.asDict()
        assert both[1]["file_path"].endswith(both[0].pop("file_path"))
        assert both[0].pop("file_modification_time").replace(microsecond=0) == both[1][
            "file_modification_time"
        ].replace(microsecond=0)
        assert both[0].items() <= both[1].items()
    assert su.enable_pushdown(spark)
    try:
        assert sorted(row.file_name for row in ours.select("file.file_name").collect()) == ["a.csv", "b.csv", "b.csv"]
    finally:
        su.disable_pushdown(spark)
    with pytest.raises(fm.SchemaError, match="give another name in file_column="):
        su.read(spark, tmp_path, fm.Csv(SCHEMA), file_column="k")


def test_values_of_a_column_take_sparks_schema_and_options(spark):
    values = spark.createDataFrame([('{"a": 1, "b": {"c": [1, "x"]}}',), ('{"a": true, "b": 2}',)], "value STRING")
    parsed = su.parse_column(values, "value", "json", schema="a STRING, b STRING")
    assert [row.v.asDict() for row in parsed.collect()] == [{"a": "1", "b": '{"c": [1, "x"]}'}, {"a": "true", "b": "2"}]
    lines = spark.createDataFrame([("1;x",), ("y;z",)], "value STRING")
    rows = su.parse(
        lines, "csv", payload="value", unit="record", error=None, schema="a INT, b STRING", options={"sep": ";"}
    )
    assert [tuple(row) for row in rows.collect()] == [(1, "x"), (None, "z")]
    broken = spark.createDataFrame([('1,"x\ny"',)], "value STRING")
    assert su.parse_column(broken, "value", "csv", schema="a INT, b STRING").first().v.asDict() == {"a": 1, "b": "x\ny"}
    strict = su.parse_column(lines, "value", "csv", schema="a INT, b STRING", options={"sep": ";", "mode": "FAILFAST"})
    with pytest.raises(Exception, match="field 0 'a'"):
        strict.collect()
    for options, said in (({"header": True}, "leave it out"), ({"pathGlobFilter": "x"}, "choose files")):
        with pytest.raises(fm.OptionError, match=said):
            su.parse_column(lines, "value", "csv", schema="a INT", options=options)
    with pytest.raises(fm.OptionError, match="name it in error="):
        su.parse_column(lines, "value", "csv", schema="a INT, _corrupt_record STRING")


def test_formats_take_sparks_schemas(spark):
    assert su.Csv("a BIGINT, b STRING", header=True) == fm.Csv(SCHEMA, header=True)
    text = su.Json("a STRING").schema.field("a")
    assert text.metadata == {b"text": b"any"}
    assert su.Json(SCHEMA).schema.field("b").metadata is None  # a schema of Arrow's says itself what it takes


def test_storage_that_cannot_be_reached_is_told_in_a_sentence_with_what_to_do(spark, monkeypatch):
    def fails(uri):
        raise OSError("Unable to load libjvm\ndlopen(/a)\ndlopen(/b)")

    for uri, remedy in (("hdfs://host:1/a.csv", "CLASSPATH"), ("s3://bucket/a.csv", "storage_options=")):
        with monkeypatch.context() as patched:
            patched.setattr(file_listing, "fs", Unreachable(fails))
            with pytest.raises(fm.OptionError, match="Unable to load libjvm") as told:
                su.read(spark, uri, fm.Csv(SCHEMA))
        assert remedy in str(told.value)
        assert "\n" not in str(told.value)


def test_hadoops_names_for_s3_are_s3(monkeypatch):
    asked = []
    monkeypatch.setattr(file_listing, "fs", Unreachable(lambda uri: asked.append(uri) or (None, uri)))
    for scheme in ("s3", "s3a", "s3n"):
        file_listing.LOCAL.resolve(f"{scheme}://bucket/a.csv")
    assert asked == ["s3://bucket/a.csv"] * 3


class Unreachable:
    """pyarrow.fs, but for how a URI is looked up."""

    def __init__(self, from_uri):
        self.FileSystem = type("FileSystem", (), {"from_uri": staticmethod(from_uri)})

    def __getattr__(self, name):
        return getattr(pa_fs, name)


def test_a_file_that_is_gone_is_told_without_our_steps_to_it(spark, tmp_path):
    (tmp_path / "f.csv").write_text("1,x\n")
    df = su.read(spark, tmp_path, fm.Csv(SCHEMA))
    (tmp_path / "f.csv").unlink()
    with pytest.raises(Exception, match=r"FileNotFoundError: .*f\.csv") as caught:
        df.collect()
    assert "read_task.py" not in str(caught.value)
    assert str(caught.value).count("\n") < 4
