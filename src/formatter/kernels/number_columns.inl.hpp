// Integers, decimal fractions and booleans: from the words of a chunk to values, 64 rows at a time.
//
// In: a FieldView. Out: values and the bitmaps of empty and odd rows; the value of such a row is written as zero.
// Refuses to know exponents, spaces, signs '+', thousands: all that is odd, and the engine decides it.
#pragma once

#include "kernels/digit_chunks.inl.hpp"
#include "kernels/kernel.hpp"
#include "kernels/nearest_doubles.inl.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// ------------------------------------------------------------------------------------------ the loop over a column

// The marks of up to 64 rows and what the caller keeps count of.
FORMATTER_INLINE void write_marks(ValueMarks& marks, size_t word, uint64_t empty, uint64_t odd) {
    marks.empty[word] = empty;
    marks.odd[word] = odd;
    marks.empty_count += uint32_t(__builtin_popcountll(empty));
    marks.odd_count += uint32_t(__builtin_popcountll(odd));
}

// A chunk of `rows` rows to `out`, from row `done` of the view on. `convert` writes 64 values and returns a bit for each row
// that was decided; `is_empty` says which fields have no bytes.
template <class Convert, class IsEmpty>
FORMATTER_INLINE void write_chunk(uint32_t rows, size_t done, uint64_t* out, ValueMarks& marks, const Convert& convert,
                                  const IsEmpty& is_empty) {
    for (uint32_t row = 0; row < rows; row += 64) {
        const uint32_t left = rows - row;
        alignas(64) uint64_t last_values[64];
        uint64_t* const values = left >= 64 ? out + done + row : last_values;
        uint64_t good = convert(row, values);
        const uint64_t empty = is_empty(row, good, values) & first_rows(left);
        write_marks(marks, (done + row) / 64, empty, ~(good | empty) & first_rows(left));
        if (left < 64) __builtin_memcpy(out + done + row, last_values, left * sizeof(uint64_t));
    }
}

// Of 64 rows of a chunk those without bytes. Long fields among them, which have no size either, are decided.
template <class Chunk, class Convert>
FORMATTER_INLINE uint64_t empty_rows(const Chunk& chunk, uint32_t row, size_t& at_long, const Convert& convert,
                                     uint64_t& good, uint64_t* values) {
    uint64_t empty = lanes::zero_bytes64(chunk.sizes + row);
    for (; at_long < chunk.long_count && chunk.long_fields[at_long].row < row + 64; at_long++) {
        const WordChunk::LongField& field = chunk.long_fields[at_long];
        const uint64_t bit = uint64_t(1) << (field.row - row);
        empty &= ~bit;
        if (convert.decide_long(field, values[field.row - row])) good |= bit;
    }
    return empty;
}

// The last byte of the first odd row of a short chunk: whether it may be a number all the same.
FORMATTER_INLINE bool may_be_number(const WordChunk& chunk, const uint64_t* odd) {
    for (uint32_t row = 0; row < chunk.rows; row += 64) {
        if (odd[row / 64] == 0) continue;
        return uint8_t((chunk.last[row + uint32_t(__builtin_ctzll(odd[row / 64]))] >> 56) - '0') <= 9;
    }
    return false;
}

// `Convert` has eight(chunk, row, out) and sixteen(chunk, row, out), which write 64 values and return a bit for each row
// that was decided, decide_long(field, value) for fields of more than 16 bytes, and digits(chunk, row, words, out), which
// does as the first two for a DigitChunk. Short fields take the first way, and all of a chunk in which many are longer or
// undecided the other: that is how it was in the chunk before, and a chunk that was taken for the wrong kind is done again.
template <class Convert>
FORMATTER_INLINE void decode_words(const FieldView& view, const Convert& convert, uint64_t* out, ValueMarks& marks) {
    constexpr uint32_t patience = 16;  // chunks until another way is tried again
    RunWalk walk(view);
    WordChunk chunk;
    DigitChunk digits;
    NumberShape shape;
    if (marks.shape != nullptr) shape = *marks.shape;
    uint32_t wait = 0;
    marks.empty_count = marks.odd_count = 0;
    for (size_t done = 0;;) {
        const size_t segment = walk.segment;
        const uint32_t first_row = walk.row, empty_count = marks.empty_count, odd_count = marks.odd_count;
        const auto again = [&](bool with_exponents) {
            walk.segment = segment;
            walk.row = first_row;
            marks.empty_count = empty_count;
            marks.odd_count = odd_count;
            shape.long_digits = true;
            shape.exponents = with_exponents;
        };
        size_t at_long = 0;
        wait -= wait != 0;
        if (shape.long_digits) {
            if (!next_digit_chunk(walk, digits, shape)) break;
            write_chunk(
                digits.rows, done, out, marks,
                [&](uint32_t row, uint64_t* values) { return convert.digits(digits, row, shape, values); },
                [&](uint32_t row, uint64_t& good, uint64_t* values) {
                    return empty_rows(digits, row, at_long, convert, good, values);
                });
            if (shape.exponents && digits.exponent_count == 0) {
                shape.exponents = false;
                wait = patience;
            } else if (Convert::has_exponents && !shape.exponents && wait == 0 &&
                       (marks.odd_count - odd_count) * 32 > digits.rows) {
                again(true);
                continue;
            }
            shape.long_digits = shape.exponents || digits.longest > 16 || shape.shorter < patience;
            done += digits.rows;
        } else {
            if (!next_chunk(walk, chunk, shape.beyond_eight)) break;
            if (chunk.long_count * 8 > chunk.rows) {
                shape.word_count = 3;
                again(false);
                continue;
            }
            write_chunk(
                chunk.rows, done, out, marks,
                [&](uint32_t row, uint64_t* values) {
                    return shape.beyond_eight ? convert.sixteen(chunk, row, values) : convert.eight(chunk, row, values);
                },
                [&](uint32_t row, uint64_t& good, uint64_t* values) {
                    return empty_rows(chunk, row, at_long, convert, good, values);
                });
            if (Convert::has_exponents && wait == 0 && (marks.odd_count - odd_count) * 32 > chunk.rows) {
                if (may_be_number(chunk, marks.odd + done / 64)) {
                    again(true);
                    continue;
                }
                wait = patience;
            }
            done += chunk.rows;
        }
    }
    if (marks.shape != nullptr) *marks.shape = shape;
}

// ------------------------------------------------------------------------------------------ signs and digits

//     last       ?  ?  ?  -  1  2  .  5
//     keep                ff ff ff ff ff     by the size
//     sign                ff                 where the first byte of the field is '-'
struct SignedWord {
    lanes::Words digits;  // bytes less '0', those outside the field zero
    lanes::Words keep;    // without the sign
    lanes::Words sign;
};

FORMATTER_INLINE SignedWord split_sign(lanes::Words word, lanes::Words keep, lanes::Words first_byte) {
    const lanes::Words sign = lanes::equal_bytes(word, lanes::splat(every_byte('-'))) & first_byte;
    const lanes::Words kept = keep & ~sign;
    return {(word ^ lanes::splat(zero_digits)) & kept, kept, sign};
}

// The field's first byte, when its bytes are `keep`, and `before` those of the word in front of it.
FORMATTER_INLINE lanes::Words first_byte_of(lanes::Words keep, lanes::Words before) {
    return keep & ~(keep << 8 | before >> 56);
}
FORMATTER_INLINE lanes::Words first_byte_of(lanes::Words keep) { return keep & ~(keep << 8); }

FORMATTER_INLINE uint64_t eight_digits_of(uint64_t digits) {
    digits = digits * 10 + (digits >> 8);
    const uint64_t pairs = 0x000000FF000000FF;
    return uint32_t(((digits & pairs) * 0x000F424000000064 + (digits >> 16 & pairs) * 0x0000271000000001) >> 32);
}

// Digits of a long field, eight at a time, then one by one; false if one is not a digit. Eighteen at most in all, so
// that nothing overflows.
FORMATTER_INLINE bool append_digits(const uint8_t* at, const uint8_t* end, uint64_t& number) {
    for (; end - at >= 8; at += 8) {
        const uint64_t digits = load_word(at) ^ zero_digits;
        if (((digits + every_byte(0x76)) | digits) & every_byte(0x80)) return false;  // 10 and above reach the high bit
        number = number * 100000000 + eight_digits_of(digits);
    }
    for (; at < end; at++) {
        const uint8_t digit = uint8_t(*at - '0');
        if (digit > 9) return false;
        number = number * 10 + digit;
    }
    return true;
}

// ------------------------------------------------------------------------------------------ integers

// `is_unsigned`: up to 2^64 - 1, and signs are odd.
template <bool is_unsigned>
struct ConvertInteger {
    static constexpr bool has_exponents = false;

    uint64_t eight(const WordChunk& chunk, uint32_t row, uint64_t* out) const {
        uint64_t good = 0;
        for (uint32_t i = 0; i < 64; i += lanes::width) {
            const lanes::Words keep = lanes::last_bytes(lanes::load_bytes_as_words(chunk.sizes + row + i));
            const SignedWord last = split_sign(lanes::load(chunk.last + row + i), keep, first_byte_of(keep));
            const lanes::Words wrong = not_digits(last.digits) | (is_unsigned ? last.sign : lanes::splat(0));
            const lanes::Which fits = lanes::both(lanes::is_zero(wrong), lanes::is_set(last.keep));
            const lanes::Words value = lanes::negate_if(lanes::is_set(last.sign), lanes::eight_digits(last.digits));
            lanes::store(out + i, lanes::keep_if(fits, value));
            good |= lanes::bits(fits) << i;
        }
        return good;
    }

    uint64_t sixteen(const WordChunk& chunk, uint32_t row, uint64_t* out) const {
        uint64_t good = 0;
        for (uint32_t i = 0; i < 64; i += lanes::width) {
            const lanes::Words sizes = lanes::load_bytes_as_words(chunk.sizes + row + i);
            const lanes::Words keep_first = lanes::last_bytes_before<8>(sizes), keep_last = lanes::last_bytes(sizes);
            const SignedWord first =
                split_sign(lanes::load(chunk.first + row + i), keep_first, first_byte_of(keep_first));
            const SignedWord last =
                split_sign(lanes::load(chunk.last + row + i), keep_last, first_byte_of(keep_last, keep_first));
            const lanes::Words sign = first.sign | last.sign;
            const lanes::Words wrong =
                not_digits(first.digits) | not_digits(last.digits) | (is_unsigned ? sign : lanes::splat(0));
            const lanes::Which fits = lanes::both(lanes::is_zero(wrong), lanes::is_set(last.keep));
            const lanes::Words value =
                lanes::multiply_low_halves(lanes::eight_digits(first.digits), lanes::splat(100000000)) +
                lanes::eight_digits(last.digits);
            lanes::store(out + i, lanes::keep_if(fits, lanes::negate_if(lanes::is_set(sign), value)));
            good |= lanes::bits(fits) << i;
        }
        return good;
    }

    uint64_t digits(const DigitChunk& chunk, uint32_t row, const NumberShape& shape, uint64_t* out) const {
        constexpr uint64_t most = is_unsigned ? front_of_uint64 : front_of_int64;
        uint64_t good = numbers_of<false>(chunk, row, shape.word_count, 0, most, out, nullptr);
        for (uint32_t i = 0; i < 64; i += lanes::width) {
            const lanes::Which negative = lanes::is_set(lanes::load_bytes_as_words(chunk.signs + row + i));
            const lanes::Words value = lanes::load(out + i);
            lanes::store(out + i, is_unsigned ? lanes::drop_if(negative, value) : lanes::negate_if(negative, value));
            if (is_unsigned) good &= ~(lanes::bits(negative) << i);
        }
        return good;
    }

    bool decide_long(const WordChunk::LongField& field, uint64_t& value) const {
        const bool negative = field.begin[0] == '-';
        const uint32_t digits = field.size - negative;
        uint64_t number = 0;
        value = 0;
        if (is_unsigned && negative) return false;
        if (digits > 18 || !append_digits(field.begin + negative, field.begin + field.size, number)) return false;
        value = negative ? 0 - number : number;
        return true;
    }
};

static void decode_int64(const FieldView& view, int64_t* out, ValueMarks& marks) {
    decode_words(view, ConvertInteger<false>(), reinterpret_cast<uint64_t*>(out), marks);
}

static void decode_uint64(const FieldView& view, uint64_t* out, ValueMarks& marks) {
    decode_words(view, ConvertInteger<true>(), out, marks);
}

// ------------------------------------------------------------------------------------------ decimal fractions

//     digits           0  0  0  0  1  2  .  5       sign gone, zeros in front
//     through_point   ff ff ff ff ff ff ff  0       nothing at all if there is no point
//     closed up        0  0  0  0  0  1  2  5       what stood before the point moves up one byte
// The mantissa is exact (15 digits < 2^53), the power of ten after the point too, so one division rounds correctly.
struct ConvertFraction {
    static constexpr bool has_exponents = true;
    uint8_t decimal_point;

    FORMATTER_INLINE lanes::Words lowest_bit(lanes::Words a) { return a & (lanes::splat(0) - a); }
    FORMATTER_INLINE lanes::Words with_sign(lanes::Words magnitude, lanes::Words sign) {
        return lanes::keep_if(lanes::is_set(sign), lanes::splat(uint64_t(1) << 63)) | magnitude;
    }

    uint64_t eight(const WordChunk& chunk, uint32_t row, uint64_t* out) const {
        const lanes::Words points = lanes::splat(every_byte(decimal_point));
        uint64_t good = 0;
        for (uint32_t i = 0; i < 64; i += lanes::width) {
            const lanes::Words word = lanes::load(chunk.last + row + i);
            const lanes::Words keep = lanes::last_bytes(lanes::load_bytes_as_words(chunk.sizes + row + i));
            const SignedWord last = split_sign(word, keep, first_byte_of(keep));
            const lanes::Words point = lanes::equal_bytes(word, points) & last.keep;
            const lanes::Which whole = lanes::is_zero(point);
            const lanes::Words before_point = lanes::drop_if(whole, lowest_bit(point) - lanes::splat(1));
            const lanes::Words through_point = before_point << 8 | lanes::drop_if(whole, lanes::splat(0xFF));
            const lanes::Words closed_up = (last.digits & ~through_point) | (last.digits & before_point) << 8;
            // A second point is still there and no digit; the first must not be the first or last byte.
            const lanes::Words edges = first_byte_of(last.keep) | lanes::splat(uint64_t(0xFF) << 56);
            const lanes::Words wrong = not_digits(closed_up) | (point & edges);
            const lanes::Which fits = lanes::both(lanes::is_zero(wrong), lanes::is_set(last.keep));
            const lanes::Words value = lanes::quotient8(lanes::eight_digits(closed_up), through_point);
            lanes::store(out + i, lanes::keep_if(fits, with_sign(value, last.sign)));
            good |= lanes::bits(fits) << i;
        }
        return good;
    }

    uint64_t sixteen(const WordChunk& chunk, uint32_t row, uint64_t* out) const {
        const lanes::Words points = lanes::splat(every_byte(decimal_point));
        const lanes::Words one_byte = lanes::splat(0xFF);
        uint64_t good = 0;
        for (uint32_t i = 0; i < 64; i += lanes::width) {
            const lanes::Words sizes = lanes::load_bytes_as_words(chunk.sizes + row + i);
            const lanes::Words keep_first = lanes::last_bytes_before<8>(sizes), keep_last = lanes::last_bytes(sizes);
            const lanes::Words first_word = lanes::load(chunk.first + row + i);
            const lanes::Words last_word = lanes::load(chunk.last + row + i);
            const SignedWord first = split_sign(first_word, keep_first, first_byte_of(keep_first));
            const SignedWord last = split_sign(last_word, keep_last, first_byte_of(keep_last, keep_first));

            const lanes::Words point_first = lanes::equal_bytes(first_word, points) & first.keep;
            const lanes::Words point_last = lanes::equal_bytes(last_word, points) & last.keep;
            const lanes::Which none_last = lanes::is_zero(point_last);
            const lanes::Which none = lanes::is_zero(point_last | point_first);
            const lanes::Words before_last = lanes::drop_if(none_last, lowest_bit(point_last) - lanes::splat(1));
            const lanes::Words through_last = before_last << 8 | lanes::drop_if(none_last, one_byte);
            // With the point in the last word all of the first word moves up, as if its point stood behind it: the
            // isolated bit is then zero, and less one all ones.
            const lanes::Words point_of_first = lanes::keep_if(none_last, lowest_bit(point_first));
            const lanes::Words before_first = lanes::drop_if(none, point_of_first - lanes::splat(1));
            const lanes::Words through_first = before_first << 8 | lanes::drop_if(none, one_byte);

            const lanes::Words moved_over = lanes::drop_if(none_last, first.digits >> 56);
            const lanes::Words closed_last =
                (last.digits & ~through_last) | (last.digits & before_last) << 8 | moved_over;
            const lanes::Words closed_first = (first.digits & ~through_first) | (first.digits & before_first) << 8;

            // Besides the edges: sixteen digits without a point are one too many.
            const lanes::Words sixteen_digits = lanes::keep_if(none, first.keep & one_byte);
            const lanes::Words at_edge =
                (point_first & first_byte_of(first.keep)) |
                (point_last & (first_byte_of(last.keep, first.keep) | lanes::splat(uint64_t(0xFF) << 56)));
            const lanes::Words wrong = not_digits(closed_last) | not_digits(closed_first) | at_edge | sixteen_digits;
            const lanes::Which fits = lanes::both(lanes::is_zero(wrong), lanes::is_set(last.keep));

            const lanes::Words mantissa =
                lanes::multiply_low_halves(lanes::eight_digits(closed_first), lanes::splat(100000000)) +
                lanes::eight_digits(closed_last);
            const lanes::Words value = lanes::quotient16(mantissa, through_first, through_last);
            lanes::store(out + i, lanes::keep_if(fits, with_sign(value, first.sign | last.sign)));
            good |= lanes::bits(fits) << i;
        }
        return good;
    }

    uint64_t digits(const DigitChunk& chunk, uint32_t row, const NumberShape& shape, uint64_t* out) const {
        alignas(64) uint64_t places[64];
        const uint64_t good =
            numbers_of<true>(chunk, row, shape.word_count, decimal_point, front_of_uint64, out, places);
        const int16_t* const exponents = shape.exponents ? chunk.exponents + row : nullptr;
        return nearest_doubles(out, places, exponents, chunk.signs + row, good);
    }

    // Only a sign, fifteen digits and a point reach beyond sixteen bytes.
    bool decide_long(const WordChunk::LongField& field, uint64_t& value) const {
        static constexpr double powers[15] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6, 1e7,
                                              1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
        value = 0;
        if (field.size != 17 || field.begin[0] != '-') return false;
        const uint8_t* const end = field.begin + field.size;
        const uint8_t* point = field.begin + 2;  // behind at least one digit
        while (point < end && *point != decimal_point) point++;
        uint64_t mantissa = 0;
        if (end - point < 2 || !append_digits(field.begin + 1, point, mantissa) ||
            !append_digits(point + 1, end, mantissa))
            return false;
        const double quotient = double(int64_t(mantissa)) / powers[end - point - 1];
        __builtin_memcpy(&value, &quotient, 8);
        value |= uint64_t(1) << 63;
        return true;
    }
};

static void decode_float64(const FieldView& view, uint8_t decimal_point, double* out, ValueMarks& marks) {
    decode_words(view, ConvertFraction{decimal_point}, reinterpret_cast<uint64_t*>(out), marks);
}

// ------------------------------------------------------------------------------------------ booleans

struct PlacedToken {  // a token as it lies in the last word of a field
    uint64_t word;
    uint64_t size;
};

FORMATTER_INLINE PlacedToken placed(const Token& token) {
    uint64_t word = 0;
    for (unsigned i = 0; i < token.length; i++) word = word >> 8 | uint64_t(token.bytes[i]) << 56;
    return {word, token.length};
}

FORMATTER_INLINE uint64_t rows_equal_to(const WordChunk& chunk, uint32_t row, const Token* tokens, size_t count) {
    uint64_t equal = 0;
    for (size_t t = 0; t < count; t++) {
        const PlacedToken token = placed(tokens[t]);
        for (uint32_t i = 0; i < 64; i += lanes::width) {
            const lanes::Words sizes = lanes::load_bytes_as_words(chunk.sizes + row + i);
            const lanes::Words word = lanes::load(chunk.last + row + i) & lanes::last_bytes(sizes);
            const lanes::Words differs = (word ^ lanes::splat(token.word)) | (sizes ^ lanes::splat(token.size));
            equal |= lanes::bits(lanes::is_zero(differs)) << i;
        }
    }
    return equal;
}

static void decode_bool(const FieldView& view, const Token* trues, size_t true_count, const Token* falses,
                        size_t false_count, uint64_t* out, ValueMarks& marks) {
    RunWalk walk(view);
    WordChunk chunk;
    bool beyond_eight = false;
    marks.empty_count = marks.odd_count = 0;
    for (size_t done = 0; next_chunk(walk, chunk, beyond_eight); done += chunk.rows) {
        size_t at_long = 0;
        for (uint32_t row = 0; row < chunk.rows; row += 64) {
            const uint64_t present = first_rows(chunk.rows - row);
            uint64_t empty = lanes::zero_bytes64(chunk.sizes + row) & present;
            for (; at_long < chunk.long_count && chunk.long_fields[at_long].row < row + 64; at_long++)
                empty &= ~(uint64_t(1) << (chunk.long_fields[at_long].row - row));
            const uint64_t filled = present & ~empty & ~lanes::zero_bytes64(chunk.sizes + row);
            const uint64_t is_true = rows_equal_to(chunk, row, trues, true_count) & filled;
            const uint64_t is_false = rows_equal_to(chunk, row, falses, false_count) & filled;
            out[(done + row) / 64] = is_true;
            write_marks(marks, (done + row) / 64, empty, present & ~(is_true | is_false | empty));
        }
    }
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
