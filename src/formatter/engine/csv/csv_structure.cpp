#include "engine/csv/csv_structure.hpp"

#include <cstring>

#include "engine/csv/csv_scanner.hpp"

namespace formatter {
namespace {

bool is_padding(uint8_t c) { return c == ' ' || c == '\t'; }

// Whether the last byte is literal because of the escape before it: an odd number of escapes, for two make one literal.
bool ends_escaped(const CsvFormat& format, const uint8_t* data, size_t size) {
    size_t escapes = 0;
    while (format.escaping && escapes + 1 < size && data[size - 2 - escapes] == format.escape) escapes++;
    return escapes % 2 == 1;
}

}  // namespace

size_t without_carriage_return(const CsvFormat& format, const uint8_t* data, size_t size) {
    const bool drop = size && data[size - 1] == '\r' && format.accepts_crlf() && !ends_escaped(format, data, size);
    return size - drop;
}

size_t record_without_carriage_return(const CsvFormat& format, const uint8_t* data, const RecordShape& shape) {
    const size_t count = shape.separators.size();
    const size_t begin = count > 1 ? shape.separators[count - 2] + format.delimiter.size() : 0;
    return begin + without_carriage_return(format, data + begin, shape.separators.back() - begin);
}

Bytes trimmed_sides(const CsvFormat& format, Bytes field) {
    while (format.trim_left && field.size && is_padding(field.data[0])) field.data++, field.size--;
    while (format.trim_right && field.size && is_padding(field.data[field.size - 1]) &&
           !ends_escaped(format, field.data, field.size))
        field.size--;
    return field;
}

namespace {

// The damage ends with the line in which the quote stands. False if that has no end.
bool end_damage(const CsvFormat& format, const uint8_t* data, size_t size, const RecordScan& record, RecordShape* out) {
    const std::string& ending = format.record_end;
    const void* end = memmem(data + record.quote, size - record.quote, ending.data(), ending.size());
    if (!end) return false;
    const size_t content = size_t(static_cast<const uint8_t*>(end) - data);
    out->damaged = true;
    out->quote = record.quote;
    out->size = content + ending.size();
    out->separators.assign(1, uint32_t(content));
    return true;
}

}  // namespace

namespace {

// Where nothing but pairs of quotes hides separators of one byte. False if the record does not end within the bytes.
bool split_plain_record(const CsvFormat& format, const uint8_t* data, size_t size, RecordShape* out) {
    const uint8_t delimiter = uint8_t(format.delimiter[0]), end = uint8_t(format.record_end[0]);
    // Without quotes a second delimiter is looked for in their place, and never met.
    const uint8_t quote = format.quoting ? format.quote : delimiter;
    for (size_t at = 0; at < size; at++) {
        const uint8_t c = data[at];
        if (c == delimiter || c == end) {
            out->separators.push_back(uint32_t(at));
            if (c == delimiter) continue;
            out->size = at + 1;
            out->comment = false;
            return true;
        }
        if (c != quote) continue;
        const void* const closing = std::memchr(data + at + 1, quote, size - at - 1);
        if (!closing) return false;
        at = size_t(static_cast<const uint8_t*>(closing) - data);
    }
    return false;
}

}  // namespace

bool split_record(const CsvFormat& format, const uint8_t* data, size_t size, RecordShape* out) {
    out->separators.clear();
    out->damaged = false;
    const bool by_parity = !format.quoting || (format.newlines_in_quotes && !format.picky() && !format.bounded());
    if (format.plain() && by_parity) return split_plain_record(format, data, size, out);
    ScanState state;
    RecordScan record;
    record.separators = &out->separators;
    const RecordEnds ends = scan_csv(format, data, size, &state, true, &record);
    if (record.damaged) return end_damage(format, data, size, record, out);
    if (!ends.any()) return false;
    out->size = ends.first;
    out->comment = format.commenting && data[0] == format.comment;
    const size_t end = out->size - format.record_end.size();
    // Record ends are found first: one that begins within a delimiter leaves none there.
    while (!out->separators.empty() && out->separators.back() + format.delimiter.size() > end)
        out->separators.pop_back();
    out->separators.push_back(uint32_t(end));
    return true;
}

bool is_left_open(const CsvFormat& format, const uint8_t* data, size_t size, RecordShape* out) {
    if (!format.quoting) return false;
    ScanState state;
    RecordScan record;
    if (scan_csv(format, data, size, &state, true, &record).any()) return false;
    const bool open =
        state.inside && format.newlines_in_quotes;  // else the input's end closes it, as a line's end does
    if (!open && !record.damaged) return false;
    out->comment = false;
    if (end_damage(format, data, size, record, out)) return true;
    out->damaged = true;
    out->quote = record.quote;
    out->size = size;
    out->separators.assign(1, uint32_t(size));
    return true;
}

namespace {

bool is_empty_line(const CsvFormat& format, const uint8_t* data, size_t size_without_end) {
    return size_without_end == 0 || (size_without_end == 1 && data[0] == '\r' && format.accepts_crlf());
}

}  // namespace

bool is_blank(const CsvFormat& format, const uint8_t* data, size_t size_without_end) {
    return format.fields != 1 && is_empty_line(format, data, size_without_end);
}

bool is_blank_in_preamble(const CsvFormat& format, const uint8_t* data, size_t size_without_end) {
    return format.fields_of_schema.value_or(format.fields) != 1 && is_empty_line(format, data, size_without_end);
}

namespace {

// By the rules of place nothing is malformed: where quotes end, text goes on.
Quoting content_by_place(const CsvFormat& format, Bytes field, std::string* scratch, Bytes* content) {
    const uint8_t* at = field.data;
    const uint8_t* const end = field.data + field.size;
    const bool quoted = field.size && *at == format.quote;
    bool inside = quoted;
    scratch->clear();
    for (at += quoted; at < end; at++) {
        if (format.escaping && *at == format.escape) {
            if (++at == end) return Quoting::malformed;
        } else if (inside && *at == format.quote) {
            const bool doubled = !format.escaping && at + 1 < end && at[1] == format.quote;
            inside =
                doubled || (format.quote_rule == QuoteRule::sticky && at + 1 < end && !begins_separator(format, at[1]));
            at += doubled;
            if (!inside) continue;
        }
        scratch->push_back(char(*at));
    }
    *content = bytes_of(*scratch);
    return quoted ? Quoting::quoted : Quoting::none;
}

}  // namespace

Quoting field_content(const CsvFormat& format, Bytes field, std::string* scratch, Bytes* content) {
    field = trimmed(format, field);
    *content = field;
    const bool quoted = format.quoting && field.size && field.data[0] == format.quote;
    if (!format.escaping) {
        if (!format.quoting || !field.size) return Quoting::none;
        if (!quoted && format.picky()) return Quoting::none;
        if (!quoted) return std::memchr(field.data, format.quote, field.size) ? Quoting::malformed : Quoting::none;
    }
    if (!format.escaping && field.size >= 2 && field.data[field.size - 1] == format.quote &&
        !std::memchr(field.data + 1, format.quote, field.size - 2)) {
        *content = Bytes{field.data + 1, field.size - 2};
        return Quoting::quoted;
    }
    if (format.picky()) return content_by_place(format, field, scratch, content);
    const uint8_t* at = field.data + quoted;
    const uint8_t* end = field.data + field.size;
    scratch->clear();
    bool open = quoted;
    for (; at < end; at++) {
        const uint8_t* const plain = at;
        while (at < end && !(format.escaping && *at == format.escape) && !(format.quoting && *at == format.quote)) at++;
        scratch->append(reinterpret_cast<const char*>(plain), size_t(at - plain));
        if (at == end) break;
        if (format.escaping && *at == format.escape) {
            if (++at == end) return Quoting::malformed;
            scratch->push_back(char(*at));
        } else {
            if (!quoted) return Quoting::malformed;
            if (!format.escaping && at + 1 < end && at[1] == format.quote) {
                scratch->push_back(char(*at++));
                continue;
            }
            open = false;
            if (at + 1 != end) return Quoting::malformed;  // text behind the closing quote
        }
    }
    if (open) return Quoting::malformed;
    *content = bytes_of(*scratch);
    return quoted ? Quoting::quoted : Quoting::none;
}

}  // namespace formatter
