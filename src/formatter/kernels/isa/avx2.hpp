// 64-byte blocks in two AVX2 registers: the vocabulary the algorithms speak.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <immintrin.h>

#define FORMATTER_REGISTER_BYTES 32
#include "kernels/isa/register_blocks.hpp"

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

static inline Matches listed(const Block& block, ByteTable table) {
    return part_by_part([&](int i) {
        return Register(_mm256_shuffle_epi8(__m256i(table.bytes), __m256i(block.parts[i]))) == block.parts[i];
    });
}
static inline uint64_t mask_of(const Matches& matches) {
    const uint32_t low = uint32_t(_mm256_movemask_epi8(__m256i(matches.parts[0])));
    return low | uint64_t(uint32_t(_mm256_movemask_epi8(__m256i(matches.parts[1])))) << 32;
}
static inline bool any(const Matches& matches) { return _mm256_movemask_epi8(__m256i(joined(matches))) != 0; }

static inline unsigned popcount(uint64_t mask) { return unsigned(_mm_popcnt_u64(mask)); }

// base + position of each set bit; may write up to 64 entries. A byte of the mask at a time, whatever it holds: no
// branch to miss. Blocks of long fields have so few that one by one is faster.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    if (popcount(mask) <= 4) {
        for (unsigned i = 0; i < 4; i++, mask &= mask - 1) out[i] = base + unsigned(_tzcnt_u64(mask));
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

}  // namespace FORMATTER_ISA
}  // namespace formatter

#include "kernels/isa/block_masks.hpp"
