// 64-byte blocks in four NEON registers (every AArch64 CPU has them): the vocabulary the algorithms speak.
//
// In: bytes. Out: one bit a byte, bit i for byte i of the block. Knows no format and reads nothing outside the block.
#pragma once

#include <arm_neon.h>

#define FORMATTER_REGISTER_BYTES 16
#include "kernels/isa/register_blocks.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static bool supported() { return true; }

// Bytes to a wanted stop from which skipping beats writing all positions: as for SSE, whose blocks cost about the same.
constexpr size_t skip_from_bytes_per_stop = 64;
constexpr size_t skip_from_bytes_per_stop_if_sparse = 64;
constexpr size_t rank_from_bytes_per_stop = SIZE_MAX / 65536;  // ranks never pay here

static inline Matches listed(const Block& block, ByteTable table) {
    return part_by_part([&](int i) {
        const Register places = block.parts[i] & 0x8f;  // beyond the table: 0, which is not the byte
        return Register(vqtbl1q_u8(uint8x16_t(table.bytes), uint8x16_t(places))) == block.parts[i];
    });
}
// A compare gives ff or 00 a byte. Each keeps the bit of its place, then three pairwise additions close the ranks:
// 64 bytes of one bit each, 32 of two, 16 of four, 8 of eight.
static inline uint64_t mask_of(const Matches& matches) {
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201u));
    uint8x16_t bits[4];
    for (int i = 0; i < 4; i++) bits[i] = vandq_u8(uint8x16_t(matches.parts[i]), places);
    uint8x16_t pairs = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)), 0);
}
static inline bool any(const Matches& matches) { return vmaxvq_u8(uint8x16_t(joined(matches))) != 0; }

static inline unsigned popcount(uint64_t mask) { return vaddv_u8(vcnt_u8(vcreate_u8(mask))); }

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

}  // namespace FORMATTER_ISA
}  // namespace formatter

#include "kernels/isa/block_masks.hpp"
