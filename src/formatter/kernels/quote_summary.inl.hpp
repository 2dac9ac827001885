// What a buffer says before anyone knows whether it begins inside quotes: quote parity, and the record ends either way.
//
// In: any bytes. Out: counts and first and last positions. Knows nothing of fields.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// Record ends by block, apart by whether they are inside quotes for those who begin outside. Blocks come in order.
class QuoteBlocks {
  public:
    struct Masks {
        uint64_t quotes, ends_outside, ends_inside;
    };

    QuoteBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes)
        : data_(data),
          size_(size),
          quoting_(bytes.quoting ? ~uint64_t(0) : 0),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)) {}

    inline Masks at(size_t offset) {
        if (__builtin_expect(size_ - offset >= 64, 1)) return masks(load_block(data_ + offset), ~uint64_t(0));
        uint64_t valid;
        const Block block = load_tail(data_ + offset, size_ - offset, valid);
        return masks(block, valid);
    }

  private:
    inline Masks masks(const Block& block, uint64_t valid) {
        const uint64_t ends = equal_mask(block, record_end_) & valid;
        const uint64_t quotes = equal_mask(block, quote_) & valid & quoting_;
        const uint64_t quoted = prefix_xor(quotes) ^ inside_;
        inside_ ^= -uint64_t(popcount(quotes) & 1);
        return {quotes, ends & ~quoted, ends & quoted};
    }

    const uint8_t* data_;
    size_t size_;
    uint64_t quoting_;
    uint64_t inside_ = 0;
    Needle record_end_, quote_;
};

// Without quoting there is but one state, and both entries say the same.
static void summarize_quotes(const uint8_t* data, size_t size, const CsvBytes& bytes, QuoteSummary& summary) {
    uint64_t quotes = 0, counts[2] = {0, 0}, last_masks[2] = {0, 0};
    size_t last_offsets[2] = {0, 0};
    QuoteBlocks blocks(data, size, bytes);
    for (size_t offset = 0; offset < size; offset += 64) {
        const QuoteBlocks::Masks masks = blocks.at(offset);
        quotes += popcount(masks.quotes);
        const uint64_t ends[2] = {masks.ends_outside, masks.ends_inside};
        for (int state = 0; state < 2; state++) {
            const uint64_t some = -uint64_t(ends[state] != 0);  // by masks: as a branch it would be missed often
            counts[state] += popcount(ends[state]);
            last_masks[state] = ends[state] | (last_masks[state] & ~some);
            last_offsets[state] = (offset & some) | (last_offsets[state] & ~some);
        }
    }
    const uint64_t none = QuoteSummary::none;
    summary = {quotes, {counts[0], counts[1]}, {none, none}, {none, none}};
    for (int state = 0; state < 2; state++)
        if (counts[state] != 0)
            summary.last_end[state] = last_offsets[state] + 63 - unsigned(__builtin_clzll(last_masks[state]));

    // The first ones are found by going again, up to them: in the loop above they would cost every block something.
    unsigned missing = unsigned(counts[0] != 0) + unsigned(counts[1] != 0);
    QuoteBlocks again(data, size, bytes);
    for (size_t offset = 0; missing > 0; offset += 64) {
        const QuoteBlocks::Masks masks = again.at(offset);
        const uint64_t ends[2] = {masks.ends_outside, masks.ends_inside};
        for (int state = 0; state < 2; state++) {
            if (summary.first_end[state] != none || ends[state] == 0) continue;
            summary.first_end[state] = offset + trailing_zeros(ends[state]);
            missing--;
        }
    }
    if (bytes.quoting) return;
    summary.record_ends[1] = summary.record_ends[0];
    summary.first_end[1] = summary.first_end[0];
    summary.last_end[1] = summary.last_end[0];
}

static uint64_t count_byte(const uint8_t* data, size_t size, uint8_t byte) {
    const Needle wanted = make_needle(byte);
    uint64_t count = 0;
    size_t offset = 0;
    for (; size - offset >= 64; offset += 64) count += popcount(equal_mask(load_block(data + offset), wanted));
    if (offset == size) return count;
    uint64_t valid;
    Block block = load_tail(data + offset, size - offset, valid);
    return count + popcount(equal_mask(block, wanted) & valid);
}

// Near by, in data that is what it seems: so it stops there.
static uint64_t first_record_end(const uint8_t* data, size_t size, const CsvBytes& bytes, bool inside) {
    QuoteBlocks blocks(data, size, bytes);
    for (size_t offset = 0; offset < size; offset += 64) {
        const QuoteBlocks::Masks masks = blocks.at(offset);
        const uint64_t ends = inside ? masks.ends_inside : masks.ends_outside;
        if (ends != 0) return offset + trailing_zeros(ends);
    }
    return QuoteSummary::none;
}

// memcpy that counts, and asks for the bytes at `next` meanwhile: buffers come from anywhere in memory, and neither
// copying nor counting has enough to do to hide the way there.
static uint64_t copy_counting(uint8_t* to, const uint8_t* from, size_t size, uint8_t byte, const uint8_t* next,
                              size_t next_size) {
    const Needle wanted = make_needle(byte);
    uint64_t count = 0;
    size_t offset = 0;
    for (; size - offset >= 64; offset += 64) {
        if (offset < next_size) __builtin_prefetch(next + offset);
        count += popcount(equal_mask(load_block(from + offset), wanted));
        std::memcpy(to + offset, from + offset, 64);
    }
    if (offset == size) return count;
    uint64_t valid;
    const Block block = load_tail(from + offset, size - offset, valid);
    std::memcpy(to + offset, from + offset, size - offset);
    return count + popcount(equal_mask(block, wanted) & valid);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
