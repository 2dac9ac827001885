// Dates and timestamps one at a time: ISO 8601 in its usual spellings, and strptime-like formats. In: the content of a
// field. Out: a value in a unit, or an error code. Refuses to know columns.
#include <cstring>

#include "engine/values/exact_values.hpp"

namespace formatter {
namespace {

struct Reader {
    const uint8_t* at;
    const uint8_t* end;
    bool take(uint8_t c) {
        if (at < end && *at == c) return at++, true;
        return false;
    }
    // Between `least` and `most` digits.
    bool number(int least, int most, int* out) {
        int value = 0, count = 0;
        for (; at < end && count < most && is_digit(*at); at++, count++) value = value * 10 + (*at - '0');
        *out = value;
        return count >= least;
    }
    // As many as the number may have that is no larger: nothing else says where it ends in 905 or 9152024.
    bool part(int most, int largest, int* out) {
        const uint8_t* const begin = at;
        int value = 0;
        for (; at < end && is_digit(*at) && value * 10 + (*at - '0') <= largest && at - begin < most; at++)
            value = value * 10 + (*at - '0');
        *out = value;
        return at > begin;
    }
    bool blanks() {
        const uint8_t* const begin = at;
        while (at < end && (*at == ' ' || *at == '\t')) at++;
        return at > begin;
    }
};

struct Civil {
    int year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0;
    int64_t nanos = 0;
    bool inexact = false;   // digits finer than a nanosecond that are not zero
    int offset_seconds = 0;
};

int days_in_month(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

bool valid(const Civil& c) {
    return c.year >= 1 && c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= days_in_month(c.year, c.month) &&
           c.hour < 24 && c.minute < 60 && c.second < 60;
}

// Days since 1970-01-01 in the proleptic Gregorian calendar: years start in March, so leap days come last.
int64_t days_from_civil(int64_t y, int m, int d) {
    y -= m <= 2;
    const int64_t era = (y >= 0 ? y : y - 399) / 400;
    const int64_t year_of_era = y - era * 400;
    const int64_t day_of_year = (153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

ErrorCode to_unit(const Civil& c, TimeUnit unit, int64_t* out) {
    if (!valid(c)) return ErrorCode::invalid;
    const int64_t seconds =
        days_from_civil(c.year, c.month, c.day) * 86400 + c.hour * 3600 + c.minute * 60 + c.second - c.offset_seconds;
    static const int64_t per_second[] = {1, 1000, 1000000, 1000000000};
    const int64_t scale = per_second[static_cast<int>(unit)];
    const int64_t grain = 1000000000 / scale;
    if (c.inexact || c.nanos % grain) return ErrorCode::precision;
    const __int128 value = __int128(seconds) * scale + c.nanos / grain;
    if (value > INT64_MAX || value < INT64_MIN) return ErrorCode::overflow;
    *out = int64_t(value);
    return ErrorCode::none;
}

void fraction(Reader& r, Civil* c) {
    int64_t unit = 100000000;
    for (; r.at < r.end && is_digit(*r.at); r.at++) {
        if (unit)
            c->nanos += (*r.at - '0') * unit;
        else
            c->inexact |= *r.at != '0';
        unit /= 10;
    }
}

bool zone(Reader& r, Civil* c) {
    if (r.take('Z') || r.take('z')) return true;
    if (r.at == r.end || (*r.at != '+' && *r.at != '-')) return false;
    const int sign = *r.at++ == '-' ? -1 : 1;
    int hours, minutes = 0;
    if (!r.number(2, 2, &hours)) return false;
    if (r.take(':')) {
        if (!r.number(2, 2, &minutes)) return false;
    } else if (r.at < r.end && !r.number(2, 2, &minutes)) {
        return false;
    }
    if (hours > 23 || minutes > 59) return false;
    c->offset_seconds = sign * (hours * 3600 + minutes * 60);
    return true;
}

// Extended (2020-02-29) or basic (20200229); `basic` tells the time behind it to go without colons.
bool iso_date(Reader& r, Civil* c, bool* basic) {
    if (!r.number(4, 4, &c->year)) return false;
    *basic = !r.take('-');
    return r.number(2, 2, &c->month) && (*basic || r.take('-')) && r.number(2, 2, &c->day);
}

// 10, 10:11, 10:11:12, 10:11:12.5 and 10:11:12,5; the same without colons where `basic`.
bool iso_time(Reader& r, bool basic, Civil* c) {
    const auto more = [&] { return basic ? r.at < r.end && is_digit(*r.at) : r.take(':'); };
    if (!r.number(2, 2, &c->hour)) return false;
    if (!more()) return true;
    if (!r.number(2, 2, &c->minute)) return false;
    if (!more()) return true;
    if (!r.number(2, 2, &c->second)) return false;
    if (!r.take('.') && !r.take(',')) return true;
    const uint8_t* before = r.at;
    fraction(r, c);
    return r.at > before;
}

constexpr size_t name_letters = 3;  // of a short one

// One of the names in lower case, whole or its first letters; `which` counts from 0.
bool name_of(Reader& r, const char* const* names, int count, bool full, int* which) {
    for (int k = 0; k < count; k++) {
        const size_t length = full ? std::strlen(names[k]) : name_letters;
        if (size_t(r.end - r.at) < length) continue;
        size_t i = 0;
        while (i < length && (r.at[i] | 32) == uint8_t(names[k][i])) i++;
        if (i == length) return r.at += length, *which = k, true;
    }
    return false;
}

bool month_name(Reader& r, bool full, int* month) {
    static const char* const names[] = {"january", "february", "march",     "april",   "may",      "june",
                                        "july",    "august",   "september", "october", "november", "december"};
    if (!name_of(r, names, 12, full, month)) return false;
    ++*month;
    return true;
}

// Which day of the week it is the date says, as strptime has it.
bool weekday_name(Reader& r, bool full) {
    static const char* const names[] = {"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};
    int which;
    return name_of(r, names, 7, full, &which);
}

bool by_format(Reader& r, const std::string& format, Civil* c) {
    int half_day = -1, day_of_year = 0;
    for (size_t i = 0; i < format.size(); i++) {
        if (format[i] != '%' || i + 1 == format.size()) {
            // Blanks are as many as there are, as strptime has it.
            if (format[i] == ' ') {
                while (i + 1 < format.size() && format[i + 1] == ' ') i++;
                if (!r.blanks()) return false;
            } else if (!r.take(uint8_t(format[i]))) {
                return false;
            }
            continue;
        }
        bool ok = true;
        switch (format[++i]) {
            case 'Y': ok = r.number(4, 4, &c->year); break;
            case 'y':
                ok = r.number(2, 2, &c->year);
                c->year += c->year < 69 ? 2000 : 1900;  // as POSIX
                break;
            case 'm': ok = r.part(2, 12, &c->month); break;
            case 'd': ok = r.part(2, 31, &c->day); break;
            case 'H': ok = r.part(2, 23, &c->hour); break;
            case 'I': ok = r.part(2, 12, &c->hour); break;
            case 'M': ok = r.part(2, 59, &c->minute); break;
            case 'S': ok = r.part(2, 59, &c->second); break;
            case 'f': {
                const uint8_t* before = r.at;
                fraction(r, c);
                ok = r.at > before;
                break;
            }
            case 'j': ok = r.part(3, 366, &day_of_year) && day_of_year >= 1; break;
            case 'b': ok = month_name(r, false, &c->month); break;
            case 'B': ok = month_name(r, true, &c->month); break;
            case 'a': ok = weekday_name(r, false); break;
            case 'A': ok = weekday_name(r, true); break;
            case 'z': ok = zone(r, c); break;
            case 'p': {
                if (r.end - r.at < 2 || (r.at[1] | 32) != 'm') return false;
                const uint8_t first = r.at[0] | 32;
                if (first != 'a' && first != 'p') return false;
                half_day = first == 'p';
                r.at += 2;
                break;
            }
            default: ok = r.take(uint8_t(format[i])); break;  // %%: formats have no other letters
        }
        if (!ok) return false;
    }
    if (half_day >= 0) {  // 13:05 PM says the same twice
        if (c->hour >= 1 && c->hour <= 12) c->hour = c->hour % 12 + 12 * half_day;
        if (c->hour / 12 != half_day) return false;
    }
    if (day_of_year) {
        for (c->month = 1; c->month <= 12 && day_of_year > days_in_month(c->year, c->month); c->month++)
            day_of_year -= days_in_month(c->year, c->month);
        c->day = day_of_year;
    }
    return r.at == r.end;
}

bool digits(const uint8_t* at, int count, int* value) {
    *value = 0;
    bool fine = true;
    for (int i = 0; i < count; i++) {
        const uint8_t digit = uint8_t(at[i] - '0');
        fine &= digit <= 9;
        *value = *value * 10 + digit;
    }
    return fine;
}

}  // namespace

bool is_like_iso(const std::string& format) {
    if (format.size() < 3 || format[0] != '%') return true;
    if (std::strchr("bBaA", format[1])) return false;
    const uint8_t behind = uint8_t(format[2]);
    return !std::strchr("YymdHIMS", format[1]) || behind == '%' || behind == '-' || is_digit(behind);
}

FixedTimes::FixedTimes(const std::string& format) {
    uint32_t at = 0;
    for (size_t i = 0; i < format.size(); i++) {
        if (at + 5 > most_size) return;
        if (format[i] != '%') {
            literals_[literal_count_++] = {uint8_t(at++), uint8_t(format[i])};
            continue;
        }
        uint32_t* place = nullptr;
        uint32_t width = 2;
        switch (++i < format.size() ? format[i] : 0) {
            case 'Y': place = &year_, width = 4; break;
            case 'm': place = &month_; break;
            case 'b': place = &name_, width = 3; break;
            case 'd': place = &day_; break;
            case 'H': place = &hour_; break;
            case 'M': place = &minute_; break;
            case 'S': place = &second_; break;
            case 'z': place = &zone_, width = 5; break;
            default: return;
        }
        if (*place != none) return;
        *place = at;
        at += width;
    }
    if (month_ == none || name_ == none) size_ = at;
}

bool FixedTimes::read(Bytes text, int64_t* seconds) {
    if (text.size != size_ || size_ == 0) return false;
    bool fine = true;
    for (uint32_t i = 0; i < literal_count_; i++) fine &= text.data[literals_[i].at] == literals_[i].byte;
    Civil c;
    if (year_ != none) fine &= digits(text.data + year_, 4, &c.year);
    if (month_ != none) fine &= digits(text.data + month_, 2, &c.month);
    if (day_ != none) fine &= digits(text.data + day_, 2, &c.day);
    if (hour_ != none) fine &= digits(text.data + hour_, 2, &c.hour);
    if (minute_ != none) fine &= digits(text.data + minute_, 2, &c.minute);
    if (second_ != none) fine &= digits(text.data + second_, 2, &c.second);
    if (zone_ != none) {
        int hours, minutes;
        const uint8_t sign = text.data[zone_];
        fine &= (sign == '+' || sign == '-') & digits(text.data + zone_ + 1, 2, &hours) &
                digits(text.data + zone_ + 3, 2, &minutes);
        fine &= hours <= 23 && minutes <= 59;
        c.offset_seconds = (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
    }
    if (!fine) return false;
    int64_t date = c.year * 10000 + c.month * 100 + c.day;
    if (name_ != none) {
        uint32_t name = 0;
        std::memcpy(&name, text.data + name_, 3);
        date = date << 24 | name;
    }
    if (date != known_date_) {
        Reader name{text.data + name_, text.data + name_ + 3};
        if (name_ != none && !month_name(name, false, &c.month)) return false;
        if (!valid(c)) return false;
        known_date_ = date;
        known_days_ = days_from_civil(c.year, c.month, c.day);
    }
    if (c.hour > 23 || c.minute > 59 || c.second > 59) return false;
    *seconds = known_days_ * 86400 + c.hour * 3600 + c.minute * 60 + c.second - c.offset_seconds;
    return true;
}

ErrorCode parse_date(Bytes field, int32_t* out) {
    Reader r{field.data, field.data + field.size};
    Civil c;
    bool basic;
    if (!iso_date(r, &c, &basic) || r.at != r.end || !valid(c)) return ErrorCode::invalid;
    *out = int32_t(days_from_civil(c.year, c.month, c.day));
    return ErrorCode::none;
}

ErrorCode parse_time_of_day(Bytes field, TimeUnit unit, int64_t* out) {
    Reader r{field.data, field.data + field.size};
    Civil c;
    const bool alone = field.size < 3 || field.data[2] != ':';  // an hour alone is a number
    if (alone || !iso_time(r, false, &c) || r.at != r.end) return ErrorCode::invalid;
    return to_unit(c, unit, out);
}

ErrorCode parse_timestamp(Bytes field, TimeUnit unit, int64_t* out) {
    Reader r{field.data, field.data + field.size};
    Civil c;
    bool basic;
    if (!iso_date(r, &c, &basic)) return ErrorCode::invalid;
    if (r.at == r.end && basic) return ErrorCode::invalid;  // eight digits are as likely a count since 1970
    if (r.at < r.end) {
        if (!r.take('T') && !r.take(' ') && !r.take('t')) return ErrorCode::invalid;
        if (!iso_time(r, basic, &c)) return ErrorCode::invalid;
        if (r.at < r.end && (!zone(r, &c) || r.at != r.end)) return ErrorCode::invalid;
    }
    return to_unit(c, unit, out);
}

ErrorCode parse_timestamp_as(Bytes field, const std::string& format, TimeUnit unit, int64_t* out) {
    Reader r{field.data, field.data + field.size};
    Civil c;
    if (!by_format(r, format, &c)) return ErrorCode::invalid;
    return to_unit(c, unit, out);
}

}  // namespace formatter
