"""A stream's checkpoint as bytes. In: options, engine's state, undelivered batches. Out: one versioned, checksummed blob.

Layout: magic, then three length-prefixed parts (options as JSON, the engine's state, undelivered batches as Arrow IPC),
then the SHA-256 of everything before it.
"""

from __future__ import annotations

import base64
import datetime
import decimal
import fractions
import hashlib
import json
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from formatter.batch import Batch
from formatter.errors import FormatterError

MAGIC = b"FMCKPT01"
MIXED_MAGIC = b"FMMIXD01"  # of streams with several formats: what they have of their own, then a checkpoint a format


class CheckpointError(FormatterError, ValueError):
    """A checkpoint that is damaged, of another version, or of another format.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> format = fm.Csv(pa.schema([("id", pa.int64())]))
        >>> try:
        ...     fm.Stream.restore(format, fm.Stream(format).checkpoint()[:-1])
        ... except fm.CheckpointError:
        ...     print("damaged")
        damaged
    """


def _to_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"bytes": base64.b64encode(value).decode()}
    if isinstance(value, datetime.datetime):
        return {"datetime": value.isoformat()}
    if isinstance(value, datetime.date):
        return {"date": value.isoformat()}
    if isinstance(value, datetime.time):
        return {"time": value.isoformat()}
    if isinstance(value, datetime.timedelta):
        return {"days_seconds_microseconds": [value.days, value.seconds, value.microseconds]}
    if isinstance(value, decimal.Decimal):
        return {"decimal": str(value)}
    if isinstance(value, fractions.Fraction):
        return {"fraction": str(value)}
    if isinstance(value, pa.Scalar):
        return {"arrow": base64.b64encode(_one_row(value)).decode()}
    raise CheckpointError(f"checkpoint: cannot save the filter value {value!r}; use plain Python values")


def _from_json(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        ((kind, text),) = value.items()
        if kind == "bytes":
            return base64.b64decode(text)
        if kind == "datetime":
            return datetime.datetime.fromisoformat(text)
        if kind == "date":
            return datetime.date.fromisoformat(text)
        if kind == "time":
            return datetime.time.fromisoformat(text)
        if kind == "days_seconds_microseconds":
            return datetime.timedelta(*text)
        if kind == "decimal":
            return decimal.Decimal(text)
        if kind == "fraction":
            return fractions.Fraction(text)
        if kind == "arrow":
            with pa.ipc.open_stream(base64.b64decode(text)) as reader:
                return reader.read_next_batch().column(0)[0]
    return value


def _one_row(value: pa.Scalar) -> bytes:
    batch = pa.RecordBatch.from_arrays([pa.repeat(value, 1)], names=["value"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def pack(options: dict[str, Any], engine: bytes | None, batches: Sequence[Batch], schema: pa.Schema) -> bytes:
    """`engine` None: there was no memory for it."""
    if engine is None:
        raise MemoryError("checkpoint: there is no memory for what waits; the stream goes on, and may be asked again")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch.data)
    about = [{"origin": b.origin, "spans": b.spans, "version": b.projection_version} for b in batches]
    head = json.dumps({"options": options, "batches": about}, default=_to_json).encode()
    return sealed(MAGIC, [head, engine, sink.getvalue().to_pybytes()])


def sealed(magic: bytes, parts: Sequence[bytes]) -> bytes:
    body = magic + b"".join(struct.pack("<Q", len(part)) + part for part in parts)
    return body + hashlib.sha256(body).digest()


def opened(magic: bytes, state: Any) -> list[bytes]:
    """The parts again."""
    try:
        state = bytes(memoryview(state))
    except TypeError:
        raise CheckpointError(f"checkpoint: expected bytes, found {type(state).__name__}") from None
    if not state.startswith(magic):
        of = "a stream's checkpoint" if magic == MAGIC else "the checkpoint of a stream of several formats"
        raise CheckpointError(f"checkpoint: expected {of} of version 1, found other bytes")
    if len(state) < len(magic) + 32 or hashlib.sha256(state[:-32]).digest() != state[-32:]:
        raise CheckpointError(
            "checkpoint: damaged or cut short (its checksum does not match); use the checkpoint before it"
        )
    parts: list[bytes] = []
    at = len(magic)
    while at < len(state) - 32:
        (size,) = struct.unpack_from("<Q", state, at)
        parts.append(state[at + 8 : at + 8 + size])
        at += 8 + size
    return parts


def pack_mixed(head: dict[str, Any], states: Sequence[bytes]) -> bytes:
    return sealed(MIXED_MAGIC, [json.dumps(head, default=_to_json).encode(), *states])


def unpack_mixed(state: bytes) -> tuple[dict[str, Any], list[bytes]]:
    packed, *states = opened(MIXED_MAGIC, state)
    head = json.loads(packed, object_hook=_from_json)
    if head.get("schema") is not None:  # of a shared stream
        head["schema"] = pa.ipc.read_schema(pa.py_buffer(head["schema"]))
    return head, states


def unpack(state: bytes) -> tuple[dict[str, Any], bytes, list[tuple[dict[str, Any], pa.RecordBatch]]]:
    parts = opened(MAGIC, state)
    head = json.loads(parts[0], object_hook=_from_json)
    with pa.ipc.open_stream(parts[2]) as reader:
        batches = list(zip(head["batches"], reader, strict=True))
    return head["options"], parts[1], batches
