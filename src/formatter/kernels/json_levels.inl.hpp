// The structure of JSON lines to how deep each part of it stands, and whether brackets match. Refuses to know values.
//
//     kinds    { : [ , { : } ] , : } \n
//     depths   1 1 2 2 3 3 3 2 1 1 1 0       of the brackets a part stands in, its own included
//
// In: kinds as index_json writes them. Out: depths, as far as all lines are in order. Brackets of one depth take turns
// opening and closing, so of each depth the kinds are laid side by side, and one that closes must be like its neighbour:
//
//     depth 2  [ , ]        object? 0 0 0       bits must repeat the one before, save where a bracket opens
//
// With `valued` (what stands before a part) this is also where the grammar between the parts is checked; a
// comma or colon then counts as of an object or of an array by what follows, and must agree with its bracket.
#pragma once

#include "kernels/json_grammar.inl.hpp"
#include "kernels/json_scalars.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// The depths of up to 64 parts, of which `opening` and `closing` are brackets; `depth` is that before the first and becomes
// that behind the last. False if one is too deep to be told, or closes what is not open.
#ifdef __AVX512BW__
// Sums by doubling: within quarters of the register, then over those.
static inline bool write_depths(const uint8_t*, uint64_t opening, uint64_t closing, uint8_t* depths, size_t,
                                uint64_t& depth) {
    const __m512i steps =
        _mm512_mask_set1_epi8(_mm512_maskz_set1_epi8(_cvtu64_mask64(opening), 1), _cvtu64_mask64(closing), -1);
    __m512i sums = _mm512_add_epi8(steps, _mm512_bslli_epi128(steps, 1));
    sums = _mm512_add_epi8(sums, _mm512_bslli_epi128(sums, 2));
    sums = _mm512_add_epi8(sums, _mm512_bslli_epi128(sums, 4));
    sums = _mm512_add_epi8(sums, _mm512_bslli_epi128(sums, 8));
    const __m512i quarters = _mm512_shuffle_epi8(sums, _mm512_set1_epi8(15));
    __m512i before = _mm512_maskz_shuffle_i64x2(0xFC, quarters, quarters, _MM_SHUFFLE(2, 1, 0, 0));
    before = _mm512_add_epi8(before, _mm512_maskz_shuffle_i64x2(0xFC, before, before, _MM_SHUFFLE(2, 1, 0, 0)));
    before = _mm512_add_epi8(before, _mm512_maskz_shuffle_i64x2(0xF0, before, before, _MM_SHUFFLE(1, 0, 1, 0)));
    sums = _mm512_add_epi8(_mm512_add_epi8(sums, before), _mm512_set1_epi8(char(depth)));
    const __m512i all = _mm512_mask_add_epi8(sums, _cvtu64_mask64(closing), sums, _mm512_set1_epi8(1));
    _mm512_storeu_si512(depths, all);
    depth = uint8_t(_mm_extract_epi8(_mm512_extracti32x4_epi32(sums, 3), 15));
    return _cvtmask64_u64(_mm512_movepi8_mask(all)) == 0 && depth < 128;
}
#else
// Of eight kinds at once: brackets have bit 6, those that open bit 1, those that close bit 2. The depth behind the last is
// the top byte less what it closes.
static inline bool write_depths(const uint8_t* kinds, uint64_t, uint64_t, uint8_t* depths, size_t count,
                                uint64_t& depth) {
    constexpr uint64_t ones = 0x0101010101010101;
    uint64_t too_deep = 0;
    for (size_t i = 0; i < count; i += 8) {
        uint64_t word;
        __builtin_memcpy(&word, kinds + i, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        if (count - i < 8) word &= (uint64_t(1) << 8 * (count - i)) - 1;  // what lies behind the last is old
        const uint64_t brackets = word >> 6;
        const uint64_t opening = brackets & word >> 1 & ones, closing = brackets & word >> 2 & ones;
        // A product with ones sums all bytes up to each.
        const uint64_t behind = depth * ones + opening * ones - closing * ones;
        uint64_t at = behind + closing;
        too_deep |= at;
        depth = behind >> 56;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        at = __builtin_bswap64(at);
#endif
        __builtin_memcpy(depths + i, &at, 8);
    }
    return (too_deep & ones << 7) == 0;
}
#endif

// The lowest `count` bits, 64 at most.
static inline uint64_t first_bits(uint64_t bits, unsigned count) {
#ifdef __BMI2__
    return _bzhi_u64(bits, count);
#else
    return count == 64 ? bits : bits & ((uint64_t(1) << count) - 1);
#endif
}

// Of `parts` those that are not of what the last part of their depth before all these was of: the others are in order, since
// records are alike. Elsewhere all: then every depth is looked at in turn.
#ifdef __AVX512VBMI__
constexpr bool levels_by_place = true;
static inline uint64_t unlike_before(const Block& depths, uint64_t of_object, const uint8_t* was_object,
                                     uint64_t parts) {
    const __m512i low = _mm512_load_si512(was_object), high = _mm512_load_si512(was_object + 64);
    const __m512i before = _mm512_permutex2var_epi8(low, depths.bytes, high);
    return parts & (of_object ^ bits_of(_cvtmask64_u64(_mm512_test_epi8_mask(before, before))));
}
#else
constexpr bool levels_by_place = false;
static inline uint64_t unlike_before(const Block&, uint64_t, const uint8_t*, uint64_t parts) { return parts; }
#endif

struct JsonKinds {  // of 64 parts, a bit each
    uint64_t open_object, open_array, close_object, close_array, colon, comma, line_end;

    JsonKinds shifted(const JsonKinds& before) const {
        const auto moved = [](uint64_t bits, uint64_t carry) { return bits << 1 | carry >> 63; };
        return {moved(open_object, before.open_object),
                moved(open_array, before.open_array),
                moved(close_object, before.close_object),
                moved(close_array, before.close_array),
                moved(colon, before.colon),
                moved(comma, before.comma),
                moved(line_end, before.line_end)};
    }
};

// Which parts may stand behind the one before them, with a value between or without. Whether a comma's container agrees
// is seen by depth.
static inline uint64_t parts_in_order(const JsonKinds& is, const JsonKinds& was, uint64_t valued) {
    const uint64_t closed = was.close_object | was.close_array;
    const uint64_t value_due = was.open_array | was.colon | was.comma;
    return (is.colon & valued & (was.open_object | was.comma)) |
           (is.comma & ((valued & value_due) | (~valued & closed))) |
           (is.close_object & ((valued & was.colon) | (~valued & (closed | was.open_object)))) |
           (is.close_array & ((valued & (was.open_array | was.comma)) | (~valued & (closed | was.open_array)))) |
           (is.open_object & ~valued & (value_due | was.line_end)) | (is.open_array & ~valued & value_due) |
           (is.line_end & ~valued & (was.close_object | was.line_end));
}

template <bool strict>
static void level_json_as(JsonLevels& levels) {
    const uint8_t* const kinds = levels.kinds;
    const Needle open_object = make_needle('{'), close_object = make_needle('}'), open_array = make_needle('['),
                 close_array = make_needle(']'), colon = make_needle(':'), comma = make_needle(','),
                 line_end = make_needle('\n'), none = make_needle(0);
    JsonKinds before{};
    before.line_end = ~uint64_t(0);
    alignas(64) uint8_t was_object[128] = {};  // by depth: whether the last part there was of an object
    uint64_t depth = 0;
    uint32_t* line_ends = levels.line_ends;
    levels.whole = 0;
    for (size_t at = 0; at < levels.count; at += 64) {
        const size_t size = levels.count - at < 64 ? levels.count - at : 64;
        const uint64_t present = size == 64 ? ~uint64_t(0) : (uint64_t(1) << size) - 1;
        const Block block = load_block(kinds + at);
        JsonKinds is{};
        is.open_object = bits_of(equal_mask(block, open_object)) & present;
        is.close_object = bits_of(equal_mask(block, close_object)) & present;
        is.open_array = bits_of(equal_mask(block, open_array)) & present;
        is.close_array = bits_of(equal_mask(block, close_array)) & present;
        is.line_end = bits_of(equal_mask(block, line_end)) & present;
        const uint64_t opening = is.open_object | is.open_array;
        const bool shallow =
            write_depths(kinds + at, opening, is.close_object | is.close_array, levels.depths + at, size, depth);
        const Block depths = load_block(levels.depths + at);
        bool wrong = !shallow || (bits_of(equal_mask(depths, none)) & present) != is.line_end;
        uint64_t parts = opening | is.close_object | is.close_array;
        uint64_t of_object = is.open_object | is.close_object;
        if (strict) {
            is.colon = bits_of(equal_mask(block, colon)) & present;
            is.comma = bits_of(equal_mask(block, comma)) & present;
            const JsonValued valued = levels.valued[at / 64];
            wrong |= (parts_in_order(is, is.shifted(before), valued.values) & present) != present;
            // Only strings are keys. That a value has something before it is known by now.
            wrong |= (is.colon & valued.others) != 0;
            if (!wrong && !json_scalars_indexed) wrong = !scalars_in_order(levels, at, valued.others & present);
            const uint64_t before_colon = is.colon >> 1 | uint64_t(size == 64 && kinds[at + 64] == ':') << 63;
            of_object |= is.colon | (is.comma & before_colon);
            parts |= is.colon | is.comma;
            before = is;
        }
        uint64_t left = unlike_before(depths, of_object, was_object, parts);
        for (unsigned level = 1; left != 0 && !wrong; level++) {
            if (levels_by_place) level = levels.depths[at + trailing_zeros(left)];
            const uint64_t here = bits_of(equal_mask(depths, make_needle(uint8_t(level)))) & parts;
            left &= ~here;
            if (here == 0) continue;
            const uint64_t object = extract_bits(of_object, here), opens = extract_bits(opening, here);
            const unsigned count = popcount(here);
            const uint64_t differs = (object ^ (object << 1 | was_object[level])) & ~opens;
            wrong = first_bits(differs, count) != 0;
            was_object[level] = uint8_t(object >> (count - 1) & 1);
        }
        if (wrong) return;
        write_positions(is.line_end, uint32_t(levels.first + at), line_ends);
        line_ends += popcount(is.line_end);
        if (is.line_end) levels.whole = at + 64 - unsigned(__builtin_clzll(is.line_end));
    }
}

static void level_json(JsonLevels& levels) {
    if (levels.valued)
        level_json_as<true>(levels);
    else
        level_json_as<false>(levels);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
