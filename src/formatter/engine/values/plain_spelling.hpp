// Values that can be written in several ways, in the one that every reader of them takes alike: whole numbers in digits, dates
// as 2020-02-29, timestamps as 2020-02-29T10:11:12.123456+02:00, base64 in the standard alphabet, floats that are no integers
// first. In: a value's text that is read otherwise. Out: whether it is that way. Refuses to know whether the value is one.
#pragma once

#include "engine/columns/column_type.hpp"

namespace formatter {

constexpr size_t plain_date_size = 10, plain_clock_size = 19;

// A date alone; or with `T` or a space and a clock with seconds behind it, then up to six digits behind a point. `zoned`: then
// an offset may follow, `Z` or `+02:00`, of less than eighteen hours.
inline bool is_plain_time(Bytes text, bool zoned) {
    if (text.size == plain_date_size) return true;
    if (text.size < plain_clock_size || text.data[16] != ':') return false;
    if (text.data[10] != 'T' && text.data[10] != ' ') return false;
    const uint8_t* at = text.data + plain_clock_size;
    const uint8_t* const end = text.data + text.size;
    if (at < end && *at == '.') {
        const uint8_t* const fraction = ++at;
        while (at < end && is_digit(*at)) at++;
        if (at == fraction || at - fraction > 6) return false;
    }
    if (at == end) return true;
    if (!zoned) return false;
    if (*at == 'Z') return at + 1 == end;
    if ((*at != '+' && *at != '-') || end - at != 6 || at[3] != ':') return false;
    return at[1] == '0' || (at[1] == '1' && at[2] < '8');
}

constexpr float plain_whole_floats = 9223372036854775808.0f;  // beyond, readers come to floats by way of doubles

// A number as JSON writes it. Without a point and an exponent it is a whole number to some readers, which has no negative zero.
inline bool is_plain_float(Bytes number, bool single) {
    constexpr size_t whole_digits = 18;
    const size_t begin = number.data[0] == '-';
    for (size_t i = begin; i < number.size; i++)
        if (!is_digit(number.data[i])) return true;
    if (single && number.size - begin > whole_digits) return false;
    return !(begin && number.size == 2 && number.data[1] == '0');
}

inline bool is_plain_base64(Bytes text) {
    for (size_t i = 0; i < text.size; i++)
        if (text.data[i] == '-' || text.data[i] == '_') return false;
    return true;
}

}  // namespace formatter
