# In: a registered format as plain Python values, already checked by formats/registered.py and registered_plans.py; its
# indexer, in Python or behind a capsule. Out: a Plan, as plans.pxi makes them for other formats.

cdef extern from "include/formatter.h" nogil:
    const char* FORMATTER_INDEXER
    int FORMATTER_MESSAGE_BYTES
    ctypedef struct formatter_records:
        const uint8_t* data
        size_t size
        uint32_t field_count
        uint32_t* ends
        uint32_t* spans
        uint8_t* kinds
        char* message
        int (*reserve)(formatter_records*, uint32_t) noexcept nogil
    ctypedef struct formatter_ends:
        const uint8_t* data
        size_t size
        uint64_t state
        size_t first, last
    ctypedef struct formatter_indexer:
        uint32_t version
        void* context
        int64_t (*index)(void*, formatter_records*) noexcept nogil
        int (*scan)(void*, formatter_ends*) noexcept nogil

cdef extern from "engine/indexed/indexed_format.hpp" namespace "formatter" nogil:
    cdef cppclass Indexer:
        pass
    cdef cppclass IndexedFormat:
        shared_ptr[CsvFormat] fields
        shared_ptr[Indexer] indexer
        cbool scans
        vector[uint32_t] wanted

cdef extern from "engine/indexed/indexed_record_format.hpp" namespace "formatter" nogil:
    RecordFormat indexed_record_format(shared_ptr[IndexedFormat]) except +

cdef extern from *:
    """
    #include "engine/indexed/indexed_format.hpp"

    typedef int64_t (*RecordsIndexed)(PyObject*, formatter_records*);
    typedef int (*EndsScanned)(PyObject*, formatter_ends*);

    class PythonIndexer : public formatter::Indexer {
      public:
        PythonIndexer(PyObject* calls, RecordsIndexed index, EndsScanned scan)
            : calls_(calls), index_(index), scan_(scan) {}
        int64_t index(formatter_records* records) const override { return index_(calls_.get(), records); }
        int scan(formatter_ends* ends) const override { return scan_(calls_.get(), ends); }

      private:
        KeptObject calls_;
        RecordsIndexed index_;
        EndsScanned scan_;
    };

    class NativeIndexer : public formatter::Indexer {
      public:
        NativeIndexer(PyObject* capsule, const formatter_indexer* native) : capsule_(capsule), native_(native) {}
        int64_t index(formatter_records* records) const override {
            return native_->index(native_->context, records);
        }
        int scan(formatter_ends* ends) const override { return native_->scan(native_->context, ends); }

      private:
        KeptObject capsule_;
        const formatter_indexer* native_;
    };

    std::shared_ptr<formatter::Indexer> python_indexer(PyObject* calls, RecordsIndexed index, EndsScanned scan) {
        return std::make_shared<PythonIndexer>(calls, index, scan);
    }
    std::shared_ptr<formatter::Indexer> native_indexer(PyObject* capsule, const formatter_indexer* native) {
        return std::make_shared<NativeIndexer>(capsule, native);
    }
    """
    ctypedef int64_t (*RecordsIndexed)(object, formatter_records*) noexcept with gil
    ctypedef int (*EndsScanned)(object, formatter_ends*) noexcept with gil
    shared_ptr[Indexer] python_indexer(object calls, RecordsIndexed, EndsScanned) except +
    shared_ptr[Indexer] native_indexer(object capsule, const formatter_indexer*) except +


cdef int64_t index_records(object calls, formatter_records* records) noexcept with gil:
    """`calls.records` takes bytes and gives (ends, spans, kinds or None) as bytes; or a message, as bytes."""
    try:
        found = calls.records(PyBytes_FromStringAndSize(<const char*>records.data, records.size))
        if isinstance(found, bytes):
            shown = min(len(found), FORMATTER_MESSAGE_BYTES - 1)
            memcpy(records.message, <const char*>found, shown)
            records.message[shown] = 0
            return -1
        ends, spans, kinds = found
        if not records.reserve(records, len(ends) // sizeof(uint32_t)):
            return -1
        memcpy(records.ends, <const char*><bytes>ends, len(ends))
        memcpy(records.spans, <const char*><bytes>spans, len(spans))
        if kinds is not None:
            memcpy(records.kinds, <const char*><bytes>kinds, len(kinds))
        return len(ends) // sizeof(uint32_t)
    except BaseException as error:  # of which the engine knows nothing: want of memory, an interrupt
        calls.keep(error)
        return -1


cdef int scan_ends(object calls, formatter_ends* ends) noexcept with gil:
    cdef size_t shown
    try:
        found = calls.ends(PyBytes_FromStringAndSize(<const char*>ends.data, ends.size), ends.state)
        if found is None:
            return -1
        first, last, state = found
        ends.state = state
        if first is not None:
            ends.first, ends.last = first, last
        return 0
    except BaseException as error:
        calls.keep(error)
        return -1


def native_indexer_scans(capsule):
    """Whether what the capsule holds finds record ends by itself. ValueError: it holds none of this version."""
    cdef const formatter_indexer* native = <const formatter_indexer*>PyCapsule_GetPointer(capsule, FORMATTER_INDEXER)
    if native.version != FORMATTER_VERSION or native.index == NULL:
        raise ValueError(f"an indexer of version {native.version}, not of {FORMATTER_VERSION}")
    return native.scan != NULL


def indexed_plan(object calls, object capsule, dict dialect, list columns, bint scans):
    """`columns`: dicts of one ColumnSpec each, whose `field` is its position; those of the output first. Records are
    found by `calls`, or by what `capsule` holds."""
    cdef Plan plan = Plan.__new__(Plan)
    cdef shared_ptr[CsvFormat] fields = make_shared[CsvFormat]()
    cdef shared_ptr[IndexedFormat] shared = make_shared[IndexedFormat]()
    cdef IndexedFormat* target = shared.get()
    fill_csv(fields.get(), dialect, columns)
    target.fields = fields
    target.scans = scans
    for column in columns:
        target.wanted.push_back(column["field"])
    if capsule is None:
        target.indexer = python_indexer(calls, index_records, scan_ends)
    else:
        target.indexer = native_indexer(
            capsule, <const formatter_indexer*>PyCapsule_GetPointer(capsule, FORMATTER_INDEXER))
    plan.format = indexed_record_format(shared)
    plan.column_names = tuple(column["name"] for column in columns)
    return plan
