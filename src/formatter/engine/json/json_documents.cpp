#include "engine/json/json_documents.hpp"

#include <cstring>

#include "engine/json/json_text.hpp"
#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

size_t skip_space(const uint8_t* data, size_t at, size_t size) {
    return size_t(skip_json_space(data + at, data + size) - data);
}

// Behind the quote that closes the string, or `size`; the state says which.
size_t pass_string(const uint8_t* data, size_t at, size_t size, ScanState* state) {
    while (at < size) {
        if (state->escaped) {
            state->escaped = false;
            at++;
            continue;
        }
        constexpr uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;
        while (size - at >= 8) {  // eight bytes without a quote or a backslash
            uint64_t word;
            std::memcpy(&word, data + at, 8);
            const uint64_t quote = word ^ ones * '"', escape = word ^ ones * '\\';
            if ((((quote - ones) & ~quote) | ((escape - ones) & ~escape)) & highs) break;
            at += 8;
        }
        if (at == size) break;
        const uint8_t c = data[at++];
        if (c == '"') {
            state->inside = false;
            break;
        }
        state->escaped = c == '\\';
    }
    return at;
}

// A record's bytes as a line. Line breaks between tokens become spaces; in a string, where none may stand, they become
// another character that may not.
void copy_json_as_line(const uint8_t* data, size_t size, uint8_t* out) {
    if (size == 0) return;
    std::memcpy(out, data, size);
    uint8_t* at = static_cast<uint8_t*>(std::memchr(out, '\n', size));
    if (!at) return;
    ScanState state;
    for (size_t i = 0; i < size;) {
        if (state.inside) {
            const size_t end = pass_string(data, i, size, &state);
            for (; i < end; i++)
                if (out[i] == '\n') out[i] = 1;
            continue;
        }
        if (data[i] == '"') state.inside = true;
        if (data[i] == '\n') out[i] = ' ';
        i++;
    }
}

}  // namespace

RecordEnds JsonDocuments::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    if (layout_ != JsonLayout::array) return scan_documents(data, size, state, first_only);
    return scan_array(data, size, state, first_only);
}

RecordEnds JsonDocuments::scan_array(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    RecordEnds ends;
    for (size_t at = 0; at < size && !state->matched;) {
        if (state->inside) {
            at = pass_string(data, at, size, state);
            continue;
        }
        const uint8_t c = data[at++];
        if (state->mark < mark_bytes) {
            if (state->mark == 0) state->in_comment = true;
            if (is_next_mark_byte(c, &state->mark)) continue;
        }
        if (state->in_comment) {
            if (is_json_space(c)) continue;
            state->in_comment = false;
            state->matched = c != '[';
            continue;
        }
        switch (c) {
            case '"': state->inside = true; break;
            case '[':
            case '{': state->count++; break;
            case ']':
            case '}':
                if (state->count)
                    state->count--;
                else
                    state->matched = c == ']';
                break;
            case ',':
                if (state->count) break;
                ends.add(at);
                if (first_only) return ends;
                break;
            default: break;
        }
    }
    return ends;
}

RecordEnds JsonDocuments::scan_documents(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    RecordEnds ends;
    for (size_t at = 0; at < size;) {
        bool ended = false;
        if (state->inside) {
            at = pass_string(data, at, size, state);
            if (state->inside) break;
            ended = state->count == 0;
        } else {
            const uint8_t c = data[at++];
            if (state->mark < mark_bytes && is_next_mark_byte(c, &state->mark)) continue;
            if (state->at_record_start && is_json_space(c)) continue;
            const bool first = state->at_record_start;
            state->at_record_start = false;
            switch (c) {
                case '"': state->inside = true; break;
                case '[':
                case '{': state->count++; break;
                case ']':
                case '}':
                    if (state->count) state->count--;
                    ended = state->count == 0;
                    break;
                case ',':
                case ' ':
                case '\n':
                case '\r':
                case '\t': ended = state->count == 0 && (c == ',' || !first); break;
                default: break;
            }
        }
        if (!ended) continue;
        state->at_record_start = true;
        ends.add(at);
        if (first_only) return ends;
    }
    return ends;
}

// Where the lines of a rewriting go.
class JsonAsLines::Lines {
  public:
    Lines(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks)
        : source_(source), out_(out), marks_(marks) {}
    // The document in [begin, end) of the source; its record goes on to `record_end`.
    void add(size_t begin, size_t end, size_t record_end) {
        uint8_t* const line = out_ + text_.size;
        marks_->push_back(TextMark{text_.size, begin, record_end, true});
        copy_json_as_line(source_.data + begin, end - begin, line);
        line[end - begin] = '\n';
        text_.size += end - begin + 1;
    }
    RewrittenText done(ErrorCode problem = ErrorCode::none, size_t at = 0) {
        text_.problem = problem;
        text_.problem_at = at;
        return text_;
    }

  private:
    const RewriteSource& source_;
    uint8_t* out_;
    std::vector<TextMark>* marks_;
    RewrittenText text_;
};

RewrittenText JsonAsLines::rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const {
    Lines lines(source, out, marks);
    if (layout_ == JsonLayout::prefixed) return rewrite_prefixed(source, &lines);
    size_t at = 0;
    while (at < source.size) {
        const bool first = at == 0 && source.stream_start;
        ScanState state;
        if (first) state.mark = 0;
        const RecordEnds found = documents_.scan(source.data + at, source.size - at, &state, true);
        if (!found.any()) break;
        const size_t record_end = at + found.first;
        size_t begin = at;
        if (first) {
            begin += mark_size(source.data + begin, record_end - begin);
            if (layout_ == JsonLayout::array) begin = skip_space(source.data, begin, record_end) + 1;  // the bracket
        }
        // An item without its comma; nothing at all in front of it is an item that is missing, which the comma tells.
        const bool comma = layout_ == JsonLayout::array && skip_space(source.data, begin, record_end) + 1 < record_end;
        lines.add(begin, record_end - comma, record_end);
        at = record_end;
    }
    return source.final ? rewrite_end(source, at, &lines) : lines.done();
}

RewrittenText JsonAsLines::rewrite_prefixed(const RewriteSource& source, Lines* lines) const {
    size_t at = 0;
    while (at < source.size) {
        const PrefixedRecord record = prefixed_record_at(length_, source.data + at, source.size - at);
        if (!record.complete) break;
        const size_t begin = at + record.prefix, end = begin + size_t(record.size);
        lines->add(begin, end, end);
        at = end;
    }
    return source.final && at < source.size ? lines->done(ErrorCode::unterminated_record, at) : lines->done();
}

// What stands behind the last record.
RewrittenText JsonAsLines::rewrite_end(const RewriteSource& source, size_t at, Lines* lines) const {
    const uint8_t* data = source.data;
    const size_t size = source.size;
    const bool first = at == 0 && source.stream_start;
    if (first) at += mark_size(data, size);
    size_t begin = skip_space(data, at, size);
    if (layout_ != JsonLayout::array) {
        if (begin < size) lines->add(begin, size, size);
        return lines->done();
    }
    if (first) {
        if (begin < size && data[begin] != '[') return lines->done(ErrorCode::not_an_array, begin);
        if (begin == size) return lines->done();  // nothing at all
        begin = skip_space(data, begin + 1, size);
    }
    // The item through the bracket that closes the array.
    ScanState state;
    size_t close = begin;
    while (close < size) {
        if (state.inside) {
            close = pass_string(data, close, size, &state);
            continue;
        }
        const uint8_t c = data[close];
        if (c == '"') state.inside = true;
        if (c == '[' || c == '{') state.count++;
        if (c == ']' || c == '}') {
            if (state.count == 0 && c == ']') break;
            if (state.count) state.count--;
        }
        close++;
    }
    const bool closed = close < size;
    const bool open = state.inside || state.count;
    if (begin < close)
        lines->add(begin, close, close);
    else if (closed && !first)
        lines->add(close, close + 1, close + 1);  // a comma, and then no item
    if (!closed && !open) return lines->done(ErrorCode::unterminated_array, size);
    if (!closed) return lines->done();
    const size_t behind = skip_space(data, close + 1, size);
    return behind < size ? lines->done(ErrorCode::trailing_data, behind) : lines->done();
}

}  // namespace formatter
