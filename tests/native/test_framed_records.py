"""Records behind their length: binary rows, rows with a rest, JSON; every kind of length, cut, order and kernel.

In: records. Out: verdicts; struct and Python's json are the oracle.
"""

from __future__ import annotations

import json
import pickle
import struct

import pyarrow as pa
import pytest
from oracle.stream_runs import cut_departure, departure, pieces_of, resumed_at_every_cut, shuffled, streamed, whole_read

import formatter as fm

CODES = {"u8": "<B", "u16le": "<H", "u16be": ">H", "u32le": "<I", "u32be": ">I", "u64le": "<Q", "u64be": ">Q"}
LENGTHS = [*CODES, "varint"]
FIXED = pa.schema([("a", pa.int16()), ("b", pa.float64())])
REST = pa.schema([("key", pa.uint32()), ("text", pa.string())])
EVENTS = pa.schema([("id", pa.int64()), ("tags", pa.list_(pa.string()))])


def framed(records, length):
    def prefix(size):
        if length in CODES:
            return struct.pack(CODES[length], size)
        out = b""
        while size >= 0x80:
            out += bytes([size & 0x7F | 0x80])
            size >>= 7
        return out + bytes([size])

    return b"".join(prefix(len(r)) + r for r in records)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("endian", ["little", "big"])
def test_binary_rows_behind_their_length(length, endian, kernel):
    rows = [(i - 300, i / 7) for i in range(5000)]
    order = "<" if endian == "little" else ">"
    data = framed([struct.pack(order + "hd", *row) for row in rows], length)
    format = fm.Framed(fm.Native(FIXED, endian=endian), length=length)
    table = fm.read(data, format)
    assert [tuple(r.values()) for r in table.to_pylist()] == rows
    assert fm.read(data, format, columns=["b"], filters=[("a", ">=", 0)])["b"].to_pylist() == [
        b for a, b in rows if a >= 0
    ]


@pytest.mark.parametrize("length", LENGTHS)
def test_the_last_column_takes_what_is_left_of_the_frame(length, kernel):
    most = 200 if length == "u8" else 3000
    rows = [(i, "é" * (i * 7 % (most // 3))) for i in range(500)]
    data = framed([struct.pack("<I", k) + t.encode() for k, t in rows], length)
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()):
        schema = REST.set(1, pa.field("text", kind))
        table = fm.read(data, fm.Framed(fm.Native(schema), length=length))
        table.validate(full=True)
        texts = [v.decode() if isinstance(v, bytes) else v for v in table["text"].to_pylist()]
        assert list(zip(table["key"].to_pylist(), texts, strict=True)) == rows


def test_raw_messages_are_rows_of_one_column():
    messages = [b"", b"\x00\xff", b"x" * 70_000, b"\n\n"]
    format = fm.Framed(fm.Native(pa.schema([("payload", pa.binary())])), length="varint")
    assert fm.read(framed(messages, "varint"), format)["payload"].to_pylist() == messages


@pytest.mark.parametrize("length", LENGTHS)
def test_json_documents_behind_their_length(length, kernel):
    events = [{"id": i, "tags": ["a\n", "}{", str(i)][: i % 4] or None} for i in range(700)]
    texts = [json.dumps(e, indent=1 if i % 2 else None).encode() for i, e in enumerate(events)]
    data = framed(texts, length)
    for validate in ("touched", "full"):
        format = fm.Framed(fm.Json(EVENTS, validate=validate), length=length)
        assert fm.read(data, format).to_pylist() == events
        assert fm.read(data, format, columns=["tags"], filters=[("id", "==", 6)]).to_pylist() == [
            {"tags": ["a\n", "}{"]}
        ]


DIRTY = {
    "native": (fm.Native(pa.schema([("a", pa.int16()), ("ok", pa.bool_())])), [
        b"\x01\x00\x01", b"\x02\x00", b"", b"\x03\x00\x07", b"\x04\x00\x01\x00", b"\x05\x00\x00",
    ]),
    "rest": (fm.Native(pa.schema([("a", pa.int16()), ("text", pa.string())])), [
        b"\x01\x00abc", b"\x02", b"\x03\x00\xff\xfe", b"\x04\x00", b"\x05\x00" + "é".encode(),
    ]),
    "json": (fm.Json(pa.schema([("id", pa.int64())])), [
        b'{"id":1}', b'{"id":"x"}', b"", b'{"id":2', b'{"id":3} {"id":4}', b"[1]", b'{"id":"\n"}', b'{"id":\n5}\n',
    ]),
}  # fmt: skip
REJECTED = {
    "native": [(5, 1, "wrong_length"), (9, 2, "wrong_length"),
               (15, 3, "invalid"), (16, 4, "wrong_length"), (27, 6, "unterminated_record")],
    "rest": [(7, 1, "wrong_length"), (14, 2, "bad_utf8"), (26, 5, "unterminated_record")],
    "json": [(18, 1, "wrong_type"), (33, 2, "malformed"), (44, 3, "trailing_data"), (54, 4, "not_an_object"),
             (66, 5, "malformed"), (81, 7, "unterminated_record")],
}  # fmt: skip


@pytest.mark.parametrize("name", DIRTY)
@pytest.mark.parametrize("on_error", ["null", "skip", "collect"])
def test_every_cut_and_order_gives_what_the_whole_gives(name, on_error):
    inner, records = DIRTY[name]
    format = fm.Framed(inner, length="u16le")
    data = framed(records, "u16le") + b"\x09\x00\x01"
    whole = whole_read(data, format, on_error)
    if on_error == "collect":
        assert [(r[0], r[1], r[3]) for r in whole.rejects] == REJECTED[name]
    assert cut_departure(data, format, whole, on_error, sizes=(1, 2, 7)) is None


@pytest.mark.parametrize("length", LENGTHS)
def test_lengths_may_be_cut_anywhere(length):
    records = [struct.pack("<I", i) + b"x" * (i % 3 * 90) for i in range(60)]
    data = framed(records, length)
    format = fm.Framed(fm.Native(REST), length=length)
    whole = whole_read(data, format)
    assert len(whole.rows) == 60
    for size in (1, 2, 3, 63, 64, 65):
        pieces = pieces_of(data, size)
        assert departure(streamed(pieces, format, shuffled(len(pieces), size)), whole, len(pieces)) is None


@pytest.mark.parametrize("length", LENGTHS)
def test_a_frame_that_lacks_bytes_is_no_record_however_few_they_are(length):
    format = fm.Framed(fm.Native(REST), length=length)
    whole = framed([struct.pack("<I", 1) + b"abcdef"], length)
    for cut in range(1, len(whole)):
        with pytest.raises(fm.FormatError) as raised:
            fm.read(memoryview(whole * 2)[: len(whole) + cut], format)  # the bytes it lacks lie right behind
        assert (raised.value.code, raised.value.byte_offset) == ("unterminated_record", len(whole))


def test_rejects_name_the_buffer_in_which_their_record_ends():
    format = fm.Framed(fm.Native(pa.schema([("a", pa.int16()), ("ok", pa.bool_())])), length="u16le")
    data = framed([b"\x01\x00\x01", b"\x02\x00\x09", b"\x03\x00\x01"], "u16le")
    stream = fm.Stream(format, on_error="collect")
    pieces = pieces_of(data, 1)
    stream.push_many(pieces, sequences=list(range(1, len(pieces) + 1)))
    stream.finish()
    assert stream.rejects()["sequence"].to_pylist() == [10]


@pytest.mark.parametrize(
    ("length", "prefix"),
    [("u32le", b"\xff\xff\xff\xff"), ("u64be", b"\xff" * 8), ("varint", b"\xff" * 10), ("varint", b"\x80" * 10)],
)
def test_a_length_that_cannot_be_is_no_crash(length, prefix):
    format = fm.Framed(fm.Native(REST), length=length)
    good = framed([struct.pack("<I", 1) + b"a"], length)
    with pytest.raises(fm.FormatError) as raised:
        fm.read(good + prefix + b"rest", format)
    assert (raised.value.code, raised.value.byte_offset, raised.value.record) == ("unterminated_record", len(good), 1)
    stream = fm.Stream(format, on_error="collect", max_record_bytes=1000)
    batches = stream.push(good + prefix, sequence=1)
    for i in range(200):
        batches += stream.push(b"x" * 100, sequence=i + 2)
    batches += stream.finish()
    assert sum(b.num_rows for b in batches) == 1
    assert stream.rejects()["code"].to_pylist() == ["record_too_long"]
    assert stream.stats.pending_bytes == 0


def test_values_of_an_array_are_records_without_their_length():
    parsed = fm.parse_records([struct.pack("<I", 7) + b"abc", b"x", None], fm.Framed(fm.Native(REST)))
    assert parsed.to_pylist() == [{"key": 7, "text": "abc"}, {"key": None, "text": None}, {"key": None, "text": None}]
    assert fm.parse_records(['{"id":1}'], fm.Framed(fm.Json(EVENTS)), columns=["id"])["id"].to_pylist() == [1]


def test_a_checkpoint_goes_on_inside_a_length():
    format = fm.Framed(fm.Native(REST), length="u32be")
    data = framed([struct.pack("<I", i) + b"ab" for i in range(4)], "u32be")
    for cut, batches in resumed_at_every_cut(data, format):
        assert [v for b in batches for v in b.data["key"].to_pylist()] == [0, 1, 2, 3], cut


def test_formats_are_checked_and_travel():
    format = fm.Framed(fm.Native(REST), length="u16be")
    assert format.schema == REST
    assert pickle.loads(pickle.dumps(format)) == format
    assert hash(format) != hash(fm.Framed(fm.Native(REST)))
    for inner, length in (
        (fm.Csv(REST), "u32le"),
        (fm.Native(REST), "u24"),
        (fm.Json(REST, records="array"), "u8"),
        (REST, "u8"),
    ):
        with pytest.raises(fm.OptionError):
            fm.Framed(inner, length=length)
    with pytest.raises(fm.CheckpointError):
        fm.Stream.restore(fm.Framed(fm.Native(REST)), fm.Stream(format).checkpoint())
