// Lines to stops, the fast way: structure by the kernel, then shapes, then positions, and the text itself where those fail.
#include <algorithm>
#include <cstring>

#include "engine/json_decoder.hpp"

namespace formatter {
namespace {

constexpr size_t shapes_most = 4;  // alternating shapes that are remembered
constexpr uint32_t patience = 32;  // misses in a row before learning becomes rare
constexpr uint32_t now_and_then = 16;  // where keys stand anew in every record, shapes are asked seldom
constexpr uint32_t rarely = 256;
constexpr size_t piece_bytes = 32 << 10;  // indexed, then read while bytes and positions are in the first cache
constexpr size_t longest_indexed = 16 << 20;  // a longer slice is one line: its positions are not worth their memory

// Whole lines of about a piece; `end` ends one.
size_t piece_size(const uint8_t* begin, const uint8_t* end) {
    if (size_t(end - begin) <= piece_bytes) return size_t(end - begin);
    const void* line_end = memrchr(begin, '\n', piece_bytes);
    if (!line_end) line_end = std::memchr(begin + piece_bytes, '\n', size_t(end - begin) - piece_bytes);
    return size_t(static_cast<const uint8_t*>(line_end) - begin) + 1;
}

}  // namespace

const uint8_t* JsonDecoder::read_lines(const Slice& slice, uint64_t* row_limit) {
    const uint8_t* line = slice.begin;
    const auto by_text = [&](const Slice& slice) {
        const uint8_t* end = static_cast<const uint8_t*>(std::memchr(line, '\n', size_t(slice.end - line)));
        const uint64_t before = records_;
        read_line(line, end, slice);
        *row_limit -= records_ - before;
        line = end + 1;
    };
    const size_t size = size_t(slice.end - slice.begin);
    if (size > longest_indexed) {
        by_text(slice);
        return line;
    }
    if (positions_room_ < size + 64) {
        positions_room_ = size + 64;
        positions_.reset(new uint32_t[positions_room_]);
    }
    while (line < slice.end && *row_limit > 0) {
        const uint8_t* const base = line;
        JsonIndex index{positions_.get(), 0, false, false};
        kernel_->index_json(base, piece_size(base, slice.end), index);
        const uint32_t* at = index.positions;
        const uint32_t* const end = at + index.count;
        Slice indexed = slice;
        indexed.begin = base;
        indexed.utf8_known = index.ascii || (at < end && kernel_->valid_utf8(base, size_t(end[-1]) + 1));
        while (at < end && *row_limit > 0) {
            const uint32_t* next = read_known_line(indexed, line, at, end);
            if (next) {
                --*row_limit;
                line = base + next[-1] + 1;
                at = next;
                continue;
            }
            by_text(indexed);
            while (*at++ < size_t(line - base) - 1) {}
        }
        if (index.stopped && at == end && *row_limit > 0) by_text(slice);
    }
    return line;
}

// The record at `line`, whose structure begins at `at`. Returns what follows its line end, or null if its text must decide.
const uint32_t* JsonDecoder::read_known_line(const Slice& slice, const uint8_t* line, const uint32_t* at,
                                             const uint32_t* end) {
    const uint8_t* const base = slice.begin;
    if (base[*at] != '{') return nullptr;
    const auto in_order = [&](const uint8_t* line_end) {
        if (!slice.utf8_known && !kernel_->valid_utf8(line, size_t(line_end - line))) return false;
        return !format_->validate_full || check_value(line, line_end).code == ErrorCode::none;
    };
    make_room(line, slice);
    const bool hopeless = misses_ >= patience && misses_ % now_and_then != 0;
    if (!hopeless && size_t(line - slice.readable_begin) >= JsonShape::probe_reach) {
        for (size_t tried = 0, i = likely_shape_; tried < shapes_.size();
             tried++, i = i + 1 < shapes_.size() ? i + 1 : 0) {
            const JsonShape& shape = shapes_[i];
            if (size_t(end - at) < shape.structure_size() || !shape.matches(base, at, uint32_t(line - base))) continue;
            if (!in_order(base + at[shape.structure_size() - 1]) || !read_shape(shape, base, at)) return nullptr;
            likely_shape_ = i;
            misses_ = 0;
            return at + shape.structure_size();
        }
    }
    const uint32_t* line_end = reader_.read_structure(base, slice.readable_end, line, at, spans_.data());
    if (!line_end || !in_order(base + *line_end)) return nullptr;
    if (misses_++ < patience || misses_ % rarely == 0) learn_shape(base, at, line_end + 1);
    write_stops(line, base + *line_end);
    return line_end + 1;
}

bool JsonDecoder::read_shape(const JsonShape& shape, const uint8_t* base, const uint32_t* at) {
    const uint8_t* const line_end = base + at[shape.structure_size() - 1];
    uint32_t* out = block_.next_stops();
    for (size_t i = 0; i < layout_.size(); i++, out += 2) {
        const int32_t colon = shape.colon(i);
        const uint8_t* begin = line_end;
        const uint8_t* end = line_end;
        if (colon >= 0) {
            begin = base + at[colon] + 1;
            end = base + at[colon + 1];
            while (is_json_space(*begin)) begin++;
            while (end > begin && is_json_space(end[-1])) end--;
            if (begin >= end) return false;
        }
        write_span(out, i, begin, end);
    }
    out[0] = uint32_t(base + at[0] - segment_base_);
    out[1] = uint32_t(line_end - segment_base_);
    block_.add_rows(1);
    offset_ += size_t(line_end - (base + at[0])) + 1;
    records_++;
    return true;
}

void JsonDecoder::learn_shape(const uint8_t* base, const uint32_t* at, const uint32_t* end) {
    JsonShape shape;
    if (!shape.learn(base, at, size_t(end - at), spans_.data(), layout_.size())) return;
    if (shapes_.size() < shapes_most) {
        likely_shape_ = shapes_.size();
        shapes_.push_back(std::move(shape));
    } else {
        likely_shape_ = (likely_shape_ + 1) % shapes_most;
        shapes_[likely_shape_] = std::move(shape);
    }
}

}  // namespace formatter
