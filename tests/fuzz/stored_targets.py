"""Bytes that were put away: compressed inputs and spilled messages, whole, damaged or a stranger's. In: bytes. Out: nothing, or
AssertionError. Refuses to know: who makes the bytes.
"""

from __future__ import annotations

import io
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
from fuzz_choices import Choices
from oracle.compressed_files import WRITERS

import formatter as fm
from formatter import flow
from formatter.codecs import Decompressed

CHECKED = ("gzip", "bz2", "deflate", "xz")  # a checksum covers all that they hold


class Trickle(io.RawIOBase):
    """Bytes, a few at a time."""

    def __init__(self, data: bytes, step: int) -> None:
        self._data, self._at, self._step = data, 0, step

    def readable(self) -> bool:
        return True

    def readinto(self, into: Any) -> int:
        part = self.read(len(into))
        into[: len(part)] = part
        return len(part)

    def read(self, size: int = -1) -> bytes:
        """Without room for all that was asked for: of megabytes for a byte the sanitizer would speak of nothing else."""
        part = self._data[self._at : self._at + (min(size, self._step) if size >= 0 else len(self._data))]
        self._at += len(part)
        return part


def codecs(data: bytes) -> None:
    """Compressed bytes, whole: what was compressed. Damaged: an error in our words, or the same where checksums say so."""
    choices = Choices(data)
    name = choices.one_of(list(WRITERS))
    codec, write = WRITERS[name]
    step = choices.one_of([1 << 20, 1, 3, 1000])
    changes = [(choices.below(256) << 8 | choices.below(256), choices.below(256)) for _ in range(choices.below(4))]
    cut, repeats = choices.below(8), 1 + choices.below(3) * 40
    text = choices.rest() * repeats
    if choices.below(4) == 3:  # the bytes themselves, as whoever wrote them has it
        packed, whole, checked = text, False, False
    else:
        packed = bytearray(write(text))
        whole = not changes and not cut
        for place, value in changes if packed else ():
            packed[place % len(packed)] ^= value
        packed = bytes(packed[: len(packed) - cut] if cut < len(packed) else packed)
        whole = whole or packed == write(text)
        checked = codec in CHECKED
    found = bytearray()
    try:
        with io.BufferedReader(Decompressed(Trickle(packed, step), codec, "an input")) as stream:
            while part := stream.read(1 << 16):
                found += part
                assert len(found) < 64 << 20, f"{name}: {len(packed)} bytes do not end"
    except OSError as error:
        refused: OSError | None = error
    else:
        refused = None
    if whole:
        assert refused is None, f"{name}, {text!r} by {step}: {refused}"
    if whole or (checked and refused is None):
        assert found == text, f"{name}, {text!r} by {step}: {bytes(found)!r}"


SPILLED = pa.schema([("n", pa.int64()), ("text", pa.string())])


def spill(data: bytes) -> None:
    """A directory as a kill, a bad disk or a stranger left it: what comes back was sent, in order, each once at most."""
    choices = Choices(data)
    sent: list[Any] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        def bridge() -> flow.Bridge:
            mode = flow.SpillToDisk(folder, segment_bytes=400 + 50 * choices.below(16))
            policy = flow.BatchPolicy(max_rows=1, max_latency_ms=0)
            return flow.Bridge(SPILLED, capacity=1, policy=policy, backpressure=mode)

        first = bridge()
        for number in range(choices.below(24)):
            kind = choices.below(8)
            if kind == 7:
                first.producer.checkpoint(number)
                sent.append(("checkpoint", number))
            else:
                text = "x" * choices.below(256)
                columns = [pa.array([number], pa.int64()), pa.array([text])]
                first.producer.send(pa.record_batch(columns, schema=SPILLED))
                sent.append((number, text))
            if kind == 6:
                first.consumer.poll()
        first.producer.fail(OSError("killed"))
        del first
        files = sorted(folder.glob("*.seg"))
        for _ in range(choices.below(4) if files else 0):
            path = choices.one_of(files)
            held = bytearray(path.read_bytes())
            place_ = (choices.below(256) << 8 | choices.below(256)) % max(1, len(held))
            way = choices.below(3)
            if way == 0 and held:
                held[place_] ^= choices.below(256)
            elif way == 1:
                del held[place_:]
            else:
                held[place_:place_] = choices.bytes(choices.below(64))
            path.write_bytes(held)
        try:
            again = bridge()
        except (fm.FlowError, fm.SchemaError):
            return
        again.producer.close()
        back = [_spilled_row(action) for action in again.consumer]
    at = 0
    for message in back:
        assert message in sent[at:], f"{message} came back, sent were {sent}"
        at = sent.index(message, at) + 1


def _spilled_row(action: Any) -> Any:
    if isinstance(action, flow.Rows):
        [row] = action.batch.to_pylist()
        return row["n"], row["text"]
    return "checkpoint", action.epoch
