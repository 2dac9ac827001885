// What of a record no column has, as one JSON object. In: records that are too long or too short, whose header names more
// than the schema does, or a value of which did not fit. Out: for each a text: a field's content by the name of its column,
// by its number where none is named; null where a column's field is not there. Refuses to know why a value did not fit.
#include "engine/csv/csv_decoder.hpp"
#include "engine/records/rescued_text.hpp"

namespace formatter {

void CsvDecoder::decode_rescued(size_t column) {
    values_decoded[column] += block_.rows();
    if (!format_->unclaimed.empty())
        for (uint32_t row = 0; row < block_.rows(); row++) note_misfit(row, column);
    else
        block_.each_rewritten([&](uint32_t row, const Rewritten&) { note_misfit(row, column); });
    write_rescued(column, [this](uint32_t row, const Misfit* misfits, size_t count, std::string* text) {
        rescue_record(row, misfits, count, text);
    });
}

void CsvDecoder::rescue_record(uint32_t row, const Misfit* misfits, size_t count, std::string* text) {
    const RowBlock::Location at = block_.locate(row);
    const Rewritten* const rewritten = block_.rewritten_at(row);
    const uint32_t fields = rewritten ? rewritten->fields : format_->fields;
    const auto original = [&](uint32_t i) {
        const size_t begin = i ? rewritten->separators[i - 1] + format_->delimiter.size() : 0;
        return Bytes{rewritten->original + begin, rewritten->separators[i] - begin};
    };
    const auto field = [&](uint32_t i, const Access& access) {
        return rewritten ? original(i) : field_at(view(access), *at.segment, at.stops);
    };
    bool fine = true;
    for (size_t i = 0; i < format_->output_columns; i++) {
        const ColumnSpec& spec = format_->columns[i];
        if (int32_t(i) == format_->rescue_column || spec.field == absent_field) continue;
        bool misfit = false;
        for (size_t k = 0; k < count; k++) misfit |= misfits[k].column == i;
        if (spec.field >= fields)
            fine &= rescue_field(spec.name, Bytes{nullptr, 0}, true, text);
        else if (misfit)
            fine &= rescue_field(spec.name, field(spec.field, access_[i]), false, text);
    }
    for (size_t i = 0; i < unclaimed_.size(); i++) {
        const CsvFormat::Unclaimed& unclaimed = format_->unclaimed[i];
        if (unclaimed.field < fields)
            fine &= rescue_field(unclaimed.name, field(unclaimed.field, unclaimed_[i]), false, text);
    }
    for (uint32_t i = format_->fields; i < fields; i++)
        fine &= rescue_field(std::to_string(i), original(i), false, text);
    if (!text->empty()) text->push_back('}');
    if (fine) return;
    text->clear();
    const Bytes whole = record(at, row);
    if (judge(row, size_t(format_->rescue_column), false, nullptr).told)
        findings.emplace_back(Finding::of_record(ErrorCode::bad_utf8, whole.data, whole.size),
                              at.position(at.segment->base + uint32_t(at.stops[-1] + format_->record_end.size())));
}

bool CsvDecoder::rescue_field(const std::string& name, Bytes field, bool absent, std::string* text) {
    text->push_back(text->empty() ? '{' : ',');
    append_json_string(reinterpret_cast<const uint8_t*>(name.data()), name.size(), text);
    text->push_back(':');
    Bytes content{};
    const Quoting quoting = absent ? Quoting::none : field_content(*format_, field, &scratch_, &content);
    if (quoting == Quoting::malformed) content = field;
    if (absent || is_null_text(quoting, content) ||
        (quoting == Quoting::none && is_null_token(trimmed(*format_, field))))
        return *text += "null", true;
    if (kernel_->valid_utf8(content.data, content.size)) {
        append_json_string(content.data, content.size, text);
        return true;
    }
    if (format_->errors == TextErrors::strict) return false;
    const std::string repaired = repaired_utf8(format_->errors, content.data, content.size);
    append_json_string(reinterpret_cast<const uint8_t*>(repaired.data()), repaired.size(), text);
    return true;
}

}  // namespace formatter
