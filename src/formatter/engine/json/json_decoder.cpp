// The index half of the JSON decoder. In: bytes that begin at a record. Out: a block of rows, each with the stops of
// its wanted values. Refuses to know values: json_values.cpp turns stops into columns.
#include "engine/json/json_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

constexpr uint64_t few_rows = 16;  // when so few are asked for, indexing more lines would be for nothing
constexpr size_t few_rows_bytes = 4 << 10;

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

JsonDecoder::JsonDecoder(const std::shared_ptr<const JsonFormat>& format)
    : BlockDecoder(*format, format->tells_errors(), &format->flat, 2 * format->columns.size() + 2),
      format_(format),
      kernel_(format_->kernel),
      reader_(format_.get()),
      walk_(format_.get()),
      rescue_(format_.get()),
      filter_(format_->filter),
      nested_reader_(JsonPolicy{format_->duplicates, format_->unknown_is_error, format_->rescue_column >= 0,
                                format_->nulls_misfits()}),
      loops_(kernel_),
      filler_(&walk_, kernel_, &nested_reader_, format_->rescue_column >= 0),
      spans_(format_->columns.size()) {
    uint32_t flat = 0;
    const JsonColumn* const rescue_column = format_->columns.data() + format_->rescue_column;
    for (const JsonColumn& column : format_->columns) {
        Layout layout;
        layout.nested = column.node.kind != JsonKind::scalar;
        layout.whole = column.path.empty();
        layout.quoted = !layout.nested && !layout.whole && expects_string(column.node) && &column != rescue_column;
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
    usual_text_bytes_.resize(columns_.size());
}

void JsonDecoder::open_segment(const uint8_t* base, const Lines& lines) {
    block_.open_segment(base, lines.readable_begin, lines.readable_end, 1, here());
    walk_.open_segment(base, lines.readable_begin, lines.readable_end);
    segment_base_ = base;
}

// Records that were read by their text share no block with others: the spaces of nested columns do not have them.
void JsonDecoder::begin_line(const uint8_t* line, const Lines& lines, bool by_text) {
    const bool mixed = walk_.has_spaces() && by_text != by_text_;
    if (block_.room() == 0 || (mixed && !block_.empty()))
        materialize();
    else if (size_t(line - segment_base_) < offsets_most)
        return by_text_ = by_text, void();
    open_segment(line, lines);
    by_text_ = by_text;
}

bool JsonDecoder::skip_preamble(const uint8_t* data, size_t size, size_t* skipped) {
    *skipped = place_.stream_start ? mark_size(data, size) : 0;
    place_.stream_start = false;
    offset_ += *skipped;
    return true;
}

size_t JsonDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    const void* last_end = memrchr(data, '\n', size);
    if (!last_end) return 0;
    const uint8_t* const stop = static_cast<const uint8_t*>(last_end) + 1;
    size_t skipped;
    skip_preamble(data, size, &skipped);
    const uint8_t* at = data + skipped;
    const Readable readable = readable_around(data, size);
    while (at < stop && row_limit > 0) {
        // Piece by piece: what a block refers to should stay cached until its values are read.
        const size_t look = std::min(row_limit < few_rows ? few_rows_bytes : stretch_bytes, size_t(offsets_most));
        const uint8_t* end = stop;
        if (size_t(stop - at) > look) {
            const void* line_end = memrchr(at, '\n', look);
            if (!line_end) line_end = std::memchr(at + look, '\n', size_t(stop - at) - look);
            end = static_cast<const uint8_t*>(line_end) + 1;
        }
        if (!has_room(uint64_t(end - at))) break;
        const Lines lines{at, end, readable.begin, readable.end, false};
        if (block_.room() == 0) materialize();
        open_segment(at, lines);
        const uint8_t* const begin = at;
        at = read_lines(lines, &row_limit);
        indexed_bytes_ += uint64_t(at - begin);
        if (at < stop && !block_.empty()) materialize();
    }
    return size_t(at - data);
}

uint64_t JsonDecoder::text_room() const {
    uint64_t room = columns_.text_room();
    for (const JsonBuilder& builder : nested_) room = std::min(room, builder.text_room());
    return room;
}

size_t JsonDecoder::index_unterminated(const uint8_t* data, size_t size) {
    has_room(size + 1);
    if (block_.room() == 0 || walk_.has_spaces()) materialize();  // nothing may do so once the bytes are kept
    indexed_bytes_ += size + 1;
    uint8_t* line = block_.keep_bytes(size + 1);
    std::memcpy(line, data, size);
    line[size] = '\n';
    const size_t mark = place_.stream_start ? mark_size(line, size) : 0;
    place_.stream_start = false;
    offset_ += mark;
    const Lines lines{line + mark, line + size + 1, line, line + size + 1, false};
    open_segment(lines.begin, lines);
    read_line(lines.begin, line + size, lines);
    offset_--;  // the line end that was not there
    return size;
}

// By its text. Leaves offset_ behind the line.
void JsonDecoder::read_line(const uint8_t* line, const uint8_t* end, const Lines& lines) {
    const uint8_t* at = skip_json_space(line, end);
    const size_t line_size = size_t(end - line) + 1;
    if (at == end) {  // a blank line is no record
        offset_ += line_size;
        return;
    }
    begin_line(line, lines, true);
    Skipped done{at, ErrorCode::none};
    if (line_size > offsets_most)
        done.code = ErrorCode::record_too_long;
    else if (!lines.utf8_known && !kernel_->valid_utf8(line, size_t(end - line)))
        done = {first_bad_utf8(kernel_, line, end), ErrorCode::bad_utf8};
    else if (*at != '{' && !format_->whole_records)
        done.code = ErrorCode::not_an_object;
    else if (format_->validate_full)
        done = check_value(at, end);
    if (done.code == ErrorCode::none) done = read_spans(at, end);
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
        open_segment(end + 1, lines);  // ordinals of a segment's rows have no gaps
    }
}

// Where the values of the record stand that begins at `at`, up to its end.
Skipped JsonDecoder::read_spans(const uint8_t* at, const uint8_t* end) {
    if (!format_->whole_records) return reader_.read(at, end, spans_.data());
    const uint8_t* last = end;
    while (is_json_space(last[-1])) last--;
    std::fill(spans_.begin(), spans_.end(), ValueSpan{at, last});
    return {end, ErrorCode::none};  // what stands there its column says
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
    if (!format_->tells_errors()) return;
    while (end > line && end[-1] == '\r') end--;
    at = std::min(at, end);
    Finding finding{code};
    finding.set_raw(line, size_t(end - line));
    finding.set_found(at, size_t(end - at));
    PlacePosition position = here();
    position.bytes += at - line;
    findings.emplace_back(std::move(finding), position);
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
    OwnedArray flat;
    columns_.export_batch(&flat, flat_out);
    std::vector<OwnedArray> children(format_->output_columns);
    for (size_t i = 0; i < format_->output_columns; i++) {
        if (layout_[i].nested) {
            nested_[layout_[i].position].export_array(&children[i]);
            continue;
        }
        ArrowArray* child = flat.children[layout_[i].position];
        static_cast<ArrowArray&>(children[i]) = *child;
        child->release = nullptr;  // moved
    }
    export_columns(std::move(children), rows, out);
    text_room_ = offsets_most;
}

}  // namespace formatter
