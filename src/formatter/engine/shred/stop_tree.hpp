// A tree of "some slot below stops a search" bits, so that a run of any length is crossed in a few steps.
//
// In: word numbers of a ring. Out: the nearest word that holds a stop. Knows neither sequences nor what a stop is.
//
//      slot words    0   1   2   3  ...  63 | 64  ...        64 slots each
//      level 1       1   0   0   1  ...   0 |  0  ...        a bit a word: 0 = every slot is seen and has no delimiter
//      level 2       1                      |  0  ...        a bit for 64 of those; up to one word that covers all
//
// `word_count` is a power of two. Levels lie one after the other; bits past a level's end are 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace formatter {
namespace stop_tree {

constexpr uint64_t none = ~uint64_t(0);

inline uint64_t level_words(uint64_t bits) noexcept { return bits < 64 ? 1 : bits >> 6; }

inline uint64_t size_words(uint64_t word_count) noexcept {
    uint64_t total = 0;
    for (uint64_t bits = word_count;;) {
        const uint64_t level = level_words(bits);
        total += level;
        if (level == 1) return total;
        bits = level;
    }
}

inline void fill(uint64_t* tree, uint64_t word_count) noexcept {
    for (uint64_t bits = word_count;;) {
        const uint64_t level = level_words(bits);
        for (uint64_t i = 0; i < level; ++i) tree[i] = ~uint64_t(0);
        if (bits < 64) tree[0] = (uint64_t(1) << bits) - 1;
        if (level == 1) return;
        tree += level;
        bits = level;
    }
}

inline void clear(uint64_t* tree, uint64_t word_count, uint64_t word) noexcept {
    for (uint64_t bits = word_count;; word >>= 6) {
        uint64_t& group = tree[word >> 6];
        group &= ~(uint64_t(1) << (word & 63));
        const uint64_t level = level_words(bits);
        if (group != 0 || level == 1) return;
        tree += level;
        bits = level;
    }
}

inline void set(uint64_t* tree, uint64_t word_count, uint64_t word) noexcept {
    for (uint64_t bits = word_count;; word >>= 6) {
        uint64_t& group = tree[word >> 6];
        const uint64_t before = group;
        group |= uint64_t(1) << (word & 63);
        const uint64_t level = level_words(bits);
        if (before != 0 || level == 1) return;
        tree += level;
        bits = level;
    }
}

// Up while the rest of the group is empty, then down along the first (or last) set bits.
constexpr int max_levels = 6;

struct Climb {
    const uint64_t* levels[max_levels];
    int depth;
    uint64_t at;

    uint64_t descend_first() const noexcept {
        uint64_t found = at;
        for (int level = depth - 1; level >= 0; --level) found = (found << 6) + __builtin_ctzll(levels[level][found]);
        return found;
    }
    uint64_t descend_last() const noexcept {
        uint64_t found = at;
        for (int level = depth - 1; level >= 0; --level)
            found = (found << 6) + 63 - __builtin_clzll(levels[level][found]);
        return found;
    }
};

// The first word >= `word` with a stop.
inline uint64_t next(const uint64_t* tree, uint64_t word_count, uint64_t word) noexcept {
    Climb climb;
    climb.depth = 0;
    for (uint64_t bits = word_count; word < bits;) {
        const uint64_t group = tree[word >> 6] >> (word & 63);
        if (group != 0) {
            climb.at = word + __builtin_ctzll(group);
            return climb.descend_first();
        }
        const uint64_t level = level_words(bits);
        if (level == 1) return none;
        climb.levels[climb.depth++] = tree;
        tree += level;
        bits = level;
        word = (word >> 6) + 1;
    }
    return none;
}

// The last word <= `word` with a stop.
inline uint64_t previous(const uint64_t* tree, uint64_t word_count, uint64_t word) noexcept {
    Climb climb;
    climb.depth = 0;
    for (uint64_t bits = word_count;;) {
        const uint64_t group = tree[word >> 6] << (63 - (word & 63));
        if (group != 0) {
            climb.at = word - __builtin_clzll(group);
            return climb.descend_last();
        }
        const uint64_t level = level_words(bits);
        if (level == 1 || word < 64) return none;
        climb.levels[climb.depth++] = tree;
        tree += level;
        bits = level;
        word = (word >> 6) - 1;
    }
}

}  // namespace stop_tree
}  // namespace formatter
