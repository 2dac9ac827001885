# In: bytes-like objects. Out: their checksums, as the formats of compressed files carry them.

cdef extern from "engine/whole/crc32c.hpp" namespace "formatter" nogil:
    uint32_t crc32c_of "formatter::crc32c"(const uint8_t*, size_t)


def crc32c(const uint8_t[::1] data):
    cdef uint32_t checksum
    cdef size_t size = data.shape[0]
    with nogil:
        checksum = crc32c_of(&data[0] if size else NULL, size)
    return checksum
