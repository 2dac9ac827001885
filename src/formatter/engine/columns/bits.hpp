// Bitmaps in words of 64 bits, the lowest first. In: words. Out: bits, counts, words. Refuses to know what a bit means.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {

inline bool has_bit(const uint64_t* bits, size_t i) { return bits[i / 64] >> (i % 64) & 1; }
inline void set_bit(uint64_t* bits, size_t i) { bits[i / 64] |= uint64_t(1) << (i % 64); }
inline void clear_bit(uint64_t* bits, size_t i) { bits[i / 64] &= ~(uint64_t(1) << (i % 64)); }

// The bits of word `w` that are among the first `count` of all.
inline uint64_t word_in(uint64_t count, size_t w) {
    return count - w * 64 >= 64 ? ~uint64_t(0) : (uint64_t(1) << (count - w * 64)) - 1;
}
inline uint64_t count_bits(const uint64_t* bits, uint64_t count) {
    uint64_t found = 0;
    for (size_t w = 0; w * 64 < count; w++) found += uint64_t(__builtin_popcountll(bits[w] & word_in(count, w)));
    return found;
}
template <typename Visit>
void each_bit(const uint64_t* bits, uint32_t count, Visit visit) {
    for (uint32_t w = 0; w * 64 < count; w++)
        for (uint64_t word = bits[w]; word; word &= word - 1) visit(w * 64 + uint32_t(__builtin_ctzll(word)));
}

// Sets all bits. Not by memset: for a few words that is one masked store, which no load that follows can be served from,
// so that it waits until everything stored before has reached the cache.
inline void set_words(uint64_t* words, size_t count) {
    for (size_t i = 0; i < count; i++) {
        words[i] = ~uint64_t(0);
        asm volatile("" ::: "memory");  // or the compiler makes it a memset again
    }
}

// Copies `count` bits from word-aligned `source` to bit position `at` of `target`, which has 16 bytes of slack.
void copy_bits(uint8_t* target, uint64_t at, const uint64_t* source, uint32_t count);

}  // namespace formatter
