// 64-byte blocks in one AVX-512 register, masks from the compare itself: the vocabulary the algorithms speak.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#pragma GCC diagnostic push  // gcc 12 warns of the header's own deliberate undefined registers
#pragma GCC diagnostic ignored "-Wuninitialized"
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>
#pragma GCC diagnostic pop

#include "kernels/isa/bit_tables.hpp"

#define FORMATTER_PICKS_IN_REGISTERS  // there is pick_in_registers

namespace formatter {
namespace FORMATTER_ISA {

// Runs before anyone knows the CPU, so it must not use what it asks for. lzcnt is not asked for: old compilers
// do not know its name, and no CPU has bmi2 without it.
__attribute__((target("no-avx,no-bmi,no-bmi2"))) static bool supported() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512bitalg") &&
           __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx2") &&
           __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt") &&
           __builtin_cpu_supports("pclmul");
}

// Bytes to a wanted stop from which skipping beats writing all positions (bench/native/csv_index_bench.cpp):
// here never.
constexpr size_t skip_from_bytes_per_stop = SIZE_MAX;
constexpr size_t skip_from_bytes_per_stop_if_sparse = SIZE_MAX;
constexpr size_t rank_from_bytes_per_stop = SIZE_MAX / 65536;  // ranks never pay here

struct Block {
    __m512i bytes;
};
struct Needle {
    __m512i bytes;
};

static inline Needle make_needle(uint8_t byte) { return {_mm512_set1_epi8(char(byte))}; }
static inline Block load_block(const uint8_t* bytes) { return {_mm512_loadu_si512(bytes)}; }

// Which bytes of a block are what is asked for, as compares leave it: joined before it becomes a mask.
struct Matches {
    __mmask64 bits;
};
static inline Matches equal(const Block& block, Needle needle) {
    return {_mm512_cmpeq_epi8_mask(block.bytes, needle.bytes)};
}
static inline Matches at_most(const Block& block, Needle needle) {  // the needle's byte or below
    return {_mm512_cmple_epu8_mask(block.bytes, needle.bytes)};
}
static inline Matches operator&(Matches a, Matches b) { return {_kand_mask64(a.bits, b.bits)}; }
static inline Matches operator|(Matches a, Matches b) { return {_kor_mask64(a.bits, b.bits)}; }
static inline Matches without(Matches a, Matches b) { return {_kandn_mask64(b.bits, a.bits)}; }
// ASCII bytes by their low halves: a block's byte is in the table if it is the one that stands where its low half points.
struct ByteTable {
    __m512i bytes;
};
static inline ByteTable load_table(const uint8_t* sixteen) {
    return {_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(sixteen)))};
}
static inline Matches listed(const Block& block, ByteTable table) {
    return {_mm512_cmpeq_epi8_mask(_mm512_shuffle_epi8(table.bytes, block.bytes), block.bytes)};
}
static inline uint64_t mask_of(Matches matches) { return _cvtmask64_u64(matches.bits); }
static inline bool any(Matches matches) { return !_kortestz_mask64_u8(matches.bits, matches.bits); }
static inline void store_block(uint8_t* to, const Block& block) { _mm512_storeu_si512(to, block.bytes); }

static inline unsigned popcount(uint64_t mask) { return unsigned(_mm_popcnt_u64(mask)); }

// base + position of each set bit; may write up to 64 entries. Compresses in a register: to memory it is
// microcode on some CPUs.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    alignas(64) static const uint8_t iota[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                                 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                                 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    __m512i packed = _mm512_maskz_compress_epi8(_cvtu64_mask64(mask), _mm512_load_si512(iota));
    const __m512i bases = _mm512_set1_epi32(int(base));
    _mm512_storeu_si512(out, _mm512_add_epi32(bases, _mm512_cvtepu8_epi32(_mm512_castsi512_si128(packed))));
    __m512i next = _mm512_add_epi32(bases, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 1)));
    // 24 without a branch: blocks of usual records hold 5 to 20, and a branch at 16 is missed too often
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16), _mm512_castsi512_si256(next));
    if (__builtin_expect(popcount(mask) <= 24, 1)) return;
    _mm512_storeu_si512(out + 16, next);
    _mm512_storeu_si512(out + 32, _mm512_add_epi32(bases, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 2))));
    _mm512_storeu_si512(out + 48, _mm512_add_epi32(bases, _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32(packed, 3))));
}

// Of each row of `fields` entries the ones at `columns`, row after row. False if that is too much for two registers.
// Reads up to 31 entries past the table, and writes up to 15 past the last row.
static inline bool pick_in_registers(const uint32_t* table, uint32_t fields, const uint32_t* columns,
                                     uint32_t column_count, uint32_t rows, uint32_t* out) {
    if (fields > 32 || column_count > 16) return false;
    const __m512i wanted = _mm512_maskz_loadu_epi32(__mmask16((1u << column_count) - 1), columns);
    for (uint32_t row = 0; row < rows; row++, table += fields, out += column_count) {
        const __m512i low = _mm512_loadu_si512(table), high = _mm512_loadu_si512(table + 16);
        _mm512_storeu_si512(out, _mm512_permutex2var_epi32(low, wanted, high));
    }
    return true;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter

#include "kernels/isa/block_masks.hpp"
