#include "engine/json/json_frames.hpp"

#include <cstring>

namespace formatter {
namespace {

constexpr char byte_order_mark[] = "\xEF\xBB\xBF";

bool is_space(uint8_t c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

size_t skip_space(const uint8_t* data, size_t at, size_t size) {
    while (at < size && is_space(data[at])) at++;
    return at;
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

// Bytes of a byte order mark at the stream's start. Returns whether this byte is one.
bool is_mark(uint8_t c, ScanState* state) {
    if (c == uint8_t(byte_order_mark[state->mark])) {
        state->mark++;
        return true;
    }
    state->mark = 3;
    return false;
}

}  // namespace

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

BufferScan JsonFrames::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    if (layout_ != JsonLayout::array) return scan_documents(data, size, state, first_only);
    return scan_array(data, size, state, first_only);
}

BufferScan JsonFrames::scan_array(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    BufferScan scan;
    for (size_t at = 0; at < size && !state->matched;) {
        if (state->inside) {
            at = pass_string(data, at, size, state);
            continue;
        }
        const uint8_t c = data[at++];
        if (state->mark < 3) {
            if (state->mark == 0) state->in_comment = true;
            if (is_mark(c, state)) continue;
        }
        if (state->in_comment) {
            if (is_space(c)) continue;
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
                if (scan.first_end == BufferScan::none) scan.first_end = at;
                scan.last_end = at;
                if (first_only) return scan;
                break;
            default: break;
        }
    }
    return scan;
}

BufferScan JsonFrames::scan_documents(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    BufferScan scan;
    for (size_t at = 0; at < size;) {
        bool ends = false;
        if (state->inside) {
            at = pass_string(data, at, size, state);
            if (state->inside) break;
            ends = state->count == 0;
        } else {
            const uint8_t c = data[at++];
            if (state->mark < 3 && is_mark(c, state)) continue;
            if (state->at_record_start && is_space(c)) continue;
            const bool first = state->at_record_start;
            state->at_record_start = false;
            switch (c) {
                case '"': state->inside = true; break;
                case '[':
                case '{': state->count++; break;
                case ']':
                case '}':
                    if (state->count) state->count--;
                    ends = state->count == 0;
                    break;
                case ',':
                case ' ':
                case '\n':
                case '\r':
                case '\t': ends = state->count == 0 && (c == ',' || !first); break;
                default: break;
            }
        }
        if (!ends) continue;
        state->at_record_start = true;
        if (scan.first_end == BufferScan::none) scan.first_end = at;
        scan.last_end = at;
        if (first_only) return scan;
    }
    return scan;
}

RewrittenText JsonLines::rewrite(const RewriteSource& source, uint8_t* out, std::vector<TextMark>* marks) const {
    size_t at = 0, written = 0;
    while (at < source.size) {
        const bool first = at == 0 && source.stream_start;
        ScanState state;
        if (first) state.mark = 0;
        const BufferScan found = frames_.scan(source.data + at, source.size - at, &state, true);
        if (found.first_end == BufferScan::none) break;
        const size_t end = at + found.first_end;
        size_t begin = at;
        if (first) {
            if (end - begin >= 3 && std::memcmp(source.data + begin, byte_order_mark, 3) == 0) begin += 3;
            if (layout_ == JsonLayout::array) begin = skip_space(source.data, begin, end) + 1;  // the bracket
        }
        const uint8_t* record = source.data + begin;
        size_t size = end - begin;
        // An item without its comma; nothing at all in front of it is an item that is missing, which the comma tells.
        if (layout_ == JsonLayout::array && skip_space(record, 0, size) + 1 < size) size--;
        marks->push_back(TextMark{source.text_at + int64_t(written), out + written, source.offset + int64_t(begin),
                                  source.offset + int64_t(end), true});
        copy_json_as_line(record, size, out + written);
        written += size;
        out[written++] = '\n';
        at = end;
    }
    if (source.final) return rewrite_end(source, at, out, written, marks);
    RewrittenText result;
    result.size = written;
    return result;
}

// What stands behind the last frame.
RewrittenText JsonLines::rewrite_end(const RewriteSource& source, size_t at, uint8_t* out, size_t written,
                                     std::vector<TextMark>* marks) const {
    const uint8_t* data = source.data;
    const size_t size = source.size;
    RewrittenText result;
    const auto add_line = [&](size_t begin, size_t end) {
        marks->push_back(TextMark{source.text_at + int64_t(written), out + written, source.offset + int64_t(begin),
                                  source.offset + int64_t(end), true});
        copy_json_as_line(data + begin, end - begin, out + written);
        written += end - begin;
        out[written++] = '\n';
    };
    const bool first = at == 0 && source.stream_start;
    if (first && size >= 3 && std::memcmp(data, byte_order_mark, 3) == 0) at += 3;
    size_t begin = skip_space(data, at, size);
    if (layout_ != JsonLayout::array) {
        if (begin < size) add_line(begin, size);
        result.size = written;
        return result;
    }
    if (first) {
        if (begin < size && data[begin] != '[') {
            result.problem = ErrorCode::not_an_array;
            result.problem_at = begin;
            return result;
        }
        if (begin == size) return result;  // nothing at all
        at = begin + 1;
        begin = skip_space(data, at, size);
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
        add_line(begin, close);
    else if (closed && !first)
        add_line(close, close + 1);  // a comma, and then no item
    if (!closed && !open) {
        result.problem = ErrorCode::unterminated_array;
        result.problem_at = size;
    } else if (closed) {
        const size_t behind = skip_space(data, close + 1, size);
        if (behind < size) {
            result.problem = ErrorCode::trailing_data;
            result.problem_at = behind;
        }
    }
    result.size = written;
    return result;
}

}  // namespace formatter
