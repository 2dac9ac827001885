#include "engine/json/json_nested.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

// Of the text itself: what holds it is no JSON either.
bool is_grammar_error(ErrorCode code) {
    return code == ErrorCode::malformed || code == ErrorCode::unterminated_quote || code == ErrorCode::too_deep;
}

bool begins_with(const uint8_t* at, const uint8_t* end, const std::string& text) {
    return !text.empty() && size_t(end - at) >= text.size() && std::memcmp(at, text.data(), text.size()) == 0;
}

}  // namespace

int find_key(const std::vector<JsonNodeSpec>& nodes, Bytes key, size_t guess) {
    if (guess < nodes.size() && key.equals(nodes[guess].scalar.name)) return int(guess);
    for (size_t i = 0; i < nodes.size(); i++)
        if (key.equals(nodes[i].scalar.name)) return int(i);
    return -1;
}

Skipped JsonNestedReader::read(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    const uint64_t length = builder.length();
    const Skipped done = read_value(builder, at, end);
    if (done.code == ErrorCode::none) return done;
    builder.truncate(length);
    if (!policy_.null_on_error || !builder.spec().scalar.nullable || is_grammar_error(done.code)) return done;
    const Skipped rest = skip_value(at, end);
    if (rest.code != ErrorCode::none) return done;
    builder.append_null();
    nulled++;
    if (!first_nulled.at) first_nulled = done;
    return rest;
}

Skipped JsonNestedReader::read_value(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    const JsonNodeSpec& spec = builder.spec();
    if (at == end) return {at, ErrorCode::malformed};
    if (spec.kind == JsonKind::scalar) return read_scalar(builder, at, end);
    const uint8_t opening = spec.kind == JsonKind::structure || spec.kind == JsonKind::map ? '{' : '[';
    if (*at == opening) {
        switch (spec.kind) {
            case JsonKind::structure: return read_structure(builder, at, end);
            case JsonKind::map: return read_map(builder, at, end);
            default: return read_list(builder, at, end);
        }
    }
    const Skipped other = check_value(at, end);
    if (other.code != ErrorCode::none) return other;
    if (!Bytes{at, size_t(other.at - at)}.equals("null")) return {at, ErrorCode::wrong_type};
    if (!spec.scalar.nullable) return {at, ErrorCode::missing_required};
    builder.append_null();
    return other;
}

Skipped JsonNestedReader::read_scalar(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    const Skipped done = parse_json_scalar(builder.spec(), at, end, &scalar_);
    if (done.code != ErrorCode::none) return done;
    if (!scalar_.null) {
        builder.append_scalar(scalar_);
    } else {
        if (!builder.spec().scalar.nullable) return {at, ErrorCode::missing_required};
        builder.append_null();
    }
    return done;
}

Skipped JsonNestedReader::read_list(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    JsonBuilder& items = builder.child(0);
    uint64_t count = 0;
    const Skipped done = each_part(at, end, ']', [&](const uint8_t* item) {
        count++;
        return read(items, item, end);
    });
    if (done.code != ErrorCode::none) return done;
    if (builder.spec().kind == JsonKind::fixed_list && count != builder.spec().list_size)
        return {at, ErrorCode::invalid};
    builder.append_nested();
    return done;
}

Skipped JsonNestedReader::read_key(const uint8_t* at, const uint8_t* end, Bytes* key, std::string* scratch,
                                   Surrogate alone) {
    if (at == end || *at != '"') return {at, ErrorCode::malformed};
    bool escapes;
    const Skipped close = check_string(at + 1, end, &escapes);
    if (close.code != ErrorCode::none) return close;
    *key = Bytes{at + 1, size_t(close.at - at - 1)};
    if (escapes) {
        const ErrorCode code = unescape(*key, scratch, alone);
        if (code != ErrorCode::none) return {at, code};
        *key = bytes_of(*scratch);
    }
    at = skip_json_space(close.at + 1, end);
    if (at == end || *at != ':') return {at, ErrorCode::malformed};
    return {skip_json_space(at + 1, end), ErrorCode::none};
}

Skipped JsonNestedReader::read_structure(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    const std::vector<JsonNodeSpec>& members = builder.spec().children;
    const uint64_t row = builder.length();
    std::string scratch;
    size_t guess = 0;
    const Skipped done = each_part(at, end, '}', [&](const uint8_t* key_at) -> Skipped {
        Bytes key{};
        Skipped value{};
        int found = -1;
        const bool usual = guess < members.size() && begins_with(key_at, end, builder.usual_key(guess));
        if (usual) {
            found = int(guess);
            value.at = skip_json_space(key_at + builder.usual_key(guess).size(), end);
        } else {
            value = read_key(key_at, end, &key, &scratch, builder.spec().lone_surrogates);
            if (value.code != ErrorCode::none) return value;
            found = find_key(members, key, guess);
        }
        if (found >= 0) {
            guess = size_t(found) + 1;
            JsonBuilder& member = builder.child(size_t(found));
            if (member.length() == row) return read(member, value.at, end);
            if (policy_.duplicates == DuplicateKey::error) return {key_at, ErrorCode::duplicate_key};
            left_out = true;
            if (policy_.duplicates == DuplicateKey::last) {
                member.truncate(row);
                return read(member, value.at, end);
            }
        } else if (policy_.unknown_is_error || policy_.rescues) {
            const std::vector<std::string>& ignored = builder.spec().ignored_keys;
            if (std::none_of(ignored.begin(), ignored.end(), [&](const std::string& k) { return key.equals(k); })) {
                if (policy_.unknown_is_error) return {key_at, ErrorCode::unknown_key};
                left_out = true;
            }
        }
        return skip_value(value.at, end);
    });
    if (done.code != ErrorCode::none) return done;
    for (size_t i = 0; i < members.size(); i++) {
        JsonBuilder& member = builder.child(i);
        if (member.length() > row) continue;
        if (!members[i].scalar.nullable) return {at, ErrorCode::missing_required};
        member.append_null();
    }
    builder.append_nested();
    return done;
}

Skipped JsonNestedReader::read_map(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    const uint64_t length = builder.length(), nulled_before = nulled;
    const Skipped nulled_first = first_nulled;
    const uint8_t* const behind = read_plain_map(builder, at, end);
    if (behind) return {behind, ErrorCode::none};
    builder.truncate(length);
    nulled = nulled_before;
    first_nulled = nulled_first;
    return read_map_again(builder, at, end);
}

// In one go, if no key is there twice and nothing is wrong; null otherwise.
const uint8_t* JsonNestedReader::read_plain_map(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    JsonBuilder& keys = builder.child(0);
    const JsonNodeSpec& key_spec = keys.spec();
    std::vector<uint64_t> digests;
    const Skipped done = each_part(at, end, '}', [&](const uint8_t* key_at) -> Skipped {
        Bytes text{};
        const Skipped value = read_key(key_at, end, &text, &key_scratch_);
        if (value.code != ErrorCode::none) return value;
        const ErrorCode code = parse_json_key(key_spec, text, &scalar_);
        if (code != ErrorCode::none) return {key_at, code};
        digests.push_back(digest_of_key(key_spec.scalar, scalar_));
        keys.append_scalar(scalar_);
        return read(builder.child(1), value.at, end);
    });
    if (done.code != ErrorCode::none) return nullptr;
    // Two keys of one digest may be the same.
    std::sort(digests.begin(), digests.end());
    if (std::adjacent_find(digests.begin(), digests.end()) != digests.end()) return nullptr;
    builder.append_nested();
    return done.at;
}

// As read_plain_map, with all that can be the matter.
Skipped JsonNestedReader::read_map_again(JsonBuilder& builder, const uint8_t* at, const uint8_t* end) {
    // Each key once: where a later one counts, its value takes the place of the earlier, as in a dict.
    std::vector<Member> entries;
    std::unordered_map<std::string, size_t> seen;
    JsonBuilder& keys = builder.child(0);
    const JsonNodeSpec& key_spec = keys.spec();
    const uint8_t* behind = nullptr;
    std::string scratch;
    at = skip_json_space(at + 1, end);
    if (at < end && *at == '}') behind = at + 1;
    while (!behind) {
        Bytes text{};
        at = skip_json_space(at, end);
        const Skipped value = read_key(at, end, &text, &scratch, key_spec.lone_surrogates);
        if (value.code != ErrorCode::none) return value;
        const ErrorCode code = parse_json_key(key_spec, text, &scalar_);
        const auto add = [&] {
            entries.push_back({scalar_, code, at, value.at});
            // Text may lie where the next key is unescaped to.
            Member& entry = entries.back();
            if (!is_text(key_spec.scalar) || code != ErrorCode::none) return;
            entry.key.scratch.assign(reinterpret_cast<const char*>(scalar_.text.data), scalar_.text.size);
        };
        if (code != ErrorCode::none) {
            add();  // what is wrong further left speaks first
        } else {
            const auto [place, fresh] = seen.emplace(identity_of_key(key_spec.scalar, scalar_), entries.size());
            if (fresh)
                add();
            else if (policy_.duplicates == DuplicateKey::error)
                return {at, ErrorCode::duplicate_key};
            else if (left_out = true; policy_.duplicates == DuplicateKey::last)
                entries[place->second].value = value.at;
        }
        const Skipped done = skip_value(value.at, end);
        if (done.code != ErrorCode::none) return done;
        if (done.at == end || *done.at == ']') return {done.at, ErrorCode::malformed};
        at = done.at + 1;
        if (*done.at == '}') behind = at;
    }
    for (Member& entry : entries) {
        if (entry.code != ErrorCode::none) return {entry.key_at, entry.code};
        const std::string& text = entry.key.scratch;
        entry.key.text = bytes_of(text);
        keys.append_scalar(entry.key);
        const Skipped done = read(builder.child(1), entry.value, end);
        if (done.code != ErrorCode::none) return done;
        const uint8_t* next = skip_json_space(done.at, end);
        if (next == end || (*next != ',' && *next != '}')) return {next, ErrorCode::malformed};
    }
    builder.append_nested();
    return {behind, ErrorCode::none};
}

}  // namespace formatter
