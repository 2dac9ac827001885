#include "engine/sample/value_kind.hpp"

#include <cstring>

#include "engine/sample/date_pattern.hpp"

namespace formatter {
namespace {

const char* const NULL_MARKERS[] = {
    "NA",      "N/A",   "n/a",     "na",      "N.A.",    "n.a.",    "NULL", "Null", "null", "None", "none",
    "nil",     "NIL",   "\\N",     "-",       "--",      "---",     "?",    ".",    "..",   "...",  "*",
    "#N/A",    "#NA",   "<NA>",    "(null)",  "<null>",  "NaT",     "nd",   "ND",   "N/D",  "n/d",  "#VALUE!",
    "#DIV/0!", "#REF!", "missing", "Missing", "unknown", "Unknown", "**",   "***",  "****", "*****"};

constexpr unsigned MARKER_LENGTH_MOST = 7;
constexpr int FLOAT64_DIGITS = 17;  // more than these are rounded
constexpr int DECIMAL_DIGITS = 38;
constexpr uint8_t TIGHT_GRADE = 2;  // of text with a separator that no blank follows
constexpr int PHONE_DIGITS = 7;     // a sign before fewer digits belongs to a number

bool equals(Bytes content, const char* word) {
    return content.size == std::strlen(word) && std::memcmp(content.data, word, content.size) == 0;
}
ValueLook look(ValueKind kind, uint8_t detail = 0) { return {kind, BEST_GRADE, 0, detail}; }

// A plain integer, by how many digits it has and whether they fit.
ValueLook integer_look(Bytes content, size_t sign, size_t digits) {
    const uint8_t* first = content.data + sign;
    if (digits > 1 && *first == '0') return look(ValueKind::zero_led);
    if (sign && content.data[0] == '+' && digits >= PHONE_DIGITS) return look(ValueKind::plus_led);
    if (digits < 19) return look(ValueKind::integer);
    int64_t value;
    if (parse_integer(content, range_of<int64_t>(), &value) == ErrorCode::none) return look(ValueKind::integer);
    if (parse_integer(content, range_of<uint64_t>(), &value) == ErrorCode::none) return look(ValueKind::natural);
    return look(digits <= DECIMAL_DIGITS ? ValueKind::wide_integer : ValueKind::long_digits);
}

// Groups of three digits behind the first `mark`, all separated by it, up to `end`.
bool is_grouped(const uint8_t* at, const uint8_t* end, uint8_t mark) {
    for (; at < end; at += 4)
        if (end - at < 4 || *at != mark || !is_digit(at[1]) || !is_digit(at[2]) || !is_digit(at[3])) return false;
    return true;
}

// Digits, one kind of mark or both, an exponent. False: it is no number.
bool number_look(Bytes content, ValueLook* found) {
    const uint8_t* const begin = content.data;
    const uint8_t* const end = begin + content.size;
    const uint8_t* at = begin + (*begin == '+' || *begin == '-');
    const uint8_t* const first = at;
    const uint8_t *first_comma = nullptr, *first_point = nullptr, *exponent = nullptr;
    int digits = 0, commas = 0, points = 0, leading_zeros = 0;
    for (; at < end; at++) {
        if (is_digit(*at)) {
            leading_zeros += digits == leading_zeros && *at == '0';
            digits++;
        } else if (*at == ',') {
            if (!commas++) first_comma = at;
        } else if (*at == '.') {
            if (!points++) first_point = at;
        } else if ((*at | 32) == 'e' && digits) {
            exponent = at;
            break;
        } else {
            return false;
        }
    }
    if (!digits) return false;
    if (exponent) {
        const uint8_t* power = exponent + 1;
        if (power < end && (*power == '+' || *power == '-')) power++;
        if (power == end || commas > 1 || points > 1 || (commas && points)) return false;
        for (at = power; at < end; at++)
            if (!is_digit(*at)) return false;
        *found = look(commas ? ValueKind::comma_real : ValueKind::real);
        return true;
    }
    if (!commas && !points) {
        *found = integer_look(content, size_t(first - begin), size_t(end - first));
        return true;
    }
    if (!commas && points == 1) {
        *found = look(digits - leading_zeros > FLOAT64_DIGITS ? ValueKind::long_real : ValueKind::real);
        return true;
    }
    if (commas == 1 && !points) {
        // Three digits behind the comma and one to three before it, the first not 0, are thousands as well.
        const bool thousands =
            first_comma > first && first_comma - first <= 3 && *first != '0' && end - first_comma == 4;
        *found = look(thousands ? ValueKind::comma_group : ValueKind::comma_real);
        return true;
    }
    const uint8_t* const head = first_comma && (!first_point || first_comma < first_point) ? first_comma : first_point;
    if (head == first || head - first > 3) return false;
    if (head == first_comma && points <= 1 && is_grouped(first_comma, first_point ? first_point : end, ',')) {
        *found = look(ValueKind::grouped);
        return true;
    }
    if (head == first_point && commas <= 1 && is_grouped(first_point, first_comma ? first_comma : end, '.')) {
        *found = look(ValueKind::point_grouped);
        return true;
    }
    return false;
}

bool two_digits(const uint8_t* at, int most) {
    return is_digit(at[0]) && is_digit(at[1]) && (at[0] - '0') * 10 + at[1] - '0' <= most;
}

// 13:45, 13:45:10, 13:45:10.5
bool time_look(Bytes content, ValueLook* found) {
    const uint8_t* at = content.data;
    if (content.size < 5 || at[2] != ':' || !two_digits(at, 23) || !two_digits(at + 3, 59)) return false;
    *found = look(ValueKind::time);
    if (content.size == 5) return true;
    if (content.size < 8 || at[5] != ':' || !two_digits(at + 6, 59)) return false;
    if (content.size == 8) return true;
    if (content.size == 9 || at[8] != '.') return false;
    for (size_t i = 9; i < content.size; i++)
        if (!is_digit(at[i])) return false;
    found->fineness = uint8_t(content.size - 9 < 255 ? content.size - 9 : 255);
    return true;
}

bool iso_look(Bytes content, ValueLook* found) {
    const uint8_t* at = content.data;
    const bool extended = content.size >= 10 && at[4] == '-' && at[7] == '-';
    if (!extended && !(content.size > 10 && is_digit(at[4]) && is_digit(at[7]) && (at[8] | 32) == 't')) return false;
    if (content.size == 10 && extended) {
        int32_t day;
        *found = look(ValueKind::date);
        return parse_date(content, &day) == ErrorCode::none;
    }
    int64_t value;
    const ErrorCode code = parse_timestamp(content, TimeUnit::micro, &value);
    if (code != ErrorCode::none && code != ErrorCode::precision) return false;
    *found = look(ValueKind::timestamp);
    for (size_t i = extended ? 11 : 9; i < content.size; i++) {
        if (at[i] == '.' || at[i] == ',') {
            size_t last = i;
            while (last + 1 < content.size && is_digit(at[last + 1])) last++;
            found->fineness = uint8_t(last - i < 255 ? last - i : 255);
        } else if ((at[i] | 32) == 'z' || at[i] == '+' || at[i] == '-') {
            found->kind = ValueKind::zoned;
        }
    }
    return true;
}

// true, false: 1, True: 2, TRUE: 4
uint8_t boolean_spelling(Bytes content) {
    static const char* const words[] = {"true", "false", "True", "False", "TRUE", "FALSE"};
    if (content.size != 4 && content.size != 5) return 0;
    for (unsigned i = 0; i < 6; i++)
        if (equals(content, words[i])) return uint8_t(1 << i / 2);
    return 0;
}

// Bare text with the separators of other dialects in it looks like several fields, unless a blank follows as in prose.
// Halves of quotes and brackets look like a field that was cut.
uint8_t text_grade(Bytes content, bool quoted) {
    if (quoted) return BEST_GRADE;
    const uint8_t first = content.data[0], last = content.data[content.size - 1];
    if (first == '"') return 1;
    if (first == '\'' && last == '\'' && content.size > 1) return 3;
    int tight = 0, loose = 0, quotes = 0, open = 0;
    bool cut = false;
    for (size_t i = 0; i < content.size; i++) {
        switch (content.data[i]) {
            case '"': quotes++; break;
            case '\t':
            case '|': tight += !open; break;
            case ',':
            case ';': {
                const bool prose = open || (i + 1 < content.size && content.data[i + 1] == ' ');
                (prose ? loose : tight)++;
                break;
            }
            case '(':
            case '[':
            case '{': open++; break;
            case ')':
            case ']':
            case '}': cut |= --open < 0; break;
            default: break;
        }
    }
    if (cut || open) return 1;
    if (tight) return TIGHT_GRADE;
    if (quotes || (first == '\'') != (last == '\'')) return 2;
    return loose ? 3 : BEST_GRADE;
}

}  // namespace

const char* const* null_markers(unsigned* count) {
    *count = sizeof NULL_MARKERS / sizeof *NULL_MARKERS;
    return NULL_MARKERS;
}

ValueLook look_at(Bytes content, bool quoted) {
    if (!content.size) return {ValueKind::empty, quoted ? BEST_GRADE : uint8_t(BEST_GRADE - 1), 0, 0};
    const uint8_t first = content.data[0];
    ValueLook found;
    if (is_digit(first) || first == '-' || first == '+' || first == '.') {
        if (number_look(content, &found)) return found;
        if (is_digit(first) && (time_look(content, &found) || iso_look(content, &found))) return found;
    }
    if (content.size <= MARKER_LENGTH_MOST) {
        if (content.size == 3 && (first | 32) == 'n' && (content.data[1] | 32) == 'a' && (content.data[2] | 32) == 'n')
            return look(ValueKind::nan);
        if (const uint8_t spelling = boolean_spelling(content)) return look(ValueKind::boolean, spelling);
        unsigned count;
        const char* const* markers = null_markers(&count);
        for (unsigned i = 0; i < count; i++)
            if (uint8_t(markers[i][0]) == first && equals(content, markers[i]))
                return look(ValueKind::null_marker, uint8_t(i));
    }
    DatePattern pattern;
    if (find_date_pattern(content, &pattern)) {
        found = look(ValueKind::dated);
        found.fineness = pattern.fineness;
        return found;
    }
    double value;
    if (content.size <= 10 && (first == '+' || first == '-' || is_letter(first)) &&
        parse_float(content, double_bits, '.', &value) == ErrorCode::none)
        return look(ValueKind::real);  // inf, infinity
    found = look(ValueKind::text);
    found.grade = text_grade(content, quoted);
    return found;
}

}  // namespace formatter
