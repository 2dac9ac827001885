// A block's columns, one after the other. In: the stops of a block's rows. Out: fields, and who decodes each column's.
// Refuses to know how a value is read.
#include <algorithm>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {
namespace {

constexpr uint32_t few_rows = 192;  // in a block: its columns' ends are too many and too far apart to be foreseen
constexpr size_t columns_ahead = 4;  // then a few columns take as long as memory takes to answer
constexpr uint64_t rows_ahead_most = 64 << 10;  // the rows of a large batch

}  // namespace

FieldView CsvDecoder::view(const Access& a) const {
    return block_.view(a.begin_stop, a.end_stop, a.begin_skip, a.last && drops_carriage_return());
}

Bytes CsvDecoder::field(size_t column, uint32_t row) const {
    const RowBlock::Location at = block_.locate(row);
    return field_at(view(column), *at.segment, at.stops);
}

// False if a quote begins the field and none ends it.
bool CsvDecoder::without_outer_quotes(Bytes field, Bytes* content) const {
    *content = field;
    if (!format_->quoting || field.size == 0 || field.data[0] != format_->quote) return true;
    if (field.size < 2 || field.data[field.size - 1] != format_->quote) return false;
    *content = Bytes{field.data + 1, field.size - 2};
    return true;
}

// For as many rows as the expected bytes will hold, if they are like the block's.
void CsvDecoder::make_room(uint64_t bytes) {
    const uint32_t rows = block_.rows();
    const uint64_t expected = expected_bytes_ / bytes * rows + expected_bytes_ % bytes * rows / bytes;
    // A guess from few records can be far off: what it asks for ahead is bounded.
    columns_.make_room(rows, std::min(expected + expected / 32, rows_ahead_most));
    wide_.resize(std::max<size_t>(wide_.size(), block_.capacity_bound() + 64));
}

void CsvDecoder::decode_columns() {
    const size_t ahead = block_.rows() <= few_rows ? columns_ahead : columns_.size();
    for (size_t i = 0; i < columns_.size(); i++) {
        if (i + ahead < columns_.size()) columns_.prefetch_rows(i + ahead, block_.rows());
        if (!is_decoded_[i] && int32_t(i) != format_->rescue_column) decode_column(i);
    }
    if (format_->rescue_column >= 0) decode_rescued(size_t(format_->rescue_column));
}

void CsvDecoder::decode_column(size_t i) {
    const ColumnSpec& spec = columns_.specs()[i];
    ColumnRows rows{i, spec, columns_.column(i), columns_.rows(), view(i), marks_};
    values_decoded[i] += block_.rows();
    is_decoded_[i] = true;
    if (!is_text(spec)) return decode_fixed(rows);
    if (is_coded(spec)) return decode_codes(rows);
    if (is_plain_text(spec)) return decode_text(rows);
    decode_text_exactly(rows);
}

}  // namespace formatter
