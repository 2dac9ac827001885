#include "engine/csv/csv_header.hpp"

#include <algorithm>
#include <cstring>

#include "engine/csv/csv_record_format.hpp"
#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

// Maps the columns of `format` to the fields named by that header record. Returns the names it lacks.
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

}  // namespace

bool find_header(const CsvFormat& format, const uint8_t* data, size_t size, size_t* begin, RecordShape* shape) {
    while (split_record(format, data + *begin, size - *begin, shape)) {
        if (!shape->comment && !is_blank(format, data + *begin, shape->separators.back())) return true;
        *begin += shape->size;
    }
    return false;
}

uint64_t CsvHeader::find_end(const uint8_t* data, size_t size, uint64_t most, PreambleScan* scan) const {
    std::string& line = scan->line;
    for (size_t at = 0; at < size && !scan->too_long;) {
        const uint64_t found = scanner_->scan(data + at, size - at, &scan->state, true).first;
        const bool ended = found != RecordEnds::none;
        const size_t used = ended ? found : size - at;
        scan->too_long = line.size() + used + !ended > most;
        if (scan->too_long) return std::string().swap(line), RecordEnds::none;
        line.append(reinterpret_cast<const char*>(data + at), used);
        at += used;
        if (!ended) break;
        const std::string text = take_text(scan);
        const size_t content = text.size() - source_->record_end.size();
        const bool comment = content && source_->commenting && uint8_t(text[0]) == source_->comment;
        if (!comment && !is_blank(*source_, reinterpret_cast<const uint8_t*>(text.data()), content)) return at;
        line.clear();
        scan->first_line = false;
    }
    return RecordEnds::none;
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
    size_t begin = extent == Extent::header ? 0 : mark_size(text, size);
    RecordShape shape;
    std::string last;  // the line without an end, with one
    const uint8_t* header = text;
    if (!find_header(*csv_, text, size, &begin, &shape)) {
        if (extent == Extent::beginning) return preamble;
        last.assign(reinterpret_cast<const char*>(text) + begin, size - begin);
        last += csv_->record_end;
        header = reinterpret_cast<const uint8_t*>(last.data()) - begin;
        if (!find_header(*csv_, header, begin + last.size(), &begin, &shape)) return preamble;
    }
    auto mapped = std::make_shared<CsvFormat>(*csv_);
    preamble.complete = true;
    preamble.missing = map_header(mapped.get(), header + begin, shape);
    mapped->unreadable = !preamble.missing.empty();
    preamble.size = std::min(begin + shape.size, size);
    preamble.format = std::make_shared<RecordFormat>(csv_record_format(std::move(mapped), encoding_));
    return preamble;
}

Preamble CsvHeader::read(const uint8_t* data, size_t size, Extent extent) const {
    if (encoding_ == TextEncoding::utf8) return read_text(data, size, extent);
    const bool may_be_marked = encoding_ == TextEncoding::latin1 && extent != Extent::header;
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
