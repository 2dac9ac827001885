#include "engine/json_text/json_text.hpp"

#include <cstring>

#include "engine/values/json_numbers.hpp"

namespace formatter {

int hex_digit(uint8_t c) {
    if (c >= '0' && c <= '9') return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint8_t* write_utf8(uint32_t c, uint8_t* to) {
    if (c < 0x80) {
        *to++ = uint8_t(c);
    } else if (c < 0x800) {
        *to++ = uint8_t(0xC0 | c >> 6);
        *to++ = uint8_t(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *to++ = uint8_t(0xE0 | c >> 12);
        *to++ = uint8_t(0x80 | (c >> 6 & 0x3F));
        *to++ = uint8_t(0x80 | (c & 0x3F));
    } else {
        *to++ = uint8_t(0xF0 | c >> 18);
        *to++ = uint8_t(0x80 | (c >> 12 & 0x3F));
        *to++ = uint8_t(0x80 | (c >> 6 & 0x3F));
        *to++ = uint8_t(0x80 | (c & 0x3F));
    }
    return to;
}

namespace {

constexpr uint64_t each_byte = 0x0101010101010101;

// Skips sixteen bytes at a time while none of them is a quote, a backslash, or (if asked for) a control character.
template <bool controls>
const uint8_t* skip_plain(const uint8_t* at, const uint8_t* end) {
    typedef uint8_t Lanes __attribute__((vector_size(16)));
    typedef uint64_t Pair __attribute__((vector_size(16)));
    for (; end - at >= 16; at += 16) {
        Lanes bytes;
        std::memcpy(&bytes, at, 16);
        Lanes marks = Lanes(bytes == uint8_t('"')) | Lanes(bytes == uint8_t('\\'));
        if (controls) marks |= Lanes(bytes < uint8_t(0x20));
        const Pair any = Pair(marks);
        if (any[0] | any[1]) break;
    }
    return at;
}

uint64_t load_word(const uint8_t* at) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    return word;
}

// The high bit of each byte that is `c`, exact up to and including the lowest one.
uint64_t bytes_equal(uint64_t word, uint8_t c) {
    const uint64_t x = word ^ (each_byte * c);
    return (x - each_byte) & ~x & (each_byte << 7);
}

// The high bit of each byte below 0x20, exact up to and including the lowest one.
uint64_t control_bytes(uint64_t word) { return (word - each_byte * 0x20) & ~word & (each_byte << 7); }

// The four digits of \uXXXX, or -1.
int32_t hex_quad(const uint8_t* at, const uint8_t* end) {
    if (end - at < 4) return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        const int digit = hex_digit(at[i]);
        if (digit < 0) return -1;
        value = value << 4 | digit;
    }
    return value;
}

// Which brackets are open, one bit each: 1 for '{'.
class OpenBrackets {
  public:
    uint32_t depth() const { return depth_; }
    bool push(bool object) {
        if (depth_ == json_depth_limit) return false;
        uint64_t& word = bits_[depth_ / 64];
        const uint64_t bit = uint64_t(1) << depth_ % 64;
        word = object ? word | bit : word & ~bit;
        depth_++;
        return true;
    }
    bool in_object() const { return bits_[(depth_ - 1) / 64] >> ((depth_ - 1) % 64) & 1; }
    void pop() { depth_--; }

  private:
    uint64_t bits_[json_depth_limit / 64];
    uint32_t depth_ = 0;
};

const uint8_t* literal_end(const uint8_t* at, const uint8_t* end, const char* word, size_t size) {
    return size_t(end - at) >= size && std::memcmp(at, word, size) == 0 ? at + size : nullptr;
}

// A value that opens no bracket: behind it, or what is wrong.
Skipped check_scalar(const uint8_t* at, const uint8_t* end) {
    const uint8_t* behind = nullptr;
    switch (*at) {
        case '"': {
            const Skipped text = check_string(at + 1, end);
            return text.code == ErrorCode::none ? Skipped{text.at + 1, text.code} : text;
        }
        case 't': behind = literal_end(at, end, "true", 4); break;
        case 'f': behind = literal_end(at, end, "false", 5); break;
        case 'n': behind = literal_end(at, end, "null", 4); break;
        default: behind = json_number_end(at, end);
    }
    return behind ? Skipped{behind, ErrorCode::none} : Skipped{at, ErrorCode::malformed};
}

}  // namespace

const uint8_t* find_string_end(const uint8_t* at, const uint8_t* end) {
    while (at < end) {
        at = skip_plain<false>(at, end);
        if (at == end) break;
        if (end - at >= 8) {
            const uint64_t word = load_word(at);
            const uint64_t marks = bytes_equal(word, '"') | bytes_equal(word, '\\');
            if (marks == 0) {
                at += 8;
                continue;
            }
            at += __builtin_ctzll(marks) / 8;
        }
        if (*at == '"') return at;
        at += *at == '\\' ? 2 : 1;
    }
    return end;
}

Skipped skip_value(const uint8_t* at, const uint8_t* end) {
    OpenBrackets open;
    for (; at < end; at++) {
        switch (*at) {
            case '"': {
                const uint8_t* close = find_string_end(at + 1, end);
                if (close == end) return {at, ErrorCode::unterminated_quote};
                at = close;
                break;
            }
            case '{':
            case '[':
                if (!open.push(*at == '{')) return {at, ErrorCode::too_deep};
                break;
            case '}':
            case ']':
                if (open.depth() == 0) return {at, ErrorCode::none};
                if (open.in_object() != (*at == '}')) return {at, ErrorCode::malformed};
                open.pop();
                break;
            case ',':
                if (open.depth() == 0) return {at, ErrorCode::none};
                break;
            default: break;
        }
    }
    return {end, open.depth() ? ErrorCode::malformed : ErrorCode::none};
}

Skipped check_string(const uint8_t* at, const uint8_t* end, bool* escapes) {
    *escapes = false;
    while (at < end) {
        at = skip_plain<true>(at, end);
        if (at == end) break;
        if (end - at >= 8) {
            const uint64_t word = load_word(at);
            const uint64_t marks = bytes_equal(word, '"') | bytes_equal(word, '\\') | control_bytes(word);
            if (marks == 0) {
                at += 8;
                continue;
            }
            at += __builtin_ctzll(marks) / 8;
        }
        if (*at == '"') return {at, ErrorCode::none};
        if (*at < 0x20) return {at, ErrorCode::malformed};
        if (*at != '\\') {
            at++;
            continue;
        }
        *escapes = true;
        if (end - at < 2) break;
        if (at[1] == 'u') {
            if (hex_quad(at + 2, end) < 0) return {at, ErrorCode::malformed};
            at += 6;
        } else if (at[1] != 0 && std::strchr("\"\\/bfnrt", at[1])) {
            at += 2;
        } else {
            return {at, ErrorCode::malformed};
        }
    }
    return {end, ErrorCode::unterminated_quote};
}

// A key and its colon: behind them, or what is wrong.
static Skipped check_key(const uint8_t* at, const uint8_t* end) {
    if (at == end || *at != '"') return {at, ErrorCode::malformed};
    const Skipped name = check_string(at + 1, end);
    if (name.code != ErrorCode::none) return name;
    at = skip_json_space(name.at + 1, end);
    if (at == end || *at != ':') return {at, ErrorCode::malformed};
    return {at + 1, ErrorCode::none};
}

Skipped check_value(const uint8_t* at, const uint8_t* end) {
    OpenBrackets open;
    for (;;) {
        // A value begins here.
        at = skip_json_space(at, end);
        if (at == end) return {at, ErrorCode::malformed};
        if (*at == '{' || *at == '[') {
            const bool object = *at == '{';
            if (!open.push(object)) return {at, ErrorCode::too_deep};
            at = skip_json_space(at + 1, end);
            if (at == end || *at != (object ? '}' : ']')) {
                if (!object) continue;
                const Skipped key = check_key(at, end);
                if (key.code != ErrorCode::none) return key;
                at = key.at;
                continue;
            }
            at++;
            open.pop();
        } else {
            const Skipped scalar = check_scalar(at, end);
            if (scalar.code != ErrorCode::none) return scalar;
            at = scalar.at;
        }
        // A value has ended.
        for (;;) {
            if (open.depth() == 0) return {at, ErrorCode::none};
            at = skip_json_space(at, end);
            if (at == end) return {at, ErrorCode::malformed};
            if (*at == ',') break;
            if (*at != (open.in_object() ? '}' : ']')) return {at, ErrorCode::malformed};
            open.pop();
            at++;
        }
        at++;
        if (!open.in_object()) continue;
        const Skipped key = check_key(skip_json_space(at, end), end);
        if (key.code != ErrorCode::none) return key;
        at = key.at;
    }
}

bool is_plain_string(Bytes content) {
    const uint8_t* at = content.data;
    const uint8_t* end = at + content.size;
    at = skip_plain<true>(at, end);
    for (; end - at >= 8; at += 8) {
        const uint64_t word = load_word(at);
        if (bytes_equal(word, '"') | bytes_equal(word, '\\') | control_bytes(word)) return false;
    }
    for (; at < end; at++)
        if (*at == '"' || *at == '\\' || *at < 0x20) return false;
    return true;
}

ErrorCode unescape(Bytes content, uint8_t* to, size_t* written, Surrogate alone) {
    const uint8_t* at = content.data;
    const uint8_t* end = at + content.size;
    uint8_t* const begin = to;
    while (at < end) {
        // Sixteen bytes at a time, then byte by byte up to the next backslash.
        while (end - at >= 16) {
            const uint8_t* plain = skip_plain<true>(at, at + 16);
            if (plain == at) break;
            std::memcpy(to, at, 16);
            at += 16;
            to += 16;
        }
        if (end - at >= 8) {
            const uint64_t word = load_word(at);
            const uint64_t marks = bytes_equal(word, '"') | bytes_equal(word, '\\') | control_bytes(word);
            const unsigned plain = marks ? unsigned(__builtin_ctzll(marks)) / 8 : 8;
            std::memcpy(to, at, 8);
            at += plain;
            to += plain;
            if (plain == 8) continue;
        } else {
            while (at < end && *at != '\\' && *at >= 0x20 && *at != '"') *to++ = *at++;
        }
        if (at == end) break;
        if (*at != '\\' || end - at < 2) return ErrorCode::malformed;
        switch (at[1]) {
            case '"':
            case '\\':
            case '/': *to++ = at[1]; break;
            case 'b': *to++ = '\b'; break;
            case 'f': *to++ = '\f'; break;
            case 'n': *to++ = '\n'; break;
            case 'r': *to++ = '\r'; break;
            case 't': *to++ = '\t'; break;
            case 'u': {
                const int32_t unit = hex_quad(at + 2, end);
                if (unit < 0) return ErrorCode::malformed;
                uint32_t c = uint32_t(unit);
                if (c >= 0xD800 && c < 0xE000) {
                    const bool pair = c < 0xDC00 && end - at >= 12 && at[6] == '\\' && at[7] == 'u';
                    const int32_t low = pair ? hex_quad(at + 8, end) : 0;
                    if (low < 0) return ErrorCode::malformed;
                    if (low >= 0xDC00 && low < 0xE000) {
                        c = 0x10000 + ((c - 0xD800) << 10) + (uint32_t(low) - 0xDC00);
                        at += 6;
                    } else if (alone == Surrogate::replacement) {
                        c = 0xFFFD;
                    } else {
                        return ErrorCode::bad_utf8;
                    }
                }
                to = write_utf8(c, to);
                at += 4;
                break;
            }
            default: return ErrorCode::malformed;
        }
        at += 2;
    }
    *written = size_t(to - begin);
    return ErrorCode::none;
}

ErrorCode unescape(Bytes content, std::string* out, Surrogate alone) {
    size_t written = 0;
    out->resize(content.size + 16);
    const ErrorCode code = unescape(content, reinterpret_cast<uint8_t*>(&(*out)[0]), &written, alone);
    out->resize(code == ErrorCode::none ? written : 0);
    return code;
}

}  // namespace formatter
