// The checksum of Castagnoli's polynomial, as framed snappy carries it. In: bytes. Out: 32 bits. Refuses to know frames.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

uint32_t crc32c(const uint8_t* data, size_t size);

}  // namespace formatter
