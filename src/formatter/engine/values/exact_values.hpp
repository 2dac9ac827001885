// One field at a time, exactly: the fallback behind the fast loops and the reference for what a value may look like.
// In: the content of a field (quotes and padding already removed). Out: a value or an error code. Refuses to know
// formats and columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

#include "engine/columns/columns.hpp"

namespace formatter {

struct IntegerRange {
    uint64_t largest;  // positive
    uint64_t smallest;  // magnitude of the most negative
};
template <typename T>
constexpr IntegerRange range_of() {
    constexpr uint64_t largest = uint64_t(std::numeric_limits<T>::max());
    return {largest, std::numeric_limits<T>::is_signed ? largest + 1 : 0};
}
// [+-]?digits within the range. Beyond INT64_MAX they come back as their two's complement.
ErrorCode parse_integer(Bytes, const IntegerRange&, int64_t* out);
// Decimal or exponent notation, inf, nan; correctly rounded to floats with so many bits of mantissa. All of those are exact
// in a double.
constexpr int half_bits = 11, single_bits = 24, double_bits = 53;
ErrorCode parse_float(Bytes, int bits, uint8_t decimal_point, double* out);
ErrorCode parse_decimal(Bytes, uint8_t precision, int scale, uint8_t decimal_point, __int128* out);
ErrorCode parse_date(Bytes, int32_t* out);
// ISO 8601; a zone offset is applied, no zone means UTC.
ErrorCode parse_timestamp(Bytes, TimeUnit, int64_t* out);
// HH:MM[:SS[.f+]], from midnight.
ErrorCode parse_time_of_day(Bytes, TimeUnit, int64_t* out);
// By a strptime-like format: %Y %m %d %H %M %S %f %y %b %B %p %I %z %j %% and literal text.
ErrorCode parse_timestamp_as(Bytes, const std::string& format, TimeUnit, int64_t* out);

// Whether texts of the format may be read as ISO 8601, too, which goes before: unless they begin with a name, or with a number
// and what ISO 8601 has not behind a year.
bool is_like_iso(const std::string& format);

// The same for formats all of whose texts have one size where each number has all its digits: of %Y %m %b %d %H %M %S %z and
// literal text. One is made for a column of them.
class FixedTimes {
  public:
    explicit FixedTimes(const std::string& format);
    // Seconds since 1970. False where the exact way is to decide.
    bool read(Bytes, int64_t* seconds);

  private:
    static constexpr uint32_t most_size = 64, none = ~uint32_t(0);

    uint32_t size_ = 0;
    uint32_t year_ = none, month_ = none, name_ = none, day_ = none, hour_ = none, minute_ = none, second_ = none,
             zone_ = none;  // where they stand
    uint32_t literal_count_ = 0;
    struct Literal {
        uint8_t at, byte;
    } literals_[most_size];
    int64_t known_date_ = -1, known_days_ = 0;  // the last one: neighbours mostly share it
};

ErrorCode decode_base64(Bytes, std::string* out);
ErrorCode decode_hex(Bytes, std::string* out);

}  // namespace formatter
