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
// ASCII bytes by their low halves: a block's byte is in the table if it is the one that stands where its low half points.
struct ByteTable {
    uint8_t bytes[16];
};
static inline ByteTable load_table(const uint8_t* sixteen) {
    ByteTable table;
    std::memcpy(table.bytes, sixteen, sizeof table.bytes);
    return table;
}
static inline Matches listed(const Block& block, const ByteTable& table) {
    uint64_t mask = 0;
    for (unsigned i = 0; i < 64; i++) {
        const uint8_t byte = uint8_t(block.words[i / 8] >> (i % 8 * 8));
        mask |= uint64_t(table.bytes[byte % 16] == byte) << i;
    }
    return {mask};
}
static inline uint64_t mask_of(Matches matches) { return matches.bits; }
static inline bool any(Matches matches) { return matches.bits != 0; }
static inline void store_block(uint8_t* to, Block block) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (uint64_t& word : block.words) word = __builtin_bswap64(word);
#endif
    std::memcpy(to, block.words, 64);
}

static inline unsigned popcount(uint64_t mask) { return popcount_by_sums(mask); }

// base + position of each set bit; may write up to 64 entries.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    for (; mask != 0; mask &= mask - 1) *out++ = base + unsigned(__builtin_ctzll(mask));
}

}  // namespace FORMATTER_ISA
}  // namespace formatter

#include "kernels/isa/block_masks.hpp"
