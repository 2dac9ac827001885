"""Compressed inputs give what their content gives, from memory, files and file objects; broken ones say which and how."""

import bz2
import gzip
import io

import pyarrow as pa
import pytest

import formatter as fm

FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
DATA = b"".join(b"%d,text %d of some length\n" % (i, i % 977) for i in range(60_000))
SUFFIXES = {"zstd": ".zst", "gzip": ".gz", "lz4": ".lz4", "snappy": ".snappy", "bz2": ".bz2", "brotli": ".br"}


def snappy_block(data):
    return pa.compress(data, codec="snappy", asbytes=True)


def raw_snappy(data):
    return snappy_block(data)


def hadoop_snappy(data):
    blocks = []
    for begin in range(0, len(data), 256 << 10):
        block = data[begin : begin + (256 << 10)]
        parts = [snappy_block(block[i : i + (64 << 10)]) for i in range(0, len(block), 64 << 10)]
        blocks.append(len(block).to_bytes(4, "big") + b"".join(len(p).to_bytes(4, "big") + p for p in parts))
    return b"".join(blocks)


def framed_snappy(data):
    frames = [b"\xff\x06\x00\x00sNaPpY"]
    for number, begin in enumerate(range(0, len(data), 64 << 10)):
        piece = data[begin : begin + (64 << 10)]
        stored = number % 3 == 0
        body = b"\0\0\0\0" + (piece if stored else snappy_block(piece))
        frames += [bytes([stored]) + len(body).to_bytes(3, "little") + body, b"\xfe\x03\x00\x00pad"]
    return b"".join(frames)


def by_arrow(codec):
    return lambda data: pa.compress(data, codec=codec, asbytes=True)


WRITERS = [
    ("gzip", gzip.compress),
    ("gzip", lambda data: gzip.compress(data[:5000]) + gzip.compress(data[5000:])),
    ("bz2", bz2.compress),
    ("zstd", by_arrow("zstd")),
    ("lz4", by_arrow("lz4")),
    ("brotli", by_arrow("brotli")),
    ("snappy", raw_snappy),
    ("snappy", hadoop_snappy),
    ("snappy", framed_snappy),
]


@pytest.fixture(scope="module")
def whole():
    return fm.read(DATA, FORMAT)


@pytest.mark.parametrize(("codec", "write"), WRITERS)
def test_compressed_inputs_read_as_their_content(codec, write, whole, tmp_path):
    compressed = write(DATA)
    path = tmp_path / f"data.csv{SUFFIXES[codec]}"
    path.write_bytes(compressed)
    handle = io.BytesIO(compressed)
    assert fm.read(path, FORMAT).equals(whole)
    assert fm.read(compressed, FORMAT, codec=codec).equals(whole)
    assert fm.read(handle, FORMAT, codec=codec).equals(whole)
    assert not handle.closed
    assert fm.open(path, FORMAT).read_all().equals(whole)


@pytest.mark.parametrize(("codec", "write"), WRITERS)
def test_a_compressed_file_that_was_cut_is_an_error_that_names_it(codec, write, tmp_path):
    path = tmp_path / f"cut.csv{SUFFIXES[codec]}"
    path.write_bytes(write(DATA)[:-9])
    with pytest.raises((OSError, fm.FormatError), match=rf"cut\.csv\{SUFFIXES[codec]}: .*{codec}"):
        fm.read(path, FORMAT)


@pytest.mark.parametrize("codec", SUFFIXES)
def test_content_that_is_not_compressed_is_an_error_that_names_the_file(codec, tmp_path):
    path = tmp_path / f"plain.csv{SUFFIXES[codec]}"
    path.write_bytes(DATA)
    with pytest.raises((OSError, fm.FormatError), match=rf"plain\.csv\{SUFFIXES[codec]}: expected {codec}"):
        fm.read(path, FORMAT)


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd", "lz4", "snappy"])
def test_an_empty_compressed_input_has_no_rows(codec, tmp_path):
    path = tmp_path / f"empty.csv{SUFFIXES[codec]}"
    path.write_bytes(b"" if codec == "snappy" else dict(WRITERS)[codec](b""))
    assert fm.read(path, FORMAT).num_rows == 0


def test_an_error_names_the_file_it_is_in(tmp_path):
    good, bad = tmp_path / "good.csv", tmp_path / "bad.csv.gz"
    good.write_bytes(b"1,x\n")
    bad.write_bytes(gzip.compress(b"2,y\nthree,z\n"))
    where = r"bad\.csv\.gz: csv: record 1, field 0 'id', byte 4: expected int64, found 'three'"
    with pytest.raises(fm.FormatError, match=where) as caught:
        fm.read([good, bad], FORMAT)
    assert caught.value.origin == str(bad)
    rejects: list[pa.Table] = []
    assert fm.read([good, bad], FORMAT, on_error="collect", rejects=rejects)["id"].to_pylist() == [1, 2]
    assert [origin for table in rejects for origin in table["origin"].to_pylist()] == [str(bad)]
    with pytest.warns(fm.RejectsWarning, match=r"^1 records rejected, the first: .*bad\.csv\.gz: csv: record 1"):
        fm.read(bad, FORMAT, on_error="collect")


def test_a_block_size_that_was_cut_is_no_end_of_the_file_even_if_its_bytes_are_zero(tmp_path):
    path = tmp_path / "cut.csv.snappy"
    path.write_bytes(hadoop_snappy(DATA) + b"\0\0")
    with pytest.raises(fm.FormatError, match=r"cut\.csv\.snappy: snappy: expected the rest of a block"):
        fm.read(path, FORMAT)
