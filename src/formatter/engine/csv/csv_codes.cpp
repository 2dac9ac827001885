// Dictionary columns of the CSV decoder: each field becomes the code of its text. In: a column's fields. Out: codes, marks,
// and texts never met before in the column's dictionary. No text is copied but a new one's. Refuses to know other columns.
//
// A field is looked up as it stands, its outer quotes taken off. A quote inside it needs care, but only if the text found
// has one: any other text that equals the field is proof that there is none. UTF-8 is checked once a distinct text.
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {

void CsvDecoder::decode_codes(ColumnRows& c) {
    TextDictionary& dictionary = columns_.dictionary(c.index);
    int32_t* codes = c.column.values.as<int32_t>() + c.at;
    c.marks.all_valid(c.fields.rows);
    c.marks.none_marked(c.fields.rows);

    const auto code_of = [&](Bytes content, uint32_t row) {
        int32_t code = dictionary.find(content.data, content.size);
        if (code != TextDictionary::unknown) return code;
        if (must_be_utf8(c.spec) && !kernel_->valid_utf8(content.data, content.size)) {
            if (format_->errors != TextErrors::strict) {
                const std::string text = repaired_utf8(format_->errors, content.data, content.size);
                const uint8_t* const bytes = reinterpret_cast<const uint8_t*>(text.data());
                code = dictionary.find(bytes, text.size());
                return code != TextDictionary::unknown ? code : dictionary.add(bytes, text.size());
            }
            value_error(c, row, ErrorCode::bad_utf8, content);
            return 0;
        }
        return dictionary.add(content.data, content.size);
    };
    const auto look_closer = [&](Bytes raw, uint32_t row) {
        Bytes content{};
        const Quoting quoting = field_content(*format_, raw, &scratch_, &content);
        if (quoting == Quoting::malformed) {
            c.marks.mark_odd(row);
        } else if (quoting == Quoting::none && content.size == 0) {
            c.marks.mark_empty(row);
            if (!format_->empty_is_null()) return code_of(content, row);
        } else if (is_null_text(quoting, content) ||
                   (quoting == Quoting::none && is_null_token(trimmed(*format_, raw)))) {
            null_or_error(c, row, content);
        } else {
            return code_of(content, row);
        }
        return 0;
    };
    const auto may_hold_quote = [this](const auto& text) {
        return format_->quoting && text.size && std::memchr(text.data, format_->quote, text.size) != nullptr;
    };
    each_row(c.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        const Bytes raw = trimmed(*format_, field_at(c.fields, segment, stops));
        Bytes content{};
        if (plain_ && raw.size && without_outer_quotes(raw, &content)) {
            const int32_t code = dictionary.find(content.data, content.size);
            const bool known = code != TextDictionary::unknown;
            if ((known && !dictionary.is_marked(code)) || !may_hold_quote(content)) {
                codes[row] = known ? code : code_of(content, row);
                return;
            }
        }
        const uint32_t texts = dictionary.size();
        codes[row] = look_closer(raw, row);
        if (dictionary.size() > texts && may_hold_quote(dictionary.last())) dictionary.mark_last();
    });
    finish_rows(c);
}

}  // namespace formatter
