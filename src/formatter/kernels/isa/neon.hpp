// 64-byte blocks in four NEON registers (every AArch64 CPU has them): the vocabulary the algorithms speak.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <arm_neon.h>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/isa/bit_tables.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static bool supported() { return true; }

// Bytes to a wanted stop from which skipping beats writing all positions: as for SSE, whose blocks cost about the same.
constexpr size_t skip_from_bytes_per_stop = 64;
constexpr size_t skip_from_bytes_per_stop_if_sparse = 64;
constexpr size_t rank_from_bytes_per_stop = SIZE_MAX / 65536;  // ranks never pay here

struct Block {
    uint8x16_t parts[4];
};
struct Needle {
    uint8x16_t bytes;
};

static inline Needle make_needle(uint8_t byte) { return {vdupq_n_u8(byte)}; }

static inline Block load_block(const uint8_t* bytes) {
    return {{vld1q_u8(bytes), vld1q_u8(bytes + 16), vld1q_u8(bytes + 32), vld1q_u8(bytes + 48)}};
}

// Which bytes of a block are what is asked for, as compares leave it: joined before it becomes a mask.
struct Matches {
    uint8x16_t parts[4];
};
template <typename Part>
static inline Matches part_by_part(Part part) {
    return {{part(0), part(1), part(2), part(3)}};
}
static inline Matches equal(const Block& block, Needle needle) {
    return part_by_part([&](int i) { return vceqq_u8(block.parts[i], needle.bytes); });
}
static inline Matches at_most(const Block& block, Needle needle) {  // the needle's byte or below
    return part_by_part([&](int i) { return vcleq_u8(block.parts[i], needle.bytes); });
}
static inline Matches operator&(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return vandq_u8(a.parts[i], b.parts[i]); });
}
static inline Matches operator|(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return vorrq_u8(a.parts[i], b.parts[i]); });
}
static inline Matches without(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return vbicq_u8(a.parts[i], b.parts[i]); });
}
// A compare gives ff or 00 a byte. Each keeps the bit of its place, then three pairwise additions close the ranks:
// 64 bytes of one bit each, 32 of two, 16 of four, 8 of eight.
static inline uint64_t mask_of(const Matches& matches) {
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u));
    uint8x16_t bits[4];
    for (int i = 0; i < 4; i++) bits[i] = vandq_u8(matches.parts[i], places);
    uint8x16_t pairs = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
}
static inline bool any(const Matches& m) {
    return vmaxvq_u8(vorrq_u8(vorrq_u8(m.parts[0], m.parts[1]), vorrq_u8(m.parts[2], m.parts[3]))) != 0;
}
static inline uint64_t equal_mask(const Block& block, Needle needle) { return mask_of(equal(block, needle)); }
static inline uint64_t at_most_mask(const Block& block, Needle needle) { return mask_of(at_most(block, needle)); }

static inline uint64_t either_mask(const Block& block, Needle a, Needle b) {
    return equal_mask(block, a) | equal_mask(block, b);
}

static inline void store_block(uint8_t* to, const Block& block) {
    for (int i = 0; i < 4; i++) vst1q_u8(to + 16 * i, block.parts[i]);
}

// Bit i: the parity of bits 0 to i. By shifts: polynomial multiplication is optional on this architecture.
static inline uint64_t prefix_xor(uint64_t mask) {
    for (int shift = 1; shift < 64; shift *= 2) mask ^= mask << shift;
    return mask;
}

static inline unsigned popcount(uint64_t mask) { return vaddv_u8(vcnt_u8(vcreate_u8(mask))); }
static inline unsigned trailing_zeros(uint64_t mask) { return unsigned(__builtin_ctzll(mask)); }  // mask != 0

static inline unsigned select_bit(uint64_t mask, unsigned rank) { return select_bit_by_table(mask, rank); }

// base + position of each set bit; may write up to 64 entries. A byte of the mask at a time, whatever it
// holds: no branch to miss.
static inline void write_positions(uint64_t mask, uint32_t base, uint32_t* out) {
    uint64_t running = running_popcounts(mask) << 8;
    for (unsigned i = 0; i < 8; i++) {
        uint16x8_t positions = vmovl_u8(vcreate_u8(bit_tables.positions[mask >> (8 * i) & 0xff]));
        uint32x4_t bases = vdupq_n_u32(base + 8 * i);
        uint32_t* to = out + (running >> (8 * i) & 0xff);
        vst1q_u32(to, vaddw_u16(bases, vget_low_u16(positions)));
        vst1q_u32(to + 4, vaddw_u16(bases, vget_high_u16(positions)));
    }
}

// No permutation here takes a whole row: the caller's loop it is.
static inline bool pick_in_registers(const uint32_t*, uint32_t, const uint32_t*, uint32_t, uint32_t, uint32_t*) {
    return false;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
