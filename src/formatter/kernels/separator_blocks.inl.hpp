// Bytes to separators: which bytes of each 64-byte block are separators in effect, that is outside quotes. Refuses to
// know records.
//
//     bytes       a , " x , y " , b \n c        (bit 0 leftmost)
//     quotes      0 0 1 0 0 0 1 0 0 0  0
//     inside      0 0 1 1 1 1 0 0 0 0  0        prefix xor of quotes, and of the state the block begins in
//     delimiters  0 1 0 0 1 0 0 1 0 0  0
//     separators  0 1 0 0 0 0 0 1 0 1  0        (delimiters | record ends) & ~inside
//
// In: any bytes. Out: masks. Never reads past the last byte: what is left after whole blocks is copied first.
#pragma once

#include "kernels/kernel.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// The last bytes of an input as a block, and the mask of those that are there: the needle may be the padding's byte.
static inline Block load_tail(const uint8_t* bytes, size_t count, uint64_t& valid) {
    uint8_t padded[64] = {};
    std::memcpy(padded, bytes, count);
    valid = ~(~uint64_t(0) << count);
    return load_block(padded);
}

struct SeparatorMasks {
    uint64_t separators;
    uint64_t ends;
};

// Begins outside quotes at `begin`. Blocks are asked for in order, each once.
template <bool quoting>
class SeparatorBlocks {
  public:
    SeparatorBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes)
        : data_(data),
          size_(size),
          delimiter_(make_needle(bytes.delimiter)),
          record_end_(make_needle(bytes.record_end)),
          quote_(make_needle(bytes.quote)) {}

    inline SeparatorMasks at(size_t offset) {
        if (__builtin_expect(size_ - offset >= 64, 1)) return masks(load_block(data_ + offset));
        uint64_t valid;
        SeparatorMasks tail = masks(load_tail(data_ + offset, size_ - offset, valid));
        return {tail.separators & valid, tail.ends & valid};
    }

  private:
    inline SeparatorMasks masks(const Block& block) {
        uint64_t ends = equal_mask(block, record_end_);
        uint64_t separators = equal_mask(block, delimiter_) | ends;
        if (!quoting) return {separators, ends};
        uint64_t quotes = equal_mask(block, quote_);
        // Until the first quote that is one branch, never missed. From then on quotes come and go, and to ask for each
        // block whether it has some would cost more than to do without the answer.
        if (!quoted_) {
            if (quotes == 0) return {separators, ends};
            quoted_ = true;
        }
        uint64_t outside = ~(prefix_xor(quotes) ^ inside_);
        inside_ ^= -uint64_t(popcount(quotes) & 1);  // not the product's last bit: the next block waits for this
        return {separators & outside, ends & outside};
    }

    const uint8_t* data_;
    size_t size_;
    bool quoted_ = false;
    uint64_t inside_ = 0;  // all ones if the next block begins inside quotes
    Needle delimiter_, record_end_, quote_;
};

}  // namespace FORMATTER_ISA
}  // namespace formatter
