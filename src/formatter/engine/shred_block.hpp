// Some buffers of one origin, brought into stream order before the ring is touched.
//
// In: sequences and delimiter flags in any order. Out: their two bitmaps, in the ring's own words, ready to be laid over
// it. Knows no ring and no lock: gathering is the part of the work that threads do side by side.
//
//      sequences 70 66 67 65, all with a delimiter but 67
//      seen           .####.#.         words begin at multiples of 64, as in a ring
//      has_delimiter  .||-|.|.  (from 64)
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

class ShredBlock {
public:
    static constexpr size_t max_buffers = 4096;
    static constexpr size_t min_buffers = 8;  // fewer are cheaper one by one
    static constexpr uint64_t spread = 2;     // slots a buffer, at most; a sparser block is cheaper one by one
    static constexpr size_t max_words = max_buffers * spread / 64 + 1;

    // False if this is no block: too few, too many or too far apart, the same one twice, or a sequence 0.
    bool gather(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count) noexcept {
        if (count < min_buffers || count > max_buffers) return false;
        uint64_t low = sequences[0], high = sequences[0];
        for (size_t i = 1; i < count; ++i) {
            low = sequences[i] < low ? sequences[i] : low;
            high = sequences[i] > high ? sequences[i] : high;
        }
        if (low == 0 || high - low >= count * spread) return false;
        first = low;
        last = high;
        buffers = count;
        words = (high >> 6) - (low >> 6) + 1;
        const uint64_t base = low & ~uint64_t(63);
        for (uint64_t word = 0; word < words; ++word) seen[word] = delimited[word] = 0;
        uint64_t twice = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint64_t slot = sequences[i] - base, bit = uint64_t(1) << (slot & 63);
            twice |= seen[slot >> 6] & bit;
            seen[slot >> 6] |= bit;
            delimited[slot >> 6] |= has_delimiter[i] != 0 ? bit : 0;
        }
        return twice == 0;
    }

    uint64_t first;    // the lowest and the highest sequence
    uint64_t last;
    uint64_t words;    // the words that hold them; word 0 begins at `first` rounded down to a multiple of 64
    size_t buffers;
    uint64_t seen[max_words];
    uint64_t delimited[max_words];
};

}  // namespace formatter
