// What loops over columns left undecided, field by field. In: a column's rows with marks. Out: their validity, values read
// exactly, findings. The last step of every column; knows no other one.
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {

bool CsvDecoder::is_quoted_null(Bytes content) const {
    if (content.size == 0) return format_->empty_is_null();
    const std::vector<std::string>& nulls = format_->nulls;
    return format_->quoted_nulls &&
           std::any_of(nulls.begin(), nulls.end(), [&](const std::string& token) { return content.equals(token); });
}

bool CsvDecoder::is_null_text(Quoting quoting, Bytes content, bool in_quotes) const {
    return (in_quotes || format_->quoted_null_texts) && quoting == Quoting::quoted && is_quoted_null(content);
}

// Whether a field of text is a null token in quotes.
bool CsvDecoder::is_null_in_quotes(const ColumnSpec& spec, Bytes field) {
    field = trimmed(*format_, field);
    if (!format_->quoting || !field.size || field.data[0] != format_->quote) return false;
    Bytes content{};
    const Quoting quoting = field_content(*format_, field, &scratch_, &content);
    return is_null_text(quoting, content, spec.nulls_in_quotes);
}

// Whether a loop that was given a field without its quotes took a null token for a value.
bool CsvDecoder::is_read_null(Bytes field) const {
    Bytes content{};
    if (!without_outer_quotes(field, &content)) return false;
    const bool in_quotes = content.size && content.size < field.size;
    return in_quotes && is_quoted_null(content) && !holds_escape(content);
}

void CsvDecoder::null_or_error(ColumnRows& c, uint32_t row, Bytes found) {
    if (c.spec.nullable)
        clear_bit(c.marks.valid.data(), row);
    else
        value_error(c, row, ErrorCode::missing_required, found);
}

void CsvDecoder::finish_rows(ColumnRows& c) {
    const uint32_t rows = c.fields.rows;
    if (c.spec.field == absent_field) {
        for (uint32_t row = 0; row < rows; row++) null_or_error(c, row, Bytes{nullptr, 0});
        return columns_.write_validity(c.index, c.at, c.marks.valid.data(), rows);
    }
    block_.each_rewritten([&](uint32_t row, const Rewritten& record) {
        if (c.spec.field < record.fields) return;
        clear_bit(c.marks.odd.data(), row);
        clear_bit(c.marks.empty.data(), row);
        null_or_error(c, row, Bytes{nullptr, 0});
    });
    if (scan_tokens_[c.index] && !c.spec.raw) {
        const bool may_be_quoted = format_->quoted_nulls && !is_text(c.spec);
        each_row(c.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
            const Bytes raw = field_at(c.fields, segment, stops), bare = trimmed(*format_, raw);
            if (!bare.size || !(is_null_token(bare) || (may_be_quoted && is_read_null(bare)))) return;
            clear_bit(c.marks.odd.data(), row);
            null_or_error(c, row, raw);
        });
    }
    if ((format_->quoted_null_texts || c.spec.nulls_in_quotes) && is_text(c.spec) && !c.spec.raw) {
        each_row(c.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
            const Bytes raw = field_at(c.fields, segment, stops);
            if (is_null_in_quotes(c.spec, raw)) null_or_error(c, row, raw);
        });
    }
    if (c.marks.empty_count) finish_empty(c);
    if (c.marks.odd_count) resolve_odd(c);
    check_texts(c.spec, c.column, [&](uint32_t row) { value_error(c, row, ErrorCode::invalid, field(c.index, row)); });
    columns_.write_validity(c.index, c.at, c.marks.valid.data(), rows);
}

void CsvDecoder::finish_empty(ColumnRows& c) {
    uint64_t* const empty = c.marks.empty.data();
    const uint32_t rows = c.fields.rows;
    if (!format_->empty_is_null())
        each_row(c.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
            const Bytes raw = field_at(c.fields, segment, stops);
            if (!has_bit(empty, row) || !is_absent(segment, stops, raw.data)) return;
            clear_bit(empty, row);
            null_or_error(c, row, raw);
        });
    const auto each = [&](auto decide) {
        each_bit(empty, rows, [&](uint32_t row) { decide(row, field(c.index, row)); });
    };
    if (format_->empty_is_null() && c.spec.nullable)
        for (uint32_t w = 0; w * 64 < rows; w++) c.marks.valid[w] &= ~empty[w];
    else if (format_->empty_is_null())
        each([&](uint32_t row, Bytes raw) { null_or_error(c, row, raw); });
    else if (!is_text(c.spec))  // a boolean may be written as nothing
        each([&](uint32_t row, Bytes raw) { resolve(c, row, raw); });
    else if (!has_width(c.spec, 0))
        each([&](uint32_t row, Bytes raw) { value_error(c, row, ErrorCode::invalid, raw); });
}

// Most often that is a null token, a number of many digits, or one in quotes, which reads at once; everything else goes the
// long way.
void CsvDecoder::resolve_odd(ColumnRows& c) {
    const bool direct = plain_ && !spellings_hold_quotes_ && !is_text(c.spec);
    each_row(c.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        if (!has_bit(c.marks.odd.data(), row)) return;
        const Bytes raw = field_at(c.fields, segment, stops), bare = trimmed(*format_, raw);
        if (is_null_token(bare)) return null_or_error(c, row, raw);
        Bytes content{};
        // No value that can be read has a quote in it, or this way would not be taken. A null token may stand in quotes.
        const bool at_once = direct && without_outer_quotes(bare, &content) && content.size &&
                             (content.size == bare.size || nulls_.only_empty()) &&
                             parse_value(c, content, row) == ErrorCode::none;
        if (!at_once) resolve(c, row, raw);
    });
}

void CsvDecoder::resolve(ColumnRows& c, uint32_t row, Bytes raw) {
    Bytes content{};
    const Quoting quoting = field_content(*format_, raw, &scratch_, &content);
    if (quoting == Quoting::malformed) return value_error(c, row, ErrorCode::stray_quote, raw);
    if (quoting == Quoting::none ? is_null_token(trimmed(*format_, raw)) : is_quoted_null(content))
        return null_or_error(c, row, raw);
    const ErrorCode code = is_text(c.spec) ? ErrorCode::stray_quote : parse_value(c, content, row);
    if (code != ErrorCode::none) value_error(c, row, code, raw);
}

ErrorCode CsvDecoder::parse_value(const ColumnRows& c, Bytes content, uint32_t row) const {
    const ColumnType& type = *c.spec.type;
    if (type.layout == ValueLayout::fixed) {
        uint8_t* const value = c.column.values.data() + type.width * (c.at + row);
        const ErrorCode code = type.parse_text(content, c.spec, spelling_, value);
        if (code != ErrorCode::none) std::memset(value, 0, type.width);
        return code;
    }
    uint8_t value[widest_value] = {};
    const ErrorCode code = type.parse_text(content, c.spec, spelling_, value);
    store_value(type, value, c.column.values.data(), c.at + row);
    return code;
}

void CsvDecoder::value_error(ColumnRows& c, uint32_t row, ErrorCode code, Bytes found) {
    const Verdict verdict = judge(row, c.index, c.spec.nullable, &c.marks);
    if (verdict.told) note_error(c, row, code, found, verdict.row_kept);
}

// As it stood in the input, without its end.
Bytes CsvDecoder::record(const RowBlock::Location& at, uint32_t row) const {
    if (const Rewritten* rewritten = block_.rewritten_at(row)) return {rewritten->original, rewritten->original_size};
    const uint8_t* begin = at.segment->base + uint32_t(at.stops[-1] + uint32_t(format_->record_end.size()));
    const size_t size = size_t(at.segment->base + at.stops[block_.stop_count() - 1] - begin);
    return {begin, drops_carriage_return() ? without_carriage_return(*format_, begin, size) : size};
}

void CsvDecoder::note_error(const ColumnRows& c, uint32_t row, ErrorCode code, Bytes found, bool row_kept) {
    const RowBlock::Location at = block_.locate(row);
    Finding finding{code, row_kept, int32_t(c.index)};
    const Bytes raw = record(at, row);
    // A field that was not there is reported where the record ends, as it stood in the input.
    const Rewritten* const rewritten = block_.rewritten_at(row);
    const bool is_there = rewritten ? c.spec.field < rewritten->fields : c.spec.field != absent_field;
    const uint8_t* const value =
        is_there || rewritten ? field_at(c.fields, *at.segment, at.stops).data : raw.data + raw.size;
    PlacePosition position = value_position(at, value, c.index, row);
    if (!is_there && rewritten) position.bytes = at.base_bytes + int64_t(raw.size);
    finding.set_found(found.data, found.size);
    finding.set_raw(raw.data, raw.size);
    note_value(row, std::move(finding), position, [&](const FindingAt<PlacePosition>& other) {
        return columns_.specs()[size_t(other.column)].field > c.spec.field;
    });
}

}  // namespace formatter
