#include "engine/csv/csv_scanner.hpp"

#include <algorithm>
#include <cstring>

#include "engine/csv/csv_structure.hpp"

namespace formatter {
namespace {

bool is_blank_byte(uint8_t c) { return c == ' ' || c == '\t'; }

// The longest prefix of the pattern that the bytes so far end with, `c` the last of them: patterns are at most 8 bytes,
// so trying the shorter prefixes one by one is as good as a failure table.
uint8_t longer_match(const std::string& pattern, uint8_t matched, uint8_t c) {
    while (matched && uint8_t(pattern[matched]) != c) {
        uint8_t shorter = matched - 1;
        while (shorter && std::memcmp(pattern.data(), pattern.data() + matched - shorter, shorter) != 0) shorter--;
        matched = shorter;
    }
    return uint8_t(pattern[matched]) == c ? matched + 1 : 0;
}

// A quote byte met, by the dialect's rule. What it is shows in the state.
void meet_quote(const CsvFormat& format, ScanState* state) {
    state->matched = state->delimiter_matched = 0;
    if (!format.picky()) {
        state->inside = !state->inside;
    } else if (state->inside) {  // it closes, or is the first of two
        state->inside = false;
        state->fresh = !format.escaping;
        state->closing = format.quote_rule == QuoteRule::sticky || format.trim_left;
    } else {
        state->inside = state->fresh;
        state->fresh = state->closing = false;
    }
}

// The byte behind a quote that may have closed is another one. Blanks that are trimmed decide nothing, but for those that
// separate fields.
void settle_closing(const CsvFormat& format, uint8_t c, ScanState* state) {
    state->fresh = false;
    const bool stays_open = format.quote_rule == QuoteRule::sticky && !begins_separator(format, c);
    if (stays_open && format.trim_right && is_blank_byte(c)) return;
    state->closing = false;
    if (stays_open) state->inside = true;
}

}  // namespace

bool begins_separator(const CsvFormat& format, uint8_t c) {
    return c == uint8_t(format.delimiter[0]) || c == uint8_t(format.record_end[0]) ||
           (c == '\r' && format.accepts_crlf());
}

namespace {

// Whether bytes that decide nothing can be passed over: nothing is under way.
bool is_idle(const CsvFormat& format, const ScanState& state) {
    return !state.escaped && state.matched == 0 && state.mark == mark_bytes &&
           !(format.commenting && state.at_record_start);
}

// `deciding`: which bytes mean something where nothing is under way; or null, if what others mean is to be known, too.
template <bool follows_lines>
RecordEnds follow(const CsvFormat& format, const uint8_t* data, size_t size, ScanState* state, bool first_only,
                  RecordScan* record, const DecidingBytes* deciding = nullptr) {
    RecordEnds ends;
    const std::string &ending = format.record_end, &delimiter = format.delimiter;
    const bool by_place = format.picky(), wants_delimiters = by_place || (record && record->separators);
    for (size_t at = 0; at < size; at++) {
        if (deciding && is_idle(format, *state)) {
            const size_t begin = at;
            while (at < size && !(*deciding)[data[at]]) at++;
            state->at_record_start &= at == begin;
            if (at == size) break;
        }
        const uint8_t c = data[at];
        const bool quote = format.quoting && c == format.quote;
        if (state->closing && !(quote && state->fresh)) settle_closing(format, c, state);
        if (record && state->inside && record->passes_bound(format, at)) {
            record->damaged = true;
            record->damaged_at = at;
            return ends;
        }
        if (follows_lines && record->quote != RecordScan::none && record->line_end == RecordScan::none) {
            record->line_matched = longer_match(ending, record->line_matched, c);
            if (record->line_matched == ending.size()) record->line_end = at + 1, record->line_matched = 0;
        }
        if (state->escaped) {
            state->escaped = false;
            continue;
        }
        if (state->at_record_start) state->in_comment = format.commenting && c == format.comment;
        state->at_record_start = false;
        // Behind a byte order mark the first record still begins, whatever the mark's bytes mean elsewhere.
        if (state->mark < mark_bytes && is_next_mark_byte(c, &state->mark) && state->mark == mark_bytes) {
            state->begin_record();
            continue;
        }
        if (!state->in_comment) {
            if (format.escaping && c == format.escape) {
                state->escaped = true;
                state->fresh = false;
                state->matched = state->delimiter_matched = 0;
                continue;
            }
            if (quote) {
                const bool inside = state->inside;
                meet_quote(format, state);
                if (record && state->inside != inside) record->meet_quote(at, state->inside);
                continue;
            }
        }
        if (state->inside && format.newlines_in_quotes && !record) continue;
        state->matched = longer_match(ending, state->matched, c);
        const bool ended = state->matched == ending.size();
        if (ended) state->matched = 0;
        if (state->inside && format.newlines_in_quotes) {
            record->lines += ended;
            continue;
        }
        if (ended) {
            ends.add(at + 1);
            state->begin_record();
            if (first_only) return ends;
        } else if (!state->inside && wants_delimiters && !state->in_comment) {
            state->delimiter_matched = longer_match(delimiter, state->delimiter_matched, c);
            const bool delimited = state->delimiter_matched == delimiter.size();
            if (delimited) state->delimiter_matched = 0;
            if (delimited && record && record->separators)
                record->separators->push_back(uint32_t(at + 1 - delimiter.size()));
            state->fresh = delimited || (state->fresh && format.trim_left && is_blank_byte(c));
        }
    }
    return ends;
}

// What a state carries of an open quoted part from one stretch of bytes to the next: how far back its quote stands, and this.
struct CarriedQuote {
    bool just_closed = false;  // by the last byte: doubled, it was not
    bool given_up = false;
    uint8_t line_matched = 0;
    uint64_t lines = 0;

    static CarriedQuote of(const ScanState& state) {
        return {bool(state.carried & 1), bool(state.carried & 2), uint8_t(state.carried >> 8), state.carried >> 16};
    }
    uint64_t packed() const {
        return uint64_t(just_closed) | uint64_t(given_up) << 1 | uint64_t(line_matched) << 8 | lines << 16;
    }
};

bool matches_in_part(const CsvFormat& format, const ScanState& state) {
    return state.matched < format.record_end.size() && state.delimiter_matched < format.delimiter.size();
}

}  // namespace

RecordEnds scan_csv(const CsvFormat& format, const uint8_t* data, size_t size, ScanState* state, bool first_only,
                    RecordScan* record) {
    return follow<false>(format, data, size, state, first_only, record);
}

CsvScanner::CsvScanner(std::shared_ptr<const CsvFormat> csv) : csv_(std::move(csv)) {
    if (csv_->quoting) deciding_[csv_->quote] = true;
    if (csv_->escaping) deciding_[csv_->escape] = true;
    deciding_[uint8_t(csv_->record_end[0])] = true;
}

RecordEnds CsvScanner::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    return follow<false>(*csv_, data, size, state, first_only, nullptr, csv_->picky() ? nullptr : &deciding_);
}

bool CsvScanner::can_be(const ScanState& state) const {
    return matches_in_part(*csv_, state) &&
           (!looks_ahead() || CarriedQuote::of(state).line_matched < csv_->record_end.size());
}

LookStep CsvScanner::look(const uint8_t* data, size_t size, ScanState* state) const {
    LookStep step;
    CarriedQuote carried = CarriedQuote::of(*state);
    const std::string& ending = csv_->record_end;
    const auto end_record = [&](size_t at) {
        state->begin_record();
        state->count = state->carried = 0;
        step.ended = step.anew = true;
        step.used = at;
    };
    if (carried.given_up) {
        for (size_t at = 0; at < size; at++) {
            carried.line_matched = longer_match(ending, carried.line_matched, data[at]);
            if (carried.line_matched == ending.size()) return end_record(at + 1), step;
        }
        state->carried = carried.packed();
        step.used = size;
        return step;
    }
    RecordScan record;
    if (state->count) {
        record.quote = size_t(0) - size_t(state->count);
        record.closed = carried.just_closed ? ~size_t(0) : RecordScan::none;
        record.lines = carried.lines;
        record.line_matched = carried.line_matched;
    }
    const size_t quote_before = record.quote;
    const RecordEnds ends = follow<true>(*csv_, data, size, state, true, &record);
    if (ends.any()) return end_record(ends.first), step;
    step.anew = record.quote != quote_before;
    step.used = record.damaged ? record.damaged_at : size;
    if (record.line_end != RecordScan::none) step.line_end = record.line_end;
    const bool just_closed = record.closed + 1 == step.used;
    step.open = record.quote != RecordScan::none && (state->inside || state->closing || just_closed);
    step.given_up = record.damaged;
    step.anew |= !step.open;
    state->count = step.open ? step.used - record.quote : 0;
    state->carried =
        step.open ? CarriedQuote{just_closed, record.damaged, record.line_matched, record.lines}.packed() : 0;
    return step;
}

uint64_t CsvScanner::size_of_first(const uint8_t* data, size_t size, ScanState* state) const {
    if (!looks_ahead()) return scan(data, size, state, true).first;
    const size_t mark = state->mark < mark_bytes ? mark_size(data, size) : 0;
    RecordShape shape;
    const bool found =
        split_record(*csv_, data + mark, size - mark, &shape) || is_left_open(*csv_, data + mark, size - mark, &shape);
    return found ? mark + shape.size : RecordEnds::none;
}

// Those that the bytes which mean something lead to.
std::vector<ScanState> CsvScanner::possible_states() const {
    std::string bytes = byte_order_mark + csv_->record_end + csv_->delimiter + " \rx";
    for (uint8_t special : {csv_->quote, csv_->escape, csv_->comment}) bytes += char(special);
    std::sort(bytes.begin(), bytes.end());
    bytes.erase(std::unique(bytes.begin(), bytes.end()), bytes.end());
    std::vector<ScanState> states{ScanState::of_stream_start()};
    for (size_t i = 0; i < states.size(); i++) {
        for (const char byte : bytes) {
            ScanState next = states[i];
            scan_csv(*csv_, reinterpret_cast<const uint8_t*>(&byte), 1, &next, false);
            if (std::find(states.begin(), states.end(), next) == states.end()) states.push_back(next);
        }
    }
    return states;
}

bool Utf16CsvScanner::can_be(const ScanState& state) const {
    return matches_in_part(*csv_, state) && state.count <= carried_most;
}

RecordEnds Utf16CsvScanner::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    constexpr size_t stretch = 2048;
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
