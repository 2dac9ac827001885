// 64-byte blocks in four SSE registers: the vocabulary the algorithms speak.
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

// Runs before anyone knows the CPU, so it must not use what it asks for.
__attribute__((target("no-sse4.2"))) static bool supported() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt") && __builtin_cpu_supports("pclmul");
}

// Bytes to a wanted stop from which skipping beats writing all positions (bench/native/csv_index_bench.cpp).
constexpr size_t skip_from_bytes_per_stop = 64;
constexpr size_t skip_from_bytes_per_stop_if_sparse = 64;
constexpr size_t rank_from_bytes_per_stop = SIZE_MAX / 65536;  // ranks never pay here

struct Block {
    __m128i parts[4];
};
struct Needle {
    __m128i bytes;
};

static inline Needle make_needle(uint8_t byte) { return {_mm_set1_epi8(char(byte))}; }

static inline Block load_block(const uint8_t* bytes) {
    const __m128i* from = reinterpret_cast<const __m128i*>(bytes);
    return {{_mm_loadu_si128(from), _mm_loadu_si128(from + 1), _mm_loadu_si128(from + 2), _mm_loadu_si128(from + 3)}};
}

// Which bytes of a block are what is asked for, as compares leave it: joined before it becomes a mask.
struct Matches {
    __m128i parts[4];
};
template <typename Part>
static inline Matches part_by_part(Part part) {
    return {{part(0), part(1), part(2), part(3)}};
}
static inline Matches equal(const Block& block, Needle needle) {
    return part_by_part([&](int i) { return _mm_cmpeq_epi8(block.parts[i], needle.bytes); });
}
static inline Matches at_most(const Block& block, Needle needle) {  // the needle's byte or below
    return part_by_part(
        [&](int i) { return _mm_cmpeq_epi8(_mm_min_epu8(block.parts[i], needle.bytes), block.parts[i]); });
}
static inline Matches operator&(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return _mm_and_si128(a.parts[i], b.parts[i]); });
}
static inline Matches operator|(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return _mm_or_si128(a.parts[i], b.parts[i]); });
}
static inline Matches without(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return _mm_andnot_si128(b.parts[i], a.parts[i]); });
}
static inline uint64_t mask_of(const Matches& matches) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) mask |= uint64_t(uint32_t(_mm_movemask_epi8(matches.parts[i]))) << (16 * i);
    return mask;
}
static inline bool any(const Matches& m) {
    return _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(m.parts[0], m.parts[1]), _mm_or_si128(m.parts[2], m.parts[3])));
}
static inline uint64_t equal_mask(const Block& block, Needle needle) { return mask_of(equal(block, needle)); }
static inline uint64_t at_most_mask(const Block& block, Needle needle) { return mask_of(at_most(block, needle)); }

static inline uint64_t either_mask(const Block& block, Needle a, Needle b) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) {
        const __m128i bytes = block.parts[i];
        const __m128i either = _mm_or_si128(_mm_cmpeq_epi8(bytes, a.bytes), _mm_cmpeq_epi8(bytes, b.bytes));
        mask |= uint64_t(uint32_t(_mm_movemask_epi8(either))) << (16 * i);
    }
    return mask;
}

static inline void store_block(uint8_t* to, const Block& block) {
    for (int i = 0; i < 4; i++) _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, block.parts[i]);
}

// Bit i: the parity of bits 0 to i, as carry-less multiplication by all ones.
static inline uint64_t prefix_xor(uint64_t mask) {
    __m128i product = _mm_clmulepi64_si128(_mm_cvtsi64_si128(int64_t(mask)), _mm_set1_epi8(char(0xff)), 0);
    return uint64_t(_mm_cvtsi128_si64(product));
}

static inline unsigned popcount(uint64_t mask) { return unsigned(_mm_popcnt_u64(mask)); }
static inline unsigned trailing_zeros(uint64_t mask) { return unsigned(__builtin_ctzll(mask)); }  // mask != 0

static inline unsigned select_bit(uint64_t mask, unsigned rank) { return select_bit_by_table(mask, rank); }

// base + position of each set bit; may write up to 64 entries. A byte of the mask at a time, whatever it
// holds: no branch to miss.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    __m128i bases = _mm_set1_epi32(int(base));
    for (unsigned i = 0; i < 8; i++) {
        const uint8_t byte = uint8_t(mask >> (8 * i));
        __m128i packed = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&bit_tables.positions[byte]));
        __m128i* to = reinterpret_cast<__m128i*>(out);
        _mm_storeu_si128(to, _mm_add_epi32(bases, _mm_cvtepu8_epi32(packed)));
        _mm_storeu_si128(to + 1, _mm_add_epi32(bases, _mm_cvtepu8_epi32(_mm_srli_si128(packed, 4))));
        out += _mm_popcnt_u32(byte);
        bases = _mm_add_epi32(bases, _mm_set1_epi32(8));
    }
}

// No permutation here takes a whole row: the caller's loop it is.
static inline bool pick_in_registers(const uint32_t*, uint32_t, const uint32_t*, uint32_t, uint32_t, uint32_t*) {
    return false;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
