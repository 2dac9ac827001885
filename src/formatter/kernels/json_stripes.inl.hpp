// What json_index.inl.hpp does, for CPUs whose registers hold the masks of eight blocks: 512 bytes as one number of 512
// bits. In: lines. Out: positions, and whether all is in order by the grammar. Refuses to know keys and values.
//
//     bytes      one mask of each class of bytes a block, laid side by side in memory
//     groups     eight blocks at once: escapes, strings, structure, and with the grammar all else that can be wrong
//     positions  block by block again
//
// Each stage runs over a stripe of blocks before the next one begins, so that none waits for what another has just written.
// UTF-8 is checked on the way. A group with something wrong in it is given up whole when the grammar is checked.
#pragma once

#include "kernels/json_grammar.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/utf8.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

constexpr size_t group_blocks = 8, group_bytes = 64 * group_blocks, stripe_groups = 8;

// ------------------------------------------------------------------------------------------ numbers of 512 bits

// All bits one place on; `before` is the number before this one, whose last bit comes in.
static inline __m512i one_on(__m512i bits, __m512i before) {
    return _mm512_shldi_epi64(bits, _mm512_alignr_epi64(bits, before, 7), 1);
}

static inline __m512i add_bits(__m512i a, __m512i b, unsigned& carry) {
    const __m512i sum = _mm512_add_epi64(a, b);
    const unsigned full = _cvtmask8_u32(_mm512_cmpeq_epi64_mask(sum, _mm512_set1_epi64(-1)));
    const unsigned over = _cvtmask8_u32(_mm512_cmplt_epu64_mask(sum, a));
    const unsigned into = ((over << 1) | carry) + full;  // a carry runs through words that are full
    carry = into >> 8 & 1;
    return _mm512_mask_sub_epi64(sum, _cvtu32_mask8((into ^ full) & 0xFF), sum, _mm512_set1_epi64(-1));
}

static inline bool any_bit(__m512i bits) { return _cvtmask8_u32(_mm512_test_epi64_mask(bits, bits)) != 0; }

// From each bit of `from` to the next byte that is not in `over`.
static inline __m512i step_over_bits(__m512i over, __m512i from, unsigned& carry) {
    const __m512i all = add_bits(over, _mm512_and_si512(from, over), carry);
    return _mm512_andnot_si512(over, _mm512_or_si512(all, from));
}

// ------------------------------------------------------------------------------------------ classes of bytes

// Bytes that differ in their low six bits are found at once by a table of 64: a byte is one of them if the table holds it
// where its low bits point.
struct ByteSet {
    alignas(64) uint8_t table[64] = {1};  // no byte with low bits 0 is 1, none with others is 0
    constexpr explicit ByteSet(const char* members) {
        for (const char* c = members; *c; c++) table[*c & 63] = uint8_t(*c);
    }
};
static constexpr ByteSet structure_bytes("{}[]:,\n"), space_bytes(" \t\r");

struct MaskStripe {  // a mask a block
    typedef uint64_t Masks[stripe_groups * group_blocks];
    alignas(64) Masks quotes, backslashes, line_ends, structure, beyond_ascii, found;
};
struct GrammarStripe {
    alignas(64) MaskStripe::Masks controls, spaces, digits, zeros, points, pluses, minuses, exponents;
    alignas(64) MaskStripe::Masks escape_letters;  // where there are backslashes
    alignas(64) MaskStripe::Masks valued, others;
};

static inline void keep(uint64_t& mask, __mmask64 bits) { mask = _cvtmask64_u64(bits); }
static inline __m512i load_masks(const MaskStripe::Masks& masks, size_t group) {
    return _mm512_load_si512(masks + group * group_blocks);
}
static inline void store_masks(MaskStripe::Masks& masks, size_t group, __m512i bits) {
    _mm512_store_si512(masks + group * group_blocks, bits);
}

// ------------------------------------------------------------------------------------------ the grammar

// Of numbers nearly everything shows in neighbouring bytes; the rest is that no second point and no second exponent follows
// the digits behind the first. Literals are compared one by one.
class GroupGrammar {
  public:
    struct Group {
        __m512i quotes, escaped, strings, found;
        const uint8_t* bytes;
        size_t left;  // bytes that can be read
    };

    // False if something is wrong, here or at the end of the group before.
    bool accepts(const Group& group, GrammarStripe& stripe, size_t i) {
        const __m512i closing = _mm512_andnot_si512(group.strings, group.quotes);
        const __m512i space = _mm512_andnot_si512(group.strings, load_masks(stripe.spaces, i));
        __m512i wrong = _mm512_and_si512(load_masks(stripe.controls, i), group.strings);
        const __m512i escaped = _mm512_and_si512(group.escaped, group.strings);
        if (any_bit(escaped)) {  // u is left, and what is wrong
            const __m512i rest = _mm512_andnot_si512(load_masks(stripe.escape_letters, i), escaped);
            if (any_bit(rest) && wrong_escapes_of(rest, group)) return false;
        }
        const __m512i other = _mm512_andnot_si512(
            _mm512_or_si512(_mm512_or_si512(group.found, space), _mm512_or_si512(group.strings, closing)),
            _mm512_set1_epi64(-1));
        const __m512i after_other = one_on(other, other_);
        const __m512i text_ends = one_on(closing, closing_);
        // Behind a value, white space left out, there must be a part of the structure: that part is `valued`.
        __m512i others = _mm512_andnot_si512(other, after_other), valued = _mm512_or_si512(text_ends, others);
        if (any_bit(space) | spaces_ | other_spaces_) {
            valued = step_over_bits(space, valued, spaces_);
            others = step_over_bits(space, others, other_spaces_);
        }
        wrong = _mm512_or_si512(wrong, _mm512_andnot_si512(group.found, valued));
        store_masks(stripe.valued, i, valued);
        store_masks(stripe.others, i, others);

        const __m512i first = _mm512_andnot_si512(after_other, other);
        const __m512i digits = _mm512_and_si512(load_masks(stripe.digits, i), other);
        const __m512i minuses = _mm512_and_si512(load_masks(stripe.minuses, i), other);
        const __m512i literals = literals_of(_mm512_andnot_si512(_mm512_or_si512(digits, minuses), first), group);
        if (bad_literal_) return false;
        wrong = _mm512_or_si512(
            wrong, wrong_numbers(_mm512_andnot_si512(literals, other), first, digits, minuses, literals, stripe, i));
        other_ = other;
        closing_ = closing;
        return !any_bit(wrong);
    }

  private:
    static bool wrong_escapes_of(__m512i escaped, const Group& group) {
        alignas(64) uint64_t masks[group_blocks];
        _mm512_store_si512(masks, escaped);
        bool wrong = false;
        for (size_t b = 0; b < group_blocks; b++)
            if (masks[b] != 0) {
                const uint8_t* const bytes = group.bytes + 64 * b;
                wrong |= wrong_escapes(bytes, group.left - 64 * b, masks[b]);
            }
        return wrong;
    }

    // The bytes of true, false and null where a value begins that is no number.
    __m512i literals_of(__m512i starts, const Group& group) {
        uint64_t found[group_blocks + 1] = {literals_over_};
        literals_over_ = 0;
        for (unsigned blocks = _cvtmask8_u32(_mm512_test_epi64_mask(starts, starts)); blocks != 0;
             blocks &= blocks - 1) {
            const unsigned b = trailing_zeros(blocks);
            alignas(64) uint64_t words[group_blocks];
            _mm512_store_si512(words, starts);
            for (uint64_t mask = words[b]; mask != 0; mask &= mask - 1) {
                const unsigned bit = trailing_zeros(mask);
                const size_t at = 64 * b + bit;
                uint64_t word = 0;
                __builtin_memcpy(&word, group.bytes + at, 8);
                const uint32_t head = uint32_t(word);
                const bool four = head == 0x65757274u || head == 0x6C6C756Eu;  // true, null
                const bool five = (word & 0xFFFFFFFFFFu) == 0x65736C6166u;  // false
                bad_literal_ |= !(four | five);
                const uint64_t bytes = five ? 31 : 15;
                found[b] |= bytes << bit;
                found[b + 1] |= bytes >> 1 >> (63 - bit);
            }
        }
        literals_over_ = found[group_blocks];
        return _mm512_loadu_si512(found);
    }

    __m512i wrong_numbers(__m512i number, __m512i first, __m512i digits, __m512i minuses, __m512i literals,
                          const GrammarStripe& stripe, size_t i) {
        const auto both = [](__m512i a, __m512i b) { return _mm512_and_si512(a, b); };
        const auto either = [](__m512i a, __m512i b) { return _mm512_or_si512(a, b); };
        const auto without = [](__m512i a, __m512i b) { return _mm512_andnot_si512(b, a); };
        const __m512i points = both(load_masks(stripe.points, i), number);
        const __m512i pluses = both(load_masks(stripe.pluses, i), number);
        const __m512i exponents = both(load_masks(stripe.exponents, i), number);
        const __m512i signs = either(minuses, pluses);
        __m512i wrong = without(number, either(either(digits, points), either(signs, exponents)));
        const __m512i behind_literal = one_on(literals, literals_);
        wrong = either(wrong, both(behind_literal, number));
        // A point or an exponent stands behind a digit, a sign first or behind an exponent, a plus only there.
        const __m512i behind_digit = one_on(digits, digits_), behind_exponent = one_on(exponents, exponents_);
        wrong = either(wrong, without(either(points, exponents), behind_digit));
        wrong = either(wrong, without(signs, either(first, behind_exponent)));
        wrong = either(wrong, both(pluses, first));
        // Behind a sign or a point a digit is due, behind an exponent a digit or a sign.
        const __m512i signs_and_points = either(signs, points);
        wrong = either(wrong, without(one_on(signs_and_points, signs_and_points_), digits));
        wrong = either(wrong, without(behind_exponent, either(digits, signs)));
        // No digit behind a zero that comes first.
        const __m512i first_minuses = both(minuses, first);
        const __m512i first_digits = both(digits, either(first, one_on(first_minuses, first_minuses_)));
        const __m512i first_zeros = both(load_masks(stripe.zeros, i), first_digits);
        wrong = either(wrong, both(one_on(first_zeros, first_zeros_), digits));
        // Behind the digits of a fraction no point, behind those of an exponent neither.
        if (any_bit(either(points, points_)) | fractions_)
            wrong = either(wrong, both(points, step_over_bits(digits, one_on(points, points_), fractions_)));
        if (any_bit(either(exponents, exponents_)) | powers_) {
            const __m512i signs_of_powers = both(signs, behind_exponent);
            const __m512i from = either(behind_exponent, one_on(signs_of_powers, signs_of_powers_));
            wrong = either(wrong, both(either(points, exponents), step_over_bits(digits, from, powers_)));
            signs_of_powers_ = signs_of_powers;
        } else {
            signs_of_powers_ = __m512i{};
        }
        points_ = points;
        exponents_ = exponents;
        digits_ = digits;
        literals_ = literals;
        signs_and_points_ = signs_and_points;
        first_minuses_ = first_minuses;
        first_zeros_ = first_zeros;
        return wrong;
    }

    // Of the group before.
    __m512i other_{}, closing_{}, digits_{}, points_{}, exponents_{}, literals_{}, signs_and_points_{},
        first_minuses_{}, first_zeros_{}, signs_of_powers_{};
    unsigned spaces_ = 0, other_spaces_ = 0, fractions_ = 0, powers_ = 0;  // carries
    uint64_t literals_over_ = 0;
    bool bad_literal_ = false;
};

// ------------------------------------------------------------------------------------------ the index

template <bool kinds_too, bool strict>
class StripeIndexer {
  public:
    StripeIndexer(const uint8_t* data, size_t size, JsonIndex& index)
        : data_(data), size_(size), index_(index), out_(index.positions), kinds_(index.kinds), valued_(index.valued) {}

    void run() {
        bool good = true;
        size_t offset = 0;
        while (good && size_ - offset >= group_bytes) {
            const size_t groups = (size_ - offset) / group_bytes;
            const size_t now = groups < stripe_groups ? groups : stripe_groups;
            good = take(data_ + offset, offset, now);
            offset += now * group_bytes;
        }
        if (good && offset < size_) {
            alignas(64) uint8_t rest[group_bytes + 64];
            for (size_t i = 0; i < group_bytes; i += 64) _mm512_store_si512(rest + i, _mm512_set1_epi8(' '));
            __builtin_memcpy(rest, data_ + offset, size_ - offset);
            good = take(rest, offset, 1);
        }
        if (!good)
            while (out_ > index_.positions && data_[out_[-1]] != '\n') out_--;
        index_.stopped = !good;
        index_.utf8_known = !lanes::any_byte(faults_);
        index_.count = size_t(out_ - index_.positions);
    }

  private:
    // False if the index is to stop in this stripe; then what stands before the fault is written.
    bool take(const uint8_t* bytes, size_t offset, size_t groups) {
        // Asked of the stripe: of a group it cannot be foreseen.
        const bool escapes = classify(bytes, offset, groups);
        size_t blocks = 0;
        bool good = true;
        for (size_t i = 0; i < groups && good; i++)
            good = escapes ? structure<true>(bytes + i * group_bytes, offset + i * group_bytes, i, &blocks)
                           : structure<false>(bytes + i * group_bytes, offset + i * group_bytes, i, &blocks);
        write(bytes, offset, blocks);
        return good;
    }

    // Whether something is escaped, perhaps.
    bool classify(const uint8_t* bytes, size_t offset, size_t groups) {
        const __m512i backslash = _mm512_set1_epi8('\\'), quote = _mm512_set1_epi8('"');
        const __m512i line_end = _mm512_set1_epi8('\n'), structure_table = _mm512_load_si512(structure_bytes.table);
        const __m512i space_table = _mm512_load_si512(space_bytes.table);
        const size_t blocks = groups * group_blocks;
        for (size_t b = 0; b < blocks; b++) {
            const __m512i block = _mm512_loadu_si512(bytes + 64 * b);
            // The next stripe comes while this one is worked on: nothing else is read meanwhile.
            _mm_prefetch(reinterpret_cast<const char*>(bytes + 64 * (b + stripe_groups * group_blocks)), _MM_HINT_T0);
            keep(masks_.quotes[b], _mm512_cmpeq_epi8_mask(block, quote));
            keep(masks_.backslashes[b], _mm512_cmpeq_epi8_mask(block, backslash));
            keep(masks_.beyond_ascii[b], _mm512_movepi8_mask(block));
            const __m512i looked_up = _mm512_permutexvar_epi8(block, structure_table);
            keep(masks_.structure[b], _mm512_cmpeq_epi8_mask(looked_up, block));
            if (!strict) {
                keep(masks_.line_ends[b], _mm512_cmpeq_epi8_mask(block, line_end));
                continue;
            }
            const __m512i space = _mm512_permutexvar_epi8(block, space_table);
            keep(grammar_masks_.spaces[b], _mm512_cmpeq_epi8_mask(space, block));
            keep(grammar_masks_.controls[b], _mm512_cmplt_epu8_mask(block, _mm512_set1_epi8(0x20)));
            const __m512i value = _mm512_sub_epi8(block, _mm512_set1_epi8('0'));
            keep(grammar_masks_.digits[b], _mm512_cmplt_epu8_mask(value, _mm512_set1_epi8(10)));
            keep(grammar_masks_.zeros[b], _mm512_testn_epi8_mask(value, value));
            keep(grammar_masks_.points[b], _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('.')));
            keep(grammar_masks_.pluses[b], _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('+')));
            keep(grammar_masks_.minuses[b], _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8('-')));
            const __m512i lower = _mm512_or_si512(block, _mm512_set1_epi8(0x20));
            keep(grammar_masks_.exponents[b], _mm512_cmpeq_epi8_mask(lower, _mm512_set1_epi8('e')));
        }
        __m512i backslashes{};
        uint64_t beyond_ascii = 0;  // a bit a block
        for (size_t i = 0; i < groups; i++) {
            const __m512i beyond = load_masks(masks_.beyond_ascii, i);
            beyond_ascii |= uint64_t(_cvtmask8_u32(_mm512_test_epi64_mask(beyond, beyond))) << i * group_blocks;
            backslashes = _mm512_or_si512(backslashes, load_masks(masks_.backslashes, i));
        }
        if ((beyond_ascii | beyond_ascii_) != 0) check_utf8(bytes, offset, blocks, beyond_ascii);
        if (!any_bit(backslashes) && !escape_) return false;
        if (strict) classify_escapes(bytes, blocks);
        return true;
    }

    void classify_escapes(const uint8_t* bytes, size_t blocks) {
        const __m512i low = _mm512_load_si512(escape_table.meaning);
        const __m512i high = _mm512_load_si512(escape_table.meaning + 64);
        for (size_t b = 0; b < blocks; b++) {
            const __m512i block = _mm512_loadu_si512(bytes + 64 * b);
            const __m512i meanings = _mm512_permutex2var_epi8(low, block, high);  // by the low seven bits
            const __mmask64 ascii = _mm512_testn_epi8_mask(block, _mm512_set1_epi8(char(0x80)));
            keep(grammar_masks_.escape_letters[b], _mm512_mask_test_epi8_mask(ascii, meanings, meanings));
        }
    }

    // The blocks with bytes beyond ASCII and those behind them.
    void check_utf8(const uint8_t* bytes, size_t offset, size_t blocks, uint64_t beyond_ascii) {
        Text faults = faults_;
        uint64_t doubtful = beyond_ascii | beyond_ascii << 1 | beyond_ascii_;
        beyond_ascii_ = beyond_ascii >> (blocks - 1);
        if (blocks < 64) doubtful &= (uint64_t(1) << blocks) - 1;
        for (; doubtful != 0; doubtful &= doubtful - 1) {
            const size_t at = 64 * size_t(trailing_zeros(doubtful));
            Text before{};
            if (offset + at != 0) before = lanes::load_text((at ? bytes : data_ + offset) + at - 64);
            faults |= utf8_faults(lanes::load_text(bytes + at), before);
        }
        faults_ = faults;
    }

    // Leaves the structure of a group outside strings and counts its blocks; if something is wrong, those up to that.
    template <bool escapes>
    bool structure(const uint8_t* bytes, size_t offset, size_t i, size_t* blocks) {
        __m512i quotes = load_masks(masks_.quotes, i), backslashes{}, escaped{};
        if (escapes) {
            backslashes = load_masks(masks_.backslashes, i);
            escaped = escaped_bits(backslashes, masks_.backslashes[(i + 1) * group_blocks - 1]);
            quotes = _mm512_andnot_si512(escaped, quotes);
        }
        const __m512i strings = inside(quotes);
        const __m512i found = _mm512_andnot_si512(strings, load_masks(masks_.structure, i));
        store_masks(masks_.found, i, found);
        if (strict) {
            if (!is_grammar({quotes, escaped, strings, found, bytes, size_ - offset}, i)) return false;
            *blocks += group_blocks;
            return true;
        }
        const __m512i bad = _mm512_or_si512(_mm512_and_si512(load_masks(masks_.line_ends, i), strings),
                                            _mm512_andnot_si512(strings, backslashes));
        const unsigned bad_blocks = _cvtmask8_u32(_mm512_test_epi64_mask(bad, bad));
        if (__builtin_expect(bad_blocks == 0, 1)) {
            *blocks += group_blocks;
            return true;
        }
        alignas(64) uint64_t words[group_blocks];
        _mm512_store_si512(words, bad);
        const size_t first = trailing_zeros(bad_blocks);
        masks_.found[i * group_blocks + first] &= (words[first] & (0 - words[first])) - 1;
        *blocks += first + 1;
        return false;
    }

    bool is_grammar(GroupGrammar::Group group, size_t i) {
        if (group.left < group_bytes) {  // a copy with spaces behind
            group.left = group_bytes;
        } else if (group.left < group_bytes + 8) {  // literals are looked at by eight bytes
            alignas(64) uint8_t copy[group_bytes + 64] = {};
            __builtin_memcpy(copy, group.bytes, group.left);
            group.bytes = copy;
            return grammar_.accepts(group, grammar_masks_, i);
        }
        return grammar_.accepts(group, grammar_masks_, i);
    }

    // As escaped_bytes. `last`: those of the last block.
    __m512i escaped_bits(__m512i backslashes, uint64_t last) {
        const __m512i even = _mm512_set1_epi64(0x5555555555555555);
        const __m512i start = _mm512_zextsi128_si512(_mm_cvtsi64_si128(int64_t(escape_)));
        const __m512i unescaped = _mm512_andnot_si512(start, backslashes);
        const __m512i behind = _mm512_or_si512(one_on(unescaped, __m512i{}), start);
        const __m512i odd_starts = _mm512_andnot_si512(_mm512_or_si512(even, behind), unescaped);
        unsigned carry = 0;
        const __m512i even_runs = add_bits(unescaped, odd_starts, carry);
        // Not the carry if it can be told from the run at the end: the next group waits for this.
        unsigned next = unsigned(_lzcnt_u64(~last)) & 1;
        if (__builtin_expect(last == ~uint64_t(0), 0)) {
            __asm__("" : "+r"(carry));  // a branch, not a choice between both
            next = carry;
        }
        escape_ = next;
        return _mm512_and_si512(_mm512_xor_si512(even, one_on(even_runs, __m512i{})), behind);
    }

    // From an opening quote up to the closing one.
    __m512i inside(__m512i quotes) {
        __m512i x = quotes;
        x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 1));
        x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 2));
        x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 4));
        x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 8));
        x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 16));
        x = _mm512_xor_si512(x, _mm512_slli_epi64(x, 32));
        unsigned odd = _cvtmask8_u32(_mm512_movepi64_mask(x));  // blocks, then blocks with those before them
        odd ^= odd << 1;
        odd ^= odd << 2;
        odd ^= odd << 4;
        const unsigned begin_inside = (odd << 1 ^ (0 - inside_)) & 0x1FF;
        inside_ = begin_inside >> 8;
        return _mm512_mask_xor_epi64(x, _cvtu32_mask8(begin_inside & 0xFF), x, _mm512_set1_epi64(-1));
    }

    void write(const uint8_t* bytes, size_t offset, size_t blocks) {
        uint32_t* out = out_;
        uint8_t* kinds = kinds_;
        alignas(64) static const uint8_t iota[64] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                                     16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31,
                                                     32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47,
                                                     48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
        const __m512i places = _mm512_load_si512(iota);
        JsonValuedWriter valued = valued_;
        for (size_t b = 0; b < blocks; b++) {
            const uint64_t mask = masks_.found[b];
            const unsigned count = popcount(mask);
            // Onto zeros: what is compressed waits for its target, as if it were to keep some of it.
            __m512i zeros = _mm512_setzero_si512();
            __asm__("" : "+v"(zeros));
            const __m512i packed = _mm512_mask_compress_epi8(zeros, _cvtu64_mask64(mask), places);
            __m512i found{};
            if (kinds_too) {  // moved by where they stand: compressing once more costs more
                found = _mm512_permutexvar_epi8(packed, _mm512_loadu_si512(bytes + 64 * b));
                _mm_storeu_si128(reinterpret_cast<__m128i*>(kinds), _mm512_castsi512_si128(found));
            }
            if (strict) valued.append(grammar_masks_.valued[b], grammar_masks_.others[b], mask, count);
            const __m512i bases = _mm512_set1_epi32(int(offset + 64 * b));
            const auto wide = [&](__m128i quarter) { return _mm512_add_epi32(bases, _mm512_cvtepu8_epi32(quarter)); };
            _mm512_storeu_si512(out, wide(_mm512_castsi512_si128(packed)));
            if (__builtin_expect(count > 16, 0)) {
                if (kinds_too) _mm512_storeu_si512(kinds, found);
                _mm512_storeu_si512(out + 16, wide(_mm512_extracti32x4_epi32(packed, 1)));
                _mm512_storeu_si512(out + 32, wide(_mm512_extracti32x4_epi32(packed, 2)));
                _mm512_storeu_si512(out + 48, wide(_mm512_extracti32x4_epi32(packed, 3)));
            }
            out += count;
            if (kinds_too) kinds += count;
        }
        out_ = out;
        kinds_ = kinds;
        valued_ = valued;
    }

    const uint8_t* const data_;
    const size_t size_;
    JsonIndex& index_;
    uint32_t* out_;
    uint8_t* kinds_;
    JsonValuedWriter valued_;
    MaskStripe masks_;
    GrammarStripe grammar_masks_;
    GroupGrammar grammar_;
    Text faults_{};
    uint64_t beyond_ascii_ = 0;  // whether the block before has such bytes
    unsigned escape_ = 0, inside_ = 0;  // whether the next byte is escaped, stands in a string
};

}  // namespace FORMATTER_ISA
}  // namespace formatter
