"""The front door for many consumers of one stream: subscriptions come and go while buffers are pushed.

In: buffers, as for fm.Stream, and subscriptions. Out: batches, put into each subscription's queue, and returned.

Each format has a lane (lane.py); where origins have formats of their own, buffers are routed to theirs (origin_lanes.py).
What is decoded is the union of what the subscriptions need. It changes under one lock (`_control`) and in the lanes' engines,
whose answer is the acknowledgement: batches carry the projection they were decoded under, and go to the consumers that
projection was made for. So a consumer can receive no batch that lacks one of its columns, and nobody polls.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.batch import Batch, NullColumns
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import Origin
from formatter.buffer_intake import MAX_PENDING_BYTES, MAX_RECORD_BYTES, saved_options, stream_options, unpacked
from formatter.checkpoints import unpack_mixed
from formatter.errors import FlowError, OptionError, SchemaError, SequenceError
from formatter.filters import Filters
from formatter.forked_locks import renewed_in_children
from formatter.formats.csv import check_byte_order, check_streamable
from formatter.mistaken_arguments import named_options
from formatter.origin_lanes import OriginLanes, shown
from formatter.plans import Format, are_several, check_format, gives_formats, with_rescue
from formatter.shared.broken_off import fail_all, left_to_parent, tells_consumers
from formatter.shared.consumer import Consumer, check_queue
from formatter.shared.deadlines import Deadlines
from formatter.shared.explain import explained
from formatter.shared.lane import Flushed, Lane, hand_out
from formatter.shared.layout import Layout
from formatter.shared.needs import ALL, Needs, _All, in_order, needs_of, paths
from formatter.shared.projection import Demand
from formatter.shared.row_filters import RowFilter, row_filter
from formatter.shared.stats import SharedStreamStats
from formatter.shared.subscription import Subscription
from formatter.stream import Stream, summed_counts
from formatter.uncopied import Uncopied
from formatter.weak_methods import weakly

QUEUE = 64
IDLE = ("discard", "error")


@tells_consumers("push push_many append lost flush finish finish_all subscribe checkpoint _leave _next")
@named_options
class SharedStream(Uncopied):
    """An fm.Stream whose batches go to subscriptions: one decode of the union of their columns, changing while data flows.

    Batches have the full schema; columns nobody asked for are null. Every method may be called from any thread.

    Args:
        format: As for `fm.Stream`; of several formats, too.
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
        schema: Of the formats that a function gives, so that there may be subscriptions before the first buffer.

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

    _instead = Stream._instead

    def __init__(
        self,
        format: Any,
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
        schema: pa.Schema | None = None,
    ) -> None:
        if idle not in IDLE:
            raise OptionError(f"SharedStream: idle: expected 'discard' or 'error', found {idle!r}")
        if columns is not None:
            raise OptionError("SharedStream: columns: each subscription names its own; write subscribe(columns=[...])")
        if layout != "positional":
            raise OptionError(f"SharedStream: layout: expected 'positional', the full schema, found {layout!r}")
        if schema is not None and not gives_formats(format):
            raise OptionError(
                "SharedStream: schema: a function's formats have it; what you gave has a schema of its own"
            )
        self._idle = idle
        self._control = threading.Lock()  # who is subscribed, and what is decoded for them
        self._live: dict[str, Consumer] = {}
        self._orphans: deque[Consumer] = deque()  # whose leases were lost, or that failed
        self._names_given, self._finished = 0, False
        self._barred = idle == "error"  # whether pushes are refused
        self._rescue = rescue
        self._options, self._policy = stream_options(
            filters=filters, on_error=on_error, ordered=ordered, layout=layout, batch=batch,
            max_record_bytes=max_record_bytes, max_pending_bytes=max_pending_bytes, on_duplicate=on_duplicate,
            max_sequence=max_sequence, max_errors=max_errors,
        )  # fmt: skip
        del self._options["layout"]
        self._options["idle"] = idle
        self._deadlines = Deadlines(self._policy.max_latency_ms, weakly(self._let_out_due))
        self._demand = Demand()
        self._schema = schema  # every column; None: no format is known yet
        self._lanes: tuple[Lane, ...] = ()  # one a format; grows under the control lock
        self._by_origin = OriginLanes(format, self._options, weakly(self._new_lane)) if are_several(format) else None
        self._intake: Lane | OriginLanes[Lane] = self._by_origin or self._new_lane(format)
        renewed_in_children(self)

    @property
    def format(self) -> Any:
        """How the buffers are written: a format, or what says which one an origin has."""
        return self._by_origin.formats if self._by_origin else self._lanes[0].format

    @property
    def full_schema(self) -> pa.Schema:
        """Every column, as the formats have it."""
        if self._schema is None:
            raise SchemaError("SharedStream: no format has come yet, so its columns are not known; give schema=")
        return self._schema

    def _new_lane(self, format: Format) -> Lane:
        """For a format that is new here; it decodes what is decoded now."""
        check_format(format)
        format = with_rescue(format, self._rescue)
        check_streamable(format, "SharedStream")
        check_byte_order(format, "SharedStream")
        with self._control:
            if self._schema is None:
                self._schema = format.schema
            if not format.schema.equals(self._schema):
                raise SchemaError(
                    f"SharedStream: expected formats with one schema, found {shown(self._schema)} and {shown(format.schema)}"
                )
            lane = Lane(format, self._options, self._policy, self._orphans.append, weakly(self._end_if_delivered))
            lane.apply(lane.prepared(self._demand), regardless=True)
            self._lanes += (lane,)
        return lane

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
        schema = self.full_schema
        needs = needs_of(columns, schema, [lane.format for lane in self._lanes])
        required = paths(needs, schema)
        rows = row_filter(filters, schema)
        needs = in_order([needs, dict.fromkeys(rows.columns)], schema)
        check_queue(name, queue, overflow)
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
            flushed, lacking = self._replan([*self._live.values(), consumer], consumer)
            if lacking is None:
                self._live[name] = consumer
        hand_out(flushed)
        if lacking is not None:
            raise SchemaError(
                f"subscribe: the header of an origin that is being read has no column {lacking!r}; leave it out"
            )
        return consumer

    def _leave(self, consumer: Consumer) -> None:
        """What was pushed before is delivered first: open batches, and those that other calls are about to hand out."""
        if consumer.closed:
            return
        with self._control:
            flushed = self._forget([consumer])
            cuts = [lane.cut() for lane in self._lanes]
        hand_out(flushed)
        for wait in cuts:
            wait()
        consumer.close()

    def _reap(self) -> None:
        """Leases that were lost and consumers that failed are gone from here on."""
        if not self._orphans:
            return
        with self._control:
            gone = self._orphaned()
            flushed = self._forget(gone)
        for consumer in gone:
            consumer.close()
        hand_out(flushed)

    def _orphaned(self) -> list[Consumer]:
        gone: list[Consumer] = []
        while self._orphans:
            try:
                gone.append(self._orphans.popleft())
            except IndexError:  # another thread was quicker
                break
        return gone

    def _forget(self, consumers: list[Consumer]) -> Flushed:
        gone = [consumer for consumer in consumers if self._live.get(consumer.name) is consumer]
        for consumer in gone:
            del self._live[consumer.name]
        return self._replan(list(self._live.values()), None)[0] if gone else []

    # ----------------------------------------------------------------------------------------------- the projection

    def _replan(self, consumers: list[Consumer], asking: Consumer | None) -> tuple[Flushed, str | None]:
        """The projection for these consumers, applied. Under the control lock; returns batches to hand out behind it, and the
        column for want of which everything is as before."""
        before = self._demand
        needs = in_order([consumer.needs for consumer in consumers], self.full_schema)
        for lane in self._lanes:
            needs = lane.widened(needs)
        demand = Demand(before.version + (needs != before.needs), needs, tuple(consumers))
        if asking is not None:
            asking.version = demand.version
        projections = [(lane, lane.prepared(demand), lane.projection) for lane in self._lanes]  # which may raise
        flushed: Flushed = []
        for at, (lane, projection, _) in enumerate(projections):
            finished, missing = lane.apply(projection, regardless=asking is None)
            flushed.append((lane, finished))
            # Somebody's column is not in an origin's header. Others have been told by an error; who asks is told here.
            lacking = [name for name in missing if asking is not None and name in asking.needs]
            if asking is not None and lacking:
                asking.close()
                flushed += [(lane, lane.apply(old, regardless=True)[0]) for lane, _, old in projections[:at]]
                return flushed, lacking[0]
            if missing and asking is not None:
                flushed.append((lane, lane.apply(projection, regardless=True)[0]))
        self._demand = demand
        self._barred = self._finished or (demand.idle and self._idle == "error")
        return flushed, None

    @property
    def projection_version(self) -> int:
        """Grows by one with every change of the union."""
        self._reap()
        return self._demand.version

    @property
    def decoding_columns(self) -> tuple[str, ...]:
        """What is really decoded now, in the schema's order; parts of nested columns as paths."""
        self._reap()
        decoded = {name: None for lane in self._lanes for name in lane.projection.decode.names}
        return paths(needs_of(list(decoded), self.full_schema, [lane.format for lane in self._lanes]), self.full_schema)

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
        return Layout(self._demand.needs, self.full_schema, NullColumns()).schema

    def explain(self) -> str:
        """Who needs what, what is decoded for them, how far behind they are."""
        self._reap()
        with self._control:
            return explained(self._schema, self._demand, self._lanes, tuple(self._live.values()), self._idle)

    def _view(self, consumer: Consumer) -> pa.Schema:
        schema = self.full_schema
        needs = needs_of(consumer.required, schema, [lane.format for lane in self._lanes])
        return pa.schema([field for field in schema if field.name in needs], metadata=schema.metadata)

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin = 0) -> list[Batch]:
        """As `fm.Stream.push`. Batches go to the subscriptions; those of this call are returned too."""
        if self._barred or self._orphans:
            self._admit()
        return self._reaped(self._intake.push(buffer, sequence=sequence, origin=origin))

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any = None) -> list[Batch]:
        """As `fm.Stream.push_many`. Batches go to the subscriptions; those of this call are returned too."""
        self._admit()
        return self._reaped(self._intake.push_many(buffers, sequences=sequences, origins=origins))

    def append(self, buffer: Any, *, origin: Origin = 0) -> list[Batch]:
        """As `fm.Stream.append`. Batches go to the subscriptions; those of this call are returned too."""
        self._admit()
        return self._reaped(self._intake.append(buffer, origin=origin))

    def lost(self, sequence: int, *, origin: Origin = 0) -> list[Batch]:
        """As `fm.Stream.lost`. Batches go to the subscriptions; those of this call are returned too."""
        self._reap()
        if self._finished:
            self._admit()
        return self._reaped(self._intake.lost(sequence, origin=origin))

    def flush(self) -> list[Batch]:
        """Open batches, whatever the policy says."""
        self._reap()
        return self._reaped(self._intake.flush())

    def finish(self, *, origin: Origin = 0, last_sequence: int | None = None) -> list[Batch]:
        """As `fm.Stream.finish`. With the last open origin the stream ends, and subscriptions that have read all do too."""
        self._reap()
        try:
            return self._reaped(self._intake.finish(origin=origin, last_sequence=last_sequence))
        finally:
            self._end_if_finished()

    def finish_all(self) -> list[Batch]:
        """finish() for every origin that is still open; the stream ends."""
        self._reap()
        try:
            return self._reaped(self._intake.finish_all())
        finally:
            self._end_if_finished()

    def fail(self, error: BaseException) -> None:
        """The source broke off: subscriptions read what there is, and then raise FlowError from `error`."""
        with self._control:
            self._finished = self._barred = True
            gone = list(self._live.values())
            flushed = self._forget(gone)
            cuts = [lane.cut() for lane in self._lanes]
        hand_out(flushed)
        for wait in cuts:
            wait()
        fail_all(gone, error)

    def _renew_locks(self) -> None:
        left_to_parent(self)

    def _admit(self) -> None:
        self._reap()
        if self._finished:
            raise SequenceError("push: the stream has ended: every origin was finished; make a new SharedStream")
        if self._barred:
            raise FlowError("push: nobody is subscribed; subscribe first, or set idle='discard' to count and pass over")

    def _reaped(self, batches: list[Batch]) -> list[Batch]:
        if self._orphans:
            self._reap()
        return batches

    @property
    def _open_origins(self) -> int:
        waiting = self._by_origin.waiting_counts()["origins"] if self._by_origin else 0
        return waiting + sum(lane.open_origins for lane in self._lanes)

    def _end_if_finished(self) -> None:
        if self._open_origins:
            return
        with self._control:
            self._finished = self._barred = True  # from here on nobody can subscribe any more
        for lane in self._lanes:
            lane.end()
        for lane in self._lanes:
            if (raised := lane.told()) is not None:
                raise raised

    def _end_if_delivered(self) -> None:
        """Called when a lane has delivered its last batch: with the last of them nothing comes any more."""
        if all(lane.ended for lane in self._lanes):
            for consumer in tuple(self._live.values()):
                consumer.end()

    # ----------------------------------------------------------------------------------------------------- delivery

    def _next(self, consumer: Consumer, timeout: float | None) -> Any:
        """For a subscription: its next batch, END, or None in time."""
        return self._deadlines.next_of(consumer, timeout)

    def _let_out_due(self) -> None:
        for lane in self._lanes:
            lane.hand_out_due()

    # ------------------------------------------------------------------------------------------- stats, checkpoints

    @property
    def stats(self) -> SharedStreamStats:
        """Counts since the start."""
        self._reap()
        with self._control:
            counted = [lane.counts() for lane in self._lanes]
            live = tuple(self._live.values())
            version = self._demand.version
        if self._by_origin:
            counted.append(self._by_origin.waiting_counts())
        discarded = {
            name: sum(counts.get(name, 0) for counts in counted)
            for name in ("discarded_buffers", "discarded_bytes", "discarded_rows")
        }
        return SharedStreamStats(
            kernel=_core.active_kernel(), **summed_counts(counted), **discarded, consumers=len(live),
            projection_version=version, dropped_batches=sum(c.dropped for c in live),
            dropped_rows=sum(c.dropped_rows for c in live),
        )  # fmt: skip

    def rejects(self) -> pa.Table:
        """As `fm.Stream.rejects`: records rejected since the last call."""
        return self._intake.rejects()

    def checkpoint(self) -> bytes:
        """Everything needed to go on. Rows decoded before are handed out now: what is in the queues counts as delivered.

        Subscriptions are not part of it; who restores subscribes again before pushing.
        """
        self._reap()
        if self._by_origin is None:
            return self._lanes[0].checkpoint()
        schema = None if self._schema is None else self._schema.serialize().to_pybytes()
        return self._by_origin.checkpoint({"schema": schema, "rescue": self._rescue})

    @classmethod
    def restore(cls, format: Any, state: bytes) -> SharedStream:
        """As `fm.Stream.restore`: a stream that goes on where `state` was taken, with nobody subscribed yet."""
        if are_several(format):
            head, states = unpack_mixed(state)
            schema = head["schema"] if gives_formats(format) else None
            shared = cls(format, **saved_options(head["options"], shared=True), rescue=head["rescue"], schema=schema)
            assert shared._by_origin is not None
            shared._by_origin.resume(head, states)
        else:
            saved = unpacked(format, state, shared=True)
            shared = cls(saved.format, **saved.options)
            shared._lanes[0].resume_saved(saved)
        shared._finished = shared.stats.origins > 0 and shared._open_origins == 0
        shared._barred |= shared._finished
        return shared
