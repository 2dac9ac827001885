// The text columns of the CSV decoder. In: a column's fields. Out: text and offsets, gathered by the kernel where the dialect
// is plain, field by field elsewhere; marks for what is no plain matter. Refuses to know what becomes of those.
#include <algorithm>
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {
namespace {

constexpr uint64_t text_ahead_most = 64 << 20;  // reserved on the strength of the rows so far

}  // namespace

void CsvDecoder::decode_text(ColumnRows& rows) {
    Column& c = rows.column;
    const FieldView v = format_->escaping || format_->trims() ? without_escaped(rows) : rows.fields;
    StringSums sums{};
    kernel_->measure_strings(v, sums);
    const uint64_t before = c.text_bytes;
    if (before + sums.bytes + 64 > c.text.capacity()) {
        const uint64_t rows_to_come = columns_.reserved() - std::min(columns_.reserved(), rows.at + v.rows);
        const uint64_t alike = std::min<uint64_t>(sums.bytes / v.rows * rows_to_come, text_ahead_most);
        c.text.reserve(before + sums.bytes + alike + alike / 16 + 64, before);
    }
    ValueMarks marks = rows.marks.for_loop();
    const bool large = has_large_offsets(rows.spec);
    int32_t* const ends = large ? reinterpret_cast<int32_t*>(wide_.data()) : c.values.as<int32_t>() + rows.at + 1;
    kernel_->gather_strings(v, format_->quoting, format_->quote, large ? 0 : int32_t(before), ends,
                            c.text.data() + before, sums, marks);
    if (large)
        for (uint32_t r = 0; r < v.rows; r++) c.values.as<int64_t>()[rows.at + 1 + r] = int64_t(before) + ends[r];
    c.text_bytes = (large ? before : 0) + uint64_t(ends[v.rows - 1]);
    rows.marks.take(marks);
    rows.marks.all_valid(v.rows);
    if (format_->escaping) mark_odd_texts(rows, v);
    if (rows.marks.odd_count && (format_->picky() || format_->escaping)) sums.any_non_ascii |= read_odd_texts(rows);
    if (sums.any_non_ascii && must_be_utf8(rows.spec)) check_utf8(rows, before);
    finish_rows(rows);
}

// The fields without blanks that are trimmed, and without anything where there is an escape: those rows are noted.
FieldView CsvDecoder::without_escaped(ColumnRows& rows) {
    escaped_.assign(rows.fields.rows / 64 + 1, 0);
    return changed_view(rows.fields, [this](uint32_t row, Bytes field) {
        field = trimmed(*format_, field);
        if (!holds_escape(field)) return field;
        set_bit(escaped_.data(), row);
        return Bytes{field.data, 0};
    });
}

// Where there are escapes, fields that have one are to be read with care, and those in which the loop took a quote for a doubled
// one, for escapes are what quotes have there.
void CsvDecoder::mark_odd_texts(ColumnRows& rows, const FieldView& v) {
    RowMarks& marks = rows.marks;
    each_bit(escaped_.data(), v.rows, [&](uint32_t row) {
        clear_bit(marks.empty.data(), row);
        marks.empty_count--;
        marks.mark_odd(row);
    });
    if (!format_->quoting) return;
    const bool large = has_large_offsets(rows.spec);
    each_row(v, [&](uint32_t row, const Segment&, const uint32_t* stops) {
        const uint64_t size = rows.column.offset(large, rows.at + row + 1) - rows.column.offset(large, rows.at + row);
        if (stops[1] - stops[0] > size + 2 && !has_bit(marks.odd.data(), row)) marks.mark_odd(row);
    });
}

// Where quotes may stand anywhere, fields that the loop left out have a text, too. True: it may be beyond ASCII.
bool CsvDecoder::read_odd_texts(ColumnRows& rows) {
    LateTexts late;
    const std::vector<uint64_t> odd(rows.marks.odd.begin(), rows.marks.odd.begin() + (rows.fields.rows + 63) / 64);
    rows.marks.odd_count = 0;
    each_bit(odd.data(), rows.fields.rows, [&](uint32_t row) {
        clear_bit(rows.marks.odd.data(), row);
        Bytes content{};
        if (!take_text(rows, row, field(rows.index, row), &content) || !content.size) return;
        late.add(row, content.data, content.size);
    });
    replace_texts(rows, late);
    return true;
}

// Texts of rows in place of those they have, which are no longer: from the last on, so that each byte moves once.
void CsvDecoder::replace_texts(ColumnRows& rows, const LateTexts& late) {
    Column& c = rows.column;
    const bool large = has_large_offsets(rows.spec);
    uint64_t more = late.bytes.size();
    for (const LateTexts::Row& text : late.rows)
        more -= c.offset(large, rows.at + text.row + 1) - c.offset(large, rows.at + text.row);
    c.text.reserve(c.text_bytes + more + 64, c.text_bytes);
    uint8_t* const bytes = c.text.data();
    const char* text = late.bytes.data() + late.bytes.size();
    uint64_t moved_from = c.text_bytes;
    uint32_t row = rows.fields.rows;
    c.text_bytes += more;
    for (size_t i = late.rows.size(); i-- > 0;) {
        const auto [late_row, size] = late.rows[i];
        const uint64_t begin = c.offset(large, rows.at + late_row), end = c.offset(large, rows.at + late_row + 1);
        for (; row > late_row; row--) c.move_offset(large, rows.at + row, more);
        std::memmove(bytes + end + more, bytes + end, moved_from - end);
        more -= size - (end - begin);
        text -= size;
        std::memcpy(bytes + begin + more, text, size);
        moved_from = begin;
    }
}

void CsvDecoder::decode_text_exactly(ColumnRows& rows) {
    Column& c = rows.column;
    const uint64_t before = c.text_bytes;
    const bool large = has_large_offsets(rows.spec);
    rows.marks.all_valid(rows.fields.rows);
    rows.marks.none_marked(rows.fields.rows);
    bool non_ascii = false;
    each_row(rows.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        Bytes content{};
        if (take_text(rows, row, field_at(rows.fields, segment, stops), &content)) {
            c.text.reserve(c.text_bytes + content.size + 64, c.text_bytes);
            if (content.size) std::memcpy(c.text.data() + c.text_bytes, content.data, content.size);
            c.text_bytes += content.size;
            for (size_t k = 0; k < content.size && !non_ascii; k++) non_ascii = content.data[k] >= 0x80;
        }
        c.write_offset(large, rows.at + row);
    });
    if (non_ascii && must_be_utf8(rows.spec)) check_utf8(rows, before);
    finish_rows(rows);
}

// The text of a field. False if it has none, is marked or is an error.
bool CsvDecoder::take_text(ColumnRows& rows, uint32_t row, Bytes raw, Bytes* content) {
    const ColumnSpec& spec = rows.spec;
    *content = raw;
    if (spec.raw) {
        if (raw.size == 0) rows.marks.mark_empty(row);
    } else {
        const Quoting quoting = field_content(*format_, raw, &scratch_, content);
        if (quoting == Quoting::malformed) return rows.marks.mark_odd(row), false;
        if (quoting == Quoting::none && content->size == 0) return rows.marks.mark_empty(row), false;
        if (is_null_text(quoting, *content, spec.nulls_in_quotes) ||
            (quoting == Quoting::none && is_null_token(trimmed(*format_, raw))))
            return null_or_error(rows, row, *content), false;
        if (spec.encoding != BinaryEncoding::plain) {
            const ErrorCode code = spec.encoding == BinaryEncoding::hex ? decode_hex(*content, &decoded_)
                                                                        : decode_base64(*content, &decoded_);
            if (code != ErrorCode::none) return value_error(rows, row, code, *content), false;
            *content = bytes_of(decoded_);
        }
    }
    if (has_width(spec, content->size)) return true;
    value_error(rows, row, ErrorCode::invalid, raw);
    return false;
}

void CsvDecoder::check_utf8(ColumnRows& rows, uint64_t before) {
    const Column& c = rows.column;
    const bool large = has_large_offsets(rows.spec);
    const uint8_t* const text = c.text.data();
    // The whole text is valid and no value begins inside a character: then every value is valid.
    bool suspicious = !kernel_->valid_utf8(text + before, c.text_bytes - before);
    for (uint32_t r = 0; r < rows.fields.rows && !suspicious; r++) {
        const uint64_t begin = c.offset(large, rows.at + r);
        suspicious = begin < c.offset(large, rows.at + r + 1) && (text[begin] & 0xC0) == 0x80;
    }
    LateTexts repaired;
    uint64_t more = 0;
    for (uint32_t r = 0; r < rows.fields.rows && suspicious; r++) {
        const uint64_t begin = c.offset(large, rows.at + r), end = c.offset(large, rows.at + r + 1);
        if (kernel_->valid_utf8(text + begin, end - begin)) continue;
        std::string better;
        if (format_->errors != TextErrors::strict)
            better = repaired_utf8(format_->errors, text + begin, size_t(end - begin));
        const uint64_t longer = more + better.size() - std::min<uint64_t>(better.size(), end - begin);
        if (better.empty() || (!large && c.text_bytes + longer >= offsets_most)) {
            value_error(rows, r, ErrorCode::bad_utf8, Bytes{text + begin, end - begin});
            continue;
        }
        more = longer;
        repaired.add(r, reinterpret_cast<const uint8_t*>(better.data()), better.size());
    }
    if (!repaired.rows.empty()) replace_texts(rows, repaired);
}

}  // namespace formatter
