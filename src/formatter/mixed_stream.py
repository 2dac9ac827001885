"""A stream whose origins are written in formats of their own, with one schema out.

In: which format an origin has; buffers as fm.Stream takes them. Out: batches, as the streams behind give them, one a format.
Refuses to know: how a buffer is parsed.
"""

from __future__ import annotations

import base64
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pyarrow as pa

from formatter.batch import Batch
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import Origin, as_arrow, checked_sequence, checked_sequences
from formatter.buffer_intake import MAX_PENDING_BYTES, MAX_RECORD_BYTES, saved_options, stream_options
from formatter.checkpoints import CheckpointError, pack_mixed, unpack_mixed
from formatter.diagnostics import rejects_table
from formatter.errors import BackpressureError, FormatError, OptionError, SchemaError, SequenceError
from formatter.filters import Filters
from formatter.forked_locks import renewed_in_children
from formatter.kernel import active_kernel
from formatter.plans import Format
from formatter.stream import Stream, StreamStats

START_BYTES = 4096  # of an origin's first buffer, that a function is shown

Formats = Mapping[Origin, Format] | Callable[..., Format]


@dataclass
class _Waiting:
    """Buffers of an origin whose format its first buffer will tell."""

    buffers: list[tuple[int, bytes]] = field(default_factory=list)  # by sequence
    bytes: int = 0


class MixedStream(Stream, mixes_formats=True):
    """What `fm.Stream` is of a dict or a function."""

    def __init__(
        self,
        format: Formats,
        *,
        columns: Sequence[str] | None = None,
        filters: Filters = None,
        on_error: str = "raise",
        ordered: bool = False,
        layout: str = "projected",
        batch: BatchPolicy | None = None,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_pending_bytes: int = MAX_PENDING_BYTES,
        on_duplicate: str = "raise",
        max_sequence: int | None = None,
        max_errors: int | float | None = None,
        rescue: str | None = None,
    ) -> None:
        self._options, _ = stream_options(
            None, filters=filters, on_error=on_error, ordered=ordered, layout=layout, batch=batch,
            max_record_bytes=max_record_bytes, max_pending_bytes=max_pending_bytes, on_duplicate=on_duplicate,
            max_sequence=max_sequence, max_errors=max_errors,
        )  # fmt: skip
        self._options["columns"] = None if columns is None else list(columns)
        self._options["rescue"] = rescue
        self._formats = format
        self._streams: list[Stream] = []  # one a format
        self._route: dict[Origin, Stream] = {}
        self._starts: dict[Origin, bytes] = {}
        self._waiting: dict[Origin, _Waiting] = {}
        self._lock = threading.Lock()
        renewed_in_children(self)
        self._looks_at_starts = callable(format) and _parameters(format) > 1
        if isinstance(format, Mapping):
            for each in format.values():
                self._stream_of(each)

    # -------------------------------------------------------------------------------------------------- properties

    @property
    def format(self) -> Any:
        """What says how the buffers of an origin are written."""
        return self._formats

    @property
    def schema(self) -> pa.Schema:
        if not self._streams:
            raise SchemaError("Stream: the schema is that of the origins' formats, and none has come yet")
        return self._streams[0].schema

    @property
    def stats(self) -> StreamStats:
        counted = [stream.stats for stream in self._streams]
        names = [f.name for f in fields(StreamStats) if f.name not in ("kernel", "values_decoded")]
        sums = {name: sum(getattr(each, name) for each in counted) for name in names}
        with self._lock:
            sums["pending_buffers"] += sum(len(waiting.buffers) for waiting in self._waiting.values())
            sums["pending_bytes"] += sum(waiting.bytes for waiting in self._waiting.values())
            sums["origins"] += len(self._waiting)
        decoded: dict[str, int] = {}
        for each in counted:
            for name, count in each.values_decoded.items():
                decoded[name] = decoded.get(name, 0) + count
        return StreamStats(kernel=active_kernel(), values_decoded=decoded, **sums)

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin = 0) -> list[Batch]:
        number = checked_sequence(sequence, origin)
        stream = self._route.get(origin)
        if stream is None and (stream := self._met(origin, number, buffer)) is None:
            return []
        return self._with_waiting(origin, lambda: stream.push(buffer, sequence=number, origin=origin))

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any = None) -> list[Batch]:
        array: Any = as_arrow(buffers)
        listed = list(buffers) if array is None else None
        count = len(array) if listed is None else len(listed)
        numbers = checked_sequences(sequences, count)
        each = _one_a_buffer(origins, count)
        batches: list[Batch] = []
        left, tried = np.ones(count, bool), np.arange(0)
        failed: FormatError | None = None  # those it was found in were taken; so are the others

        def attempt(stream: Stream, at: np.ndarray[Any, Any]) -> None:
            nonlocal batches, failed, tried
            tried = at
            some = [listed[i] for i in at] if listed is not None else array.take(pa.array(at))
            try:
                batches += stream.push_many(some, sequences=numbers[at], origins=[each[i] for i in at])
            except FormatError as error:
                failed = failed or error
            left[at] = False

        try:
            for index in range(count):  # those that their origin is met with
                if each[index] not in self._route:
                    tried = np.array([index])
                    buffer = array[index].as_buffer() if listed is None else listed[index]
                    try:
                        batches += self.push(buffer, sequence=int(numbers[index]), origin=each[index])
                    except FormatError as error:
                        failed = failed or error
                    left[index] = False
            for stream in self._streams:
                mine = [i for i in np.flatnonzero(left) if self._route[each[i]] is stream]
                if mine:
                    attempt(stream, np.array(mine))
        except (SequenceError, BackpressureError) as error:
            self._keep(batches)
            left[tried] = False
            left[tried[list(error.not_taken)]] = True
            not_taken = tuple(int(i) for i in np.flatnonzero(left))
            raise type(error)(str(error), sequence=error.sequence, origin=error.origin, not_taken=not_taken) from None
        if failed is not None:
            self._keep(batches)
            raise failed
        return batches

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        stream = self._decided(origin, bytes(memoryview(buffer)[:START_BYTES]))
        return self._with_waiting(origin, lambda: stream.append(buffer, origin=origin))

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        number = checked_sequence(sequence, origin)
        stream = self._decided(origin, b"")
        return self._with_waiting(origin, lambda: stream.lost(number, origin=origin))

    def finish(self, *, origin: Origin = 0, last_sequence: int | None = None) -> list[Batch]:
        stream = self._decided(origin, b"")
        batches = self._with_waiting(origin, list)
        if origin in self._waiting:
            self._keep(batches)
            raise BackpressureError(
                f"origin {origin!r}: finish: some of its buffers wait for room that max_pending_bytes="
                f"{self._options['max_pending_bytes']} does not leave; push what others wait for first",
                origin=origin,
            )
        return batches + stream.finish(origin=origin, last_sequence=last_sequence)

    def finish_all(self) -> list[Batch]:
        batches: list[Batch] = []
        try:
            for origin in list(self._waiting):
                batches += self.finish(origin=origin)
            for stream in self._streams:
                batches += stream.finish_all()
        except Exception:
            self._keep(batches)
            raise
        return batches

    def flush(self) -> list[Batch]:
        batches: list[Batch] = []
        for stream in self._streams:
            batches += stream.flush()
        return batches

    def rejects(self) -> pa.Table:
        return pa.concat_tables([rejects_table(()), *(stream.rejects() for stream in self._streams)])

    # -------------------------------------------------------------------------------------------------- checkpoints

    def checkpoint(self) -> bytes:
        with self._lock:
            origins = [[name, self._streams.index(stream)] for name, stream in self._route.items()]
            waiting = [[name, held.buffers] for name, held in self._waiting.items()]
            starts = [[name, base64.b64encode(start).decode()] for name, start in self._starts.items()]
        head = {"options": self._options, "origins": origins, "starts": starts, "waiting": waiting}
        return pack_mixed(head, [stream.checkpoint() for stream in self._streams])

    @classmethod
    def restore(cls, format: Any, state: bytes) -> MixedStream:
        head, states = unpack_mixed(state)
        stream = cls(format, **saved_options(head["options"]))
        stream._starts = {name: base64.b64decode(start) for name, start in head["starts"]}
        found: dict[int, Format] = {}
        for name, number in head["origins"]:
            each = stream._format_of(name, stream._starts.get(name, b""))
            if number in found and not _alike(each, found[number]):
                raise CheckpointError(
                    f"checkpoint: origin {name!r} had the format of others, here it has one of its own"
                )
            found[number] = each
        known = [each.format for each in stream._streams]
        if len(states) < len(known):
            raise CheckpointError(f"checkpoint: it was taken with {len(states)} formats, here there are {len(known)}")
        formats = [found[i] if i in found else known[i] for i in range(len(states))]
        stream._streams = [Stream.restore(each, saved) for each, saved in zip(formats, states, strict=True)]
        stream._route = {name: stream._streams[number] for name, number in head["origins"]}
        stream._waiting = {
            name: _Waiting([(number, data) for number, data in buffers], sum(len(data) for _, data in buffers))
            for name, buffers in head["waiting"]
        }
        return stream

    # ----------------------------------------------------------------------------------------------------- internals

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()

    def _keep(self, batches: list[Batch]) -> None:
        """For the next call: the one that made them raises."""
        if batches:
            with self._streams[0]._lock:
                self._streams[0]._undelivered[:0] = batches

    def _format_of(self, origin: Origin, start: bytes) -> Format:
        if isinstance(self._formats, Mapping):
            if origin not in self._formats:
                known = ", ".join(map(repr, list(self._formats)[:10]))
                raise OptionError(f"Stream: origin {origin!r} has no format; those of {known} are given")
            return self._formats[origin]
        return self._formats(origin, start) if self._looks_at_starts else self._formats(origin)

    def _stream_of(self, format: Format) -> Stream:
        for known in self._streams:
            if _alike(known.format, format):
                return known
        made = Stream(format, **saved_options(self._options))
        if self._streams and not made.schema.equals(self._streams[0].schema):
            raise SchemaError(
                f"Stream: expected formats with one schema, found {_shown(self._streams[0].schema)} and {_shown(made.schema)}"
            )
        self._streams.append(made)
        return made

    def _met(self, origin: Origin, sequence: int, buffer: Any) -> Stream | None:
        """The stream of an origin that comes for the first time; None if its format is not known yet, and this buffer waits."""
        if not self._looks_at_starts or sequence == 1:
            return self._decided(origin, bytes(memoryview(buffer)[:START_BYTES]))
        with self._lock:
            if origin in self._route:
                return self._route[origin]
            waiting = self._waiting.setdefault(origin, _Waiting())
            size = memoryview(buffer).nbytes
            if any(sequence == known for known, _ in waiting.buffers):
                if self._options["on_duplicate"] == "ignore":
                    return None
                raise SequenceError(
                    f"origin {origin!r}, sequence {sequence}: this buffer was pushed before; push each once, or set "
                    "on_duplicate='ignore' for redelivery",
                    sequence=sequence, origin=origin, not_taken=(0,),
                )  # fmt: skip
            if sum(each.bytes for each in self._waiting.values()) + size > self._options["max_pending_bytes"]:
                raise BackpressureError(
                    f"origin {origin!r}, sequence {sequence}: its first buffer tells its format and has not come, and as "
                    f"much waits as max_pending_bytes={self._options['max_pending_bytes']} allows; push that one first",
                    sequence=sequence, origin=origin, not_taken=(0,),
                )  # fmt: skip
            waiting.buffers.append((sequence, bytes(buffer)))
            waiting.bytes += size
        return None

    def _decided(self, origin: Origin, start: bytes) -> Stream:
        """The origin's stream, now that it has a format in any case."""
        with self._lock:
            if origin not in self._route:
                stream = self._stream_of(self._format_of(origin, start))
                if self._looks_at_starts:
                    self._starts[origin] = start
                self._route[origin] = stream
            return self._route[origin]

    def _with_waiting(self, origin: Origin, call: Callable[[], list[Batch]]) -> list[Batch]:
        """What `call` gives, and then the origin's buffers that waited for its format."""
        batches = call()
        if not self._waiting:
            return batches
        with self._lock:
            held = self._waiting.pop(origin, _Waiting())
        failed: Exception | None = None
        refused = _Waiting()
        for sequence, data in sorted(held.buffers):
            try:
                batches += self._route[origin].push(data, sequence=sequence, origin=origin)
            except BackpressureError:
                refused.buffers.append((sequence, data))
                refused.bytes += len(data)
            except FormatError as error:
                failed = failed or error
        if refused.buffers:
            with self._lock:
                self._waiting[origin] = refused
        if failed is not None:
            self._keep(batches)
            raise failed
        return batches


def _parameters(function: Any) -> int:
    try:
        taken = inspect.signature(function).parameters.values()
    except ValueError:  # compiled, without a signature
        return 1
    return len([one for one in taken if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)])


def _alike(one: Format, other: Format) -> bool:
    return one is other or (
        type(one) is type(other) and one == other and one.schema.equals(other.schema, check_metadata=True)
    )


def _one_a_buffer(origins: Any, count: int) -> list[Origin]:
    if origins is None or isinstance(origins, int | str):
        return [0 if origins is None else origins] * count
    each = origins.to_pylist() if hasattr(origins, "to_pylist") else list(origins)
    if len(each) != count:
        raise OptionError(f"push_many: expected {count} origins, one a buffer, found {len(each)}")
    return [origin if isinstance(origin, str) else int(origin) for origin in each]


def _shown(schema: pa.Schema) -> str:
    return ", ".join(f"{one.name}: {one.type}" for one in schema)
