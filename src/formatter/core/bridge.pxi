# In: record batches and control messages of one producer thread. Out: the channel both ends of a bridge share, and its
# producer. Knows no policy but the one for a full queue; the spill is an object it hands messages to.
#
# Every counter changes with the GIL held and without a Python call between the two halves of a move, so whoever reads
# them (with the GIL, by `counters`) always sees offered == delivered + dropped + spilled_pending + pending.
cimport cython
from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint64_t
from cpython.exc cimport PyErr_CheckSignals
from cpython.ref cimport Py_DECREF, Py_INCREF

import datetime
import itertools
import math

import pyarrow as pa

from formatter.errors import BackpressureError, FlowError, SchemaError

cdef extern from "engine/flow/slice_ring.hpp" namespace "formatter" nogil:
    cdef struct Slice:
        void* payload
        int64_t rows
        int64_t bytes
        int64_t enqueued_ns
        int32_t kind
    int64_t steady_now_ns()
    cdef cppclass EndOwner:
        bint claim() except +
        void release()
        bint is_mine()
        bint is_dead()
    cdef cppclass SliceRing:
        SliceRing(int64_t high, int64_t low) except +
        bint try_push(const Slice& slice) except +
        void push_control(const Slice& slice) except +
        bint has_room()
        bint wait_for_room(int64_t deadline_ns, uint64_t seen_bell)
        bint wait_for_bell(int64_t deadline_ns, uint64_t seen_bell)
        bint try_pop(Slice* slice)
        bint wait_for_slices(int64_t deadline_ns, int64_t rows, uint64_t seen_bell)
        void ring_bell()
        uint64_t bell()

cdef enum:
    KIND_ROWS = 0
    KIND_CONTROL = 1
    KIND_END = 2

cdef int64_t NAP_NS = 50_000_000  # longest sleep between two looks at signals and at the peer's life
cdef object RecordBatch = pa.RecordBatch


cdef int64_t deadline_after(object seconds):
    """Steady time `seconds` from now; None is never."""
    if seconds is None or seconds > 1e9:
        return INT64_MAX
    return steady_now_ns() + <int64_t> (<double> seconds * 1e9)


cdef class Channel:
    """What the two ends share. Made by formatter.flow.bridge, which has checked every option."""
    cdef SliceRing* ring
    cdef EndOwner producing
    cdef EndOwner consuming
    cdef readonly object schema        # what producers send
    cdef readonly object out_schema    # what consumers get: with the key's hash, if one is asked for
    cdef object add_key, spill, timeout, ended_by
    cdef bint drops, producer_closed, producer_gone, consumer_closed
    cdef int64_t row_bits              # 0: some column's width varies
    cdef int64_t offered, delivered, dropped, spilled_pending, pending, spilled, recovered
    cdef int64_t sends, batches, watermarks, checkpoints, waits

    def __cinit__(self, schema, out_schema, int64_t high, int64_t low, *, bint drops, timeout, add_key, spill,
                  int64_t row_bits, int64_t recovered=0):
        self.ring = new SliceRing(high, low)
        self.schema, self.out_schema = schema, out_schema
        self.drops, self.timeout, self.add_key, self.spill = drops, timeout, add_key, spill
        self.row_bits = row_bits
        self.offered = self.spilled_pending = self.recovered = recovered

    def __dealloc__(self):
        cdef Slice slice
        while self.ring != NULL and self.ring.try_pop(&slice):
            Py_DECREF(<object> slice.payload)
        del self.ring

    def counters(self):
        # Read together before the first Python object is made: making one may let another thread run.
        cdef int64_t[12] now
        now[:] = [self.offered, self.delivered, self.dropped, self.spilled_pending, self.pending, self.spilled,
                  self.recovered, self.sends, self.batches, self.watermarks, self.checkpoints, self.waits]
        return tuple([now[i] for i in range(12)])

    cdef int push_control(self, object message, int32_t kind) except -1:
        cdef Slice slice
        slice.payload, slice.rows, slice.bytes = <void*> message, 0, 0
        slice.enqueued_ns, slice.kind = 0, kind
        self.ring.push_control(slice)
        Py_INCREF(message)  # the consumer needs the GIL before it can let go of it
        return 0


@cython.no_gc_clear  # __dealloc__ needs the channel
cdef class Producer:
    """The end rows go in at. Belongs to the first thread that uses it; `release()` hands it to another."""
    cdef Channel channel
    cdef object last_watermark, last_epoch

    def __cinit__(self, Channel channel):
        self.channel = channel

    def __dealloc__(self):
        if self.channel is not None:
            self.channel.producer_gone = True
            self.channel.ring.ring_bell()

    cdef int check_schema(self, batch) except -1:
        if not batch.schema.equals(self.channel.schema):
            raise SchemaError(f"bridge: expected a batch of schema [{describe_schema(self.channel.schema)}], "
                              f"found [{describe_schema(batch.schema)}]")
        return 0

    cdef int check(self) except -1:
        cdef Channel channel = self.channel
        if not channel.producing.claim():
            raise FlowError("bridge: a second thread uses the producer, which belongs to the first one; "
                            "give each thread its own bridge, or call producer.release() in the owner before")
        if channel.producer_closed:
            raise FlowError("bridge: the producer is closed; nothing can follow the end of stream")
        if channel.consumer_closed or channel.consuming.is_dead():
            raise FlowError("bridge: the consumer is gone "
                            + ("(it was closed)" if channel.consumer_closed else "(its thread has ended)")
                            + "; nobody will take what is sent")
        return 0

    def send(self, batch):
        """Hand over a batch by reference. True: accepted; False: dropped and counted (DropNewest only).

        Of tables and readers each batch is handed over by itself: False says that some were dropped, and a
        BackpressureError has in `rest` what was not taken.
        """
        cdef Channel channel = self.channel
        cdef Slice slice
        self.check()
        if type(batch) is not RecordBatch:
            return sent_each(self.send, batch)
        slice.rows = batch.num_rows
        self.check_schema(batch)
        if slice.rows == 0:
            return True
        if channel.add_key is not None:
            batch = channel.add_key(batch)
        slice.bytes = (slice.rows * channel.row_bits + 7) >> 3 if channel.row_bits else batch.get_total_buffer_size()
        slice.kind, slice.payload, slice.enqueued_ns = KIND_ROWS, <void*> batch, steady_now_ns()
        if channel.spill is not None:
            return self.send_or_spill(batch, &slice)
        if self.push(batch, &slice):
            return True
        if channel.drops:
            channel.offered += slice.rows
            channel.dropped += slice.rows
            return False
        self.wait_to_push(batch, &slice)
        return True

    cdef bint push(self, object batch, Slice* slice) except -1:
        cdef Channel channel = self.channel
        if not channel.ring.try_push(slice[0]):
            return False
        Py_INCREF(batch)  # the consumer needs the GIL before it can let go of it
        channel.offered += slice.rows
        channel.pending += slice.rows
        channel.sends += 1
        return True

    cdef int wait_to_push(self, object batch, Slice* slice) except -1:
        cdef int64_t deadline = deadline_after(self.channel.timeout)
        while True:
            bell = self.channel.ring.bell()
            slice.enqueued_ns = steady_now_ns()  # the wait for a place is not latency of the batch
            if self.push(batch, slice):
                return 0
            self.wait(deadline, bell, False)

    cdef int wait(self, int64_t deadline, uint64_t bell, bint on_disk) except -1:
        cdef Channel channel = self.channel
        cdef int64_t now = steady_now_ns()
        cdef int64_t until = min(deadline, now + NAP_NS)
        if channel.consuming.is_mine():
            raise BackpressureError("bridge: it is full, and its consumer belongs to this very thread, which cannot "
                                    "wait for itself; consume first, use another thread, or another backpressure")
        if now >= deadline:
            wanted = f"room in the spill (max_bytes={channel.spill.max_bytes})" if on_disk else "a place"
            raise BackpressureError(f"bridge: waited {channel.timeout} s for {wanted} and the consumer made none; the "
                                    "batch was not taken: send it again, or raise the timeout or the bound")
        channel.waits += 1
        with nogil:
            if on_disk:
                channel.ring.wait_for_bell(until, bell)
            else:
                channel.ring.wait_for_room(until, bell)
        PyErr_CheckSignals()
        self.check()
        return 0

    cdef object send_or_spill(self, object batch, Slice* slice):
        """Memory while nothing waits on disk, else disk: rows on disk are always younger than rows in memory."""
        cdef Channel channel = self.channel
        cdef int64_t deadline = -1
        if not channel.spill.unread and self.push(batch, slice):
            return True
        while not channel.spill.append_rows(batch, slice.enqueued_ns):
            if deadline < 0:
                deadline = deadline_after(channel.timeout)
            bell = channel.ring.bell()
            self.wait(deadline, bell, True)
            if not channel.spill.unread and self.push(batch, slice):
                return True
        channel.offered += slice.rows
        channel.spilled_pending += slice.rows
        channel.spilled += slice.rows
        channel.sends += 1
        channel.spill.publish()
        return True

    def watermark(self, ts):
        """Announce event time `ts`: an int, a finite float or a datetime. Never goes back; flushes by policy."""
        self._commit(self._prepare(Watermark(ts)))

    def checkpoint(self, epoch):
        """Cut the stream here: flushes, then passes. Epochs grow."""
        self._commit(self._prepare(Checkpoint(epoch)))

    def close(self):
        """End the stream: flushes, then ends the consumer's iteration. Closing again does nothing."""
        cdef Channel channel = self.channel
        if channel.producer_closed:
            return
        if channel.producing.is_dead():
            channel.producing.release()  # its thread ended and cannot close it; whoever inherits it may
        if channel.consumer_closed or channel.consuming.is_dead():
            channel.producer_closed = True  # nobody is left to be told
            return
        self._commit(self._prepare(None))

    def fail(self, error):
        """End the stream with an error: the consumer gets all that was sent, then FlowError caused by `error`."""
        cdef Channel channel = self.channel
        if not channel.producer_closed:
            channel.producer_closed = True
            channel.ended_by = error
            channel.ring.ring_bell()

    def release(self):
        """Let another thread own this end from its next call on."""
        self.check()
        self.channel.producing.release()

    def _wait_until_accepting(self, batch):
        """Return once `send(batch)` need not wait for a place; room seen stays until the next send."""
        cdef Channel channel = self.channel
        cdef int64_t deadline = deadline_after(channel.timeout)
        self.check()
        self.check_schema(batch)
        if channel.drops or batch.num_rows == 0:
            return
        while True:
            bell = channel.ring.bell()
            if channel.ring.has_room() and (channel.spill is None or not channel.spill.unread):
                return
            if channel.spill is not None and channel.spill.has_room(
                    batch if channel.add_key is None else channel.add_key(batch)):
                return
            self.wait(deadline, bell, channel.spill is not None)

    def _prepare(self, message):
        """First half of a control message: everything that may fail. Returns what `_commit` or `_abort` takes."""
        cdef Channel channel = self.channel
        self.check()
        if isinstance(message, Watermark):
            check_watermark(message.ts, self.last_watermark)
        elif isinstance(message, Checkpoint):
            check_epoch(message.epoch, self.last_epoch)
        if channel.spill is not None and channel.spill.unread:
            channel.spill.prepare_control(message)
            return message, True
        return message, False

    def _abort(self, prepared):
        if prepared[1]:
            self.channel.spill.abort_control()

    def _commit(self, prepared):
        """Second half: a control message always finds a place, as long as there is memory for one."""
        cdef Channel channel = self.channel
        message, on_disk = prepared
        if on_disk:
            channel.spill.publish()
        else:
            channel.push_control(message, KIND_END if message is None else KIND_CONTROL)
        if isinstance(message, Watermark):
            self.last_watermark = message.ts
        elif isinstance(message, Checkpoint):
            self.last_epoch = message.epoch
        else:
            channel.producer_closed = True

    @property
    def has_capacity(self):
        """Whether a batch would be taken at once, neither waiting, dropping nor spilling."""
        cdef Channel channel = self.channel
        return not channel.producer_closed and (channel.spill is None or not channel.spill.unread) \
            and channel.ring.has_room()

    @property
    def closed(self):
        return self.channel.producer_closed

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.close()
        else:
            self.fail(error)


def sent_each(send, table):
    """`send` for each batch of a table, a reader, or what speaks the PyCapsule protocol. Whether all were accepted."""
    whole = isinstance(table, pa.Table)
    if whole:
        batches = iter(table.to_batches())
    elif isinstance(table, Rows) or not hasattr(table, "__arrow_c_stream__"):
        if not hasattr(table, "__arrow_c_array__"):
            raise FlowError(f"bridge: expected a pyarrow.RecordBatch, found {type(table).__name__}")
        return send(pa.record_batch(table))
    else:
        batches = pa.RecordBatchReader.from_stream(table)
    accepted = True
    for taken, batch in enumerate(batches):
        try:
            accepted = send(batch) and accepted
        except BackpressureError as error:
            left = itertools.chain([batch], batches)
            reader = pa.RecordBatchReader.from_batches(batch.schema, left)
            error.rest = reader.read_all() if whole else reader
            error.args = (f"{error} ({taken} before it were taken: error.rest has it and what follows)",)
            raise
    return accepted


cdef enum:
    SHOWN_MOST = 200  # letters of a schema in a message


cdef str describe_schema(schema):
    text = ", ".join(f"{field.name}: {field.type}" for field in schema)
    return text if len(text) <= SHOWN_MOST else text[:SHOWN_MOST - 3] + "..."


cdef int check_watermark(object ts, object last) except -1:
    if isinstance(ts, bool) or not isinstance(ts, (int, float, datetime.datetime)) \
            or (isinstance(ts, float) and not math.isfinite(ts)) or ts != ts:  # a time of pandas that is none
        raise FlowError(f"bridge: watermark: expected an int, a finite float or a datetime, found {ts!r}")
    if last is None:
        return 0
    if isinstance(ts, datetime.datetime) != isinstance(last, datetime.datetime) or (
            isinstance(ts, datetime.datetime) and (ts.tzinfo is None) != (last.tzinfo is None)):
        raise FlowError(f"bridge: watermark {ts!r} cannot be compared with {last!r} before it; use one kind of time")
    if ts < last:
        raise FlowError(f"bridge: watermark {ts!r} is before the last one, {last!r}; a watermark never goes back")
    return 0


cdef int check_epoch(object epoch, object last) except -1:
    if isinstance(epoch, bool) or not isinstance(epoch, int):
        raise FlowError(f"bridge: checkpoint: expected an int, found {epoch!r}")
    if last is not None and epoch <= last:
        raise FlowError(f"bridge: checkpoint {epoch} does not follow {last}; epochs grow")
    return 0
