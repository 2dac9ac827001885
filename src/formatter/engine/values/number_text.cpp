#include "engine/values/number_text.hpp"

#include <algorithm>
#include <cstring>

#include "engine/columns/bits.hpp"

namespace formatter {
namespace {

constexpr size_t certain_digits = 18;  // of a whole number of 64 bits
constexpr size_t finite_digits = 38;  // of a number without an exponent, for every float but halves

}  // namespace

std::shared_ptr<TextCheck> number_texts(const ColumnSpec& column, const ColumnType* type, uint8_t precision,
                                        int8_t scale, uint8_t decimal_point) {
    ColumnSpec number = column;
    number.type = type;
    number.precision = precision;
    number.scale = scale;
    return std::make_shared<NumberTexts>(number, decimal_point);
}

void NumberTexts::check(const TextRows& rows, uint64_t* failed) const {
    for (uint32_t row = 0; row < rows.rows; row++) {
        if (!has_bit(rows.present, row)) continue;
        const int32_t begin = rows.offsets[row], end = rows.offsets[row + 1];
        if (!is_number({rows.text + begin, size_t(end - begin)})) set_bit(failed, row);
    }
}

bool NumberTexts::is_number(Bytes text) const {
    const uint8_t* at = text.data;
    const uint8_t* const end = text.data + text.size;
    const bool negative = at < end && *at == '-';
    at += negative;
    const uint8_t* const whole = at;
    while (at < end && is_digit(*at)) at++;
    const size_t whole_digits = size_t(at - whole);
    size_t fraction_digits = 0;
    if (at < end && *at == spelling_.decimal_point) {
        const uint8_t* const fraction = ++at;
        while (at < end && is_digit(*at)) at++;
        fraction_digits = size_t(at - fraction);
    }
    if (at == end && whole_digits > 0) {
        const bool pointed = size_t(end - whole) > whole_digits;
        if (spec_.type->operands == Operands::floats && spec_.type->width >= sizeof(float)) {
            if (whole_digits + fraction_digits <= finite_digits) return true;
        } else if (spec_.type->operands == Operands::wide) {
            const int whole_most = int(spec_.precision) - spec_.scale;
            if (spec_.scale >= 0 && int(whole_digits) <= whole_most && int(fraction_digits) <= spec_.scale) return true;
        } else if (!pointed && !(negative && spec_.type->operands == Operands::naturals)) {
            if (whole_digits <= certain_digits && spec_.type->width == sizeof(int64_t)) return true;
        }
    }
    // What reads as infinity or NaN ends with a letter; an exponent ends with a digit.
    if (text.size == 0 || !(is_digit(end[-1]) || end[-1] == spelling_.decimal_point)) return false;
    alignas(widest_value) uint8_t value[widest_value];
    return spec_.type->parse_text(text, spec_, spelling_, value) == ErrorCode::none;
}

uint8_t* write_json_number(const uint8_t* text, size_t size, uint8_t* out) {
    const uint8_t* at = text;
    const uint8_t* const end = text + size;
    if (at < end && *at == '-') *out++ = '-';
    at += at < end && (*at == '-' || *at == '+');
    while (at + 1 < end && *at == '0' && is_digit(at[1])) at++;
    if (at < end && !is_digit(*at)) *out++ = '0';
    const uint8_t* const digits = at;
    while (at < end && is_digit(*at)) at++;
    std::memcpy(out, digits, size_t(at - digits));
    out += at - digits;
    if (at < end && (*at == '.' || *at == ',')) {
        const uint8_t* const fraction = ++at;
        while (at < end && is_digit(*at)) at++;
        if (at > fraction) {
            *out++ = '.';
            std::memcpy(out, fraction, size_t(at - fraction));
            out += at - fraction;
        }
    }
    std::memcpy(out, at, size_t(end - at));
    return out + (end - at);
}

}  // namespace formatter
