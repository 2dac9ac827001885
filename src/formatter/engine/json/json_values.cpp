// The value half of the JSON decoder. In: a block of stops. Out: columns, predicate columns first, bad records taken out.
// Refuses to know where records end.
#include <algorithm>
#include <cstring>

#include "engine/json/json_decoder.hpp"

namespace formatter {

void JsonDecoder::make_room(uint64_t) {
    columns_.make_room(block_.rows());
    loops_.make_room(block_.capacity_bound());
}

void JsonDecoder::begin_more() {
    nested_reader_.nulled = 0;
    filter_columns_decoded_ = false;
}

void JsonDecoder::forget_more() {
    for (JsonBuilder& builder : nested_) builder.truncate(std::min(builder.length(), columns_.rows()));
}

void JsonDecoder::end_block(uint64_t) {
    std::fill(leading_zeros_.begin(), leading_zeros_.end(), 0);
    walk_.clear();
    by_text_ = false;
}

bool JsonDecoder::filter_rows() {
    const uint32_t rows = block_.rows();
    for (size_t i = 0; i < layout_.size(); i++)
        if (is_filter_column_[i]) decode_column(i);
    filter_columns_decoded_ = true;
    std::vector<uint64_t> dropped(rejected_.size(), ~uint64_t(0));
    evaluate_filter(filter_, columns_, columns_.rows(), rows, dropped.data());
    for (size_t w = 0; w < dropped.size(); w++) dropped[w] = ~dropped[w] | rejected_[w];
    const uint64_t gone = count_bits(dropped.data(), rows), bad = count_bits(rejected_.data(), rows);
    counters.filtered += gone - bad;
    counters.rejected += bad;
    if (gone && gone < rows) drop_marked(dropped);
    return gone < rows;
}

void JsonDecoder::decode_columns() {
    for (size_t i = 0; i < layout_.size(); i++)
        if (int32_t(i) != format_->rescue_column && (!is_filter_column_[i] || !filter_columns_decoded_))
            decode_column(i);
    if (format_->rescue_column >= 0) decode_rescued(size_t(format_->rescue_column));
}

void JsonDecoder::decode_column(size_t i) {
    values_decoded[i] += block_.rows();
    if (layout_[i].nested)
        decode_nested(i);
    else
        decode_flat(i);
}

void JsonDecoder::decode_flat(size_t i) {
    const size_t position = layout_[i].position;
    FlatRows c{i,
               format_->columns[i].node,
               columns_.column(position),
               columns_.rows(),
               block_.view(int32_t(2 * i), int32_t(2 * i + 1), 0, false),
               marks_};
    c.marks.all_valid(c.fields.rows);
    const bool text = is_text(c.node.scalar);
    if (layout_[i].whole && !text) {
        for (uint32_t row = 0; row < c.fields.rows; row++) read_exactly(c, row);
    } else if (text) {
        decode_text(c);
        check_texts(c.node.scalar, c.column, [&](uint32_t row) {
            const RowBlock::Location at = block_.locate(row);
            const uint8_t* found = at.segment->base + at.stops[c.fields.begin_stop];
            found -= layout_[i].quoted && found[-1] == '"';
            value_error(i, row, ErrorCode::invalid, found, c.node.scalar.nullable, &c.marks);
        });
    } else {
        ValueMarks marks = c.marks.for_loop();
        loops_.decode(c.node.scalar, c.fields, leading_zeros_[i] || walk_.leading_zeros(i), c.column.values.data(),
                      c.at, &marks);
        if (marks.empty_count + marks.odd_count != 0) decode_rest(c);
    }
    columns_.write_validity(position, c.at, c.marks.valid.data(), c.fields.rows);
}

// The rows that the loop over the column left: what is absent or null here, all else one by one.
void JsonDecoder::decode_rest(FlatRows& c) {
    static const JsonScalar zero;
    each_row(c.fields, [&](uint32_t row, const Segment& segment, const uint32_t* stops) {
        if (!has_bit(c.marks.odd.data(), row) && !has_bit(c.marks.empty.data(), row)) return;
        const uint32_t begin = stops[c.fields.begin_stop], end = stops[c.fields.end_stop];
        const uint8_t* const value = segment.base + begin;
        const bool null = end - begin == 4 && value[-1] != '"' && std::memcmp(value, "null", 4) == 0;
        if (c.node.scalar.nullable && (null || *value == '\n')) {
            store_value(*c.node.scalar.type, zero.value, c.column.values.data(), c.at + row);
            clear_bit(c.marks.valid.data(), row);
        } else {
            read_exactly(c, row);
        }
    });
}

void JsonDecoder::decode_text(FlatRows& c) {
    const ColumnSpec& spec = c.node.scalar;
    const bool large = has_large_offsets(spec);
    if (!is_plain_text(spec) || layout_[c.index].whole) return decode_text_exactly(c);
    static const uint8_t none[1] = {};
    const auto exactly = [&](uint32_t row, const Segment&, const uint32_t*) {
        read_exactly(c, row);
        return scalar_.text.size ? scalar_.text : Bytes{none, 0};
    };
    const uint64_t nulled = nulled_, usual_bytes = usual_text_bytes_[layout_[c.index].position];
    JsonLoops::TextTarget target{
        &c.column.text, c.column.text_bytes, usual_bytes,         c.column.values.data() + (large ? 8 : 4) * (c.at + 1),
        large,          spec.nullable,       c.marks.valid.data()};
    if (loops_.gather_text(c.fields, true, &target, exactly)) {
        c.column.text_bytes = target.bytes;
    } else {
        nulled_ = nulled;
        c.marks.all_valid(c.fields.rows);
        decode_text_exactly(c);
    }
}

void JsonDecoder::decode_text_exactly(FlatRows& c) {
    Column& column = c.column;
    for (uint32_t row = 0; row < c.fields.rows; row++) {
        read_exactly(c, row);
        column.text.reserve(column.text_bytes + scalar_.text.size + 64, column.text_bytes);
        if (scalar_.text.size)
            std::memcpy(column.text.data() + column.text_bytes, scalar_.text.data, scalar_.text.size);
        column.text_bytes += scalar_.text.size;
        column.write_offset(has_large_offsets(c.node.scalar), c.at + row);
    }
}

// The value of one row the long way: stored, made null, or an error. Text is left in scalar_.
void JsonDecoder::read_exactly(FlatRows& c, uint32_t row) {
    const RowBlock::Location at = block_.locate(row);
    const uint8_t* begin = at.segment->base + at.stops[c.fields.begin_stop];
    const uint8_t* end = at.segment->base + at.stops[c.fields.end_stop];
    ErrorCode code = ErrorCode::none;
    const uint8_t* found = begin;
    scalar_.null = true;
    scalar_.text = Bytes{nullptr, 0};
    if (*begin != '\n') {
        if (layout_[c.index].quoted && begin[-1] == '"') begin--, end++;
        const Skipped done = parse_json_scalar(c.node, begin, end, &scalar_);
        code = done.code;
        found = done.at;
        if (code == ErrorCode::none && done.at != end) code = ErrorCode::malformed;
    }
    if (code == ErrorCode::none && scalar_.null && !c.node.scalar.nullable)
        code = ErrorCode::missing_required, found = begin;
    const bool usable = code == ErrorCode::none && !scalar_.null;
    if (!is_text(c.node.scalar)) {
        static const JsonScalar zero;
        store_value(*c.node.scalar.type, usable ? scalar_.value : zero.value, c.column.values.data(), c.at + row);
    } else if (!usable) {
        scalar_.text = Bytes{nullptr, 0};
    }
    if (code != ErrorCode::none)
        value_error(c.index, row, code, found, c.node.scalar.nullable, &c.marks);
    else if (scalar_.null)
        clear_bit(c.marks.valid.data(), row);
}

void JsonDecoder::decode_nested(size_t i) {
    JsonBuilder& builder = nested_[layout_[i].position];
    const bool nullable = builder.spec().scalar.nullable;
    if (!by_text_ && !walk_.troubled(i)) {
        const uint64_t before = builder.length();
        if (filler_.fill_column(builder, i)) return;
        builder.truncate(before);
    }
    for (uint32_t row = 0; row < block_.rows(); row++) {
        const RowBlock::Location at = block_.locate(row);
        const uint8_t* begin = at.segment->base + at.stops[2 * i];
        const uint8_t* end = at.segment->base + at.stops[2 * i + 1];
        if (*begin == '\n') {
            if (!nullable) value_error(i, row, ErrorCode::missing_required, begin, false, nullptr);
            builder.append_null();
            continue;
        }
        const uint64_t length = builder.length();
        nested_reader_.first_nulled = {nullptr, ErrorCode::none};
        nested_reader_.left_out = false;
        Skipped done = nested_reader_.read(builder, begin, end);
        if (done.code == ErrorCode::none) {
            done.at = skip_json_space(done.at, end);
            if (done.at == end) {
                const Skipped& nulled = nested_reader_.first_nulled;
                if (format_->rescues) {
                    if (nulled.at) note_misfit(row, i);
                    if (nested_reader_.left_out) note_misfit(row, size_t(format_->rescue_column));
                } else if (nulled.at && format_->note_nulled)
                    note_error(i, row, nulled.code, nulled.at, true);
                continue;
            }
            done.code = ErrorCode::malformed;
            builder.truncate(length);
        }
        value_error(i, row, done.code, done.at, nullable, nullptr);
        builder.append_null();
    }
}

// Last of all: by then it is known which values did not fit. Whether a record has anything else, its stops of this column
// say.
void JsonDecoder::decode_rescued(size_t i) {
    const uint32_t rows = block_.rows();
    values_decoded[i] += rows;
    each_row(block_.view(int32_t(2 * i), int32_t(2 * layout_.size() + 1), 0, false),
             [&](uint32_t row, const Segment&, const uint32_t* stops) {
                 if (stops[2 * i] != stops[2 * layout_.size() + 1]) note_misfit(row, i);
             });
    write_rescued(layout_[i].position, [&](uint32_t row, const Misfit* misfits, size_t count, std::string* text) {
        const RowBlock::Location at = block_.locate(row);
        for (size_t k = 0; k < count; k++) rescue_.expect_misfit(misfits[k].column);
        rescue_.read(at.segment->base + at.stops[2 * layout_.size()],
                     at.segment->base + at.stops[2 * layout_.size() + 1], text);
    });
}

void JsonDecoder::value_error(size_t i, uint32_t row, ErrorCode code, const uint8_t* found, bool may_null,
                              RowMarks* marks) {
    const Verdict verdict = judge(row, i, may_null, marks);
    if (verdict.told) note_error(i, row, code, found, verdict.row_kept);
}

void JsonDecoder::note_error(size_t i, uint32_t row, ErrorCode code, const uint8_t* found, bool row_kept) {
    const RowBlock::Location at = block_.locate(row);
    const uint8_t* begin = at.segment->base + at.stops[2 * layout_.size()];
    const uint8_t* end = at.segment->base + at.stops[2 * layout_.size() + 1];
    while (end > begin && end[-1] == '\r') end--;
    found = std::min(found, end);
    Finding finding{code, row_kept, int32_t(i)};
    const PlacePosition position = at.position(found);
    finding.set_raw(begin, size_t(end - begin));
    // What is shown is the value, as far as it has an end.
    const uint8_t* found_end = found < end ? skip_value(found, end).at : end;
    if (found_end <= found) found_end = std::min(found + 1, end);
    while (found_end > found && is_json_space(found_end[-1])) found_end--;
    finding.set_found(found, size_t(found_end - found));
    note_value(row, std::move(finding), position,
               [&](const FindingAt<PlacePosition>& other) { return other.at.bytes > position.bytes; });
}

}  // namespace formatter
