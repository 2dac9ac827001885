// The neighbours of a slot: the nearest stops below and above it, round the ring. Refuses to know what a stop is: a bit
// says so.
//
// In: a slot whose own buffer is unseen. Out: a slot. Included by the files that take buffers in, so that it is inlined
// there.
#pragma once

#include "engine/shred/shred_ring.hpp"
#include "engine/shred/stop_tree.hpp"

namespace formatter {

inline uint64_t lowest(uint64_t word) noexcept { return __builtin_ctzll(word); }
inline uint64_t topmost(uint64_t word) noexcept { return 63 - __builtin_clzll(word); }
inline uint64_t rotate_right(uint64_t word, uint64_t by) noexcept {
    return (word >> (by & 63)) | (word << ((64 - by) & 63));
}

// The slot of the nearest stop below `slot`, round the ring. There always is one: prefix + 1 is unseen.
inline uint64_t ShredRing::stop_before(uint64_t slot) const noexcept {
    const uint64_t word = slot >> 6, bit = slot & 63;
    if (heap_ == nullptr) {
        // the bits below `slot`, nearest on top; `slot` itself, the last, is unseen
        const uint64_t stops = rotate_right(inline_word_.stops(), bit);
        return (slot + topmost(stops)) & 63;
    }
    const uint64_t below = heap_[word].stops() & ((uint64_t(1) << bit) - 1);
    if (below != 0) return (slot & ~uint64_t(63)) + topmost(below);
    const uint64_t count = word_count();
    uint64_t found = word == 0 ? stop_tree::none : stop_tree::previous(tree(), count, word - 1);
    if (found == stop_tree::none) found = stop_tree::previous(tree(), count, count - 1);
    return (found << 6) + topmost(heap_[found].stops());
}

// The slot of the nearest stop above `slot`, round the ring; `slot` itself, still unseen, when all others are no stops.
inline uint64_t ShredRing::stop_after(uint64_t slot) const noexcept {
    const uint64_t word = slot >> 6, bit = slot & 63;
    if (heap_ == nullptr) {
        const uint64_t stops = rotate_right(inline_word_.stops(), bit + 1);
        return (slot + 1 + lowest(stops)) & 63;
    }
    const uint64_t above = heap_[word].stops() & (~uint64_t(1) << bit);
    if (above != 0) return (slot & ~uint64_t(63)) + lowest(above);
    const uint64_t count = word_count();
    uint64_t found = stop_tree::next(tree(), count, word + 1);
    if (found == stop_tree::none) found = stop_tree::next(tree(), count, 0);
    return (found << 6) + lowest(heap_[found].stops());
}

}  // namespace formatter
