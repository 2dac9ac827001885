"""Files that grow, files that appear whole, folders of chunks: each chunk once, under its number, across restarts."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pytest
from patience import PATIENCE_S
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxBytes

import formatter as fm
import spark_udfs as su
from spark_udfs.sources.chunk_stream import ChunkStreamReader
from spark_udfs.sources.source_options import SourceOptions

ALL = ReadAllAvailable()
FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))


def reader(path, **options):
    return ChunkStreamReader(SourceOptions("formatter_chunks", {"path": str(path), **options}))


def taken(source, start, end):
    rows = [row for piece in source.partitions(start, end) for batch in source.read(piece) for row in batch.to_pylist()]
    return [(row["origin"].rsplit("/", 1)[1], row["sequence"], row["payload"], row["last_sequence"]) for row in rows]


def test_a_growing_file_gives_its_new_bytes_once_with_one_numbering(tmp_path):
    source = reader(tmp_path, chunkBytes="4")
    assert source.latestOffset({}, ALL) == {}
    (tmp_path / "a.csv").write_bytes(b"0123456")
    first = source.latestOffset({}, ALL)
    assert taken(source, {}, first) == [("a.csv", 1, b"0123", None), ("a.csv", 2, b"456", None)]
    assert source.latestOffset(first, ALL) == first
    with open(tmp_path / "a.csv", "ab") as file:
        file.write(b"789")
    second = source.latestOffset(first, ALL)
    assert taken(source, first, second) == [("a.csv", 3, b"789", None)]
    assert taken(reader(tmp_path, chunkBytes="4"), {}, first) == taken(source, {}, first)  # as after a crash
    (tmp_path / "a.csv.done").touch()
    third = source.latestOffset(second, ALL)
    assert taken(source, second, third) == [("a.csv", 4, b"", 4)]
    assert source.latestOffset(third, ALL) == third


def test_a_file_that_shrinks_is_an_error(tmp_path):
    source = reader(tmp_path)
    (tmp_path / "a").write_bytes(b"x" * 10)
    start = source.latestOffset({}, ALL)
    (tmp_path / "a").write_bytes(b"x" * 5)
    with pytest.raises(OSError, match="has shrunk to 5 bytes, 10 were taken"):
        source.latestOffset(start, ALL)


def test_a_limit_of_bytes_takes_files_piece_by_piece_and_misses_none(tmp_path):
    content = {name: bytes(range(65, 85)) for name in ("a", "b")}
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    source, start, rows = reader(tmp_path, chunkBytes="3", layout="whole"), {}, []
    for _ in range(20):
        end = source.latestOffset(start, ReadMaxBytes(7))
        rows += taken(source, start, end)
        start = end
    for name, data in content.items():
        mine = [row for row in rows if row[0] == name]
        assert [row[1] for row in mine] == list(range(1, len(mine) + 1))
        assert b"".join(row[2] for row in mine) == data
        assert mine[-1][3] == len(mine)


def test_a_compressed_file_that_appears_whole_gives_its_content_and_its_end(tmp_path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"0123456789"))
    source = reader(tmp_path, chunkBytes="4", layout="whole")
    rows = taken(source, {}, source.latestOffset({}, ALL))
    assert rows == [("a.csv.gz", 1, b"0123", None), ("a.csv.gz", 2, b"4567", None), ("a.csv.gz", 3, b"89", 3)]


def test_chunk_files_in_any_order_are_taken_once_by_the_numbers_in_their_names(tmp_path):
    folder = tmp_path / "a"
    folder.mkdir()
    source = reader(tmp_path, layout="chunks")
    for number in (2, 7):
        (folder / f"part-{number:03}.bin").write_bytes(b"%d" % number)
    first = source.latestOffset({}, ALL)
    assert taken(source, {}, first) == [("a", 2, b"2", None), ("a", 7, b"7", None)]
    for number in (1, 3, 4, 5, 6):
        (folder / f"part-{number:03}.bin").write_bytes(b"%d" % number)
    second = source.latestOffset(first, ALL)
    assert [row[1] for row in taken(source, first, second)] == [1, 3, 4, 5, 6]
    (folder / "_SUCCESS").touch()
    third = source.latestOffset(second, ALL)
    assert taken(source, second, third) == [("a", 7, b"7", 7)]
    assert source.latestOffset(third, ALL) == third


def test_committed_origins_are_deleted_only_on_request(tmp_path):
    (tmp_path / "a").write_bytes(b"x")
    for clean, left in (("off", True), ("delete", False)):
        source = reader(tmp_path, layout="whole", cleanSource=clean)
        source.commit(source.latestOffset({}, ALL))
        assert (tmp_path / "a").exists() is left


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"layout": "tail"}, "layout is one of growing, whole, chunks"),
        ({"chunkBytes": "0"}, "chunkBytes is a whole number from 1"),
        ({"chunksize": "1"}, "option 'chunksize' is none of"),
        ({"cleanSource": "archive"}, "cleanSource is 'off' or 'delete'"),
    ],
)
def test_wrong_options_are_refused_by_name(tmp_path, options, message):
    with pytest.raises(fm.OptionError, match=message):
        reader(tmp_path, **options)


def test_growing_files_parse_as_themselves_across_restarts_of_the_query(spark, tmp_path):
    su.register_chunks(spark)
    incoming, content = tmp_path / "in", b"".join(b'%d,"line %d\nmore"\n' % (n, n) for n in range(50))
    incoming.mkdir()
    for begin, end in ((0, 100), (100, 333), (333, len(content))):
        with open(incoming / "a.csv", "ab") as file:
            file.write(content[begin:end])
        if end == len(content):
            (incoming / "a.csv.done").touch()
        chunks = (
            spark.readStream.format("formatter_chunks").option("chunkBytes", "64").option("maxBytesPerTrigger", "200")
        )
        parsed = su.parse_stream(chunks.load(str(incoming)), FORMAT, last_sequence="last_sequence")
        writer = parsed.writeStream.option("checkpointLocation", str(tmp_path / "state")).trigger(availableNow=True)
        assert writer.start(str(tmp_path / "out")).awaitTermination(PATIENCE_S)
    rows = sorted(map(tuple, spark.read.parquet(str(tmp_path / "out")).collect()))
    assert rows == [(n, f"line {n}\nmore") for n in range(50)]
