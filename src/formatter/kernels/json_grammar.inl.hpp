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
// Numbers are checked by looking one byte back, except for what a run of digits lies between: a run of ones is stepped over
// by adding the bit it begins with.
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
    return bits_of(_cvtmask64_u64(_mm512_cmplt_epu8_mask(values, _mm512_set1_epi8(10))));
}
static inline uint64_t control_mask(const Block& block) {
    return bits_of(_cvtmask64_u64(_mm512_cmplt_epu8_mask(block.bytes, _mm512_set1_epi8(0x20))));
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
#endif

#ifdef __AVX512VBMI__
struct JsonSpaceBytes {  // as JsonStructure finds its bytes
    __m512i table;
    JsonSpaceBytes() {
        alignas(64) uint8_t bytes[64] = {1};
        for (const char* c = " \t\r"; *c; c++) bytes[*c & 63] = uint8_t(*c);
        table = _mm512_load_si512(bytes);
    }
    uint64_t mask(const Block& block) const {
        return bits_of(
            _cvtmask64_u64(_mm512_cmpeq_epi8_mask(_mm512_permutexvar_epi8(block.bytes, table), block.bytes)));
    }
};
#else
struct JsonSpaceBytes {
    Needle space = make_needle(' '), tab = make_needle('\t'), carriage_return = make_needle('\r');
    uint64_t mask(const Block& block) const {
        return equal_mask(block, space) | equal_mask(block, tab) | equal_mask(block, carriage_return);
    }
};
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

static inline uint64_t where(const Block& block, Needle needle) { return bits_of(equal_mask(block, needle)); }

static inline bool is_hex(uint8_t c) { return uint8_t(c - '0') <= 9 || uint8_t((c | 0x20) - 'a') <= 5; }

// What an exponent in the block before leaves: rare, and so kept apart from what every block looks at.
struct JsonExponents {
    uint64_t any = 0, exponent = 0, sign = 0, run = 0;
};

// `rest`: what digits, points and a sign in front leave of numbers; `zeros`: those that no digit may follow, not so in
// exponents. Returns what is wrong.
__attribute__((noinline)) static uint64_t wrong_exponents(const uint8_t* bytes, uint64_t rest, uint64_t digits,
                                                          uint64_t point, uint64_t after_digit, uint64_t& zeros,
                                                          JsonExponents& before) {
    uint64_t exponent = 0, sign = 0;
    for (uint64_t left = rest; left != 0; left &= left - 1) {
        const unsigned at = trailing_zeros(left);
        const uint64_t bit = left & (0 - left);
        if ((bytes[at] | 0x20) == 'e') exponent |= bit;
        if (bytes[at] == '-' || bytes[at] == '+') sign |= bit;
    }
    const uint64_t after_exponent = behind(exponent, before.exponent), after_sign = behind(sign, before.sign);
    uint64_t wrong = rest & ~(exponent | sign);
    wrong |= (sign & ~after_exponent) | (exponent & ~after_digit);
    wrong |= (after_exponent & ~(digits | sign)) | (after_sign & ~digits);
    const uint64_t first_digits = (after_exponent | after_sign) & digits;
    zeros &= ~first_digits;
    wrong |= step_over(digits, first_digits, before.run) & (point | exponent);
    before.any = before.exponent | before.sign | before.run;
    return wrong;
}

// Of the escaped bytes of a block: those that no escape has. `size`: bytes from here to the end of all.
__attribute__((noinline)) static uint64_t wrong_escapes(const uint8_t* bytes, size_t size, uint64_t escaped) {
    uint64_t wrong = 0;
    for (; escaped != 0; escaped &= escaped - 1) {
        const unsigned at = trailing_zeros(escaped);
        const uint8_t c = bytes[at];
        const bool plain = c == '"' || c == '\\' || c == 'n' || c == '/' || c == 't' || c == 'r' || c == 'b' || c == 'f';
        if (plain) continue;
        const uint8_t* const unit = bytes + at + 1;
        wrong |= c != 'u' || size - at < 5 || !is_hex(unit[0]) || !is_hex(unit[1]) || !is_hex(unit[2]) || !is_hex(unit[3]);
    }
    return wrong;
}

// The bytes that true, false and null take from `begins` on; `behind` receives those that reach into the next block.
// Wrong is what begins no literal, nor with the '-' of a number.
__attribute__((noinline)) static uint64_t literal_bytes(const uint8_t* bytes, size_t size, uint64_t begins,
                                                        uint64_t& next, bool& wrong) {
    uint64_t literals = 0;
    for (; begins != 0; begins &= begins - 1) {
        const unsigned at = trailing_zeros(begins);
        if (bytes[at] == '-') continue;
        uint64_t word = 0;
        if (size - at >= 8)
            __builtin_memcpy(&word, bytes + at, 8);
        else
            __builtin_memcpy(&word, bytes + at, size - at);
        const uint32_t head = uint32_t(word);
        const bool four = head == 0x65757274u || head == 0x6C6C756Eu;  // true, null
        const bool five = (word & 0xFFFFFFFFFFu) == 0x65736C6166u;     // false
        wrong |= !four & !five;
        const uint64_t these = five ? 31 : 15;
        literals |= these << at;
        if (at > 64 - 5) next |= these >> (64 - at);
    }
    return literals;
}

template <>
class JsonGrammar<true> {
  public:
    JsonGrammar(const uint8_t* data, size_t size, uint64_t* valued) : data_(data), size_(size), valued_(valued) {}

    __attribute__((always_inline)) bool accepts(const Block& block, size_t offset, const JsonMasks& masks) {
        const uint64_t closing = masks.quotes & ~masks.strings;
        const uint64_t space = space_.mask(block) & ~masks.strings;
        uint64_t wrong = control_mask(block) & masks.strings & masks.present;
        const uint64_t escaped = masks.escaped & masks.strings & masks.present;
        if (__builtin_expect(escaped != 0, 0)) wrong |= wrong_escapes(data_ + offset, size_ - offset, escaped);

        const uint64_t other = ~(masks.found | space | masks.strings | closing) & masks.present;
        const uint64_t after_other = behind(other, other_), begins = other & ~after_other;
        // Behind a value, white space left out, there must be a part of the structure: that part is `valued`.
        const uint64_t text_ends = behind(closing, text_), other_ends = after_other & ~other;
        uint64_t valued = text_ends | other_ends, other_valued = other_ends;
        if (__builtin_expect((space | spaces_) != 0, 0)) {
            valued = step_over(space, valued, spaces_);
            other_valued = step_over(space, other_valued, other_spaces_);
        }
        append_valued(_pext_u64(valued, masks.found), popcount(masks.found));
        wrong |= (valued & ~masks.found) | (other_valued & where(block, colon_));

        const uint64_t all_digits = digit_mask(block);
        uint64_t literals = literal_;
        literal_ = 0;
        const uint64_t words = begins & ~all_digits;
        if (words != 0) {
            uint64_t next = 0;
            bool unknown = false;
            literals |= literal_bytes(data_ + offset, size_ - offset, words, next, unknown);
            literal_ = next;
            if (unknown) return false;
        }
        const uint64_t numbers = other & ~literals, digits = all_digits & numbers;
        wrong |= numbers & behind(literals, after_literal_);

        if (__builtin_expect((numbers & ~digits) == 0 && (signs_ | exponents_.any) == 0, 1)) {
            // Whole numbers: nothing but a zero in front can be wrong.
            const uint64_t zeros = where(block, zero_) & numbers & ~behind(digits, digit_);
            wrong |= behind(zeros, zeros_) & digits;
            fraction_ &= uint64_t(numbers == ~uint64_t(0));
            return wrong == 0;
        }
        const uint64_t minus = where(block, minus_) & begins, point = where(block, point_) & numbers;
        const uint64_t after_digit = behind(digits | point, digit_);
        wrong |= (point & ~after_digit) | (behind(minus | point, signs_) & ~digits);
        // A run of ones that a point is added to is zero from there on; a second point in it is not.
        uint64_t sum, all;
        const bool over = __builtin_add_overflow(numbers, point, &sum);
        fraction_ = uint64_t(over | __builtin_add_overflow(sum, fraction_, &all));
        wrong |= all & point;
        uint64_t zeros = where(block, zero_) & numbers & ~after_digit;
        const uint64_t rest = numbers & ~(digits | point | minus);
        if (__builtin_expect((rest | exponents_.any) != 0, 0))
            wrong |= wrong_exponents(data_ + offset, rest, digits, point, after_digit, zeros, exponents_);
        wrong |= behind(zeros, zeros_) & digits;
        return wrong == 0;
    }

  private:
    __attribute__((always_inline)) void append_valued(uint64_t bits, unsigned count) {
        *valued_ = word_ |= bits << filled_;
        if (filled_ + count >= 64) {
            word_ = filled_ ? bits >> (64 - filled_) : 0;
            *++valued_ = word_;
            filled_ += count - 64;
        } else {
            filled_ += count;
        }
    }

    const uint8_t* data_;
    size_t size_;
    uint64_t* valued_;
    uint64_t word_ = 0;
    unsigned filled_ = 0;
    // What the block before leaves, a bit each; literal_: the bytes of a literal that reach into the next block.
    uint64_t other_ = 0, text_ = 0, spaces_ = 0, other_spaces_ = 0, literal_ = 0, after_literal_ = 0, digit_ = 0;
    uint64_t signs_ = 0, zeros_ = 0, fraction_ = 0;
    JsonExponents exponents_;
    const JsonSpaceBytes space_;
    const Needle colon_ = make_needle(':'), minus_ = make_needle('-'), point_ = make_needle('.'), zero_ = make_needle('0');
};

#else

constexpr bool json_grammar_known = false;

#endif

}  // namespace FORMATTER_ISA
}  // namespace formatter
