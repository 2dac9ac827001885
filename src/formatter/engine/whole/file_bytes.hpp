// A stretch of a file to memory, by several threads at once. In: an open file, an offset, memory. Out: its bytes. Knows
// nothing of what is in them.
//
// A copy out of the system's cache takes a third to two thirds as long as reading what is copied: done by one thread while the
// others wait, it would be what limits them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

// The bytes read, fewer than `size` only at the file's end; or -errno.
ptrdiff_t read_file_bytes(int file, uint64_t offset, uint8_t* to, size_t size, unsigned threads);

}  // namespace formatter
