# In: a plan and contiguous bytes. Out: the batches of one range of them. Several threads may call at once; the GIL is
# released while a range is read.
from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer


cdef class DecoderLease:
    """A decoder with its scratch memory, given back to its reader for the next range."""
    cdef unique_ptr[RecordDecoder] decoder


cdef class RangeReader:
    cdef Plan plan
    cdef list spare
    cdef readonly uint64_t max_rows
    cdef readonly uint64_t max_batch_bytes

    def __init__(self, Plan plan, uint64_t max_rows, uint64_t max_batch_bytes):
        self.plan = plan
        self.spare = []
        self.max_rows = max_rows
        self.max_batch_bytes = max_batch_bytes

    def read(self, data, size_t begin, size_t end, *, bint begins_record, bint input_ends, bint stream_start,
             int64_t byte_offset):
        """(first_record, next_record, records, array capsules, error tuples, counters) of the range [begin, end)."""
        cdef DecoderLease lease
        if self.spare:
            lease = self.spare.pop()
        else:
            lease = DecoderLease()
            lease.decoder = self.plan.format.make_decoder()
        cdef Py_buffer view
        cdef RangeRequest request
        cdef RangeResult result
        PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
        try:
            request.data = <const uint8_t*>view.buf
            request.size = view.len
            request.begin = begin
            request.end = end
            request.begins_record = begins_record
            request.input_ends = input_ends
            request.stream_start = stream_start
            request.byte_offset = byte_offset
            request.max_rows = self.max_rows
            request.max_batch_bytes = self.max_batch_bytes
            with nogil:
                result = read_range(self.plan.format, lease.decoder.get()[0], request)
        finally:
            PyBuffer_Release(&view)
        self.spare.append(lease)
        cdef size_t i
        arrays = [take_array(&result.batches[i]) for i in range(result.batches.size())]
        errors = [error_tuple(result.errors[i]) for i in range(result.errors.size())]
        return (result.first_record, result.next_record, result.records, arrays, errors, counters_dict(result.counters))
