// Timestamps and dates: fixed places, so all digits of several rows are checked and weighed at once.
//
// In: a FieldView. Out: counts of the unit since 1970 (days for dates) and the marks; odd and empty rows are zero.
// Refuses to know other formats. In nanoseconds the two seconds that int64 holds only in part are
// odd, like all beyond them.
#pragma once

#include "kernels/field_lanes.inl.hpp"
#include "kernels/kernel.hpp"

namespace formatter {
namespace FORMATTER_ISA {

// ------------------------------------------------------------------------------------------ cutting

//     0         1         2
//     0123456789012345678901234567890
//     YYYY-MM-DDTHH:MM:SS.fffffffffZ
//     year....                          bytes 0 to 7, of which four count
//        date....                       bytes 3 to 10
//                clock...               bytes 11 to 18
struct TimeChunk {
    alignas(64) uint64_t year[chunk_rows];
    alignas(64) uint64_t date[chunk_rows];
    alignas(64) uint64_t clock[chunk_rows];
    alignas(64) uint64_t fraction[chunk_rows];  // digits 1 to 8, less '0', zeros behind; only if `any_fraction`
    alignas(64) uint64_t zone[chunk_rows];      // as "??+00:00"; only if `any_offset`
    alignas(64) uint8_t ninth[chunk_rows];      // digit 9, less '0'
    alignas(64) uint8_t sizes[chunk_rows];      // 19 stands for all whose fraction and zone are in order
    bool any_fraction;
    bool any_offset;
    uint32_t rows;
};

constexpr uint64_t text_word(char a, char b, char c, char d, char e, char f, char g, char h) {
    return uint64_t(uint8_t(a)) | uint64_t(uint8_t(b)) << 8 | uint64_t(uint8_t(c)) << 16 | uint64_t(uint8_t(d)) << 24 |
           uint64_t(uint8_t(e)) << 32 | uint64_t(uint8_t(f)) << 40 | uint64_t(uint8_t(g)) << 48 |
           uint64_t(uint8_t(h)) << 56;
}

constexpr uint32_t date_size = 10, minutes_end = 16, clock_end = 19, odd_size = 255;

//     field         ...:SS+HH:MM   ...:SS+HHMM   ...:SS+HH
//     last word     ??+HH:MM       ???+HHMM      ?????+HH
//     zone          ??+HH:MM       in each case; of what is no zone some part will be wrong
constexpr uint64_t no_offset = text_word(0, 0, '+', '0', '0', ':', '0', '0');

// The size without a zone.
FORMATTER_INLINE uint32_t cut_zone(const uint8_t* field, uint32_t size, TimeChunk& chunk, uint32_t at) {
    const auto is_sign = [field, size](uint32_t back) {
        return field[size - back] == '+' || field[size - back] == '-';
    };
    const uint64_t word = load_word(field + size - 8);
    uint64_t zone;
    uint32_t zone_size;
    if (is_sign(6)) {
        zone_size = 6;
        zone = word;
    } else if (is_sign(5)) {
        zone_size = 5;
        zone = (word >> 8 & 0xFFFFFF0000) | uint64_t(':') << 40 | (word & uint64_t(0xFFFF) << 48);
    } else if (is_sign(3)) {
        zone_size = 3;
        zone = (word >> 24 & 0xFFFFFF0000) | (no_offset & ~uint64_t(0) << 40);
    } else {
        return size;
    }
    if (!chunk.any_offset) {
        chunk.any_offset = true;
        for (uint64_t& other : chunk.zone) other = no_offset;
    }
    chunk.zone[at] = zone;
    return size - zone_size;
}

// Looks at what is not just date and clock, and returns the size to go on with: 19, or that of no timestamp.
FORMATTER_INLINE uint32_t cut_rest(const uint8_t* field, uint32_t size, TimeChunk& chunk, uint32_t at) {
    if (field[size - 1] == 'Z')
        size--;
    else if (size >= minutes_end + 3)
        size = cut_zone(field, size, chunk, at);
    if (size == clock_end) return size;
    if (size == minutes_end) {
        const uint64_t seconds = uint64_t(':') << 40 | uint64_t('0') << 48 | uint64_t('0') << 56;
        chunk.clock[at] = (chunk.clock[at] & ((uint64_t(1) << 40) - 1)) | seconds;
        return clock_end;
    }
    if (size < clock_end) return odd_size;
    const uint32_t digits = size - clock_end - 1;
    if (digits - 1 > 8 || field[clock_end] != '.') return odd_size;
    if (!chunk.any_fraction) {
        chunk.any_fraction = true;
        __builtin_memset(chunk.fraction, 0, sizeof chunk.fraction);
        __builtin_memset(chunk.ninth, 0, sizeof chunk.ninth);
    }
    // Eight bytes before the end of the digits lie inside the field: the clock stands before them.
    const uint32_t in_word = digits < 8 ? digits : 8;
    const uint64_t word = load_word(field + clock_end + 1 + in_word - 8) ^ 0x3030303030303030;
    const uint8_t ninth = digits == 9 ? uint8_t(field[size - 1] - '0') : 0;
    chunk.fraction[at] = word >> (64 - 8 * in_word);
    chunk.ninth[at] = ninth;
    return ninth > 9 ? odd_size : clock_end;
}

// A function of its own, so that the loop's few values stay in registers.
template <bool with_clock, bool drop_carriage_return>
__attribute__((noinline)) static void cut_times(const FieldRun& run, TimeChunk& chunk, uint32_t at) {
    const uint8_t* const base = run.base;
    const uint32_t* ends = run.ends;
    const ptrdiff_t to_begin = run.begins - run.ends, stride = ptrdiff_t(run.stride);
    const uint32_t skip = run.skip, past = at + run.rows;
    for (; at < past; at++, ends += stride) {
        const uint32_t begin = ends[to_begin] + skip;
        const uint8_t* field = base + begin;
        uint32_t size = *ends - begin;
        if (drop_carriage_return && size != 0) size -= field[size - 1] == '\r';
        size = size < odd_size ? size : odd_size;
        uint8_t copy[clock_end] = {};
        if (__builtin_expect(size < clock_end && size_t(run.readable_end - field) < clock_end, false)) {
            for (uint32_t k = 0; k < size; k++) copy[k] = field[k];
            field = copy;
        }
        chunk.year[at] = load_word(field);
        chunk.date[at] = load_word(field + 3);
        if (with_clock) {
            chunk.clock[at] = load_word(field + 11);
            if (size > clock_end || (size >= minutes_end && size < clock_end)) size = cut_rest(field, size, chunk, at);
        }
        chunk.sizes[at] = uint8_t(size);
    }
}

template <bool with_clock>
FORMATTER_INLINE bool next_times(RunWalk& walk, TimeChunk& chunk) {
    FieldRun run;
    chunk.rows = 0;
    chunk.any_fraction = chunk.any_offset = false;
    while (chunk.rows < chunk_rows && walk.next(chunk_rows - chunk.rows, run)) {
        if (run.drop_carriage_return)
            cut_times<with_clock, true>(run, chunk, chunk.rows);
        else
            cut_times<with_clock, false>(run, chunk, chunk.rows);
        chunk.rows += run.rows;
    }
    for (uint32_t i = chunk.rows; i % 64 != 0; i++) {
        chunk.year[i] = chunk.date[i] = chunk.clock[i] = chunk.zone[i] = 0;
        chunk.sizes[i] = 0;
    }
    return chunk.rows != 0;
}

// ------------------------------------------------------------------------------------------ calendar

constexpr uint64_t four_words(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    return a | b << 16 | c << 32 | d << 48;
}
constexpr uint64_t low_half = 0xFFFFFFFF;
constexpr uint64_t days_before_1970 = 719468;  // since 1 March of year 0

struct CalendarDays {
    lanes::Words days;   // since 1 March of year 0
    lanes::Words wrong;  // not zero if this is no date
};

// Years are counted from March, so that the leap day is the last of its year: 1 March 2024 opens year 2024, month 3;
// 29 February 2024 is in year 2023, month 14. Month m of such a year begins on its day (979 m - 2919) / 32.
FORMATTER_INLINE CalendarDays calendar_days(lanes::Words year_text, lanes::Words date_text) {
    using lanes::splat;
    using lanes::Words;
    const Words year_digits = (year_text ^ splat(text_word('0', '0', '0', '0', 0, 0, 0, 0))) & splat(low_half);
    const Words date_digits =
        (date_text ^ splat(text_word('0', '-', '0', '0', '-', '0', '0', 0))) & splat(~uint64_t(0) >> 8);
    const Words not_digits = lanes::over(year_digits, splat(text_word(9, 9, 9, 9, 0, 0, 0, 0))) |
                             lanes::over(date_digits, splat(text_word(9, 0, 9, 9, 0, 9, 9, 0)));

    const Words year = lanes::weigh_words(lanes::weigh_bytes(year_digits, splat(text_word(10, 1, 10, 1, 0, 0, 0, 0))),
                                          splat(four_words(100, 1, 0, 0)));
    const Words month_and_day = lanes::weigh_words(
        lanes::weigh_bytes(date_digits, splat(text_word(0, 0, 10, 1, 0, 10, 1, 0))), splat(four_words(0, 1, 1, 1)));
    const Words month = month_and_day & splat(low_half), day = month_and_day >> 32;

    const Words early = (month - splat(3)) >> 63;  // January and February belong to the year before
    const Words march_year = year - early, march_month = month + (early << 2) + (early << 3);
    const Words century = lanes::multiply_low_halves(march_year, splat(5243)) >> 19;  // / 100, below 43700
    const Words days = (lanes::multiply_low_halves(march_year, splat(1461)) >> 2) - century + (century >> 2) +
                       ((lanes::multiply_low_halves(march_month, splat(979)) - splat(2919)) >> 5) + day - splat(1);

    // 31 days if the month's lowest bit is set, the other way round from August on; February has 28, in leap years 29.
    const Words own_century = lanes::multiply_low_halves(year, splat(5243)) >> 19;
    const lanes::Which turn_of_century = lanes::is_zero(year - lanes::multiply_low_halves(own_century, splat(100)));
    const Words leap_rest = year & (splat(3) | lanes::keep_if(turn_of_century, splat(15)));
    const Words february = splat(2) - lanes::keep_if(lanes::is_zero(leap_rest), splat(1));
    const Words month_days =
        splat(30) + ((month ^ month >> 3) & splat(1)) - lanes::keep_if(lanes::is_zero(month ^ splat(2)), february);
    const Words below_zero =
        (year - splat(1)) | (month - splat(1)) | (splat(12) - month) | (day - splat(1)) | (month_days - day);
    return {days, not_digits | below_zero >> 63};
}

// ------------------------------------------------------------------------------------------ timestamps

struct UnitScale {
    uint64_t per_second;
    uint64_t nanos;             // in one unit
    uint64_t reciprocal;        // nanos of a second / `nanos` is their product with this, shifted: exact below 2^32
    uint32_t shift;
    uint64_t first_second;      // before 1970
    uint64_t seconds;           // whose values all fit
};

constexpr uint64_t any_second = uint64_t(1) << 40;  // more than years 1 to 9999 have
constexpr UnitScale unit_scales[] = {
    {1, 1000000000, 0, 0, any_second, 2 * any_second},
    {1000, 1000000, 0x431BDE83, 50, any_second, 2 * any_second},
    {1000000, 1000, 0x10624DD3, 38, any_second, 2 * any_second},
    {1000000000, 1, 1, 0, 9223372036, 2 * uint64_t(9223372036)},
};

// 64 rows into `out`; a bit for each that was decided.
template <bool with_fraction, bool with_offset>
FORMATTER_INLINE uint64_t timestamps(const TimeChunk& chunk, uint32_t row, const UnitScale& unit, uint64_t* out) {
    using lanes::splat;
    using lanes::Words;
    uint64_t good = 0;
    for (uint32_t i = 0; i < 64; i += lanes::width) {
        const Words sizes = lanes::load_bytes_as_words(chunk.sizes + row + i);
        const lanes::Which has_clock = lanes::is_zero(sizes ^ splat(clock_end));
        const lanes::Which date_alone = lanes::is_zero(sizes ^ splat(date_size));
        const Words date_text = lanes::load(chunk.date + row + i);
        const CalendarDays date = calendar_days(lanes::load(chunk.year + row + i), date_text);

        const Words clock_text = lanes::load(chunk.clock + row + i);
        const Words clock =
            lanes::keep_if(has_clock, clock_text ^ splat(text_word('0', '0', ':', '0', '0', ':', '0', '0')));
        const Words parts = lanes::weigh_bytes(clock, splat(text_word(10, 1, 0, 10, 1, 0, 10, 1)));
        const Words sums = lanes::weigh_words(parts, splat(four_words(3600, 60, 60, 1)));
        const Words of_day = (sums & splat(low_half)) + (sums >> 32);
        Words wrong = date.wrong | lanes::over(clock, splat(text_word(9, 9, 0, 9, 9, 0, 9, 9))) |
                      lanes::over_words(parts, splat(four_words(23, 50, 9, 59)));

        const Words between = date_text >> 56;
        const lanes::Which separated =
            lanes::either(lanes::is_zero(between ^ splat('T')), lanes::is_zero(between ^ splat(' ')));
        const lanes::Which shaped = lanes::either(date_alone, lanes::both(has_clock, separated));

        Words seconds = lanes::multiply_low_halves(date.days, splat(86400)) + of_day - splat(days_before_1970 * 86400);
        if (with_offset) {
            const Words zone_text = lanes::load(chunk.zone + row + i);
            const Words zone = (zone_text ^ splat(no_offset)) & splat(~uint64_t(0) << 24);
            const Words zone_parts = lanes::weigh_bytes(zone, splat(text_word(0, 0, 0, 10, 1, 0, 10, 1)));
            const Words zone_sums = lanes::weigh_words(zone_parts, splat(four_words(0, 3600, 3600, 60)));
            const Words offset = (zone_sums & splat(low_half)) + (zone_sums >> 32);
            const lanes::Which behind = lanes::is_zero((zone_text & splat(0xFF0000)) ^ splat(uint64_t('-') << 16));
            wrong = wrong | lanes::over(zone, splat(text_word(0, 0, 0, 9, 9, 0, 9, 9))) |
                    lanes::over_words(zone_parts, splat(four_words(0, 90, 9, 59))) |
                    (splat(23 * 3600 + 3599) - offset) >> 63;
            seconds = seconds - lanes::negate_if(behind, offset);
        }
        const Words per_second = splat(unit.per_second);
        Words value = lanes::multiply_low_halves(seconds, per_second) +
                      (lanes::multiply_low_halves(seconds >> 32, per_second) << 32);
        const Words since_first = seconds + splat(unit.first_second);
        wrong |= (since_first | (splat(unit.seconds - 1) - since_first)) >> 63;
        if (with_fraction) {
            const Words digits = lanes::load(chunk.fraction + row + i);
            const Words nanos = lanes::multiply_low_halves(lanes::eight_digits(digits), splat(10)) +
                                lanes::load_bytes_as_words(chunk.ninth + row + i);
            const Words units = lanes::multiply_low_halves(nanos, splat(unit.reciprocal)) >> unit.shift;
            wrong |= lanes::over(digits, splat(text_word(9, 9, 9, 9, 9, 9, 9, 9))) |
                     (nanos ^ lanes::multiply_low_halves(units, splat(unit.nanos)));
            value += units;
        }
        const lanes::Which fits = lanes::both(lanes::is_zero(wrong), shaped);
        lanes::store(out + i, lanes::keep_if(fits, value));
        good |= lanes::bits(fits) << i;
    }
    return good;
}

// ------------------------------------------------------------------------------------------ dates

// 64 rows into `out`; a bit for each that was decided.
FORMATTER_INLINE uint64_t dates(const TimeChunk& chunk, uint32_t row, uint32_t* out) {
    uint64_t good = 0;
    for (uint32_t i = 0; i < 64; i += lanes::width) {
        const lanes::Words sizes = lanes::load_bytes_as_words(chunk.sizes + row + i);
        const CalendarDays date = calendar_days(lanes::load(chunk.year + row + i), lanes::load(chunk.date + row + i));
        const lanes::Words wrong = date.wrong | (sizes ^ lanes::splat(date_size));
        const lanes::Which fits = lanes::is_zero(wrong);
        lanes::store_low_halves(out + i, lanes::keep_if(fits, date.days - lanes::splat(days_before_1970)));
        good |= lanes::bits(fits) << i;
    }
    return good;
}

// ------------------------------------------------------------------------------------------ columns

// `convert(chunk, row, values)` is one of the above.
template <bool with_clock, typename Value, class Convert>
FORMATTER_INLINE void decode_times(const FieldView& view, Value* out, ValueMarks& marks, const Convert& convert) {
    RunWalk walk(view);
    TimeChunk chunk;
    marks.empty_count = marks.odd_count = 0;
    for (size_t done = 0; next_times<with_clock>(walk, chunk); done += chunk.rows) {
        for (uint32_t row = 0; row < chunk.rows; row += 64) {
            const uint32_t left = chunk.rows - row;
            alignas(64) Value values[64];
            const uint64_t good = convert(chunk, row, values);
            __builtin_memcpy(out + done + row, values, (left < 64 ? left : 64) * sizeof(Value));
            const uint64_t present = first_rows(left), empty = lanes::zero_bytes64(chunk.sizes + row) & present;
            write_marks(marks, (done + row) / 64, empty, present & ~(good | empty));
        }
    }
}

static void decode_timestamp(const FieldView& view, TimeUnit time_unit, int64_t* out, ValueMarks& marks) {
    const UnitScale& unit = unit_scales[size_t(time_unit)];
    const auto convert = [&unit](const TimeChunk& chunk, uint32_t row, uint64_t* values) {
        if (chunk.any_offset)
            return chunk.any_fraction ? timestamps<true, true>(chunk, row, unit, values)
                                      : timestamps<false, true>(chunk, row, unit, values);
        return chunk.any_fraction ? timestamps<true, false>(chunk, row, unit, values)
                                  : timestamps<false, false>(chunk, row, unit, values);
    };
    decode_times<true>(view, reinterpret_cast<uint64_t*>(out), marks, convert);
}

static void decode_date32(const FieldView& view, int32_t* out, ValueMarks& marks) {
    decode_times<false>(view, reinterpret_cast<uint32_t*>(out), marks, dates);
}

}  // namespace FORMATTER_ISA
}  // namespace formatter
