// Whether what stands between the structure of JSON lines is in order: strings, white space, one value at most.
//
//     bytes      { " a " : - 1 . 5 , " b " : t r u e } \n
//     other      0 0 0 0 0 1 1 1 1 0 0 0 0 0 1 1 1 1 0 0     neither string, structure nor white space
//     values     0       1         1       1         1  0    of the structure: a value stands before it
//     others     0       0         1       0         1  0    and it is no string
//
// In: blocks in order, with the masks that json_index.inl.hpp made of them. Out: a verdict a block, and `valued` for
// json_levels.inl.hpp, which knows what may follow what and looks at the values that are no strings. Refuses to know depth.
// A verdict may come a block late, never behind the line end.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// A mask that is reckoned with from here on: in a general register, where the compiler might keep it among the vectors' masks
// and move it to and fro for every step.
static inline uint64_t bits_of(uint64_t mask) {
    __asm__("" : "+r"(mask));
    return mask;
}

// The bits of `word` where `mask` has ones, side by side.
static inline uint64_t extract_bits(uint64_t word, uint64_t mask) {
#ifdef __BMI2__
    return _pext_u64(word, mask);
#else
    uint64_t bits = 0;
    for (uint64_t at = 1; mask != 0; mask &= mask - 1, at <<= 1)
        if (word & mask & (0 - mask)) bits |= at;
    return bits;
#endif
}

struct JsonMasks {  // of a block
    uint64_t found;  // structure outside strings
    uint64_t quotes;  // not escaped
    uint64_t strings;  // from an opening quote up to the closing one
    uint64_t escaped;
    uint64_t present;
};

// What the letter of an escape means; 0 for what begins none or one with digits.
struct EscapeTable {
    alignas(64) uint8_t meaning[256];
    constexpr EscapeTable() : meaning() {
        meaning[uint8_t('"')] = '"', meaning[uint8_t('\\')] = '\\', meaning[uint8_t('/')] = '/';
        meaning[uint8_t('b')] = '\b', meaning[uint8_t('f')] = '\f', meaning[uint8_t('n')] = '\n';
        meaning[uint8_t('r')] = '\r', meaning[uint8_t('t')] = '\t';
    }
};
static constexpr EscapeTable escape_table;

// Of the positions, which have a value before them: a bit each, 64 side by side.
class JsonValuedWriter {
  public:
    explicit JsonValuedWriter(JsonValued* to) : to_(to) {}

    // `values` and `others` of a block's bytes, of which `found` are positions.
    __attribute__((always_inline)) void append(uint64_t values, uint64_t others, uint64_t found, unsigned count) {
        values = extract_bits(values, found);
        others = extract_bits(others, found);
        to_->values = word_.values |= values << filled_;
        to_->others = word_.others |= others << filled_;
        if (filled_ + count >= 64) {
            word_ = {filled_ ? values >> (64 - filled_) : 0, filled_ ? others >> (64 - filled_) : 0};
            *++to_ = word_;
            filled_ += count - 64;
        } else {
            filled_ += count;
        }
    }

  private:
    JsonValued* to_;
    JsonValued word_{0, 0};
    unsigned filled_ = 0;
};

// Whether the index looks at numbers and literals, too.
#ifdef __AVX512VBMI2__
constexpr bool json_scalars_indexed = true;
#else
constexpr bool json_scalars_indexed = false;
#endif

#ifdef __BMI2__
constexpr bool json_grammar_known = true;

static inline uint64_t control_mask(const Block& block) { return bits_of(at_most_mask(block, make_needle(0x1F))); }
#else
constexpr bool json_grammar_known = false;
#endif

static inline bool is_hex(uint8_t c) { return uint8_t(c - '0') <= 9 || uint8_t((c | 0x20) - 'a') <= 5; }

// Of the escaped bytes of a block, whether some belong to no escape. `size`: bytes from here to the end of all.
static inline bool wrong_escapes(const uint8_t* bytes, size_t size, uint64_t escaped) {
    bool wrong = false;
    for (; escaped != 0; escaped &= escaped - 1) {
        const unsigned at = trailing_zeros(escaped);
        const uint8_t c = bytes[at];
        if (escape_table.meaning[c] != 0) continue;
        const uint8_t* const unit = bytes + at + 1;
        wrong |=
            c != 'u' || size - at < 5 || !is_hex(unit[0]) || !is_hex(unit[1]) || !is_hex(unit[2]) || !is_hex(unit[3]);
    }
    return wrong;
}

template <bool strict>
class JsonGrammar {
  public:
    JsonGrammar(const uint8_t*, size_t, JsonValued*) {}
    bool accepts(const Block&, size_t, const JsonMasks&) { return true; }
};

#if defined(__BMI2__) && !defined(__AVX512VBMI2__)

struct JsonSpaceBytes {
    Needle space = make_needle(' '), tab = make_needle('\t'), carriage_return = make_needle('\r');
    uint64_t mask(const Block& block) const {
        return equal_mask(block, space) | equal_mask(block, tab) | equal_mask(block, carriage_return);
    }
};

// A bit for each byte whose predecessor has one; `carry` is that of the byte before the block.
static inline uint64_t behind(uint64_t bits, uint64_t& carry) {
    const uint64_t moved = bits << 1 | carry;
    carry = bits >> 63;
    return moved;
}

// From `from` to the next byte that is not in `over`: a bit there.
static inline uint64_t step_over(uint64_t over, uint64_t from, uint64_t& carry) {
    uint64_t sum, all;
    const bool first = __builtin_add_overflow(over, from & over, &sum);
    carry = first | __builtin_add_overflow(sum, carry, &all);
    return (all & ~over) | (from & ~over);
}

template <>
class JsonGrammar<true> {
  public:
    JsonGrammar(const uint8_t* data, size_t size, JsonValued* valued) : data_(data), size_(size), valued_(valued) {}

    __attribute__((always_inline)) bool accepts(const Block& block, size_t offset, const JsonMasks& masks) {
        const uint64_t closing = masks.quotes & ~masks.strings;
        const uint64_t space = space_.mask(block) & ~masks.strings;
        uint64_t wrong = control_mask(block) & masks.strings & masks.present;
        const uint64_t escaped = masks.escaped & masks.strings & masks.present;
        if (__builtin_expect(escaped != 0, 0)) wrong |= wrong_escapes(data_ + offset, size_ - offset, escaped);

        const uint64_t other = ~(masks.found | space | masks.strings | closing) & masks.present;
        const uint64_t after_other = behind(other, other_);
        // Behind a value, white space left out, there must be a part of the structure: that part is `valued`.
        const uint64_t text_ends = behind(closing, text_), other_ends = after_other & ~other;
        uint64_t valued = text_ends | other_ends, other_valued = other_ends;
        if (__builtin_expect((space | spaces_) != 0, 0)) {
            valued = step_over(space, valued, spaces_);
            other_valued = step_over(space, other_valued, other_spaces_);
        }
        valued_.append(valued, other_valued, masks.found, popcount(masks.found));
        wrong |= valued & ~masks.found;
        return wrong == 0;
    }

  private:
    const uint8_t* data_;
    size_t size_;
    JsonValuedWriter valued_;
    uint64_t other_ = 0, text_ = 0, spaces_ = 0, other_spaces_ = 0;  // what the block before leaves, a bit each
    const JsonSpaceBytes space_;
};

#endif

}  // namespace FORMATTER_ISA
}  // namespace formatter
