// Lanes of two 64-bit words in one SSE register, conditions as words of all ones. What each name computes stands in
// lanes_scalar.hpp, what all have in common in lanes.hpp. In: words. Out: words, conditions, bits. Knows nothing of fields.
#pragma once

#include <nmmintrin.h>

#define FORMATTER_LANES_LOOK_UP  // there are Text and look_up

#define FORMATTER_LANES_BYTES 16
#define FORMATTER_LANES_BLOCK_BYTES 16
#include "kernels/isa/vector_lanes.hpp"

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

FORMATTER_INLINE Words load_bytes_as_words(const uint8_t* from) {
    uint16_t bytes;
    __builtin_memcpy(&bytes, from, 2);
    return Words(_mm_cvtepu8_epi64(_mm_cvtsi32_si128(bytes)));
}

FORMATTER_INLINE uint64_t bits(Which a) { return uint32_t(_mm_movemask_pd(_mm_castsi128_pd(__m128i(a)))); }

FORMATTER_INLINE void store_low_halves(uint32_t* to, Words a) {
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi32(__m128i(a), 0x08));
}

// Eight zeros, then ones: the eight bytes from place n on end in n ones (n <= 8).
alignas(32) static const uint8_t ones_behind_zeros[32] = {0,    0,    0,    0,    0,    0,    0,    0,
                                                          0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                                          0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
FORMATTER_INLINE Words last_bytes_of(Words count) {
    const __m128i capped = _mm_min_epu8(__m128i(count), _mm_set1_epi64x(8));
    const uint8_t* const low = ones_behind_zeros + _mm_cvtsi128_si64(capped);
    const uint8_t* const high = ones_behind_zeros + _mm_extract_epi64(capped, 1);
    return Words(_mm_unpacklo_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(low)),
                                    _mm_loadl_epi64(reinterpret_cast<const __m128i*>(high))));
}
template <int others>
FORMATTER_INLINE Words last_bytes_before(Words count) {
    return last_bytes_of(others == 0 ? count : Words(_mm_subs_epu8(__m128i(count), _mm_set1_epi64x(others))));
}

FORMATTER_INLINE Words over(Words a, Words limits) { return Words(_mm_subs_epu8(__m128i(a), __m128i(limits))); }
FORMATTER_INLINE Words over_words(Words a, Words limits) { return Words(_mm_subs_epu16(__m128i(a), __m128i(limits))); }

FORMATTER_INLINE Words weigh_bytes(Words a, Words weights) {
    return Words(_mm_maddubs_epi16(__m128i(a), __m128i(weights)));
}
FORMATTER_INLINE Words weigh_words(Words a, Words weights) {
    return Words(_mm_madd_epi16(__m128i(a), __m128i(weights)));
}
FORMATTER_INLINE Words multiply_low_halves(Words a, Words b) { return Words(_mm_mul_epu32(__m128i(a), __m128i(b))); }

// Below 2^52 a number laid under the exponent of 2^52 is that number and 2^52.
FORMATTER_INLINE __m128d to_double(Words a) {
    const __m128d two_to_52 = _mm_set1_pd(4503599627370496.0);
    return _mm_sub_pd(_mm_or_pd(_mm_castsi128_pd(__m128i(a)), two_to_52), two_to_52);
}
FORMATTER_INLINE Words full_bytes(Words mask) {
    return Words(_mm_sad_epu8(__m128i(mask & splat(0x0101010101010101)), _mm_setzero_si128()));
}
FORMATTER_INLINE Words divided(Words mantissa, const double* powers, Words at) {
    const __m128d power = _mm_loadh_pd(_mm_load_sd(powers + at[0]), powers + at[1]);
    return Words(_mm_castpd_si128(_mm_div_pd(to_double(mantissa), power)));
}

FORMATTER_INLINE uint64_t zero_bytes64(const uint8_t* bytes) {
    uint64_t result = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes + i));
        result |= uint64_t(uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_setzero_si128())))) << i;
    }
    return result;
}

// ------------------------------------------------------------------------------------- blocks of text

FORMATTER_INLINE uint64_t equal_bits(Block a, Block b) {
    return uint32_t(_mm_movemask_epi8(__m128i(marked_if_equal(a, b))));
}
FORMATTER_INLINE bool any_marked(Block a) { return !_mm_testz_si128(__m128i(a), __m128i(a)); }
FORMATTER_INLINE bool any_high_bit(Block a) { return _mm_movemask_epi8(__m128i(a)) != 0; }

// ------------------------------------------------------------------------------------- look-up by half bytes

FORMATTER_INLINE Text look_up(const uint8_t* table, Text at) {
    return Text(_mm_shuffle_epi8(_mm_load_si128(reinterpret_cast<const __m128i*>(table)), __m128i(at)));
}
// The text `bytes` earlier; `before` is the register in front of it.
template <int bytes>
FORMATTER_INLINE Text text_moved(Text text, Text before) {
    return Text(_mm_alignr_epi8(__m128i(text), __m128i(before), 16 - bytes));
}
FORMATTER_INLINE Text subtract_to_zero(Text a, uint8_t b) {
    return Text(_mm_subs_epu8(__m128i(a), _mm_set1_epi8(char(b))));
}

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
