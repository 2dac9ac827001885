// The size of the shred ring's window: growth by doubling, shrinking, moving between the object and the heap.
//
// In: how many slots are needed. Out: the same bits in a ring of another size. Knows nothing of claims.
#include <cstdlib>
#include <new>

#include "engine/shred/shred_ring.hpp"
#include "engine/shred/stop_tree.hpp"

namespace formatter {

namespace {

constexpr uint8_t inline_log2 = 6;

uint8_t log2_of(uint64_t slots) noexcept {
    return slots <= ShredRing::inline_slots ? inline_log2 : static_cast<uint8_t>(64 - __builtin_clzll(slots - 1));
}

}  // namespace

ShredRing::ShredRing(uint64_t max_sequence, uint64_t floor_slots) noexcept
    : max_sequence_(max_sequence),
      prefix_(0),
      last_delimiter_(0),
      highest_(0),
      heap_(nullptr),
      inline_word_{0, 0},
      pending_(0),
      slots_log2_(inline_log2),
      floor_log2_(inline_log2),
      finished_(false) {
    const uint8_t floor = log2_of(floor_slots < max_slots ? floor_slots : max_slots);
    if (floor != inline_log2 && rehouse(floor)) floor_log2_ = floor;
}

ShredRing::~ShredRing() noexcept { std::free(heap_); }

void ShredRing::forget() noexcept {
    heap_ = nullptr;
    inline_word_ = {0, 0};
    prefix_ = last_delimiter_ = highest_ = pending_ = 0;
    slots_log2_ = floor_log2_ = inline_log2;
    finished_ = false;
}

ShredRing::ShredRing(ShredRing&& other) noexcept : ShredRing(other.max_sequence_) {
    *this = static_cast<ShredRing&&>(other);
}

ShredRing& ShredRing::operator=(ShredRing&& other) noexcept {
    if (this == &other) return *this;
    std::free(heap_);
    max_sequence_ = other.max_sequence_;
    prefix_ = other.prefix_;
    last_delimiter_ = other.last_delimiter_;
    highest_ = other.highest_;
    heap_ = other.heap_;
    inline_word_ = other.inline_word_;
    pending_ = other.pending_;
    slots_log2_ = other.slots_log2_;
    floor_log2_ = other.floor_log2_;
    finished_ = other.finished_;
    other.forget();
    return *this;
}

size_t ShredRing::heap_bytes() const noexcept {
    if (heap_ == nullptr) return 0;
    return word_count() * sizeof(SlotWord) + stop_tree::size_words(word_count()) * sizeof(uint64_t);
}

ShredRing::Status ShredRing::grow(uint64_t slots_needed) noexcept {
    if (slots_needed > reach()) return Status::out_of_range;
    return rehouse(log2_of(slots_needed)) ? Status::ok : Status::no_memory;
}

// Copies the window (prefix, highest] word by word; it must fit. A word's place in the ring changes, its bits do not.
// The first and the last word of the window may be one and the same in a full ring, hence the masks:
//
//      ring word      e e e e . # # #      # prefix + 1 and on, e the end of the window, a whole round later
bool ShredRing::rehouse(uint8_t new_log2) noexcept {
    if (new_log2 == slots_log2_) return true;
    const uint64_t new_count = (uint64_t(1) << new_log2) >> 6;
    SlotWord* new_heap = nullptr;
    SlotWord new_inline = {0, 0};
    uint64_t* new_tree = nullptr;
    if (new_log2 != inline_log2) {
        const size_t words_size = new_count * sizeof(SlotWord);
        new_heap =
            static_cast<SlotWord*>(std::calloc(1, words_size + stop_tree::size_words(new_count) * sizeof(uint64_t)));
        if (new_heap == nullptr) return false;
        new_tree = reinterpret_cast<uint64_t*>(new_heap + new_count);
        stop_tree::fill(new_tree, new_count);
    }
    SlotWord* const target = new_heap ? new_heap : &new_inline;
    if (pending_ != 0) {
        const uint64_t first_word = (prefix_ + 1) >> 6, last_word = highest_ >> 6;
        for (uint64_t word = first_word; word <= last_word; ++word) {
            uint64_t mask = ~uint64_t(0);
            if (word == first_word) mask &= ~uint64_t(0) << ((prefix_ + 1) & 63);
            if (word == last_word) mask &= ~uint64_t(0) >> (63 - (highest_ & 63));
            const SlotWord& from = words()[word & (word_count() - 1)];
            SlotWord& to = target[word & (new_count - 1)];
            to.seen |= from.seen & mask;
            to.delimited |= from.delimited & mask;
            if (new_tree != nullptr && to.stops() == 0) stop_tree::clear(new_tree, new_count, word & (new_count - 1));
        }
    }
    std::free(heap_);
    heap_ = new_heap;
    inline_word_ = new_inline;
    slots_log2_ = new_log2;
    return true;
}

}  // namespace formatter
