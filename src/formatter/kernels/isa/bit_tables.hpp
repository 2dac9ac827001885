// What a byte of a mask holds: the positions of its set bits, for CPUs without an instruction that finds many at once.
// Refuses to know what a bit means.
//
// In: masks. Out: positions. Each CPU's object has its own copy, so no CPU's code is shared with another's.
#pragma once

#include <cstdint>

namespace formatter {
namespace FORMATTER_ISA {

struct BitTables {
    uint64_t positions[256];  // byte r: the position of the set bit of rank r; bytes past the last one are zero
};

static constexpr BitTables make_bit_tables() {
    BitTables tables{};
    for (unsigned value = 0; value < 256; value++) {
        unsigned rank = 0;
        for (unsigned bit = 0; bit < 8; bit++)
            if (value >> bit & 1) tables.positions[value] |= uint64_t(bit) << (8 * rank++);
    }
    return tables;
}
static constexpr BitTables bit_tables = make_bit_tables();

// Set bits per byte, then in all bytes up to and including each: byte k of the result counts bits 0 to 8k + 7.
static inline uint64_t running_popcounts(uint64_t mask) {
    uint64_t pairs = mask - (mask >> 1 & 0x5555555555555555u);
    uint64_t nibbles = (pairs & 0x3333333333333333u) + (pairs >> 2 & 0x3333333333333333u);
    return ((nibbles + (nibbles >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u;
}

[[maybe_unused]] static inline unsigned popcount_by_sums(uint64_t mask) {
    return unsigned(running_popcounts(mask) >> 56);
}

// The position of the set bit with `rank` set bits below it; there is one.
[[maybe_unused]] static inline unsigned select_bit_by_table(uint64_t mask, unsigned rank) {
    const uint64_t tops = 0x8080808080808080u;
    uint64_t running = running_popcounts(mask);
    // bytes whose running count is <= rank lie wholly below the bit (counts are at most 64, so no borrow crosses)
    uint64_t below = ((rank * 0x0101010101010101u | tops) - running) & tops;
    unsigned shift = 8 * unsigned((below >> 7) * 0x0101010101010101u >> 56);
    unsigned before = unsigned((running << 8) >> shift & 0xff);
    return shift + unsigned(bit_tables.positions[mask >> shift & 0xff] >> (8 * (rank - before)) & 0xff);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
