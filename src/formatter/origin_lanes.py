"""Buffers of origins that have formats of their own, each on its way to the lane of its format.

In: which format an origin has; buffers as streams take them. Out: what the lanes give, one a format. Refuses to know: what a lane
does with a buffer, who made it.
"""

from __future__ import annotations

import base64
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

from formatter.batch import Batch
from formatter.buffer_arguments import (
    MOST_AHEAD,
    Origin,
    as_arrow,
    checked_origin,
    checked_origins,
    checked_sequence,
    checked_sequences,
    refusal,
)
from formatter.checkpoints import CheckpointError, pack_mixed
from formatter.diagnostics import rejects_table
from formatter.errors import BackpressureError, FormatError, OptionError, SequenceError
from formatter.forked_locks import renewed_in_children
from formatter.plans import Format

START_BYTES = 4096  # of an origin's first buffer, that a function is shown

Formats = Mapping[Origin, Format] | Callable[..., Format]


class Lane(Protocol):
    """What takes the buffers of one format's origins."""

    def push(self, buffer: Any, *, sequence: int, origin: Origin) -> list[Batch]: ...
    def push_many(self, buffers: Any, *, sequences: Any, origins: Any) -> list[Batch]: ...
    def append(self, buffer: Any, *, origin: Origin) -> list[Batch]: ...
    def lost(self, sequence: int, *, origin: Origin) -> list[Batch]: ...
    def flush(self) -> list[Batch]: ...
    def finish(self, *, origin: Origin, last_sequence: int | None) -> list[Batch]: ...
    def finish_all(self) -> list[Batch]: ...
    def rejects(self) -> pa.Table: ...
    def checkpoint(self) -> bytes: ...
    def _owe(self, error: BaseException) -> None: ...
    def _resume(self, state: bytes) -> None: ...


AnyLane = TypeVar("AnyLane", bound=Lane)


@dataclass
class Waiting:
    """Buffers of an origin whose format its first buffer will tell."""

    buffers: list[tuple[int, bytes | None]] = field(default_factory=list)  # by sequence; None: it is lost
    bytes: int = 0


class OriginLanes(Generic[AnyLane]):
    """`options`: of a stream, as its checkpoint keeps them. `make`: a lane for a format. `keep`: is given the batches of calls that
    raise; a lane may have seen to its own."""

    def __init__(
        self,
        formats: Formats,
        options: dict[str, Any],
        make: Callable[[Format], AnyLane],
        keep: Callable[[list[Batch]], None] = lambda batches: None,
    ) -> None:
        self.formats = formats
        self.lanes: list[AnyLane] = []  # one a format
        self._given: list[Format] = []  # that of each, as it was given
        self._options = options
        self._make = make
        self._keep = keep
        self._route: dict[Origin, AnyLane] = {}
        self._starts: dict[Origin, bytes] = {}
        self._waiting: dict[Origin, Waiting] = {}
        self._duplicates = 0  # of buffers that waited
        self._lock = threading.Lock()
        renewed_in_children(self)
        self._looks_at_starts = callable(formats) and _parameters(formats) > 1
        if isinstance(formats, Mapping):
            if not formats:
                raise OptionError("format: expected formats by origin, found none")
            for each in formats.values():
                self._lane_of(each)

    def waiting_counts(self) -> dict[str, int]:
        """Of what no lane has seen yet, by the names that streams count it under."""
        with self._lock:
            held = list(self._waiting.values())
        return {
            "duplicates": self._duplicates,
            "pending_buffers": sum(len(each.buffers) for each in held),
            "pending_bytes": sum(each.bytes for each in held),
            "origins": len(held),
        }

    def lane_of(self, origin: Origin) -> AnyLane:
        """Of one whose batches have left."""
        return self._route[origin]

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin = 0) -> list[Batch]:
        origin, number = checked_origin(origin), checked_sequence(sequence, origin)
        lane = self._route.get(origin)
        if lane is None:
            if number != 1 and self._is_undecided(origin):
                self._wait(origin, number, memoryview(buffer).tobytes())
                return self._released(origin)
            lane = self._decided(origin, _start_of(buffer))
        return self._with_waiting(origin, lambda: lane.push(buffer, sequence=number, origin=origin))

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any = None) -> list[Batch]:
        array: Any = as_arrow(buffers)
        listed = list(buffers) if array is None else None
        count = len(array) if listed is None else len(listed)
        numbers = checked_sequences(sequences, count)
        each = checked_origins(origins, count)
        batches: list[Batch] = []
        left, tried = np.ones(count, bool), np.arange(0)
        failed: FormatError | None = None  # those it was found in were taken; so are the others

        def attempt(lane: AnyLane, at: np.ndarray[Any, Any]) -> None:
            nonlocal batches, failed, tried
            tried = at
            some = [listed[i] for i in at] if listed is not None else array.take(pa.array(at))
            try:
                batches += lane.push_many(some, sequences=numbers[at], origins=[each[i] for i in at])
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
            for lane in self.lanes:
                mine = [i for i in np.flatnonzero(left) if self._route[each[i]] is lane]
                if mine:
                    attempt(lane, np.array(mine))
        except (SequenceError, BackpressureError) as error:
            self._keep(batches)
            if failed is not None:
                self.lanes[0]._owe(failed)
            left[tried] = False
            left[tried[list(error.not_taken)]] = True
            not_taken = tuple(int(i) for i in np.flatnonzero(left))
            raise type(error)(str(error), sequence=error.sequence, origin=error.origin, not_taken=not_taken) from None
        if failed is not None:
            self._keep(batches)
            raise failed
        return batches

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        origin = checked_origin(origin)
        with self._lock:
            waiting = self._waiting.get(origin)
            behind = 1 + max(number for number, _ in waiting.buffers) if waiting else 0
        if behind:
            return self.push(buffer, sequence=behind, origin=origin)
        lane = self._decided(origin, _start_of(buffer))
        return self._with_waiting(origin, lambda: lane.append(buffer, origin=origin))

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        origin, number = checked_origin(origin), checked_sequence(sequence, origin)
        if number != 1 and self._is_undecided(origin):
            self._wait(origin, number, None)
            return self._released(origin)
        lane = self._decided(origin, b"")
        return self._with_waiting(origin, lambda: lane.lost(number, origin=origin))

    def finish(self, *, origin: Origin = 0, last_sequence: int | None = None) -> list[Batch]:
        origin = checked_origin(origin)
        if last_sequence is not None and last_sequence != 0:
            last_sequence = checked_sequence(last_sequence, origin)
        if self._is_undecided(origin):
            with self._lock:
                waiting = [number for number, _ in self._waiting.get(origin, Waiting()).buffers]
            before = min(waiting) - 1 if waiting else last_sequence
            if before:
                raise refusal("hole", origin, 0, [(1, before)], self._options, ())
        lane = self._decided(origin, b"")
        batches = self._with_waiting(origin, list)
        if origin in self._waiting:
            self._keep(batches)
            raise BackpressureError(
                f"origin {origin!r}: finish: some of its buffers wait for room that max_pending_bytes="
                f"{self._options['max_pending_bytes']} does not leave; push what others wait for first",
                origin=origin,
            )
        return batches + lane.finish(origin=origin, last_sequence=last_sequence)

    def finish_all(self) -> list[Batch]:
        batches: list[Batch] = []
        try:
            for origin in list(self._waiting):
                batches += self.finish(origin=origin)
            for lane in self.lanes:
                batches += lane.finish_all()
        except Exception:
            self._keep(batches)
            raise
        return batches

    def flush(self) -> list[Batch]:
        batches: list[Batch] = []
        for lane in self.lanes:
            batches += lane.flush()
        return batches

    def rejects(self) -> pa.Table:
        return pa.concat_tables([rejects_table(()), *(lane.rejects() for lane in self.lanes)])

    # -------------------------------------------------------------------------------------------------- checkpoints

    def checkpoint(self, about: dict[str, Any]) -> bytes:
        """`about`: what whoever restores is to know first."""
        with self._lock:
            origins = [[name, self.lanes.index(lane)] for name, lane in self._route.items()]
            waiting = [[name, held.buffers] for name, held in self._waiting.items()]
            starts = [[name, base64.b64encode(start).decode()] for name, start in self._starts.items()]
            kept = {"origins": origins, "starts": starts, "waiting": waiting, "duplicates": self._duplicates}
        head = {**about, "options": self._options, **kept}
        return pack_mixed(head, [lane.checkpoint() for lane in self.lanes])

    def resume(self, head: dict[str, Any], states: list[bytes]) -> None:
        """In lanes just made, what `checkpoint()` told of others; each origin must have the format of then."""
        self._starts = {name: base64.b64decode(start) for name, start in head["starts"]}
        if len(states) < len(self.lanes):
            raise CheckpointError(
                f"checkpoint: it was taken with {len(states)} formats, here there are {len(self.lanes)}"
            )
        found: dict[int, Format] = dict(enumerate(self._given))
        told: set[int] = set()
        for name, number in head["origins"]:
            format = self._format_of(name, self._starts.get(name, b""))
            if number in told and not _alike(format, found[number]):
                raise CheckpointError(
                    f"checkpoint: origin {name!r} had the format of others, here it has one of its own"
                )
            found[number] = format
            told.add(number)
        lanes = [self._lane_of(found[number]) for number in range(len(states))]
        if len({id(lane) for lane in lanes}) < len(lanes):
            raise CheckpointError("checkpoint: some of its formats differed, which are the same here")
        for lane, state in zip(lanes, states, strict=True):
            lane._resume(state)
        self._duplicates = head.get("duplicates", 0)
        self._route = {name: lanes[number] for name, number in head["origins"]}
        self._waiting = {
            name: Waiting([(number, data) for number, data in buffers], sum(len(data or b"") for _, data in buffers))
            for name, buffers in head["waiting"]
        }

    # ----------------------------------------------------------------------------------------------------- internals

    def _renew_locks(self) -> None:
        self._lock = threading.Lock()

    def _format_of(self, origin: Origin, start: bytes) -> Format:
        if isinstance(self.formats, Mapping):
            if origin not in self.formats:
                known = ", ".join(map(repr, list(self.formats)[:10]))
                raise OptionError(f"Stream: origin {origin!r} has no format; those of {known} are given")
            return self.formats[origin]
        return self.formats(origin, start) if self._looks_at_starts else self.formats(origin)

    def _lane_of(self, format: Format) -> AnyLane:
        for known, lane in zip(self._given, self.lanes, strict=True):
            if _alike(known, format):
                return lane
        made = self._make(format)
        self._given.append(format)
        self.lanes.append(made)
        return made

    def _is_undecided(self, origin: Origin) -> bool:
        """Nobody knows its format before its first buffer comes."""
        return self._looks_at_starts and origin not in self._route

    def _wait(self, origin: Origin, sequence: int, data: bytes | None) -> None:
        """`data` None: it is lost."""
        limit = self._options["max_pending_bytes"]
        if sequence > (self._options["max_sequence"] or MOST_AHEAD):
            raise refusal("out_of_range", origin, sequence, [], self._options, (0,))
        with self._lock:
            waiting = self._waiting.setdefault(origin, Waiting())
            size = len(data or b"")
            if any(sequence == known for known, _ in waiting.buffers):
                if self._options["on_duplicate"] != "ignore":
                    raise refusal("duplicate", origin, sequence, [], self._options, (0,))
                self._duplicates += 1
            elif sum(each.bytes for each in self._waiting.values()) + size > limit:
                if not waiting.buffers:
                    del self._waiting[origin]
                raise BackpressureError(
                    f"origin {origin!r}, sequence {sequence}: its first buffer tells its format and has not come, and as "
                    f"much waits as max_pending_bytes={limit} allows; push that one first",
                    sequence=sequence, origin=origin, not_taken=(0,),
                )  # fmt: skip
            else:
                waiting.buffers.append((sequence, data))
                waiting.bytes += size

    def _released(self, origin: Origin) -> list[Batch]:
        """If the first buffer came meanwhile, by another thread: what waits may go."""
        return self._with_waiting(origin, list) if origin in self._route else []

    def _decided(self, origin: Origin, start: bytes) -> AnyLane:
        """The origin's lane, now that it has a format in any case."""
        with self._lock:
            if origin not in self._route:
                lane = self._lane_of(self._format_of(origin, start))
                if self._looks_at_starts:
                    self._starts[origin] = start
                self._route[origin] = lane
            return self._route[origin]

    def _with_waiting(self, origin: Origin, call: Callable[[], list[Batch]]) -> list[Batch]:
        """What `call` gives, and then the origin's buffers that waited for its format."""
        batches = call()
        if not self._waiting:
            return batches
        with self._lock:
            held = self._waiting.pop(origin, Waiting())
        failed: Exception | None = None
        refused = Waiting()
        for sequence, data in sorted(held.buffers, key=lambda one: one[0]):
            try:
                lane = self._route[origin]
                if data is None:
                    batches += lane.lost(sequence, origin=origin)
                else:
                    batches += lane.push(data, sequence=sequence, origin=origin)
            except BackpressureError:
                refused.buffers.append((sequence, data))
                refused.bytes += len(data or b"")
            except FormatError as error:
                failed = failed or error
            except SequenceError as error:  # not the caller's: that one was taken
                failed = failed or SequenceError(str(error), sequence=error.sequence, origin=error.origin)
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


def _start_of(buffer: Any) -> bytes:
    view = memoryview(buffer)
    return bytes(view[:START_BYTES]) if view.format == "B" and view.ndim == 1 else view.tobytes()[:START_BYTES]


def shown(schema: pa.Schema) -> str:
    return ", ".join(f"{one.name}: {one.type}" for one in schema)
