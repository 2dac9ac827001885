#include "engine/values/json_numbers.hpp"

namespace formatter {

const uint8_t* json_number_end(const uint8_t* at, const uint8_t* end) {
    if (at < end && *at == '-') at++;
    if (at == end || !is_digit(*at)) return nullptr;
    if (*at == '0')
        at++;
    else
        while (at < end && is_digit(*at)) at++;
    if (at < end && *at == '.') {
        if (++at == end || !is_digit(*at)) return nullptr;
        while (at < end && is_digit(*at)) at++;
    }
    if (at < end && (*at | 0x20) == 'e') {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        if (at == end || !is_digit(*at)) return nullptr;
        while (at < end && is_digit(*at)) at++;
    }
    return at;
}

ErrorCode parse_scaled(Bytes number, int64_t scale, __int128* out) {
    const uint8_t* at = number.data;
    const uint8_t* end = at + number.size;
    const bool negative = *at == '-';
    at += negative;
    const uint8_t* mantissa_end = at;
    const uint8_t* point = nullptr;
    for (; mantissa_end < end && (*mantissa_end | 0x20) != 'e'; mantissa_end++)
        if (*mantissa_end == '.') point = mantissa_end;
    int64_t exponent = 0;
    if (mantissa_end < end) {
        const uint8_t* e = mantissa_end + 1;
        const bool below = *e == '-';
        if (*e == '-' || *e == '+') e++;
        for (; e < end; e++)
            if (exponent < int64_t(1) << 50) exponent = exponent * 10 + (*e - '0');
        if (below) exponent = -exponent;
    }
    const uint8_t* last = mantissa_end;
    exponent += scale - (point ? mantissa_end - point - 1 : 0);
    while (last > at && (last[-1] == '0' || last[-1] == '.')) exponent += *--last == '0';
    while (at < last && (*at == '0' || *at == '.')) at++;
    if (at == last) {
        *out = 0;
        return ErrorCode::none;
    }
    if (exponent < 0) return ErrorCode::precision;
    const int64_t digits = last - at - (point && point > at && point < last);
    if (digits > 38 || exponent > 38 - digits) return ErrorCode::overflow;
    __int128 value = 0;
    for (; at < last; at++)
        if (*at != '.') value = value * 10 + (*at - '0');
    for (; exponent > 0; exponent--) value *= 10;
    *out = negative ? -value : value;
    return ErrorCode::none;
}

}  // namespace formatter
