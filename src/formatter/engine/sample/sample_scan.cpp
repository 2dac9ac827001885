#include "engine/sample/sample_scan.hpp"

#include <cstring>

namespace formatter {
namespace {

// A quote that stays open for more than this is taken as a stray one, not as a long field that the sample cuts.
constexpr size_t OPEN_BYTES_MOST = 64 << 10;
// Scans to the end of the sample for a quote that closes. Each of them but the first finds what the one before found.
constexpr unsigned UNCLOSED_SCANS_MOST = 8;

bool is_blank_byte(uint8_t byte) { return byte == ' ' || byte == '\t'; }

}  // namespace

SampleScan::SampleScan(const SampleReading& reading, const uint8_t* data, size_t size, bool whole, size_t at)
    : reading_(reading), data_(data), size_(size), whole_(whole), at_(at) {
    delimiter_ = uint8_t(reading.delimiter[0]);
    record_end_ = uint8_t(reading.record_end[0]);
    special_[delimiter_] = special_[record_end_] = true;
    if (reading.quote >= 0) special_[reading.quote] = true;
    if (reading.escape >= 0) special_[reading.escape] = true;
}

bool SampleScan::ends_record(size_t at, size_t* behind) const {
    const size_t size = reading_.record_end.size();
    if (data_[at] != record_end_ || size_ - at < size) return false;
    if (size > 1 && std::memcmp(data_ + at, reading_.record_end.data(), size) != 0) return false;
    *behind = at + size;
    return true;
}

// The text of the line from `at` ends there; the end of the input ends the last one.
size_t SampleScan::line_end(size_t at, size_t* behind) const {
    while (at < size_) {
        const void* found = std::memchr(data_ + at, record_end_, size_ - at);
        if (found == nullptr) break;
        at = size_t(static_cast<const uint8_t*>(found) - data_);
        if (ends_record(at, behind)) return at;
        at++;
    }
    *behind = size_;
    return size_;
}

size_t SampleScan::without_return(size_t begin, size_t end) const {
    return reading_.record_end == "\n" && end > begin && data_[end - 1] == '\r' ? end - 1 : end;
}

// From `at` to the delimiter, the record end or the end of the sample.
size_t SampleScan::bare_field(size_t at, uint8_t* marks) {
    for (; at < size_; at++) {
        const uint8_t byte = data_[at];
        if (!special_[byte]) continue;
        size_t behind;
        if (byte == record_end_ && ends_record(at, &behind)) return at;
        if (byte == delimiter_ && size_ - at >= reading_.delimiter.size() &&
            std::memcmp(data_ + at, reading_.delimiter.data(), reading_.delimiter.size()) == 0)
            return at;
        if (byte == reading_.quote) {
            *marks |= SampleField::stray;
            if (quotes_.first_stray == QuoteEvidence::nowhere) quotes_.first_stray = at;
        } else if (byte == reading_.escape && at + 1 < size_) {
            const uint8_t next = data_[at + 1];
            quotes_.escaped += special_[next];
            at++;
        }
    }
    return size_;
}

// From behind the opening quote to where the field ends. False: the sample ends, or the line if quotes end there.
bool SampleScan::quoted_field(size_t open, size_t* end, uint8_t* marks) {
    const uint8_t quote = uint8_t(reading_.quote);
    const bool escaping = reading_.escape >= 0 && reading_.escape != reading_.quote;
    bool lines = false;
    size_t at = open + 1, behind;
    for (; at < size_; at++) {
        const uint8_t byte = data_[at];
        if (byte == record_end_ && ends_record(at, &behind)) {
            if (!reading_.newlines_in_quotes) return false;
            lines = true;
        } else if (escaping && byte == uint8_t(reading_.escape)) {
            if (at + 1 == size_) return false;
            quotes_.escaped += special_[data_[at + 1]];
            if (data_[at + 1] == quote) *marks |= SampleField::doubled;
            at++;
        } else if (byte == quote) {
            if (!escaping && at + 1 < size_ && data_[at + 1] == quote) {
                *marks |= SampleField::doubled;
                at++;
                continue;
            }
            size_t next = at + 1;
            while (next < size_ && is_blank_byte(data_[next]) && data_[next] != delimiter_) next++;
            const bool closes =
                next == size_ ||
                (data_[next] == delimiter_ && size_ - next >= reading_.delimiter.size() &&
                 std::memcmp(data_ + next, reading_.delimiter.data(), reading_.delimiter.size()) == 0) ||
                (data_[next] == '\r' && reading_.record_end == "\n" &&
                 (next + 1 == size_ || data_[next + 1] == '\n')) ||
                ends_record(next, &behind);
            if (closes) {
                if (next > at + 1) *marks |= SampleField::spaced;
                *marks |= SampleField::quoted;
                (*marks & SampleField::stray ? quotes_.swallowed : quotes_.multiline) += lines;
                if (next < size_ && data_[next] == '\r' && !ends_record(next, &behind) && data_[next] != delimiter_)
                    next++;
                *end = next;
                return true;
            }
            quotes_.reopened += !(*marks & SampleField::stray);
            *marks |= SampleField::stray;
            if (quotes_.first_stray == QuoteEvidence::nowhere) quotes_.first_stray = at;
            if (reading_.rule == QuoteRule::lenient) {
                quotes_.swallowed += lines;
                *end = bare_field(at + 1, marks);
                return true;
            }
        }
    }
    return false;
}

bool SampleScan::finish(size_t end, size_t behind) {
    end_ = without_return(begin_, end);
    if (!fields_.empty() && fields_.back().end > end_) fields_.back().end = uint32_t(end_);
    at_ = behind;
    return true;
}

// The record that the quote opens in is what stands on its first line; reading goes on behind that.
bool SampleScan::give_up_quote() {
    size_t behind;
    const size_t end = line_end(begin_, &behind);
    quotes_.unclosed++;
    damaged_ = true;
    while (!fields_.empty() && fields_.back().end > end) fields_.pop_back();
    const size_t from = fields_.empty() ? begin_ : fields_.back().end + reading_.delimiter.size();
    fields_.push_back({uint32_t(from < end ? from : end), uint32_t(end), SampleField::stray});
    return finish(end, behind);
}

bool SampleScan::next() {
    fields_.clear();
    blank_ = comment_ = damaged_ = false;
    if (at_ >= size_) return false;
    begin_ = at_;
    size_t behind;
    if (int(data_[at_]) == reading_.comment) {
        const size_t end = line_end(at_, &behind);
        comment_ = true;
        return (behind < size_ || whole_ || end < size_) && finish(end, behind);
    }
    size_t at = at_;
    while (true) {
        SampleField field{uint32_t(at), 0, 0};
        size_t open = at, end;
        while (open < size_ && is_blank_byte(data_[open]) && data_[open] != delimiter_) open++;
        if (open < size_ && int(data_[open]) == reading_.quote) {
            if (open > at) field.marks |= SampleField::spaced;
            const bool hopeless = open >= unclosed_from_ || unclosed_scans_ >= UNCLOSED_SCANS_MOST;
            if (hopeless || !quoted_field(open, &end, &field.marks)) {
                const bool at_line = !reading_.newlines_in_quotes;
                if (!at_line && !whole_ && !hopeless && size_ - open < OPEN_BYTES_MOST) return false;
                if (quotes_.first_stray == QuoteEvidence::nowhere) quotes_.first_stray = open;
                if (!at_line && !hopeless) {
                    unclosed_scans_++;
                    if (reading_.rule == QuoteRule::sticky) unclosed_from_ = open;
                }
                return give_up_quote();
            }
        } else {
            end = bare_field(at, &field.marks);
        }
        const bool over = end == size_;
        if (over && !whole_) return false;
        field.end = uint32_t(end);
        if (field.marks & SampleField::stray) {
            quotes_.inside_text += !(field.marks & SampleField::quoted) && int(data_[open]) != reading_.quote;
        } else if (field.marks & SampleField::quoted) {
            quotes_.quoted++;
            quotes_.doubled += (field.marks & SampleField::doubled) != 0;
            quotes_.spaced += (field.marks & SampleField::spaced) != 0;
        }
        fields_.push_back(field);
        if (over) return finish(size_, size_);
        if (data_[end] == record_end_ && ends_record(end, &behind)) {
            blank_ = fields_.size() == 1 && without_return(begin_, end) == begin_;
            return finish(end, behind);
        }
        at = end + reading_.delimiter.size();
    }
}

void append_content(const SampleReading& reading, const uint8_t* data, const SampleField& field, std::string* out) {
    size_t at = field.begin, end = field.end;
    while (at < end && is_blank_byte(data[at])) at++;
    while (end > at && is_blank_byte(data[end - 1])) end--;
    const bool escaping = reading.escape >= 0 && reading.escape != reading.quote;
    bool inside = at < end && int(data[at]) == reading.quote;
    if (inside) {
        at++;
        if ((field.marks & SampleField::quoted) && end > at) end--;
    }
    for (; at < end; at++) {
        if (escaping && int(data[at]) == reading.escape && at + 1 < end) {
            at++;
        } else if (inside && int(data[at]) == reading.quote) {
            if (!escaping && at + 1 < end && int(data[at + 1]) == reading.quote) {
                at++;
            } else if (reading.rule == QuoteRule::lenient && !(field.marks & SampleField::quoted)) {
                inside = false;  // the closing quote; what follows is text
                continue;
            }
        }
        out->push_back(char(data[at]));
    }
}

}  // namespace formatter
