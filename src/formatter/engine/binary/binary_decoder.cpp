#include "engine/binary/binary_decoder.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t block_bytes = 128 << 10;  // rows and values stay in the second-level cache together
constexpr size_t block_rows_most = 4096;

}  // namespace

BinaryDecoder::BinaryDecoder(std::shared_ptr<const BinaryFormat> format)
    : format_(std::move(format)), columns_(&format_->columns) {
    is_filter_column_.assign(format_->columns.size(), false);
    for (const auto& conjunction : format_->filter.any_of)
        for (const Predicate& p : conjunction) is_filter_column_[p.column] = true;
    for (size_t i = 0; i < format_->columns.size(); i++)
        if (is_checked(i)) checked_.push_back(i);
    std::sort(checked_.begin(), checked_.end(),
              [this](size_t a, size_t b) { return format_->fields[a].offset < format_->fields[b].offset; });
    values_decoded.assign(format_->columns.size(), 0);
    rows_.reserve(block_rows_most);
}

void BinaryDecoder::place(const Place& at) {
    place_ = at;
    offset_ = 0;
    records_ = 0;
}

void BinaryDecoder::expect(uint64_t bytes) {
    const size_t prefix = format_->length.width == LengthPrefix::varint ? 1 : format_->length.width;
    if (!format_->has_rest && bytes > block_bytes) columns_.make_room(bytes / (format_->row_width + prefix) + 1);
}

size_t BinaryDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    if (format_->length.width) return index_prefixed(data, size, row_limit);
    if (format_->has_rest) return 0;  // a row by itself: its end is that of the bytes
    const size_t width = format_->row_width;
    const uint64_t count = std::min<uint64_t>(size / width, row_limit);
    const size_t block_rows = std::clamp<size_t>(block_bytes / width, 1, block_rows_most);
    uint64_t done = 0;
    while (done < count) {
        const size_t more = size_t(std::min<uint64_t>(count - done, block_rows));
        if (columns_.rows() && !fits(more * width)) break;
        base_ = data + done * width;
        base_offset_ = offset_;
        rows_.clear();
        for (size_t i = 0; i < more; i++) rows_.push_back({base_ + i * width, records_ + i, uint32_t(width)});
        stride_ = width;
        records_ += more;
        offset_ += int64_t(more * width);
        done += more;
        read_block(more);
    }
    return done * width;
}

size_t BinaryDecoder::index_prefixed(const uint8_t* data, size_t size, uint64_t row_limit) {
    size_t at = 0;
    bool more = true;
    while (more && row_limit > 0) {
        base_ = data + at;
        base_offset_ = offset_;
        rows_.clear();
        const size_t begin = at;
        uint64_t met = 0;
        while (met < row_limit && met < block_rows_most && at - begin < block_bytes) {
            const PrefixedRecord record = prefixed_record_at(format_->length, data + at, size - at);
            more = record.complete && (columns_.rows() + met == 0 || fits(at - begin + record.prefix + record.size));
            if (!more) break;
            const bool right =
                format_->has_rest ? record.size >= format_->row_width : record.size == format_->row_width;
            if (right && record.size <= uint64_t(UINT32_MAX))
                rows_.push_back({record.data, records_, uint32_t(record.size)});
            else
                note(ErrorCode::wrong_length, -1, data + at, record.size, records_, record.data, record.size, false);
            records_++;
            met++;
            at += record.prefix + record.size;
        }
        row_limit -= met;
        offset_ += int64_t(at - begin);
        const bool equal = !format_->has_rest && rows_.size() == met && format_->length.width != LengthPrefix::varint;
        stride_ = equal ? format_->row_width + format_->length.width : 0;
        if (met) read_block(met);
        more = more && at < size;
    }
    return at;
}

size_t BinaryDecoder::index_unterminated(const uint8_t* data, size_t size) {
    if (size == 0) return 0;
    base_ = data;
    base_offset_ = offset_;
    if (format_->has_rest && !format_->length.width && size >= format_->row_width && size <= UINT32_MAX) {
        rows_.assign(1, {data, records_++, uint32_t(size)});
        stride_ = 0;
        offset_ += int64_t(size);
        read_block(1);
        return size;
    }
    counters.records++;
    note(ErrorCode::unterminated_record, -1, data, size, records_, data, size, false);
    records_++;
    offset_ += int64_t(size);
    return size;
}

// The rows that were met and not rejected for their length, `met` with those.
void BinaryDecoder::read_block(uint64_t met) {
    counters.records += met;
    if (rows_.empty()) return;
    columns_.make_room(rows_.size());
    columns_.begin_rows();
    const uint64_t nulled_before = counters.nulled;
    const RowFilter& filter = format_->filter;
    if (filter.active()) {
        check(true);
        decode_columns(true);
        const size_t count = rows_.size();
        bits_.assign(count / 64 + 1, ~uint64_t(0));
        if (count) evaluate_filter(filter, columns_, columns_.rows(), uint32_t(count), bits_.data());
        for (uint64_t& word : bits_) word = ~word;
        columns_.forget_rows();  // decoded anew for the rows that stay
        counters.nulled = nulled_before;
        drop(bits_);
        counters.filtered += count - rows_.size();
    }
    check(false);
    decode_columns(false);
    counters.rows += rows_.size();
    columns_.commit_rows(rows_.size());
    if (row_records)
        for (const Row& row : rows_) row_records->push_back({{place_.number, row.record}, 1});
}

void BinaryDecoder::check(bool filter_columns) {
    std::vector<uint64_t> dropped;
    const bool filtered = format_->filter.active();
    begin_fields();
    for (size_t i : checked_) {
        if (filtered && is_filter_column_[i] != filter_columns) continue;
        const bool keeps = may_null(i);
        ErrorCode code;
        for (size_t r = next_wrong(i, 0, &code); r < rows_.size(); r = next_wrong(i, r + 1, &code)) {
            const Row& row = rows_[r];
            if (!dropped.empty() && has_bit(dropped.data(), r)) continue;  // a field further left spoke
            const BinaryField& field = format_->fields[i];
            if (!keeps || format_->note_nulled)
                note(code, int32_t(i), row.data + field.offset, field.size_in(row.size), row.record, row.data, row.size,
                     keeps);
            if (keeps) continue;
            if (dropped.empty()) dropped.resize(rows_.size() / 64 + 1);
            set_bit(dropped.data(), r);
        }
    }
    if (!dropped.empty()) drop(dropped);
}

bool BinaryDecoder::may_null(size_t i) const {
    return format_->on_error == OnError::null && format_->columns[i].nullable;
}

// The first row from `from` on whose field is no value, and why; or their count.
size_t BinaryDecoder::next_wrong(size_t i, size_t from, ErrorCode* why) const {
    const BinaryField& field = format_->fields[i];
    const ColumnSpec& spec = format_->columns[i];
    if (!field.is_rest()) return spec.type->next_wrong(packed(i), spec, from, why);
    for (; from < rows_.size(); from++) {
        const size_t size = rows_[from].size - field.offset;
        *why = ErrorCode::overflow;
        if (!has_large_offsets(spec) && size > size_t(INT32_MAX)) break;
        *why = ErrorCode::bad_utf8;
        if (must_be_utf8(spec) && !format_->kernel->valid_utf8(rows_[from].data + field.offset, size)) break;
    }
    return from;
}

void BinaryDecoder::drop(const std::vector<uint64_t>& dropped) {
    size_t kept = 0;
    for (size_t r = 0; r < rows_.size(); r++)
        if (!has_bit(dropped.data(), r)) rows_[kept++] = rows_[r];
    if (kept < rows_.size()) stride_ = 0;
    rows_.resize(kept);
}

void BinaryDecoder::decode_columns(bool filter_columns_only) {
    const size_t count = rows_.size();
    if (count == 0) return;
    begin_fields();
    for (size_t i = 0; i < columns_.size(); i++) {
        if (filter_columns_only && !is_filter_column_[i]) continue;
        values_decoded[i] += count;
        valid_.assign(count / 64 + 1, ~uint64_t(0));
        if (is_checked(i) && may_null(i)) {
            ErrorCode why;
            for (size_t r = next_wrong(i, 0, &why); r < count; r = next_wrong(i, r + 1, &why)) {
                clear_bit(valid_.data(), r);
                counters.nulled++;
            }
        }
        if (const auto gather = format_->columns[i].type->gather)
            gather(packed(i), columns_.column(i).values.data(), columns_.rows());
        else
            decode_text(i);
        columns_.write_validity(i, columns_.rows(), valid_.data(), uint32_t(count));
    }
}

void BinaryDecoder::begin_fields() {
    row_begins_.clear();
    for (size_t r = 0; r < rows_.size() && (r == 0 || stride_ == 0); r++) row_begins_.push_back(rows_[r].data);
}

PackedFields BinaryDecoder::packed(size_t i) const {
    const BinaryField& field = format_->fields[i];
    return {row_begins_.data(), rows_.size(), stride_, field.offset, field.width, format_->big_endian};
}

void BinaryDecoder::decode_text(size_t i) {
    const BinaryField field = format_->fields[i];
    Column& c = columns_.column(i);
    const uint64_t at = columns_.rows();
    uint64_t bytes = 0;
    for (const Row& row : rows_) bytes += field.size_in(row.size);
    c.text.reserve(c.text_bytes + bytes + 64, c.text_bytes);
    const bool large = has_large_offsets(format_->columns[i]);
    for (size_t r = 0; r < rows_.size(); r++) {
        const bool valid = has_bit(valid_.data(), r);
        const size_t size = valid ? field.size_in(rows_[r].size) : 0;
        if (size) std::memcpy(c.text.data() + c.text_bytes, rows_[r].data + field.offset, size);
        c.text_bytes += size;
        c.write_offset(large, at + r);
    }
}

void BinaryDecoder::note(ErrorCode code, int32_t column, const uint8_t* at, size_t size, uint64_t record,
                         const uint8_t* raw, size_t raw_size, bool row_kept) {
    counters.rejected += !row_kept;
    if (!format_->tells_errors()) return;
    Finding finding{code, row_kept, column};
    finding.set_found(at, size);
    finding.set_raw(raw, raw_size);
    const PlacePosition position{
        {place_.number, record}, base_offset_ + (at - base_), base_offset_ + (raw + raw_size - base_)};
    findings.emplace_back(std::move(finding), position);
}

void BinaryDecoder::export_batch(ArrowArray* out) { columns_.export_batch(out, format_->output_columns); }

}  // namespace formatter
