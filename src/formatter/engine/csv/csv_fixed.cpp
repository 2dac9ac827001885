// Values of fixed width, a column at a time. In: a column's fields. Out: values, as far as the loops of the kernels decide
// them, and marks for the others. Refuses to know what becomes of those.
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {

void CsvDecoder::decode_fixed(ColumnRows& c) {
    const bool bare = in_quotes_[c.index] || format_->trims();
    const bool has_loop = decode_by_loop(c, bare ? without_quotes(c.fields) : c.fields);
    if (has_loop && learn_quotes(c)) decode_by_loop(c, without_quotes(c.fields));
    if (!has_loop) {  // each value exactly: digits decide, there is no approximation to start from
        const uint32_t width = c.spec.type->width;
        c.marks.none_marked(c.fields.rows);
        std::memset(c.column.values.data() + width * c.at, 0, size_t(width) * c.fields.rows);
        for (uint32_t row = 0; row < c.fields.rows; row++)
            field(c.index, row).size ? c.marks.mark_odd(row) : c.marks.mark_empty(row);
    }
    c.marks.all_valid(c.fields.rows);
    finish_rows(c);
}

// False if no loop serves the column.
bool CsvDecoder::decode_by_loop(ColumnRows& c, const FieldView& v) {
    ValueMarks marks = c.marks.for_loop(&number_shapes_[c.index]);
    const ColumnType& type = *c.spec.type;
    const bool decoded =
        type.decode && type.decode({kernel_, c.spec, spelling_, v, c.column.values.data(), c.at, wide_.data(), &marks});
    c.marks.take(marks);
    return decoded;
}

// The fields of a view without blanks that are trimmed and the quotes around them, for columns that were found to have these.
FieldView CsvDecoder::without_quotes(const FieldView& v) {
    return changed_view(v, [this](uint32_t, Bytes field) {
        field = trimmed(*format_, field);
        const bool quoted = format_->quoting && field.size >= 2 && field.data[0] == format_->quote &&
                            field.data[field.size - 1] == format_->quote;
        return quoted ? Bytes{field.data + 1, field.size - 2} : field;
    });
}

// Numbers and times mostly in quotes: the kernel is given them without. What is in doubt still goes the exact way.
bool CsvDecoder::learn_quotes(const ColumnRows& c) {
    if (in_quotes_[c.index] || format_->trims() || !format_->quoting) return false;
    if (c.marks.odd_count <= c.fields.rows / 2) return false;
    uint32_t first = 0;
    while (!has_bit(c.marks.odd.data(), first)) first++;
    const Bytes raw = field(c.index, first);
    in_quotes_[c.index] = raw.size >= 2 && raw.data[0] == format_->quote && raw.data[raw.size - 1] == format_->quote;
    return in_quotes_[c.index];
}

}  // namespace formatter
