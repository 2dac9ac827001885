// Lanes of eight 64-bit words in one AVX-512 register, conditions in mask registers. What each name computes stands in
// lanes_scalar.hpp, what all have in common in lanes.hpp. In: words. Out: words, conditions, bits. Knows nothing of fields.
#pragma once

#pragma GCC diagnostic push  // gcc 12 warns of the header's own deliberate undefined registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#define FORMATTER_LANES_MASKS  // conditions are no words, and text has registers of its own
#define FORMATTER_LANES_COMPRESS  // there is copy_kept64
#define FORMATTER_LANES_WIDE  // there are shifts by words, look-ups of words and products of 128 bits
#define FORMATTER_LANES_QUOTIENTS  // there are quotient8 and quotient16
#define FORMATTER_LANES_LOOK_UP  // there are Text and look_up

#define FORMATTER_LANES_BYTES 64
#define FORMATTER_LANES_BLOCK_BYTES 32  // most fields are short: half a register is the better step
#include "kernels/isa/vector_lanes.hpp"

namespace formatter {
namespace FORMATTER_ISA {
namespace lanes {

using Which = __mmask8;

FORMATTER_INLINE Words load_bytes_as_words(const uint8_t* from) {
    return Words(_mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

FORMATTER_INLINE Which is_zero(Words a) { return _mm512_testn_epi64_mask(__m512i(a), __m512i(a)); }
FORMATTER_INLINE Which is_set(Words a) { return _mm512_test_epi64_mask(__m512i(a), __m512i(a)); }
FORMATTER_INLINE uint64_t bits(Which a) { return a; }
FORMATTER_INLINE Words keep_if(Which which, Words a) { return Words(_mm512_maskz_mov_epi64(which, __m512i(a))); }
FORMATTER_INLINE Words drop_if(Which which, Words a) {
    return Words(_mm512_maskz_mov_epi64(Which(~which), __m512i(a)));
}
FORMATTER_INLINE Words negate_if(Which which, Words a) {
    return Words(_mm512_mask_sub_epi64(__m512i(a), which, _mm512_setzero_si512(), __m512i(a)));
}

FORMATTER_INLINE void store_low_halves(uint32_t* to, Words a) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_cvtepi64_epi32(__m512i(a)));
}

// A shift by 64 or more leaves nothing; the subtraction stops at zero, which leaves all.
template <int others>
FORMATTER_INLINE Words last_bytes_before(Words count) {
    const __m512i shift = _mm512_subs_epu16(_mm512_set1_epi64(64 + 8 * others), _mm512_slli_epi64(__m512i(count), 3));
    return Words(_mm512_sllv_epi64(_mm512_set1_epi64(-1), shift));
}

FORMATTER_INLINE Words over(Words a, Words limits) { return Words(_mm512_subs_epu8(__m512i(a), __m512i(limits))); }
FORMATTER_INLINE Words over_words(Words a, Words limits) {
    return Words(_mm512_subs_epu16(__m512i(a), __m512i(limits)));
}

FORMATTER_INLINE Words weigh_bytes(Words a, Words weights) {
    return Words(_mm512_maddubs_epi16(__m512i(a), __m512i(weights)));
}
FORMATTER_INLINE Words weigh_words(Words a, Words weights) {
    return Words(_mm512_madd_epi16(__m512i(a), __m512i(weights)));
}
FORMATTER_INLINE Words multiply_low_halves(Words a, Words b) { return Words(_mm512_mul_epu32(__m512i(a), __m512i(b))); }

FORMATTER_INLINE Words full_bytes(Words mask) { return Words(_mm512_popcnt_epi64(__m512i(mask))) >> 3; }
FORMATTER_INLINE Words quotient8(Words mantissa, Words through_point) {
    const __m512d powers = _mm512_setr_pd(1, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1);
    const __m512d power = _mm512_permutexvar_pd(__m512i(full_bytes(through_point)), powers);
    return Words(_mm512_castpd_si512(_mm512_div_pd(_mm512_cvtepi64_pd(__m512i(mantissa)), power)));
}
FORMATTER_INLINE Words quotient16(Words mantissa, Words through_point_first, Words through_point_last) {
    const __m512d low_powers = _mm512_setr_pd(1, 1e15, 1e14, 1e13, 1e12, 1e11, 1e10, 1e9);
    const __m512d high_powers = _mm512_setr_pd(1e8, 1e7, 1e6, 1e5, 1e4, 1e3, 1e2, 1e1);
    const __m512i at = __m512i(full_bytes(through_point_first) + full_bytes(through_point_last));
    const __m512d power = _mm512_permutex2var_pd(low_powers, at, high_powers);
    return Words(_mm512_castpd_si512(_mm512_div_pd(_mm512_cvtepi64_pd(__m512i(mantissa)), power)));
}

FORMATTER_INLINE Words leading_zeros(Words a) { return Words(_mm512_lzcnt_epi64(__m512i(a))); }
FORMATTER_INLINE Words shift_left(Words a, Words by) { return Words(_mm512_sllv_epi64(__m512i(a), __m512i(by))); }
FORMATTER_INLINE Words shift_right(Words a, Words by) { return Words(_mm512_srlv_epi64(__m512i(a), __m512i(by))); }
FORMATTER_INLINE Words load_halves_as_words(const int16_t* from) {  // signs go on
    return Words(_mm512_cvtepi16_epi64(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
}
// Every second word of a table.
FORMATTER_INLINE Words look_up_pairs(const uint64_t* table, Words at) {
    return Words(_mm512_i64gather_epi64(_mm512_slli_epi64(__m512i(at), 1), table, 8));
}
struct Product {
    Words high, low;
};
FORMATTER_INLINE Product multiply(Words a, Words b) {
    const Words low_half = splat(0xFFFFFFFF), a_high = a >> 32, b_high = b >> 32;
    const Words low = multiply_low_halves(a, b);
    const Words once = multiply_low_halves(a_high, b) + (low >> 32);
    const Words twice = multiply_low_halves(a, b_high) + (once & low_half);
    return {multiply_low_halves(a_high, b_high) + (once >> 32) + (twice >> 32), twice << 32 | (low & low_half)};
}

FORMATTER_INLINE uint64_t zero_bytes64(const uint8_t* bytes) {
    const __m512i block = _mm512_loadu_si512(bytes);
    return _mm512_testn_epi8_mask(block, block);
}

// ------------------------------------------------------------------------------------- blocks of text

FORMATTER_INLINE uint64_t equal_bits(Block a, Block b) { return _mm256_cmpeq_epi8_mask(__m256i(a), __m256i(b)); }
FORMATTER_INLINE bool any_marked(Block a) { return _mm256_test_epi8_mask(__m256i(a), __m256i(a)) != 0; }
FORMATTER_INLINE bool any_high_bit(Block a) { return _mm256_movemask_epi8(__m256i(a)) != 0; }

// Of 64 bytes those whose bits are set, moved together; how many. Halves are faster than a whole register.
FORMATTER_INLINE size_t copy_kept64(uint8_t* to, const uint8_t* from, uint64_t keep) {
    const uint32_t low = uint32_t(keep), high = uint32_t(keep >> 32);
    const size_t low_count = size_t(__builtin_popcount(low));
    store_block(to, Block(_mm256_maskz_compress_epi8(low, __m256i(load_block(from)))));
    store_block(to + low_count, Block(_mm256_maskz_compress_epi8(high, __m256i(load_block(from + block_bytes)))));
    return low_count + size_t(__builtin_popcount(high));
}

// ------------------------------------------------------------------------------------- look-up by half bytes

FORMATTER_INLINE Text load_text(const uint8_t* from) { return Text(_mm512_loadu_si512(from)); }
FORMATTER_INLINE Text look_up(const uint8_t* table, Text at) {
    const __m512i tables = _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(table)));
    return Text(_mm512_shuffle_epi8(tables, __m512i(at)));
}
// The text `bytes` earlier; `before` is the register in front of it.
template <int bytes>
FORMATTER_INLINE Text text_moved(Text text, Text before) {
    const __m512i quarter_earlier = _mm512_alignr_epi64(__m512i(text), __m512i(before), 6);
    return Text(_mm512_alignr_epi8(__m512i(text), quarter_earlier, 16 - bytes));
}
FORMATTER_INLINE Text subtract_to_zero(Text a, uint8_t b) {
    return Text(_mm512_subs_epu8(__m512i(a), _mm512_set1_epi8(char(b))));
}
FORMATTER_INLINE bool any_byte(Text a) { return _mm512_test_epi8_mask(__m512i(a), __m512i(a)) != 0; }
FORMATTER_INLINE bool any_high_byte(Text a) { return _mm512_movepi8_mask(__m512i(a)) != 0; }

}  // namespace lanes
}  // namespace FORMATTER_ISA
}  // namespace formatter
