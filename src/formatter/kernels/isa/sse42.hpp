// 64-byte blocks in four SSE registers: the vocabulary the algorithms speak.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <immintrin.h>

#define FORMATTER_REGISTER_BYTES 16
#include "kernels/isa/register_blocks.hpp"

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

static inline Matches listed(const Block& block, ByteTable table) {
    return part_by_part([&](int i) {
        return Register(_mm_shuffle_epi8(__m128i(table.bytes), __m128i(block.parts[i]))) == block.parts[i];
    });
}
static inline uint64_t mask_of(const Matches& matches) {
    uint64_t mask = 0;
    for (int i = 0; i < 4; i++) mask |= uint64_t(uint32_t(_mm_movemask_epi8(__m128i(matches.parts[i])))) << (16 * i);
    return mask;
}
static inline bool any(const Matches& matches) { return _mm_movemask_epi8(__m128i(joined(matches))) != 0; }

static inline unsigned popcount(uint64_t mask) { return unsigned(_mm_popcnt_u64(mask)); }

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

}  // namespace FORMATTER_ISA
}  // namespace formatter

#include "kernels/isa/block_masks.hpp"
