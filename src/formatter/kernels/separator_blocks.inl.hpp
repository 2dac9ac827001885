// Bytes to separators: which bytes of each 64-byte block are separators in effect, that is outside quotes.
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
    size_t offset;  // of the block
};

class SeparatorBlocks {
public:
    SeparatorBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes)
        : data_(data), size_(size), quoting_(bytes.quoting), delimiter_(make_needle(bytes.delimiter)),
          record_end_(make_needle(bytes.record_end)), quote_(make_needle(bytes.quote)) {}

    bool next(SeparatorMasks& masks) {
        if (offset_ == size_) return false;
        size_t left = size_ - offset_;
        uint64_t valid = ~uint64_t(0);
        Block block = left >= 64 ? load_block(data_ + offset_) : load_tail(data_ + offset_, left, valid);
        masks.ends = equal_mask(block, record_end_) & valid;
        masks.separators = masks.ends | (equal_mask(block, delimiter_) & valid);
        masks.offset = offset_;
        if (quoting_) {
            uint64_t quotes = equal_mask(block, quote_) & valid;
            if (quotes != 0 && first_quote_ == SIZE_MAX) first_quote_ = offset_ + trailing_zeros(quotes);
            uint64_t outside = ~(prefix_xor(quotes) ^ inside_);
            masks.ends &= outside;
            masks.separators &= outside;
            inside_ ^= -uint64_t(popcount(quotes) & 1);
        }
        offset_ += left >= 64 ? 64 : left;
        return true;
    }

    size_t first_quote() const { return first_quote_; }

private:
    const uint8_t* data_;
    size_t size_;
    size_t offset_ = 0;
    size_t first_quote_ = SIZE_MAX;
    uint64_t inside_ = 0;
    bool quoting_;
    Needle delimiter_, record_end_, quote_;
};

}  // namespace FORMATTER_ISA
}  // namespace formatter
