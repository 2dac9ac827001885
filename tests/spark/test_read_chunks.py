"""Files as rows of chunks: every byte once, in numbered chunks, from paths, folders, globs and compressed files."""

from __future__ import annotations

import gzip
from itertools import groupby

import pyarrow as pa
import pytest
from oracle.compressed_files import SUFFIXES, WRITERS

import formatter as fm
import spark_udfs as su
from spark_udfs.chunks import file_chunks
from spark_udfs.files.file_listing import list_files


def chunks_of(spark, path, chunk_bytes):
    rows = sorted(su.read_chunks(spark, path, chunk_bytes=chunk_bytes).collect())
    return {origin: list(chunks) for origin, chunks in groupby(rows, key=lambda row: row.origin)}


@pytest.mark.parametrize("chunk_bytes", [1, 7, 100, 1_000, 10_000])
def test_chunks_of_a_file_are_numbered_from_one_and_rebuild_it(spark, tmp_path, chunk_bytes):
    content = bytes(range(256)) * 4
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    [(origin, chunks)] = chunks_of(spark, path, chunk_bytes).items()
    assert origin == str(path)
    assert [chunk.sequence for chunk in chunks] == list(range(1, len(chunks) + 1))
    assert [chunk.offset for chunk in chunks] == list(range(0, len(content), chunk_bytes))
    assert b"".join(chunk.payload for chunk in chunks) == content


def test_a_big_file_is_read_by_several_tasks_with_one_numbering(spark, tmp_path):
    path = tmp_path / "big.bin"
    size = (64 << 20) + 12_345
    path.write_bytes(b"x" * size)
    chunks = su.read_chunks(spark, path, chunk_bytes=3 << 20)
    assert chunks.rdd.getNumPartitions() == 3
    rows = sorted(chunks.selectExpr("sequence", "offset", "length(payload) AS length").collect())
    assert [row.sequence for row in rows] == list(range(1, len(rows) + 1))
    assert [row.offset for row in rows] == [(3 << 20) * number for number in range(len(rows))]
    assert sum(row.length for row in rows) == size


def test_a_compressed_file_gives_chunks_of_its_content(spark, tmp_path):
    content = b"one,two\n" * 1_000
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(content[:3_001]) + gzip.compress(content[3_001:]))
    [chunks] = chunks_of(spark, tmp_path, 999).values()
    assert b"".join(chunk.payload for chunk in chunks) == content
    assert chunks[1].offset == 999


def test_chunks_are_read_of_whatever_files_are_read_of(spark, tmp_path):
    """One task a compressed file; chunks are of one size and stand where they are in the content, whatever its blocks are."""
    content = b"".join(b"%d,text %d of some length\n" % (i, i % 977) for i in range(20_000))
    paths = {}
    for number, (way, (codec, write)) in enumerate(WRITERS.items()):
        paths[str(tmp_path / f"{number:02}.csv{SUFFIXES[codec]}")] = way
        (tmp_path / f"{number:02}.csv{SUFFIXES[codec]}").write_bytes(write(content))
    chunks = su.read_chunks(spark, tmp_path, chunk_bytes=100_003)
    assert chunks.rdd.getNumPartitions() == len(WRITERS)
    found = chunks_of(spark, tmp_path, 100_003)
    assert set(found) == set(paths)
    for path, way in paths.items():
        assert b"".join(chunk.payload for chunk in found[path]) == content, way
        assert [chunk.sequence for chunk in found[path]] == list(range(1, len(found[path]) + 1)), way
        assert [chunk.offset for chunk in found[path]] == list(range(0, len(content), 100_003)), way
    schema = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
    assert su.parse(chunks, schema).count() == su.read(spark, tmp_path, schema).count() == 20_000 * len(WRITERS)


def test_a_damaged_file_of_chunks_is_named(spark, tmp_path):
    damaged = bytearray(WRITERS["framed snappy"][1](b"1,x\n" * 100))
    damaged[20] ^= 1
    (tmp_path / "damaged.csv.snappy").write_bytes(damaged)
    with pytest.raises(Exception, match=r"damaged\.csv\.snappy: snappy: the chunk at byte 10: expected the checksum"):
        su.read_chunks(spark, tmp_path).collect()
    (tmp_path / "damaged.csv.snappy").unlink()
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"1,x\n" * 100_000)[:-20])
    with pytest.raises(Exception, match=r"cut\.csv\.gz: expected gzip, found other or missing bytes"):
        su.read_chunks(spark, tmp_path).collect()


def test_empty_files_have_no_chunks_and_an_empty_folder_is_an_error(spark, tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match="no files at"):
        su.read_chunks(spark, tmp_path / "empty")
    (tmp_path / "nothing.csv").touch()
    assert su.read_chunks(spark, tmp_path).count() == 0


def test_a_file_that_shrinks_before_it_is_read_is_an_error(spark, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * 100)
    chunks = su.read_chunks(spark, path, chunk_bytes=10)
    path.write_bytes(b"x" * 55)
    with pytest.raises(Exception, match="has shrunk since it was listed"):
        chunks.collect()


def test_hidden_names_are_skipped_and_folders_searched(tmp_path):
    for name in ("b/2.csv", "a/1.csv", "_SUCCESS", ".crc", "a/_temporary/3.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    found = [file.path.removeprefix(str(tmp_path)) for file in list_files(tmp_path)]
    assert found == ["/a/1.csv", "/b/2.csv"]


def test_globs_match_inside_one_name_and_whole_folders(tmp_path):
    for name in ("day=1/a.csv", "day=2/a.csv", "day=2/b.txt", "other/a.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x")

    def names(pattern):
        return [file.path.removeprefix(f"{tmp_path}/") for file in list_files(f"{tmp_path}/{pattern}")]

    assert names("day=*/*.csv") == ["day=1/a.csv", "day=2/a.csv"]
    assert names("day=[2]") == ["day=2/a.csv", "day=2/b.txt"]
    with pytest.raises(FileNotFoundError):
        names("*.csv")


def test_a_uri_and_a_path_mean_the_same_file(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"xy")
    [by_uri] = list_files(f"file://{path}")
    assert by_uri.path == f"file://{path}"
    assert list_files([path, path])[1].size == by_uri.size == 2


def test_stretches_hold_whole_chunks_and_cover_each_file_once(tmp_path, monkeypatch):
    monkeypatch.setattr(file_chunks, "TASK_BYTES", 256)
    (tmp_path / "a").write_bytes(b"x" * 1_003)
    found = list(file_chunks.stretches_of(list_files(tmp_path), 10))
    assert [one.begin for one in found] == [0, 250, 500, 750, 1_000]
    assert [one.end for one in found] == [250, 500, 750, 1_000, 1_003]
    assert [one.sequence for one in found] == [1, 26, 51, 76, 101]


@pytest.mark.parametrize("chunk_bytes", [0, -1, 1 << 31])
def test_a_chunk_size_outside_its_range_is_refused(tmp_path, chunk_bytes):
    with pytest.raises(fm.OptionError, match="chunk_bytes is 1 to"):
        su.read_chunks(None, tmp_path, chunk_bytes=chunk_bytes)
