# In: ArrowArrays the engine made. Out: capsules that any Arrow consumer imports, errors as plain tuples. No copies.
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stdlib cimport free, malloc


cdef void release_capsule(object capsule) noexcept:
    cdef ArrowArray* array = <ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array")
    if array.release != NULL:  # not imported by anyone
        array.release(array)
    free(array)


cdef object take_array(OwnedArray* owned):
    """Moves an array into a capsule; nobody else owns it then."""
    cdef ArrowArray* array = <ArrowArray*>owned
    cdef ArrowArray* moved = <ArrowArray*>malloc(sizeof(ArrowArray))
    if moved == NULL:
        raise MemoryError("formatter: no memory for a batch")
    moved.release = NULL
    try:
        capsule = PyCapsule_New(moved, "arrow_array", release_capsule)
    except MemoryError:
        free(moved)
        raise
    moved[0] = array[0]
    array.release = NULL
    return capsule


def array_address(capsule):
    """Where the capsule's ArrowArray lies: for consumers that move it out of there, with a schema they have already."""
    return <size_t>PyCapsule_GetPointer(capsule, "arrow_array")


cdef tuple error_tuple(const RowError& error):
    """(code, column, sequence, byte_offset, record, found_fields, found, raw)"""
    return (code_name(error.code).decode(), error.column, error.sequence, error.byte_offset, error.record,
            error.found_fields, <bytes>error.found, <bytes>error.raw)


cdef dict counters_dict(const DecodeCounters& counters):
    return {"records": counters.records, "rows": counters.rows, "filtered": counters.filtered,
            "rejects": counters.rejected, "nulled": counters.nulled}


def set_offsets_most(uint64_t size):
    """For tests: where offsets of 32 bits end, 2 GiB unless told. Returns where they ended before."""
    global offsets_most
    before, offsets_most = offsets_most, size
    return before


def pool_stats():
    """Result memory: bytes and blocks handed out, bytes kept warm, blocks ever allocated."""
    cdef PoolStats stats = c_pool_stats()
    return {"live_bytes": stats.live_bytes, "live_blocks": stats.live_blocks, "idle_bytes": stats.idle_bytes,
            "fresh_blocks": stats.fresh_blocks}


def pool_trim():
    """Gives warm, unused result memory back to the system."""
    c_pool_trim()
