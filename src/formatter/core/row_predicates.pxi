# In: filters as plans.pxi takes them, and batches the engine made. Out: which rows pass, as a bitmap. The same code and
# hence the same answers as filters that are evaluated while parsing.
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize

cdef extern from "engine/columns/row_filter.hpp" namespace "formatter" nogil:
    void evaluate_batch "formatter::evaluate_filter"(const RowFilter&, const ArrowArray&,
                                                     const vector[const ColumnType*]&, uint64_t*)

cdef extern from * nogil:
    """
    static inline int formatter_popcount(unsigned long long word) { return __builtin_popcountll(word); }
    """
    int popcount "formatter_popcount"(uint64_t)


cdef class RowPredicate:
    """`types`: the codes of the batches' columns; only those the filter names are looked at."""
    cdef RowFilter filter
    cdef vector[const ColumnType*] types

    def __cinit__(self, list filters, list types):
        fill_filter(&self.filter, filters)
        for code in types:
            self.types.push_back(column_type(code))

    def passing(self, capsule):
        """(how many rows pass, a bit for each row). The batch stays with its capsule."""
        cdef ArrowArray* batch = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
        cdef size_t words = (batch.length + 63) // 64
        cdef bytes bits = PyBytes_FromStringAndSize(NULL, 8 * words)
        cdef uint64_t* keep = <uint64_t*>PyBytes_AS_STRING(bits)
        cdef uint64_t passed = 0
        cdef size_t i
        if words == 0:
            return 0, bits
        with nogil:
            for i in range(words):
                keep[i] = ~<uint64_t>0
            evaluate_batch(self.filter, batch[0], self.types, keep)
            for i in range(words):
                passed += popcount(keep[i])
        return passed, bits
