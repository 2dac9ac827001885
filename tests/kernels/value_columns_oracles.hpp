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
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static Value odd_value() { return {true, 0, ""}; }
static Value value_of(int64_t number) { return {false, uint64_t(number), ""}; }

static Value int64_oracle(const std::string& field) {
    const size_t sign = field[0] == '-';
    if (field.size() == sign || field.size() - sign > 18) return odd_value();
    int64_t number = 0;
    for (size_t i = sign; i < field.size(); i++) {
        if (!is_digit(field[i])) return odd_value();
        number = number * 10 + (field[i] - '0');
    }
    return value_of(sign ? -number : number);
}

static Value float64_oracle(std::string field, char point) {
    const size_t sign = field[0] == '-', at = field.find(point);
    size_t digits = 0;
    for (size_t i = sign; i < field.size(); i++) {
        if (i != at && !is_digit(field[i])) return odd_value();
        digits += i != at;
    }
    const bool one_sided = at != std::string::npos && (at == sign || at + 1 == field.size());
    if (digits == 0 || digits > 15 || one_sided) return odd_value();
    if (at != std::string::npos) field[at] = '.';
    const double number = std::strtod(field.c_str(), nullptr);
    Value value;
    std::memcpy(&value.bits, &number, 8);
    return value;
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

static Value timestamp_oracle(std::string field, TimeUnit unit) {
    static const int64_t scales[] = {1, 1000, 1000000, 1000000000};
    const int64_t scale = scales[size_t(unit)];
    int64_t days, seconds = 0, nanos = 0;
    if (!day_number(field, days)) return odd_value();
    if (field.size() != 10) {
        if (field.back() == 'Z') field.pop_back();
        const int64_t hour = digits_at(field, 11, 2), minute = digits_at(field, 14, 2);
        const int64_t second = digits_at(field, 17, 2);
        if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return odd_value();
        if ((field[10] != 'T' && field[10] != ' ') || field[13] != ':' || field[16] != ':') return odd_value();
        seconds = hour * 3600 + minute * 60 + second;
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
    return value_of(seconds * scale + nanos / (1000000000 / scale));
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
