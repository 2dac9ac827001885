// The lanes of the kernel being compiled, by the name it gave itself: isa/lanes_<FORMATTER_ISA>.hpp, and below what all have
// in common. In: words. Out: words, conditions, bits. Knows nothing of fields.
#pragma once

#include <cstddef>
#include <cstdint>

#define FORMATTER_INLINE static inline __attribute__((always_inline, unused))

// Formatting would put spaces around the path's slashes.
// clang-format off
#define FORMATTER_LANES_FILE_(name) kernels/isa/lanes_##name.hpp
#define FORMATTER_LANES_FILE(name) FORMATTER_LANES_FILE_(name)
#define FORMATTER_LANES_QUOTED_(file) #file
#define FORMATTER_LANES_QUOTED(file) FORMATTER_LANES_QUOTED_(file)
#include FORMATTER_LANES_QUOTED(FORMATTER_LANES_FILE(FORMATTER_ISA))
// clang-format on

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

FORMATTER_INLINE Which both(Which a, Which b) { return Which(a & b); }
FORMATTER_INLINE Which either(Which a, Which b) { return Which(a | b); }
#ifndef FORMATTER_LANES_MASKS
FORMATTER_INLINE Which is_set(Words a) { return ~is_zero(a); }
FORMATTER_INLINE Words keep_if(Which which, Words a) { return a & which; }
FORMATTER_INLINE Words drop_if(Which which, Words a) { return a & ~which; }
FORMATTER_INLINE Words negate_if(Which which, Words a) { return (a ^ which) - which; }
#endif

FORMATTER_INLINE Words last_bytes(Words count) { return last_bytes_before<0>(count); }

// Eight bytes of value 0 to 9, the most significant first in the text, as one number.
FORMATTER_INLINE Words eight_digits(Words digits) {
    if (width == 1) {  // two products of the whole word
        const Words tens = digits * 10 + (digits >> 8), pairs = splat(0x000000FF000000FF);
        return ((tens & pairs) * 0x000F424000000064 + (tens >> 16 & pairs) * 0x0000271000000001) >> 32;
    }
    const Words fours = weigh_words(weigh_bytes(digits, splat(0x010A010A010A010A)), splat(0x0001006400010064));
    return multiply_low_halves(fours, splat(10000)) + (fours >> 32);
}

// `through_point` holds 0xFF in every byte up to and with the decimal point, in text order; zero if there is no point.
// The quotient of the exact mantissa (< 2^52) and the power of ten after the point, correctly rounded, as bits.
#ifndef FORMATTER_LANES_QUOTIENTS
FORMATTER_INLINE Words quotient8(Words mantissa, Words through_point) {
    static constexpr double powers[9] = {1, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1, 1};
    return divided(mantissa, powers, full_bytes(through_point));
}
FORMATTER_INLINE Words quotient16(Words mantissa, Words through_point_first, Words through_point_last) {
    static constexpr double powers[17] = {1,   1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9, 1e8,
                                          1e7, 1e6,  1e5,  1e4,  1e3,  1e2,  1e1,  1};
    return divided(mantissa, powers, full_bytes(through_point_first) + full_bytes(through_point_last));
}
#endif

#if defined(FORMATTER_LANES_LOOK_UP) && !defined(FORMATTER_LANES_MASKS)
FORMATTER_INLINE Text load_text(const uint8_t* from) { return Text(load_block(from)); }
FORMATTER_INLINE bool any_byte(Text a) { return any_marked(Block(a)); }
FORMATTER_INLINE bool any_high_byte(Text a) { return any_high_bit(Block(a)); }
#endif

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
