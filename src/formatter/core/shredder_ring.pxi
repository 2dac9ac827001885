# In: Python numbers and arrays. Out: what the shred ring takes; and its declaration. Refuses what is no sequence.
from libc.stdint cimport uint8_t, uint32_t, uint64_t

cdef extern from "engine/shred/locked_shred_ring.hpp" namespace "formatter" nogil:
    cdef struct SequenceSpan:
        uint64_t first
        uint64_t last
    cdef struct Claims:
        uint32_t count
        SequenceSpan spans[2]
    cdef enum class ShredStatus "formatter::ShredRing::Status":
        ok
        duplicate
        zero
        out_of_range
        finished
        no_memory
        hole
        beyond
    cdef enum class ShredRestoreStatus "formatter::ShredRing::RestoreStatus":
        ok
        truncated
        not_a_snapshot
        wrong_version
        corrupt
        no_memory
    const uint64_t max_shred_slots "formatter::ShredRing::max_slots"
    cdef cppclass ShredRing:
        ShredStatus process(uint64_t sequence, bint has_delimiter, Claims& claims)
        ShredStatus finish(uint64_t last, Claims& claims)
        uint64_t prefix()
        uint64_t highest()
        uint64_t last_delimiter()
        uint64_t prefix_position()
        uint64_t highest_position()
        uint64_t sequence_at(uint64_t position)
        uint64_t max_sequence()
        uint64_t reach()
        uint64_t pending()
        uint64_t slots()
        bint seen(uint64_t sequence)
        bint delimited(uint64_t sequence)
        bint finished()
        size_t holes(SequenceSpan* spans, size_t room, uint64_t last)
        size_t heap_bytes()
        size_t serialized_size()
        void serialize(uint8_t* out, uint8_t owner_byte)

        @staticmethod
        ShredRestoreStatus restore(const uint8_t* data, size_t size, ShredRing& ring, uint8_t* owner_byte)
    cdef cppclass LockedShredRing:
        LockedShredRing(uint64_t max_sequence, uint64_t floor_slots)
        bint try_lock()
        void lock()
        void unlock()
        ShredStatus process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count,
                                 bint skip_duplicates, SequenceSpan* spans, size_t& span_count, size_t& taken)
        bint try_process_many(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count,
                              bint skip_duplicates, SequenceSpan* spans, size_t& span_count, size_t& taken,
                              ShredStatus& status)
        ShredRing ring

import operator

import numpy as np

from formatter.errors import OptionError, SequenceError

cdef object shred_uint64 = np.dtype(np.uint64)
cdef object shred_bool = np.dtype(np.bool_)


cdef struct ShredFacts:  # one consistent look at a ring
    uint64_t prefix
    uint64_t highest
    uint64_t last_delimiter
    uint64_t prefix_position
    uint64_t highest_position
    uint64_t max_sequence
    uint64_t reach
    uint64_t pending
    uint64_t slots
    size_t heap_bytes
    bint finished


cdef ShredFacts shred_facts(ShredRing* ring) noexcept nogil:
    cdef ShredFacts facts
    facts.prefix = ring.prefix()
    facts.highest = ring.highest()
    facts.last_delimiter = ring.last_delimiter()
    facts.prefix_position = ring.prefix_position()
    facts.highest_position = ring.highest_position()
    facts.max_sequence = ring.max_sequence()
    facts.reach = ring.reach()
    facts.pending = ring.pending()
    facts.slots = ring.slots()
    facts.heap_bytes = ring.heap_bytes()
    facts.finished = ring.finished()
    return facts


cdef tuple shred_claims(const Claims* claims):
    if claims.count == 0:
        return ()
    if claims.count == 1:
        return ((claims.spans[0].first, claims.spans[0].last),)
    return ((claims.spans[0].first, claims.spans[0].last), (claims.spans[1].first, claims.spans[1].last))


cdef uint64_t shred_option(str name, value, uint64_t most) except? 0:
    if isinstance(value, bool) or not hasattr(value, "__index__") or not 1 <= value <= most:
        raise OptionError(f"shredder: {name}: expected a whole number from 1 to {most}, found {value!r}")
    return value


cdef uint64_t shred_sequence(value) except? 0:
    number = operator.index(value)
    if not 0 <= number <= 0xFFFFFFFFFFFFFFFF:
        raise SequenceError(
            f"shredder: sequence {number}: expected 1 to 2**64 - 1, found {number}; "
            "number each origin's buffers from 1",
            sequence=number)
    return number


cdef object shred_sequence_array(sequences):
    """As uint64[n]; the common case, an array of them already, costs one comparison."""
    if type(sequences) is np.ndarray and sequences.dtype is shred_uint64:
        return sequences if sequences.flags.c_contiguous else np.ascontiguousarray(sequences)
    if not hasattr(sequences, "dtype"):
        numbers = [shred_sequence(number) for number in sequences]  # exact: a list may hold more than an int64
        return np.array(numbers, shred_uint64)
    found = np.asarray(sequences)
    if found.dtype.kind not in "iu":
        raise OptionError(f"shredder: sequences: expected whole numbers (uint64), found dtype {found.dtype}")
    if found.dtype.kind == "i" and found.size and found.min() < 0:
        shred_sequence(found[found < 0][0])  # refuses, before any is taken
    return found.astype(shred_uint64, order="C")


cdef object shred_flag_array(has_delimiter):
    if type(has_delimiter) is np.ndarray and has_delimiter.dtype is shred_bool:
        return has_delimiter if has_delimiter.flags.c_contiguous else np.ascontiguousarray(has_delimiter)
    found = np.asarray(has_delimiter)
    if found.size and found.dtype.kind not in "biu":
        raise OptionError(f"shredder: has_delimiter: expected booleans, found dtype {found.dtype}")
    return found.astype(shred_bool, order="C")
