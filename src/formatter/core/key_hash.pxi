# In: bytes, or addresses of Arrow buffers the caller keeps alive. Out: XXH64. Knows no Arrow type and no null policy.
from libc.stdint cimport int64_t, uint8_t, uint64_t, uintptr_t

cdef extern from "engine/flow/key_hash.hpp" namespace "formatter" nogil:
    uint64_t native_xxh64 "formatter::xxh64"(const void* bytes, size_t size, uint64_t seed)
    void native_hash_fixed "formatter::hash_fixed"(
        const uint8_t* values, int width, const uint8_t* valid, int64_t offset, int64_t rows, uint64_t* hashes)
    void native_hash_bytes "formatter::hash_bytes"(
        const uint8_t* data, const int64_t* value_offsets, const uint8_t* valid, int64_t offset, int64_t rows,
        uint64_t* hashes)


def xxh64(const uint8_t[::1] data, uint64_t seed=0):
    """XXH64 of a bytes-like object."""
    cdef uint64_t found
    cdef size_t size = data.shape[0]
    cdef const uint8_t* start = &data[0] if size else NULL
    with nogil:
        found = native_xxh64(start, size, seed)
    return found


def hash_fixed(uint64_t[::1] hashes, uintptr_t values, int width, uintptr_t valid, int64_t offset):
    """Chain one column of 4- or 8-byte values into the hashes; the addresses belong to an array the caller holds."""
    cdef int64_t rows = hashes.shape[0]
    if rows:
        with nogil:
            native_hash_fixed(<const uint8_t*> values, width, <const uint8_t*> valid, offset, rows, &hashes[0])


def hash_bytes(uint64_t[::1] hashes, uintptr_t data, uintptr_t value_offsets, uintptr_t valid, int64_t offset):
    """Chain one column of byte strings with 64-bit offsets into the hashes."""
    cdef int64_t rows = hashes.shape[0]
    if rows:
        with nogil:
            native_hash_bytes(<const uint8_t*> data, <const int64_t*> value_offsets, <const uint8_t*> valid, offset,
                              rows, &hashes[0])
