#include "engine/sample/date_pattern.hpp"

#include <cstring>

namespace formatter {
namespace {

constexpr size_t SHORTEST = 4, LONGEST = 48;

struct Text {
    const uint8_t* at;
    const uint8_t* end;

    bool over() const { return at == end; }
    bool take(uint8_t byte) { return at < end && *at == byte && (at++, true); }
    int digits(int most, int* value) {
        int count = 0;
        for (*value = 0; at < end && count < most && is_digit(*at); at++, count++) *value = *value * 10 + (*at - '0');
        return at < end && is_digit(*at) ? 0 : count;
    }
    // The place of a name among `names`, its length in *length: of three letters, or all of them. -1: none stands here.
    int name(const char* const* names, int count, size_t* length) const {
        size_t letters = 0;
        while (at + letters < end && is_letter(at[letters])) letters++;
        for (int i = 0; i < count; i++) {
            if (letters != 3 && letters != std::strlen(names[i])) continue;
            size_t same = 0;
            while (same < letters && (at[same] | 32) == uint8_t(names[i][same])) same++;
            if (same == letters) return *length = letters, i;
        }
        return -1;
    }
};

const char* const MONTHS[] = {"january", "february", "march",     "april",   "may",      "june",
                              "july",    "august",   "september", "october", "november", "december"};
const char* const WEEKDAYS[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

void literal(std::string* format, uint8_t byte) {
    if (byte == '%') format->push_back('%');
    format->push_back(char(byte));
}

// As many as there are: a format's blank is any number of them.
void blanks(Text* text, std::string* format) {
    const uint8_t* const before = text->at;
    while (text->take(' ')) {}
    if (text->at > before) literal(format, ' ');
}

// Separators between the numbers of a date: one of / . - or blanks, a comma before a blank.
bool separator(Text* text, std::string* format) {
    const uint8_t* before = text->at;
    if (text->take(',')) literal(format, ',');
    blanks(text, format);
    if (text->at == before && text->at < text->end && (*text->at == '/' || *text->at == '.' || *text->at == '-'))
        literal(format, *text->at++);
    return text->at > before && text->at - before <= 3;
}

bool year(Text* text, std::string* format) {
    int value;
    const int count = text->digits(4, &value);
    if (count != 2 && count != 4) return false;
    *format += count == 4 ? "%Y" : "%y";
    return true;
}

bool month_name(Text* text, std::string* format) {
    size_t length;
    if (text->name(MONTHS, 12, &length) < 0) return false;
    // "May" is both; the format of three letters reads it either way.
    *format += length == 3 ? "%b" : "%B";
    text->at += length;
    return true;
}

bool day(Text* text, std::string* format) {
    int value;
    const int count = text->digits(2, &value);
    *format += "%d";
    return count > 0 && value >= 1 && value <= 31;
}

bool find_date(Text* text, DatePattern* out) {
    std::string& format = out->format;
    if (month_name(text, &format))
        return separator(text, &format) && day(text, &format) && separator(text, &format) && year(text, &format);
    int first, second;
    const int first_digits = text->digits(4, &first);
    if (first_digits == 4) {
        format += "%Y";
        if (!separator(text, &format)) return false;
        if (!text->over() && is_letter(*text->at)) {
            if (!month_name(text, &format)) return false;
        } else {
            const int count = text->digits(2, &second);
            if (!count || second < 1 || second > 12) return false;
            format += "%m";
        }
        return separator(text, &format) && day(text, &format);
    }
    if (first_digits < 1 || first_digits > 2 || first < 1) return false;
    const size_t place = format.size();
    format += "%d";
    const size_t before = format.size();
    if (!separator(text, &format)) return false;
    const std::string between = format.substr(before);
    if (!text->over() && is_letter(*text->at))
        return first <= 31 && month_name(text, &format) && separator(text, &format) && year(text, &format);
    const int second_digits = text->digits(2, &second);
    if (!second_digits || second < 1 || second > 31 || first > 31) return false;
    out->first_can_be_month = first <= 12;
    out->second_can_be_month = second <= 12;
    if (first > 12 && second > 12) return false;
    format.replace(place, 2, "%1");
    format += "%2";
    const size_t second_before = format.size();
    // Versions, scores and addresses have such numbers, too: the same mark twice, and a year behind it.
    if (!separator(text, &format) || format.substr(second_before) != between || between == ", ") return false;
    const uint8_t* const year_begin = text->at;
    if (!year(text, &format)) return false;
    const bool padded = first_digits == 2 && second_digits == 2;
    return text->at - year_begin == 4 || padded || between == "/";
}

bool find_time(Text* text, DatePattern* out) {
    std::string& format = out->format;
    int hour, minute, second;
    if (!text->digits(2, &hour) || hour > 23 || !text->take(':')) return false;
    const size_t place = format.size();
    format += "%H:%M";
    if (text->digits(2, &minute) != 2 || minute > 59) return false;
    if (text->take(':')) {
        if (text->digits(2, &second) != 2 || second > 59) return false;
        format += ":%S";
        if (text->take('.')) {
            const uint8_t* before = text->at;
            while (text->at < text->end && is_digit(*text->at)) text->at++;
            if (text->at == before) return false;
            out->fineness = uint8_t(text->at - before < 255 ? text->at - before : 255);
            format += ".%f";
        }
    }
    out->has_time = true;
    const uint8_t* const before_half = text->at;
    const size_t kept = format.size();
    blanks(text, &format);
    if (text->end - text->at >= 2 && (text->at[1] | 32) == 'm' &&
        ((text->at[0] | 32) == 'a' || (text->at[0] | 32) == 'p')) {
        if (hour < 1 || hour > 12) return false;
        text->at += 2;
        format += "%p";
        format[place + 1] = 'I';
    } else {
        text->at = before_half;
        format.resize(kept);
    }
    return true;
}

bool find_zone(Text* text, DatePattern* out) {
    std::string& format = out->format;
    blanks(text, &format);
    const size_t left = size_t(text->end - text->at);
    out->has_zone = true;
    if (left == 3 && (std::memcmp(text->at, "UTC", 3) == 0 || std::memcmp(text->at, "GMT", 3) == 0)) {
        format.append(reinterpret_cast<const char*>(text->at), 3);
        text->at = text->end;
        return true;
    }
    format += "%z";
    if (left == 1 && (*text->at | 32) == 'z') return text->at++, true;
    if (left != 5 && left != 6 && left != 3) return false;
    if (*text->at != '+' && *text->at != '-') return false;
    for (size_t i = 1; i < left; i++)
        if (!is_digit(text->at[i]) && !(i == 3 && left == 6 && text->at[i] == ':')) return false;
    text->at = text->end;
    return true;
}

}  // namespace

bool find_date_pattern(Bytes content, DatePattern* out) {
    if (content.size < SHORTEST || content.size > LONGEST) return false;
    Text text{content.data, content.data + content.size};
    const uint8_t first = content.data[0];
    if (!is_digit(first) && !is_letter(first)) return false;
    if (is_digit(first) && (content.data[1] == ':' || content.data[2] == ':'))
        return find_time(&text, out) && text.over();
    bool digits = false;
    for (size_t i = 0; i < content.size && !digits; i++) digits = is_digit(content.data[i]);
    if (!digits) return false;
    size_t length;
    if (is_letter(first) && text.name(WEEKDAYS, 7, &length) >= 0) {
        out->format += length == 3 ? "%a" : "%A";
        text.at += length;
        if (!separator(&text, &out->format)) return false;
    }
    if (!find_date(&text, out)) return false;
    out->has_date = true;
    if (!text.over()) {
        if (text.take('T')) {
            out->format += 'T';
        } else if (!separator(&text, &out->format)) {
            return false;
        }
        if (!find_time(&text, out)) return false;
        if (!text.over() && !find_zone(&text, out)) return false;
        if (!text.over()) return false;
    }
    return true;
}

}  // namespace formatter
