#include "engine/csv/csv_scanner.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {

RecordEnds scan_csv(const CsvFormat& format, const uint8_t* data, size_t size, ScanState* state, bool first_only) {
    RecordEnds ends;
    const std::string& ending = format.record_end;
    for (size_t at = 0; at < size; at++) {
        const uint8_t c = data[at];
        if (state->escaped) {
            state->escaped = false;
            continue;
        }
        if (state->at_record_start) state->in_comment = format.commenting && c == format.comment;
        state->at_record_start = false;
        // Behind a byte order mark the first record still begins, whatever the mark's bytes mean elsewhere.
        if (state->mark < mark_bytes && is_next_mark_byte(c, &state->mark) && state->mark == mark_bytes) {
            state->at_record_start = true;
            state->inside = state->in_comment = false;
            state->matched = 0;
            continue;
        }
        if (!state->in_comment) {
            if (format.escaping && c == format.escape) {
                state->escaped = true;
                state->matched = 0;
                continue;
            }
            if (format.quoting && c == format.quote) {
                state->inside = !state->inside;
                state->matched = 0;
                continue;
            }
        }
        if (state->inside) continue;
        // Longest prefix of the ending that the bytes so far end with: the ending is at most 8 bytes, so trying the
        // shorter prefixes one by one is as good as a failure table.
        uint8_t& matched = state->matched;
        while (matched && uint8_t(ending[matched]) != c) {
            uint8_t shorter = matched - 1;
            while (shorter && std::memcmp(ending.data(), ending.data() + matched - shorter, shorter) != 0) shorter--;
            matched = shorter;
        }
        matched = uint8_t(ending[matched]) == c ? matched + 1 : 0;
        if (matched < ending.size()) continue;
        matched = 0;
        ends.add(at + 1);
        state->at_record_start = true;
        state->in_comment = false;
        if (first_only) return ends;
    }
    return ends;
}

std::vector<ScanState> CsvScanner::possible_states() const {
    std::vector<ScanState> states;
    const auto add = [&states](bool inside, bool escaped, bool comment, bool start, uint8_t matched, uint8_t mark) {
        states.push_back(ScanState{inside, escaped, comment, start, matched, mark});
    };
    const uint8_t endings = uint8_t(csv_->record_end.size());
    for (uint8_t mark = 0; mark <= mark_bytes; mark++)
        add(false, false, false, mark == 0 || mark == mark_bytes, 0, mark);
    for (uint8_t matched = 0; matched < endings; matched++) add(false, false, false, false, matched, mark_bytes);
    if (csv_->escaping) add(false, true, false, false, 0, mark_bytes);
    if (csv_->quoting) add(true, false, false, false, 0, mark_bytes);
    if (csv_->quoting && csv_->escaping) add(true, true, false, false, 0, mark_bytes);
    for (uint8_t matched = 0; csv_->commenting && matched < endings; matched++)
        add(false, false, true, false, matched, mark_bytes);
    return states;
}

RecordEnds Utf16CsvScanner::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    constexpr size_t stretch = 2048, carried_most = 3;
    RecordEnds ends;
    uint8_t source[stretch + carried_most];
    uint8_t text[most_utf8(sizeof source)];
    for (size_t at = 0; at < size;) {
        const size_t carried = size_t(state->count);
        const size_t more = std::min(stretch, size - at);
        std::memcpy(source, &state->carried, carried_most);
        std::memcpy(source + carried, data + at, more);
        const Transcoded done = to_utf8(encoding_, source, carried + more, false, text);
        state->count = carried + more - done.source_used;
        state->carried = 0;
        std::memcpy(&state->carried, source + done.source_used, size_t(state->count));
        const RecordEnds found = scan_csv(*csv_, text, done.text_size, state, first_only);
        const auto behind = [&](uint64_t end) {
            return at + size_t(source_size(encoding_, text, size_t(end))) - carried;
        };
        if (found.any()) {
            if (!ends.any()) ends.first = behind(found.first);
            ends.last = behind(found.last);
            if (first_only) {
                state->count = state->carried = 0;
                return ends;
            }
        }
        at += more;
    }
    return ends;
}

}  // namespace formatter
