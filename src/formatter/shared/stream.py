"""The front door for many consumers of one stream: subscriptions come and go while buffers are pushed.

In: buffers, as for fm.Stream, and subscriptions. Out: batches, put into each subscription's queue, and returned.

What is decoded is the union of what the subscriptions need. It changes under one lock (`_control`) and in the engine,
whose answer is the acknowledgement: batches carry the projection they were decoded under, and go to the consumers that
projection was made for. So a consumer can receive no batch that lacks one of its columns, and nobody polls.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.batch import Batch
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import Origin, checked_sequence
from formatter.buffer_intake import (
    MAX_PENDING_BYTES,
    MAX_RECORD_BYTES,
    BufferIntake,
    engine_options,
    stream_options,
    unpacked,
)
from formatter.errors import FlowError, OptionError, SchemaError, SequenceError
from formatter.filters import Filters
from formatter.foreign_code import raise_kept
from formatter.forked_locks import renewed_in_children
from formatter.formats.csv import in_stream
from formatter.plans import Format, with_rescue
from formatter.shared.broken_off import fail_all, left_to_parent, tells_consumers
from formatter.shared.consumer import LOOK_AROUND_S, OVERFLOW, Consumer, abandoned
from formatter.shared.delivery import Delivery
from formatter.shared.explain import explained
from formatter.shared.needs import ALL, Needs, _All, in_order, needs_of, paths
from formatter.shared.projection import Decodes, Projection
from formatter.shared.row_filters import RowFilter, row_filter
from formatter.shared.stats import SharedStreamStats
from formatter.shared.subscription import Subscription

QUEUE = 64
IDLE = ("discard", "error")
LEAST_WAIT_S = 0.001
PATIENCE_S = 1.0  # who leaves waits no longer for a call that brought so much that it still runs


@tells_consumers("push push_many append lost flush finish finish_all subscribe checkpoint _leave _next")
class SharedStream:
    """An fm.Stream whose batches go to subscriptions: one decode of the union of their columns, changing while data flows.

    Batches have the full schema; columns nobody asked for are null. Every method may be called from any thread.

    Args:
        format: As for `fm.Stream`.
        filters: As for `fm.Stream`; they hold for every subscription.
        on_error: As for `fm.Stream`.
        ordered: As for `fm.Stream`.
        batch: As for `fm.Stream`.
        max_record_bytes: As for `fm.Stream`.
        max_pending_bytes: As for `fm.Stream`.
        on_duplicate: As for `fm.Stream`.
        max_sequence: As for `fm.Stream`.
        max_errors: As for `fm.Stream`.
        idle: While nobody is subscribed, buffers are counted and passed over ("discard"), or refused ("error").
        columns: Each subscription names its own.
        layout: Always "positional".
        rescue: As for `fm.read`. Who subscribes to this column has every other one parsed: what is rescued is of them all.

    Raises:
        OptionError: An option is out of its range.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> shared = fm.SharedStream(fm.Csv(pa.schema([("id", pa.int64()), ("city", pa.string())])))
        >>> cities = shared.subscribe(["city"])
        >>> _ = shared.push(b"1,Oslo\\n", sequence=1), shared.finish()
        >>> [batch.column("city").to_pylist() for batch in cities], shared.stats.values_decoded
        ([['Oslo']], {'id': 0, 'city': 1})
    """

    def __init__(
        self,
        format: Format,
        *,
        filters: Filters = None,
        on_error: str = "raise",
        ordered: bool = False,
        batch: BatchPolicy | None = None,
        max_record_bytes: int = MAX_RECORD_BYTES,
        max_pending_bytes: int = MAX_PENDING_BYTES,
        on_duplicate: str = "raise",
        max_sequence: int | None = None,
        max_errors: int | float | None = None,
        idle: str = "discard",
        columns: None = None,
        layout: str = "positional",
        rescue: str | None = None,
    ) -> None:
        if idle not in IDLE:
            raise OptionError(f"SharedStream: idle: expected 'discard' or 'error', found {idle!r}")
        if columns is not None:
            raise OptionError("SharedStream: columns: each subscription names its own; write subscribe(columns=[...])")
        if layout != "positional":
            raise OptionError(f"SharedStream: layout: expected 'positional', the full schema, found {layout!r}")
        self._idle = idle
        self._control = threading.Lock()  # who is subscribed, and what is decoded for them
        self._live: dict[str, Consumer] = {}
        self._orphans: deque[Consumer] = deque()  # whose leases were lost, or that failed
        self._names_given, self._finished = 0, False
        self._cut = (0, 0, False)  # the last change: plan, batches that had left, whether calls decode by older plans
        self._barred = idle == "error"  # whether pushes are refused
        self._discarded_buffers = self._discarded_bytes = 0  # before the projection in force
        self._idle_since = (0, 0)  # buffers and bytes before it
        self._clock = threading.Lock()  # held by the waiting consumer that looks after deadlines
        options, policy = stream_options(
            format := with_rescue(format, rescue), filters=filters, on_error=on_error, ordered=ordered, layout=layout,
            batch=batch, max_record_bytes=max_record_bytes, max_pending_bytes=max_pending_bytes, on_duplicate=on_duplicate,
            max_sequence=max_sequence, max_errors=max_errors,
        )  # fmt: skip
        del options["layout"]
        options["idle"] = idle
        self._decodes = Decodes(in_stream(format, max_record_bytes), options["filters"], on_error)
        self._projection = Projection(0, {}, (), self._decodes.nothing)
        self._latency_s = None if policy.max_latency_ms is None else max(policy.max_latency_ms / 1e3, LEAST_WAIT_S)
        names = tuple(format.schema.names)
        self._engine = _core.EngineStream(
            self._decodes.nothing.plan.engine, **engine_options(options, policy), names=names, marker=self._projection
        )
        self._intake = BufferIntake(format, options, self._engine, names)
        self._id = self._intake.id_of
        self._delivery = Delivery(ordered, self._intake.origin_of, self._orphans.append, self._engine.close)
        renewed_in_children(self)

    @property
    def format(self) -> Format:
        """How the buffers are written."""
        return self._intake.format

    # ------------------------------------------------------------------------------------------------ subscriptions

    def subscribe(
        self,
        columns: Sequence[str] | _All = ALL,
        *,
        name: str | None = None,
        queue: int = QUEUE,
        overflow: str = "wait",
        filters: Filters = None,
    ) -> Subscription:
        """A lease on these columns. On return they are decoded: of every buffer pushed from now on.

        Args:
            columns: Names, and paths into nested columns. `fm.ALL`: every column.
            name: What it is called in plans and errors. None: a number is given.
            queue: Batches that may wait for it.
            overflow: When they do: calls that bring more "wait", or the batch is dropped and counted ("drop"), or the
                subscription fails ("fail").
            filters: Only rows that pass, as for `fm.Stream`.

        Returns:
            A `fm.Subscription`: iterate it, close it.

        Raises:
            FlowError: The stream has ended, or the name is taken.
            OptionError: An option is out of its range.
            SchemaError: A column that the schema does not have.
        """
        format = self.format
        needs = needs_of(columns, format)
        required = paths(needs, format.schema)
        rows = row_filter(filters, format.schema)
        needs = in_order([needs, dict.fromkeys(rows.columns)], format.schema)
        if isinstance(queue, bool) or not isinstance(queue, int) or queue < 1:
            raise OptionError(f"subscribe: queue: expected a whole number of batches from 1, found {queue!r}")
        if overflow not in OVERFLOW:
            raise OptionError(f"subscribe: overflow: expected one of {', '.join(OVERFLOW)}, found {overflow!r}")
        if name is not None and (not isinstance(name, str) or not name):
            raise OptionError(f"subscribe: name: expected a str that is not empty, found {name!r}")
        self._reap()
        consumer = self._admitted(name, needs, required, rows, queue, overflow)
        return Subscription(self, consumer)

    def _admitted(
        self, name: str | None, needs: Needs, required: tuple[str, ...], rows: RowFilter, queue: int, overflow: str
    ) -> Consumer:
        with self._control:
            if self._finished:
                raise FlowError("subscribe: the stream has ended: every origin was finished; make a new SharedStream")
            while name is None:
                self._names_given += 1
                free = f"consumer-{self._names_given}"
                name = None if free in self._live else free
            if name in self._live:
                raise FlowError(
                    f"subscribe: the name {name!r} belongs to a live subscription; close that one or choose another name"
                )
            consumer = Consumer(name, needs, required, rows, queue, overflow)
            flushed = self._replan([*self._live.values(), consumer], consumer)
            self._live[name] = consumer
        self._hand_out(flushed)
        return consumer

    def _leave(self, consumer: Consumer) -> None:
        """What was pushed before is delivered first: open batches, and those that other calls are about to hand out."""
        if consumer.closed:
            return
        with self._control:
            flushed = self._forget([consumer])
            cut = self._cut
        self._hand_out(flushed)
        self._await_rows_before(*cut)
        consumer.close()

    def _await_rows_before(self, plan: int, batches: int, parsing: bool) -> None:
        """Calls that decoded before a cut have put what they decoded into the queues, unless they take too long."""
        if parsing:
            batches = self._engine.await_older(plan, PATIENCE_S)
        if self._delivery.done < batches:
            self._delivery.wait(batches, PATIENCE_S)

    def _reap(self) -> None:
        """Leases that were lost and consumers that failed are gone from here on."""
        if not self._orphans:
            return
        with self._control:
            gone = self._orphaned()
            flushed = self._forget(gone)
        for consumer in gone:
            consumer.close()
        self._hand_out(flushed)

    def _orphaned(self) -> list[Consumer]:
        gone: list[Consumer] = []
        while self._orphans:
            try:
                gone.append(self._orphans.popleft())
            except IndexError:  # another thread was quicker
                break
        return gone

    def _forget(self, consumers: list[Consumer]) -> list[Any]:
        gone = [consumer for consumer in consumers if self._live.get(consumer.name) is consumer]
        for consumer in gone:
            del self._live[consumer.name]
        return self._replan(list(self._live.values()), None) if gone else []

    # ----------------------------------------------------------------------------------------------- the projection

    def _replan(self, consumers: list[Consumer], asking: Consumer | None) -> list[Any]:
        """The projection for these consumers, applied. Under the control lock; returns batches to hand out behind it."""
        before = self._projection
        needs = self._decodes.union(consumers)
        version = before.version + (needs != before.needs)
        decode = self._decodes.of(needs) if consumers else self._decodes.nothing
        if asking is not None:
            asking.version = version
        applied = Projection(version, needs, consumers, decode)
        change = (decode.plan.engine, decode.schema_indices, applied)
        plan, result, counts, missing = self._engine.replan(*change, False)
        if not plan:
            # Somebody's column is not in an origin's header. Others have been told by an error; who asks is told here.
            lacking = [name for name in missing if asking is not None and name in asking.needs]
            if lacking:
                raise SchemaError(
                    f"subscribe: the header of an origin that is being read has no column {lacking[0]!r}; leave it out"
                )
            plan, result, counts, _ = self._engine.replan(*change, True)
        buffers, size, batches, parsing = counts
        self._cut = (plan, batches, parsing)
        if before.idle:
            self._discarded_buffers += buffers - self._idle_since[0]
            self._discarded_bytes += size - self._idle_since[1]
        self._idle_since = (buffers, size)
        self._projection = applied
        self._barred = self._finished or (applied.idle and self._idle == "error")
        return list(result[3])

    @property
    def projection_version(self) -> int:
        """Grows by one with every change of the union."""
        self._reap()
        return self._projection.version

    @property
    def decoding_columns(self) -> tuple[str, ...]:
        """What is really decoded now, in the schema's order; parts of nested columns as paths."""
        self._reap()
        return self._projection.decode.names

    @property
    def subscriptions(self) -> tuple[str, ...]:
        """The names of the live ones."""
        self._reap()
        return tuple(self._live)

    @property
    def views(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each subscription's name and the columns it asked for."""
        self._reap()
        return tuple((consumer.name, consumer.required) for consumer in tuple(self._live.values()))

    @property
    def schema(self) -> pa.Schema:
        """Of the batches decoded from now on: every column; those not decoded are nullable."""
        return self._projection.decode.layout.schema

    def explain(self) -> str:
        """Who needs what, what is decoded for them, how far behind they are."""
        self._reap()
        with self._control:
            return explained(self.format, self._projection, tuple(self._live.values()), self._idle)

    def _view(self, consumer: Consumer) -> pa.Schema:
        schema = self.format.schema
        names = [name for name in schema.names if name in needs_of(consumer.required, self.format)]
        return pa.schema([schema.field(name) for name in names], metadata=schema.metadata)

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin = 0) -> list[Batch]:
        """As `fm.Stream.push`. Batches go to the subscriptions; those of this call are returned too."""
        if self._barred or self._orphans:
            self._admit()
        number = checked_sequence(sequence, origin)
        return self._settle(self._engine.push(buffer, self._id(origin), number), origin, number)

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any = None) -> list[Batch]:
        """As `fm.Stream.push_many`. Batches go to the subscriptions; those of this call are returned too."""
        self._admit()
        return self._settle(*self._intake.push_many(buffers, sequences, origins))

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        """As `fm.Stream.append`. Batches go to the subscriptions; those of this call are returned too."""
        self._admit()
        return self._settle(*self._intake.append(buffer, origin))

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        """As `fm.Stream.lost`. Batches go to the subscriptions; those of this call are returned too."""
        self._reap()
        if self._finished:
            self._admit()
        return self._settle(*self._intake.lost(sequence, origin))

    def flush(self) -> list[Batch]:
        """Open batches, whatever the policy says."""
        self._reap()
        return self._settle(self._engine.flush(True), 0, 0)

    def finish(self, *, origin: Origin = 0, last_sequence: int | None = None) -> list[Batch]:
        """As `fm.Stream.finish`. With the last open origin the stream ends, and subscriptions that have read all do too."""
        self._reap()
        try:
            return self._settle(*self._intake.finish(origin, last_sequence))
        finally:
            self._end_if_finished()

    def finish_all(self) -> list[Batch]:
        """finish() for every origin that is still open; the stream ends."""
        self._reap()
        batches: list[Batch] = []
        try:
            for origin_id in self._engine.open_origins():
                batches += self._settle(self._engine.finish(origin_id, None), self._intake.origin_of(origin_id), 0)
        finally:
            self._end_if_finished()
        return batches

    def fail(self, error: BaseException) -> None:
        """The source broke off: subscriptions read what there is, and then raise FlowError from `error`."""
        with self._control:
            self._finished = self._barred = True
            gone = list(self._live.values())
            flushed = self._forget(gone)
            cut = self._cut
        self._hand_out(flushed)
        self._await_rows_before(*cut)
        fail_all(gone, error)

    def _renew_locks(self) -> None:
        left_to_parent(self)

    def _admit(self) -> None:
        self._reap()
        if self._finished:
            raise SequenceError("push: the stream has ended: every origin was finished; make a new SharedStream")
        if self._barred:
            raise FlowError("push: nobody is subscribed; subscribe first, or set idle='discard' to count and pass over")

    def _end_if_finished(self) -> None:
        left, open_origins = self._engine.progress()
        if open_origins:
            return
        with self._control:
            self._finished = self._barred = True  # from here on nobody can subscribe any more
        self._delivery.end_at(left, lambda: tuple(self._live.values()))
        if (raised := self._intake.ended(6)) is not None:
            raise raised

    # ----------------------------------------------------------------------------------------------------- delivery

    def _settle(self, result: Any, origin: Origin, sequence: int) -> list[Batch]:
        status, _, _, finished, _, _, counts = result
        raise_kept()
        if not finished and not counts and status == "ok":
            return []
        batches, full = self._delivery.deliver(finished)
        if (raised := self._intake.error_of(result, origin, sequence)) is not None:
            raise raised
        for consumer in full:
            if not consumer.wait_for_room():
                consumer.close(abandoned(consumer.name))
                self._orphans.append(consumer)
        self._reap()
        return batches

    def _hand_out(self, finished: list[Any]) -> None:
        """Batches that left without a push: whoever caused it waits for nobody."""
        if finished:
            self._delivery.deliver(finished)

    def _next(self, consumer: Consumer, timeout: float | None) -> Any:
        """For a subscription: its next batch, END, or None in time. Open batches whose deadline passes leave meanwhile."""
        batch = consumer.take(0)
        if batch is not None or timeout == 0:
            return batch
        if self._latency_s is None:
            while True:
                batch = consumer.take(timeout)
                if batch is not None or timeout is not None:
                    return batch
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            keeps_time = self._clock.acquire(blocking=False)  # one of those that wait is enough
            step = self._latency_s if keeps_time else max(self._latency_s, LOOK_AROUND_S)
            if deadline is not None:
                step = min(step, deadline - time.monotonic())
            try:
                batch = consumer.take(max(step, 0))
                if batch is not None or step <= 0:
                    return batch
                if keeps_time:
                    self._hand_out(self._engine.flush(False)[3])
            finally:
                if keeps_time:
                    self._clock.release()

    # ------------------------------------------------------------------------------------------- stats, checkpoints

    @property
    def stats(self) -> SharedStreamStats:
        """Counts since the start."""
        self._reap()
        with self._control:
            if self._projection.idle:
                self._hand_out(self._engine.flush(True)[3])  # rows nobody waits for, counted
            counts = self._engine.counts()
            live = tuple(self._live.values())
            buffers, size = self._discarded_buffers, self._discarded_bytes
            if self._projection.idle:
                buffers += counts["buffers"] - self._idle_since[0]
                size += counts["bytes"] - self._idle_since[1]
            version = self._projection.version
        return SharedStreamStats(
            kernel=_core.active_kernel(), **counts, consumers=len(live), projection_version=version,
            discarded_buffers=buffers, discarded_bytes=size, discarded_rows=self._delivery.discarded_rows,
            dropped_batches=sum(c.dropped for c in live), dropped_rows=sum(c.dropped_rows for c in live),
        )  # fmt: skip

    def rejects(self) -> pa.Table:
        """As `fm.Stream.rejects`: records rejected since the last call."""
        return self._intake.drained_rejects()

    def checkpoint(self) -> bytes:
        """Everything needed to go on. Rows decoded before are handed out now: what is in the queues counts as delivered.

        Subscriptions are not part of it; who restores subscribes again before pushing.
        """
        self._reap()
        native, result = self._engine.checkpoint()
        self._hand_out(result[3])
        return self._intake.packed(native, [], self.schema)

    @classmethod
    def restore(cls, format: Format, state: bytes) -> SharedStream:
        """As `fm.Stream.restore`: a stream that goes on where `state` was taken, with nobody subscribed yet."""
        saved = unpacked(format, state)
        shared = cls(saved.format, **saved.options)
        shared._intake.resume(saved)
        counts = shared._engine.counts()
        shared._idle_since = (counts["buffers"], counts["bytes"])
        shared._finished = counts["origins"] > 0 and shared._engine.progress()[1] == 0
        shared._barred |= shared._finished
        return shared
