"""Messages of a bridge on disk, in order: appended by its producer, taken by its consumer, found again after a crash.

In: record batches and control messages. Out: the same, each exactly once and in order, or a report of what was cut off.
Refuses to know: threads' ownership, batch formation, counters. One directory belongs to one bridge (it is locked).

A segment `spill-<number>.seg` holds, little-endian:

    header   magic 8s | position acknowledged u64 | its complement u64 | schema bytes u32 | checksum of the schema u64
    schema   an Arrow IPC schema message
    frames   length u32 | kind u32 | enqueued_ns i64 | checksum u64 of all other bytes of the frame | payload

A rows frame's payload is an Arrow IPC record batch message (a whole IPC stream when a column is dictionary-encoded). A
frame is one write, so a kill leaves complete frames and at most one cut one, which length and checksum tell. What the
consumer has dealt with is noted in the header; a segment dealt with and no longer written to is deleted.
Nothing is synced: a kill loses nothing, a power cut may lose the tail, and the checksums say so.
"""

from __future__ import annotations

import datetime
import fcntl
import json
import os
import re
import struct
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeAlias

import pyarrow as pa

from formatter._core import Checkpoint, Watermark, xxh64
from formatter.errors import BackpressureError, FlowError, SchemaError
from formatter.flow.backpressure import SpillToDisk

MAGIC = b"FMSPILL1"
HEADER = struct.Struct("<8sQQIQ")
ACKNOWLEDGED = struct.Struct("<QQ")
ACKNOWLEDGED_AT = len(MAGIC)
FRAME = struct.Struct("<IIqQ")
ROWS, WATERMARK, CHECKPOINT, END = range(4)
NAME = re.compile(r"spill-(\d{12})\.seg")

Message: TypeAlias = pa.RecordBatch | Watermark | Checkpoint | None
Token = tuple[int, int]  # segment number and the position after a frame


@dataclass(frozen=True, slots=True)
class Recovery:
    """What a directory held when it was opened."""

    messages: int = 0
    rows: int = 0
    truncated_bytes: int = 0  # the tail that no complete frame covers
    truncated_segments: tuple[str, ...] = ()


@dataclass(slots=True)
class Segment:
    number: int
    path: Path
    file: int
    size: int
    next_position: int  # where the consumer reads next
    frames_left: int = 0  # complete and not yet taken
    acknowledged: int = 0


def _frame(kind: int, stamp: int, payload: memoryview) -> bytes:
    head = struct.pack("<IIq", len(payload), kind, stamp)
    body = b"".join((head, payload))
    return b"".join((head, struct.pack("<Q", xxh64(body)), payload))


def _control_payload(message: Watermark | Checkpoint | None) -> tuple[int, bytes]:
    if message is None:
        return END, b""
    if isinstance(message, Checkpoint):
        return CHECKPOINT, json.dumps(message.epoch).encode()
    ts = message.ts
    return WATERMARK, json.dumps([ts.isoformat()] if isinstance(ts, datetime.datetime) else ts).encode()


def _control(kind: int, payload: bytes) -> Message:
    if kind == END:
        return None
    value = json.loads(payload)
    if kind == CHECKPOINT:
        return Checkpoint(value)
    return Watermark(datetime.datetime.fromisoformat(value[0]) if isinstance(value, list) else value)


def _has_dictionary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_dictionary(kind)) or any(
        _has_dictionary(kind.field(i).type) for i in range(kind.num_fields)
    )


class Spill:
    """An ordered queue on disk, for one writing and one reading thread."""

    def __init__(self, mode: SpillToDisk, schema: pa.Schema) -> None:
        self.max_bytes = mode.max_bytes
        self.bytes_on_disk = 0
        self.unread = 0  # frames published and not yet taken
        self._segment_bytes = min(mode.segment_bytes, mode.max_bytes // 4)  # space is freed a segment at a time
        self._schema = schema
        self._schema_bytes = schema.serialize().to_pybytes()
        self._whole_streams = any(_has_dictionary(field.type) for field in schema)
        self._lock = Lock()  # the list of segments and the sizes; never held while a frame is written or read
        self._segments: deque[Segment] = deque()
        self._writing: Segment | None = None
        self._written: tuple[Segment, int] | None = None  # a frame written and not yet published
        self._directory = Path(mode.directory)
        self._directory.mkdir(parents=True, exist_ok=True)
        self._lock_file = os.open(self._directory, os.O_RDONLY)
        try:
            fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock_file)
            self._lock_file = -1
            raise FlowError(
                f"spill: directory '{mode.directory}' is in use by another bridge; give each bridge its own"
            ) from None
        try:
            self.recovery = self._recover()
        except BaseException:
            self.close()
            raise

    # The producer's side.

    def append_rows(self, batch: pa.RecordBatch, stamp: int) -> bool:
        """Write one batch, seen by the consumer after `publish`. False: it would pass max_bytes, nothing is written."""
        payload = self._payload(batch)
        if not self._takes(payload.size):
            return False
        self._write(_frame(ROWS, stamp, memoryview(payload)))
        return True

    def has_room(self, batch: pa.RecordBatch) -> bool:
        """Whether the batch would be written now."""
        return self._takes(self._payload(batch).size if self._whole_streams else pa.ipc.get_record_batch_size(batch))

    def _payload(self, batch: pa.RecordBatch) -> pa.Buffer:
        if not self._whole_streams:
            return batch.serialize()
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        return sink.getvalue()

    def _takes(self, payload_bytes: int) -> bool:
        needed = FRAME.size + payload_bytes
        if needed > self.max_bytes:
            raise BackpressureError(f"spill: a batch takes {needed} bytes, max_bytes is {self.max_bytes}; raise it")
        if self.bytes_on_disk + needed > self.max_bytes:
            self._retire_if_done()
        return self.bytes_on_disk + needed <= self.max_bytes

    def prepare_control(self, message: Watermark | Checkpoint | None) -> None:
        """Write a control message, which `max_bytes` never refuses; `publish` or `abort_control` follows."""
        kind, payload = _control_payload(message)
        self._write(_frame(kind, 0, memoryview(payload)))

    def abort_control(self) -> None:
        if self._written is not None:
            segment = self._written[0]
            self._written = None
            os.ftruncate(segment.file, segment.size)

    def publish(self) -> None:
        """Let the consumer see what was written last."""
        if self._written is None:
            return
        segment, size = self._written
        self._written = None
        with self._lock:
            segment.size += size
            segment.frames_left += 1
            self.bytes_on_disk += size
            self.unread += 1

    def _write(self, frame: bytes) -> None:
        segment = self._writing
        if segment is None or segment.size >= self._segment_bytes:
            segment = self._new_segment()
        try:
            done = os.pwrite(segment.file, frame, segment.size)
            while done < len(frame):  # a signal or a nearly full disk
                done += os.pwrite(segment.file, memoryview(frame)[done:], segment.size + done)
        except OSError:
            os.ftruncate(segment.file, segment.size)
            raise
        self._written = segment, len(frame)

    def _retire_if_done(self) -> None:
        """Free the disk space of the segment written last when the consumer has dealt with all of it."""
        with self._lock:
            segment, self._writing = self._writing, None
            if segment is not None and not self._drop_if_done(segment):
                self._writing = segment

    def _new_segment(self) -> Segment:
        with self._lock:
            number = max((segment.number for segment in self._segments), default=0) + 1
        path = self._directory / f"spill-{number:012d}.seg"
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        start = HEADER.size + len(self._schema_bytes)
        complement = ~start & (2**64 - 1)
        checksum = xxh64(self._schema_bytes)
        header = HEADER.pack(MAGIC, start, complement, len(self._schema_bytes), checksum)
        os.pwrite(file, header + self._schema_bytes, 0)
        segment = Segment(number, path, file, start, start, 0, start)
        with self._lock:
            previous, self._writing = self._writing, segment
            self._segments.append(segment)
            if previous is not None:
                self._drop_if_done(previous)
        return segment

    # The consumer's side.

    def take(self) -> tuple[Message, int, Token]:
        """The oldest message, when it was enqueued, and the token to acknowledge it by. Call while `unread`."""
        with self._lock:
            segment = next(segment for segment in self._segments if segment.frames_left)
        kind, stamp, payload, end = self._read(segment.file, segment.next_position, segment.size)
        message = self._rows(payload) if kind == ROWS else _control(kind, payload)
        with self._lock:
            segment.next_position = end
            segment.frames_left -= 1
            self.unread -= 1
        return message, stamp, (segment.number, end)

    def acknowledge(self, token: Token) -> None:
        """Everything up to this message has been dealt with: never replay it, and free its disk space."""
        number, position = token
        with self._lock:
            for segment in list(self._segments):
                if segment.number > number:
                    break
                segment.acknowledged = position if segment.number == number else segment.size
                if not self._drop_if_done(segment) and segment.number == number:
                    os.pwrite(segment.file, ACKNOWLEDGED.pack(position, ~position & (2**64 - 1)), ACKNOWLEDGED_AT)

    def close(self) -> None:
        """Close the files; what is not acknowledged stays for a later bridge on the same directory."""
        with self._lock:
            for segment in self._segments:
                if segment.acknowledged >= segment.size and not segment.frames_left:
                    os.unlink(segment.path)
                os.close(segment.file)
            self._segments.clear()
            self._writing = None
            if self._lock_file >= 0:
                os.close(self._lock_file)
                self._lock_file = -1

    def __del__(self) -> None:
        if getattr(self, "_lock_file", -1) >= 0:
            self.close()

    def _drop_if_done(self, segment: Segment) -> bool:
        """Under the lock: delete a segment that is dealt with and not written to."""
        if segment is self._writing or segment.frames_left or segment.acknowledged < segment.size:
            return False
        self._segments.remove(segment)
        self.bytes_on_disk -= segment.size - HEADER.size - len(self._schema_bytes)
        os.unlink(segment.path)
        os.close(segment.file)
        return True

    def _rows(self, payload: bytes) -> pa.RecordBatch:
        if self._whole_streams:
            return pa.ipc.open_stream(payload).read_next_batch()
        return pa.ipc.read_record_batch(pa.py_buffer(payload), self._schema)

    def _read(self, file: int, position: int, size: int) -> tuple[int, int, bytes, int]:
        """The frame at a position, checked: kind, stamp, payload, end. FlowError when it is cut or damaged."""
        head = os.pread(file, FRAME.size, position)
        if len(head) == FRAME.size:
            length, kind, stamp, checksum = FRAME.unpack(head)
            end = position + FRAME.size + length
            if end <= size:
                payload = os.pread(file, length, position + FRAME.size)
                if len(payload) == length and xxh64(head[:16] + payload) == checksum:
                    return kind, stamp, payload, end
        raise FlowError(f"spill: byte {position}: expected a complete frame, found a cut or damaged one")

    # After a crash.

    def _recover(self) -> Recovery:
        messages = rows = truncated = 0
        cut_names: list[str] = []
        found = sorted(
            (int(match[1]), path) for path in self._directory.iterdir() if (match := NAME.fullmatch(path.name))
        )
        for number, path in found:
            file = os.open(path, os.O_RDWR)
            size = os.fstat(file).st_size
            start = self._check_header(path, file, size)
            acknowledged = start
            position = start or 0
            if start is not None:
                noted, complement = ACKNOWLEDGED.unpack(os.pread(file, ACKNOWLEDGED.size, ACKNOWLEDGED_AT))
                if noted ^ complement == 2**64 - 1 and start <= noted <= size:
                    acknowledged = position = noted
            left, rows_left, end, cut = self._count(file, position, size) if start is not None else (0, 0, 0, size)
            if cut:
                truncated += cut
                cut_names.append(path.name)
            if not left:
                os.close(file)
                os.unlink(path)
                continue
            os.ftruncate(file, end)
            messages += left
            rows += rows_left
            self.bytes_on_disk += end - (start or 0)
            self._segments.append(Segment(number, path, file, end, position, left, acknowledged or 0))
        self.unread = messages
        return Recovery(messages, rows, truncated, tuple(cut_names))

    def _check_header(self, path: Path, file: int, size: int) -> int | None:
        """Where frames start; None when a kill cut the header itself. SchemaError when another schema was spilled."""
        head = os.pread(file, HEADER.size, 0)
        if len(head) < HEADER.size:
            return None
        magic, _, _, length, checksum = HEADER.unpack(head)
        # A damaged length may promise gigabytes, and room is made for what is asked for.
        schema_bytes = os.pread(file, min(length, size), HEADER.size)
        if magic != MAGIC or len(schema_bytes) < length or xxh64(schema_bytes) != checksum:
            return None
        schema = pa.ipc.read_schema(pa.py_buffer(schema_bytes))
        if not schema.equals(self._schema):
            os.close(file)
            raise SchemaError(
                f"spill: '{path}' was written with the schema [{schema}], this bridge has [{self._schema}]"
            )
        return HEADER.size + int(length)

    def _count(self, file: int, position: int, size: int) -> tuple[int, int, int, int]:
        """Complete frames from a position on, their rows, where the last one ends, and the bytes cut off after it.

        An end of stream was the old producer's: it is left out, for the new producer decides about the end.
        """
        messages = rows = 0
        while position < size:
            try:
                kind, _, payload, end = self._read(file, position, size)
            except FlowError:
                return messages, rows, position, size - position
            if kind == END:
                break
            position = end
            messages += 1
            if kind == ROWS:
                rows += self._rows(payload).num_rows
        return messages, rows, position, 0
