"""readStream.format("formatter"): every file of a folder exactly once, whatever the limits and restarts."""

from __future__ import annotations

import gzip
import os

import pytest
from patience import PATIENCE_S
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes, ReadMaxFiles
from pyspark.sql.types import StructType

import formatter as fm
import spark_udfs as su
from spark_udfs.sources.file_stream import FormatterStreamReader
from spark_udfs.sources.source_options import SourceOptions

DDL = "id BIGINT, text STRING"
ALL = ReadAllAvailable()


def write(folder, name, begin, end, at=None):
    folder.mkdir(parents=True, exist_ok=True)
    content = "".join(f'{n},"text\n{n}"\n' for n in range(begin, end)).encode()
    path = folder / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    if at is not None:
        os.utime(path, (at, at))


def expected(*spans):
    return [(n, f"text\n{n}") for begin, end in spans for n in range(begin, end)]


def run(spark, folder, **options):
    su.register(spark)
    source = spark.readStream.format("formatter").schema(DDL).options(kind="csv", multiLine="true", **options)
    writer = source.load(str(folder / "in")).writeStream.trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(folder / "state")).start(str(folder / "out"))
    assert query.awaitTermination(PATIENCE_S)
    return query


def sink(spark, folder):
    return sorted(map(tuple, spark.read.parquet(str(folder / "out")).collect()))


def test_files_that_appear_are_read_once_across_restarts(spark, tmp_path):
    run(spark, tmp_path)  # before the folder is there
    write(tmp_path / "in", "a.csv", 0, 50)
    write(tmp_path / "in", "b.csv.gz", 50, 80)
    run(spark, tmp_path, maxFilesPerTrigger="1")
    assert sink(spark, tmp_path) == expected((0, 80))
    write(tmp_path / "in", "0.csv", 80, 90)  # before the others by name
    (tmp_path / "in" / "_hidden.csv").write_text("99,x\n")
    run(spark, tmp_path)
    assert sink(spark, tmp_path) == expected((0, 90))
    commits = tmp_path / "state" / "commits"
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdigit())
    for path in commits.glob(f"*{last}*"):
        path.unlink()  # as if the driver had died before it said so: the batch is done again
    write(tmp_path / "in", "c.csv", 90, 95)
    run(spark, tmp_path)
    assert sink(spark, tmp_path) == expected((0, 95))


def reader(folder, ddl=DDL, **options):
    return FormatterStreamReader(
        SourceOptions("formatter", {"kind": "csv", "multiLine": "true", "path": str(folder), **options}),
        StructType.fromDDL(ddl),
    )


def taken(source, start, end):
    return sorted(tuple(row.values()) for part in source.partitions(start, end) for batch in source.read(part)
                  for row in batch.to_pylist())  # fmt: skip


def test_the_oldest_files_come_first_and_a_limit_misses_none(spark, tmp_path):
    for number in range(5):
        write(tmp_path, f"{9 - number}.csv", number * 10, number * 10 + 10, at=1_000 + number)
    for limit, batches in ((ReadMaxFiles(2), 3), (ReadMaxBytes(1), 5), (ReadMaxBytes(10_000_000), 1), (ALL, 1)):
        source, start, found = reader(tmp_path), {}, []
        while (end := source.latestOffset(start, limit)) != start:
            found.append(taken(source, start, end))
            start = end
        assert [row for rows in found for row in rows] == expected((0, 50))
        assert len(found) == batches


def test_folders_are_columns_where_the_schema_names_them(spark, tmp_path):
    source = reader(tmp_path / "in", "id BIGINT, text STRING, day INT")  # nothing is there yet
    write(tmp_path / "in" / "day=7", "a.csv", 0, 2)
    end = source.latestOffset({}, ALL)
    assert taken(source, {}, end) == [(0, "text\n0", 7), (1, "text\n1", 7)]


def test_a_file_that_changes_or_goes_between_offset_and_reading_is_an_error(spark, tmp_path):
    write(tmp_path, "a.csv", 0, 5)
    source = reader(tmp_path)
    end = source.latestOffset({}, ALL)
    write(tmp_path, "a.csv", 0, 6)
    with pytest.raises(OSError, match=r"a\.csv' has \d+ bytes, \d+ when it was taken; files have to appear whole"):
        source.partitions({}, end)
    (tmp_path / "a.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"a\.csv' is gone before it was processed"):
        source.partitions({}, end)


def test_processed_files_are_deleted_only_on_request(spark, tmp_path):
    for clean, left in (("off", True), ("delete", False)):
        write(tmp_path, "a.csv", 0, 1)
        source = reader(tmp_path, cleansource=clean)
        source.commit(source.latestOffset({}, ALL))
        assert (tmp_path / "a.csv").exists() is left


def test_what_a_query_is_asked_wrongly_is_what_it_ends_with(spark, tmp_path):
    """PySpark itself would tell that a variable of its own has no value."""
    write(tmp_path / "in", "a.csv", 0, 1)
    with pytest.raises(
        StreamingQueryException, match="OptionError: formatter: cleanSource is 'off' or 'delete'"
    ) as caught:
        run(spark, tmp_path, cleanSource="archive")
    assert "UnboundLocalError" not in str(caught.value)
    su.register_chunks(spark)
    chunks = spark.readStream.format("formatter_chunks").option("layout", "grow").load(str(tmp_path / "in"))
    query = chunks.writeStream.format("noop").start()
    with pytest.raises(StreamingQueryException, match="OptionError: formatter_chunks: layout is one of"):
        query.awaitTermination(PATIENCE_S)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"maxfilespertrigger": "0"}, "maxFilesPerTrigger is a whole number from 1"),
        ({"maxfilespertrigger": "1", "maxbytespertrigger": "1"}, "give one"),
        ({"cleansource": "archive"}, "cleanSource is 'off' or 'delete'"),
        ({"seperator": ";"}, "no option 'seperator'"),
        ({"splitbytes": "x"}, "splitBytes is a whole number"),
    ],
)
def test_wrong_options_are_refused_before_the_query_starts(spark, tmp_path, options, message):
    with pytest.raises(fm.OptionError, match=message):
        reader(tmp_path, **options)
