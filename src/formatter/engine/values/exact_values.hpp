// One field at a time, exactly: the fallback behind the fast loops and the reference for what a value may look like.
// In: the content of a field (quotes and padding already removed). Out: a value or an error code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/columns/columns.hpp"
#include "engine/columns/error_codes.hpp"

namespace formatter {

struct Bytes {
    const uint8_t* data;
    size_t size;
    bool equals(const std::string& text) const;
};

// [+-]?digits within the column's integer type. Unsigned results come back as their two's complement.
ErrorCode parse_integer(Bytes, ColumnType, int64_t* out);
// Decimal or exponent notation, inf, nan; correctly rounded for the type. float16 and float32 results are exact in a double.
ErrorCode parse_float(Bytes, ColumnType, uint8_t decimal_point, double* out);
ErrorCode parse_decimal(Bytes, uint8_t precision, int scale, uint8_t decimal_point, __int128* out);
ErrorCode parse_date(Bytes, int32_t* out);
// ISO 8601; a zone offset is applied, no zone means UTC.
ErrorCode parse_timestamp(Bytes, TimeUnit, int64_t* out);
// HH:MM[:SS[.f+]], from midnight.
ErrorCode parse_time_of_day(Bytes, TimeUnit, int64_t* out);
// A number of days, seconds... (ColumnSpec::epoch) since 1970 as a timestamp in the column's unit, or a date.
ErrorCode parse_epoch(Bytes, const ColumnSpec&, uint8_t decimal_point, int64_t* out);
// By a strptime-like format: %Y %m %d %H %M %S %f %y %b %B %p %I %z %j %% and literal text.
ErrorCode parse_timestamp_as(Bytes, const std::string& format, TimeUnit, int64_t* out);
ErrorCode decode_base64(Bytes, std::string* out);
ErrorCode decode_hex(Bytes, std::string* out);

}  // namespace formatter
