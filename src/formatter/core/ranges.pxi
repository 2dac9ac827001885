# In: a plan and windows of contiguous bytes. Out: the batches of their ranges, in order. The GIL is released while
# ranges are read; the engine's threads never ask for it.
from os import strerror as os_strerror

from libc.string cimport memset

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer


cdef dict counts_by_code(const vector[FindingAt[OriginPosition]]& findings):
    cdef uint64_t counts[64]  # there are fewer codes
    cdef size_t i
    memset(counts, 0, sizeof(counts))
    for i in range(findings.size()):
        counts[<uint8_t>findings[i].code] += 1
    return by_code(counts)


cdef dict by_code(const uint64_t* counts):
    cdef size_t i
    return {code_name(<ErrorCode><uint8_t>i).decode(): counts[i] for i in range(64) if counts[i]}


cdef told_findings(const vector[FindingAt[OriginPosition]]& findings, told):
    """Which findings are told: all, or the `told` with the first records and those of the whole input."""
    cdef size_t i, most
    cdef uint64_t last = 0
    if told is None or findings.size() <= <size_t>told:
        return range(findings.size())
    most = told
    first, whole = [], []  # (record, place)
    for i in range(findings.size()):
        if is_of_stream(findings[i].code):
            whole.append(i)
        elif <size_t>len(first) < most or findings[i].at.records < last:
            first = sorted([*first, (findings[i].at.records, i)])[:told]
            last = first[-1][0]
    return whole + [place for _, place in first]


cdef class RangeReader:
    """Reads windows range by range with `threads` threads, the caller's among them. For one caller at a time."""
    cdef Plan plan
    cdef unique_ptr[RangeCrew] crew
    cdef Py_buffer view
    cdef bint holds_view
    cdef bint splittable
    cdef readonly dict counters  # of the range handed out last

    def __init__(self, Plan plan, unsigned threads, uint64_t max_rows, uint64_t max_batch_bytes):
        self.plan = plan
        self.splittable = plan.splittable
        self.crew.reset(new RangeCrew(plan.format, threads, max_rows, max_batch_bytes))

    def begin(self, data, size_t first_record, size_t range_bytes, *, bint input_ends, int64_t byte_offset,
              size_t smallest_range_bytes=0):
        """A new window, whose first record starts at `first_record`; `data` stays in place until it is read or left."""
        cdef CrewWindow window
        self.leave()
        PyObject_GetBuffer(data, &self.view, PyBUF_SIMPLE)
        self.holds_view = True
        window.data = <const uint8_t*>self.view.buf
        window.size = self.view.len
        window.first_record = first_record
        window.range_bytes = range_bytes
        window.smallest_range_bytes = smallest_range_bytes
        window.splittable = self.splittable
        window.input_ends = input_ends
        window.byte_offset = byte_offset
        self.crew.get().begin(window)

    def next(self, told=None):
        """(records, array capsules, findings, counts of them by code) of a range, None at the window's end.
        Findings count records from the first that this reader handed out. `told`: so many of a range are enough, its
        first ones, and those of the input as a whole; None: all."""
        cdef CrewRange result
        cdef bint more
        cdef size_t i
        with nogil:
            more = self.crew.get().next(&result)
        if not more:
            return None
        self.counters = result.counters
        arrays = [take_array(&result.batches[i]) for i in range(result.batches.size())]
        chosen = told_findings(result.findings, told)
        findings = [finding_of_origin(result.findings[i]) for i in chosen]
        return result.records, arrays, findings, counts_by_code(result.findings)

    @property
    def used(self):
        """Bytes of the window through the end of the last record handed out."""
        return self.crew.get().used()

    def leave(self):
        """Forgets the window, read to its end or not."""
        if not self.holds_view:
            return
        with nogil:
            self.crew.get().abandon()
        self.holds_view = False
        PyBuffer_Release(&self.view)

    def __dealloc__(self):
        with nogil:
            self.crew.reset()
        if self.holds_view:
            PyBuffer_Release(&self.view)


def read_file(int file, uint64_t offset, uint8_t[::1] window, unsigned threads):
    """Fills `window` with the file's bytes from `offset` on; returns how many, fewer only at its end. OSError."""
    cdef Py_ssize_t got
    if window.shape[0] == 0:
        return 0
    with nogil:
        got = read_file_bytes(file, offset, &window[0], window.shape[0], threads)
    if got < 0:
        raise OSError(-got, os_strerror(-got))
    return got
