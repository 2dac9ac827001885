// Numbers of up to twenty digits, with a point and an exponent or without: from row views to mantissas and places.
//
// In: a walk over a FieldView. Out: a chunk of fields in words of eight bytes, signs and exponents cut off; and from its
// words the digits as one number and how many stand behind the point. Refuses to know what the numbers become.
#pragma once

#include "kernels/field_lanes.inl.hpp"
#include "kernels/kernel.hpp"

namespace formatter {
namespace FORMATTER_ISA {

constexpr uint64_t every_byte(uint64_t byte) { return byte * 0x0101010101010101; }
constexpr uint64_t zero_digits = every_byte('0');

FORMATTER_INLINE lanes::Words not_digits(lanes::Words digits) {
    return lanes::over(digits, lanes::splat(every_byte(9)));
}

//     field    "-0.1234567890123456e-05"
//     words    ???????0  .1234567  89012345 6    the last eight bytes are words[0]; ? is whatever stood before
//     sizes    18, signs 1, exponents -5
constexpr uint32_t most_digit_bytes = 24;

struct DigitChunk {
    alignas(64) uint64_t words[3][chunk_rows];  // of which `word_count` are there
    alignas(64) uint8_t sizes[chunk_rows];  // without sign and exponent; 0 for an empty field and for long ones
    alignas(64) uint8_t signs[chunk_rows];  // 1 behind a '-'
    int16_t exponents[chunk_rows];  // only if they were looked for
    WordChunk::LongField long_fields[chunk_rows];  // whole, of more than 24 bytes without sign and exponent
    uint32_t long_count;
    uint32_t longest;
    uint32_t exponent_count;
    uint32_t rows;
};

FORMATTER_INLINE void add_long_field(DigitChunk& chunk, const WordChunk::LongField& field) {
    chunk.sizes[field.row] = 0;
    chunk.long_fields[chunk.long_count++] = field;
}

// e[+-]digits at the end of a field whose last bytes are `word`: its size, or 0. At most four digits, and one byte must
// be left in front.
FORMATTER_INLINE uint32_t cut_exponent(uint64_t word, uint32_t size, int16_t& exponent) {
    const uint64_t difference = (word | every_byte(0x20)) ^ every_byte('e');
    const uint64_t others = ((difference & every_byte(0x7F)) + every_byte(0x7F)) | difference;
    const uint64_t found = ~others & 0x0080808080800000;  // with one to five bytes behind it
    exponent = 0;
    if (found == 0) return 0;
    const uint32_t behind = uint32_t(__builtin_clzll(found)) / 8;
    const uint8_t next = uint8_t(word >> (64 - 8 * behind));
    const bool minus = next == '-', sign = minus | (next == '+');
    const uint32_t count = behind - sign;
    if (count - 1 > 3 || size < behind + 2) return 0;
    uint32_t digits = uint32_t((word ^ zero_digits) >> 32) & (~uint32_t(0) << (32 - 8 * count));
    if (((digits + 0x76767676) | digits) & 0x80808080) return 0;
    digits = digits * 10 + (digits >> 8);
    const int value = int(digits & 0xFF) * 100 + int(digits >> 16 & 0xFF);
    exponent = int16_t(minus ? -value : value);
    return behind + 1;
}

// `end` is behind the field, of which `size` bytes before it, and 32 bytes there can be read in any case. Returns the size
// without sign and exponent.
template <uint32_t words, bool exponents>
FORMATTER_INLINE uint32_t cut_digits(const uint8_t* end, uint32_t size, DigitChunk& chunk, uint32_t at,
                                     uint32_t& exponent_count) {
    const uint32_t negative =
        (end[-ptrdiff_t(size - 1 < 32 ? size : 1)] == '-') & (size > 1);  // of long ones no matter
    size -= negative;
    if (exponents) {
        const uint32_t cut = cut_exponent(load_word(end - 8), size, chunk.exponents[at]);
        exponent_count += cut != 0;
        end -= cut;
        size -= cut;
    }
    const uint64_t last = load_word(end - 8);
    const uint64_t middle = words > 1 ? load_word(end - 16) : 0, front = words > 2 ? load_word(end - 24) : 0;
    chunk.words[0][at] = last;
    if (words > 1) chunk.words[1][at] = middle;
    if (words > 2) chunk.words[2][at] = front;
    chunk.signs[at] = uint8_t(negative);
    chunk.sizes[at] = uint8_t(size);
    return size;
}

struct DigitSums {
    uint32_t longest = 0, exponent_count = 0;
};

// A function of its own, so that the loop's few values stay in registers.
template <uint32_t words, bool exponents, bool drop_carriage_return>
__attribute__((noinline)) static DigitSums cut_digit_run(const FieldRun& run, DigitChunk& chunk) {
    constexpr ptrdiff_t reach = 32;  // 24 bytes before an exponent of at most 6, and one for a '\r'
    const uint8_t* const base = run.base;
    const uint32_t* ends = run.ends;
    const ptrdiff_t to_begin = run.begins - run.ends, stride = ptrdiff_t(run.stride);
    const uint32_t skip = run.skip, past = chunk.rows + run.rows;
    uint32_t at = chunk.rows;
    DigitSums sums;
    // Ends ascend: only the first rows of a segment can be too near to the begin of what may be read.
    for (; at < past && base + *ends - run.readable_begin <= reach; at++, ends += stride) {
        const uint32_t begin = ends[to_begin] + skip;
        uint32_t size = *ends - begin;
        if (drop_carriage_return && size != 0) size -= base[*ends - 1] == '\r';
        uint8_t copy[reach] = {};
        for (uint32_t i = 0; i < size; i++) copy[reach - size + i] = base[begin + i];
        const uint32_t left = cut_digits<words, exponents>(copy + reach, size, chunk, at, sums.exponent_count);
        if (left > most_digit_bytes) add_long_field(chunk, {base + begin, size, at});
        sums.longest = left > sums.longest ? left : sums.longest;
    }
    for (; at < past; at++, ends += stride) {
        const uint32_t begin = ends[to_begin] + skip;
        const uint8_t* end = base + *ends;
        uint32_t size = *ends - begin;
        if (drop_carriage_return) {
            const bool carriage_return = (size != 0) & (end[-1] == '\r');
            end -= carriage_return;
            size -= carriage_return;
        }
        const uint32_t left = cut_digits<words, exponents>(end, size, chunk, at, sums.exponent_count);
        if (__builtin_expect(left > most_digit_bytes, false)) add_long_field(chunk, {base + begin, size, at});
        sums.longest = left > sums.longest ? left : sums.longest;
    }
    return sums;
}

template <uint32_t words, bool exponents>
FORMATTER_INLINE void cut_digit_chunk(RunWalk& walk, DigitChunk& chunk) {
    FieldRun run;
    chunk.rows = chunk.longest = chunk.long_count = chunk.exponent_count = 0;
    while (chunk.rows < chunk_rows && walk.next(chunk_rows - chunk.rows, run)) {
        const DigitSums sums = run.drop_carriage_return ? cut_digit_run<words, exponents, true>(run, chunk)
                                                        : cut_digit_run<words, exponents, false>(run, chunk);
        chunk.longest = sums.longest > chunk.longest ? sums.longest : chunk.longest;
        chunk.exponent_count += sums.exponent_count;
        chunk.rows += run.rows;
    }
    for (uint32_t i = chunk.rows; i % 64 != 0; i++) {  // the loops take 64 rows at a time
        for (uint32_t w = 0; w < words; w++) chunk.words[w][i] = 0;
        chunk.sizes[i] = chunk.signs[i] = 0;
        chunk.exponents[i] = 0;
    }
}

// Fills the next chunk; false at the end of the view. Afterwards `word_count` words of it are enough.
FORMATTER_INLINE bool next_digit_chunk(RunWalk& walk, DigitChunk& chunk, NumberShape& shape) {
    constexpr uint32_t steady = 16;  // chunks of shorter fields until fewer words are tried
    const size_t segment = walk.segment;
    const uint32_t row = walk.row;
    for (;;) {
        if (shape.exponents) {
            if (shape.word_count == 1)
                cut_digit_chunk<1, true>(walk, chunk);
            else
                cut_digit_chunk<3, true>(walk, chunk);
        } else {
            if (shape.word_count == 1)
                cut_digit_chunk<1, false>(walk, chunk);
            else if (shape.word_count == 2)
                cut_digit_chunk<2, false>(walk, chunk);
            else
                cut_digit_chunk<3, false>(walk, chunk);
        }
        const uint32_t there = shape.exponents && shape.word_count > 1 ? 3 : shape.word_count;
        const uint32_t enough = chunk.longest <= 8 ? 1 : chunk.longest <= 16 ? 2 : 3;
        if (enough <= there) {
            shape.shorter = enough < shape.word_count ? shape.shorter + 1 : 0;
            if (shape.shorter > steady || enough > shape.word_count) shape.word_count = enough;
            return chunk.rows != 0;
        }
        shape.word_count = enough;
        walk.segment = segment;
        walk.row = row;
    }
}

// ------------------------------------------------------------------------------------------ words to numbers

//     high bits of point bytes    0  0 80  0  0  0  0  0
//     through                    ff ff ff  0  0  0  0  0     all of a word without a point: one behind it may have it
FORMATTER_INLINE lanes::Words through_point(lanes::Words point) { return point ^ (point - lanes::splat(1)); }

// What stands up to the point moves up one byte, its last byte over into the next word.
FORMATTER_INLINE lanes::Words closed_up(lanes::Words digits, lanes::Words before, lanes::Words through) {
    return digits ^ ((digits ^ (digits << 8 | before >> 56)) & through);
}

// Sixty-four rows: the digits as a number, how many stand behind the point (`with_point`), and a bit for each row that is
// digits[.digits] with its first twenty digits below `front_limit` * 10^16, all others being zero.
template <uint32_t words, bool with_point>
FORMATTER_INLINE uint64_t numbers_of(const DigitChunk& chunk, uint32_t row, uint8_t decimal_point, uint64_t front_limit,
                                     uint64_t* numbers, uint64_t* places) {
    using lanes::splat;
    using lanes::Words;
    const Words points = splat(every_byte(decimal_point)), zeros = splat(zero_digits);
    uint64_t good = 0;
    for (uint32_t i = 0; i < 64; i += lanes::width) {
        const Words sizes = lanes::load_bytes_as_words(chunk.sizes + row + i);
        const Words keep = lanes::last_bytes(sizes);
        const Words text = lanes::load(chunk.words[0] + row + i);
        Words last = (text ^ zeros) & keep, middle = last, front = last, wrong = last;
        Words middle_text = text, front_text = text, middle_keep = keep, front_keep = keep;
        if (words > 1) {
            middle_text = lanes::load(chunk.words[1] + row + i);
            middle_keep = lanes::last_bytes_before<8>(sizes);
            middle = (middle_text ^ zeros) & middle_keep;
        }
        if (words > 2) {
            front_text = lanes::load(chunk.words[2] + row + i);
            front_keep = lanes::last_bytes_before<16>(sizes);
            front = (front_text ^ zeros) & front_keep;
        }
        if (with_point) {
            const Words high_bits = splat(every_byte(0x80));
            const Words point = lanes::equal_bytes(text, points) & keep & high_bits;
            Words middle_point = point, front_point = point, any = point, before_last = splat(0);
            if (words > 1) {
                middle_point = lanes::equal_bytes(middle_text, points) & middle_keep & high_bits;
                any = any | middle_point;
                before_last = middle_point;
            }
            if (words > 2) {
                front_point = lanes::equal_bytes(front_text, points) & front_keep & high_bits;
                any = any | front_point;
                before_last = before_last | front_point;
            }
            const lanes::Which none = lanes::is_zero(any);
            const Words through = lanes::drop_if(lanes::either(none, lanes::is_set(before_last)), through_point(point));
            Words through_count = lanes::full_bytes(through);
            if (words > 2) {
                const Words through_middle =
                    lanes::drop_if(lanes::either(none, lanes::is_set(front_point)), through_point(middle_point));
                const Words through_front = lanes::drop_if(none, through_point(front_point));
                last = closed_up(last, middle, through);
                middle = closed_up(middle, front, through_middle);
                front = closed_up(front, splat(0), through_front);
                through_count = through_count + lanes::full_bytes(through_middle) + lanes::full_bytes(through_front);
            } else if (words > 1) {
                const Words through_middle = lanes::drop_if(none, through_point(middle_point));
                last = closed_up(last, middle, through);
                middle = closed_up(middle, splat(0), through_middle);
                through_count = through_count + lanes::full_bytes(through_middle);
            } else {
                last = closed_up(last, splat(0), through);
            }
            const Words behind = lanes::drop_if(none, splat(8 * words) - through_count);
            lanes::store(places + i, behind);
            // The point is neither the first nor the last byte.
            const Words in_front = lanes::drop_if(none, sizes - behind - splat(2));
            wrong = (point & splat(uint64_t(0x80) << 56)) | in_front >> 63;
        } else {
            wrong = splat(0);
        }
        wrong = wrong | not_digits(last);
        Words number = lanes::eight_digits(last);
        if (words > 1) {
            wrong = wrong | not_digits(middle);
            number = number + lanes::multiply_low_halves(lanes::eight_digits(middle), splat(100000000));
        }
        if (words > 2) {
            constexpr uint64_t power = 10000000000000000;
            const Words first = lanes::eight_digits(front);
            wrong = wrong | not_digits(front) | (splat(front_limit) - first) >> 63;
            number = number + lanes::multiply_low_halves(first, splat(power & 0xFFFFFFFF)) +
                     (lanes::multiply_low_halves(first, splat(power >> 32)) << 32);
        }
        const lanes::Which fits = lanes::both(lanes::is_zero(wrong), lanes::is_set(sizes));
        lanes::store(numbers + i, lanes::keep_if(fits, number));
        good |= lanes::bits(fits) << i;
    }
    return good;
}

template <bool with_point>
FORMATTER_INLINE uint64_t numbers_of(const DigitChunk& chunk, uint32_t row, uint32_t word_count, uint8_t decimal_point,
                                     uint64_t front_limit, uint64_t* numbers, uint64_t* places) {
    if (word_count == 1) return numbers_of<1, with_point>(chunk, row, decimal_point, front_limit, numbers, places);
    if (word_count == 2) return numbers_of<2, with_point>(chunk, row, decimal_point, front_limit, numbers, places);
    return numbers_of<3, with_point>(chunk, row, decimal_point, front_limit, numbers, places);
}

constexpr uint64_t front_of_uint64 = 1843, front_of_int64 = 921;  // 10^16 times one more may not fit any longer

}  // namespace FORMATTER_ISA
}  // namespace formatter
