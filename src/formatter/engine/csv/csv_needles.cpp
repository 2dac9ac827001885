#include "engine/csv/csv_needles.hpp"

#include <algorithm>

namespace formatter {
namespace {

// Its longest part that every field has as it is: a quote may be doubled, a record end stands in quotes only.
std::string unchanged_part(const CsvFormat& format, const std::string& text) {
    const auto breaks = [&](char c) {
        return c == format.record_end[0] || (format.quoting && c == char(format.quote));
    };
    std::string longest;
    for (auto begin = text.begin(); begin != text.end();) {
        const auto end = std::find_if(begin, text.end(), breaks);
        if (size_t(end - begin) > longest.size()) longest.assign(begin, end);
        begin = std::find_if_not(end, text.end(), breaks);
    }
    return longest;
}

}  // namespace

std::shared_ptr<const RecordNeedles> csv_needles(const CsvFormat& format) {
    if (!format.counts_unmatched || format.unreadable) return nullptr;
    CsvBytes bytes = format.bytes();
    bytes.quoting &= !format.ends_anywhere();  // else quotes hide no record end
    NeedleSpelling spelling;
    spelling.text = [&format](const ColumnSpec&, Compare, const std::string& text, ClauseNeedles* out) {
        const bool is_ascii = std::all_of(text.begin(), text.end(), [](char c) { return uint8_t(c) < 0x80; });
        if (format.errors != TextErrors::strict && !is_ascii) return false;  // other bytes may read as these characters
        out->any_of.push_back({unchanged_part(format, text)});
        return !out->any_of.back().bytes.empty();
    };
    const std::string separators = format.delimiter + format.record_end + (format.quoting ? char(format.quote) : ' ');
    spelling.number_alone =
        std::none_of(separators.begin(), separators.end(), [](char c) { return is_digit(uint8_t(c)); });
    const BlankLines blank = format.fields == 1 ? BlankLines::records : BlankLines::empty;
    return RecordNeedles::of_filter(format.filter, spelling, bytes, blank,
                                    [&](uint32_t column) { return &format.columns[column]; });
}

}  // namespace formatter
