// The fast way through a record: from position to position of its structure, never over the bytes between, but for keys.
// What it accepts, JsonRecordReader::read accepts with the same result; whatever looks odd is left to that.
#include "engine/json_record.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

// No quote, no backslash and no control character among eight bytes.
bool plain_bytes(uint64_t word) {
    constexpr uint64_t each = ~uint64_t(0) / 255, high = each << 7;
    const uint64_t quote = word ^ each * '"', backslash = word ^ each * '\\';
    return ((((quote - each) & ~quote) | ((backslash - each) & ~backslash) | ((word - each * 0x20) & ~word)) & high) ==
           0;
}

}  // namespace

const uint32_t* JsonRecordReader::read_structure(const uint8_t* base, const uint8_t* readable_end, const uint8_t* line,
                                                 const uint32_t* positions, ValueSpan* spans) {
    Structure s{base, readable_end, positions};
    if (!nodes_[0].columns.empty() || s.byte() != '{') return nullptr;
    if (skip_json_space(line, base + *positions) != base + *positions) return nullptr;
    std::fill(spans, spans + format_->columns.size(), ValueSpan{});
    if (!read_members(0, s, spans)) return nullptr;
    // At the closing brace: the line end must be next, with nothing between.
    const uint8_t* end = base + s.at[1];
    return *end == '\n' && skip_json_space(base + *s.at + 1, end) == end ? s.at + 1 : nullptr;
}

// At an opening bracket; stops at the one that closes it.
bool JsonRecordReader::skip_brackets(Structure& s) {
    uint64_t objects[json_depth_limit / 64];
    uint32_t depth = 0;
    for (;; s.at++) {
        const uint8_t c = s.byte();
        if (c == '\n') return false;
        if (c == ',' || c == ':') continue;
        if (c == '{' || c == '[') {
            if (depth + 8 >= json_depth_limit) return false;  // how deep the record is already is not known here
            const uint64_t bit = uint64_t(1) << depth % 64;
            objects[depth / 64] = c == '{' ? objects[depth / 64] | bit : objects[depth / 64] & ~bit;
            depth++;
        } else {
            depth--;
            if ((objects[depth / 64] >> depth % 64 & 1) != (c == '}')) return false;
            if (depth == 0) return true;
        }
    }
}

// At an opening brace; stops at the closing one. A line end is never passed: it is nothing that is accepted anywhere.
bool JsonRecordReader::read_members(uint32_t node, Structure& s, ValueSpan* spans) {
    const uint64_t object = ++objects_;
    size_t guess = 0;
    for (;;) {
        const uint8_t* at = skip_json_space(s.base + *s.at + 1, s.base + s.at[1]);
        s.at++;
        if (s.byte() != ':') return false;
        const uint8_t* colon = s.base + *s.at;
        const uint8_t* key_end = colon;
        while (is_json_space(key_end[-1])) key_end--;
        if (key_end - at < 2 || *at != '"' || key_end[-1] != '"') return false;
        const Bytes key{at + 1, size_t(key_end - at - 2)};
        uint64_t head = 0;
        bool plain_head = false;  // and nothing follows it
        if (s.readable_end - key.data >= 8) {
            std::memcpy(&head, key.data, 8);
            if (key.size < 8) head &= (uint64_t(1) << 8 * key.size) - 1;
            plain_head =
                key.size <= 8 && plain_bytes(key.size < 8 ? head | ~uint64_t(0) / 255 * ' ' << 8 * key.size : head);
        } else {
            for (size_t i = 0; i < key.size && i < 8; i++) head |= uint64_t(key.data[i]) << 8 * i;
        }
        const int found = find(node, key, head, guess);
        // What equals a key that needs no escapes needs no further look.
        if ((found < 0 || nodes_[nodes_[node].children[size_t(found)]].escaped_key) && !plain_head &&
            !is_plain_string(key))
            return false;
        const uint8_t* value = skip_json_space(colon + 1, s.base + s.at[1]);
        s.at++;
        const uint8_t* value_end = nullptr;
        const uint32_t* const first = s.at;
        const bool nested = s.byte() == '{' || s.byte() == '[';
        uint32_t child = 0;
        if (found >= 0) {
            guess = size_t(found) + 1;
            child = nodes_[node].children[size_t(found)];
            const bool again = nodes_[child].seen == object;
            nodes_[child].seen = object;
            if (again) return false;
        } else if (format_->unknown_is_error && node == 0 &&
                   !ignored_.count(std::string_view(reinterpret_cast<const char*>(key.data), key.size))) {
            return false;
        }
        if (nested) {
            if (value != s.base + *s.at) return false;
            const bool deeper = found >= 0 && !nodes_[child].children.empty();
            if (deeper && (s.byte() == '[' || !nodes_[child].columns.empty())) return false;
            const uint8_t* next = s.base + s.at[1];
            if (deeper && *next == '}' && skip_json_space(value + 1, next) != next) return false;
            if (deeper && *next != '}') {
                if (!read_members(child, s, spans)) return false;
            } else if (!skip_brackets(s)) {
                return false;
            }
            value_end = s.base + *s.at + 1;
            s.at++;
            if (skip_json_space(value_end, s.base + *s.at) != s.base + *s.at) return false;
        }
        if (s.byte() != ',' && s.byte() != '}') return false;
        if (found >= 0) {
            if (!nested) {
                value_end = s.base + *first;
                while (value_end > value && is_json_space(value_end[-1])) value_end--;
                if (value_end == value) return false;
            }
            for (uint32_t column : nodes_[child].columns) spans[column] = {value, value_end};
        }
        if (s.byte() == '}') return true;
    }
}

}  // namespace formatter
