// 64-byte blocks in plain C++: the vocabulary the algorithms speak, for CPUs nothing is known about.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/isa/bit_tables.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static bool supported() { return true; }

// Bytes to a wanted stop from which skipping beats writing all positions (bench/native/csv_index_bench.cpp).
constexpr size_t skip_from_bytes_per_stop = 96;
constexpr size_t skip_from_bytes_per_stop_if_sparse = 96;
constexpr size_t rank_from_bytes_per_stop = SIZE_MAX / 65536;  // ranks never pay here

struct Block {
    uint64_t words[8];  // least significant byte first
};
struct Needle {
    uint64_t word;
};

static inline Needle make_needle(uint8_t byte) { return {byte * 0x0101010101010101u}; }

static inline Block load_block(const uint8_t* bytes) {
    Block block;
    std::memcpy(block.words, bytes, 64);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint64_t& word : block.words) word = __builtin_bswap64(word);
#endif
    return block;
}

// Which bytes of a block are what is asked for, a bit each.
struct Matches {
    uint64_t bits;
};
static inline Matches equal(const Block& block, Needle needle) {
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) {
        const uint64_t low7 = 0x7f7f7f7f7f7f7f7fu;
        uint64_t differs = block.words[i] ^ needle.word;
        uint64_t zero = ~(((differs & low7) + low7) | differs | low7);  // 0x80 in each byte that is equal, exactly
        // the eight top bits to the top byte: the factor moves bit 7 + 8k to bit 56 + k, and no two sums collide
        mask |= ((zero >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    }
    return {mask};
}
static inline Matches at_most(const Block& block, Needle needle) {  // the needle's byte or below
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i++)
        mask |= uint64_t(uint8_t(block.words[i / 8] >> (i % 8 * 8)) <= uint8_t(needle.word)) << i;
    return {mask};
}
static inline Matches operator&(Matches a, Matches b) { return {a.bits & b.bits}; }
static inline Matches operator|(Matches a, Matches b) { return {a.bits | b.bits}; }
static inline Matches without(Matches a, Matches b) { return {a.bits & ~b.bits}; }
static inline uint64_t mask_of(Matches matches) { return matches.bits; }
static inline bool any(Matches matches) { return matches.bits != 0; }
static inline uint64_t equal_mask(const Block& block, Needle needle) { return mask_of(equal(block, needle)); }
static inline uint64_t at_most_mask(const Block& block, Needle needle) { return mask_of(at_most(block, needle)); }

static inline uint64_t either_mask(const Block& block, Needle a, Needle b) {
    return equal_mask(block, a) | equal_mask(block, b);
}

static inline void store_block(uint8_t* to, Block block) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint64_t& word : block.words) word = __builtin_bswap64(word);
#endif
    std::memcpy(to, block.words, 64);
}

static inline uint64_t prefix_xor(uint64_t mask) {
    for (int shift = 1; shift < 64; shift *= 2) mask ^= mask << shift;
    return mask;
}

static inline unsigned popcount(uint64_t mask) { return popcount_by_sums(mask); }
static inline unsigned trailing_zeros(uint64_t mask) { return unsigned(__builtin_ctzll(mask)); }  // mask != 0

// The position of the set bit with `rank` set bits below it; there is one.
static inline unsigned select_bit(uint64_t mask, unsigned rank) { return select_bit_by_table(mask, rank); }

// base + position of each set bit; may write up to 64 entries.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    for (; mask != 0; mask &= mask - 1) *out++ = base + trailing_zeros(mask);
}

// No permutation here takes a whole row: the caller's loop it is.
static inline bool pick_in_registers(const uint32_t*, uint32_t, const uint32_t*, uint32_t, uint32_t, uint32_t*) {
    return false;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
