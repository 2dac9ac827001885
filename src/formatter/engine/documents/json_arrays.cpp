#include "engine/documents/json_arrays.hpp"

#include <algorithm>

#include "engine/documents/json_line_writer.hpp"

namespace formatter {
namespace {

constexpr size_t ends_at_once = 64;
constexpr size_t bytes_at_once = ~uint32_t(0) - 63;  // ends have 32 bits

// For the guess. A record begins behind a comma that has an object behind it; the outermost such within a stretch of many
// records is that between two of them. Where a document ends in the stretch, that tells how deep they are.
constexpr size_t least_guess_bytes = 64 << 10, most_guess_bytes = 1 << 20;
constexpr size_t guess_share = 16;  // of the bytes, so much is looked at

bool opens_string(uint8_t before) { return before == '{' || before == '[' || before == ',' || before == ':'; }
bool ends_string(uint8_t behind) { return behind == '}' || behind == ']' || behind == ',' || behind == ':'; }

// Whether `begin` lies in a string, by the first quote behind it whose neighbours leave no doubt: in JSON one of both is always
// right, that it opens a string or that it closes one.
bool begins_in_string(const uint8_t* data, size_t begin, size_t end, bool escaped) {
    bool odd = false;
    for (size_t at = begin; at < end; at++) {
        const bool quote = data[at] == '"' && !escaped;
        escaped = !escaped && data[at] == '\\';
        if (!quote) continue;
        size_t before = at;
        const size_t behind = skip_space(data, at + 1, end);
        while (before > 0 && is_json_space(data[before - 1])) before--;
        if (before == 0 || behind == end) return odd;
        const bool may_open = opens_string(data[before - 1]);
        if (may_open != ends_string(data[behind])) return odd == may_open;
        odd = !odd;
    }
    return false;
}

// Of each depth, from that of the first byte looked at on, where its first record would begin.
class RecordsByDepth {
  public:
    RecordsByDepth() { std::fill_n(first_, size_t(2 * most), RecordEnds::none); }
    void add(int64_t depth, uint64_t at) {
        if (depth < -most || depth >= most || first_[depth + most] != RecordEnds::none) return;
        first_[depth + most] = at;
        lowest_ = std::min(lowest_, depth);
    }
    uint64_t at(int64_t depth) const {
        return depth < -most || depth >= most ? RecordEnds::none : first_[depth + most];
    }
    uint64_t outermost() const { return at(lowest_); }

  private:
    static constexpr int64_t most = 128;
    uint64_t first_[2 * most];
    int64_t lowest_ = most;
};

}  // namespace

bool JsonArrays::can_be(const ScanState& state) const {
    if (state.mark > mark_bytes || state.matched > 1) return false;
    return wrapper_.any() ? wrapper_.can_be(state) : state.carried == 0;
}

size_t JsonArrays::begin_input(const uint8_t* data, size_t size, ScanState* state) const {
    if (state->mark == 0) {
        wrapper_.begin_documents(state);
        if (!wrapper_.any()) state->carried = 0;
    }
    size_t at = 0;
    while (at < size && state->mark < mark_bytes && is_next_mark_byte(data[at], &state->mark)) at++;
    return at;
}

void JsonArrays::find_items(const uint8_t* data, size_t size, ItemEnds* items) const {
    kernel_->find_items(data, std::min(size, bytes_at_once), *items);
}

// Up to where the array closes, or where another begins behind a comma, which is no JSON; `at` goes on. True if that was the
// first end and is enough.
bool JsonArrays::scan_items(const uint8_t* data, size_t size, size_t* at, ScanState* state, bool first_only,
                            RecordEnds* ends) const {
    uint32_t found[ends_at_once];
    ItemEnds items{found, first_only ? 1 : ends_at_once, state->inside, state->escaped, state->count, 0, 0, false};
    const size_t begin = *at;
    find_items(data + begin, size - begin, &items);
    *at = begin + items.used;
    state->inside = items.inside;
    state->escaped = items.escaped;
    state->count = items.depth;
    for (size_t i = 0; i < items.count; i++) {
        const size_t end = begin + found[i];
        ends->add(end);
        const size_t next = wrapper_.any() || end == size ? skip_space(data, end, size) : end;
        if (!first_only && next < size && !begins_value(data[next]) && end < *at) continue;
        *state = ScanState{};  // of a record's start
        *at = end;
        return first_only;
    }
    if (!items.closed) return false;
    if (wrapper_.any())
        wrapper_.leave_array(state);
    else
        state->matched = 1;
    return false;
}

RecordEnds JsonArrays::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    RecordEnds ends;
    size_t at = state->mark < mark_bytes ? begin_input(data, size, state) : 0;
    while (at < size && !state->matched) {
        if (!state->in_comment) {
            if (state->at_record_start) {
                at = skip_space(data, at, size);
                if (at == size) break;
                state->at_record_start = false;
                if (begins_value(data[at])) {
                    wrapper_.begin_value(state);
                    at++;
                    continue;
                }
            }
            if (scan_items(data, size, &at, state, first_only, &ends)) return ends;
            continue;
        }
        if (!wrapper_.any()) {  // the top-level array has not opened
            at = skip_space(data, at, size);
            if (at == size) break;
            state->in_comment = false;
            state->matched = data[at++] != '[';
            continue;
        }
        const JsonWrapper::Followed followed = wrapper_.follow(data, at, size, state);
        at = followed.at;
        if (followed.met == JsonWrapper::Met::nothing) break;
        *state = ScanState{};
        if (followed.met == JsonWrapper::Met::array) {
            state->at_record_start = false;
            continue;
        }
        ends.add(at);
        if (first_only) return ends;
    }
    return ends;
}

uint64_t JsonArrays::guess_record(const uint8_t* data, size_t size, size_t begin, size_t end) const {
    const size_t look = std::min(std::max((end - begin) / guess_share, least_guess_bytes), most_guess_bytes);
    const size_t stop = std::min(end, begin + look);
    size_t backslashes = 0;
    while (backslashes < begin && data[begin - backslashes - 1] == '\\') backslashes++;
    ScanState state;
    state.inside = begins_in_string(data, begin, stop, backslashes % 2);
    state.escaped = state.inside && backslashes % 2;
    int64_t depth = 0;
    RecordsByDepth records;
    for (size_t at = begin; at < stop;) {
        if (state.inside) {
            at = pass_string(data, at, stop, &state);
            continue;
        }
        const uint8_t c = data[at++];
        if (c == '"') state.inside = true;
        if (c == '{' || c == '[') depth++;
        if (c == '}' || c == ']') depth--;
        if (c != ',' && c != '}') continue;
        const size_t next = skip_space(data, at, stop);
        if (next == stop || data[next] != '{') continue;
        if (c == ',') {
            records.add(depth, at);
        } else if (wrapper_.any()) {  // between two documents
            const uint64_t before = records.at(depth + int64_t(wrapper_.keys()) + 1);
            if (before != RecordEnds::none) return before;
            ScanState outside;
            wrapper_.begin_documents(&outside);
            const RecordEnds ends = scan(data + at, size - at, &outside, true);
            return ends.any() ? at + ends.first : RecordEnds::none;
        }
    }
    return records.outermost();
}

}  // namespace formatter
