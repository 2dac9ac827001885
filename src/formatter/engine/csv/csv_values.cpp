// The value half of the CSV decoder: a block of stops to columns, bad records taken out.
#include <algorithm>
#include <cstring>

#include "engine/csv/csv_decoder.hpp"
#include "engine/columns/narrowing.hpp"

namespace formatter {
namespace {

constexpr uint32_t few_rows = 192;  // in a block: its columns' ends are too many and too far apart to be foreseen
constexpr size_t columns_ahead = 4;  // then a few columns take as long as memory takes to answer
constexpr uint64_t rows_ahead_most = 64 << 10;  // the rows of a large batch

void set_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] |= uint64_t(1) << (i % 64); }
void clear_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] &= ~(uint64_t(1) << (i % 64)); }

template <typename Visit>
void each_bit(const std::vector<uint64_t>& bits, uint32_t count, Visit visit) {
    for (uint32_t w = 0; w * 64 < count; w++)
        for (uint64_t word = bits[w]; word; word &= word - 1) visit(w * 64 + uint32_t(__builtin_ctzll(word)));
}

}  // namespace

FieldView CsvDecoder::view(size_t column) const {
    const Access& a = access_[column];
    return block_.view(a.begin_stop, a.end_stop, a.begin_skip, a.last && drops_carriage_return());
}

Bytes CsvDecoder::field(size_t column, uint32_t row) const {
    const Access& a = access_[column];
    const RowBlock::Location at = block_.locate(row);
    const uint8_t* begin = at.segment->base + uint32_t(at.stops[a.begin_stop] + a.begin_skip);
    const uint8_t* end = at.segment->base + at.stops[a.end_stop];
    const size_t size = size_t(end - begin);
    return Bytes{begin, a.last && drops_carriage_return() ? without_carriage_return(*format_, begin, size) : size};
}

void CsvDecoder::begin_attempt() {
    const uint32_t rows = block_.rows();
    rejected_.assign((rows + 63) / 64 + 1, 0);
    any_rejected_ = false;
    nulled_ = 0;
    is_decoded_.assign(columns_.size(), false);
    for (size_t i = 0; i < columns_.size(); i++) {
        text_before_[i] = columns_.column(i).text_bytes;
        nulls_before_[i] = columns_.column(i).null_count;
    }
}

void CsvDecoder::forget_column(size_t i) {
    columns_.column(i).text_bytes = text_before_[i];
    columns_.column(i).null_count = nulls_before_[i];
}

void CsvDecoder::forget_attempt() {
    for (size_t i = 0; i < columns_.size(); i++) forget_column(i);
}

void CsvDecoder::drop_marked(const std::vector<uint64_t>& dropped) {
    std::vector<uint64_t> keep(dropped.size());
    for (size_t w = 0; w < keep.size(); w++) keep[w] = ~dropped[w];
    forget_attempt();
    block_.compact(keep.data());
    begin_attempt();
}

// Columns that grow are copied, and fresh memory costs more than parsing into it: what is expected is reserved at once,
// what is not doubles.
void CsvDecoder::reserve_rows(uint32_t rows) {
    const uint64_t bytes = std::max<uint64_t>(indexed_bytes_, 1);
    if (columns_.rows() + rows > reserved_) {
        const uint64_t expected = expected_bytes_ / bytes * rows + expected_bytes_ % bytes * rows / bytes;
        // A guess from few records can be far off: what it asks for ahead is bounded.
        const uint64_t ahead = std::min(expected + expected / 32, rows_ahead_most);
        const uint64_t more = std::max<uint64_t>({rows, columns_.rows(), ahead});
        columns_.reserve_rows(more);
        reserved_ = columns_.rows() + more;
    }
    expected_bytes_ -= std::min(expected_bytes_, indexed_bytes_);
    indexed_bytes_ = 0;
}

void CsvDecoder::materialize() {
    uint32_t rows = block_.rows();
    if (rows == 0) return block_.clear();
    counters.records += rows;
    reserve_rows(rows);
    const size_t words = (block_.capacity_bound() + 63) / 64 + 1;
    if (valid_.size() < words) {
        valid_.resize(words);
        empty_.resize(words);
        odd_.resize(words);
        wide_.resize(words * 64);
    }
    errors_before_ = errors.size();
    begin_attempt();
    if (format_->filter.active()) {
        if (!filter_rows()) return block_.clear();
        rows = block_.rows();
    }
    decode_columns();
    if (any_rejected_) {
        for (uint64_t word : rejected_) counters.rejected += __builtin_popcountll(word);
        drop_marked(rejected_);
        rows = block_.rows();
        if (rows) decode_columns();
    }
    counters.nulled += nulled_;
    counters.rows += rows;
    if (row_records) block_.append_records(row_records);
    columns_.commit_rows(rows);
    block_.clear();
}

void CsvDecoder::decode_columns() {
    const size_t ahead = block_.rows() <= few_rows ? columns_ahead : columns_.size();
    for (size_t i = 0; i < columns_.size(); i++) {
        if (i + ahead < columns_.size()) columns_.prefetch_rows(i + ahead, block_.rows());
        if (!is_decoded_[i]) decode_column(i);
    }
}

void CsvDecoder::decode_column(size_t i) {
    const ColumnSpec& spec = columns_.specs()[i];
    const FieldView v = view(i);
    values_decoded[i] += v.rows;
    is_decoded_[i] = true;
    if (!is_text(spec.type)) return decode_fixed(i, v);
    if (is_coded(spec)) return decode_codes(i, v);
    const bool as_is = !spec.raw && spec.encoding == BinaryEncoding::plain && !spec.byte_width;
    if (plain_ && !format_->trim && as_is) return decode_text(i, v);
    decode_text_exactly(i, v);
}

// The fields of a view without the quotes around them, for columns that were found to have them.
FieldView CsvDecoder::without_quotes(const FieldView& v) {
    bare_stops_.resize(2 * size_t(v.rows) + 1);
    bare_segments_.assign(v.segments, v.segments + v.segment_count);
    uint32_t* out = bare_stops_.data();
    for (Segment& segment : bare_segments_) {
        const uint32_t* stops = v.stops + segment.first_stop;
        segment.first_stop = size_t(out - bare_stops_.data());
        for (uint32_t k = 0; k < segment.rows; k++, stops += v.stride, out += 2) {
            uint32_t begin = stops[v.begin_stop] + v.begin_skip, end = stops[v.end_stop];
            const uint8_t* base = segment.base;
            if (v.drop_carriage_return && end != begin) end -= base[end - 1] == '\r';
            if (uint32_t(end - begin) >= 2 && base[begin] == format_->quote && base[end - 1] == format_->quote) {
                begin++;
                end--;
            }
            out[0] = begin;
            out[1] = end;
        }
    }
    return FieldView{bare_segments_.data(), bare_segments_.size(), bare_stops_.data(), 2, 0, 1, 0, v.rows, false};
}

// Numbers and times mostly in quotes: the kernel is given them without. What is in doubt still goes the exact way.
bool CsvDecoder::learn_quotes(size_t i, const FieldView& v, uint32_t odd_count) {
    const ColumnSpec& spec = columns_.specs()[i];
    if (in_quotes_[i] || !plain_ || !format_->quoting || format_->trim || odd_count <= v.rows / 2) return false;
    if (spec.epoch || spec.time_of_day) return false;
    uint32_t first = 0;
    while (!(odd_[first / 64] >> (first % 64) & 1)) first++;
    const Bytes raw = field(i, first);
    in_quotes_[i] = raw.size >= 2 && raw.data[0] == format_->quote && raw.data[raw.size - 1] == format_->quote;
    return in_quotes_[i];
}

void CsvDecoder::decode_fixed(size_t i, const FieldView& all) {
    const ColumnSpec& spec = columns_.specs()[i];
    Column& c = columns_.column(i);
    const uint64_t at = columns_.rows();
    const FieldView v = in_quotes_[i] ? without_quotes(all) : all;
    const uint32_t rows = v.rows;
    ValueMarks marks{empty_.data(), odd_.data(), 0, 0, &number_shapes_[i]};
    switch (spec.type) {
        case ColumnType::int64: kernel_->decode_int64(v, c.values.as<int64_t>() + at, marks); break;
        case ColumnType::uint64: kernel_->decode_uint64(v, c.values.as<uint64_t>() + at, marks); break;
        case ColumnType::float64:
            kernel_->decode_float64(v, format_->decimal_point, c.values.as<double>() + at, marks);
            break;
        case ColumnType::timestamp:
            if (spec.time_of_day || spec.epoch) goto exactly;
            kernel_->decode_timestamp(v, spec.unit, c.values.as<int64_t>() + at, marks);
            break;
        case ColumnType::date32:
            if (spec.epoch) goto exactly;
            kernel_->decode_date32(v, c.values.as<int32_t>() + at, marks);
            break;
        case ColumnType::boolean: {
            uint64_t* bits = reinterpret_cast<uint64_t*>(wide_.data());
            kernel_->decode_bool(v, true_tokens_.data(), true_tokens_.size(), false_tokens_.data(),
                                 false_tokens_.size(), bits, marks);
            copy_bits(c.values.data(), at, bits, rows);
            break;
        }
        case ColumnType::float32: {
            double* wide = reinterpret_cast<double*>(wide_.data());
            kernel_->decode_float64(v, format_->decimal_point, wide, marks);
            narrow_floats(wide, c.values.as<float>() + at, rows, &marks);
            break;
        }
        case ColumnType::decimal128:
            if (spec.scale < 0 || spec.scale > 38) goto exactly;
            kernel_->decode_decimal128(v, format_->decimal_point, spec.precision, uint32_t(spec.scale),
                                       c.values.data() + 16 * at, marks);
            break;
        exactly:
            // Each value exactly: digits decide, there is no approximation to start from.
            std::fill(empty_.begin(), empty_.end(), 0);
            std::fill(odd_.begin(), odd_.end(), 0);
            std::memset(c.values.data() + value_width(spec.type) * at, 0, size_t(value_width(spec.type)) * rows);
            for (uint32_t row = 0; row < rows; row++) {
                const bool empty = field(i, row).size == 0;
                set_bit(empty ? empty_ : odd_, row);
                (empty ? marks.empty_count : marks.odd_count)++;
            }
            break;
        default:
            kernel_->decode_int64(v, wide_.data(), marks);
            narrow_integers(spec.type, wide_.data(), c.values.data() + at * value_width(spec.type), rows, &marks);
    }
    if (learn_quotes(i, all, marks.odd_count)) return decode_fixed(i, all);
    empty_count_ = marks.empty_count;
    odd_count_ = marks.odd_count;
    finish_marks(i, all);
}

bool CsvDecoder::is_null_token(Bytes field) const {
    for (const std::string& token : format_->nulls)
        if (field.equals(token)) return true;
    return false;
}

void CsvDecoder::null_or_error(size_t column, uint32_t row, Bytes found) {
    if (columns_.specs()[column].nullable)
        clear_bit(valid_, row);
    else
        value_error(column, row, ErrorCode::missing_required, found);
}

// In: empty_, odd_ of a column's rows, and valid_ for text (all ones for the rest). Out: its validity.
void CsvDecoder::finish_marks(size_t i, const FieldView& v) {
    const ColumnSpec& spec = columns_.specs()[i];
    const bool text = is_text(spec.type);
    const uint32_t rows = v.rows;
    if (!text) set_words(valid_.data(), (rows + 63) / 64);
    for (uint32_t row = 0; row < rows && !block_.rewritten.empty(); row++) {
        const Rewritten* record = block_.rewritten_at(row);
        if (!record || spec.field < record->fields) continue;
        clear_bit(odd_, row);
        clear_bit(empty_, row);
        null_or_error(i, row, Bytes{nullptr, 0});
    }
    if (scan_tokens_[i] && !spec.raw) {
        for (uint32_t row = 0; row < rows; row++) {
            const Bytes raw = field(i, row);
            if (raw.size && is_null_token(raw)) clear_bit(odd_, row), null_or_error(i, row, raw);
        }
    }
    if (empty_count_) {
        if (format_->empty_is_null()) {
            if (spec.nullable)
                for (uint32_t w = 0; w * 64 < rows; w++) valid_[w] &= ~empty_[w];
            else
                each_bit(empty_, rows, [&](uint32_t row) { null_or_error(i, row, field(i, row)); });
        } else if (!text) {
            each_bit(empty_, rows, [&](uint32_t row) { value_error(i, row, ErrorCode::invalid, field(i, row)); });
        }
    }
    if (odd_count_) resolve_odd(i, v);
    columns_.write_validity(i, columns_.rows(), valid_.data(), rows);
}

// What the kernel left undecided. Most often that is a number of many digits, or one in quotes, which reads at once;
// everything else goes the long way.
void CsvDecoder::resolve_odd(size_t i, const FieldView& v) {
    const bool direct = plain_ && !format_->trim && only_empty_is_null_ && !is_text(columns_.specs()[i].type);
    uint32_t row = 0;
    for (size_t s = 0; s < v.segment_count; s++) {
        const Segment& segment = v.segments[s];
        const uint32_t* stops = v.stops + segment.first_stop;
        for (uint32_t k = 0; k < segment.rows; k++, row++, stops += v.stride) {
            if (!(odd_[row / 64] >> (row % 64) & 1)) continue;
            const uint8_t* begin = segment.base + uint32_t(stops[v.begin_stop] + v.begin_skip);
            size_t size = size_t(segment.base + stops[v.end_stop] - begin);
            if (v.drop_carriage_return) size = without_carriage_return(*format_, begin, size);
            const bool quoted =
                format_->quoting && size > 2 && begin[0] == format_->quote && begin[size - 1] == format_->quote;
            // No value that can be read has a quote in it.
            const Bytes content = quoted ? Bytes{begin + 1, size - 2} : Bytes{begin, size};
            if (!direct || size == 0 || parse_value(i, content, row) != ErrorCode::none)
                resolve(i, row, Bytes{begin, size});
        }
    }
}

void CsvDecoder::resolve(size_t i, uint32_t row, Bytes raw) {
    const ColumnSpec& spec = columns_.specs()[i];
    Bytes content{};
    const Quoting quoting = field_content(*format_, raw, &scratch_, &content);
    if (quoting == Quoting::malformed) return value_error(i, row, ErrorCode::stray_quote, raw);
    if (quoting == Quoting::none ? is_null_token(trimmed(*format_, raw))
                                 : content.size == 0 && format_->empty_is_null())
        return null_or_error(i, row, raw);
    const ErrorCode code = is_text(spec.type) ? ErrorCode::stray_quote : parse_value(i, content, row);
    if (code != ErrorCode::none) value_error(i, row, code, raw);
}

ErrorCode CsvDecoder::parse_value(size_t i, Bytes content, uint32_t row) {
    const ColumnSpec& spec = columns_.specs()[i];
    Column& c = columns_.column(i);
    const uint64_t at = columns_.rows() + row;
    int64_t value = 0;
    double real = 0;
    ErrorCode code = ErrorCode::none;
    switch (spec.type) {
        case ColumnType::float32:
        case ColumnType::float64:
            code = parse_float(content, spec.type, format_->decimal_point, &real);
            if (spec.type == ColumnType::float32)
                c.values.as<float>()[at] = float(real);
            else
                c.values.as<double>()[at] = real;
            return code;
        case ColumnType::decimal128: {
            __int128 exact = 0;
            code = parse_decimal(content, spec.precision, spec.scale, format_->decimal_point, &exact);
            std::memcpy(c.values.data() + 16 * at, &exact, 16);
            return code;
        }
        case ColumnType::boolean: {
            bool known = false;
            for (const std::string& t : format_->trues)
                if (content.equals(t)) known = true, value = 1;
            for (const std::string& f : format_->falses) known |= content.equals(f);
            uint8_t* byte = c.values.data() + at / 8;
            *byte = uint8_t((*byte & ~(1u << at % 8)) | unsigned(value) << at % 8);
            return known ? ErrorCode::none : ErrorCode::invalid;
        }
        case ColumnType::date32: {
            int32_t days = 0;
            code = spec.epoch ? parse_epoch(content, spec, format_->decimal_point, &value) : ErrorCode::invalid;
            days = int32_t(value);
            if (code == ErrorCode::invalid) code = parse_date(content, &days);
            for (size_t k = 0; k < format_->timestamp_formats.size() && code != ErrorCode::none; k++) {
                code = parse_timestamp_as(content, format_->timestamp_formats[k], TimeUnit::second, &value);
                if (code == ErrorCode::none && value % 86400) code = ErrorCode::precision;
                days = int32_t(value / 86400);
            }
            c.values.as<int32_t>()[at] = days;
            return code;
        }
        case ColumnType::timestamp:
            code = spec.epoch ? parse_epoch(content, spec, format_->decimal_point, &value) : ErrorCode::invalid;
            if (code == ErrorCode::invalid)
                code = spec.time_of_day ? parse_time_of_day(content, spec.unit, &value)
                                        : parse_timestamp(content, spec.unit, &value);
            for (size_t k = 0; k < format_->timestamp_formats.size() && code == ErrorCode::invalid; k++)
                code = parse_timestamp_as(content, format_->timestamp_formats[k], spec.unit, &value);
            break;
        default: code = parse_integer(content, spec.type, &value);
    }
    std::memcpy(c.values.data() + at * value_width(spec.type), &value, value_width(spec.type));  // little endian
    return code;
}

void CsvDecoder::value_error(size_t i, uint32_t row, ErrorCode code, Bytes found) {
    const ColumnSpec& spec = columns_.specs()[i];
    if (format_->on_error == OnError::null && spec.nullable) {
        clear_bit(valid_, row);
        nulled_++;
        if (format_->note_nulled) note_error(i, row, code, found, true);
        return;
    }
    set_bit(rejected_, row);
    any_rejected_ = true;
    if (format_->on_error != OnError::skip) note_error(i, row, code, found, false);
}

void CsvDecoder::note_error(size_t i, uint32_t row, ErrorCode code, Bytes found, bool row_kept) {
    const ColumnSpec& spec = columns_.specs()[i];
    const RowBlock::Location at = block_.locate(row);
    const Bytes raw_field = field(i, row);
    RowError error;
    error.code = code;
    error.row_kept = row_kept;
    error.column = int32_t(i);
    error.sequence = at.segment->sequence;
    error.byte_offset = int64_t(at.segment->byte_offset) + (raw_field.data - at.segment->base);
    error.record = at.record;
    error.found.assign(reinterpret_cast<const char*>(found.data), std::min<size_t>(found.size, 200));
    const uint8_t* begin = at.segment->base + uint32_t(at.stops[-1] + uint32_t(format_->record_end.size()));
    size_t size = size_t(at.segment->base + at.stops[block_.stop_count() - 1] - begin);
    if (const Rewritten* record = block_.rewritten_at(row)) {
        // As it stood in the input. A field that was not there is reported where the record ends.
        const int64_t record_end = int64_t(at.segment->byte_offset) + int64_t(record->original_size);
        error.byte_offset = std::min(error.byte_offset, record_end);
        begin = record->original;
        size = record->original_size;
    } else if (drops_carriage_return()) {
        size = without_carriage_return(*format_, begin, size);
    }
    error.raw.assign(reinterpret_cast<const char*>(begin), size);
    // One a record: the leftmost bad field speaks for it, and one that cost the row before one that did not.
    for (size_t k = errors_before_; k < errors.size(); k++) {
        RowError& other = errors[k];
        if (other.record != error.record || other.sequence != error.sequence || other.column < 0) continue;
        const bool further_left = columns_.specs()[size_t(other.column)].field > spec.field;
        if (other.row_kept != row_kept ? other.row_kept : further_left) other = std::move(error);
        return;
    }
    errors.push_back(std::move(error));
}

}  // namespace formatter
