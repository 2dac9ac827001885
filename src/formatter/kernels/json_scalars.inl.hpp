// Numbers and literals by the grammar of JSON. In: the bytes of one, and which parts of a structure have one before
// them. Out: whether all are in order. Usual numbers are decided by the masks of sixteen bytes: Refuses to know types.
//
//     bytes      - 1 2 . 5
//     digits     0 1 1 0 1
//     rest       0 0 0 1 0      neither digit nor sign in front: nothing, or one point between digits
#pragma once

#include "kernels/kernel.hpp"
#include "kernels/separator_blocks.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

static inline const uint8_t* behind_digits(const uint8_t* at, const uint8_t* end) {
    while (at < end && uint8_t(*at - '0') <= 9) at++;
    return at;
}

// Byte by byte; [at, end) is not empty.
__attribute__((noinline)) static bool is_json_scalar(const uint8_t* at, const uint8_t* end) {
    const size_t size = size_t(end - at);
    if (size == 4) {
        uint32_t word;
        __builtin_memcpy(&word, "true", 4);
        uint32_t null, found;
        __builtin_memcpy(&null, "null", 4);
        __builtin_memcpy(&found, at, 4);
        if (found == word || found == null) return true;
    }
    if (size == 5 && at[0] == 'f' && at[1] == 'a' && at[2] == 'l' && at[3] == 's' && at[4] == 'e') return true;
    at += *at == '-';
    const uint8_t* const whole = at;
    at = behind_digits(at, end);
    if (at == whole || (*whole == '0' && at - whole > 1)) return false;
    if (at < end && *at == '.') {
        const uint8_t* const fraction = ++at;
        at = behind_digits(at, end);
        if (at == fraction) return false;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        const uint8_t* const exponent = at;
        at = behind_digits(at, end);
        if (at == exponent) return false;
    }
    return at == end;
}

#ifdef __BMI2__
// Sixteen bytes can be read at `at`. False also for what has to be looked at byte by byte.
static inline bool is_usual_number(const uint8_t* at, size_t size) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0')), nine = _mm_set1_epi8(9);
    const uint32_t all = (uint32_t(1) << size) - 1, sign = at[0] == '-';
    const uint32_t digits = uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_max_epu8(values, nine), nine))) & all;
    const uint32_t points = uint32_t(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('.')))) & all;
    const uint32_t between = digits << 1 & digits >> 1;
    const bool zero_first = at[sign] == '0' && (digits >> sign & 2) != 0;
    return (digits | points | sign) == all && (points & (points - 1)) == 0 && (points & ~between) == 0 &&
           (digits >> sign & 1) != 0 && !zero_first;
}
#else
static inline bool is_usual_number(const uint8_t*, size_t) { return false; }
#endif

// `others`: of the 64 parts from `first` on, those that such a value stands before; never the first of all.
static inline bool scalars_in_order(const JsonLevels& levels, size_t first, uint64_t others) {
    const uint8_t* const data = levels.data;
    const uint8_t* const end_of_all = data + levels.positions[levels.count - 1];
    for (; others != 0; others &= others - 1) {
        const uint32_t* const part = levels.positions + first + trailing_zeros(others);
        const uint8_t* begin = data + part[-1] + 1;
        const uint8_t* end = data + part[0];
        while (*begin == ' ' || *begin == '\t' || *begin == '\r') begin++;
        while (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r') end--;
        const size_t size = size_t(end - begin);
        if (end_of_all - begin >= 16) {
            if (size <= 16 && *begin < 'a' && is_usual_number(begin, size)) continue;
            uint64_t word;
            __builtin_memcpy(&word, begin, 8);
            const uint32_t head = uint32_t(word);
            if (size == 4 && (head == 0x65757274u || head == 0x6C6C756Eu)) continue;  // true, null
            if (size == 5 && (word & 0xFFFFFFFFFFu) == 0x65736C6166u) continue;  // false
        }
        if (!is_json_scalar(begin, end)) return false;
    }
    return true;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
