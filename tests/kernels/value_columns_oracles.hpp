// What each field's value should be, decided as plainly as can be: byte by byte, year by year.
//
// In: one field that is not empty. Out: its value, or that it is odd, by the rules of kernel.hpp alone.
#pragma once

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "kernels/kernel.hpp"

using namespace formatter;

struct Value {
    bool odd = false;
    uint64_t bits = 0;
    std::string text;
    bool may_be_odd = false;  // as the loop likes
    uint64_t high_bits = 0;   // of values of 16 bytes
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static Value odd_value() { return {true, 0, ""}; }
static Value value_of(int64_t number) { return {false, uint64_t(number), ""}; }

// digits[.digits][e[+-]digits], with a digit on each side of a point that is there.
struct Decimal {
    bool sound = false;
    bool negative = false;
    std::string digits;
    size_t places = 0;
    bool has_exponent = false;
};

static Decimal split_decimal(const std::string& field, char point) {
    Decimal number;
    size_t at = number.negative = field[0] == '-';
    for (; at < field.size() && is_digit(field[at]); at++) number.digits += field[at];
    if (number.digits.empty()) return number;
    if (at < field.size() && field[at] == point) {
        for (at++; at < field.size() && is_digit(field[at]); at++, number.places++) number.digits += field[at];
        if (number.places == 0) return number;
    }
    if (at < field.size() && (field[at] == 'e' || field[at] == 'E')) {
        number.has_exponent = true;
        at++;
        if (at < field.size() && (field[at] == '-' || field[at] == '+')) at++;
        if (at == field.size()) return number;
        while (at < field.size() && is_digit(field[at])) at++;
    }
    number.sound = at == field.size();
    return number;
}

// False if it is 2^127 or more.
static bool magnitude(const std::string& digits, unsigned __int128& value) {
    value = 0;
    for (const char digit : digits) {
        if (value > (~static_cast<unsigned __int128>(0) >> 1) / 10 - 10) return false;
        value = value * 10 + unsigned(digit - '0');
    }
    return true;
}

static Value int64_oracle(const std::string& field) {
    const Decimal number = split_decimal(field, '.');
    unsigned __int128 value;
    if (!number.sound || number.places || number.has_exponent || !magnitude(number.digits, value)) return odd_value();
    if (value > static_cast<unsigned __int128>(INT64_MAX) + number.negative) return odd_value();
    Value found = value_of(int64_t(number.negative ? 0 - uint64_t(value) : uint64_t(value)));
    found.may_be_odd = number.digits.size() > 18;
    return found;
}

static Value uint64_oracle(const std::string& field) {
    const Decimal number = split_decimal(field, '.');
    unsigned __int128 value;
    if (!number.sound || number.places || number.has_exponent || !magnitude(number.digits, value)) return odd_value();
    if (number.negative || value > UINT64_MAX) return odd_value();
    Value found = value_of(int64_t(value));
    found.may_be_odd = number.digits.size() > 18;
    return found;
}

static Value float64_oracle(std::string field, char point) {
    const Decimal decimal = split_decimal(field, point);
    if (!decimal.sound) return odd_value();
    const size_t at = field.find(point);
    if (at != std::string::npos) field[at] = '.';
    const double number = std::strtod(field.c_str(), nullptr);
    if (number - number != 0) return odd_value();
    Value value;
    std::memcpy(&value.bits, &number, 8);
    value.may_be_odd = decimal.has_exponent || decimal.digits.size() > 15;
    return value;
}

static Value decimal_oracle(const std::string& field, char point, unsigned precision, unsigned scale) {
    const Decimal decimal = split_decimal(field, point);
    unsigned __int128 value, limit = 1;
    if (!decimal.sound || decimal.has_exponent || !magnitude(decimal.digits, value)) return odd_value();
    for (unsigned i = 0; i < precision; i++) limit *= 10;
    if (decimal.places > scale && value != 0) return odd_value();
    for (size_t i = decimal.places; i < scale; i++) {
        if (value > (limit - 1) / 10) return odd_value();
        value *= 10;
    }
    if (value >= limit) return odd_value();
    if (decimal.negative) value = 0 - value;
    Value found = value_of(int64_t(value));
    found.high_bits = uint64_t(value >> 64);
    found.may_be_odd = decimal.digits.size() > 18;
    return found;
}

// One number of exactly `size` digits at `at`; -1 if they are none.
static int64_t digits_at(const std::string& field, size_t at, size_t size) {
    if (at + size > field.size()) return -1;
    int64_t number = 0;
    for (size_t i = at; i < at + size; i++) {
        if (!is_digit(field[i])) return -1;
        number = number * 10 + (field[i] - '0');
    }
    return number;
}

static int month_days(int64_t year, int64_t month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return days[month - 1] + (month == 2 && leap);
}

static bool day_number(const std::string& field, int64_t& days) {
    const int64_t year = digits_at(field, 0, 4), month = digits_at(field, 5, 2), day = digits_at(field, 8, 2);
    if (year < 1 || month < 1 || month > 12 || day < 1 || field[4] != '-' || field[7] != '-') return false;
    if (day > month_days(year, month)) return false;
    static const std::vector<int64_t> new_years = [] {
        std::vector<int64_t> first = {0, 0};
        for (int64_t y = 1; y < 10000; y++) first.push_back(first.back() + 337 + month_days(y, 2));
        return first;
    }();
    days = new_years[size_t(year)] - new_years[1970] + day - 1;
    for (int64_t m = 1; m < month; m++) days += month_days(year, m);
    return true;
}

static Value date_oracle(const std::string& field) {
    int64_t days;
    return field.size() == 10 && day_number(field, days) ? value_of(int32_t(days)) : odd_value();
}

// Takes a zone off the end: seconds before UTC, or false if there is one that is none.
static bool take_zone(std::string& field, int64_t& seconds) {
    seconds = 0;
    if (field.back() == 'Z') return field.pop_back(), true;
    const size_t sign = field.find_last_of("+-");
    if (sign == std::string::npos || sign < 16) return true;
    std::string zone = field.substr(sign + 1);
    if (zone.size() == 5 && zone[2] == ':') zone.erase(2, 1);
    const int64_t hours = digits_at(zone, 0, 2), minutes = zone.size() == 2 ? 0 : digits_at(zone, 2, 2);
    if ((zone.size() != 2 && zone.size() != 4) || hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return false;
    seconds = (field[sign] == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    field.erase(sign);
    return true;
}

static Value timestamp_oracle(std::string field, TimeUnit unit) {
    static const int64_t scales[] = {1, 1000, 1000000, 1000000000};
    const int64_t scale = scales[size_t(unit)];
    const bool may_be_odd = field.size() == 19;  // of minutes with a zone of hours, which looks like seconds
    int64_t days, seconds = 0, nanos = 0, offset = 0;
    bool to_minutes = false;
    if (!day_number(field, days)) return odd_value();
    if (field.size() != 10) {
        if (field.size() < 16 || !take_zone(field, offset)) return odd_value();
        to_minutes = field.size() == 16;
        const int64_t hour = digits_at(field, 11, 2), minute = digits_at(field, 14, 2);
        const int64_t second = to_minutes ? 0 : digits_at(field, 17, 2);
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return odd_value();
        if ((field[10] != 'T' && field[10] != ' ') || field[13] != ':') return odd_value();
        if (!to_minutes && field[16] != ':') return odd_value();
        seconds = hour * 3600 + minute * 60 + second - offset;
        if (field.size() > 19) {
            const size_t digits = field.size() - 20;
            if (field[19] != '.' || digits < 1 || digits > 9) return odd_value();
            nanos = digits_at(field, 20, digits);
            if (nanos < 0) return odd_value();
            for (size_t i = digits; i < 9; i++) nanos *= 10;
        }
    }
    seconds += days * 86400;
    if (nanos % (1000000000 / scale) != 0) return odd_value();
    if (unit == TimeUnit::nano && (seconds < -9223372036 || seconds > 9223372035)) return odd_value();
    Value found = value_of(seconds * scale + nanos / (1000000000 / scale));
    found.may_be_odd = to_minutes && may_be_odd;
    return found;
}

static bool equals(const std::string& field, const Token& token) {
    return field.size() == token.length && std::memcmp(field.data(), token.bytes, token.length) == 0;
}

static Value bool_oracle(const std::string& field, const std::vector<Token>& trues, const std::vector<Token>& falses) {
    for (const Token& token : trues)
        if (equals(field, token)) return value_of(1);
    for (const Token& token : falses)
        if (equals(field, token)) return value_of(0);
    return odd_value();
}

static Value string_oracle(const std::string& field, bool quoting, char quote) {
    if (!quoting) return {false, 0, field};
    if (field[0] != quote) return field.find(quote) == std::string::npos ? Value{false, 0, field} : odd_value();
    if (field.size() < 2 || field.back() != quote) return odd_value();
    Value value;
    for (size_t i = 1; i + 1 < field.size(); i++) {
        if (field[i] == quote && (++i + 1 >= field.size() || field[i] != quote)) return odd_value();
        value.text += field[i];
    }
    return value;
}

static bool utf8_oracle(const std::string& text) {
    for (size_t at = 0; at < text.size();) {
        const uint8_t lead = uint8_t(text[at]);
        const size_t size = lead < 0x80 ? 1 : lead < 0xC0 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF8 ? 4 : 0;
        if (size == 0 || at + size > text.size()) return false;
        uint32_t character = size == 1 ? lead : lead & (0x7F >> size);
        for (size_t i = 1; i < size; i++) {
            if ((uint8_t(text[at + i]) & 0xC0) != 0x80) return false;
            character = character << 6 | (uint8_t(text[at + i]) & 0x3F);
        }
        static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
        const bool surrogate = character >= 0xD800 && character < 0xE000;
        if (character < least[size] || character > 0x10FFFF || surrogate) return false;
        at += size;
    }
    return true;
}
