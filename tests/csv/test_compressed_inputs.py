"""Compressed inputs give what their content gives, from memory, files and file objects; broken ones say which and how."""

import gzip
import io

import pyarrow as pa
import pytest
from oracle.compressed_files import SUFFIXES, WRITERS, by_arrow, crc32c, framed_snappy, hadoop

import formatter as fm
from formatter import _core
from formatter.block_stream import READ_BYTES
from formatter.member_streams import inflated, unpacked_xz

FORMAT = fm.Csv(pa.schema([("id", pa.int64()), ("text", pa.string())]))
OPENERS = {"deflate": inflated, "xz": unpacked_xz}
DATA = b"".join(b"%d,text %d of some length\n" % (i, i % 977) for i in range(20_000))


@pytest.fixture(scope="module")
def whole():
    return fm.read(DATA, FORMAT)


@pytest.mark.parametrize("way", WRITERS)
def test_compressed_inputs_read_as_their_content(way, whole, tmp_path):
    codec, write = WRITERS[way]
    compressed = write(DATA)
    path = tmp_path / f"data.csv{SUFFIXES[codec]}"
    path.write_bytes(compressed)
    handle = io.BytesIO(compressed)
    assert fm.read(path, FORMAT).equals(whole)
    assert fm.read(compressed, FORMAT, codec=codec).equals(whole)
    assert fm.read(handle, FORMAT, codec=codec).equals(whole)
    assert not handle.closed
    assert fm.open(path, FORMAT).read_all().equals(whole)


@pytest.mark.parametrize("way", WRITERS)
def test_a_compressed_file_that_was_cut_is_an_error_that_names_it(way, tmp_path):
    codec, write = WRITERS[way]
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


@pytest.mark.parametrize("codec", ["gzip", "bz2", "zstd", "lz4", "snappy", "deflate", "xz"])
def test_an_empty_compressed_input_has_no_rows(codec, tmp_path):
    path = tmp_path / f"empty.csv{SUFFIXES[codec]}"
    path.write_bytes(b"" if codec == "snappy" else dict(WRITERS.values())[codec](b""))
    assert fm.read(path, FORMAT).num_rows == 0


@pytest.mark.parametrize("codec", ["deflate", "xz"])
def test_what_was_compressed_to_little_comes_out_a_bounded_block_at_a_time(codec):
    stream = OPENERS[codec](io.BytesIO(dict(WRITERS.values())[codec](bytes(50_000_000))), "zeros")
    sizes = [len(block) for block in stream._blocks]
    assert sum(sizes) == 50_000_000
    assert max(sizes) <= READ_BYTES


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
    with pytest.warns(fm.RejectsWarning, match=r"^1 record rejected, the first: .*bad\.csv\.gz: csv: record 1"):
        fm.read(bad, FORMAT, on_error="collect")


def test_a_block_size_that_was_cut_is_no_end_of_the_file_even_if_its_bytes_are_zero(tmp_path):
    path = tmp_path / "cut.csv.snappy"
    path.write_bytes(hadoop("snappy")(DATA) + b"\0\0")
    with pytest.raises(fm.FormatError, match=r"cut\.csv\.snappy: snappy: expected the rest of a block"):
        fm.read(path, FORMAT)


def test_the_checksum_is_that_of_the_standard():
    for data, expected in [
        (b"", 0),
        (b"123456789", 0xE3069283),
        (bytes(32), 0x8A9136AA),
        (b"\xff" * 32, 0x62A8AB43),
        (bytes(range(32)), 0x46DD794E),
    ]:
        assert _core.crc32c(data) == crc32c(data) == expected
    for size in range(64):
        assert _core.crc32c(DATA[size : 3 * size]) == crc32c(DATA[size : 3 * size])


@pytest.mark.parametrize("stored", [True, False])
def test_a_chunk_whose_checksum_is_another_is_an_error_that_says_which(stored, tmp_path):
    content = b"1,abc\n" * (10 if stored else 30_000)
    framed = framed_snappy(content)
    at = 10 if stored else framed.index(b"\xfe\x03\x00\x00pad") + 7  # the first chunk is stored, the second is not
    damaged = bytearray(framed)
    damaged[at + 4] ^= 1
    path = tmp_path / "damaged.csv.snappy"
    path.write_bytes(damaged)
    where = rf"damaged\.csv\.snappy: snappy: the chunk at byte {at}: expected the checksum 0x[0-9a-f]{{8}}, found 0x[0-9a-f]{{8}}"
    with pytest.raises(fm.FormatError, match=where) as error:
        fm.read(path, FORMAT)
    assert error.value.code == "bad_compression"


def test_no_bit_of_a_chunk_can_be_another_unnoticed():
    framed = framed_snappy(b"1,abc\n2,defg\n")
    for at in range(14, len(framed) - 7):  # behind the chunk's head, before the padding
        for bit in range(8):
            damaged = bytearray(framed)
            damaged[at] ^= 1 << bit
            with pytest.raises(fm.FormatError, match="the input: snappy: the chunk at byte 10"):
                fm.read(bytes(damaged), FORMAT, codec="snappy")


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (b"\x02\x00\x00\x00", "the chunk at byte 10 is of kind 2, which nobody may pass over"),
        (b"\x01\x02\x00\x00ab", "the chunk at byte 10 does not decompress"),
        (b"\xff\x06\x00\x00sNaPpX", "the chunk at byte 10 does not decompress"),
        (b"\x01\x09\x00", "found the end of the file"),
    ],
)
def test_what_is_no_chunk_is_an_error_that_says_where(tail, message):
    with pytest.raises(fm.FormatError, match=message):
        fm.read(b"\xff\x06\x00\x00sNaPpY" + tail, FORMAT, codec="snappy")


def test_a_codec_that_is_none_is_refused_with_those_there_are():
    with pytest.raises(
        fm.OptionError, match="codec: expected one of gzip, bz2, zstd, lz4, snappy, brotli, deflate, xz, found 'zip'"
    ):
        fm.read(b"", FORMAT, codec="zip")
    assert fm.read(by_arrow("gzip")(DATA), FORMAT, codec="gzip").num_rows == 20_000
