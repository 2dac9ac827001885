"""A state that was changed behind its checksums is refused or gives rows of its own, and never reads or writes where it may not.

In: checkpoints of streams in the middle of something, each byte of the engine's part replaced in turn. Out: an error or rows.
"""

from __future__ import annotations

import hashlib

import pyarrow as pa
import pytest
from test_checkpoints import checksum64

import formatter as fm

SCHEMA = pa.schema([("a", pa.string()), ("b", pa.string())])
TEXT = 'a::b\r\n1::"x\r\n2::y"\r\n3::4\r'
CASES = {
    "a record end that is half there": (fm.Csv(SCHEMA, record_delimiter="\r\n"), b'1,"x\r\n2'),
    "a header that is open": (fm.Csv(SCHEMA, header=True, record_delimiter="\r\n"), b"a,"),
    "a delimiter that is half there": (fm.Csv(SCHEMA, delimiter="::", record_delimiter="\r\n"), TEXT.encode()),
    "half a character of UTF-16": (fm.Csv(SCHEMA, encoding="utf-16-le", delimiter="::"), TEXT.encode("utf-16-le")[:-1]),
    "a quote that may be given up": (fm.Csv(SCHEMA, quotes="lenient", max_quoted_lines=3), b'1,"x\n2,y\n3,'),
    "an array that is open": (fm.Json(SCHEMA, records="array"), b'[{"a":"1","b":"x"},{"a":"\\'),
    "a key that leads to an array": (fm.Json(SCHEMA, records="/Rec/ords/*"), b'{"a":[1],"\\u0052ec":{"or'),
    "text behind an array": (fm.Json(SCHEMA, records="/r/*"), b'{"r":[{"a":"1"}],"b":[{"'),
    "half a row": (fm.Native(pa.schema([("a", pa.int64()), ("b", pa.int32())])), bytes(range(1, 18))),
    "half a length of four bytes": (fm.Framed(fm.Native(pa.schema([("a", pa.int64())]))), b"\x08\0\0\0" + bytes(10)),
    "half a length": (fm.Framed(fm.Json(SCHEMA), length="varint"), b"\x02{}\xff\xff"),
}
MORE = {"half a character of UTF-16": "\r\n1::2\r\n".encode("utf-16-le")}
VALUES = (0x01, 0x80, 0xFF)


@pytest.mark.parametrize("case", CASES)
def test_a_state_that_is_no_state_is_refused_or_goes_on(case):
    format, data = CASES[case]
    stream = fm.Stream(format, on_error="skip", max_record_bytes=1 << 16)
    stream.push(data, sequence=1)
    stream.push(data, sequence=3)
    state = stream.checkpoint()
    begin = state.index(b"fmstrm")
    end = begin + int.from_bytes(state[begin - 8 : begin], "little")
    engine = state[begin:end]
    assert engine[-8:] == checksum64(engine[:-8]).to_bytes(8, "little")
    refused = went_on = 0
    for at in range(8, len(engine) - 8):
        for value in VALUES:
            changed = engine[:at] + bytes([value]) + engine[at + 1 : -8]
            body = state[:begin] + changed + checksum64(changed).to_bytes(8, "little") + state[end:-32]
            try:
                restored = fm.Stream.restore(format, body + hashlib.sha256(body).digest())
                restored.push(MORE.get(case, data), sequence=2)
                restored.push(data, sequence=4)
                restored.finish()
                went_on += 1
            except (fm.FormatterError, MemoryError):
                refused += 1
    assert refused
    assert went_on


def engine_part(state: bytes) -> tuple[int, int]:
    begin = state.index(b"fmstrm")
    return begin, begin + int.from_bytes(state[begin - 8 : begin], "little")


def restores(format: fm.Native | fm.Framed, state: bytes, at: int, number: int) -> bool:
    """Whether a state is taken with another number there."""
    begin, end = engine_part(state)
    changed = state[begin : begin + at] + number.to_bytes(8, "little") + state[begin + at + 8 : end - 8]
    body = state[:begin] + changed + checksum64(changed).to_bytes(8, "little") + state[end:-32]
    try:
        fm.Stream.restore(format, body + hashlib.sha256(body).digest())
    except fm.CheckpointError:
        return False
    return True


@pytest.mark.parametrize(
    "format",
    [fm.Native(pa.schema([("a", pa.int64())])), fm.Framed(fm.Native(pa.schema([("a", pa.int64())])), length="u64le")],
)
def test_more_bytes_of_a_row_or_length_than_it_has_are_refused(format):
    stream = fm.Stream(format)
    stream.push(b"\1\0", sequence=1)
    state = stream.checkpoint()
    begin, end = engine_part(state)
    counting_two = [at for at in range(8, end - begin - 16) if state[begin + at :][:8] == (2).to_bytes(8, "little")]
    others = [
        at for at in counting_two if restores(format, state, at, 7)
    ]  # the bytes of a fragment are as many as are there
    assert others
    assert [at for at in others if not restores(format, state, at, 8)]
