// Text in other encodings to UTF-8 and positions back. In: bytes in an encoding. Out: UTF-8, one character for one.
// Knows no records; what is no text in its encoding comes out as bytes that are no UTF-8, for whoever reads the value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace formatter {

enum class TextEncoding : uint8_t { utf8, latin1, utf16_le, utf16_be, windows1252 };

// A byte a character, those of ASCII as there.
inline bool is_one_byte(TextEncoding encoding) {
    return encoding == TextEncoding::latin1 || encoding == TextEncoding::windows1252;
}

struct Transcoded {
    size_t text_size = 0;
    size_t source_used = 0;  // less than all only if the bytes end within a character
};

// Room that the text of `size` bytes can take.
constexpr size_t most_utf8(size_t size) { return 3 * size + 4; }

// With `final` a cut character at the end comes out too: a surrogate without its partner as the three bytes it would
// have, an odd byte as 0xFF.
Transcoded to_utf8(TextEncoding, const uint8_t* data, size_t size, bool final, uint8_t* out);

// How many bytes of the source that text came from.
uint64_t source_size(TextEncoding, const uint8_t* text, size_t size);

// A separator as it stands in the source. It holds only characters that the encoding has.
std::string from_utf8(TextEncoding, const std::string& text);

// What a value is read as that is no UTF-8.
enum class TextErrors : uint8_t {
    strict,  // an error
    replace,  // a U+FFFD for each longest part that begins a character and is none
    latin1,  // a character a byte
};
std::string repaired_utf8(TextErrors, const uint8_t* data, size_t size);

}  // namespace formatter
