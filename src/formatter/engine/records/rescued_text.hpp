// JSON as it is written around what is rescued of a record. In: bytes of valid UTF-8. Out: the same as JSON, appended to a
// text. Refuses to know records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace formatter {

// A string of these bytes, in quotes.
void append_json_string(const uint8_t* text, size_t size, std::string* out);

// A value that is JSON, without the white space between its parts: everything else as it was written.
void append_json_value(const uint8_t* value, size_t size, std::string* out);

}  // namespace formatter
