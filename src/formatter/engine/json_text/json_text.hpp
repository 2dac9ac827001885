// JSON as text: where tokens and values end, what the grammar says of them, what a string means. In: bytes of one record.
// Out: positions, verdicts, unescaped text. Knows no schema and no types.
//
// White space is what the grammar says. A record that is a line has no '\n' before its end; a loop that only that end stops
// asks for what is space within a line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/columns/column_type.hpp"

namespace formatter {

constexpr uint32_t json_depth_limit = 1024;  // brackets open at once, as in the parsers users compare with

inline bool is_line_space(uint8_t c) { return c == ' ' || c == '\t' || c == '\r'; }
inline bool is_json_space(uint8_t c) { return is_line_space(c) || c == '\n'; }
inline const uint8_t* skip_json_space(const uint8_t* at, const uint8_t* end) {
    while (at < end && is_json_space(*at)) at++;
    return at;
}

// `at` stands behind an opening quote. Returns where the closing quote stands, or `end`.
const uint8_t* find_string_end(const uint8_t* at, const uint8_t* end);

// Where skipping came to, or what is wrong at `at`.
struct Skipped {
    const uint8_t* at;
    ErrorCode code;
};
// `at` stands where a value begins. Stops at the ',', '}' or ']' that ends it, or at `end`. Strings must close and
// brackets must match; nothing else is looked at.
Skipped skip_value(const uint8_t* at, const uint8_t* end);
// The whole grammar of the value that begins at `at`; stops right behind it. Escapes are checked, their meaning is not.
Skipped check_value(const uint8_t* at, const uint8_t* end);
// `at` stands behind the opening quote; stops at the closing one. Control characters and unknown escapes are malformed.
// `escapes`: whether there is something to unescape.
Skipped check_string(const uint8_t* at, const uint8_t* end, bool* escapes);
inline Skipped check_string(const uint8_t* at, const uint8_t* end) {
    bool escapes;
    return check_string(at, end, &escapes);
}
// `at` stands at the opening bracket of an array or object that `closing` ends; stops right behind it. `read(at)` reads what
// stands between commas, from its first byte on, and stops behind it.
template <typename Read>
Skipped each_part(const uint8_t* at, const uint8_t* end, uint8_t closing, Read read) {
    at = skip_json_space(at + 1, end);
    if (at < end && *at == closing) return {at + 1, ErrorCode::none};
    for (;;) {
        const Skipped part = read(skip_json_space(at, end));
        if (part.code != ErrorCode::none) return part;
        at = skip_json_space(part.at, end);
        if (at == end || (*at != ',' && *at != closing)) return {at, ErrorCode::malformed};
        if (*at++ == closing) return {at, ErrorCode::none};
    }
}
// No JSON number begins with a zero that another digit follows; the kernels' loops over digits do not mind one. What stands there
// may be no number but the last byte that can be read.
inline bool has_leading_zero(const uint8_t* number) {
    const uint8_t* const digit = number + (*number == '-');
    return digit[0] == '0' && is_digit(digit[1]);
}

int hex_digit(uint8_t c);  // its value, or -1
uint8_t* write_utf8(uint32_t code_point, uint8_t* to);  // up to four bytes; behind them

// What stands between the quotes of a string, unescaped into `out`. A surrogate without its partner is bad_utf8: it has
// no UTF-8; as a `Surrogate::replacement` it is U+FFFD. Bytes that are not escapes are copied as they are.
enum class Surrogate : bool { error, replacement };
ErrorCode unescape(Bytes content, std::string* out, Surrogate alone = Surrogate::error);
// The same to memory that holds sixteen bytes more than the content; unescaped text is never longer.
ErrorCode unescape(Bytes content, uint8_t* to, size_t* written, Surrogate alone = Surrogate::error);
// True if the content needs no unescaping and holds nothing a string must not hold.
bool is_plain_string(Bytes content);

}  // namespace formatter
