// The value half of the JSON decoder: a block of stops to columns, predicate columns first, bad records taken out.
#include <algorithm>
#include <cstring>

#include "engine/json/json_decoder.hpp"

namespace formatter {
namespace {

void set_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] |= uint64_t(1) << (i % 64); }
void clear_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] &= ~(uint64_t(1) << (i % 64)); }

void write_offset(Column* c, bool large, uint64_t at) {
    if (large)
        c->values.as<int64_t>()[at] = int64_t(c->text_bytes);
    else
        c->values.as<int32_t>()[at] = int32_t(c->text_bytes);
}

}  // namespace

void JsonDecoder::begin_attempt() {
    rejected_.assign((block_.rows() + 63) / 64 + 1, 0);
    any_rejected_ = false;
    nulled_ = 0;
    nested_reader_.nulled = 0;
    for (size_t i = 0; i < columns_.size(); i++) {
        text_before_[i] = columns_.column(i).text_bytes;
        nulls_before_[i] = columns_.column(i).null_count;
    }
}

void JsonDecoder::forget_attempt() {
    for (size_t i = 0; i < columns_.size(); i++) {
        columns_.column(i).text_bytes = text_before_[i];
        columns_.column(i).null_count = nulls_before_[i];
    }
    for (JsonBuilder& builder : nested_) builder.truncate(std::min(builder.length(), columns_.rows()));
}

void JsonDecoder::drop_marked(const std::vector<uint64_t>& dropped) {
    std::vector<uint64_t> keep(dropped.size());
    for (size_t w = 0; w < keep.size(); w++) keep[w] = ~dropped[w];
    forget_attempt();
    block_.compact(keep.data());
    walk_.compact(keep);
    begin_attempt();
}

void JsonDecoder::ready_scratch() {
    const size_t words = (block_.capacity_bound() + 63) / 64 + 1;
    if (valid_.size() >= words) return;
    valid_.resize(words);
    empty_.resize(words);
    odd_.resize(words);
    loops_.make_room(words * 64);
}

void JsonDecoder::materialize() {
    const uint32_t rows = block_.rows();
    if (rows == 0) return block_.clear();
    read_block(rows);
    std::fill(leading_zeros_.begin(), leading_zeros_.end(), 0);
    block_.clear();
    walk_.clear();
    by_text_ = false;
}

void JsonDecoder::read_block(uint32_t rows) {
    counters.records += rows;
    if (columns_.rows() + rows > reserved_) {
        // Double, so that a batch's columns move a few times only; a small stream stays small.
        const uint64_t more = std::max<uint64_t>(rows, columns_.rows());
        columns_.reserve_rows(more);
        reserved_ = columns_.rows() + more;
    }
    ready_scratch();
    errors_before_ = errors.size();
    begin_attempt();
    if (filter_.active()) {
        decode_columns(true, false);
        const size_t words = valid_.size();
        std::vector<uint64_t> keep(words, ~uint64_t(0)), dropped(words);
        evaluate_filter(filter_, columns_, columns_.rows(), rows, keep.data());
        uint64_t passed = 0, bad = 0;
        for (size_t w = 0; w * 64 < rows; w++) {
            const uint64_t in_range = rows - w * 64 >= 64 ? ~uint64_t(0) : (uint64_t(1) << (rows - w * 64)) - 1;
            dropped[w] = (~keep[w] | rejected_[w]) & in_range;
            bad += __builtin_popcountll(rejected_[w] & in_range);
            passed += __builtin_popcountll(~dropped[w] & in_range);
        }
        counters.filtered += rows - passed - bad;
        counters.rejected += bad;
        if (passed == 0) return forget_attempt();
        if (passed < rows) {
            drop_marked(dropped);
            rows = block_.rows();
            decode_columns(true, true);
        } else {
            decode_columns(false, true);
        }
    } else {
        decode_columns(true, true);
    }
    if (any_rejected_) {
        for (uint64_t word : rejected_) counters.rejected += __builtin_popcountll(word);
        drop_marked(rejected_);
        rows = block_.rows();
        if (rows) decode_columns(true, true);
    }
    counters.nulled += nulled_ + nested_reader_.nulled;
    counters.rows += rows;
    if (row_records) block_.append_records(row_records);
    columns_.commit_rows(rows);
}

void JsonDecoder::decode_columns(bool filter_columns, bool other_columns) {
    for (size_t i = 0; i < layout_.size(); i++) {
        if (!(is_filter_column_[i] ? filter_columns : other_columns)) continue;
        values_decoded[i] += block_.rows();
        if (layout_[i].nested)
            decode_nested(i);
        else
            decode_flat(i);
    }
}

void JsonDecoder::decode_flat(size_t i) {
    const uint32_t rows = block_.rows();
    set_words(valid_.data(), (rows + 63) / 64);
    if (is_text(spec(i).type)) {
        decode_text(i);
    } else {
        ValueMarks marks{empty_.data(), odd_.data(), 0, 0};
        const bool leading_zeros = leading_zeros_[i] || walk_.leading_zeros(i);
        loops_.decode(format_->columns[i].node, block_.view(int32_t(2 * i), int32_t(2 * i + 1), 0, false),
                      leading_zeros, columns_.column(layout_[i].position).values.data(), columns_.rows(), &marks);
        if (marks.empty_count + marks.odd_count != 0) decode_rest(i);
    }
    columns_.write_validity(layout_[i].position, columns_.rows(), valid_.data(), rows);
}

// The rows that the loop over the column left: what is absent or null here, all else one by one.
void JsonDecoder::decode_rest(size_t i) {
    static const JsonScalar zero;
    uint8_t* const values = columns_.column(layout_[i].position).values.data();
    const bool nullable = spec(i).nullable;
    uint32_t row = 0;
    const FieldView view = block_.view(int32_t(2 * i), int32_t(2 * i + 1), 0, false);
    for (size_t s = 0; s < view.segment_count; s++) {
        const Segment& segment = view.segments[s];
        const uint32_t* stops = view.stops + segment.first_stop + view.begin_stop;
        for (const uint32_t end = row + segment.rows; row < end; row++, stops += view.stride) {
            if (((odd_[row / 64] | empty_[row / 64]) >> row % 64 & 1) == 0) continue;
            const uint8_t* const value = segment.base + stops[0];
            const bool null = stops[1] - stops[0] == 4 && value[-1] != '"' && std::memcmp(value, "null", 4) == 0;
            if (nullable && (null || *value == '\n')) {
                store_json_scalar(spec(i), zero, values, columns_.rows() + row);
                clear_bit(valid_, row);
            } else {
                read_exactly(i, row);
            }
        }
    }
}

void JsonDecoder::decode_text(size_t i) {
    const ColumnSpec& s = spec(i);
    Column& c = columns_.column(layout_[i].position);
    const bool large = has_large_offsets(s.type);
    if (s.raw || s.encoding != BinaryEncoding::plain || s.byte_width) return decode_text_exactly(i);
    static const uint8_t none[1] = {};
    const auto exactly = [&](uint32_t row, const Segment&, const uint32_t*) {
        read_exactly(i, row);
        return scalar_.text.size ? scalar_.text : Bytes{none, 0};
    };
    const FieldView view = block_.view(int32_t(2 * i), int32_t(2 * i + 1), 0, false);
    uint8_t* const ends = c.values.data() + (large ? 8 : 4) * (columns_.rows() + 1);
    const uint64_t nulled = nulled_;
    JsonLoops::TextTarget target{&c.text,    c.text_bytes, usual_text_bytes_[layout_[i].position], ends, large,
                                 s.nullable, valid_.data()};
    if (loops_.gather_text(view, true, &target, exactly)) {
        c.text_bytes = target.bytes;
    } else {
        nulled_ = nulled;
        std::fill(valid_.begin(), valid_.begin() + (block_.rows() + 63) / 64, ~uint64_t(0));
        decode_text_exactly(i);
    }
}

void JsonDecoder::decode_text_exactly(size_t i) {
    Column& c = columns_.column(layout_[i].position);
    const bool large = has_large_offsets(spec(i).type);
    for (uint32_t row = 0; row < block_.rows(); row++) {
        read_exactly(i, row);
        if (!large && c.text_bytes + scalar_.text.size > uint64_t(INT32_MAX)) {
            const RowBlock::Location at = block_.locate(row);
            value_error(i, row, ErrorCode::overflow, at.segment->base + at.stops[2 * i], true);
            scalar_.text.size = 0;
        }
        c.text.reserve(c.text_bytes + scalar_.text.size + 64, c.text_bytes);
        if (scalar_.text.size) std::memcpy(c.text.data() + c.text_bytes, scalar_.text.data, scalar_.text.size);
        c.text_bytes += scalar_.text.size;
        write_offset(&c, large, columns_.rows() + 1 + row);
    }
}

// The value of one row the long way: stored, made null, or an error. Text is left in scalar_.
void JsonDecoder::read_exactly(size_t i, uint32_t row) {
    const JsonNodeSpec& node = format_->columns[i].node;
    const RowBlock::Location at = block_.locate(row);
    const uint8_t* begin = at.segment->base + at.stops[2 * i];
    const uint8_t* end = at.segment->base + at.stops[2 * i + 1];
    const bool text = is_text(node.scalar.type);
    ErrorCode code = ErrorCode::none;
    const uint8_t* found = begin;
    scalar_.null = true;
    scalar_.text = Bytes{nullptr, 0};
    if (*begin != '\n') {
        if (layout_[i].quoted && begin[-1] == '"') begin--, end++;
        const Skipped done = parse_json_scalar(node, begin, end, &scalar_);
        code = done.code;
        found = done.at;
        if (code == ErrorCode::none && done.at != end) code = ErrorCode::malformed;
    }
    if (code == ErrorCode::none && scalar_.null && !node.scalar.nullable)
        code = ErrorCode::missing_required, found = begin;
    const bool usable = code == ErrorCode::none && !scalar_.null;
    if (!text) {
        static const JsonScalar zero;
        store_json_scalar(node.scalar, usable ? scalar_ : zero, columns_.column(layout_[i].position).values.data(),
                          columns_.rows() + row);
    } else if (!usable) {
        scalar_.text = Bytes{nullptr, 0};
    }
    if (code != ErrorCode::none)
        value_error(i, row, code, found, node.scalar.nullable);
    else if (scalar_.null)
        clear_bit(valid_, row);
}

void JsonDecoder::decode_nested(size_t i) {
    JsonBuilder& builder = nested_[layout_[i].position];
    const bool nullable = spec(i).nullable;
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
            if (!nullable) value_error(i, row, ErrorCode::missing_required, begin, false);
            builder.append_null();
            continue;
        }
        const uint64_t length = builder.length();
        nested_reader_.first_nulled = {nullptr, ErrorCode::none};
        Skipped done = nested_reader_.read(builder, begin, end);
        if (done.code == ErrorCode::none) {
            done.at = skip_json_space(done.at, end);
            if (done.at == end) {
                const Skipped& nulled = nested_reader_.first_nulled;
                if (nulled.at && format_->note_nulled) note_error(i, row, nulled.code, nulled.at, true);
                continue;
            }
            done.code = ErrorCode::malformed;
            builder.truncate(length);
        }
        value_error(i, row, done.code, done.at, nullable);
        builder.append_null();
    }
}

void JsonDecoder::value_error(size_t i, uint32_t row, ErrorCode code, const uint8_t* found, bool may_null) {
    if (format_->on_error == OnError::null && may_null) {
        if (!layout_[i].nested) clear_bit(valid_, row);
        nulled_++;
        if (format_->note_nulled) note_error(i, row, code, found, true);
        return;
    }
    set_bit(rejected_, row);
    any_rejected_ = true;
    if (format_->on_error == OnError::skip || (format_->on_error == OnError::null && !format_->note_nulled)) return;
    note_error(i, row, code, found, false);
}

void JsonDecoder::note_error(size_t i, uint32_t row, ErrorCode code, const uint8_t* found, bool row_kept) {
    const RowBlock::Location at = block_.locate(row);
    const uint8_t* begin = at.segment->base + at.stops[2 * layout_.size()];
    const uint8_t* end = at.segment->base + at.stops[2 * layout_.size() + 1];
    while (end > begin && end[-1] == '\r') end--;
    found = std::min(found, end);
    RowError error;
    error.code = code;
    error.row_kept = row_kept;
    error.column = int32_t(i);
    error.sequence = at.segment->sequence;
    error.byte_offset = int64_t(at.segment->byte_offset) + (found - at.segment->base);
    error.record = at.record;
    error.raw.assign(reinterpret_cast<const char*>(begin), size_t(end - begin));
    // What is shown is the value, as far as it has an end.
    const uint8_t* found_end = found < end ? skip_value(found, end).at : end;
    if (found_end <= found) found_end = std::min(found + 1, end);
    while (found_end > found && is_json_space(found_end[-1])) found_end--;
    error.found.assign(reinterpret_cast<const char*>(found), std::min<size_t>(size_t(found_end - found), 200));
    // One a record: the leftmost bad value speaks for it, and one that cost the row before one that did not.
    for (size_t k = errors_before_; k < errors.size(); k++) {
        RowError& other = errors[k];
        if (other.record != error.record || other.sequence != error.sequence) continue;
        const bool stronger = other.row_kept != row_kept ? other.row_kept : other.byte_offset > error.byte_offset;
        if (stronger) other = std::move(error);
        return;
    }
    errors.push_back(std::move(error));
}

}  // namespace formatter
