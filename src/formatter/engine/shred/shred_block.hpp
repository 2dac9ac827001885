// Many buffers of one origin, brought into stream order before the ring is touched.
//
// In: sequences and delimiter flags in any order. Out: their two bitmaps, in the ring's own words, ready to be laid
// over it. Knows no ring and no lock: gathering is the part of the work that threads do side by side.
//
//      sequences 70 66 67 65, all with a delimiter but 67
//      seen           .###..#.         words begin at multiples of 64, as in a ring: bit 0 is 64
//      has_delimiter  .||...|.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace formatter {

class ShredBlock {
  public:
    struct Word {
        uint64_t seen;
        uint64_t delimited;
    };

    static constexpr uint64_t spread = 16;  // slots a buffer, at most: beyond, one by one is as fast

    ShredBlock() noexcept : words(near_), heap_(nullptr) {}
    ~ShredBlock() noexcept { std::free(heap_); }
    ShredBlock(const ShredBlock&) = delete;
    ShredBlock& operator=(const ShredBlock&) = delete;

    // False if this is no block: none or too far apart, the same one twice, a sequence 0, or no memory.
    bool gather(const uint64_t* sequences, const uint8_t* has_delimiter, size_t count) noexcept {
        if (count == 0) return false;
        uint64_t low = sequences[0], high = sequences[0];
        for (size_t i = 1; i < count; ++i) {
            low = sequences[i] < low ? sequences[i] : low;
            high = sequences[i] > high ? sequences[i] : high;
        }
        if (low == 0 || high - low >= count * spread) return false;
        first = low;
        last = high;
        buffers = count;
        word_count = (high >> 6) - (low >> 6) + 1;
        if (!clear_words()) return false;
        const uint64_t base = low & ~uint64_t(63);
        uint64_t twice = 0;
        for (size_t i = 0; i < count; ++i) {
            const uint64_t slot = sequences[i] - base, bit = uint64_t(1) << (slot & 63);
            const uint64_t flag = has_delimiter[i] != 0;  // shifted, not tested: it is random
            Word& word = words[slot >> 6];
            twice |= word.seen & bit;
            word.seen |= bit;
            word.delimited |= flag << (slot & 63);
        }
        return twice == 0;
    }

    uint64_t first;       // the lowest and the highest sequence
    uint64_t last;
    uint64_t word_count;  // the words that hold them; word 0 begins at `first` rounded down to a multiple of 64
    size_t buffers;
    Word* words;

  private:
    static constexpr size_t near_words = 1025;  // 4096 buffers at the widest spread, 16 KiB

    bool clear_words() noexcept {
        words = near_;
        if (word_count > near_words) {
            std::free(heap_);
            heap_ = static_cast<Word*>(std::calloc(word_count, sizeof(Word)));
            words = heap_;
            return heap_ != nullptr;
        }
        for (uint64_t i = 0; i < word_count; ++i) words[i] = {0, 0};
        return true;
    }

    Word* heap_;  // for a block over more slots than usual
    Word near_[near_words];
};

}  // namespace formatter
