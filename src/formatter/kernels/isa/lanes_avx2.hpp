// Lanes of four 64-bit words in one AVX2 register, conditions as words of all ones. What each name computes stands in
// lanes_scalar.hpp, what all have in common in lanes.hpp. In: words. Out: words, conditions, bits. Knows nothing of fields.
#pragma once

#include <immintrin.h>

#define FORMATTER_LANES_QUOTIENTS  // there are quotient8 and quotient16
#define FORMATTER_LANES_LOOK_UP  // there are Text and look_up

#define FORMATTER_LANES_BYTES 32
#define FORMATTER_LANES_BLOCK_BYTES 32
#include "kernels/isa/vector_lanes.hpp"

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

FORMATTER_INLINE Words load_bytes_as_words(const uint8_t* from) {
    int32_t bytes;
    __builtin_memcpy(&bytes, from, 4);
    return Words(_mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes)));
}

FORMATTER_INLINE uint64_t bits(Which a) { return uint32_t(_mm256_movemask_pd(_mm256_castsi256_pd(__m256i(a)))); }

FORMATTER_INLINE void store_low_halves(uint32_t* to, Words a) {
    const __m256i even = _mm256_permutevar8x32_epi32(__m256i(a), _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(even));
}

// A shift by 64 or more leaves nothing; the subtraction stops at zero, which leaves all.
template <int others>
FORMATTER_INLINE Words last_bytes_before(Words count) {
    const __m256i shift = _mm256_subs_epu16(_mm256_set1_epi64x(64 + 8 * others), _mm256_slli_epi64(__m256i(count), 3));
    return Words(_mm256_sllv_epi64(_mm256_set1_epi64x(-1), shift));
}

FORMATTER_INLINE Words over(Words a, Words limits) { return Words(_mm256_subs_epu8(__m256i(a), __m256i(limits))); }
FORMATTER_INLINE Words over_words(Words a, Words limits) {
    return Words(_mm256_subs_epu16(__m256i(a), __m256i(limits)));
}

FORMATTER_INLINE Words weigh_bytes(Words a, Words weights) {
    return Words(_mm256_maddubs_epi16(__m256i(a), __m256i(weights)));
}
FORMATTER_INLINE Words weigh_words(Words a, Words weights) {
    return Words(_mm256_madd_epi16(__m256i(a), __m256i(weights)));
}
FORMATTER_INLINE Words multiply_low_halves(Words a, Words b) { return Words(_mm256_mul_epu32(__m256i(a), __m256i(b))); }

// Below 2^52 a number laid under the exponent of 2^52 is that number and 2^52.
FORMATTER_INLINE __m256d to_double(Words a) {
    const __m256d two_to_52 = _mm256_set1_pd(4503599627370496.0);
    return _mm256_sub_pd(_mm256_or_pd(_mm256_castsi256_pd(__m256i(a)), two_to_52), two_to_52);
}
FORMATTER_INLINE Words full_bytes(Words mask) {
    return Words(_mm256_sad_epu8(__m256i(mask & splat(0x0101010101010101)), _mm256_setzero_si256()));
}
// 1 for zero bytes, else the power of ten of 8 - bytes: exact as float, and picked by the low three bits.
FORMATTER_INLINE __m256d power_after(Words bytes) {
    const __m256 powers = _mm256_setr_ps(1, 1e7f, 1e6f, 1e5f, 1e4f, 1e3f, 1e2f, 1e1f);
    const __m256i low = _mm256_permutevar8x32_epi32(__m256i(bytes), _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6));
    return _mm256_cvtps_pd(_mm256_castps256_ps128(_mm256_permutevar8x32_ps(powers, low)));
}
FORMATTER_INLINE Words quotient8(Words mantissa, Words through_point) {
    const __m256d quotient = _mm256_div_pd(to_double(mantissa), power_after(full_bytes(through_point)));
    return Words(_mm256_castpd_si256(quotient));
}
FORMATTER_INLINE Words quotient16(Words mantissa, Words through_point_first, Words through_point_last) {
    const Words bytes = full_bytes(through_point_first) + full_bytes(through_point_last);
    // One to eight bytes leave eight digits more behind them: just then bit 3 of bytes - 1, moved to the sign, is 0.
    const __m256i others = __m256i((bytes - splat(1)) << 60);
    const __m256d eight_more = _mm256_blendv_pd(_mm256_set1_pd(1e8), _mm256_set1_pd(1), _mm256_castsi256_pd(others));
    const __m256d power = _mm256_mul_pd(power_after(bytes), eight_more);
    return Words(_mm256_castpd_si256(_mm256_div_pd(to_double(mantissa), power)));
}

FORMATTER_INLINE uint64_t zero_bytes64(const uint8_t* bytes) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32));
    return uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(low, zero))) |
           uint64_t(uint32_t(_mm256_movemask_epi8(_mm256_cmpeq_epi8(high, zero)))) << 32;
}

// ------------------------------------------------------------------------------------- blocks of text

FORMATTER_INLINE uint64_t equal_bits(Block a, Block b) {
    return uint32_t(_mm256_movemask_epi8(__m256i(marked_if_equal(a, b))));
}
FORMATTER_INLINE bool any_marked(Block a) { return !_mm256_testz_si256(__m256i(a), __m256i(a)); }
FORMATTER_INLINE bool any_high_bit(Block a) { return _mm256_movemask_epi8(__m256i(a)) != 0; }

// ------------------------------------------------------------------------------------- look-up by half bytes

FORMATTER_INLINE Text look_up(const uint8_t* table, Text at) {
    const __m256i tables = _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
    return Text(_mm256_shuffle_epi8(tables, __m256i(at)));
}
// The text `bytes` earlier; `before` is the register in front of it.
template <int bytes>
FORMATTER_INLINE Text text_moved(Text text, Text before) {
    const __m256i half_earlier = _mm256_permute2x128_si256(__m256i(before), __m256i(text), 0x21);
    return Text(_mm256_alignr_epi8(__m256i(text), half_earlier, 16 - bytes));
}
FORMATTER_INLINE Text subtract_to_zero(Text a, uint8_t b) {
    return Text(_mm256_subs_epu8(__m256i(a), _mm256_set1_epi8(char(b))));
}

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
