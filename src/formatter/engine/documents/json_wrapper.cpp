#include "engine/documents/json_wrapper.hpp"

#include "engine/documents/json_key_match.hpp"
#include "engine/documents/json_line_writer.hpp"

namespace formatter {
namespace {

// What stands next in the innermost object that the path has led to.
enum class Next : uint8_t { key, colon, value, other };

struct WrapperState {
    uint8_t level = 0;  // objects that the path has led to, one in the other
    Next next = Next::other;
    bool key_matched = false;  // the last one is the path's
    uint8_t keys_met = 0;  // a bit a level: its key has stood there
    KeyMatch match;  // of a key that is open

    uint64_t packed() const {
        return match.packed() | uint64_t(level) << 44 | uint64_t(next) << 48 | uint64_t(key_matched) << 50 |
               uint64_t(keys_met) << 51;
    }
    static WrapperState unpacked(uint64_t bits) {
        WrapperState state;
        state.match = KeyMatch::unpacked(bits);
        state.level = uint8_t(bits >> 44 & 15);
        state.next = Next(bits >> 48 & 3);
        state.key_matched = bits >> 50 & 1;
        state.keys_met = uint8_t(bits >> 51);
        return state;
    }
};

void begin_outside(ScanState* state, uint64_t open_brackets, const WrapperState& wrapper) {
    state->begin_record();
    state->at_record_start = state->escaped = false;
    state->in_comment = true;
    state->count = open_brackets;
    state->carried = wrapper.packed();
}

uint8_t all_keys(size_t count) { return uint8_t((1u << count) - 1); }

}  // namespace

void JsonWrapper::begin_documents(ScanState* state) const { begin_outside(state, 0, WrapperState{}); }

void JsonWrapper::begin_value(ScanState* state) const {
    const size_t levels = path_.size();
    begin_outside(state, levels, {uint8_t(levels), Next::value, true, all_keys(levels), {}});
}

void JsonWrapper::leave_array(ScanState* state) const {
    const size_t levels = path_.size();
    begin_outside(state, levels, {uint8_t(levels), Next::other, false, all_keys(levels), {}});
}

bool JsonWrapper::can_be(const ScanState& state) const {
    if (!state.in_comment) return state.carried == 0;
    const WrapperState wrapper = WrapperState::unpacked(state.carried);
    const bool has_level = wrapper.level <= path_.size() && wrapper.level <= state.count;
    if (!has_level || wrapper.level == 0) return has_level && wrapper.next == Next::other;
    return wrapper.match.met <= path_[wrapper.level - 1u].size();
}

JsonWrapper::Followed JsonWrapper::follow(const uint8_t* data, size_t at, size_t size, ScanState* state) const {
    WrapperState w = WrapperState::unpacked(state->carried);
    uint64_t depth = state->count;
    Met met = Met::nothing;
    while (at < size && met == Met::nothing) {
        const bool of_path = depth == w.level && depth > 0;
        if (state->inside && !(of_path && w.next == Next::key)) {
            at = pass_string(data, at, size, state);
            continue;
        }
        const uint8_t c = data[at++];
        if (state->inside) {
            const bool escaped = state->escaped;
            state->escaped = !escaped && c == '\\';
            if (c != '"' || escaped) {
                w.match.take(c, escaped, path_[w.level - 1]);
                continue;
            }
            state->inside = false;
            const uint8_t bit = uint8_t(1u << (w.level - 1));
            w.key_matched = w.match.matches(path_[w.level - 1]) && !(w.keys_met & bit);
            w.next = Next::colon;
            if (!w.key_matched) continue;
            w.keys_met |= bit;
            if (w.level == path_.size()) met = Met::key;
            continue;
        }
        if (is_json_space(c)) continue;
        const bool value = of_path && w.next == Next::value;
        switch (c) {
            case '"':
                state->inside = true;
                if (of_path && w.next == Next::key) w.match = KeyMatch{};
                if (of_path && w.next != Next::key) w.next = Next::other;
                break;
            case '{':
                depth++;
                if ((value && w.key_matched && w.level < path_.size()) || depth == 1) {
                    w.keys_met &= all_keys(w.level);
                    w.level++;
                    w.next = Next::key;
                } else if (of_path) {
                    w.next = Next::other;
                }
                break;
            case '[':
                if (value && w.key_matched && w.level == path_.size()) {
                    met = Met::array;
                    break;
                }
                depth++;
                if (of_path) w.next = Next::other;
                break;
            case '}':
            case ']':
                if (depth == 0) break;
                if (of_path) {
                    w.level--;
                    w.next = Next::other;
                }
                depth--;
                break;
            case ',':
                if (of_path) w.next = Next::key;
                break;
            case ':':
                if (of_path) w.next = w.next == Next::colon ? Next::value : Next::other;
                break;
            default:
                if (of_path && w.next != Next::key) w.next = Next::other;
                break;
        }
    }
    state->count = depth;
    state->carried = w.packed();
    return {at, met};
}

Skipped JsonWrapper::check(const uint8_t* at, const uint8_t* end, From from, bool ends_input) const {
    const size_t levels = path_.size();
    size_t level = from == From::documents ? 0 : levels;
    uint8_t keys_met = from == From::documents ? 0 : all_keys(levels);
    const Skipped fine{end, ErrorCode::none};
    const auto malformed = [&](const uint8_t* where) { return Skipped{where, ErrorCode::malformed}; };
    enum { documents, first_key, key, value, behind } stands = documents;
    if (from == From::value) stands = value;
    if (from == From::array) stands = behind;
    bool matched = from == From::value;
    while (true) {
        at = skip_json_space(at, end);
        if (at == end) return ends_input && stands == documents ? fine : malformed(at);
        switch (stands) {
            case documents:
                if (*at != '{') return {at, ErrorCode::not_an_object};
                at++;
                level = 1;
                keys_met = 0;
                stands = first_key;
                continue;
            case first_key:
                if (*at == '}') {
                    stands = behind;
                    continue;
                }
                [[fallthrough]];
            case key: {
                if (*at != '"') return malformed(at);
                const uint8_t* const begin = at + 1;
                const Skipped content = check_string(begin, end);
                if (content.code != ErrorCode::none) return content;
                KeyMatch match;
                bool escaped = false;
                for (const uint8_t* c = begin; c < content.at; c++) {
                    match.take(*c, escaped, path_[level - 1]);
                    escaped = !escaped && *c == '\\';
                }
                const uint8_t bit = uint8_t(1u << (level - 1));
                matched = match.matches(path_[level - 1]);
                if (matched && keys_met & bit) return {at, ErrorCode::duplicate_key};
                if (matched) keys_met |= bit;
                if (matched && level == levels) return content.at + 1 == end && !ends_input ? fine : malformed(at);
                at = skip_json_space(content.at + 1, end);
                if (at == end || *at != ':') return malformed(at);
                at++;
                stands = value;
                continue;
            }
            case value: {
                if (matched && level < levels && *at == '{') {
                    at++;
                    keys_met &= all_keys(level);
                    level++;
                    stands = first_key;
                    continue;
                }
                const uint8_t* const begin = at;
                const Skipped whole = check_value(at, end);
                if (whole.code != ErrorCode::none) return whole;
                if (matched && level == levels && *begin != 'n') return {begin, ErrorCode::wrong_type};
                at = whole.at;
                stands = behind;
                continue;
            }
            case behind:
                if (*at == ',') {
                    stands = key;
                } else if (*at == '}') {
                    stands = --level ? behind : documents;
                } else {
                    return malformed(at);
                }
                at++;
        }
    }
}

}  // namespace formatter
