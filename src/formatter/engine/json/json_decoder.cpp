// The index half of the JSON decoder: lines in, stops out. json_values.cpp turns stops into columns.
#include "engine/json/json_decoder.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {
namespace {

constexpr size_t slice_bytes = 256 << 10;  // a block's bytes, stops and values stay in the second-level cache together
constexpr uint64_t few_rows = 16;  // when so few are asked for, a slice would be indexed for nothing
constexpr size_t few_rows_bytes = 4 << 10;
constexpr size_t block_entries = 64 << 10;
constexpr uint32_t block_rows_most = 2048;
constexpr size_t index_limit = size_t(1) << 31;  // stops are 32 bit

uint32_t stops_of(const JsonFormat& format) { return uint32_t(2 * format.columns.size() + 2); }

uint32_t rows_of_block(uint32_t stop_count) {
    return uint32_t(std::clamp<size_t>(block_entries / stop_count, 64, block_rows_most));
}

std::vector<ColumnSpec> flat_specs(const JsonFormat& format) {
    std::vector<ColumnSpec> specs;
    for (const JsonColumn& column : format.columns)
        if (column.node.kind == JsonKind::scalar) specs.push_back(column.node.scalar);
    return specs;
}

// Where the first byte stands that no valid UTF-8 has there.
const uint8_t* first_bad_utf8(const Kernel* kernel, const uint8_t* at, const uint8_t* end) {
    while (at < end) {
        const size_t size = *at < 0x80 ? 1 : *at < 0xE0 ? 2 : *at < 0xF0 ? 3 : 4;
        if (size > size_t(end - at) || !kernel->valid_utf8(at, size)) return at;
        at += size;
    }
    return end;
}

}  // namespace

JsonDecoder::JsonDecoder(std::shared_ptr<const JsonFormat> format)
    : format_(std::move(format)),
      kernel_(format_->kernel),
      reader_(format_.get()),
      walk_(format_.get()),
      flat_specs_(flat_specs(*format_)),
      filter_(format_->filter),
      block_(stops_of(*format_), rows_of_block(stops_of(*format_))),
      columns_(&flat_specs_),
      nested_reader_(JsonPolicy{format_->duplicates, format_->unknown_is_error, format_->on_error == OnError::null}),
      loops_(kernel_),
      filler_(&walk_, kernel_, &nested_reader_),
      spans_(format_->columns.size()) {
    uint32_t flat = 0;
    for (const JsonColumn& column : format_->columns) {
        Layout layout;
        layout.nested = column.node.kind != JsonKind::scalar;
        layout.quoted = !layout.nested && expects_string(column.node);
        layout.position = layout.nested ? uint32_t(nested_.size()) : flat++;
        if (layout.nested) nested_.emplace_back(&column.node);
        layout_.push_back(layout);
    }
    is_filter_column_.assign(format_->columns.size(), false);
    for (auto& conjunction : filter_.any_of) {
        for (Predicate& p : conjunction) {
            is_filter_column_[p.column] = true;
            p.column = layout_[p.column].position;
        }
    }
    leading_zeros_.assign(format_->columns.size(), 0);
    values_decoded.assign(format_->columns.size(), 0);
    text_before_.resize(columns_.size());
    nulls_before_.resize(columns_.size());
    usual_text_bytes_.resize(columns_.size());
}

void JsonDecoder::place(const Place& at) {
    place_ = at;
    offset_ = 0;
    records_ = 0;
}

Place JsonDecoder::here() const {
    return Place{place_.sequence, place_.byte_offset + int64_t(offset_), place_.record + records_};
}

void JsonDecoder::open_segment(const uint8_t* base, const Slice& slice) {
    block_.open_segment(base, slice.readable_begin, slice.readable_end, 1, here());
    walk_.open_segment(base, slice.readable_begin, slice.readable_end);
    segment_base_ = base;
}

// Records that were read by their text share no block with others: the spaces of nested columns do not have them.
void JsonDecoder::make_room(const uint8_t* line, const Slice& slice, bool by_text) {
    const bool mixed = walk_.has_spaces() && by_text != by_text_;
    if (block_.room() == 0 || (mixed && !block_.empty()))
        materialize();
    else if (size_t(line - segment_base_) < index_limit)
        return by_text_ = by_text, void();
    open_segment(line, slice);
    by_text_ = by_text;
}

size_t JsonDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    const void* last_end = memrchr(data, '\n', size);
    if (!last_end) return 0;
    const uint8_t* at = data;
    const uint8_t* const stop = static_cast<const uint8_t*>(last_end) + 1;
    if (place_.stream_start) {
        if (size >= 3 && std::memcmp(data, "\xEF\xBB\xBF", 3) == 0) at += 3;
        offset_ += size_t(at - data);
        place_.stream_start = false;
    }
    while (at < stop && row_limit > 0) {
        // Slice by slice: what a block refers to should stay cached until its values are read.
        const size_t look = row_limit < few_rows ? few_rows_bytes : slice_bytes;
        const uint8_t* end = stop;
        if (size_t(stop - at) > look) {
            const void* line_end = memrchr(at, '\n', look);
            if (!line_end) line_end = std::memchr(at + look, '\n', size_t(stop - at) - look);
            end = static_cast<const uint8_t*>(line_end) + 1;
        }
        const Slice slice{at, end, data, data + size, false};
        if (block_.room() == 0) materialize();
        open_segment(at, slice);
        at = read_lines(slice, &row_limit);
        if (at < stop && !block_.empty()) materialize();
    }
    return size_t(at - data);
}

void JsonDecoder::index_unterminated(const uint8_t* data, size_t size) {
    if (block_.room() == 0 || walk_.has_spaces()) materialize();  // nothing may do so once the bytes are kept
    uint8_t* line = block_.keep_bytes(size + 1);
    std::memcpy(line, data, size);
    line[size] = '\n';
    size_t mark = 0;
    if (place_.stream_start && size >= 3 && std::memcmp(line, "\xEF\xBB\xBF", 3) == 0) mark = 3;
    place_.stream_start = false;
    offset_ += mark;
    const Slice slice{line + mark, line + size + 1, line, line + size + 1, false};
    open_segment(slice.begin, slice);
    read_line(slice.begin, line + size, slice);
    offset_--;  // the line end that was not there
}

// By its text. Leaves offset_ behind the line.
void JsonDecoder::read_line(const uint8_t* line, const uint8_t* end, const Slice& slice) {
    const uint8_t* at = skip_json_space(line, end);
    const size_t line_size = size_t(end - line) + 1;
    if (at == end) {  // a blank line is no record
        offset_ += line_size;
        return;
    }
    make_room(line, slice, true);
    Skipped done{at, ErrorCode::none};
    if (line_size > index_limit)
        done.code = ErrorCode::record_too_long;
    else if (!slice.utf8_known && !kernel_->valid_utf8(line, size_t(end - line)))
        done = {first_bad_utf8(kernel_, line, end), ErrorCode::bad_utf8};
    else if (*at != '{')
        done.code = ErrorCode::not_an_object;
    else if (format_->validate_full)
        done = check_value(at, end);
    if (done.code == ErrorCode::none) done = reader_.read(at, end, spans_.data());
    if (done.code == ErrorCode::none) {
        done.at = skip_json_space(done.at, end);
        if (done.at != end) done.code = ErrorCode::trailing_data;
    }
    if (done.code == ErrorCode::none) {
        write_stops(line, end);
    } else {
        reject(done.code, done.at, line, end);
        offset_ += line_size;
        records_++;
        open_segment(end + 1, slice);  // ordinals of a segment's rows have no gaps
    }
}

// Of the record whose values are in spans_. Counts it.
void JsonDecoder::write_stops(const uint8_t* line, const uint8_t* end) {
    uint32_t* out = block_.next_stops();
    for (size_t i = 0; i < spans_.size(); i++, out += 2) {
        if (spans_[i].begin) {
            write_span(out, i, spans_[i].begin, spans_[i].end);
        } else {
            out[0] = out[1] = uint32_t(end - segment_base_);
        }
    }
    out[0] = uint32_t(line - segment_base_);
    out[1] = uint32_t(end - segment_base_);
    block_.add_rows(1);
    offset_ += size_t(end - line) + 1;
    records_++;
}

void JsonDecoder::reject(ErrorCode code, const uint8_t* at, const uint8_t* line, const uint8_t* end) {
    counters.records++;
    counters.rejected++;
    if (format_->on_error == OnError::skip || (format_->on_error == OnError::null && !format_->note_nulled)) return;
    const Place place = here();
    while (end > line && end[-1] == '\r') end--;
    at = std::min(at, end);
    RowError error;
    error.code = code;
    error.sequence = place.sequence;
    error.byte_offset = place.byte_offset + (at - line);
    error.record = place.record;
    error.raw.assign(reinterpret_cast<const char*>(line), size_t(end - line));
    error.found.assign(reinterpret_cast<const char*>(at), std::min<size_t>(size_t(end - at), 200));
    errors.push_back(std::move(error));
}

uint64_t JsonDecoder::byte_count() const {
    uint64_t bytes = columns_.byte_count();
    for (const JsonBuilder& builder : nested_) bytes += builder.byte_count();
    return bytes;
}

void JsonDecoder::export_batch(ArrowArray* out) {
    const uint64_t rows = columns_.rows();
    size_t flat_out = 0;
    for (size_t i = 0; i < format_->output_columns; i++) flat_out += !layout_[i].nested;
    for (size_t i = 0; i < columns_.size(); i++) {
        const uint64_t bytes = columns_.column(i).text_bytes;
        usual_text_bytes_[i] = bytes + bytes / 16;
    }
    ArrowArray flat;
    columns_.export_batch(&flat, flat_out);
    std::vector<ArrowArray> children(format_->output_columns);
    for (size_t i = 0; i < format_->output_columns; i++) {
        if (layout_[i].nested) {
            nested_[layout_[i].position].export_array(&children[i]);
            continue;
        }
        ArrowArray* child = flat.children[layout_[i].position];
        children[i] = *child;
        child->release = nullptr;  // moved
    }
    flat.release(&flat);
    export_columns(&children, rows, out);
    reserved_ = 0;
}

}  // namespace formatter
