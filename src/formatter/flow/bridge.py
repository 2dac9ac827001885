"""The hand-over between one producer thread and one consumer thread: nothing lost, nothing reordered, all counted.

In: a schema, a batch policy and what to do when full. Out: a producer end, a consumer end and the counts.
Refuses to know: how slices cross (core/bridge.pxi), how the spill looks, who produces.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa

from formatter._core import Channel, Checkpoint, Consumer, Producer, Watermark, sent_each
from formatter.batch_policy import BatchPolicy
from formatter.errors import BackpressureError, FlowError, OptionError, SchemaError
from formatter.flow.backpressure import Backpressure, DropNewest, Pause, SpillToDisk
from formatter.flow.key_hash import KEY_HASH, check_key_type, key_hashes
from formatter.flow.spill import Recovery, Spill
from formatter.mistaken_arguments import kind_of, named_options
from formatter.uncopied import Uncopied

CAPACITY = 1024  # slices; deep enough that a thread wakes for a run of them, shallow enough to push back soon


NOTHING_RECOVERED = Recovery()


@dataclass(frozen=True, slots=True)
class BridgeStats:
    """Counts in rows, read at one moment: offered == delivered + dropped + spilled_pending + pending.

    Attributes:
        offered: Every row sent and decided about; what was refused with BackpressureError was not taken.
        delivered: Returned by the consumer.
        dropped: Refused by DropNewest.
        spilled_pending: On disk.
        pending: In memory, in the queue or waiting to become a batch.
        spilled: Ever written to disk by this bridge.
        recovered: Found on disk when the bridge was made; part of offered.
        slices: Batches accepted.
        batches: Batches delivered.
        watermarks: Delivered.
        checkpoints: Delivered.
        waits: Times the producer slept.
        recovery: What the spill directory held, and what was cut off.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> bridge = fm.Bridge(pa.schema([("id", pa.int64())]))
        >>> _ = bridge.producer.send(pa.record_batch({"id": pa.array([1, 2])}))
        >>> bridge.stats.offered, bridge.stats.pending, bridge.stats.balanced
        (2, 2, True)
    """

    offered: int
    delivered: int
    dropped: int
    spilled_pending: int
    pending: int
    spilled: int
    recovered: int
    slices: int
    batches: int
    watermarks: int
    checkpoints: int
    waits: int
    recovery: Recovery = NOTHING_RECOVERED

    @property
    def balanced(self) -> bool:
        """Whether every row offered is accounted for."""
        return self.offered == self.delivered + self.dropped + self.spilled_pending + self.pending


@named_options
class Bridge(Uncopied):
    """A bounded queue of Arrow slices and control messages from one thread to another, batched by a policy.

    Args:
        schema: Of what the producer sends.
        capacity: Slices it holds.
        policy: When rows leave as a batch. None: `fm.BatchPolicy()`.
        backpressure: What it does when full: `fm.Pause()` (None), `fm.DropNewest()` or `fm.SpillToDisk(...)`.
        key: One or more columns; a column `key_hash` of them is added.

    Raises:
        OptionError: An option is out of its range.
        SchemaError: A key that is no column, or of a type without a hash.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> bridge = fm.Bridge(pa.schema([("id", pa.int64())]))
        >>> with bridge.producer as producer:  # in one thread
        ...     _ = producer.send(pa.record_batch({"id": pa.array([1, 2])}))
        ...     producer.watermark(7)
        >>> list(bridge.consumer)  # in another
        [Rows(2 rows), Watermark(7)]
    """

    _instead = "it joins two threads of one process; hand its ends to these"

    def __init__(
        self,
        schema: pa.Schema,
        *,
        capacity: int = CAPACITY,
        policy: BatchPolicy | None = None,
        backpressure: Backpressure | None = None,
        key: str | Sequence[str] | None = None,
    ) -> None:
        if not isinstance(schema, pa.Schema):
            raise OptionError(f"Bridge: schema: expected a pyarrow.Schema, found {type(schema).__name__}")
        if isinstance(capacity, bool) or not isinstance(capacity, int) or not 1 <= capacity <= 1 << 24:
            raise OptionError(f"Bridge: capacity: expected slices from 1 to {1 << 24}, found {capacity!r}")
        policy = BatchPolicy() if policy is None else policy
        backpressure = Pause() if backpressure is None else backpressure
        if not isinstance(policy, BatchPolicy):
            raise OptionError(f"Bridge: policy: expected a BatchPolicy, found {policy!r}")
        if not isinstance(backpressure, Pause | DropNewest | SpillToDisk):
            raise OptionError(
                f"Bridge: backpressure: expected fm.Pause(), fm.DropNewest() or fm.SpillToDisk(...), found "
                f"{kind_of(backpressure) if isinstance(backpressure, type) else repr(backpressure)}"
            )
        self.policy = policy
        self.backpressure = backpressure
        self.key = _checked_key(schema, key)
        self._out_schema = schema.append(pa.field(KEY_HASH, pa.uint64(), nullable=False)) if self.key else schema
        spill = Spill(backpressure, self._out_schema) if isinstance(backpressure, SpillToDisk) else None
        self._recovery = spill.recovery if spill else NOTHING_RECOVERED
        high, low = capacity, capacity - 1
        if isinstance(backpressure, Pause):
            high = max(1, int(capacity * backpressure.high))
            low = min(high - 1, int(capacity * backpressure.low))
        self._channel = Channel(
            schema,
            self._out_schema,
            high,
            low,
            drops=isinstance(backpressure, DropNewest),
            timeout=None if isinstance(backpressure, DropNewest) else backpressure.timeout,
            add_key=partial(_with_key_hash, self.key, self._out_schema) if self.key else None,
            spill=spill,
            row_bits=_row_bits(self._out_schema),
            recovered=self._recovery.rows,
        )
        self._producer = Producer(self._channel)
        self._consumer = Consumer(
            self._channel, policy.max_rows, policy.max_bytes, policy.max_latency_ms, policy.flush_on_watermark
        )

    @property
    def producer(self) -> Producer:
        """The end batches go into; one thread's at a time."""
        return self._producer

    @property
    def consumer(self) -> Consumer:
        """The end they come out of: an iterator of Rows, Watermark and Checkpoint; one thread's at a time."""
        return self._consumer

    @property
    def schema(self) -> pa.Schema:
        """What the consumer gets: the producer's schema, and `key_hash` if a key was asked for."""
        return self._out_schema

    @property
    def stats(self) -> BridgeStats:
        """Counts, read at one moment."""
        return BridgeStats(*self._channel.counters(), self._recovery)


class FanOut:
    """One producer for several bridges. A control message reaches all of them or, with an error, none.

    A batch is offered once every bridge that does not drop has room, so a slow bridge holds all back and none gets it twice.

    Args:
        producers: The bridges, or their producers.

    Raises:
        OptionError: None, or one twice.

    Example:
        >>> import formatter as fm, pyarrow as pa
        >>> bridges = [fm.Bridge(pa.schema([("id", pa.int64())])) for _ in range(2)]
        >>> fan = fm.FanOut(bridges)
        >>> fan.send(pa.record_batch({"id": pa.array([1])})), fan.close()
        (True, None)
        >>> [list(bridge.consumer) for bridge in bridges]
        [[Rows(1 rows)], [Rows(1 rows)]]
    """

    def __init__(self, producers: Sequence[Producer | Bridge]) -> None:
        listed = producers if isinstance(producers, Iterable) else [producers]
        self._producers = [each.producer if isinstance(each, Bridge) else each for each in listed]
        if wrong := [each for each in self._producers if not isinstance(each, Producer)]:
            raise OptionError(f"FanOut: expected bridges or their producers, found {wrong[0]!r}")
        if not self._producers or len(set(map(id, self._producers))) < len(self._producers):
            raise OptionError("FanOut: expected one or more different producers")

    def send(self, batch: pa.RecordBatch) -> bool:
        """Sends `batch` to all; True when every bridge accepted it. Bridges that drop count it for themselves.

        Tables and readers as `Producer.send` takes them.
        """
        if not isinstance(batch, pa.RecordBatch):
            return bool(sent_each(self.send, batch))
        for producer in self._producers:
            producer._wait_until_accepting(batch)
        accepted = [producer.send(batch) for producer in self._producers]  # each is asked, whatever the others say
        return all(accepted)

    def watermark(self, ts: object) -> None:
        """Sends a watermark at `ts` to all."""
        self._to_all(Watermark(ts))

    def checkpoint(self, epoch: int) -> None:
        """Sends the checkpoint `epoch` to all."""
        self._to_all(Checkpoint(epoch))

    def close(self) -> None:
        """Ends all of them."""
        if not all(producer.closed for producer in self._producers):
            self._to_all(None)

    def fail(self, error: BaseException) -> None:
        """Ends all of them with `error`, which their consumers raise."""
        for producer in self._producers:
            producer.fail(error)

    @property
    def has_capacity(self) -> bool:
        """Whether all would take a batch at once."""
        return all(producer.has_capacity for producer in self._producers)

    def _to_all(self, message: Watermark | Checkpoint | None) -> None:
        prepared = []
        try:
            for producer in self._producers:
                prepared.append((producer, producer._prepare(message)))
        except (FlowError, BackpressureError, OSError):
            for producer, ticket in prepared:
                producer._abort(ticket)
            raise
        for producer, ticket in prepared:  # cannot fail: every control message finds a place
            producer._commit(ticket)


def _with_key_hash(key: tuple[str, ...], schema: pa.Schema, batch: pa.RecordBatch) -> pa.RecordBatch:
    """A function and no method, so that the channel does not keep the bridge, and with it a dropped end, alive."""
    return pa.RecordBatch.from_arrays([*batch.columns, key_hashes(batch, key)], schema=schema)


def _checked_key(schema: pa.Schema, key: str | Sequence[str] | None) -> tuple[str, ...]:
    if key is None:
        return ()
    names = (key,) if isinstance(key, str) else tuple(key)
    if not names:
        raise OptionError("Bridge: key: expected one or more column names, found none")
    for name in names:
        if schema.get_all_field_indices(name) == [] or len(schema.get_all_field_indices(name)) > 1:
            known = ", ".join(schema.names)
            raise SchemaError(f"Bridge: key column {name!r}: expected one column of that name among [{known}]")
        check_key_type(name, schema.field(name).type)
    if KEY_HASH in schema.names:
        raise SchemaError(f"Bridge: the schema already has a column '{KEY_HASH}'; rename it or leave key out")
    return names


def _row_bits(schema: pa.Schema) -> int:
    """Bits a row takes, validity included; 0 when that differs from row to row."""
    bits = 0
    for field in schema:
        try:
            bits += int(field.type.bit_width) + 1
        except ValueError:  # a type of varying width
            return 0
        if field.type.num_fields or pa.types.is_dictionary(field.type):
            return 0
    return bits
