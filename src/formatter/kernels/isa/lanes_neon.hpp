// Lanes of two 64-bit words in one NEON register, conditions as words of all ones. What each name computes stands in
// lanes_scalar.hpp, what all have in common in lanes.hpp. In: words. Out: words, conditions, bits. Knows nothing of fields.
#pragma once

#include <arm_neon.h>

#define FORMATTER_LANES_LOOK_UP  // there are Text and look_up

#define FORMATTER_LANES_BYTES 16
#define FORMATTER_LANES_BLOCK_BYTES 16
#include "kernels/isa/vector_lanes.hpp"

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

FORMATTER_INLINE Words load_bytes_as_words(const uint8_t* from) { return Words{from[0], from[1]}; }

FORMATTER_INLINE uint64_t bits(Which a) { return (a[0] & 1) | (a[1] & 2); }

FORMATTER_INLINE void store_low_halves(uint32_t* to, Words a) { vst1_u32(to, vmovn_u64(uint64x2_t(a))); }

// A shift by 64 leaves nothing; the subtraction stops at zero, which leaves all.
FORMATTER_INLINE Words last_bytes_of(Words count) {
    const uint64x2_t shift = vqsubq_u64(vdupq_n_u64(64), vshlq_n_u64(uint64x2_t(count), 3));
    return Words(vshlq_u64(vdupq_n_u64(~uint64_t(0)), vreinterpretq_s64_u64(shift)));
}
template <int others>
FORMATTER_INLINE Words last_bytes_before(Words count) {
    return last_bytes_of(others == 0 ? count : Words(vqsubq_u64(uint64x2_t(count), vdupq_n_u64(others))));
}

FORMATTER_INLINE Words over(Words a, Words limits) { return Words(vqsubq_u8(uint8x16_t(a), uint8x16_t(limits))); }
FORMATTER_INLINE Words over_words(Words a, Words limits) {
    return Words(vqsubq_u16(uint16x8_t(a), uint16x8_t(limits)));
}

FORMATTER_INLINE Words weigh_bytes(Words a, Words weights) {
    const uint8x16_t bytes = uint8x16_t(a), by = uint8x16_t(weights);
    return Words(vpaddq_u16(vmull_u8(vget_low_u8(bytes), vget_low_u8(by)), vmull_high_u8(bytes, by)));
}
FORMATTER_INLINE Words weigh_words(Words a, Words weights) {
    const uint16x8_t words = uint16x8_t(a), by = uint16x8_t(weights);
    return Words(vpaddq_u32(vmull_u16(vget_low_u16(words), vget_low_u16(by)), vmull_high_u16(words, by)));
}
FORMATTER_INLINE Words multiply_low_halves(Words a, Words b) {
    return Words(vmull_u32(vmovn_u64(uint64x2_t(a)), vmovn_u64(uint64x2_t(b))));
}

FORMATTER_INLINE Words full_bytes(Words mask) {
    const uint8x16_t ones = vshrq_n_u8(uint8x16_t(mask), 7);
    return Words(vpaddlq_u32(vpaddlq_u16(vpaddlq_u8(ones))));
}
FORMATTER_INLINE Words divided(Words mantissa, const double* powers, Words at) {
    const float64x2_t power = {powers[at[0]], powers[at[1]]};
    return Words(vreinterpretq_u64_f64(vdivq_f64(vcvtq_f64_u64(uint64x2_t(mantissa)), power)));
}

// A byte of all ones or zeros to a bit: keep one bit a byte, another one in each, and add up eight neighbours.
FORMATTER_INLINE uint64_t one_bit_a_byte(uint8x16_t all_ones) {
    const uint8x16_t place = uint8x16_t(splat(0x8040201008040201));
    const uint8x16_t kept = vandq_u8(all_ones, place);
    return vaddv_u8(vget_low_u8(kept)) | uint64_t(vaddv_u8(vget_high_u8(kept))) << 8;
}
FORMATTER_INLINE uint64_t zero_bytes64(const uint8_t* bytes) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; i += 16) result |= one_bit_a_byte(vceqzq_u8(vld1q_u8(bytes + i))) << i;
    return result;
}

// ------------------------------------------------------------------------------------- blocks of text

FORMATTER_INLINE uint64_t equal_bits(Block a, Block b) { return one_bit_a_byte(uint8x16_t(marked_if_equal(a, b))); }
FORMATTER_INLINE bool any_marked(Block a) { return (a[0] | a[1]) != 0; }
FORMATTER_INLINE bool any_high_bit(Block a) { return vmaxvq_u8(uint8x16_t(a)) >= 0x80; }

// ------------------------------------------------------------------------------------- look-up by half bytes

FORMATTER_INLINE Text look_up(const uint8_t* table, Text at) {
    return Text(vqtbl1q_u8(vld1q_u8(table), uint8x16_t(at)));
}
// The text `bytes` earlier; `before` is the register in front of it.
template <int bytes>
FORMATTER_INLINE Text text_moved(Text text, Text before) {
    return Text(vextq_u8(uint8x16_t(before), uint8x16_t(text), 16 - bytes));
}
FORMATTER_INLINE Text subtract_to_zero(Text a, uint8_t b) { return Text(vqsubq_u8(uint8x16_t(a), vdupq_n_u8(b))); }

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
