// Which bytes an escape makes literal. In: where escapes stand, a block of 64 bytes at a time. Out: the bytes behind those that are
// not escaped themselves. Refuses to know what else the bytes are.
#pragma once

#include <cstdint>

namespace formatter {
namespace FORMATTER_ISA {

// The bytes behind unescaped backslashes; `carry` is whether the block's first byte is one, and becomes the next block's.
//
//     backslashes  0 1 1 1 0 1 1 0      a run that begins at an odd place is added to itself: what then lies behind an
//     escaped      0 0 1 0 1 0 1 0      odd count of them differs from what lies behind an even one
static inline uint64_t escaped_bytes(uint64_t backslashes, uint64_t& carry) {
    constexpr uint64_t even = 0x5555555555555555;
    backslashes &= ~carry;
    const uint64_t behind = backslashes << 1 | carry;
    const uint64_t odd_starts = backslashes & ~even & ~behind;
    uint64_t even_runs;
    carry = __builtin_add_overflow(odd_starts, backslashes, &even_runs);
    return (even ^ even_runs << 1) & behind;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
