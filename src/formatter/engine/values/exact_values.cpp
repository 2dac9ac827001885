#include "engine/values/exact_values.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "engine/values/half_floats.hpp"
#include "engine/values/decimal_floats.hpp"

namespace formatter {
namespace {

uint8_t lower(uint8_t c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

bool equals_ignoring_case(const uint8_t* at, const uint8_t* end, const char* word) {
    for (; at < end && *word; at++, word++)
        if (lower(*at) != uint8_t(*word)) return false;
    return at == end && !*word;
}

// Appends the digits from `at` on to `digits` while nineteen at most count, eight at a time and without a branch for how
// many there are in the last eight. `first`: the field's first byte; nothing outside the field is read.
const uint8_t* take_digits(const uint8_t* first, const uint8_t* at, const uint8_t* end, uint64_t* digits, int* count) {
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
    while (at < end && *count <= 11) {
        const size_t left = size_t(end - at);
        uint64_t word;
        if (left >= 8) {
            std::memcpy(&word, at, 8);
        } else if (end - first >= 8) {
            std::memcpy(&word, end - 8, 8);
            word >>= 8 * (8 - left);
        } else {
            break;
        }
        word ^= 0x3030303030303030;
        const uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
        // A byte behind the field is zero here, which is no digit any more.
        const unsigned run = others ? unsigned(__builtin_ctzll(others)) / 8 : 8;
        if (run == 0) return at;
        word <<= 8 * (8 - run);
        word = word * 10 + (word >> 8);
        const uint64_t pairs = 0x000000FF000000FF;
        const uint32_t value =
            uint32_t(((word & pairs) * 0x000F424000000064 + (word >> 16 & pairs) * 0x0000271000000001) >> 32);
        *digits = *digits * powers[run] + value;
        *count += *digits ? int(run) : 0;
        at += run;
        if (run < 8) return at;
    }
    for (; at < end && is_digit(*at) && *count < 19; at++) {
        *digits = *digits * 10 + (*at - '0');
        *count += *digits != 0;
    }
    return at;
}

}  // namespace

ErrorCode parse_integer(Bytes field, const IntegerRange& range, int64_t* out) {
    const uint8_t* at = field.data;
    const uint8_t* end = at + field.size;
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    if (at == end) return ErrorCode::invalid;
    const uint64_t limit = negative ? range.smallest : range.largest;
    uint64_t value = 0;
    int count = 0;
    if (take_digits(at, at, end, &value, &count) == end && value <= limit) {
        *out = int64_t(negative ? 0 - value : value);
        return ErrorCode::none;
    }
    for (const uint8_t* p = at; p < end; p++)
        if (!is_digit(*p)) return ErrorCode::invalid;
    value = 0;
    for (; at < end; at++) {
        if (__builtin_mul_overflow(value, uint64_t(10), &value)) return ErrorCode::overflow;
        if (__builtin_add_overflow(value, uint64_t(*at - '0'), &value)) return ErrorCode::overflow;
    }
    if (value > limit) return ErrorCode::overflow;
    *out = int64_t(negative ? 0 - value : value);
    return ErrorCode::none;
}

namespace {

// Passes over digits that no word has room for. Whether one of them is not zero.
bool drop_digits(const uint8_t** at, const uint8_t* end) {
    bool lost = false;
    for (; *at < end && is_digit(**at); ++*at) lost |= **at != '0';
    return lost;
}

// digits[.digits][e[+-]digits] or .digits[...] without its sign, if nineteen digits and a small exponent say it all.
bool parse_usual_float(const uint8_t* at, const uint8_t* end, uint8_t decimal_point, int bits, double* out) {
    uint64_t digits = 0;
    int count = 0, exponent = 0;
    const uint8_t *const begin = at, *const first = at;
    at = take_digits(first, at, end, &digits, &count);
    const uint8_t* const taken = at;
    bool lost = drop_digits(&at, end), any = at > begin;
    exponent = int(at - taken);
    if (at < end && *at == decimal_point) {
        const uint8_t* const fraction = ++at;
        if (exponent == 0) {
            at = take_digits(first, at, end, &digits, &count);
            exponent = -int(at - fraction);
        }
        lost |= drop_digits(&at, end);
        any |= at > fraction;
    }
    if (!any) return false;
    if (at < end && lower(*at) == 'e') {
        at++;
        const bool negative = at < end && *at == '-';
        if (at < end && (*at == '-' || *at == '+')) at++;
        int power = 0;
        const uint8_t* const power_digits = at;
        for (; at < end && is_digit(*at) && at - power_digits < 4; at++) power = power * 10 + (*at - '0');
        if (at == power_digits) return false;
        exponent += negative ? -power : power;
    }
    if (at != end || !nearest_binary(digits, exponent, bits, out)) return false;
    // The number lies between these digits and the next ones: where both round alike, so does it.
    double next = *out;
    return !lost || (nearest_binary(digits + 1, exponent, bits, &next) && next == *out);
}

}  // namespace

namespace {

// The digits of a number that is written correctly and not zero, from its first one that is not zero.
struct SignificantDigits {
    const uint8_t* at;
    const uint8_t* end;
    uint8_t decimal_point;
    int64_t power;  // of ten, of the first digit

    SignificantDigits(Bytes number, uint8_t point) : at(number.data), end(at + number.size), decimal_point(point) {
        const uint8_t* const mantissa_end = std::find_if(at, end, [](uint8_t c) { return lower(c) == 'e'; });
        int64_t exponent = 0;
        for (const uint8_t* e = mantissa_end; e < end; e++)
            if (is_digit(*e) && exponent < 1000000000) exponent = exponent * 10 + (*e - '0');
        const bool below_one = mantissa_end < end && mantissa_end[1] == '-';
        if (*at == '-' || *at == '+') at++;
        end = mantissa_end;
        power = std::find(at, end, decimal_point) - at - 1 + (below_one ? -exponent : exponent);
        for (; *at == '0' || *at == decimal_point; at++) power -= *at == '0';
    }
    int next() {
        if (at < end && *at == decimal_point) at++;
        return at < end ? *at++ - '0' : 0;
    }
};

// Whether the number that `field` writes is smaller (-1) or larger (1) than a tie between two halves, by magnitude.
int compare_to_tie(Bytes field, uint8_t decimal_point, double tie) {
    constexpr int decimals = 25;  // ties are multiples of 2^-25, and less than 2^16
    char text[40];
    const char* const end =
        std::to_chars(text, text + sizeof text, std::fabs(tie), std::chars_format::fixed, decimals).ptr;
    SignificantDigits ours(field, decimal_point);
    SignificantDigits exact(Bytes{reinterpret_cast<const uint8_t*>(text), size_t(end - text)}, '.');
    if (ours.power != exact.power) return ours.power < exact.power ? -1 : 1;
    while (ours.at < ours.end || exact.at < exact.end) {
        const int difference = ours.next() - exact.next();
        if (difference) return difference < 0 ? -1 : 1;
    }
    return 0;
}

// By the nearest double, and where that lies between two halves by the digits.
ErrorCode parse_half(Bytes field, uint8_t decimal_point, double* out) {
    double value = 0;
    const ErrorCode code = parse_float(field, double_bits, decimal_point, &value);
    if (code != ErrorCode::none) return code;
    NearestHalf half = nearest_half(value);
    if (half.tie) {
        const int side = compare_to_tie(field, decimal_point, value);
        if (side) half = nearest_half(std::nextafter(value, side < 0 ? 0 : std::copysign(HUGE_VAL, value)));
    }
    *out = widened_half(half.bits);
    return std::isinf(*out) && !std::isinf(value) ? ErrorCode::overflow : ErrorCode::none;
}

}  // namespace

ErrorCode parse_float(Bytes field, int bits, uint8_t decimal_point, double* out) {
    if (bits == half_bits) return parse_half(field, decimal_point, out);
    const uint8_t* at = field.data;
    const uint8_t* end = at + field.size;
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    if (at == end) return ErrorCode::invalid;
    if (parse_usual_float(at, end, decimal_point, bits, out)) {
        if (negative) *out = -*out;
        return ErrorCode::none;
    }
    if (equals_ignoring_case(at, end, "inf") || equals_ignoring_case(at, end, "infinity")) {
        *out = negative ? -HUGE_VAL : HUGE_VAL;
        return ErrorCode::none;
    }
    if (equals_ignoring_case(at, end, "nan")) {
        *out = std::nan("");
        return ErrorCode::none;
    }
    // The grammar is checked here; from_chars then reads exactly these bytes, with '.' for the point.
    char small[64];
    std::string large;
    const size_t size = size_t(end - at);
    char* text = small;
    if (size >= sizeof small) {
        large.assign(size, 0);
        text = &large[0];
    }
    size_t digits = 0, i = 0;
    bool nonzero = false;
    int64_t magnitude = 0;  // position of the first non-zero digit, only its sign and rough size matter
    bool point = false;
    for (; i < size; i++) {
        const uint8_t c = at[i];
        if (is_digit(c)) {
            digits++;
            if (!nonzero && c != '0')
                nonzero = true;
            else if (!nonzero && point)
                magnitude--;
            if (nonzero && !point) magnitude++;
            text[i] = char(c);
        } else if (c == decimal_point && !point) {
            point = true;
            text[i] = '.';
        } else {
            break;
        }
    }
    if (digits == 0) return ErrorCode::invalid;
    int64_t exponent = 0;
    if (i < size) {
        if (lower(at[i]) != 'e') return ErrorCode::invalid;
        text[i++] = 'e';
        bool exponent_negative = false;
        if (i < size && (at[i] == '-' || at[i] == '+')) {
            exponent_negative = at[i] == '-';
            text[i] = char(at[i]);
            i++;
        }
        if (i == size) return ErrorCode::invalid;
        for (; i < size; i++) {
            if (!is_digit(at[i])) return ErrorCode::invalid;
            if (exponent < 1000000000) exponent = exponent * 10 + (at[i] - '0');
            text[i] = char(at[i]);
        }
        if (exponent_negative) exponent = -exponent;
    }
    double value = 0;
    if (nonzero) {
        std::from_chars_result result;
        if (bits == single_bits) {
            float narrow = 0;
            result = std::from_chars(text, text + size, narrow);
            value = narrow;
        } else {
            result = std::from_chars(text, text + size, value);
        }
        if (result.ec == std::errc::result_out_of_range) {
            if (magnitude + exponent > 0) return ErrorCode::overflow;
            value = 0;
        }
        if (std::isinf(value)) return ErrorCode::overflow;
    }
    *out = negative ? -value : value;
    return ErrorCode::none;
}

namespace {

// Digits of a decimal. One more than the precision has is told before it counts: ten times 38 digits are more than 128 bits.
struct DecimalDigits {
    explicit DecimalDigits(uint8_t precision) {
        for (int i = 1; i < precision; i++) full_ *= 10;
    }
    void append(unsigned digit) {
        over |= value >= full_;
        if (!over) value = value * 10 + digit;
    }
    unsigned __int128 value = 0;
    bool over = false;

  private:
    unsigned __int128 full_ = 1;  // the least number with as many digits as there may be
};

// A negative scale: the digits left of the point that it leaves no room for have to be zeros.
ErrorCode parse_coarse_decimal(Bytes field, uint8_t precision, int dropped, uint8_t decimal_point, __int128* out) {
    size_t at = 0;
    const bool negative = field.size && field.data[0] == '-';
    if (field.size && (field.data[0] == '-' || field.data[0] == '+')) at++;
    const size_t begin = at;
    while (at < field.size && is_digit(field.data[at])) at++;
    const size_t whole = at - begin;
    const bool point = at < field.size && field.data[at] == decimal_point;
    if (point) at++;
    const size_t fraction = at;
    while (at < field.size && is_digit(field.data[at])) at++;
    if (at != field.size || whole + (at - fraction) == 0) return ErrorCode::invalid;
    const size_t kept = whole - std::min(whole, size_t(dropped));
    DecimalDigits digits(precision);
    for (size_t i = kept; i < field.size - begin; i++) {
        const uint8_t c = field.data[begin + i];
        if (is_digit(c) && c != '0') return ErrorCode::precision;
    }
    for (size_t i = 0; i < kept; i++) digits.append(unsigned(field.data[begin + i] - '0'));
    if (digits.over) return ErrorCode::overflow;
    *out = negative ? -__int128(digits.value) : __int128(digits.value);
    return ErrorCode::none;
}

}  // namespace

namespace {

// [+-]digits[.digits] of eighteen digits at most, the places that the scale adds included.
bool parse_usual_decimal(Bytes field, uint8_t precision, int scale, uint8_t decimal_point, __int128* out) {
    static const int64_t powers[] = {1,
                                     10,
                                     100,
                                     1000,
                                     10000,
                                     100000,
                                     1000000,
                                     10000000,
                                     100000000,
                                     1000000000,
                                     10000000000,
                                     100000000000,
                                     1000000000000,
                                     10000000000000,
                                     100000000000000,
                                     1000000000000000,
                                     10000000000000000,
                                     100000000000000000,
                                     1000000000000000000};
    if (field.size == 0 || field.size > 18) return false;
    const uint8_t* at = field.data;
    const uint8_t* const end = at + field.size;
    const bool negative = *at == '-';
    at += negative;
    uint64_t digits = 0;
    int count = 0, places = 0;
    const uint8_t *const begin = at, *const first = at;
    at = take_digits(first, at, end, &digits, &count);
    if (at == begin) return false;
    if (at < end && *at == decimal_point) {
        const uint8_t* const fraction = ++at;
        at = take_digits(first, at, end, &digits, &count);
        places = int(at - fraction);
    }
    if (at != end || places > scale || count + (scale - places) > 18) return false;
    const int64_t value = int64_t(digits) * powers[scale - places];
    if (precision < 19 && value >= powers[precision]) return false;
    *out = negative ? -value : value;
    return true;
}

}  // namespace

ErrorCode parse_decimal(Bytes field, uint8_t precision, int scale, uint8_t decimal_point, __int128* out) {
    if (parse_usual_decimal(field, precision, scale, decimal_point, out)) return ErrorCode::none;
    if (scale < 0) return parse_coarse_decimal(field, precision, -scale, decimal_point, out);
    const uint8_t* at = field.data;
    const uint8_t* end = at + field.size;
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    DecimalDigits digits(precision);
    size_t count = 0;
    int fraction = 0;
    bool point = false, inexact = false;
    for (; at < end; at++) {
        if (is_digit(*at)) {
            count++;
            if (point && fraction == scale) {
                inexact |= *at != '0';
                continue;
            }
            if (point) fraction++;
            digits.append(unsigned(*at - '0'));
        } else if (*at == decimal_point && !point) {
            point = true;
        } else {
            return ErrorCode::invalid;
        }
    }
    if (count == 0) return ErrorCode::invalid;
    if (inexact) return ErrorCode::precision;
    for (; fraction < scale && !digits.over; fraction++) digits.append(0);
    if (digits.over) return ErrorCode::overflow;
    *out = negative ? -__int128(digits.value) : __int128(digits.value);
    return ErrorCode::none;
}

ErrorCode decode_hex(Bytes field, std::string* out) {
    out->clear();
    if (field.size % 2) return ErrorCode::invalid;
    auto nibble = [](uint8_t c) -> int {
        if (is_digit(c)) return c - '0';
        c = lower(c);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    };
    for (size_t i = 0; i < field.size; i += 2) {
        const int high = nibble(field.data[i]), low = nibble(field.data[i + 1]);
        if (high < 0 || low < 0) return ErrorCode::invalid;
        out->push_back(char(high << 4 | low));
    }
    return ErrorCode::none;
}

ErrorCode decode_base64(Bytes field, std::string* out) {
    out->clear();
    if (field.size % 4) return ErrorCode::invalid;
    auto sextet = [](uint8_t c) -> int {
        if (c >= 'A' && c <= 'Z') return c - 'A';
        if (c >= 'a' && c <= 'z') return c - 'a' + 26;
        if (is_digit(c)) return c - '0' + 52;
        return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
    };
    for (size_t i = 0; i < field.size; i += 4) {
        const uint8_t* q = field.data + i;
        const bool last = i + 4 == field.size;
        const int padding = last ? (q[3] == '=') + (q[3] == '=' && q[2] == '=') : 0;
        uint32_t bits = 0;
        for (int j = 0; j < 4; j++) {
            const int s = j >= 4 - padding ? 0 : sextet(q[j]);
            if (s < 0) return ErrorCode::invalid;
            bits = bits << 6 | uint32_t(s);
        }
        // Bits behind the last byte must be zero, or two texts would decode to the same bytes.
        if (bits & ((1u << (8 * padding)) - 1)) return ErrorCode::invalid;
        for (int j = 0; j < 3 - padding; j++) out->push_back(char(bits >> (16 - 8 * j)));
    }
    return ErrorCode::none;
}

}  // namespace formatter
