// Bytes to separators where these have several bytes, or an escape may stand before one: by the strict rule, or without quotes.
//
//     bytes      a | | " b \\ " | | " \n     delimiter ||, escape \\     (bit 0 leftmost)
//     escaped    0 0 0 0 0 0 1 0 0 0 0
//     quotes     0 0 0 1 0 0 0 0 0 1 0      those not escaped
//     begins     0 1 0 0 0 0 0 1 0 0 0      first bytes of a separator, not escaped, with the others behind them
//     separators 0 1 0 0 0 0 0 0 0 0 1      those outside quotes, each by its first byte
//
// No byte of a separator is a quote, an escape or in the other separator: what begins outside quotes ends there, and separators
// overlap none but their like. In: any bytes. Out: masks. Refuses to know records.
#pragma once

#include "kernels/escapes.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// `count` bits from the lowest on, at most 64; less than none is none.
static inline uint64_t lowest_bits(ptrdiff_t count) {
    return count >= 64 ? ~uint64_t(0) : count <= 0 ? 0 : (uint64_t(1) << count) - 1;
}

// Blocks are asked for in order, each once.
class WideSeparator {
  public:
    WideSeparator(uint8_t first, const SeparatorRest& rest) : first_(make_needle(first)), rest_(rest) {
        for (uint32_t shift = 1; shift <= rest.count; shift++) {
            bool again = true;
            for (uint32_t i = shift; i <= rest.count; i++)
                again &= (i == shift ? first : rest.bytes[i - shift - 1]) == rest.bytes[i - 1];
            overlaps_ |= again;
        }
    }

    // Where it begins in a block, as far as `may_begin`, of which `left` bytes are there. SeparatorRest::most bytes behind the block
    // can be read.
    __attribute__((always_inline)) inline uint64_t in(const Block& block, const uint8_t* bytes, uint64_t may_begin,
                                                      size_t left) {
        uint64_t found = equal_mask(block, first_) & may_begin;
        if (rest_.count == 0) return found;
        for (uint32_t i = 0; i < rest_.count; i++)
            found &= equal_mask(load_block(bytes + i + 1), make_needle(rest_.bytes[i]));
        found &= lowest_bits(ptrdiff_t(left) - rest_.count);
        return overlaps_ && (found | taken_) != 0 ? from_the_left(found) : found;
    }

  private:
    // One that begins within the one before is none: of || in |||| there are two.
    __attribute__((noinline)) uint64_t from_the_left(uint64_t found) {
        found &= ~taken_;
        taken_ = 0;
        uint64_t kept = 0;
        while (found != 0) {
            const unsigned first = trailing_zeros(found), behind = first + 1 + rest_.count;
            kept |= uint64_t(1) << first;
            found &= ~lowest_bits(behind);
            taken_ = behind > 64 ? lowest_bits(behind - 64) : 0;
        }
        return kept;
    }

    Needle first_;
    SeparatorRest rest_;
    bool overlaps_ = false;  // may overlap its like
    uint64_t taken_ = 0;  // bytes of the next block that belong to one that begins before
};

template <>
class SeparatorBlocks<Quotes::wide> {
  public:
    SeparatorBlocks(const uint8_t* data, size_t size, const CsvBytes& bytes)
        : data_(data),
          size_(size),
          quoting_(bytes.quoting ? ~uint64_t(0) : 0),
          escaping_(bytes.escaping ? ~uint64_t(0) : 0),
          delimiter_(bytes.delimiter, bytes.delimiter_rest),
          record_end_(bytes.record_end, bytes.record_end_rest),
          quote_(make_needle(bytes.quote)),
          escape_(make_needle(bytes.escape)) {}

    __attribute__((always_inline)) inline SeparatorMasks at(size_t offset) {
        constexpr size_t looked_at = 64 + SeparatorRest::most;
        const size_t left = size_ - offset;
        if (__builtin_expect(left >= looked_at, 1)) return masks(data_ + offset, left);
        uint8_t padded[looked_at] = {};
        std::memcpy(padded, data_ + offset, left);
        return masks(padded, left);
    }

  private:
    __attribute__((always_inline)) inline SeparatorMasks masks(const uint8_t* bytes, size_t left) {
        const Block block = load_block(bytes);
        const uint64_t escapes = equal_mask(block, escape_) & escaping_;
        uint64_t plain = lowest_bits(ptrdiff_t(left));
        if (__builtin_expect((escapes | escaped_) != 0, 0)) plain &= ~escaped_bytes(escapes & plain, escaped_);
        const uint64_t toggles = equal_mask(block, quote_) & plain & quoting_;
        const uint64_t outside = ~(prefix_xor(toggles) ^ inside_);
        inside_ ^= -uint64_t(popcount(toggles) & 1);
        const uint64_t ends = record_end_.in(block, bytes, plain, left) & outside;
        return {(delimiter_.in(block, bytes, plain, left) & outside) | ends, ends};
    }

    const uint8_t* data_;
    size_t size_;
    uint64_t quoting_, escaping_;  // all ones if so
    uint64_t inside_ = 0;  // all ones if the next block begins inside quotes
    uint64_t escaped_ = 0;  // 1 if its first byte is escaped
    WideSeparator delimiter_, record_end_;
    Needle quote_, escape_;
};

}  // namespace FORMATTER_ISA
}  // namespace formatter
