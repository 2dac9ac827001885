// Whether what stands between the structure of JSON lines is in order: strings, numbers, literals, white space.
//
//     bytes      { " a " : - 1 . 5 , " b " : t r u e } \n
//     other      0 0 0 0 0 1 1 1 1 0 0 0 0 0 1 1 1 1 0 0     neither string, structure nor white space
//     values     0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 0 0     where one begins
//     valued     0       1         1       1         1  0    of the structure: a value stands before it
//
// In: blocks in order, with the masks that json_index.inl.hpp made of them. Out: a verdict a block, and `valued` for
// json_levels.inl.hpp, which knows what may follow what. Refuses to know depth. A verdict may come a block late, never
// behind the line end.
//
// Numbers are checked by looking one byte back, except for what a run of digits follows: a run is stepped over by adding
// the bit it begins with, and behind the digits of a fraction no '.' may stand, behind those of an exponent no 'e' either.
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

struct JsonMasks {  // of a block
    uint64_t found;  // structure outside strings
    uint64_t quotes;  // not escaped
    uint64_t strings;  // from an opening quote up to the closing one
    uint64_t escaped;
    uint64_t present;
};

template <bool strict>
class JsonGrammar {
  public:
    JsonGrammar(const uint8_t*, size_t, uint64_t*) {}
    bool accepts(const Block&, size_t, const JsonMasks&) { return true; }
};

#ifdef __BMI2__

constexpr bool json_grammar_known = true;

#ifdef __AVX512BW__
static inline uint64_t digit_mask(const Block& block) {
    const __m512i values = _mm512_sub_epi8(block.bytes, _mm512_set1_epi8('0'));
    return _cvtmask64_u64(_mm512_cmplt_epu8_mask(values, _mm512_set1_epi8(10)));
}
static inline uint64_t control_mask(const Block& block) {
    return _cvtmask64_u64(_mm512_cmplt_epu8_mask(block.bytes, _mm512_set1_epi8(0x20)));
}
static inline Block lower_case(const Block& block) { return {_mm512_or_si512(block.bytes, _mm512_set1_epi8(0x20))}; }
#else
static inline uint64_t at_most_mask(const Block& block, uint8_t most) {
    const __m256i limit = _mm256_set1_epi8(char(most));
    return equal_mask({_mm256_max_epu8(block.low, limit), _mm256_max_epu8(block.high, limit)}, {limit});
}
static inline uint64_t digit_mask(const Block& block) {
    const __m256i zero = _mm256_set1_epi8('0');
    return at_most_mask({_mm256_sub_epi8(block.low, zero), _mm256_sub_epi8(block.high, zero)}, 9);
}
static inline uint64_t control_mask(const Block& block) { return at_most_mask(block, 0x1F); }
static inline Block lower_case(const Block& block) {
    const __m256i bit = _mm256_set1_epi8(0x20);
    return {_mm256_or_si256(block.low, bit), _mm256_or_si256(block.high, bit)};
}
#endif

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

static inline bool is_hex(uint8_t c) { return uint8_t(c - '0') <= 9 || uint8_t((c | 0x20) - 'a') <= 5; }

template <>
class JsonGrammar<true> {
  public:
    JsonGrammar(const uint8_t* data, size_t size, uint64_t* valued) : data_(data), size_(size), valued_(valued) {}

    bool accepts(const Block& block, size_t offset, const JsonMasks& masks) {
        const uint64_t opening = masks.quotes & masks.strings, closing = masks.quotes & ~masks.strings;
        const uint64_t space = equal_mask(block, space_) | equal_mask(block, tab_) | equal_mask(block, return_);
        uint64_t wrong = control_mask(block) & masks.strings & masks.present;
        if (__builtin_expect(masks.escaped != 0, 0))
            wrong |= wrong_escapes(block, offset, masks.escaped & masks.strings & masks.present);

        const uint64_t other = ~(masks.found | space | masks.strings | closing) & masks.present;
        const uint64_t begins = other & ~behind(other, other_);
        wrong |= misplaced_values(opening, begins, masks.found, equal_mask(block, colon_) & masks.found);

        uint64_t literals = literal_;
        literal_ = 0;
        uint64_t words = begins & (equal_mask(block, t_) | equal_mask(block, f_) | equal_mask(block, n_));
        for (; words != 0; words &= words - 1) {
            const unsigned at = trailing_zeros(words);
            const unsigned size = literal_size(offset + at);
            if (size == 0) return false;
            const uint64_t bytes = (uint64_t(1) << size) - 1;
            literals |= bytes << at;
            if (at + size > 64) literal_ = bytes >> (64 - at);
        }
        const uint64_t numbers = other & ~literals;
        wrong |= numbers & behind(literals, after_literal_);
        return (wrong | wrong_numbers(block, numbers)) == 0;
    }

  private:
    uint64_t wrong_escapes(const Block& block, size_t offset, uint64_t escaped) const {
        uint64_t known = 0;
        for (const char* c = "\"\\/bfnrt"; *c; c++) known |= equal_mask(block, make_needle(uint8_t(*c)));
        uint64_t wrong = escaped & ~known, units = wrong & equal_mask(block, make_needle('u'));
        for (; units != 0; units &= units - 1) {
            const size_t at = offset + trailing_zeros(units) + 1;
            if (size_ - at < 4) break;
            if (!is_hex(data_[at]) || !is_hex(data_[at + 1]) || !is_hex(data_[at + 2]) || !is_hex(data_[at + 3])) break;
            wrong &= ~(units & (0 - units));
        }
        return wrong;
    }

    // One value at most between parts of the structure, and before a colon a string.
    uint64_t misplaced_values(uint64_t opening, uint64_t begins, uint64_t found, uint64_t colons) {
        const uint64_t values = opening | begins, pending = value_;
        const uint64_t valued = step_over(~found, values, value_) & found;
        const uint64_t texts = step_over(~found, opening, text_) & found;
        append_valued(extract_bits_of(valued, found), popcount(found));
        const bool several = popcount(values) + pending != popcount(valued) + value_;
        return (colons & ~texts) | uint64_t(several);
    }

    static uint64_t extract_bits_of(uint64_t word, uint64_t mask) { return _pext_u64(word, mask); }

    void append_valued(uint64_t bits, unsigned count) {
        *valued_ = word_ |= bits << filled_;
        if (filled_ + count >= 64) {
            word_ = filled_ ? bits >> (64 - filled_) : 0;
            *++valued_ = word_;
            filled_ += count - 64;
        } else {
            filled_ += count;
        }
    }

    unsigned literal_size(size_t at) const {
        uint64_t word = 0;
        if (size_ - at >= 8)
            __builtin_memcpy(&word, data_ + at, 8);
        else
            __builtin_memcpy(&word, data_ + at, size_ - at);
        const uint32_t head = uint32_t(word);
        const bool four = head == 0x65757274u || head == 0x6C6C756Eu;  // true, null
        const bool five = (word & 0xFFFFFFFFFFu) == 0x65736C6166u;  // false
        return four ? 4 : five ? 5 : 0;
    }

    uint64_t wrong_numbers(const Block& block, uint64_t numbers) {
        const uint64_t digits = digit_mask(block) & numbers, minus = equal_mask(block, minus_) & numbers;
        const uint64_t plus = equal_mask(block, plus_) & numbers, point = equal_mask(block, point_) & numbers;
        const uint64_t exponent = equal_mask(lower_case(block), e_) & numbers;
        const uint64_t zero = equal_mask(block, zero_) & numbers;
        const uint64_t begins = numbers & ~behind(numbers, number_);
        const uint64_t after_digit = behind(digits, digit_), after_exponent = behind(exponent, exponent_);
        const uint64_t after_point = behind(point, point_carry_);
        const uint64_t after_sign = behind(minus | plus, sign_);
        const uint64_t first_digits = (begins & digits) | behind(minus & begins, first_minus_);
        const uint64_t exponent_digits = after_exponent | behind((minus | plus) & after_exponent, exponent_sign_);
        uint64_t wrong = numbers & ~(digits | minus | plus | point | exponent);
        wrong |= minus & ~(begins | after_exponent);
        wrong |= plus & ~after_exponent;
        wrong |= (point | exponent) & ~after_digit;
        wrong |= (after_sign | after_point) & ~digits;
        wrong |= after_exponent & ~(digits | minus | plus);
        wrong |= begins & ~(digits | minus);
        wrong |= behind(zero & first_digits, leading_zero_) & digits;
        wrong |= step_over(digits, after_point & digits, fraction_run_) & point;
        wrong |= step_over(digits, exponent_digits & digits, exponent_run_) & (point | exponent);
        return wrong;
    }

    const uint8_t* data_;
    size_t size_;
    uint64_t* valued_;
    uint64_t word_ = 0;
    unsigned filled_ = 0;
    // What the block before leaves, a bit each; literal_: the bytes of a literal that reach into the next block.
    uint64_t other_ = 0, value_ = 0, text_ = 0, literal_ = 0, after_literal_ = 0, number_ = 0, digit_ = 0;
    uint64_t exponent_ = 0, point_carry_ = 0, sign_ = 0, first_minus_ = 0, exponent_sign_ = 0, leading_zero_ = 0;
    uint64_t fraction_run_ = 0, exponent_run_ = 0;
    const Needle space_ = make_needle(' '), tab_ = make_needle('\t'), return_ = make_needle('\r'),
                 colon_ = make_needle(':'), t_ = make_needle('t'), f_ = make_needle('f'), n_ = make_needle('n'),
                 minus_ = make_needle('-'), plus_ = make_needle('+'), point_ = make_needle('.'), e_ = make_needle('e'),
                 zero_ = make_needle('0');
};

#else

constexpr bool json_grammar_known = false;

#endif

}  // namespace FORMATTER_ISA
}  // namespace formatter
