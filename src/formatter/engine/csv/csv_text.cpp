// The text columns of the CSV decoder: gathered by the kernel where the dialect is plain, field by field elsewhere.
#include <algorithm>
#include <cstring>

#include "engine/csv/csv_decoder.hpp"

namespace formatter {
namespace {

constexpr uint64_t text_ahead_most = 64 << 20;  // reserved on the strength of the rows so far

void set_bit(std::vector<uint64_t>& bits, uint32_t i) { bits[i / 64] |= uint64_t(1) << (i % 64); }

}  // namespace

void CsvDecoder::decode_text(size_t i, const FieldView& v) {
    const ColumnSpec& spec = columns_.specs()[i];
    Column& c = columns_.column(i);
    const uint64_t at = columns_.rows();
    StringSums sums{};
    kernel_->measure_strings(v, sums);
    const uint64_t before = c.text_bytes;
    if (before + sums.bytes + 64 > c.text.capacity()) {
        const uint64_t rows_to_come = reserved_ - std::min(reserved_, at + v.rows);
        const uint64_t alike = std::min<uint64_t>(sums.bytes / v.rows * rows_to_come, text_ahead_most);
        c.text.reserve(before + sums.bytes + alike + alike / 16 + 64, before);
    }
    ValueMarks marks{empty_.data(), odd_.data(), 0, 0};
    if (has_large_offsets(spec.type)) {
        int32_t* ends = reinterpret_cast<int32_t*>(wide_.data());
        kernel_->gather_strings(v, format_->quoting, format_->quote, 0, ends, c.text.data() + before, sums, marks);
        int64_t* offsets = c.values.as<int64_t>() + at + 1;
        for (uint32_t r = 0; r < v.rows; r++) offsets[r] = int64_t(before) + ends[r];
        c.text_bytes = uint64_t(offsets[v.rows - 1]);
    } else {
        int32_t* offsets = c.values.as<int32_t>() + at + 1;
        kernel_->gather_strings(v, format_->quoting, format_->quote, int32_t(before), offsets, c.text.data() + before,
                                sums, marks);
        c.text_bytes = uint64_t(offsets[v.rows - 1]);
    }
    empty_count_ = marks.empty_count;
    odd_count_ = marks.odd_count;
    const bool check = sums.any_non_ascii && (spec.type == ColumnType::string || spec.type == ColumnType::large_string);
    std::fill(valid_.begin(), valid_.end(), ~uint64_t(0));
    if (check) check_utf8(i, before);
    finish_marks(i, v);
}

void CsvDecoder::decode_text_exactly(size_t i, const FieldView& v) {
    const ColumnSpec& spec = columns_.specs()[i];
    Column& c = columns_.column(i);
    const uint64_t at = columns_.rows();
    const uint64_t before = c.text_bytes;
    std::fill(valid_.begin(), valid_.end(), ~uint64_t(0));
    std::fill(empty_.begin(), empty_.end(), 0);
    std::fill(odd_.begin(), odd_.end(), 0);
    empty_count_ = odd_count_ = 0;
    bool non_ascii = false;
    for (uint32_t row = 0; row < v.rows; row++) {
        const Bytes raw = field(i, row);
        Bytes content = raw;
        bool keep = true;
        if (!spec.raw) {
            const Quoting quoting = field_content(*format_, raw, &scratch_, &content);
            if (quoting == Quoting::malformed) {
                set_bit(odd_, row);
                odd_count_++;
                keep = false;
            } else if (quoting == Quoting::none && content.size == 0) {
                set_bit(empty_, row);
                empty_count_++;
                keep = false;
            } else if (quoting == Quoting::none && is_null_token(trimmed(*format_, raw))) {
                null_or_error(i, row, content);
                keep = false;
            }
        } else if (raw.size == 0) {
            set_bit(empty_, row);
            empty_count_++;
        }
        if (keep && spec.encoding != BinaryEncoding::plain && !spec.raw) {
            const ErrorCode code = spec.encoding == BinaryEncoding::hex ? decode_hex(content, &decoded_)
                                                                        : decode_base64(content, &decoded_);
            if (code != ErrorCode::none) value_error(i, row, code, content), decoded_.clear();
            content = Bytes{reinterpret_cast<const uint8_t*>(decoded_.data()), decoded_.size()};
            if (code != ErrorCode::none) keep = false;
        }
        if (keep && spec.byte_width && content.size != spec.byte_width) {
            value_error(i, row, ErrorCode::invalid, raw);
            keep = false;
        }
        if (keep) {
            c.text.reserve(c.text_bytes + content.size + 64, c.text_bytes);
            if (content.size) std::memcpy(c.text.data() + c.text_bytes, content.data, content.size);
            c.text_bytes += content.size;
            for (size_t k = 0; k < content.size && !non_ascii; k++) non_ascii = content.data[k] >= 0x80;
        }
        if (has_large_offsets(spec.type))
            c.values.as<int64_t>()[at + 1 + row] = int64_t(c.text_bytes);
        else
            c.values.as<int32_t>()[at + 1 + row] = int32_t(c.text_bytes);
    }
    if (non_ascii && (spec.type == ColumnType::string || spec.type == ColumnType::large_string)) check_utf8(i, before);
    finish_marks(i, v);
}

void CsvDecoder::check_utf8(size_t i, uint64_t before) {
    const ColumnSpec& spec = columns_.specs()[i];
    Column& c = columns_.column(i);
    const uint64_t at = columns_.rows();
    const bool large = has_large_offsets(spec.type);
    const auto end_of = [&](uint64_t row) {
        return large ? uint64_t(c.values.as<int64_t>()[row]) : uint64_t(c.values.as<int32_t>()[row]);
    };
    const uint32_t rows = block_.rows();
    // The whole text is valid and no value begins inside a character: then every value is valid.
    bool suspicious = !kernel_->valid_utf8(c.text.data() + before, c.text_bytes - before);
    for (uint32_t r = 0; r < rows && !suspicious; r++) {
        const uint64_t begin = end_of(at + r);
        suspicious = begin < end_of(at + r + 1) && (c.text.data()[begin] & 0xC0) == 0x80;
    }
    if (!suspicious) return;
    for (uint32_t r = 0; r < rows; r++) {
        const uint64_t begin = end_of(at + r), end = end_of(at + r + 1);
        if (!kernel_->valid_utf8(c.text.data() + begin, end - begin))
            value_error(i, r, ErrorCode::bad_utf8, Bytes{c.text.data() + begin, end - begin});
    }
}

}  // namespace formatter
