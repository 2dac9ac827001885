#include "engine/csv/csv_structure.hpp"

#include <cstring>

namespace formatter {
namespace {

bool starts_with(const uint8_t* at, size_t left, const std::string& text) {
    return left >= text.size() && std::memcmp(at, text.data(), text.size()) == 0;
}

bool is_padding(uint8_t c) { return c == ' ' || c == '\t'; }

// Whether the last byte is literal because of the escape before it: an odd number of escapes, for two make one literal.
bool ends_escaped(const CsvFormat& format, const uint8_t* data, size_t size) {
    size_t escapes = 0;
    while (format.escaping && escapes + 1 < size && data[size - 2 - escapes] == format.escape) escapes++;
    return escapes % 2 == 1;
}

}  // namespace

size_t without_carriage_return(const CsvFormat& format, const uint8_t* data, size_t size) {
    const bool drop = format.accepts_crlf() && size && data[size - 1] == '\r' && !ends_escaped(format, data, size);
    return size - drop;
}

Bytes trimmed(const CsvFormat& format, Bytes field) {
    if (!format.trim) return field;
    while (field.size && is_padding(field.data[0])) field.data++, field.size--;
    while (field.size && is_padding(field.data[field.size - 1]) && !ends_escaped(format, field.data, field.size))
        field.size--;
    return field;
}

bool split_record(const CsvFormat& format, const uint8_t* data, size_t size, RecordShape* out) {
    out->separators.clear();
    ScanState state;
    const BufferScan scan = scan_buffer(format, data, size, &state, true);
    if (scan.first_end == BufferScan::none) return false;
    out->size = scan.first_end;
    out->comment = format.commenting && data[0] == format.comment;
    const size_t end = out->size - format.record_end.size();
    bool inside = false;
    for (size_t at = 0; at < end && !out->comment;) {
        if (format.escaping && data[at] == format.escape) {
            at += 2;
        } else if (format.quoting && data[at] == format.quote) {
            inside = !inside;
            at++;
        } else if (!inside && starts_with(data + at, end - at, format.delimiter)) {
            out->separators.push_back(uint32_t(at));
            at += format.delimiter.size();
        } else {
            at++;
        }
    }
    out->separators.push_back(uint32_t(end));
    return true;
}

bool is_blank(const CsvFormat& format, const uint8_t* data, size_t size_without_end) {
    if (format.fields <= 1) return false;
    return size_without_end == 0 || (size_without_end == 1 && data[0] == '\r' && format.accepts_crlf());
}

Quoting field_content(const CsvFormat& format, Bytes field, std::string* scratch, Bytes* content) {
    field = trimmed(format, field);
    *content = field;
    const bool quoted = format.quoting && field.size && field.data[0] == format.quote;
    if (!format.escaping) {
        if (!format.quoting || !field.size) return Quoting::none;
        if (!quoted) return std::memchr(field.data, format.quote, field.size) ? Quoting::malformed : Quoting::none;
    }
    if (!format.escaping && field.size >= 2 && field.data[field.size - 1] == format.quote &&
        !std::memchr(field.data + 1, format.quote, field.size - 2)) {
        *content = Bytes{field.data + 1, field.size - 2};
        return Quoting::quoted;
    }
    const uint8_t* at = field.data + quoted;
    const uint8_t* end = field.data + field.size;
    scratch->clear();
    bool open = quoted;
    for (; at < end; at++) {
        if (format.escaping && *at == format.escape) {
            if (++at == end) return Quoting::malformed;
            scratch->push_back(char(*at));
        } else if (format.quoting && *at == format.quote) {
            if (!quoted) return Quoting::malformed;
            if (!format.escaping && at + 1 < end && at[1] == format.quote) {
                scratch->push_back(char(*at++));
                continue;
            }
            open = false;
            if (at + 1 != end) return Quoting::malformed;  // text behind the closing quote
        } else {
            scratch->push_back(char(*at));
        }
    }
    if (open) return Quoting::malformed;
    *content = Bytes{reinterpret_cast<const uint8_t*>(scratch->data()), scratch->size()};
    return quoted ? Quoting::quoted : Quoting::none;
}

bool find_header(const CsvFormat& format, const uint8_t* data, size_t size, size_t* begin, RecordShape* shape) {
    size_t at = size >= 3 && std::memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (split_record(format, data + at, size - at, shape)) {
        if (!shape->comment && !is_blank(format, data + at, shape->separators.back())) return *begin = at, true;
        at += shape->size;
    }
    return false;
}

std::vector<std::string> map_header(CsvFormat* format, const uint8_t* base, const RecordShape& shape) {
    std::vector<std::string> names;
    size_t begin = 0;
    for (size_t i = 0; i < shape.separators.size(); i++) {
        size_t end = shape.separators[i];
        const bool last = i + 1 == shape.separators.size();
        if (last && format->accepts_crlf() && end > begin && base[end - 1] == '\r') end--;
        std::string scratch;
        Bytes content{};
        field_content(*format, Bytes{base + begin, end - begin}, &scratch, &content);
        names.emplace_back(reinterpret_cast<const char*>(content.data), content.size);
        begin = shape.separators[i] + format->delimiter.size();
    }
    std::vector<std::string> missing;
    for (ColumnSpec& column : format->columns) {
        size_t i = 0;
        while (i < names.size() && names[i] != column.name) i++;
        if (i == names.size()) missing.push_back(column.name);
        column.field = uint32_t(i < names.size() ? i : 0);
    }
    format->fields = uint32_t(names.size());
    return missing;
}

BufferScan scan_buffer(const CsvFormat& format, const uint8_t* data, size_t size, ScanState* state, bool first_only) {
    BufferScan scan;
    const std::string& ending = format.record_end;
    for (size_t at = 0; at < size; at++) {
        const uint8_t c = data[at];
        if (state->escaped) {
            state->escaped = false;
            continue;
        }
        if (state->at_record_start) state->in_comment = format.commenting && c == format.comment;
        state->at_record_start = false;
        if (state->mark < 3) {  // a stream's first bytes: behind a byte order mark the first record still begins
            const bool more = c == uint8_t("\xEF\xBB\xBF"[state->mark]);
            state->mark = more ? uint8_t(state->mark + 1) : 3;
            state->at_record_start = more && state->mark == 3;
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
        uint8_t matched = state->matched;
        while (matched && uint8_t(ending[matched]) != c) {
            uint8_t shorter = matched - 1;
            while (shorter && std::memcmp(ending.data(), ending.data() + matched - shorter, shorter) != 0) shorter--;
            matched = shorter;
        }
        matched = uint8_t(ending[matched]) == c ? matched + 1 : 0;
        if (matched == ending.size()) {
            matched = 0;
            if (scan.first_end == BufferScan::none) scan.first_end = at + 1;
            scan.last_end = at + 1;
            state->at_record_start = true;
            state->in_comment = false;
            if (first_only) return scan;
        }
        state->matched = matched;
    }
    return scan;
}

}  // namespace formatter
