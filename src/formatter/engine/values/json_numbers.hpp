// Numbers by JSON's grammar, exactly. In: a number's text. Out: where it ends, or its value as a whole number of a power of
// ten. Refuses to know types.
#pragma once

#include "engine/columns/column_type.hpp"

namespace formatter {

// Behind the longest number at `at`, or null if none is well formed there:
// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
const uint8_t* json_number_end(const uint8_t* at, const uint8_t* end);
inline bool is_json_number(Bytes text) {
    const uint8_t* const end = text.data + text.size;
    return text.size > 0 && json_number_end(text.data, end) == end;
}

// A number times 10^scale as a whole one: precision if it is none, overflow beyond 38 digits.
ErrorCode parse_scaled(Bytes number, int64_t scale, __int128* out);

}  // namespace formatter
