#include "engine/csv/csv_structure.hpp"

#include <cstring>

#include "engine/csv/csv_scanner.hpp"

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
    const RecordEnds ends = scan_csv(format, data, size, &state, true);
    if (!ends.any()) return false;
    out->size = ends.first;
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
    if (format.fields == 1) return false;
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

}  // namespace formatter
