#include "engine/json/json_record.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t few_keys = 24;  // a look at each costs less than a hash

uint64_t head_of(Bytes key) {
    uint64_t head = 0;
    if (key.size >= 8)
        std::memcpy(&head, key.data, 8);
    else if (key.size) {
        for (size_t i = 0; i < key.size; i++) head |= uint64_t(key.data[i]) << 8 * i;
    }
    return head;
}

}  // namespace

JsonRecordReader::JsonRecordReader(const JsonFormat* format)
    : format_(format), nodes_(1), minds_unknown_(format->unknown_is_error || format->rescue_column >= 0) {
    for (uint32_t column = 0; column < format->columns.size(); column++) {
        if (int32_t(column) == format->rescue_column) continue;
        uint32_t at = 0;
        for (const std::string& token : format->columns[column].path) {
            const int known = find(at, bytes_of(token), 0);
            if (known < 0) add_child(at, token);
            at = known < 0 ? nodes_[at].children.back() : nodes_[at].children[size_t(known)];
        }
        nodes_[at].columns.push_back(column);
    }
    for (const std::string& key : format->ignored_keys) ignored_.emplace(key, true);
}

void JsonRecordReader::add_child(uint32_t parent, const std::string& key) {
    const uint32_t child = uint32_t(nodes_.size());
    nodes_.emplace_back();
    nodes_[child].key = &key;
    Node& node = nodes_[parent];
    node.children.push_back(child);
    node.heads.emplace_back(head_of(bytes_of(key)), key.size());
    if (node.children.size() <= few_keys) return;
    for (size_t i = node.by_key.size(); i < node.children.size(); i++)
        node.by_key.emplace(*nodes_[node.children[i]].key, uint32_t(i));
}

int JsonRecordReader::find(uint32_t node, Bytes key, size_t guess) const {
    return find(node, key, head_of(key), guess);
}

int JsonRecordReader::find(uint32_t node, Bytes key, uint64_t head, size_t guess) const {
    const Node& n = nodes_[node];
    const std::pair<uint64_t, size_t> wanted(head, key.size);
    const auto is = [&](size_t i) {
        return n.heads[i] == wanted && (key.size <= 8 || key.equals(*nodes_[n.children[i]].key));
    };
    if (guess < n.heads.size() && is(guess)) return int(guess);
    if (n.children.size() > few_keys) {
        const auto found = n.by_key.find(std::string_view(reinterpret_cast<const char*>(key.data), key.size));
        return found == n.by_key.end() ? -1 : int(found->second);
    }
    for (size_t i = 0; i < n.heads.size(); i++)
        if (is(i)) return int(i);
    return -1;
}

Skipped JsonRecordReader::read(const uint8_t* at, const uint8_t* end, ValueSpan* spans) {
    std::fill(spans, spans + format_->columns.size(), ValueSpan{});
    if (!nodes_[0].columns.empty()) {  // the pointer "" is the whole record
        const Skipped whole = skip_value(at, end);
        if (whole.code != ErrorCode::none) return whole;
        const uint8_t* last = whole.at;
        while (last > at && is_json_space(last[-1])) last--;
        for (uint32_t column : nodes_[0].columns) spans[column] = {at, last};
    }
    return read_object(0, at, end, spans);
}

Skipped JsonRecordReader::read_object(uint32_t node, const uint8_t* at, const uint8_t* end, ValueSpan* spans) {
    const uint64_t object = ++objects_;
    size_t guess = 0;
    return each_part(at, end, '}', [&](const uint8_t* key_at) -> Skipped {
        if (key_at == end || *key_at != '"') return {key_at, ErrorCode::malformed};
        const Skipped close = check_string(key_at + 1, end);
        if (close.code != ErrorCode::none)
            return {close.code == ErrorCode::unterminated_quote ? key_at : close.at, close.code};
        Bytes key{key_at + 1, size_t(close.at - key_at - 1)};
        if (!is_plain_string(key)) {
            const ErrorCode code = unescape(key, &scratch_, format_->lone_surrogates);
            if (code != ErrorCode::none) return {key_at, code};
            key = bytes_of(scratch_);
        }
        const uint8_t* const colon = skip_json_space(close.at + 1, end);
        if (colon == end || *colon != ':') return {colon, ErrorCode::malformed};
        const uint8_t* const value = skip_json_space(colon + 1, end);
        const int found = find(node, key, guess);
        if (found >= 0) {
            guess = size_t(found) + 1;
            const uint32_t child = nodes_[node].children[size_t(found)];
            const bool again = nodes_[child].seen == object;
            nodes_[child].seen = object;
            if (!again) return read_value(child, value, end, spans);
            if (format_->duplicates == DuplicateKey::error) return {key_at, ErrorCode::duplicate_key};
            note_unknown(key_at, spans);
            if (format_->duplicates == DuplicateKey::last) {
                forget(child, spans);
                return read_value(child, value, end, spans);
            }
        } else if (minds_unknown_ && (node != 0 || !ignored_.count(std::string_view(
                                                       reinterpret_cast<const char*>(key.data), key.size)))) {
            if (format_->unknown_is_error && node == 0) return {key_at, ErrorCode::unknown_key};
            note_unknown(key_at, spans);
        }
        return skip_value(value, end);
    });
}

Skipped JsonRecordReader::read_array(uint32_t node, const uint8_t* at, const uint8_t* end, ValueSpan* spans) {
    uint64_t number = 0;
    return each_part(at, end, ']', [&](const uint8_t* item) {
        const std::string token = std::to_string(number++);
        const int found = find(node, bytes_of(token), ~size_t(0));
        if (found < 0 && item < end) note_unknown(item, spans);
        return found >= 0 ? read_value(nodes_[node].children[size_t(found)], item, end, spans) : skip_value(item, end);
    });
}

Skipped JsonRecordReader::read_value(uint32_t node, const uint8_t* at, const uint8_t* end, ValueSpan* spans) {
    if (at == end || *at == ',' || *at == '}' || *at == ']') return {at, ErrorCode::malformed};
    Skipped done{};
    if (!nodes_[node].columns.empty()) {
        done = skip_value(at, end);
        if (done.code != ErrorCode::none) return done;
        const uint8_t* last = done.at;
        while (is_json_space(last[-1])) last--;
        for (uint32_t column : nodes_[node].columns) spans[column] = {at, last};
        if (nodes_[node].children.empty()) return done;
    }
    if (!nodes_[node].children.empty() && *at == '{') return read_object(node, at, end, spans);
    if (!nodes_[node].children.empty() && *at == '[') return read_array(node, at, end, spans);
    note_unknown(at, spans);
    return skip_value(at, end);
}

// What begins there has no column.
void JsonRecordReader::note_unknown(const uint8_t* at, ValueSpan* spans) const {
    if (format_->rescue_column >= 0) spans[format_->rescue_column] = {at, at + 1};
}

void JsonRecordReader::forget(uint32_t node, ValueSpan* spans) {
    for (uint32_t column : nodes_[node].columns) spans[column] = ValueSpan{};
    for (uint32_t child : nodes_[node].children) forget(child, spans);
}

}  // namespace formatter
