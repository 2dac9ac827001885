"""One format's part of a shared stream: its engine, what that decodes now, and its batches' way into the queues.

In: the buffers of the origins that have this format; what consumers need together. Out: batches to their queues; who holds calls
back. Refuses to know: who may subscribe, which other formats there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from formatter import _core
from formatter.batch import Batch
from formatter.batch_policy import BatchPolicy
from formatter.buffer_arguments import Origin, checked_sequence
from formatter.buffer_intake import BufferIntake, SavedStream, engine_options, unpacked
from formatter.formats.csv import in_stream
from formatter.plans import Format, rescue_of
from formatter.shared.consumer import Consumer, abandoned
from formatter.shared.delivery import Delivery
from formatter.shared.needs import Needs
from formatter.shared.projection import Decodes, Demand, Projection

PATIENCE_S = 1.0  # who leaves waits no longer for a call that brought so much that it still runs


class Lane:
    """`options`: as stream_options() gives them, and as a checkpoint keeps them. `failed`: told of consumers that gave up.
    `at_end`: called when the last batch of an ended lane has been delivered."""

    def __init__(
        self,
        format: Format,
        options: dict[str, Any],
        policy: BatchPolicy,
        failed: Callable[[Consumer], None],
        at_end: Callable[[], None],
    ) -> None:
        self.format = format
        self._decodes = Decodes(in_stream(format, options["max_record_bytes"]), options["filters"], options["on_error"])
        self._failed = failed
        self._cut = (0, 0, False)  # the last change: plan, batches that had left, whether calls decode by older plans
        self._discarded_buffers = self._discarded_bytes = 0  # before the projection in force
        self._idle_since = (0, 0)  # buffers and bytes before it
        self.projection = Projection(Demand(), self._decodes.nothing)
        names = tuple(format.schema.names)
        self._engine = _core.EngineStream(
            self._decodes.nothing.plan.engine, **engine_options(options, policy), names=names, marker=self.projection
        )
        self._intake = BufferIntake(format, options, self._engine, names)
        self._id = self._intake.id_of
        self._delivery = Delivery(
            options["ordered"], self._intake.origin_of, failed, lost=self._engine.close, at_end=at_end
        )

    # ----------------------------------------------------------------------------------------------- the projection

    def widened(self, needs: Needs) -> Needs:
        """With what has to be decoded besides: what is rescued for one does not depend on who else listens."""
        return dict.fromkeys(self.format.schema.names) if rescue_of(self.format) in needs else needs

    def prepared(self, demand: Demand) -> Projection:
        """What meets the demand; an error if this format cannot."""
        decode = self._decodes.of(self.widened(demand.needs)) if demand.consumers else self._decodes.nothing
        return Projection(demand, decode)

    def apply(self, projection: Projection, *, regardless: bool) -> tuple[list[Any], list[str]]:
        """Decodes by it from here on. Returns batches to hand out, and columns that an origin's header lacks: if there are such,
        nothing has changed, unless it was to happen `regardless`."""
        decode = projection.decode
        plan, result, counts, missing = self._engine.replan(
            decode.plan.engine, decode.schema_indices, projection, regardless
        )
        if plan:
            buffers, size, batches, parsing = counts
            self._cut = (plan, batches, parsing)
            if self.projection.demand.idle:
                self._discarded_buffers += buffers - self._idle_since[0]
                self._discarded_bytes += size - self._idle_since[1]
            self._idle_since = (buffers, size)
            self.projection = projection
        return list(result[3]), list(missing)

    def cut(self) -> Callable[[], None]:
        """To be called later: waits until calls that decoded before the last change have put what they decoded into the queues,
        unless they take too long."""
        plan, batches, parsing = self._cut

        def wait() -> None:
            left = self._engine.await_older(plan, PATIENCE_S) if parsing else batches
            if self._delivery.done < left:
                self._delivery.wait(left, PATIENCE_S)

        return wait

    # ------------------------------------------------------------------------------------------------------ buffers

    def push(self, buffer: Any, *, sequence: int, origin: Origin) -> list[Batch]:
        number = checked_sequence(sequence, origin)
        return self._settle(self._engine.push(buffer, self._id(origin), number), origin, number)

    def push_many(self, buffers: Any, *, sequences: Any, origins: Any) -> list[Batch]:
        return self._settle(*self._intake.push_many(buffers, sequences, origins))

    def append(self, buffer: Any, *, origin: Origin) -> list[Batch]:
        return self._settle(*self._intake.append(buffer, origin))

    def lost(self, sequence: int, *, origin: Origin) -> list[Batch]:
        return self._settle(*self._intake.lost(sequence, origin))

    def flush(self) -> list[Batch]:
        return self._settle(self._engine.flush(True), 0, 0)

    def finish(self, *, origin: Origin, last_sequence: int | None) -> list[Batch]:
        return self._settle(*self._intake.finish(origin, last_sequence))

    def finish_all(self) -> list[Batch]:
        batches: list[Batch] = []
        for origin_id in self._engine.open_origins():
            batches += self._settle(self._engine.finish(origin_id, None), self._intake.origin_of(origin_id), 0)
        return batches

    def rejects(self) -> pa.Table:
        return self._intake.drained_rejects()

    # ------------------------------------------------------------------------------------------------------ the end

    @property
    def open_origins(self) -> int:
        return int(self._engine.progress()[1])

    def end(self) -> None:
        """Nothing comes any more: when calls that still deliver have done so, `at_end` is called."""
        self._delivery.end_at(self._engine.progress()[0])

    @property
    def ended(self) -> bool:
        return self._delivery.ended

    def told(self) -> Exception | None:
        """As BufferIntake.ended."""
        return self._intake.ended()

    # ----------------------------------------------------------------------------------------------------- delivery

    def _settle(self, result: Any, origin: Origin, sequence: int) -> list[Batch]:
        finished = result[3]
        raised = self._intake.error_of(result, origin, sequence)
        batches, full = self._delivery.deliver(finished) if finished else ([], [])
        if raised is not None:
            raise raised
        for consumer in full:
            if not consumer.wait_for_room():
                consumer.close(abandoned(consumer.name))
                self._failed(consumer)
        return batches

    def hand_out(self, finished: list[Any]) -> None:
        """Batches that left without a push: whoever caused it waits for nobody."""
        if finished:
            self._delivery.deliver(finished)

    def hand_out_due(self) -> None:
        """Batches whose deadline has passed."""
        self.hand_out(self._engine.flush(False)[3])

    # ------------------------------------------------------------------------------------------- counts, checkpoints

    def counts(self) -> dict[str, Any]:
        """By the names of `SharedStreamStats`."""
        if self.projection.demand.idle:
            self.hand_out(self._engine.flush(True)[3])  # rows nobody waits for, counted
        counts = self._engine.counts()
        buffers, size = self._discarded_buffers, self._discarded_bytes
        if self.projection.demand.idle:
            buffers += counts["buffers"] - self._idle_since[0]
            size += counts["bytes"] - self._idle_since[1]
        rows = self._delivery.discarded_rows
        return {**counts, "discarded_buffers": buffers, "discarded_bytes": size, "discarded_rows": rows}

    def checkpoint(self) -> bytes:
        self._intake.raise_owed()
        engine_state, result = self._engine.checkpoint()
        self.hand_out(result[3])
        return self._intake.packed(engine_state, [], self.projection.decode.layout.schema)

    def _owe(self, error: BaseException) -> None:
        """Met in a call that had to raise something else: the next call raises it."""
        self._intake.owe(error)

    def _resume(self, state: bytes) -> None:
        self.resume_saved(unpacked(self.format, state, shared=True))

    def resume_saved(self, saved: SavedStream) -> None:
        """In a lane just made with what was saved."""
        self._intake.resume(saved)
        counts = self._engine.counts()
        self._idle_since = (counts["buffers"], counts["bytes"])

    # ------------------------------------------------------------------------------------------------- broken off

    @property
    def closed(self) -> bool:
        return bool(self._engine.closed)

    def leave_to_parent(self) -> None:
        """In the child of a fork."""
        self._delivery.renew_locks()
        self._engine.leave_to_parent()


Flushed = list[tuple[Lane, list[Any]]]


def hand_out(flushed: Flushed) -> None:
    for lane, finished in flushed:
        lane.hand_out(finished)
