#include "engine/documents/json_key_match.hpp"

#include <cstring>

#include "engine/json_text/json_text.hpp"

namespace formatter {
namespace {

// What a byte means behind a backslash; 0 if nothing.
uint8_t meaning_of_escape(uint8_t c) {
    switch (c) {
        case '"':
        case '\\':
        case '/': return c;
        case 'b': return '\b';
        case 'f': return '\f';
        case 'n': return '\n';
        case 'r': return '\r';
        case 't': return '\t';
        default: return 0;
    }
}

bool is_high(uint16_t unit) { return unit >> 10 == 0xD800 >> 10; }
bool is_low(uint16_t unit) { return unit >> 10 == 0xDC00 >> 10; }

}  // namespace

void KeyMatch::take_text(const uint8_t* text, size_t size, const std::string& wanted) {
    alike = alike && !high && wanted.size() - met >= size && std::memcmp(wanted.data() + met, text, size) == 0;
    if (alike) met = uint16_t(met + size);
}

void KeyMatch::take_unit(const std::string& wanted) {
    if (is_high(unit)) {
        alike = alike && !high;
        high = unit;
        return;
    }
    uint32_t code_point = unit;
    if (is_low(unit)) {
        alike = alike && high;
        code_point = 0x10000 + ((uint32_t(high) & 0x3FF) << 10) + (uint32_t(unit) & 0x3FF);
        high = 0;
    }
    uint8_t text[4];
    take_text(text, size_t(write_utf8(code_point, text) - text), wanted);
}

void KeyMatch::take(uint8_t c, bool escaped, const std::string& wanted) {
    if (!alike) return;
    if (escaped) {
        const uint8_t meant = meaning_of_escape(c);
        if (c == 'u') {
            digits_left = 4;
            unit = 0;
        } else {
            alike = meant != 0;
            take_text(&meant, 1, wanted);
        }
    } else if (c == '\\') {
        alike = digits_left == 0;
    } else if (digits_left) {
        const int digit = hex_digit(c);
        alike = digit >= 0;
        unit = uint16_t(unit << 4 | (digit & 15));
        if (--digits_left == 0) take_unit(wanted);
    } else {
        take_text(&c, 1, wanted);
    }
}

uint64_t KeyMatch::packed() const {
    return met | uint64_t(alike) << 12 | uint64_t(digits_left) << 13 | uint64_t(unit) << 16 |
           uint64_t(high & 0x3FF) << 32 | uint64_t(high != 0) << 42;
}

KeyMatch KeyMatch::unpacked(uint64_t bits) {
    KeyMatch match;
    match.met = uint16_t(bits & most_bytes);
    match.alike = bits >> 12 & 1;
    match.digits_left = uint8_t(bits >> 13 & 7);
    match.unit = uint16_t(bits >> 16);
    match.high = bits >> 42 & 1 ? uint16_t(0xD800 | (bits >> 32 & 0x3FF)) : 0;
    return match;
}

}  // namespace formatter
