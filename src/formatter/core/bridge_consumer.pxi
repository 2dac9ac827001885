# In: the slices and control messages of a channel. Out: batches formed by the policy, and controls in their place.
# Refuses to know: where slices come from (ring or spill look alike here), what rows mean.
#
# The rules of formation: rows wait until max_rows, max_bytes or the deadline, which counts from when the first waiting
# slice was enqueued; a checkpoint and the end let them go first; a watermark does too, or else waits behind them.
from collections import deque


def concatenate_before_17(batches):
    """pyarrow before 17 had no concat_batches."""
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


cdef object concatenate = getattr(pa, "concat_batches", concatenate_before_17)
cdef int LOOK_AT_CLOCK_EVERY = 256  # slices; a clock read costs a fifth of what taking a slice does


@cython.no_gc_clear  # __dealloc__ needs the channel
cdef class Consumer:
    """The end actions come out of: an iterator of Rows, Watermark and Checkpoint that ends with the stream."""
    cdef Channel channel
    cdef int64_t max_rows, max_bytes, latency_ns
    cdef bint flush_on_watermark, finished
    cdef list parts                    # rows waiting to become a batch, all of them counted as pending
    cdef int64_t part_rows, part_bytes, weighed_parts, weighed_bytes, deadline
    cdef int64_t late_ns               # how late the system wakes this end: it asks to be woken that much sooner
    cdef object rest, rest_token       # what was cut off a slice that did not fit; taken before anything newer
    cdef int64_t rest_stamp
    cdef object parts_token, returned_token, end_token
    cdef object ready, behind          # actions to return next; watermarks behind the waiting rows

    def __cinit__(self, Channel channel, int64_t max_rows, int64_t max_bytes, latency_ms, bint flush_on_watermark):
        self.channel = channel
        self.max_rows, self.max_bytes, self.flush_on_watermark = max_rows, max_bytes, flush_on_watermark
        self.latency_ns = -1 if latency_ms is None else <int64_t> (<double> latency_ms * 1e6)
        self.parts, self.ready, self.behind = [], deque(), []

    def __dealloc__(self):
        if self.channel is not None:
            self.channel.consumer_closed = True
            self.channel.ring.ring_bell()

    def __iter__(self):
        return self

    def __next__(self):
        action = self.next_action(INT64_MAX)
        if action is None:
            raise StopIteration
        return action

    def poll(self, timeout=0.0):
        """The next action, or None when none is due within `timeout` seconds or the stream has ended (see `ended`)."""
        return self.next_action(deadline_after(timeout))

    @property
    def ended(self):
        return self.finished and not self.ready

    @property
    def schema(self):
        return self.channel.out_schema

    def close(self):
        """Stop consuming: the producer's next call, or the one it waits in, raises FlowError."""
        self.channel.consumer_closed = True
        self.channel.ring.ring_bell()

    def release(self):
        """Let another thread own this end from its next call on."""
        self.check()
        self.channel.consuming.release()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()

    cdef int check(self) except -1:
        if not self.channel.consuming.claim():
            raise FlowError("bridge: a second thread uses the consumer, which belongs to the first one; "
                            "give each thread its own bridge, or call consumer.release() in the owner before")
        if self.channel.consumer_closed:
            raise FlowError("bridge: the consumer is closed")
        return 0

    cdef object next_action(self, int64_t wait_until):
        cdef Channel channel = self.channel
        cdef SliceRing* ring = channel.ring
        cdef int64_t now, until, wanted
        cdef uint64_t bell
        cdef bint over
        self.check()
        if self.returned_token is not None:  # asking for more says that what was returned has been dealt with
            channel.spill.acknowledge(self.returned_token)
            self.returned_token = None
            ring.ring_bell()  # a producer may wait for room on disk
        if self.ready:
            return self.returned(self.ready.popleft())
        if self.finished:
            self.leave()
            return None
        while True:
            bell = ring.bell()
            over = self.producer_over()  # looked at before the queue: what it sent last is then seen below
            action = self.take_available()
            if action is not None:
                return action
            if self.finished:
                self.leave()
                return None
            now = steady_now_ns()
            if self.parts and (over or now >= self.deadline - self.late_ns):
                return self.flush()
            if over:
                return self.end_without_message()
            if now >= wait_until:
                return None
            if wait_until == INT64_MAX and not self.parts and channel.producing.is_mine():
                raise FlowError("bridge: nothing is there, and the producer belongs to this very thread, which cannot "
                                "wait for itself; send or close first, or use poll()")
            until = min(wait_until, now + NAP_NS)
            wanted = 1
            if self.parts:
                until = min(until, self.deadline - self.late_ns)
                wanted = self.max_rows - self.part_rows
            with nogil:
                ring.wait_for_slices(until, wanted, bell)
            if self.parts and until == self.deadline - self.late_ns:
                self.learn_lateness(steady_now_ns() - until)
            PyErr_CheckSignals()
            self.check()

    cdef void learn_lateness(self, int64_t late):
        """Rises at once, falls slowly, and never takes more than a tenth of the latency the policy grants."""
        if late >= 0:  # else the bell woke it before its time
            self.late_ns = min(max(late, self.late_ns - self.late_ns // 16), self.latency_ns // 10)

    cdef int leave(self) except -1:
        """The stream has ended and all of it was dealt with."""
        if self.end_token is not None:
            self.channel.spill.acknowledge(self.end_token)
            self.end_token = None
        if self.channel.spill is not None:
            self.channel.spill.close()
        return 0

    cdef bint producer_over(self):
        """Nothing more will come, and no end message says so: the producer failed, vanished or its thread died."""
        cdef Channel channel = self.channel
        return channel.ended_by is not None \
            or (not channel.producer_closed and (channel.producer_gone or channel.producing.is_dead()))

    cdef object end_without_message(self):
        cdef Channel channel = self.channel
        self.finished = True
        if channel.ended_by is not None:
            raise FlowError(f"bridge: the producer failed: {channel.ended_by!r}") from channel.ended_by
        why = "was dropped" if channel.producer_gone else "belonged to a thread that has ended"
        raise FlowError(f"bridge: the producer {why} without close(); all it sent was delivered, more may be missing")

    cdef object take_available(self):
        """Take what is there now, until something can be returned."""
        cdef Channel channel = self.channel
        cdef Slice slice
        cdef bint on_disk
        cdef int taken = 0
        while True:
            if self.rest is not None:
                rest, token = self.rest, self.rest_token
                self.rest = self.rest_token = None
                action = self.add_rows(rest, rest.num_rows, rest.get_total_buffer_size(), self.rest_stamp, token)
            else:
                on_disk = channel.spill is not None and channel.spill.unread  # before the ring: see send_or_spill
                if channel.ring.try_pop(&slice):
                    message = <object> slice.payload
                    Py_DECREF(message)
                    if slice.kind == KIND_ROWS:
                        action = self.add_rows(message, slice.rows, slice.bytes, slice.enqueued_ns, None)
                    else:
                        action = self.take_control(message, None)
                elif on_disk:
                    action = self.take_spilled()
                else:
                    return None
            if action is not None or self.finished:
                return action
            taken += 1
            if taken % LOOK_AT_CLOCK_EVERY == 0 and self.parts and steady_now_ns() >= self.deadline:
                return None

    cdef object take_spilled(self):
        cdef Channel channel = self.channel
        cdef int64_t rows
        message, stamp, token = channel.spill.take()
        if type(message) is not RecordBatch:
            return self.take_control(message, token)
        rows = message.num_rows
        channel.spilled_pending -= rows
        channel.pending += rows
        return self.add_rows(message, rows, message.get_total_buffer_size(), stamp, token)

    cdef object add_rows(self, object batch, int64_t rows, int64_t bytes, int64_t stamp, object token):
        cdef int64_t room = self.max_rows - self.part_rows
        cdef int64_t fits = rows
        if self.part_bytes + bytes > self.max_bytes:  # `bytes` may count a whole buffer for a slice of it
            bytes = batch.nbytes
            self.weigh_parts()
            if self.part_bytes + bytes > self.max_bytes:
                if self.parts:
                    self.keep_rest(batch, stamp, token)
                    return self.flush()
                while fits > 1 and batch.slice(0, fits).nbytes > self.max_bytes:
                    fits >>= 1  # a slice too heavy alone is halved until it fits; a row is never cut
                room = min(room, fits)
        if rows > room:
            self.keep_rest(batch.slice(room), stamp, token)
            batch, rows, token = batch.slice(0, room), room, None
            bytes = batch.nbytes
        if not self.parts:
            self.deadline = INT64_MAX if self.latency_ns < 0 else stamp + self.latency_ns
        self.parts.append(batch)
        self.part_rows += rows
        self.part_bytes += bytes
        if token is not None:
            self.parts_token = token
        return self.flush() if self.part_rows >= self.max_rows else None

    cdef void keep_rest(self, object batch, int64_t stamp, object token):
        self.rest, self.rest_stamp, self.rest_token = batch, stamp, token

    cdef int weigh_parts(self) except -1:
        """Replace the upper bounds of the waiting parts' sizes by their exact sizes, each part once."""
        cdef int64_t part
        for part in range(self.weighed_parts, len(self.parts)):
            self.weighed_bytes += self.parts[part].nbytes
        self.weighed_parts = len(self.parts)
        self.part_bytes = self.weighed_bytes
        return 0

    cdef object flush(self):
        """The waiting rows as one batch; the watermarks behind them follow."""
        cdef Channel channel = self.channel
        batch = self.parts[0] if len(self.parts) == 1 else concatenate(self.parts)
        action = Rows(batch)
        if self.behind:
            self.ready.extend(self.behind)
            self.behind = []
        self.parts = []
        self.returned_token, self.parts_token = self.parts_token, None
        channel.pending -= self.part_rows
        channel.delivered += self.part_rows
        channel.batches += 1
        self.part_rows = self.part_bytes = self.weighed_parts = self.weighed_bytes = 0
        return action

    cdef object take_control(self, object message, object token):
        if message is not None and type(message) is Watermark and self.parts and not self.flush_on_watermark:
            self.behind.append((message, token))
            return None
        if message is None:
            self.finished, self.end_token = True, token
        else:
            self.behind.append((message, token))
        if self.parts:
            return self.flush()
        if not self.behind:
            return None
        self.ready.extend(self.behind)
        self.behind = []
        return self.returned(self.ready.popleft())

    cdef object returned(self, tuple waiting):
        action, self.returned_token = waiting
        if type(action) is Watermark:
            self.channel.watermarks += 1
        else:
            self.channel.checkpoints += 1
        return action
