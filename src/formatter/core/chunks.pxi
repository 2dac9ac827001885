# In: a plan and chunks by address. Out: how each chunk can run, as plain arrays; and, once that is settled, the batches
# of the records that end in them. The GIL is released for both.
from libc.string cimport memcpy

COURSE_TYPE = np.dtype([("start", np.uint16), ("end", np.uint16), ("last_end", np.uint32)])


def survey_chunks(Plan plan, const uint64_t[::1] addresses, const uint64_t[::1] sizes):
    """(courses of all chunks, how many are each chunk's, which of them is likely): see engine/whole/chunk_survey.hpp"""
    cdef Py_ssize_t i, count = addresses.shape[0]
    cdef ChunkSurvey survey
    cdef vector[ChunkCourse] courses
    counts, likely = np.empty(count, np.int64), np.empty(count, np.int64)
    cdef int64_t[::1] count_view = counts, likely_view = likely
    with nogil:
        for i in range(count):
            survey_chunk(plan.format.ending, <const uint8_t*><size_t>addresses[i], sizes[i], &survey)
            courses.insert(courses.end(), survey.courses.begin(), survey.courses.end())
            count_view[i] = survey.courses.size()
            likely_view[i] = survey.likely
    packed = np.empty(courses.size(), COURSE_TYPE)
    cdef uint8_t[::1] bytes_view = packed.view(np.uint8)
    if courses.size():
        memcpy(&bytes_view[0], courses.data(), courses.size() * sizeof(ChunkCourse))
    return packed, counts, likely


def first_chunk_state(Plan plan):
    """The state an origin begins in."""
    return first_state(plan.format.ending)


cdef class ChunkReader:
    """A plan's decoder for chunks whose start is known; one thread at a time."""
    cdef Plan plan
    cdef unique_ptr[RecordDecoder] decoder
    cdef ChunkLimits limits

    def __init__(self, Plan plan, *, uint64_t max_rows, uint64_t max_batch_bytes, bint count_rows):
        self.plan = plan
        self.decoder = plan.format.make_decoder()
        self.limits.max_rows = max_rows
        self.limits.max_batch_bytes = max_batch_bytes
        self.limits.count_rows = count_rows

    def read(self, const uint64_t[::1] addresses, const uint64_t[::1] sizes, const uint64_t[::1] carry_addresses,
             const uint64_t[::1] carry_sizes, const int64_t[::1] states, const int64_t[::1] begins,
             const int64_t[::1] ends_stream, const int64_t[::1] stream_starts, const int64_t[::1] byte_offsets):
        """(array capsules, [(chunk, finding)], rows through each chunk if counted, counters). The chunk is the one the
        record ends in; bytes are counted in the origin, records from the chunk's first."""
        cdef vector[PlacedChunk] chunks
        cdef ChunkRows out
        cdef Py_ssize_t i, count = addresses.shape[0]
        chunks.resize(count)
        with nogil:
            for i in range(count):
                chunks[i].data = <const uint8_t*><size_t>addresses[i]
                chunks[i].size = sizes[i]
                chunks[i].carry = <const uint8_t*><size_t>carry_addresses[i]
                chunks[i].carry_size = carry_sizes[i]
                chunks[i].state = states[i]
                chunks[i].begin = begins[i]
                chunks[i].ends_stream = ends_stream[i] != 0
                chunks[i].stream_start = stream_starts[i] != 0
                chunks[i].byte_offset = byte_offsets[i]
        # One that is left in the middle of something is not used again.
        cdef unique_ptr[RecordDecoder] decoder = move(self.decoder)
        if not decoder:
            decoder = self.plan.format.make_decoder()
        with nogil:
            read_chunks(self.plan.format, decoder.get()[0], chunks.data(), count, self.limits, &out)
        self.decoder = move(decoder)
        cdef size_t j
        arrays = [take_array(&out.batches[j]) for j in range(out.batches.size())]
        findings = [(out.findings[j].chunk, finding_at(out.findings[j].what, 0, out.findings[j].what.at.bytes,
                                                       out.findings[j].what.at.records))
                    for j in range(out.findings.size())]
        return arrays, findings, list(out.rows_through), {**out.counters, "spanning": out.spanning}
