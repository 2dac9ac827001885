// Line ends are looked for, and where what stands behind one may be the sign the quotes before it are followed up to there: so
// most of a table is passed over at the speed of both.
#include "engine/csv/table_end.hpp"

#include <algorithm>
#include <cstring>

#include "engine/csv/csv_header.hpp"
#include "engine/csv/csv_record_format.hpp"
#include "engine/records/byte_order_mark.hpp"

namespace formatter {

TableEndSearch::TableEndSearch(std::shared_ptr<const CsvFormat> csv, TextEncoding encoding, RecordEnding ending,
                               TableEnd sign)
    : csv_(in_source(std::move(csv), encoding)), ending_(std::move(ending)), sign_(sign) {}

std::vector<std::string> TableEndSearch::fields_of(const uint8_t* data, size_t size, bool ends) const {
    std::string record(reinterpret_cast<const char*>(data), size);
    if (!ends) record += csv_->record_end;
    const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(record.data());
    std::vector<std::string> fields;
    RecordShape shape;
    if (!split_record(*csv_, bytes, record.size(), &shape) || shape.damaged || shape.comment) return fields;
    size_t begin = 0;
    for (size_t i = 0; i < shape.separators.size(); i++) {
        size_t count = shape.separators[i] - begin;
        if (i + 1 == shape.separators.size()) count = without_carriage_return(*csv_, bytes + begin, count);
        std::string scratch;
        Bytes content{};
        field_content(*csv_, Bytes{bytes + begin, count}, &scratch, &content);
        fields.emplace_back(reinterpret_cast<const char*>(content.data), content.size);
        begin = shape.separators[i] + csv_->delimiter.size();
    }
    return fields;
}

bool TableEndSearch::is_blank_line(const uint8_t* data, size_t content) const {
    return content == 0 || (content == 1 && data[0] == '\r' && csv_->accepts_crlf());
}

void TableEndSearch::begin(const uint8_t* data, size_t size, bool whole) {
    const size_t mark = mark_size(data, size);
    mark_ = csv_->has_preamble() ? 0 : mark;
    if (sign_ != TableEnd::names) return;
    CsvFormat named = *csv_;
    if (named.header_at.empty()) {  // the first record that is passed over is the header
        named.header_at = {0};
        named.skip_records--;
    }
    PreambleLines lines;
    if (follow_preamble(named, data + mark, size - mark, whole, &lines) && !lines.names.empty())
        names_ = fields_of(lines.names[0].data, lines.names[0].size, false);
}

// A quick look, which may say yes too often.
bool TableEndSearch::may_end_at(const uint8_t* data, size_t size, bool input_ends) const {
    if (size == 0) return false;
    if (sign_ == TableEnd::blank_line) return data[0] == '\r' || data[0] == uint8_t(csv_->record_end[0]);
    if (names_.empty()) return false;
    const std::string& name = names_[0];
    const bool written_otherwise = csv_->trims() || csv_->escaping || name.find(char(csv_->quote)) != std::string::npos;
    if (written_otherwise) return true;
    const size_t quoted = csv_->quoting && data[0] == csv_->quote;
    const size_t there = std::min(name.size(), size - quoted);
    return (there == name.size() || !input_ends) && std::memcmp(data + quoted, name.data(), there) == 0;
}

TableEndSearch::Answer TableEndSearch::look(const uint8_t* data, size_t size, bool input_ends) const {
    RecordShape shape;
    const bool complete = split_record(*csv_, data, size, &shape) && !shape.damaged;
    if (!complete && !input_ends) return Answer::open;
    if (sign_ == TableEnd::blank_line)
        return is_blank_line(data, complete ? shape.separators.back() : size) ? Answer::ends : Answer::goes_on;
    const std::vector<std::string> fields = fields_of(data, complete ? shape.size : size, complete);
    const size_t both = std::min(fields.size(), names_.size());
    const bool enough = both >= std::min<size_t>(2, names_.size()) && both > 0;
    return enough && std::equal(names_.begin(), names_.begin() + ptrdiff_t(both), fields.begin()) ? Answer::ends
                                                                                                  : Answer::goes_on;
}

// Blank lines and comments in front of all records end nothing. Where the first record begins; all bytes if none does here.
size_t TableEndSearch::find_first_record(const uint8_t* data, size_t size, bool input_ends) {
    RecordShape shape;
    size_t at = std::min(mark_, size);
    for (; at < size; at += shape.size) {
        if (!split_record(*csv_, data + at, size - at, &shape) || shape.damaged) {
            if (input_ends) return size;  // nothing ends behind its only record
            break;
        }
        has_records_ = !shape.comment && !is_blank_line(data + at, shape.separators.back());
        if (has_records_) break;
    }
    if (at == mark_) return has_records_ ? at : 0;
    mark_ = 0;
    return at;
}

size_t TableEndSearch::find(const uint8_t* data, size_t size, bool input_ends) {
    if (ended_) return 0;
    size_t first = 0;
    if (sign_ == TableEnd::blank_line && !has_records_) {
        first = find_first_record(data, size, input_ends);
        if (!has_records_) return first;
    }
    const uint8_t line_end = uint8_t(csv_->record_end.back());
    ScanState state;
    size_t followed = first;  // a record begins there, or the state says what is open
    size_t record = first;  // the last one known to begin
    for (size_t line = first; line < size;) {
        if (may_end_at(data + line, size - line, input_ends)) {
            if (line > followed) {
                RecordEnds ends = ending_.ends_after(data + followed, line - followed, &state);
                if (ends.last == RecordEnds::later)
                    ends.last = ending_.last_end(data + followed, line - followed, state.inside);
                if (ends.any()) record = followed + size_t(ends.last);
                followed = line;
            }
            const Answer answer = record == line ? look(data + line, size - line, input_ends) : Answer::goes_on;
            ended_ = answer == Answer::ends;
            if (answer != Answer::goes_on) return line;
        }
        const void* end = std::memchr(data + line, line_end, size - line);
        if (!end) break;
        line = size_t(static_cast<const uint8_t*>(end) - data) + 1;
    }
    return size;
}

}  // namespace formatter
