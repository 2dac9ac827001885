// Dates, timestamps and times of day. In: fields, one value's text or number, binary rows. Out: values in the column's unit,
// since 1970 or since midnight. Refuses to know formats: which spellings there are beside ISO 8601 is theirs to tell.
#include <algorithm>
#include <cstring>

#include "engine/types/column_types.hpp"
#include "engine/types/fixed_width.hpp"
#include "engine/types/narrowing.hpp"
#include "engine/values/exact_values.hpp"
#include "engine/values/json_numbers.hpp"
#include "engine/values/plain_spelling.hpp"

namespace formatter {
namespace {

constexpr int64_t seconds_of_day = 86400;
constexpr size_t basic_date_size = 8;  // 20240229

// ------------------------------------------------------------------------------------------ numbers since 1970

bool is_date(const ColumnSpec& spec) { return spec.type == &date32_type; }

// How many decimals a number in the column's epoch unit has less than one in the column's own; of dates, which are counted
// in seconds first, unless they are counted in days.
int epoch_scale(const ColumnSpec& spec) {
    if (spec.epoch == EpochUnit::day) return 0;
    const int decimals = is_date(spec) ? 0 : 3 * int(spec.unit);
    return decimals - 3 * (int(spec.epoch) - int(EpochUnit::second));
}

template <typename T>
ErrorCode store_epoch(ErrorCode code, __int128 value, const ColumnSpec& spec, void* out) {
    if (code != ErrorCode::none) return code;
    if (is_date(spec) && spec.epoch != EpochUnit::day) {
        if (value % seconds_of_day) return ErrorCode::precision;
        value /= seconds_of_day;
    }
    const bool fits = value <= std::numeric_limits<T>::max() && value >= std::numeric_limits<T>::min();
    return stored(fits ? code : ErrorCode::overflow, T(value), out);
}

template <typename T>
ErrorCode parse_number(Bytes number, const ColumnSpec& spec, void* out) {
    if (spec.epoch == EpochUnit::none) return ErrorCode::wrong_type;
    __int128 value = 0;
    const ErrorCode code = parse_scaled(number, epoch_scale(spec), &value);
    return store_epoch<T>(code, value, spec, out);
}

// Where text may be such a number: invalid if it is none.
template <typename T>
ErrorCode parse_epoch(Bytes text, const ColumnSpec& spec, const Spelling& spelling, void* out) {
    if (spec.epoch == EpochUnit::none || spelling.typed) return ErrorCode::invalid;
    __int128 value = 0;
    const ErrorCode code = parse_decimal(text, 38, epoch_scale(spec), spelling.decimal_point, &value);
    return store_epoch<T>(code, value, spec, out);
}

// Numbers of a unit that is no finer than the column's.
bool decode_epoch(const FieldLoop& c) {
    static const int64_t factors[] = {1, 1000, 1000000, 1000000000};
    const int scale = epoch_scale(c.spec);
    if (scale < 0) return false;
    c.kernel->decode_int64(c.fields, c.wide, *c.marks);
    int64_t* const out = c.out<int64_t>();
    for (uint32_t row = 0; row < c.fields.rows; row++)
        mark_odd(c.marks, row, __builtin_mul_overflow(c.wide[row], factors[scale / 3], &out[row]));
    return true;
}

// `look(row, text)` at every row's field.
template <typename Look>
void each_field(const FieldView& v, Look look) {
    each_row(v, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        const uint32_t begin = stops[v.begin_stop] + v.begin_skip;
        Bytes text{segment.base + begin, uint32_t(stops[v.end_stop] - begin)};
        if (v.drop_carriage_return && text.size) text.size -= text.data[text.size - 1] == '\r';
        look(row, text);
    });
}

// The rows that a loop left and that `read(row, text)` reads.
template <typename Read>
void decode_odd(const FieldLoop& c, Read read) {
    if (!c.marks->odd_count) return;
    each_field(c.fields, [&](uint32_t row, Bytes text) {
        if (!has_bit(c.marks->odd, row) || !read(row, text)) return;
        clear_bit(c.marks->odd, row);
        c.marks->odd_count--;
    });
}

// Of the rows that the kernel left, those written by the first of the format's own patterns, where nothing so written is ISO
// 8601. `store(row, seconds)` says whether the column can hold it.
template <typename Store>
void decode_pattern(const FieldLoop& c, Store store) {
    if (c.spelling.timestamp_formats.empty() || c.spelling.typed) return;
    const std::string& pattern = c.spelling.timestamp_formats[0];
    if (is_like_iso(pattern)) return;
    FixedTimes times(pattern);
    decode_odd(c, [&](uint32_t row, Bytes text) {
        int64_t seconds = 0;
        const bool is_read = times.read(text, &seconds) ||
                             parse_timestamp_as(text, pattern, TimeUnit::second, &seconds) == ErrorCode::none;
        return is_read && store(row, seconds);
    });
}

// Of a column of one spelling, the rows that the kernel read and that are written in another.
template <typename T>
void leave_other_spellings(const FieldLoop& c, T* out) {
    if (!c.spec.plain) return;
    each_field(c.fields, [&](uint32_t row, Bytes text) {
        if (text.size == 0 || is_plain_time(text, c.spec.zoned)) return;
        out[row] = 0;
        mark_odd(c.marks, row, true);
    });
}

// ------------------------------------------------------------------------------------------ dates

bool decode_date(const FieldLoop& c) {
    if (c.spec.epoch != EpochUnit::none) return false;
    int32_t* const out = c.out<int32_t>();
    c.kernel->decode_date32(c.fields, out, *c.marks);
    if (!c.spec.plain)
        decode_odd(c, [out](uint32_t row, Bytes text) {
            return text.size == basic_date_size && parse_date(text, &out[row]) == ErrorCode::none;
        });
    decode_pattern(c, [out](uint32_t row, int64_t seconds) {
        if (seconds % seconds_of_day) return false;
        out[row] = int32_t(seconds / seconds_of_day);
        return true;
    });
    return true;
}

ErrorCode parse_date_text(Bytes text, const ColumnSpec& spec, const Spelling& spelling, void* out) {
    if (spec.plain && text.size != plain_date_size) return ErrorCode::invalid;
    ErrorCode code = parse_epoch<int32_t>(text, spec, spelling, out);
    if (code == ErrorCode::invalid) {
        int32_t days = 0;
        code = parse_date(text, &days);
        stored(code, days, out);
    }
    for (size_t k = 0; k < spelling.timestamp_formats.size() && code != ErrorCode::none; k++) {
        int64_t seconds = 0;
        code = parse_timestamp_as(text, spelling.timestamp_formats[k], TimeUnit::second, &seconds);
        if (code == ErrorCode::none && seconds % seconds_of_day) code = ErrorCode::precision;
        stored(code, int32_t(seconds / seconds_of_day), out);
    }
    return code;
}

// ------------------------------------------------------------------------------------------ timestamps, times of day

// HH:MM:SS with no more decimals than the unit has. False where the exact way is to decide.
bool read_usual_clock(Bytes text, TimeUnit unit, int64_t* out) {
    constexpr size_t clock_size = 8;
    static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000};
    const int decimals = 3 * int(unit);
    if (text.size < clock_size) return false;
    uint64_t word;
    std::memcpy(&word, text.data, clock_size);
    word ^= 0x30303A30303A3030;  // now digits are what they mean, and colons zero
    if (((word + 0x76767F76767F7676) | word) & 0x8080808080808080) return false;
    const auto two_digits = [word](int at) { return int(word >> 8 * at & 15) * 10 + int(word >> (8 * at + 8) & 15); };
    const int hour = two_digits(0), minute = two_digits(3), second = two_digits(6);
    if (hour > 23 || minute > 59 || second > 59) return false;
    int64_t value = hour * 3600 + minute * 60 + second;
    int missing = decimals;
    if (text.size > clock_size) {
        missing -= int(std::min<size_t>(text.size - clock_size - 1, decimals + 1));
        if (text.data[clock_size] != '.' || missing < 0 || missing == decimals) return false;
        for (size_t i = clock_size + 1; i < text.size; i++) {
            const uint8_t digit = uint8_t(text.data[i] - '0');
            if (digit > 9) return false;
            value = value * 10 + digit;
        }
    }
    *out = value * powers[missing];
    return true;
}

// No loop of the kernels reads these, so this one does.
bool decode_time_of_day(const FieldLoop& c) {
    int64_t* const out = c.out<int64_t>();
    const size_t words = (c.fields.rows + 63) / 64;
    std::fill_n(c.marks->empty, words, 0);
    std::fill_n(c.marks->odd, words, 0);
    c.marks->empty_count = c.marks->odd_count = 0;
    each_field(c.fields, [&](uint32_t row, Bytes text) {
        out[row] = 0;
        if (text.size == 0) {
            set_bit(c.marks->empty, row);
            c.marks->empty_count++;
        } else {
            mark_odd(c.marks, row,
                     !read_usual_clock(text, c.spec.unit, &out[row]) &&
                         parse_time_of_day(text, c.spec.unit, &out[row]) != ErrorCode::none);
        }
    });
    return true;
}

bool decode_timestamp(const FieldLoop& c) {
    if (c.spec.epoch != EpochUnit::none) return !c.spec.time_of_day && decode_epoch(c);
    if (c.spec.time_of_day) return decode_time_of_day(c);
    static const int64_t factors[] = {1, 1000, 1000000, 1000000000};
    int64_t* const out = c.out<int64_t>();
    c.kernel->decode_timestamp(c.fields, c.spec.unit, out, *c.marks);
    leave_other_spellings(c, out);
    decode_pattern(c, [out, factor = factors[int(c.spec.unit)]](uint32_t row, int64_t seconds) {
        int64_t value;
        if (__builtin_mul_overflow(seconds, factor, &value)) return false;
        out[row] = value;
        return true;
    });
    return true;
}

ErrorCode parse_timestamp_text(Bytes text, const ColumnSpec& spec, const Spelling& spelling, void* out) {
    if (spec.plain && !spec.time_of_day && !is_plain_time(text, spec.zoned)) return ErrorCode::invalid;
    ErrorCode code = parse_epoch<int64_t>(text, spec, spelling, out);
    if (code != ErrorCode::invalid) return code;
    int64_t value = 0;
    code = spec.time_of_day ? parse_time_of_day(text, spec.unit, &value) : parse_timestamp(text, spec.unit, &value);
    for (size_t k = 0; k < spelling.timestamp_formats.size() && code == ErrorCode::invalid; k++)
        code = parse_timestamp_as(text, spelling.timestamp_formats[k], spec.unit, &value);
    return stored(code, value, out);
}

// ------------------------------------------------------------------------------------------ the entries

template <typename T>
constexpr ColumnType time_type(const char* name) {
    ColumnType type;
    type.name = name;
    type.width = sizeof(T);
    type.operands = Operands::integers;
    type.json = JsonWriting::string;
    type.parse_number = parse_number<T>;
    type.test = test_fixed<T, int64_t, &Predicate::integers>;
    type.gather = gather_fixed<T>;
    return type;
}

constexpr ColumnType date() {
    ColumnType type = time_type<int32_t>("date32");
    type.decode = decode_date;
    type.parse_text = parse_date_text;
    return type;
}

constexpr ColumnType timestamp() {
    ColumnType type = time_type<int64_t>("timestamp");
    type.cost = 2;
    type.decode = decode_timestamp;
    type.parse_text = parse_timestamp_text;
    return type;
}

}  // namespace

constexpr ColumnType date32_type = date();
constexpr ColumnType timestamp_type = timestamp();

}  // namespace formatter
