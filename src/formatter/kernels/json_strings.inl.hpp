// The content of one JSON string to text: copied block by block up to the next escape, which is written as what it
// means. Refuses to know columns.
//
// In: the bytes between two quotes; a block more than them can be read and written. Out: the bytes written, or -1 for what
// no string may hold: a quote, a control character, an escape that is none, a surrogate without its partner.
#pragma once

#include "kernels/json_index.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

struct HexDigits {
    static constexpr uint32_t none = 0x10000;  // wherever it is shifted, the unit is above 0xFFFF
    uint32_t value[256];
    constexpr HexDigits() : value() {
        for (uint32_t c = 0; c < 256; c++) {
            const uint32_t letter = (c | 0x20) - 'a', digit = c - '0';
            value[c] = digit <= 9 ? digit : letter <= 5 ? letter + 10 : none;
        }
    }
};
static constexpr HexDigits hex_digits;

// The four digits of \uXXXX; above 0xFFFF if they are none.
static inline uint32_t hex_unit(const uint8_t* at) {
    const uint32_t* const value = hex_digits.value;
    return value[at[0]] << 12 | value[at[1]] << 8 | value[at[2]] << 4 | value[at[3]];
}

static inline uint8_t* write_character(uint32_t c, uint8_t* to) {
    if (c < 0x80) {
        *to++ = uint8_t(c);
        return to;
    }
    if (c < 0x800) {
        *to++ = uint8_t(0xC0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = uint8_t(0xE0 | c >> 12);
        } else {
            *to++ = uint8_t(0xF0 | c >> 18);
            *to++ = uint8_t(0x80 | (c >> 12 & 0x3F));
        }
        *to++ = uint8_t(0x80 | (c >> 6 & 0x3F));
    }
    *to++ = uint8_t(0x80 | (c & 0x3F));
    return to;
}

// Of the 64 bytes at `from`, which are `block`.
static inline uint64_t control_mask_of(const Block& block, const uint8_t* from) {
#ifdef __BMI2__
    (void)from;
    return control_mask(block);
#else
    (void)block;
    constexpr uint64_t ones = 0x0101010101010101, high = ones << 7;
    uint64_t mask = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t word;
        __builtin_memcpy(&word, from + 8 * i, 8);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
        const uint64_t below = ~((word | high) - 0x20 * ones) & ~word & high;
        mask |= ((below >> 7) * 0x0102040810204080u >> 56) << (8 * i);
    }
    return mask;
#endif
}

#ifdef __AVX512VBMI2__
// A block with its escapes of one letter written as what they mean: those letters are looked up, the backslashes before
// them squeezed out.
//
//     bytes      a \\ n b \\ "       (each \\ is one byte)
//     starts     0 1 0 0 1 0        backslashes that are not escaped themselves
//     letters    0 0 1 0 0 1        looked up
//     written    a LF b "
//
// In: `size` bytes, at most 64. Takes those before the first byte that needs more: an escape of another kind, or one that
// reaches beyond them. Returns how many it took.
static inline size_t copy_escaped_block(const Block& block, size_t size, uint64_t backslashes, uint64_t odd,
                                        uint8_t*& to) {
    const __m512i low = _mm512_load_si512(escape_table.meaning), high = _mm512_load_si512(escape_table.meaning + 64);
    const __m512i meanings = _mm512_permutex2var_epi8(low, block.bytes, high);
    uint64_t carry = 0;
    const uint64_t letters = escaped_bytes(backslashes, carry), starts = letters >> 1 | uint64_t(carry) << 63;
    const uint64_t beyond_ascii = bits_of(_cvtmask64_u64(_mm512_movepi8_mask(block.bytes)));
    const uint64_t unknown = bits_of(_cvtmask64_u64(_mm512_testn_epi8_mask(meanings, meanings))) | beyond_ascii;
    uint64_t stop = (letters & unknown) >> 1 | (odd & ~letters & ~starts) | uint64_t(carry) << 63;
    if (size < 64) stop |= uint64_t(1) << size | (starts & uint64_t(1) << (size - 1));
    const size_t taken = stop ? trailing_zeros(stop) : 64;
    const uint64_t kept = ~starts & (taken < 64 ? (uint64_t(1) << taken) - 1 : ~uint64_t(0));
    const __m512i text = _mm512_mask_mov_epi8(block.bytes, _cvtu64_mask64(letters), meanings);
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(_cvtu64_mask64(kept), text));
    to += popcount(kept);
    return taken;
}
#endif

static inline bool is_unit(const uint8_t* from, const uint8_t* end) {
    return end - from >= 6 && from[0] == '\\' && from[1] == 'u';
}

// One \uXXXX after the other, for text that is not ASCII comes as runs of them, with a blank or a comma here and there.
// Begins at one, ends behind the last; or says that one is none.
static inline bool copy_units(const uint8_t*& from, const uint8_t* end, uint8_t*& to) {
    do {
        uint32_t c = hex_unit(from + 2);
        if (c > 0xFFFF) return false;
        from += 6;
        if (__builtin_expect((c & 0xF800) == 0xD800, 0)) {
            if (c >= 0xDC00 || !is_unit(from, end)) return false;
            const uint32_t low = hex_unit(from + 2);
            if (low < 0xDC00 || low >= 0xE000) return false;
            c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
            from += 6;
        }
        to = write_character(c, to);
        const bool single = end - from > 6 && *from >= 0x20 && *from != '"' && *from != '\\' && is_unit(from + 1, end);
        if (single) *to++ = *from++;
    } while (is_unit(from, end));
    return true;
}

static ptrdiff_t copy_json_string(const uint8_t* from, size_t size, uint8_t* to) {
    const uint8_t* const end = from + size;
    uint8_t* const begin = to;
    const Needle quote = make_needle('"'), backslash = make_needle('\\');
    while (from < end) {
        const Block block = load_block(from);
        __builtin_memcpy(to, from, 64);
        const size_t left = size_t(end - from);
        const uint64_t backslashes = bits_of(equal_mask(block, backslash));
        uint64_t odd = bits_of(equal_mask(block, quote)) | backslashes | control_mask_of(block, from);
        if (left < 64) odd &= (uint64_t(1) << left) - 1;
        if (__builtin_expect(odd == 0, 1)) {
            const size_t copied = left < 64 ? left : 64;
            from += copied, to += copied;
            continue;
        }
#ifdef __AVX512VBMI2__
        const size_t taken = copy_escaped_block(block, left < 64 ? left : 64, backslashes, odd, to);
        if (taken != 0) {
            from += taken;
            continue;
        }
#endif
        const unsigned plain = trailing_zeros(odd);
        from += plain, to += plain;
        if (*from != '\\' || end - from < 2) return -1;
        const uint8_t meaning = escape_table.meaning[from[1]];
        if (__builtin_expect(meaning != 0, 1)) {
            *to++ = meaning;
            from += 2;
            continue;
        }
        if (!is_unit(from, end) || !copy_units(from, end, to)) return -1;
    }
    return to - begin;
}

// Copies the first of a string and says whether that was all of it, and plain: most strings are short and so.
#ifdef __AVX512VBMI2__
static inline bool copy_short_string(const uint8_t* from, size_t size, uint8_t* to) {
    const __m512i bytes = _mm512_loadu_si512(from);
    _mm512_storeu_si512(to, bytes);
    const __mmask64 odd = _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('"')) |
                          _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8('\\')) |
                          _mm512_cmplt_epu8_mask(bytes, _mm512_set1_epi8(0x20));
    return (_bzhi_u64(_cvtmask64_u64(odd), unsigned(size)) == 0) & (size <= 64);
}
#else
static inline bool copy_short_string(const uint8_t* from, size_t size, uint8_t* to) {
    typedef uint8_t Lanes __attribute__((vector_size(16)));
    typedef uint64_t Pair __attribute__((vector_size(16)));
    alignas(16) static const uint8_t edge[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                 255, 255, 255, 255, 255, 255, 255, 255};
    Lanes odd = {};
    for (size_t left = size;; from += 16, to += 16, left -= 16) {
        Lanes bytes, present;
        __builtin_memcpy(&bytes, from, 16);
        __builtin_memcpy(to, &bytes, 16);
        const Lanes marks = Lanes(bytes == uint8_t('"')) | Lanes(bytes == uint8_t('\\')) | Lanes(bytes < uint8_t(0x20));
        if (left > 16) {
            odd |= marks;
            continue;
        }
        __builtin_memcpy(&present, edge + 16 - left, 16);
        odd |= marks & present;
        break;
    }
    const Pair any = Pair(odd);
    return (any[0] | any[1]) == 0;
}
#endif

// Keeps the compiler from making a branch of what could go either way.
static inline uint64_t unforeseen(uint64_t value) {
    __asm__("" : "+r"(value));
    return value;
}

static uint32_t gather_json_strings(const Segment& segment, const uint32_t* stops, size_t stride, uint32_t from,
                                    uint64_t bit, JsonStrings& out) {
    constexpr size_t block = 64;
    const uint8_t* const base = segment.base;
    const size_t readable = size_t(segment.readable_end - base);
    uint8_t* const text = out.text;
    uint64_t bytes = out.bytes;
    const uint64_t nullable = out.nullable;
    uint32_t row = from;
    uint32_t null_word;
    __builtin_memcpy(&null_word, "null", 4);
    for (; row < segment.rows; row++, stops += stride) {
        const uint8_t* const begin = base + stops[0];
        size_t size = stops[1] - stops[0];
        if (__builtin_expect((stops[1] + block > readable) | (bytes + size > out.room), 0)) break;
        uint32_t word;
        __builtin_memcpy(&word, begin, 4);
        const uint64_t quoted = begin[-1] == '"';
        const uint64_t null = unforeseen((quoted ^ 1) & ((*begin == '\n') | ((size == 4) & (word == null_word))));
        if (__builtin_expect(unforeseen(quoted | (null & nullable)) == 0, 0)) break;
        size &= unforeseen(0 - quoted);
        if (!copy_short_string(begin, size, text + bytes)) {
            const ptrdiff_t copied = copy_json_string(begin, size, text + bytes);
            if (__builtin_expect(copied < 0, 0)) break;
            size = size_t(copied);
        }
        bytes += size;
        out.valid[(bit + row) / 64] &= ~(null << (bit + row) % 64);
        if (out.wide) {
            const int64_t end = int64_t(bytes);
            __builtin_memcpy(out.ends + 8 * size_t(row - from), &end, 8);
        } else {
            const int32_t end = int32_t(bytes);
            __builtin_memcpy(out.ends + 4 * size_t(row - from), &end, 4);
        }
    }
    out.bytes = bytes;
    return row;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
