// Dictionary columns of the CSV decoder: each field becomes the code of its text. In: a view of a column's fields. Out:
// codes, marks, and texts never met before in the column's dictionary. No text is copied but a new one's.
//
// A field is looked up as it stands, its outer quotes taken off. A quote inside it needs care, but only if the text found
// has one: any other text that equals the field is proof that there is none. UTF-8 is checked once a distinct text.
#include <algorithm>
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {
namespace {

void set_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] |= uint64_t(1) << (i % 64); }

}  // namespace

void CsvDecoder::decode_codes(size_t i, const FieldView& v) {
    const ColumnSpec& spec = columns_.specs()[i];
    TextDictionary& dictionary = columns_.dictionary(i);
    int32_t* codes = columns_.column(i).values.as<int32_t>() + columns_.rows();
    const bool must_be_utf8 = spec.type == ColumnType::string || spec.type == ColumnType::large_string;
    const bool plain = plain_ && !format_->trim;
    std::fill(valid_.begin(), valid_.end(), ~uint64_t(0));
    std::fill(empty_.begin(), empty_.end(), 0);
    std::fill(odd_.begin(), odd_.end(), 0);
    empty_count_ = odd_count_ = 0;

    const auto code_of = [&](Bytes content, uint32_t row) {
        int32_t code = dictionary.find(content.data, content.size);
        if (code != TextDictionary::unknown) return code;
        if (must_be_utf8 && !kernel_->valid_utf8(content.data, content.size)) {
            value_error(i, row, ErrorCode::bad_utf8, content);
            return 0;
        }
        return dictionary.add(content.data, content.size);
    };
    const auto look_closer = [&](Bytes raw, uint32_t row) {
        Bytes content{};
        const Quoting quoting = field_content(*format_, raw, &scratch_, &content);
        if (quoting == Quoting::malformed) {
            set_bit(odd_, row);
            odd_count_++;
        } else if (quoting == Quoting::none && content.size == 0) {
            set_bit(empty_, row);
            empty_count_++;
            if (!format_->empty_is_null()) return code_of(content, row);
        } else if (quoting == Quoting::none && is_null_token(trimmed(*format_, raw))) {
            null_or_error(i, row, content);
        } else {
            return code_of(content, row);
        }
        return 0;
    };
    const auto may_hold_quote = [this](const auto& text) {
        return format_->quoting && text.size && std::memchr(text.data, format_->quote, text.size) != nullptr;
    };
    uint32_t row = 0;
    for (size_t s = 0; s < v.segment_count; s++) {
        const Segment& segment = v.segments[s];
        const uint32_t* stops = v.stops + segment.first_stop;
        for (uint32_t k = 0; k < segment.rows; k++, row++, stops += v.stride) {
            const uint8_t* begin = segment.base + uint32_t(stops[v.begin_stop] + v.begin_skip);
            size_t size = size_t(segment.base + stops[v.end_stop] - begin);
            if (v.drop_carriage_return) size = without_carriage_return(*format_, begin, size);
            const bool quoted = format_->quoting && size && begin[0] == format_->quote;
            if (plain && size && (!quoted || (size >= 2 && begin[size - 1] == format_->quote))) {
                const Bytes content = quoted ? Bytes{begin + 1, size - 2} : Bytes{begin, size};
                const int32_t code = dictionary.find(content.data, content.size);
                if (code != TextDictionary::unknown && !dictionary.is_marked(code)) {
                    codes[row] = code;
                    continue;
                }
                if (!may_hold_quote(content)) {
                    codes[row] = code != TextDictionary::unknown ? code : code_of(content, row);
                    continue;
                }
            }
            const uint32_t known = dictionary.size();
            codes[row] = look_closer(Bytes{begin, size}, row);
            if (dictionary.size() > known && may_hold_quote(dictionary.last())) dictionary.mark_last();
        }
    }
    finish_marks(i, v);
}

}  // namespace formatter
