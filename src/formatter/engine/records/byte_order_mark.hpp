// The mark that may stand in front of UTF-8 text, at the start of an input and nowhere else. In: the first bytes, all at once
// or one by one. Out: how many of them are the mark. Refuses to know: whether a format takes one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace formatter {

constexpr char byte_order_mark[] = "\xEF\xBB\xBF";
constexpr uint8_t mark_bytes = sizeof byte_order_mark - 1;

// All of the mark, or nothing.
inline size_t mark_size(const void* data, size_t size) {
    return size >= mark_bytes && std::memcmp(data, byte_order_mark, mark_bytes) == 0 ? mark_bytes : 0;
}

// Whether `c` is the mark's next byte, of which `*met` were met before. mark_bytes: none can stand here any more.
inline bool is_next_mark_byte(uint8_t c, uint8_t* met) {
    const bool next = c == uint8_t(byte_order_mark[*met]);
    *met = next ? uint8_t(*met + 1) : mark_bytes;
    return next;
}

}  // namespace formatter
