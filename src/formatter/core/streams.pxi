# In: buffers of many origins from any thread. Out: finished batches, errors with certain positions, counts.
# Thin: the engine locks for itself, the GIL is released around every call.
from cpython.bytes cimport PyBytes_CheckExact, PyBytes_GET_SIZE

from formatter.errors import ClosedError

PUSH_STATUS = ("ok", "duplicate", "zero", "out_of_range", "finished", "pending_limit", "hole", "beyond")
CLOSED_FOR_MEMORY = ("stream: it is closed, for memory ran out in an earlier call that had taken buffers in; go on "
                     "from the last checkpoint, or from the start")
CLOSED_BY_FORK = ("stream: it is closed in this process, which was forked while it was shared or another thread was "
                  "in a call of it; make the stream in the process that uses it")


cdef class EngineStream:
    cdef Plan plan
    cdef StreamEngine* engine
    cdef tuple names  # what columns are called in counts
    cdef dict markers  # version of a plan: what its batches carry
    cdef int told  # so many findings of a call are enough, the others are counted; negative: all

    def __cinit__(self, Plan plan, *, bint ordered, bint ignore_duplicates, uint64_t max_sequence,
                  uint64_t max_record_bytes, uint64_t max_pending_bytes, uint64_t max_rows, uint64_t max_batch_bytes,
                  int64_t max_latency_ns, int told=-1, tuple names=None, object marker=None):
        cdef StreamOptions options
        copy_format(&options.format, plan.format)
        options.ordered = ordered
        options.ignore_duplicates = ignore_duplicates
        options.max_sequence = max_sequence
        options.max_record_bytes = max_record_bytes
        options.max_pending_bytes = max_pending_bytes
        options.max_rows = max_rows
        options.max_batch_bytes = max_batch_bytes
        options.max_latency_ns = max_latency_ns
        self.plan = plan
        self.names = plan.column_names if names is None else names
        self.markers = {1: marker}
        self.told = told
        self.engine = new StreamEngine(options)

    def __dealloc__(self):
        if self.engine != NULL and self.engine.closed() != StreamClosed.forked:
            del self.engine

    cdef int check(self) except -1:
        if self.engine.closed() == StreamClosed.no:
            return check_reserve(0)  # while nothing has been taken in yet
        raise ClosedError(CLOSED_BY_FORK if self.engine.closed() == StreamClosed.forked else CLOSED_FOR_MEMORY)

    cdef tuple handed_out(self, PushResult* result):
        """(status, not_taken, appended, [(origin, spans, capsule, number, marker)], [(origin, finding)], holes,
        how many records were bad, by code)"""
        try:
            return push_result(result, self.markers, self.told)
        except MemoryError:
            self.engine.close(StreamClosed.out_of_memory)  # some of it is lost
            raise

    def close(self):
        """Batches that were handed out did not arrive: nothing may follow them."""
        self.engine.close(StreamClosed.out_of_memory)

    def leave_to_parent(self):
        """In the child of a fork: the stream goes on in the process that made it."""
        self.engine.close(StreamClosed.forked)

    @property
    def closed(self):
        return self.engine.closed() != StreamClosed.no

    def push(self, data, uint64_t origin, uint64_t sequence, bint append=False):
        """One buffer; with `append` it is the one behind the highest seen."""
        cdef Py_buffer view
        cdef PushedBuffer buffer
        cdef PushResult result
        self.check()
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        buffer.origin = origin
        buffer.sequence = sequence
        buffer.data = <const uint8_t*>view.buf
        buffer.size = view.len
        try:
            with nogil:
                result = self.engine.push(&buffer, 1, append)
        finally:
            PyBuffer_Release(&view)
        return self.handed_out(&result)

    def push_many(self, const uint64_t[::1] addresses, const uint64_t[::1] sizes, const uint64_t[::1] origins,
                  const uint64_t[::1] sequences):
        """Buffers by address; the caller keeps them alive during the call."""
        cdef vector[PushedBuffer] buffers
        cdef PushResult result
        cdef Py_ssize_t i, count = addresses.shape[0]
        cdef bint one_origin = origins is None
        self.check()
        buffers.resize(count)
        with nogil:
            for i in range(count):
                buffers[i].origin = 0 if one_origin else origins[i]
                buffers[i].sequence = sequences[i]
                buffers[i].data = <const uint8_t*><size_t>addresses[i]
                buffers[i].size = sizes[i]
            result = self.engine.push(buffers.data(), count, False)
        return self.handed_out(&result)

    def push_list(self, list data, const uint64_t[::1] origins, const uint64_t[::1] sequences):
        """Bytes-like objects; without origins all are of origin 0."""
        cdef vector[PushedBuffer] buffers
        cdef vector[Py_buffer] views
        cdef PushResult result
        cdef Py_ssize_t i, count = len(data)
        cdef bint one_origin = origins is None
        cdef Py_buffer view
        cdef object item
        cdef tuple kept = tuple(data)  # the list may change while the GIL is released
        self.check()
        buffers.resize(count)
        views.reserve(count)
        try:
            for i in range(count):
                item = kept[i]
                if PyBytes_CheckExact(item):
                    buffers[i].data = <const uint8_t*>PyBytes_AS_STRING(item)
                    buffers[i].size = PyBytes_GET_SIZE(item)
                else:
                    PyObject_GetBuffer(item, &view, PyBUF_SIMPLE)
                    views.push_back(view)
                    buffers[i].data = <const uint8_t*>view.buf
                    buffers[i].size = view.len
                buffers[i].origin = 0 if one_origin else origins[i]
                buffers[i].sequence = sequences[i]
            with nogil:
                result = self.engine.push(buffers.data(), count, False)
        finally:
            for i in range(<Py_ssize_t>views.size()):
                PyBuffer_Release(&views[i])
        return self.handed_out(&result)

    def lost(self, uint64_t origin, uint64_t sequence):
        cdef PushResult result
        self.check()
        with nogil:
            result = self.engine.lost(origin, sequence)
        return self.handed_out(&result)

    def finish(self, uint64_t origin, last_sequence):
        cdef PushResult result
        cdef bint given = last_sequence is not None
        cdef uint64_t last = last_sequence if given else 0
        self.check()
        with nogil:
            result = self.engine.finish(origin, given, last)
        return self.handed_out(&result)

    def flush(self, bint everything):
        cdef PushResult result
        self.check()
        with nogil:
            result = self.engine.flush(everything)
        return self.handed_out(&result)

    def replan(self, Plan plan, const uint32_t[::1] columns, object marker, bint force):
        """(the plan's version, 0 if it was not applied, result, counts before it, columns that headers lack).

        Batches of rows decoded from here on carry `marker`. `columns`: what each of the plan's is in counts and errors.
        Counts: buffers and bytes admitted, batches that have left, whether calls still decode by older plans."""
        cdef PushResult result
        cdef PlanChange change
        cdef vector[uint32_t] called
        cdef Py_ssize_t i
        self.check()
        for i in range(columns.shape[0]):
            called.push_back(columns[i])
        cdef uint64_t version = next(reversed(self.markers)) + 1
        self.markers[version] = marker  # before the first batch that carries it
        with nogil:
            change = self.engine.replan(plan.format, called, force, &result)
        missing = names_of(change.missing)
        if not change.applied:
            del self.markers[version]
            return 0, self.handed_out(&result), (0, 0, 0, False), missing
        done = self.handed_out(&result)
        for older in [known for known in self.markers if known < change.oldest]:
            del self.markers[older]
        return change.version, done, (change.buffers, change.bytes, change.batches, change.parsing), missing

    def await_older(self, uint64_t version, double seconds):
        """Waits, so long at most, for calls that decode by older plans. Returns how many batches have left."""
        cdef int64_t nanoseconds = <int64_t>(seconds * 1e9)
        cdef uint64_t batches
        self.check()
        with nogil:
            batches = self.engine.await_older(version, nanoseconds)
        return batches

    def open_origins(self):
        cdef vector[uint64_t] found
        self.check()
        with nogil:
            found = self.engine.open_origins()
        return list(found)

    cdef check_known(self):
        """Counts are there to the end, but in a child that cannot know what they were to become."""
        if self.engine.closed() == StreamClosed.forked:
            self.check()

    def counts(self):
        cdef StreamCounts found
        self.check_known()
        with nogil:
            found = self.engine.counts()
        cdef dict counts = (<StreamTotals*>&found)[0]
        counts |= counts.pop("decode")
        values = <list>found.values_decoded
        counts["values_decoded"] = dict(zip(self.names, values + [0] * (len(self.names) - len(values))))
        return counts

    def progress(self):
        """(batches that have left, each has a number below; origins that are not finished)."""
        cdef StreamProgress found
        self.check_known()
        with nogil:
            found = self.engine.progress()
        return found.batches, found.open_origins

    def checkpoint(self):
        """(state, result): the state of every origin, None if there is no memory for it; the batches that were open."""
        cdef PushResult result
        cdef string image
        cdef bytes state = None
        self.check()
        try:
            with nogil:
                image = self.engine.checkpoint(&result)
            state = <bytes>image
        except MemoryError:
            if self.closed:
                raise
        return state, self.handed_out(&result)

    def restore(self, bytes state):
        cdef string image
        set_text(&image, state)
        cdef bint fine
        with nogil:
            fine = self.engine.restore(image)
        return fine


cdef tuple push_result(PushResult* result, dict markers, int told):
    cdef size_t i, j
    cdef uint64_t counts[64]  # there are fewer codes
    cdef ErrorCode code
    cdef list batches = [], findings = [], holes = []
    cdef list spans
    for i in range(result.batches.size()):
        spans = []
        for j in range(result.batches[i].spans.size()):
            spans.append((result.batches[i].spans[j].first, result.batches[i].spans[j].last))
        batches.append((result.batches[i].origin, tuple(spans), take_array(&result.batches[i].array),
                        result.batches[i].number, markers[result.batches[i].plan.get().version]))
    memset(counts, 0, sizeof(counts))
    for i in range(result.findings.size()):
        code = result.findings[i].what.code
        counts[<uint8_t>code] += 1
        if told < 0 or <Py_ssize_t>len(findings) < told or is_of_stream(code):
            findings.append((result.findings[i].origin, finding_of_origin(result.findings[i].what)))
    for i in range(result.holes.size()):
        holes.append((result.holes[i].first, result.holes[i].last))
    return (PUSH_STATUS[<int>result.status], tuple(result.not_taken), result.appended, batches, findings, holes,
            by_code(counts))
