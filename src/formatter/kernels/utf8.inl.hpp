// Whether bytes are UTF-8: no stray or missing continuation bytes, no overlong forms, no surrogates, nothing above
// U+10FFFF. In: bytes. Out: yes or no. Refuses to know where the text came from.
#pragma once

#include "kernels/lanes.hpp"

namespace formatter {
namespace FORMATTER_ISA {

FORMATTER_INLINE bool is_continuation(uint8_t byte) { return (byte & 0xC0) == 0x80; }

// The size of the character at `at`, or 0 if there is none. Second bytes are bounded so that every character has one form:
//     E0 A0..BF    ED 80..9F    F0 90..BF    F4 80..8F
FORMATTER_INLINE size_t utf8_size(const uint8_t* at, size_t left) {
    const uint8_t lead = at[0];
    if (lead < 0x80) return 1;
    if (lead < 0xC2 || lead > 0xF4) return 0;
    const size_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (left < size) return 0;
    for (size_t i = 1; i < size; i++)
        if (!is_continuation(at[i])) return 0;
    if ((lead == 0xE0 && at[1] < 0xA0) || (lead == 0xED && at[1] > 0x9F) || (lead == 0xF0 && at[1] < 0x90)
        || (lead == 0xF4 && at[1] > 0x8F))
        return 0;
    return size;
}

static bool valid_utf8(const uint8_t* data, size_t size) {
    size_t at = 0;
    while (at < size) {
        while (size - at >= lanes::block_bytes && !lanes::any_high_bit(lanes::load_block(data + at)))
            at += lanes::block_bytes;
        // Then character by character as far as the block that was not plain reaches.
        const size_t stop = size - at < lanes::block_bytes ? size : at + lanes::block_bytes;
        while (at < stop) {
            const size_t step = utf8_size(data + at, size - at);
            if (step == 0) return false;
            at += step;
        }
    }
    return true;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
