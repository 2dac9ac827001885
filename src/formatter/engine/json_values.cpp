// The value half of the JSON decoder: a block of stops to columns, predicate columns first, bad records taken out.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "engine/json_decoder.hpp"

namespace formatter {
namespace {

void set_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] |= uint64_t(1) << (i % 64); }
void clear_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] &= ~(uint64_t(1) << (i % 64)); }

// Copies what fits and marks what does not.
template <typename T>
void narrow(const int64_t* from, T* to, uint32_t rows, ValueMarks* marks) {
    for (uint32_t i = 0; i < rows; i++) {
        to[i] = T(from[i]);
        const bool fits = sizeof(T) < 8 ? int64_t(to[i]) == from[i] : from[i] >= 0;
        marks->odd[i / 64] |= uint64_t(!fits) << (i % 64);
        marks->odd_count += !fits;
    }
}

// A double rounds to the right float unless it lies exactly between two floats (it may have been rounded onto that
// point) or the float is subnormal: those are decided from the text.
void narrow_floats(const double* from, float* to, uint32_t rows, ValueMarks* marks) {
    for (uint32_t i = 0; i < rows; i++) {
        uint64_t image;
        std::memcpy(&image, &from[i], 8);
        to[i] = float(from[i]);
        const bool halfway = (image & 0x1FFFFFFF) == 0x10000000;
        const bool small = from[i] != 0 && std::fabs(to[i]) < 1.1754944e-38f;
        const bool unsure = halfway || small || std::isinf(to[i]);
        marks->odd[i / 64] |= uint64_t(unsure) << (i % 64);
        marks->odd_count += unsure;
    }
}

void write_offset(Column* c, bool large, uint64_t at) {
    if (large)
        c->values.as<int64_t>()[at] = int64_t(c->text_bytes);
    else
        c->values.as<int32_t>()[at] = int32_t(c->text_bytes);
}

// Copies the content of a string, unless something in it has to be looked at. Reads and writes up to 15 bytes too many.
bool copy_plain(const uint8_t* from, size_t size, uint8_t* to) {
    typedef uint8_t Lanes __attribute__((vector_size(16)));
    typedef uint64_t Pair __attribute__((vector_size(16)));
    alignas(16) static const uint8_t edge[32] = {255, 255, 255, 255, 255, 255, 255, 255,
                                                 255, 255, 255, 255, 255, 255, 255, 255};
    Lanes odd = {};
    size_t left = size;
    for (;; from += 16, to += 16, left -= 16) {
        Lanes bytes, present;
        std::memcpy(&bytes, from, 16);
        std::memcpy(to, &bytes, 16);
        const Lanes marks = Lanes(bytes == uint8_t('"')) | Lanes(bytes == uint8_t('\\')) | Lanes(bytes < uint8_t(0x20));
        if (left > 16) {
            odd |= marks;
            continue;
        }
        std::memcpy(&present, edge + 16 - left, 16);
        odd |= marks & present;
        break;
    }
    const Pair any = Pair(odd);
    return (any[0] | any[1]) == 0;
}

// What an epoch number is multiplied with, or 0 if it must be divided.
int64_t epoch_factor(const JsonNodeSpec& node) {
    const int steps = int(node.scalar.unit) - (int(node.epoch) - int(EpochUnit::second));
    static const int64_t factors[] = {1, 1000, 1000000, 1000000000};
    return steps < 0 ? 0 : factors[steps];
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
    begin_attempt();
}

void JsonDecoder::ready_scratch() {
    const size_t words = (block_.capacity_bound() + 63) / 64 + 1;
    if (valid_.size() >= words) return;
    valid_.resize(words);
    empty_.resize(words);
    odd_.resize(words);
    wide_.resize(words * 64);
}

void JsonDecoder::materialize() {
    const uint32_t rows = block_.rows();
    if (rows == 0) return block_.clear();
    read_block(rows);
    std::fill(leading_zeros_.begin(), leading_zeros_.end(), 0);
    block_.clear();
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
    std::fill(valid_.begin(), valid_.begin() + (rows + 63) / 64, ~uint64_t(0));
    if (is_text(spec(i).type)) {
        decode_text(i);
    } else {
        ValueMarks marks{empty_.data(), odd_.data(), 0, 0};
        decode_fixed(i, block_.view(int32_t(2 * i), int32_t(2 * i + 1), 0, false), &marks);
        if (marks.empty_count + marks.odd_count != 0)
            for (uint32_t w = 0; w * 64 < rows; w++)
                for (uint64_t word = odd_[w] | empty_[w]; word; word &= word - 1)
                    read_exactly(i, w * 64 + uint32_t(__builtin_ctzll(word)));
    }
    columns_.write_validity(layout_[i].position, columns_.rows(), valid_.data(), rows);
}

void JsonDecoder::mark_leading_zeros(size_t column, ValueMarks* marks) {
    if (!leading_zeros_[column]) return;
    uint32_t row = 0;
    const FieldView view = block_.view(int32_t(2 * column), int32_t(2 * column + 1), 0, false);
    for (size_t s = 0; s < view.segment_count; s++) {
        const Segment& segment = view.segments[s];
        const uint32_t* stops = view.stops + segment.first_stop + view.begin_stop;
        for (uint32_t i = 0; i < segment.rows; i++, row++, stops += view.stride) {
            const uint8_t* at = segment.base + stops[0];  // a line end follows at least, so two more bytes can be read
            at += *at == '-';
            const bool bad = *at == '0' && uint8_t(at[1] - '0') <= 9;
            marks->odd[row / 64] |= uint64_t(bad) << row % 64;
            marks->odd_count += bad;
        }
    }
}

void JsonDecoder::decode_fixed(size_t i, const FieldView& v, ValueMarks* marks) {
    const JsonNodeSpec& node = format_->columns[i].node;
    Column& c = columns_.column(layout_[i].position);
    const uint64_t at = columns_.rows();
    const uint32_t rows = v.rows;
    const auto integers = [&] {
        kernel_->decode_int64(v, wide_.data(), *marks);
        mark_leading_zeros(i, marks);
    };
    switch (node.scalar.type) {
        case ColumnType::int64:
            kernel_->decode_int64(v, c.values.as<int64_t>() + at, *marks);
            return mark_leading_zeros(i, marks);
        case ColumnType::float64:
            kernel_->decode_float64(v, '.', c.values.as<double>() + at, *marks);
            return mark_leading_zeros(i, marks);
        case ColumnType::float32: {
            double* wide = reinterpret_cast<double*>(wide_.data());
            kernel_->decode_float64(v, '.', wide, *marks);
            mark_leading_zeros(i, marks);
            return narrow_floats(wide, c.values.as<float>() + at, rows, marks);
        }
        case ColumnType::boolean: {
            static const Token yes{4, {'t', 'r', 'u', 'e'}}, no{5, {'f', 'a', 'l', 's', 'e'}};
            uint64_t* bits = reinterpret_cast<uint64_t*>(wide_.data());
            kernel_->decode_bool(v, &yes, 1, &no, 1, bits, *marks);
            return copy_bits(c.values.data(), at, bits, rows);
        }
        case ColumnType::date32:
            if (node.epoch == EpochUnit::none) return kernel_->decode_date32(v, c.values.as<int32_t>() + at, *marks);
            break;
        case ColumnType::timestamp: {
            if (node.scalar.time_of_day) break;
            if (node.epoch == EpochUnit::none)
                return kernel_->decode_timestamp(v, node.scalar.unit, c.values.as<int64_t>() + at, *marks);
            const int64_t factor = epoch_factor(node);
            if (factor == 0) break;
            integers();
            int64_t* out = c.values.as<int64_t>() + at;
            for (uint32_t row = 0; row < rows; row++) {
                const bool over = __builtin_mul_overflow(wide_[row], factor, &out[row]);
                marks->odd[row / 64] |= uint64_t(over) << row % 64;
                marks->odd_count += over;
            }
            return;
        }
        case ColumnType::int8: return integers(), narrow(wide_.data(), c.values.as<int8_t>() + at, rows, marks);
        case ColumnType::int16: return integers(), narrow(wide_.data(), c.values.as<int16_t>() + at, rows, marks);
        case ColumnType::int32: return integers(), narrow(wide_.data(), c.values.as<int32_t>() + at, rows, marks);
        case ColumnType::uint8: return integers(), narrow(wide_.data(), c.values.as<uint8_t>() + at, rows, marks);
        case ColumnType::uint16: return integers(), narrow(wide_.data(), c.values.as<uint16_t>() + at, rows, marks);
        case ColumnType::uint32: return integers(), narrow(wide_.data(), c.values.as<uint32_t>() + at, rows, marks);
        case ColumnType::uint64: return integers(), narrow(wide_.data(), c.values.as<uint64_t>() + at, rows, marks);
        default: break;
    }
    // Each value exactly: digits decide, there is no approximation to start from.
    std::fill(empty_.begin(), empty_.end(), 0);
    std::fill(odd_.begin(), odd_.end(), 0);
    for (uint32_t row = 0; row < rows; row++) set_bit(odd_, row);
    marks->odd_count = rows;
}

void JsonDecoder::decode_text(size_t i) {
    const ColumnSpec& s = spec(i);
    Column& c = columns_.column(layout_[i].position);
    const FieldView view = block_.view(int32_t(2 * i), int32_t(2 * i + 1), 0, false);
    uint64_t bound = 0;
    for (size_t n = 0; n < view.segment_count; n++) {
        const uint32_t* stops = view.stops + view.segments[n].first_stop + view.begin_stop;
        for (uint32_t row = 0; row < view.segments[n].rows; row++, stops += view.stride) bound += stops[1] - stops[0];
    }
    const bool large = has_large_offsets(s.type);
    const bool fits = large || c.text_bytes + bound <= uint64_t(INT32_MAX);
    if (s.raw || s.encoding != BinaryEncoding::plain || s.byte_width || !fits) return decode_text_exactly(i);
    c.text.reserve(c.text_bytes + bound + 64, c.text_bytes);
    uint32_t row = 0;
    for (size_t n = 0; n < view.segment_count; n++) {
        const Segment& segment = view.segments[n];
        const uint32_t* stops = view.stops + segment.first_stop + view.begin_stop;
        for (uint32_t k = 0; k < segment.rows; k++, row++, stops += view.stride) {
            const uint8_t* text = segment.base + stops[0];
            const size_t size = stops[1] - stops[0];
            uint8_t* const target = c.text.data() + c.text_bytes;
            // A missing value stands at the line end, behind no quote.
            if (text[-1] == '"' && size + 16 <= size_t(segment.readable_end - text) && copy_plain(text, size, target)) {
                c.text_bytes += size;
            } else {
                read_exactly(i, row);
                if (scalar_.text.size) std::memcpy(target, scalar_.text.data, scalar_.text.size);
                c.text_bytes += scalar_.text.size;
            }
            write_offset(&c, large, columns_.rows() + 1 + row);
        }
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
