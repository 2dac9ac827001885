// What one field looks like, at a glance. In: its content. Out: the kind of value it could be, by the rules that the
// columns' own parsers follow. Knows no column: which type holds all kinds of a column is decided above.
#pragma once

#include <cstdint>
#include <string>

#include "engine/values/exact_values.hpp"

namespace formatter {

// The names stand in VALUE_KINDS of inference/kinds.py in this order.
enum class ValueKind : uint8_t {
    empty,
    null_marker,     // a word that stands for no value: NA, NULL, -
    nan,
    boolean,         // true or false, in one of three spellings
    integer,         // of 64 bits
    natural,         // beyond int64, within uint64
    wide_integer,    // of at most 38 digits
    long_digits,     // of more
    zero_led,        // 00501
    plus_led,        // +318855443322
    real,            // decimal point or exponent
    long_real,       // with more digits than a float64 keeps
    comma_real,      // 1,5
    comma_group,     // 123,000: thousands, or three decimals
    grouped,         // 1,234,567 or 1,234.5
    point_grouped,   // 1.234,5 or 1.234.567
    date,            // ISO 8601
    timestamp,       // ISO 8601
    zoned,           // a timestamp with an offset
    time,            // 13:45, 13:45:10.5
    dated,           // a date as people write it, by a pattern
    text,
};
constexpr unsigned VALUE_KINDS = 22;

struct ValueLook {
    ValueKind kind = ValueKind::empty;
    uint8_t grade = 0;      // 0 to 4: how much it looks like one whole field
    uint8_t fineness = 0;   // digits of a fraction of seconds
    uint8_t spelling = 0;   // of a boolean: 1 lower case, 2 title, 4 upper; of a null marker: its place in the list
};

constexpr uint8_t BEST_GRADE = 4;

// `quoted`: it stood in quotes, so that separators in it are its own.
ValueLook look_at(Bytes content, bool quoted);

// The words that `null_marker` and `nan` stand for.
const char* const* null_markers(unsigned* count);

}  // namespace formatter
