// What follows from the comparisons of any CPU. In: blocks, `equal`, `at_most` and `mask_of` of an ISA's header, which includes
// this at its end. Out: masks, a bit a byte. Knows no format.
#pragma once

namespace formatter {
namespace FORMATTER_ISA {

static inline uint64_t equal_mask(const Block& block, Needle needle) { return mask_of(equal(block, needle)); }
static inline uint64_t at_most_mask(const Block& block, Needle needle) { return mask_of(at_most(block, needle)); }
static inline uint64_t either_mask(const Block& block, Needle a, Needle b) {
    return mask_of(equal(block, a) | equal(block, b));
}

// Bit i: the parity of bits 0 to i.
static inline uint64_t prefix_xor(uint64_t mask) {
#ifdef __PCLMUL__  // as carry-less multiplication by all ones
    const __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(int64_t(mask)), _mm_set1_epi8(char(0xff)), 0);
    return uint64_t(_mm_cvtsi128_si64(product));
#else  // by shifts: polynomial multiplication is optional on AArch64
    for (int shift = 1; shift < 64; shift *= 2) mask ^= mask << shift;
    return mask;
#endif
}

#ifndef __BMI__
static inline unsigned trailing_zeros(uint64_t mask) { return unsigned(__builtin_ctzll(mask)); }  // mask != 0
#else
static inline unsigned trailing_zeros(uint64_t mask) { return unsigned(_tzcnt_u64(mask)); }
#endif

// The position of the set bit with `rank` set bits below it; there is one.
static inline unsigned select_bit(uint64_t mask, unsigned rank) {
#ifdef __BMI2__
    return trailing_zeros(_pdep_u64(uint64_t(1) << rank, mask));
#else
    return select_bit_by_table(mask, rank);
#endif
}

#ifndef FORMATTER_PICKS_IN_REGISTERS
// No permutation here takes a whole row: the caller's loop it is.
static inline bool pick_in_registers(const uint32_t*, uint32_t, const uint32_t*, uint32_t, uint32_t, uint32_t*) {
    return false;
}
#endif

}  // namespace FORMATTER_ISA
}  // namespace formatter
