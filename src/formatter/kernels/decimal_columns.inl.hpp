// Decimals of 128 bits: digits as a number, times the power of ten that is missing to the scale.
//
// In: a FieldView. Out: values of 16 bytes and the marks; the value of an odd or empty row is zero. Refuses to know signs
// '+', exponents, more than 38 digits, negative scales.
#pragma once

#include "kernels/digit_chunks.inl.hpp"
#include "kernels/number_columns.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

typedef unsigned __int128 Wide;

struct DecimalPowers {
    Wide of[39];
};
constexpr DecimalPowers make_decimal_powers() {
    DecimalPowers powers{};
    powers.of[0] = 1;
    for (int i = 1; i < 39; i++) powers.of[i] = powers.of[i - 1] * 10;
    return powers;
}
static constexpr DecimalPowers decimal_powers = make_decimal_powers();

// For each number of places: what it is multiplied with, and the largest number that fits then.
struct DecimalScale {
    Wide factor[39];
    Wide largest[39];
    uint64_t largest_word[39];  // the same, at most 2^64 - 1

    DecimalScale(uint32_t precision, uint32_t scale) {
        for (uint32_t places = 0; places < 39; places++) {
            const bool fine = places <= scale;  // more places: only zero
            factor[places] = fine ? decimal_powers.of[scale - places] : 1;
            largest[places] =
                fine && precision + places > scale ? decimal_powers.of[precision + places - scale] - 1 : 0;
            largest_word[places] = largest[places] >> 64 ? ~uint64_t(0) : uint64_t(largest[places]);
        }
    }
};

// Digits, sixteen at a time; the eight bytes before `end` can be read.
FORMATTER_INLINE bool append_wide_digits(const uint8_t* at, const uint8_t* end, Wide& number) {
    static constexpr uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
    uint64_t wrong = 0;
    const auto digits_at = [&wrong](uint64_t word) {
        const uint64_t digits = word ^ zero_digits;
        wrong |= ((digits + every_byte(0x76)) | digits) & every_byte(0x80);
        return eight_digits_of(digits);
    };
    for (; end - at >= 16; at += 16)
        number = number * 10000000000000000 + (digits_at(load_word(at)) * 100000000 + digits_at(load_word(at + 8)));
    if (end - at >= 8) {
        number = number * 100000000 + digits_at(load_word(at));
        at += 8;
    }
    const unsigned left = unsigned(end - at);
    if (left != 0) {
        const uint64_t keep = ~uint64_t(0) << (64 - 8 * left);
        number = number * powers[left] + digits_at((load_word(end - 8) & keep) | (zero_digits & ~keep));
    }
    return wrong == 0;
}

// More than 24 bytes.
static bool decide_long_decimal(const WordChunk::LongField& field, uint8_t decimal_point, uint32_t scale,
                                const DecimalScale& by, Wide& value) {
    const bool negative = field.begin[0] == '-';
    const uint8_t *const begin = field.begin + negative, *const end = field.begin + field.size;
    const uint8_t* point = end - (size_t(end - begin) > scale + 1 ? scale + 1 : 1);  // where it mostly stands
    if (*point != decimal_point)
        for (point = begin; point < end && *point != decimal_point;) point++;
    const size_t places = point < end ? size_t(end - point - 1) : 0, whole = size_t(point - begin);
    if (whole == 0 || (point < end && places == 0) || whole + places > 38) return false;
    Wide number = 0;
    uint64_t few = 0;
    if (whole >= 8 ? !append_wide_digits(begin, point, number) : !append_digits(begin, point, few)) return false;
    number += few;
    if (places != 0 && !append_wide_digits(point + 1, end, number)) return false;
    if (number > by.largest[places]) return false;
    number *= by.factor[places];
    value = negative ? 0 - number : number;
    return true;
}

static void decode_decimal128(const FieldView& view, uint8_t decimal_point, uint32_t precision, uint32_t scale,
                              uint8_t* out, ValueMarks& marks) {
    const DecimalScale by(precision, scale);
    RunWalk walk(view);
    DigitChunk chunk;
    NumberShape shape;
    if (marks.shape != nullptr) shape = *marks.shape;
    marks.empty_count = marks.odd_count = 0;
    for (size_t done = 0; next_digit_chunk(walk, chunk, shape); done += chunk.rows) {
        size_t at_long = 0;
        for (uint32_t row = 0; row < chunk.rows; row += 64) {
            const uint32_t left = chunk.rows - row < 64 ? chunk.rows - row : 64;
            alignas(64) uint64_t numbers[64], places[64];
            uint8_t* const values = out + 16 * (done + row);
            uint64_t empty = lanes::zero_bytes64(chunk.sizes + row) & first_rows(left), too_large = 0, good = 0;
            const bool all_long = empty == first_rows(left);  // or without bytes: nothing for the loop to do
            if (all_long)
                __builtin_memset(values, 0, 16 * left);
            else
                good = numbers_of<true>(chunk, row, shape.word_count, decimal_point, front_of_uint64, numbers, places);
            for (uint32_t i = 0; i < left && !all_long; i++) {
                const uint64_t number = numbers[i], fits = number <= by.largest_word[places[i]];
                too_large |= (fits ^ 1) << i;
                const Wide product = by.factor[places[i]] * (number & (0 - fits));
                const Wide sign = Wide(0) - chunk.signs[row + i];
                const Wide value = (product ^ sign) - sign;
                __builtin_memcpy(values + 16 * i, &value, 16);
            }
            good &= ~too_large;
            for (; at_long < chunk.long_count && chunk.long_fields[at_long].row < row + 64; at_long++) {
                const WordChunk::LongField& field = chunk.long_fields[at_long];
                const uint32_t i = field.row - row;
                Wide value = 0;
                empty &= ~(uint64_t(1) << i);
                if (decide_long_decimal(field, decimal_point, scale, by, value)) good |= uint64_t(1) << i;
                __builtin_memcpy(values + 16 * i, &value, 16);
            }
            write_marks(marks, (done + row) / 64, empty, ~(good | empty) & first_rows(left));
        }
    }
    if (marks.shape != nullptr) *marks.shape = shape;
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
