// 64-byte blocks in registers of vectors, for CPUs whose compares leave a byte of all ones or none.
//
// In: bytes, and FORMATTER_REGISTER_BYTES, that a register has. Out: comparisons, of which the CPU's own header makes masks. Knows
// no format and reads nothing outside the block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/isa/bit_tables.hpp"

namespace formatter {
namespace FORMATTER_ISA {

typedef uint8_t Register __attribute__((vector_size(FORMATTER_REGISTER_BYTES)));
constexpr int register_count = 64 / FORMATTER_REGISTER_BYTES;

struct Block {
    Register parts[register_count];
};
struct Needle {
    Register bytes;
};
// Which bytes of a block are what is asked for, as compares leave it: joined before it becomes a mask.
struct Matches {
    Register parts[register_count];
};

static inline Needle make_needle(uint8_t byte) { return {Register{} + byte}; }

// Written out: what a loop fills would lie in memory before it is unrolled.
template <typename Parts = Matches, typename Part>
static inline Parts part_by_part(Part part) {
    if constexpr (register_count == 2)
        return {{Register(part(0)), Register(part(1))}};
    else
        return {{Register(part(0)), Register(part(1)), Register(part(2)), Register(part(3))}};
}

static inline Block load_block(const uint8_t* bytes) {
    return part_by_part<Block>([&](int i) {
        Register part;
        std::memcpy(&part, bytes + FORMATTER_REGISTER_BYTES * i, FORMATTER_REGISTER_BYTES);
        return part;
    });
}
static inline void store_block(uint8_t* to, const Block& block) {
    for (int i = 0; i < register_count; i++)
        std::memcpy(to + FORMATTER_REGISTER_BYTES * i, &block.parts[i], FORMATTER_REGISTER_BYTES);
}

// ASCII bytes by their low halves: a block's byte is `listed` if it is the one that stands where its low half points.
struct ByteTable {
    Register bytes;
};
static inline ByteTable load_table(const uint8_t* sixteen) {
    ByteTable table;
    for (int i = 0; i < FORMATTER_REGISTER_BYTES; i += 16)
        std::memcpy(reinterpret_cast<uint8_t*>(&table.bytes) + i, sixteen, 16);
    return table;
}

static inline Matches equal(const Block& block, Needle needle) {
    return part_by_part([&](int i) { return block.parts[i] == needle.bytes; });
}
static inline Matches at_most(const Block& block, Needle needle) {  // the needle's byte or below
    return part_by_part([&](int i) { return block.parts[i] <= needle.bytes; });
}
static inline Matches operator&(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return a.parts[i] & b.parts[i]; });
}
static inline Matches operator|(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return a.parts[i] | b.parts[i]; });
}
static inline Matches without(const Matches& a, const Matches& b) {
    return part_by_part([&](int i) { return a.parts[i] & ~b.parts[i]; });
}
// One register whose bytes are set where those of any are.
static inline Register joined(const Matches& matches) {
    Register all = matches.parts[0];
    for (int i = 1; i < register_count; i++) all |= matches.parts[i];
    return all;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
