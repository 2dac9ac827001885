"""Files to DataFrames: the rows of fm.read, whatever the splits, codecs, folders and filesystems."""

from __future__ import annotations

import bz2
import datetime as dt
import gzip
import os
import pickle
import random
import struct

import fsspec
import pyarrow as pa
import pytest
from oracle.compressed_files import framed_snappy
from pyarrow import fs
from pyspark.sql.types import StructType

import formatter as fm
import spark_udfs as su
from formatter.splits import Part
from spark_udfs.files import read as read_module
from spark_udfs.files import split_starts
from spark_udfs.files.block_hosts import hosts_of
from spark_udfs.files.read_task import FilePart
from spark_udfs.files.task_rows import Groups, task_rows
from spark_udfs.sources.batch_reader import FilteringReader
from spark_udfs.sources.source_options import SourceOptions
from spark_udfs.tasks.siblings import ATTRIBUTE

SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string()), ("price", pa.float64())])
FORMAT = fm.Csv(SCHEMA)


def quoted_csv(rows: int, seed: int = 1) -> bytes:
    """Records with delimiters, quotes and line breaks in quoted text, of very different lengths."""
    chosen = random.Random(seed)
    lines = []
    for number in range(rows):
        text = "".join(chosen.choice('ab,"\n') for _ in range(chosen.choice([0, 3, 30, 300])))
        lines.append(f'{number},"{text.replace(chr(34), 2 * chr(34))}",{number / 4}\n')
    return "".join(lines).encode()


def rows_of(table: pa.Table) -> list[tuple]:
    return [tuple(row.values()) for row in table.to_pylist()]


@pytest.fixture
def small_splits(monkeypatch):
    """Splits of a few hundred bytes, so that small files have many."""

    def cut(size: int) -> None:
        monkeypatch.setattr(split_starts, "GRID_BYTES", size)
        monkeypatch.setattr(read_module, "GRID_BYTES", size)
        split_starts._remembered.clear()

    yield cut
    split_starts._remembered.clear()


@pytest.mark.parametrize("split", [64, 1_000, 20_000])
def test_rows_are_those_of_the_file_whatever_the_splits(spark, tmp_path, small_splits, split):
    small_splits(split)
    path = tmp_path / "a.csv"
    path.write_bytes(quoted_csv(60 if split == 64 else 1_000))
    df = su.read(spark, path, FORMAT, split_bytes=split)
    assert df.collect() == rows_of(fm.read(path, FORMAT))


DIALECTS = {
    "no quotes": fm.Csv(SCHEMA, quote=None),
    "escapes": fm.Csv(SCHEMA, escape="\\"),
    "long delimiters": fm.Csv(SCHEMA, delimiter="||", record_delimiter="\r\n"),
    "comments": fm.Csv(SCHEMA, comment="#"),
    "header": fm.Csv(SCHEMA, header=True),
    "latin text": fm.Csv(SCHEMA, encoding="latin-1"),
    "wide text": fm.Csv(SCHEMA, encoding="utf-16", header=True),
}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_is_split_into_the_same_rows(spark, tmp_path, small_splits, dialect):
    small_splits(200)
    format, chosen = DIALECTS[dialect], random.Random(2)
    lines = ["price,text,id"] if format.header else []
    for number in range(300):
        text = "".join(chosen.choice("xyz") for _ in range(chosen.choice([0, 5, 50])))
        if format.escape:
            text = f'"{text}\\"\n,\\\\"'
        elif format.quote:
            text = f'"ä{text}""\n"' if not format.comment else f'"{text}"'
        fields = [str(number), text, str(number / 2)]
        lines.append(str(format.delimiter).join(reversed(fields) if format.header else fields))
        if format.comment and number % 7 == 0:
            lines.append('# what "stands here')
    path = tmp_path / "a.csv"
    ending = str(format.record_delimiter)
    path.write_text(ending.join(lines) + ending, newline="", encoding=format.encoding)
    expected = fm.read(path, format)
    assert expected.num_rows == 300
    assert su.read(spark, path, format, split_bytes=200).collect() == rows_of(expected)


def test_json_lines_are_split_at_any_line(spark, tmp_path, small_splits):
    small_splits(100)
    path = tmp_path / "a.json"
    path.write_text("".join(f'{{"id": {n}, "text": "\\n{"x" * (n % 40)}"}}\n\n' for n in range(200)))
    format = fm.Json(pa.schema([("id", pa.int64()), ("text", pa.string())]))
    df = su.read(spark, path, format, split_bytes=100)
    assert df.collect() == rows_of(fm.read(path, format))


def test_binary_rows_are_split_between_rows(spark, tmp_path, small_splits):
    small_splits(100)
    format = fm.Native(pa.schema([("a", pa.int64()), ("b", pa.int32())]))
    path = tmp_path / "a.bin"
    path.write_bytes(b"".join(struct.pack("<qi", n, -n) for n in range(500)))
    assert su.read(spark, path, format, split_bytes=100).collect() == [(n, -n) for n in range(500)]


def test_framed_records_are_one_part(spark, tmp_path, small_splits):
    small_splits(50)
    inner = fm.Json(pa.schema([("id", pa.int64())]))
    path = tmp_path / "a.bin"
    records = [b'{"id": %d}' % number for number in range(100)]
    path.write_bytes(b"".join(struct.pack("<I", len(record)) + record for record in records))
    df = su.read(spark, path, fm.Framed(inner, length="u32le"), split_bytes=50)
    assert df.rdd.getNumPartitions() == 1
    assert df.collect() == [(number,) for number in range(100)]


def test_a_field_longer_than_many_splits_is_one_field(spark, tmp_path, small_splits):
    small_splits(100)
    path = tmp_path / "a.csv"
    inside = '1,"not a record",2\n' * 500
    path.write_text('7,"' + inside.replace('"', '""') + '",1.5\n8,b,2.5')
    rows = su.read(spark, path, FORMAT, split_bytes=100).collect()
    assert rows == [(7, inside, 1.5), (8, "b", 2.5)]


def test_quotes_where_none_belong_do_not_move_the_splits(spark, tmp_path, small_splits):
    small_splits(64)
    path = tmp_path / "a.csv"
    path.write_text("".join(f'{n},5" nail,1\n' if n % 5 == 0 else f"{n},plain,1\n" for n in range(200)))
    expected = fm.read(path, FORMAT, on_error="skip")
    assert su.read(spark, path, FORMAT, on_error="skip", split_bytes=64).collect() == rows_of(expected)


def test_starts_found_by_a_spark_job_are_those_found_on_the_driver(spark, tmp_path, small_splits, monkeypatch):
    small_splits(128)
    path = tmp_path / "a.csv"
    path.write_bytes(quoted_csv(200))
    expected = su.read(spark, path, FORMAT, split_bytes=128).collect()
    split_starts._remembered.clear()
    monkeypatch.setattr(split_starts, "_is_at_hand", lambda *_: False)
    assert su.read(spark, path, FORMAT, split_bytes=128).collect() == expected == rows_of(fm.read(path, FORMAT))


def test_columns_and_filters_are_those_of_the_engine(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{n},t{n},{n / 2}\n" for n in range(100)))
    df = su.read(spark, path, FORMAT, columns=["price", "id"], filters=[("id", ">", 95), ("text", "!=", "t98")])
    assert df.columns == ["price", "id"]
    assert df.collect() == [(48.0, 96), (48.5, 97), (49.5, 99)]


def test_a_header_in_another_order_names_the_columns_of_every_split(spark, tmp_path, small_splits):
    small_splits(50)
    for name, header in (("a.csv", "price,id,text"), ("b.csv", "text,other,price,id")):
        order = header.split(",")
        rows = [{"id": str(n), "text": f"t{n}", "price": f"{n}.5", "other": "?"} for n in range(30)]
        lines = [header, *(",".join(row[key] for key in order) for row in rows)]
        (tmp_path / name).write_text("\n".join(lines))
    df = su.read(spark, tmp_path, fm.Csv(SCHEMA, header=True), split_bytes=50)
    assert df.collect() == [(n, f"t{n}", n + 0.5) for n in range(30)] * 2


def test_a_header_without_a_wanted_column_is_an_error_that_names_it(spark, tmp_path):
    (tmp_path / "a.csv").write_text("id,other\n1,2\n")
    with pytest.raises(Exception, match="expected the columns 'text', 'price'"):
        su.read(spark, tmp_path, fm.Csv(SCHEMA, header=True)).collect()


COMPRESSIONS = {
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda data: pa.compress(data, codec="zstd", asbytes=True),
    "lz4": lambda data: pa.compress(data, codec="lz4", asbytes=True),
}


@pytest.mark.parametrize("suffix", COMPRESSIONS)
def test_a_compressed_file_is_one_unit_with_the_same_rows(spark, tmp_path, suffix):
    data = quoted_csv(500)
    path = tmp_path / f"a.csv.{suffix}"
    path.write_bytes(COMPRESSIONS[suffix](data))
    df = su.read(spark, path, FORMAT, split_bytes=1)
    assert df.rdd.getNumPartitions() == 1
    assert df.collect() == rows_of(fm.read(data, FORMAT))


def test_snappy_files_are_read_however_they_are_written(spark, tmp_path):
    data = quoted_csv(300)
    block = pa.compress(data, codec="snappy", asbytes=True)
    (tmp_path / "a.csv.snappy").write_bytes(block)
    (tmp_path / "b.csv.snappy").write_bytes(framed_snappy(data))
    (tmp_path / "c.csv.snappy").write_bytes(2 * (len(data).to_bytes(4, "big") + len(block).to_bytes(4, "big") + block))
    assert su.read(spark, tmp_path, FORMAT).collect() == 4 * rows_of(fm.read(data, FORMAT))
    (tmp_path / "d.csv.snappy").write_bytes(b"nothing of the kind")
    with pytest.raises(Exception, match=r"d\.csv\.snappy: expected snappy"):
        su.read(spark, tmp_path / "d.csv.snappy", FORMAT).collect()


def test_folders_become_columns_of_the_narrowest_type(spark, tmp_path):
    for day, hour, kind in (("2024-01-31", "1", "a b"), ("2024-02-01", "12", None)):
        name = "__HIVE_DEFAULT_PARTITION__" if kind is None else kind.replace(" ", "%20")
        folder = tmp_path / f"day={day}" / f"hour={hour}" / f"kind={name}"
        folder.mkdir(parents=True)
        (folder / "a.csv").write_text("1,x,2\n")
        (folder / "_hidden").write_text("nonsense")
        (folder / "empty.csv").touch()
    df = su.read(spark, tmp_path, FORMAT)
    assert df.dtypes[3:] == [("day", "date"), ("hour", "int"), ("kind", "string")]
    days = [dt.date(2024, 1, 31), dt.date(2024, 2, 1)]
    assert df.collect() == [(1, "x", 2.0, days[0], 1, "a b"), (1, "x", 2.0, days[1], 12, None)]
    hours = su.read(spark, tmp_path, FORMAT, columns=["hour", "id"], partitions={"hour": "string"})
    assert hours.collect() == [("1", 1), ("12", 1)]
    assert su.read(spark, tmp_path, FORMAT, partitions=None).columns == SCHEMA.names
    below = su.read(spark, tmp_path / "day=2024-01-31", FORMAT)
    assert below.columns == [*SCHEMA.names, "hour", "kind"]
    assert "day" in su.read(spark, tmp_path / "day=2024-01-31", FORMAT, base_path=tmp_path).columns


def test_filters_on_folders_leave_files_unopened(spark, tmp_path):
    for day in (1, 2, 3):
        (tmp_path / f"day={day}").mkdir()
        (tmp_path / f"day={day}" / "a.csv").write_text("1,x,2\n5,y,6\n" if day != 2 else "not,a,number\n")
    df = su.read(spark, tmp_path, FORMAT, columns=["id", "day"], filters=[("day", "!=", 2), ("id", "<", 3)])
    assert df.collect() == [(1, 1), (1, 3)]
    either = su.read(
        spark, tmp_path, FORMAT, columns=["id", "day"], filters=[[("day", "==", 1)], [("day", "==", 3), ("id", ">", 3)]]
    )
    assert either.collect() == [(1, 1), (5, 1), (5, 3)]
    assert su.read(spark, tmp_path, FORMAT, filters=[("day", ">", 9)]).collect() == []


def test_only_folders_may_be_asked_for(spark, tmp_path):
    (tmp_path / "k=7").mkdir()
    (tmp_path / "k=7" / "a.csv").write_text("1,x,2\n\n3,y,4\n")
    assert su.read(spark, tmp_path, FORMAT, columns=["k"]).collect() == [(7,), (7,)]


def test_folders_that_differ_or_repeat_a_column_are_refused(spark, tmp_path):
    (tmp_path / "id=1").mkdir()
    (tmp_path / "id=1" / "a.csv").touch()
    with pytest.raises(fm.SchemaError, match="'id' is a column of the format and a partition folder"):
        su.read(spark, tmp_path, FORMAT)
    (tmp_path / "b.csv").touch()
    with pytest.raises(fm.SchemaError, match="partition folders differ"):
        su.read(spark, tmp_path, FORMAT)


def test_no_rows_are_a_frame_with_columns(spark, tmp_path):
    (tmp_path / "a.csv").touch()
    df = su.read(spark, tmp_path, FORMAT)
    assert (df.columns, df.collect()) == (SCHEMA.names, [])


def test_lists_globs_and_uris_are_read_in_their_order(spark, tmp_path):
    for name in ("a1", "a2", "b"):
        (tmp_path / f"{name}.csv").write_text(f"1,{name},2\n")
    paths = [f"file://{tmp_path}/b.csv", f"{tmp_path}/a*.csv"]
    assert [row.text for row in su.read(spark, paths, FORMAT).collect()] == ["b", "a1", "a2"]
    with pytest.raises(FileNotFoundError, match=r"no files at .*c\*"):
        su.read(spark, tmp_path / "c*", FORMAT)


def test_any_filesystem_of_arrow_or_fsspec_will_do(spark, tmp_path, small_splits):
    small_splits(300)
    (tmp_path / "k=1").mkdir()
    data = quoted_csv(100)
    (tmp_path / "k=1" / "a.csv").write_bytes(data)
    (tmp_path / "k=1" / "b.csv.gz").write_bytes(gzip.compress(data))
    expected = [(*row, 1) for row in 2 * rows_of(fm.read(data, FORMAT))]
    places = [
        ("k=1", {"filesystem": fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem()), "base_path": ""}),
        ("", {"filesystem": fsspec.filesystem("dir", path=str(tmp_path), fs=fsspec.filesystem("file"))}),
        (f"local://{tmp_path}", {}),
        (f"file://{tmp_path}", {"storage_options": {"auto_mkdir": False}}),
    ]
    for path, where in places:
        assert su.read(spark, path, FORMAT, split_bytes=300, **where).collect() == expected, path


def test_an_error_names_the_file_the_byte_and_the_column(spark, tmp_path, small_splits):
    small_splits(100)
    path = tmp_path / "a.csv"
    lines = [f"{n},text,1.5\n" for n in range(60)]
    lines[50] = "50,text,abc\n"
    path.write_text("".join(lines))
    at = len("".join(lines[:50])) + len("50,text,")
    with pytest.raises(Exception, match=rf"{path}: csv: field 2 'price', byte {at}: expected double, found 'abc'"):
        su.read(spark, path, FORMAT, split_bytes=100).collect()
    with pytest.raises(Exception, match=rf"{path}: csv: record 50, field 2 'price', byte {at}"):
        su.read(spark, path, FORMAT, split_bytes=10_000).collect()


@pytest.mark.parametrize("change", ["shrinks", "moves"])
def test_a_file_that_changes_before_it_is_read_is_an_error(spark, tmp_path, small_splits, change):
    small_splits(100)
    path = tmp_path / "a.csv"
    path.write_text('1,"a\nb",2\n' * 50)
    df = su.read(spark, path, FORMAT, split_bytes=100)
    path.write_text('1,"a\nb",2\n' * 20 if change == "shrinks" else 'x"1,"a\nb",2\n' + '1,"a\nb",2\n' * 50)
    with pytest.raises(Exception, match=r"has changed since|a\.csv: csv"):
        df.collect()


def test_what_was_found_in_a_file_is_forgotten_when_it_changes(spark, tmp_path, small_splits):
    small_splits(100)
    path = tmp_path / "a.csv"
    for seed in (1, 2):
        path.write_bytes(quoted_csv(50, seed))
        os.utime(path, ns=(seed, seed))
        assert su.read(spark, path, FORMAT, split_bytes=100).collect() == rows_of(fm.read(path, FORMAT))


def test_tasks_are_as_many_as_are_worth_it(spark, tmp_path):
    for number in range(40):
        (tmp_path / f"{number:02}.csv").write_text("1,x,2\n")
    assert su.read(spark, tmp_path, FORMAT).rdd.getNumPartitions() <= 4
    big = tmp_path / "big.csv"
    big.write_bytes(b"1,x,2\n" * (5 << 20))
    df = su.read(spark, big, FORMAT)
    assert df.rdd.getNumPartitions() == 2
    assert df.count() == 5 << 20


def test_batches_are_neither_tiny_nor_huge(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("".join(f"{n},x,2\n" for n in range(100_000)))
    df = su.read(spark, path, FORMAT, filters=[("id", "in", list(range(0, 100_000, 10)))])
    task = df.mapInArrow(
        lambda batches: (pa.RecordBatch.from_pydict({"rows": [b.num_rows]}) for b in batches), "rows long"
    )
    sizes = [row.rows for row in task.collect()]
    assert sum(sizes) == 10_000
    assert len(sizes) <= 3


REFUSED = {
    "columns is a list of names": {"columns": "id"},
    "no column 'nope'": {"columns": ["nope"]},
    "no column 'none' among": {"filters": [("none", "==", 1)]},
    "split_bytes is a whole number": {"split_bytes": 0},
    "on_error is one of": {"on_error": "ignore"},
    "filesystem is one of pyarrow.fs or of fsspec": {"filesystem": 7},
    "partitions= names 'k'": {"partitions": {"k": "int"}},
    "cannot compare": {"filters": [("price", ">", "a")]},
}


@pytest.mark.parametrize("message", REFUSED)
def test_a_wrong_option_is_refused_before_anything_runs(spark, tmp_path, message):
    (tmp_path / "a.csv").write_text("1,x,2\n")
    with pytest.raises((fm.OptionError, fm.SchemaError), match=message):
        su.read(spark, tmp_path / "a.csv", FORMAT, **REFUSED[message])


def test_a_task_is_sent_its_own_files_and_no_others(spark, tmp_path):
    """However many files there are, what goes to every task does not grow; and there are no more tasks than Spark's reader has."""
    sent = {}
    for count in (40, 1_200):
        for number in range(count):
            (tmp_path / f"{number:05}.csv").write_text(f"{number}\n")
        df = su.read(spark, tmp_path, fm.Csv(pa.schema([("n", pa.int64())])), split_bytes=8 << 20)
        rows, task = df.__dict__[ATTRIBUTE]
        groups = [pickle.loads(row[0]) for row in rows.collect()]
        sent[count] = len(pickle.dumps(task))
        assert [part.path.rpartition("/")[2] for group in groups for part in group] == [
            f"{n:05}.csv" for n in range(count)
        ]
        assert max(len(group) for group in groups) < 40
        theirs = spark.read.schema("n BIGINT").csv(str(tmp_path))
        ours = su.read(spark, tmp_path, fm.Csv(pa.schema([("n", pa.int64())])))
        assert ours.rdd.getNumPartitions() <= theirs.rdd.getNumPartitions()
    assert sent[1_200] < sent[40] + 100 < 10_000
    assert df.agg({"n": "sum"}).first()[0] == sum(range(1_200))


def test_the_data_source_sends_a_task_its_own_files_and_no_others(spark, tmp_path):
    source = SourceOptions("formatter", {"kind": "csv", "path": str(tmp_path)})
    sent = {}
    for count in (40, 1_200):
        for number in range(count):
            (tmp_path / f"{number:05}.csv").write_text(f"{number}\n")
        reader = FilteringReader(source, StructType.fromDDL("n BIGINT"))
        sent[count] = len(pickle.dumps(reader))
        arrived, partitions = pickle.loads(pickle.dumps(reader)), reader.partitions()
        rows = [n for one in partitions for batch in arrived.read(one) for n in batch.column(0).to_pylist()]
        assert rows == list(range(count))
    assert sent[1_200] < sent[40] + 100 < 10_000


HOSTED_FILES = """
package formatter.tests;
public class HostedFiles extends org.apache.hadoop.fs.RawLocalFileSystem {
    public java.net.URI getUri() { return java.net.URI.create("hdfs://hosted"); }
    public org.apache.hadoop.fs.BlockLocation[] getFileBlockLocations(
        org.apache.hadoop.fs.Path path, long start, long length) {
        long size = 10L << 20;
        java.util.ArrayList blocks = new java.util.ArrayList();
        for (long at = start / size * size; at < start + length; at += size) {
            String[] hosts = {"everywhere", "host" + at / size, "localhost"};
            blocks.add(new org.apache.hadoop.fs.BlockLocation(hosts, hosts, at, size));
        }
        return (org.apache.hadoop.fs.BlockLocation[]) blocks.toArray(new org.apache.hadoop.fs.BlockLocation[0]);
    }
}
"""


@pytest.fixture
def hosted(spark):
    """hdfs:// is kept in blocks of 10 MB, one on each of host0, host1, ..., and all of them on one host besides."""
    compiler = spark._jvm.org.codehaus.janino.SimpleCompiler()
    compiler.setParentClassLoader(spark._jvm.org.apache.spark.util.Utils.getContextOrSparkClassLoader())
    compiler.cook(HOSTED_FILES)
    conf = spark.sparkContext._jsc.hadoopConfiguration()
    before = conf.getClassLoader()
    conf.setClassLoader(compiler.getClassLoader())
    conf.set("fs.hdfs.impl", "formatter.tests.HostedFiles")
    conf.set("fs.hdfs.impl.disable.cache", "true")
    yield
    conf.setClassLoader(before)
    conf.unset("fs.hdfs.impl")
    conf.unset("fs.hdfs.impl.disable.cache")


def test_tasks_prefer_the_hosts_that_have_most_of_what_they_read(spark, hosted):
    def part(begin, end, path="hdfs://hosted/data/a.csv"):
        return FilePart(path, Part(begin, end), end - begin, None, b"", (), 0, end, None)

    mb = 1 << 20
    grouped = [
        [part(0, 18 * mb)], [part(25 * mb, 48 * mb), part(70 * mb, 80 * mb)], [part(0, mb)], [part(0, 18 * mb, "/data/a.csv")],
    ]  # fmt: skip
    hosts = hosts_of(spark, grouped)
    assert hosts == [["everywhere", "host0", "host1"], ["everywhere", "host3", "host7"], [], []]
    rows = task_rows(spark, Groups(grouped, 100, hosts), 100)
    rdd = rows._jdf.queryExecution().toRdd()
    while not rdd.dependencies().isEmpty():
        rdd = rdd.dependencies().head().rdd()
    converters = spark._jvm.scala.jdk.javaapi.CollectionConverters
    assert [list(converters.asJava(rdd.preferredLocations(one))) for one in rdd.partitions()] == hosts
    assert [len(pickle.loads(row[0])) for row in rows.collect()] == [1, 2, 1, 1]
