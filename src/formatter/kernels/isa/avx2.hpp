// 64-byte blocks in two AVX2 registers: the vocabulary the algorithms speak.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <immintrin.h>

#include "kernels/isa/bit_tables.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// Runs before anyone knows the CPU, so it must not use what it asks for. lzcnt is not asked for: old compilers
// do not know its name, and no CPU has bmi2 without it.
__attribute__((target("no-avx,no-bmi,no-bmi2"))) static bool supported() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
           __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
}

// Bytes to a wanted stop from which skipping beats writing all positions (bench/native/csv_index_bench.cpp).
constexpr size_t skip_from_bytes_per_stop = 64;
constexpr size_t skip_from_bytes_per_stop_if_sparse = 192;
constexpr size_t rank_from_bytes_per_stop = 12;  // and ranks are faster than positions; nearer they are not

struct Block {
    __m256i low, high;
};
struct Needle {
    __m256i bytes;
};

static inline Needle make_needle(uint8_t byte) { return {_mm256_set1_epi8(char(byte))}; }

static inline Block load_block(const uint8_t* bytes) {
    const __m256i* from = reinterpret_cast<const __m256i*>(bytes);
    return {_mm256_loadu_si256(from), _mm256_loadu_si256(from + 1)};
}

// Which bytes of a block are what is asked for, as compares leave it: joined before it becomes a mask.
struct Matches {
    __m256i low, high;
};
static inline Matches equal(const Block& block, Needle needle) {
    return {_mm256_cmpeq_epi8(block.low, needle.bytes), _mm256_cmpeq_epi8(block.high, needle.bytes)};
}
static inline Matches at_most(const Block& block, Needle needle) {  // the needle's byte or below
    return {_mm256_cmpeq_epi8(_mm256_min_epu8(block.low, needle.bytes), block.low),
            _mm256_cmpeq_epi8(_mm256_min_epu8(block.high, needle.bytes), block.high)};
}
static inline Matches operator&(Matches a, Matches b) {
    return {_mm256_and_si256(a.low, b.low), _mm256_and_si256(a.high, b.high)};
}
static inline Matches operator|(Matches a, Matches b) {
    return {_mm256_or_si256(a.low, b.low), _mm256_or_si256(a.high, b.high)};
}
static inline Matches without(Matches a, Matches b) {
    return {_mm256_andnot_si256(b.low, a.low), _mm256_andnot_si256(b.high, a.high)};
}
static inline uint64_t mask_of(Matches matches) {
    const uint32_t low = uint32_t(_mm256_movemask_epi8(matches.low));
    return low | uint64_t(uint32_t(_mm256_movemask_epi8(matches.high))) << 32;
}
static inline bool any(Matches matches) {
    return _mm256_movemask_epi8(_mm256_or_si256(matches.low, matches.high)) != 0;
}
static inline uint64_t equal_mask(const Block& block, Needle needle) { return mask_of(equal(block, needle)); }
static inline uint64_t at_most_mask(const Block& block, Needle needle) { return mask_of(at_most(block, needle)); }

static inline uint64_t either_mask(const Block& block, Needle a, Needle b) {
    const auto found = [&](__m256i bytes) {
        const __m256i either = _mm256_or_si256(_mm256_cmpeq_epi8(bytes, a.bytes), _mm256_cmpeq_epi8(bytes, b.bytes));
        return uint32_t(_mm256_movemask_epi8(either));
    };
    return found(block.low) | uint64_t(found(block.high)) << 32;
}

static inline void store_block(uint8_t* to, const Block& block) {
    __m256i* const out = reinterpret_cast<__m256i*>(to);
    _mm256_storeu_si256(out, block.low);
    _mm256_storeu_si256(out + 1, block.high);
}

// Bit i: the parity of bits 0 to i, as carry-less multiplication by all ones.
static inline uint64_t prefix_xor(uint64_t mask) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(int64_t(mask)), _mm_set1_epi8(char(0xff)), 0);
    return uint64_t(_mm_cvtsi128_si64(product));
}

static inline unsigned popcount(uint64_t mask) { return unsigned(_mm_popcnt_u64(mask)); }
static inline unsigned trailing_zeros(uint64_t mask) { return unsigned(_tzcnt_u64(mask)); }

// The position of the set bit with `rank` set bits below it; there is one.
static inline unsigned select_bit(uint64_t mask, unsigned rank) {
    return trailing_zeros(_pdep_u64(uint64_t(1) << rank, mask));
}

// base + position of each set bit; may write up to 64 entries. A byte of the mask at a time, whatever it holds: no
// branch to miss. Blocks of long fields have so few that one by one is faster.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    if (popcount(mask) <= 4) {
        for (unsigned i = 0; i < 4; i++, mask &= mask - 1) out[i] = base + trailing_zeros(mask);
        return;
    }
    __m256i bases = _mm256_set1_epi32(int(base));
    for (unsigned i = 0; i < 8; i++) {
        const uint8_t byte = uint8_t(mask >> (8 * i));
        const __m128i* packed = reinterpret_cast<const __m128i*>(&bit_tables.positions[byte]);
        __m256i positions = _mm256_add_epi32(bases, _mm256_cvtepu8_epi32(_mm_loadl_epi64(packed)));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), positions);
        out += _mm_popcnt_u32(byte);
        bases = _mm256_add_epi32(bases, _mm256_set1_epi32(8));
    }
}

// No permutation here takes a whole row: the caller's loop it is.
static inline bool pick_in_registers(const uint32_t*, uint32_t, const uint32_t*, uint32_t, uint32_t, uint32_t*) {
    return false;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
