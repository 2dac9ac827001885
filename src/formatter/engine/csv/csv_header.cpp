#include "engine/csv/csv_header.hpp"

#include <algorithm>
#include <cstring>
#include <set>

#include "engine/csv/csv_record_format.hpp"
#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

bool is_name_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string stripped(const std::string& text) {
    size_t begin = 0, end = text.size();
    while (begin < end && is_name_space(text[begin])) begin++;
    while (end > begin && is_name_space(text[end - 1])) end--;
    return text.substr(begin, end - begin);
}

// Bounds are of records: where one is passed in a header a stream would have to go back behind what it has let go.
CsvFormat without_bounds(CsvFormat format) {
    format.max_quoted_lines = format.max_quoted_bytes = 0;
    return format;
}

// The fields of one line of the header.
std::vector<std::string> fields_of(const CsvFormat& format, Bytes line) {
    std::string terminated(reinterpret_cast<const char*>(line.data), line.size);
    terminated += format.record_end;
    const uint8_t* const base = reinterpret_cast<const uint8_t*>(terminated.data());
    std::vector<std::string> fields;
    RecordShape shape;
    if (!split_record(format, base, terminated.size(), &shape)) {  // a quote never closed, or an escape of nothing
        CsvFormat ended = format;  // by the line's end, whatever is open there
        ended.newlines_in_quotes = ended.escaping = false;
        split_record(ended, base, terminated.size(), &shape);
    }
    size_t begin = 0;
    for (size_t i = 0; i < shape.separators.size(); i++) {
        size_t size = shape.separators[i] - begin;
        if (i + 1 == shape.separators.size()) size = without_carriage_return(format, base + begin, size);
        std::string scratch;
        Bytes content{};
        field_content(format, Bytes{base + begin, size}, &scratch, &content);
        if (format.errors != TextErrors::strict && !format.kernel->valid_utf8(content.data, content.size))
            fields.push_back(repaired_utf8(format.errors, content.data, content.size));
        else
            fields.emplace_back(reinterpret_cast<const char*>(content.data), content.size);
        begin = shape.separators[i] + format.delimiter.size();
    }
    return fields;
}

// Later ones of a name count on until no other has it: name, name_2, name_3.
void make_unique(std::vector<std::string>* names) {
    std::set<std::string> taken(names->begin(), names->end()), seen;
    for (std::string& name : *names) {
        if (seen.insert(name).second) continue;
        for (uint64_t number = 2;; number++) {
            const std::string other = name + "_" + std::to_string(number);
            if (!taken.insert(other).second) continue;
            name = other;
            break;
        }
    }
}

// Names that several lines give together are their words, one line after the other.
std::vector<std::string> names_of(const CsvFormat& csv, const std::vector<Bytes>& lines) {
    const CsvFormat format = without_bounds(csv);
    std::vector<std::string> names;
    for (size_t i = 0; i < lines.size(); i++) {
        const std::vector<std::string> fields = fields_of(format, lines[i]);
        if (names.size() < fields.size()) names.resize(fields.size());
        for (size_t k = 0; k < fields.size(); k++) {
            const std::string part = lines.size() > 1 || format.trim_names ? stripped(fields[k]) : fields[k];
            if (!part.empty() && !names[k].empty()) names[k] += ' ';
            names[k] += part;
        }
    }
    if (format.unique_names) make_unique(&names);
    return names;
}

std::string as_utf8(const CsvFormat& format, const std::string& text) {
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(text.data());
    const bool valid = format.kernel->valid_utf8(bytes, text.size());
    return valid ? text : repaired_utf8(TextErrors::replace, bytes, text.size());
}

// A name as it is compared with others.
std::string compared(const CsvFormat& format, std::string name) {
    for (char& c : name)
        if (format.names_in_any_case && c >= 'A' && c <= 'Z') c = char(c + ('a' - 'A'));
    return name;
}

// Maps the columns of `format` to the fields of those names. Returns the names that are lacking, unless those are null.
std::vector<std::string> map_columns(CsvFormat* format, const std::vector<std::string>& given) {
    std::vector<std::string> missing, names;
    for (const std::string& name : given) names.push_back(compared(*format, name));
    for (size_t i = 0; i < format->columns.size(); i++) {
        ColumnSpec& column = format->columns[i];
        if (int32_t(i) == format->rescue_column) continue;
        const auto found = std::find(names.begin(), names.end(), compared(*format, column.name));
        const bool found_it = found != names.end();
        if (!found_it && !format->absent_is_null) missing.push_back(column.name);
        column.field = found_it ? uint32_t(found - names.begin()) : format->absent_is_null ? absent_field : 0;
    }
    format->fields_of_schema = format->fields;
    format->fields = uint32_t(names.size());
    std::set<std::string> known;
    for (const std::string& name : format->known_names) known.insert(compared(*format, name));
    for (uint32_t field = 0; field < names.size() && format->rescue_column >= 0; field++)
        if (known.erase(names[field]) == 0) format->unclaimed.push_back({field, as_utf8(*format, given[field])});
    return missing;
}

bool names_fields(const CsvFormat& format, uint64_t record) {
    return std::find(format.header_at.begin(), format.header_at.end(), record) != format.header_at.end();
}

uint64_t records_of_header(const CsvFormat& format) {
    return format.header_at.empty() ? 0 : format.header_at.back() + 1;
}

uint64_t records_of_preamble(const CsvFormat& format) { return records_of_header(format) + format.skip_records; }

}  // namespace

bool follow_preamble(const CsvFormat& format, const uint8_t* data, size_t size, bool whole, PreambleLines* out) {
    if (format.bounded()) return follow_preamble(without_bounds(format), data, size, whole, out);
    const std::string& ending = format.record_end;
    const uint64_t wanted = records_of_preamble(format);
    size_t at = 0;
    out->names.clear();
    for (uint64_t i = 0; i < format.skip_lines; i++) {
        const void* end = memmem(data + at, size - at, ending.data(), ending.size());
        if (!end && !whole) return false;
        at = end ? size_t(static_cast<const uint8_t*>(end) - data) + ending.size() : size;
    }
    out->header = at;
    RecordShape shape;
    for (uint64_t met = 0; met < wanted;) {
        const bool ended = split_record(format, data + at, size - at, &shape);
        if (!ended && !whole) return false;
        if (at == size) {  // with fewer records than are skipped all are
            out->size = size;
            return met >= records_of_header(format);
        }
        // The input's end ends it. If that is inside quotes, it is the line in which they opened, as other records are.
        if (!ended && !is_left_open(format, data + at, size - at, &shape)) {
            std::string last(reinterpret_cast<const char*>(data + at), size - at);
            last += ending;
            const uint8_t* const text = reinterpret_cast<const uint8_t*>(last.data());
            if (!split_record(format, text, last.size(), &shape)) {  // it ends with an escape of nothing
                shape.comment = false;
                shape.separators.assign(1, uint32_t(size - at));
            }
            shape.size = size - at;
        }
        const size_t content = shape.separators.back();
        if (shape.comment || is_blank_in_preamble(format, data + at, content)) {
            if (met == 0) out->header = at + shape.size;
        } else if (names_fields(format, met++)) {
            if (out->names.empty()) out->header = at;
            out->names.push_back(Bytes{data + at, content});
        }
        at += shape.size;
    }
    out->size = at;
    return true;
}

uint64_t CsvHeader::find_end(const uint8_t* data, size_t size, uint64_t most, PreambleScan* scan) const {
    const uint64_t wanted = records_of_preamble(*csv_);
    for (size_t at = 0; at < size && !scan->too_long;) {
        const RecordScanner& scanner = scan->lines < csv_->skip_lines ? *lines_ : *scanner_;
        const uint64_t found = scanner.scan(data + at, size - at, &scan->state, true).first;
        const bool ended = found != RecordEnds::none;
        const size_t used = ended ? found : size - at;
        scan->too_long = scan->line.size() + used + !ended > most;
        if (scan->too_long) return std::string().swap(scan->line), RecordEnds::none;
        scan->line.append(reinterpret_cast<const char*>(data + at), used);
        at += used;
        if (!ended) break;
        if (take_line(scan) && scan->lines == csv_->skip_lines && scan->records == wanted) return at;
    }
    return RecordEnds::none;
}

// A line has come to its end. True if it counts.
bool CsvHeader::take_line(PreambleScan* scan) const {
    const std::string text = take_text(scan);
    std::string line = std::move(scan->line);
    scan->line.clear();
    scan->first_line = false;
    if (scan->lines < csv_->skip_lines) return ++scan->lines, true;
    const size_t content = text.size() - source_->record_end.size();
    const bool comment = content && source_->commenting && uint8_t(text[0]) == source_->comment;
    if (comment || is_blank_in_preamble(*source_, reinterpret_cast<const uint8_t*>(text.data()), content)) return false;
    if (names_fields(*csv_, scan->records++)) scan->header += line;
    return true;
}

// The line of a quote that is never closed, which the open record turns out to be at the input's end; 0 if nothing is open.
size_t CsvHeader::damaged_line(PreambleScan* scan) const {
    const std::string text = take_text(scan);
    scan->first_line = false;
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(text.data());
    RecordShape shape;
    if (!is_left_open(without_bounds(*source_), bytes, text.size(), &shape) || shape.separators.back() == shape.size)
        return 0;
    return is_utf16() ? size_t(source_size(encoding_, bytes, shape.size)) : shape.size;
}

bool CsvHeader::end(PreambleScan* scan) const {
    if (scan->lines < csv_->skip_lines || csv_->header_at.empty()) return false;
    while (const size_t damaged = damaged_line(scan)) {
        const std::string rest = scan->line.substr(damaged);
        scan->line.resize(damaged);
        scan->state = ScanState();
        if (take_line(scan) && scan->records == records_of_preamble(*csv_)) break;
        const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(rest.data());
        if (find_end(bytes, rest.size(), SIZE_MAX, scan) != RecordEnds::none) break;
    }
    if (!take_text(scan).empty() && names_fields(*csv_, scan->records)) {
        scan->header += scan->line;
        scan->records++;
    }
    return scan->records > csv_->header_at.back();
}

std::string CsvHeader::take_text(PreambleScan* scan) const {
    std::string& line = scan->line;
    std::string text = line;
    if (is_utf16()) {
        text.resize(most_utf8(line.size()));
        text.resize(to_utf8(encoding_, reinterpret_cast<const uint8_t*>(line.data()), line.size(), true,
                            reinterpret_cast<uint8_t*>(&text[0]))
                        .text_size);
    }
    if (scan->first_line && mark_size(text.data(), text.size())) {
        text.erase(0, mark_bytes);
        line.erase(0, is_utf16() ? 2 : mark_bytes);
    }
    return text;
}

Preamble CsvHeader::read_text(const uint8_t* text, size_t size, Extent extent) const {
    Preamble preamble;
    auto mapped = std::make_shared<CsvFormat>(*csv_);
    CsvFormat only_header = *csv_;  // by itself it stands first, and nothing behind it
    if (extent == Extent::header) {
        only_header.skip_lines = only_header.skip_records = 0;
        for (size_t i = 0; i < only_header.header_at.size(); i++) only_header.header_at[i] = uint32_t(i);
    }
    const size_t begin = extent == Extent::header ? 0 : mark_size(text, size);
    PreambleLines lines;
    if (!follow_preamble(only_header, text + begin, size - begin, extent != Extent::beginning, &lines)) return preamble;
    preamble.complete = true;
    preamble.size = begin + lines.size;
    if (!csv_->header_at.empty()) preamble.missing = map_columns(mapped.get(), names_of(*csv_, lines.names));
    for (const Bytes& line : lines.names) {
        mapped->header_lines.emplace_back(reinterpret_cast<const char*>(line.data),
                                          without_carriage_return(*csv_, line.data, line.size));
        preamble.header += (preamble.header.empty() ? "" : "\n") + mapped->header_lines.back();
    }
    mapped->unreadable = !preamble.missing.empty();
    preamble.format = std::make_shared<RecordFormat>(csv_record_format(std::move(mapped), encoding_));
    return preamble;
}

Preamble CsvHeader::read(const uint8_t* data, size_t size, Extent extent) const {
    if (encoding_ == TextEncoding::utf8) return read_text(data, size, extent);
    const bool may_be_marked = is_one_byte(encoding_) && extent != Extent::header;
    const size_t begin = may_be_marked ? mark_size(data, size) : 0;
    for (size_t look = extent == Extent::header ? size : 4096;; look *= 8) {
        look = std::min(look, size - begin);
        const bool last = look == size - begin;
        const Extent seen = last ? extent : Extent::beginning;
        std::string text(most_utf8(look), '\0');
        uint8_t* const out = reinterpret_cast<uint8_t*>(&text[0]);
        const bool final = seen != Extent::beginning;
        Preamble preamble = read_text(out, to_utf8(encoding_, data + begin, look, final, out).text_size, seen);
        if (preamble.complete) preamble.size = begin + size_t(source_size(encoding_, out, preamble.size));
        if (preamble.complete || last) return preamble;
    }
}

}  // namespace formatter
