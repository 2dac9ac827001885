# In: ArrowArrays the engine made, and what it found wrong. Out: capsules that any Arrow consumer imports, and findings.
# No copies of arrays.
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


cdef size_t arrays_in(const ArrowArray* array) noexcept:
    cdef size_t count = 1
    cdef int64_t i
    for i in range(array.n_children):
        count += arrays_in(array.children[i])
    return count if array.dictionary == NULL else count + arrays_in(array.dictionary)


def array_count(capsule):
    """Of a batch: columns and what is nested in them, dictionaries too."""
    return arrays_in(<const ArrowArray*>PyCapsule_GetPointer(capsule, "arrow_array"))


def reserved_call(size_t arrays, function, tuple arguments):
    """Calls pyarrow, which makes so many arrays then. Its C++ ends the process where it finds no memory: so there is
    some, before and behind, or this is a MemoryError."""
    check_reserve(arrays)
    begin_reserved_call()
    try:
        result = function(*arguments)
    finally:
        end_reserved_call()
    check_reserve(0)
    return result


cdef int check_reserve(size_t arrays) except -1:
    if not memory_is_reserved(arrays):
        raise MemoryError("formatter: no memory for batches on their way to pyarrow")
    return 0


def keep_memory_reserves(cbool wanted):
    """For tests: without them a single allocation that fails shows."""
    c_keep_memory_reserves(wanted)


c_keep_memory_reserves(True)


def codes_of_stream():
    """The codes of what is wrong with a whole stream rather than with a record."""
    return [code_name(<ErrorCode><uint8_t>i).decode() for i in range(error_code_count)
            if is_of_stream(<ErrorCode><uint8_t>i)]


cdef class Finding:
    """What is wrong with a record, and where. `column`: of the plan, -1 for the record as a whole. `sequence`: of the
    buffer the record ends in, 0 where there are none. Who hands it out says what `byte_offset` and `record` count from.
    """
    cdef readonly str code
    cdef readonly int column
    cdef readonly uint64_t sequence
    cdef readonly int64_t byte_offset
    cdef readonly uint64_t record
    cdef readonly uint32_t expected_fields
    cdef readonly uint32_t found_fields
    cdef readonly uint64_t opened
    cdef readonly bytes found
    cdef readonly bytes raw


cdef Finding finding_at(const EngineFinding& found, uint64_t sequence, int64_t byte_offset, uint64_t record):
    cdef Finding finding = Finding.__new__(Finding)
    finding.code = code_name(found.code).decode()
    finding.column = found.column
    finding.sequence = sequence
    finding.byte_offset = byte_offset
    finding.record = record
    finding.expected_fields = found.expected_fields
    finding.found_fields = found.found_fields
    finding.opened = found.opened
    finding.found = found.found
    finding.raw = found.raw
    return finding


cdef Finding finding_of_origin(const FindingAt[OriginPosition]& found):
    return finding_at(found, found.at.sequence, found.at.bytes, found.at.records)


def set_offsets_most(uint64_t size):
    """For tests: where offsets of 32 bits end, 2 GiB unless told. Returns where they ended before."""
    global offsets_most
    before, offsets_most = offsets_most, size
    return before


def pool_stats():
    """Result memory: bytes and blocks handed out, bytes kept warm, blocks ever allocated."""
    return c_pool_stats()


def pool_trim():
    """Gives warm, unused result memory back to the system."""
    c_pool_trim()
