#include "engine/csv/csv_header.hpp"

#include <algorithm>
#include <cstring>

#include "engine/csv/csv_record_format.hpp"

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
    size_t at = size >= 3 && std::memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (split_record(format, data + at, size - at, shape)) {
        if (!shape->comment && !is_blank(format, data + at, shape->separators.back())) return *begin = at, true;
        at += shape->size;
    }
    return false;
}

uint64_t CsvHeader::find_end(const uint8_t* data, size_t size, PreambleScan* scan) const {
    for (size_t at = 0; at < size;) {
        const uint64_t found = scanner_->scan(data + at, size - at, &scan->state, true).first;
        const bool ended = found != RecordEnds::none;
        const size_t used = ended ? found : size - at;
        std::string& line = scan->line;
        line.append(reinterpret_cast<const char*>(data + at), used);
        at += used;
        if (!ended) break;
        if (!is_utf16() && scan->first_line && line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);
        std::string text = line;
        if (is_utf16()) {
            text.resize(most_utf8(line.size()));
            text.resize(to_utf8(encoding_, reinterpret_cast<const uint8_t*>(line.data()), line.size(), true,
                                reinterpret_cast<uint8_t*>(&text[0]))
                            .text_size);
            if (scan->first_line && text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
        }
        const size_t content = text.size() - source_->record_end.size();
        const bool comment = content && source_->commenting && uint8_t(text[0]) == source_->comment;
        if (!comment && !is_blank(*source_, reinterpret_cast<const uint8_t*>(text.data()), content)) return at;
        line.clear();
        scan->first_line = false;
    }
    return RecordEnds::none;
}

Preamble CsvHeader::read_text(const uint8_t* text, size_t size) const {
    Preamble preamble;
    size_t begin = 0;
    RecordShape shape;
    if (!find_header(*csv_, text, size, &begin, &shape)) return preamble;
    auto mapped = std::make_shared<CsvFormat>(*csv_);
    preamble.complete = true;
    preamble.missing = map_header(mapped.get(), text + begin, shape);
    mapped->unreadable = !preamble.missing.empty();
    preamble.size = begin + shape.size;
    preamble.format = std::make_shared<RecordFormat>(csv_record_format(std::move(mapped), encoding_));
    return preamble;
}

Preamble CsvHeader::read(const uint8_t* data, size_t size) const {
    if (encoding_ == TextEncoding::utf8) return read_text(data, size);
    const bool marked = encoding_ == TextEncoding::latin1 && size >= 3 && std::memcmp(data, "\xEF\xBB\xBF", 3) == 0;
    const size_t begin = marked ? 3 : 0;
    for (size_t look = 4096;; look *= 8) {
        look = std::min(look, size - begin);
        std::string text(most_utf8(look), '\0');
        uint8_t* const out = reinterpret_cast<uint8_t*>(&text[0]);
        Preamble preamble = read_text(out, to_utf8(encoding_, data + begin, look, false, out).text_size);
        if (preamble.complete) preamble.size = begin + size_t(source_size(encoding_, out, preamble.size));
        if (preamble.complete || look == size - begin) return preamble;
    }
}

}  // namespace formatter
