// Lines to stops, the fast way: structure by the kernel, then shapes, then positions, and the text itself where those
// fail. In: lines. Out: a block of rows, each with the stops of its wanted values. Refuses to know types.
#include <algorithm>
#include <cstring>

#include "engine/json/json_decoder.hpp"

namespace formatter {
namespace {

constexpr size_t shapes_most = 4;  // alternating shapes that are remembered
constexpr uint32_t patience = 32;  // misses in a row before learning becomes rare
constexpr uint32_t now_and_then = 16;  // where keys stand anew in every record, shapes are asked seldom
constexpr uint32_t rarely = 1024;
constexpr size_t piece_bytes = 32 << 10;  // indexed, then read while bytes and positions are in the first cache
constexpr size_t end_looked_for = 1 << 10;  // where its last line end is likely
constexpr size_t doubtful_bytes = 1 << 10;  // where a line was not in order, the next may not be either
constexpr size_t longest_indexed = 16 << 20;  // a longer stretch is one line: its positions are not worth their memory

// Whole lines of about a piece; `end` ends one.
size_t piece_size(const uint8_t* begin, const uint8_t* end, size_t look) {
    if (size_t(end - begin) <= look) return size_t(end - begin);
    const void* line_end = memrchr(begin, '\n', look);
    if (!line_end) line_end = std::memchr(begin + look, '\n', size_t(end - begin) - look);
    return size_t(static_cast<const uint8_t*>(line_end) - begin) + 1;
}

}  // namespace

const uint8_t* JsonDecoder::read_lines(const Lines& lines, uint64_t* row_limit) {
    const uint8_t* line = lines.begin;
    const auto by_text = [&](const Lines& lines) {
        const uint8_t* end = static_cast<const uint8_t*>(std::memchr(line, '\n', size_t(lines.end - line)));
        const uint64_t before = records_;
        read_line(line, end, lines);
        *row_limit -= records_ - before;
        line = end + 1;
    };
    if (format_->whole_records) {
        while (line < lines.end && *row_limit > 0) by_text(lines);
        return line;
    }
    const size_t size = size_t(lines.end - lines.begin);
    if (size > std::min<size_t>(longest_indexed, offsets_most)) {
        by_text(lines);
        return line;
    }
    if (positions_room_ < size + 64) {
        positions_room_ = size + 64;
        positions_.reset(new uint32_t[positions_room_]);
        kinds_.reset(new uint8_t[positions_room_]());
        depths_.reset(new uint8_t[positions_room_]());
        line_ends_.reset(new uint32_t[positions_room_]);
        valued_.reset(new JsonValued[positions_room_ / 64 + 2]());
    }
    const bool full = format_->validate_full;
    size_t look = piece_bytes;
    while (line < lines.end && *row_limit > 0) {
        const uint8_t* const base = line;
        has_kinds_ = full || walk_.has_spaces() || misses_ > 0 || shapes_.empty();
        JsonIndex index{positions_.get(),
                        has_kinds_ ? kinds_.get() : nullptr,
                        full ? valued_.get() : nullptr,
                        false,
                        0,
                        false,
                        false};
        const size_t piece = piece_size(base, lines.end, look);
        // Where the next piece ends is looked at before all else in it.
        for (size_t back = 0; back < end_looked_for; back += 64) __builtin_prefetch(base + piece + look - back);
        kernel_->index_json(base, piece, index);
        checked_ = index.checked;
        const uint32_t* at = index.positions;
        const uint32_t* const end = at + index.count;
        leveled_end_ = at;
        Lines indexed = lines;
        indexed.begin = base;
        indexed.utf8_known = index.utf8_known || (at < end && kernel_->valid_utf8(base, size_t(end[-1]) + 1));
        bool doubtful = index.stopped;
        while (at < end && *row_limit > 0) {
            if (in_a_row_ && indexed.utf8_known && !full) {
                at = read_lines_alike(indexed, &line, at, end, row_limit);
                if (at == end || *row_limit == 0) break;
            }
            const uint32_t* next = read_known_line(indexed, line, at, end);
            if (next) {
                --*row_limit;
                line = base + next[-1] + 1;
                at = next;
                continue;
            }
            by_text(indexed);
            while (*at++ < size_t(line - base) - 1) {}
            // What was found in order with the grammar checked begins with the first line: begin anew behind this one.
            doubtful |= checked_ && at > leveled_end_;
            if (checked_ && at > leveled_end_) break;
        }
        if (index.stopped && at == end && *row_limit > 0) by_text(lines);
        look = doubtful ? doubtful_bytes : std::min(2 * look, piece_bytes);
    }
    return line;
}

// Makes the depths of the lines from `at` on known, as far as they are in order. False if the first is not.
bool JsonDecoder::level_lines(const Lines& lines, const uint32_t* at, const uint32_t* end) {
    const size_t first = size_t(at - positions_.get()), count = size_t(end - at);
    if (!has_kinds_) {
        for (size_t i = first; i < first + count; i++) kinds_[i] = lines.begin[positions_[i]];
        has_kinds_ = true;
    }
    if (checked_ && first != 0) return false;
    JsonLevels levels{kinds_.get() + first,
                      checked_ ? valued_.get() : nullptr,
                      lines.begin,
                      at,
                      count,
                      depths_.get() + first,
                      line_ends_.get(),
                      first,
                      0};
    kernel_->level_json(levels);
    leveled_end_ = at + levels.whole;
    line_end_ = line_ends_.get();
    return leveled_end_ > at;
}

// The record at `line`, whose structure begins at `at`. Returns what follows its line end, or null if its text must decide.
const uint32_t* JsonDecoder::read_known_line(const Lines& lines, const uint8_t* line, const uint32_t* at,
                                             const uint32_t* end) {
    const uint8_t* const base = lines.begin;
    if (base[*at] != '{') return nullptr;
    if (checked_ && at >= leveled_end_ && !level_lines(lines, at, end)) return nullptr;
    const auto in_order = [&](const uint8_t* line_end) {
        if (!lines.utf8_known && !kernel_->valid_utf8(line, size_t(line_end - line))) return false;
        return !format_->validate_full || checked_ || check_value(line, line_end).code == ErrorCode::none;
    };
    begin_line(line, lines, false);
    const bool hopeless = misses_ >= patience && misses_ % now_and_then != 0;
    if (!hopeless) {
        for (size_t tried = 0, i = likely_shape_; tried < shapes_.size();
             tried++, i = i + 1 < shapes_.size() ? i + 1 : 0) {
            const JsonShape& shape = shapes_[i];
            if (size_t(end - at) < shape.structure_size() || size_t(line - lines.readable_begin) < shape.reach())
                continue;
            if (!shape.matches(base, at, uint32_t(line - base))) continue;
            if (!in_order(base + at[shape.structure_size() - 1]) || !read_shape(shape, base, at)) return nullptr;
            in_a_row_ = i == likely_shape_;
            likely_shape_ = i;
            misses_ = 0;
            return at + shape.structure_size();
        }
    }
    in_a_row_ = false;
    if (at >= leveled_end_ && !level_lines(lines, at, end)) return nullptr;
    if (skip_json_space(line, base + *at) != base + *at) return nullptr;
    const JsonParts parts{base, positions_.get(), kinds_.get(), depths_.get()};
    uint32_t* const stops = block_.next_stops();
    const size_t first = size_t(at - positions_.get());
    while (*line_end_ < first) line_end_++;
    const size_t line_end = *line_end_;
    if (!walk_.read(parts, first, line_end, stops)) return nullptr;
    const uint32_t* const last = positions_.get() + line_end;
    if (!in_order(base + *last)) return walk_.forget(), nullptr;
    stops[2 * layout_.size()] = uint32_t(line - segment_base_);
    stops[2 * layout_.size() + 1] = uint32_t(base + *last - segment_base_);
    block_.add_rows(1);
    offset_ += size_t(base + *last - line) + 1;
    records_++;
    if (!walk_.has_spaces() && (misses_++ < patience || misses_ % rarely == 0)) learn_shape(base, at, last + 1);
    return last + 1;
}

// Records that have the shape of the ones before them: all of them at one stride of positions, so that their values are only gathered.
// Ends at the first that has not, or whose values are not plain.
const uint32_t* JsonDecoder::read_lines_alike(const Lines& lines, const uint8_t** line, const uint32_t* at,
                                              const uint32_t* end, uint64_t* row_limit) {
    const JsonShape& shape = shapes_[likely_shape_];
    const uint8_t* const base = lines.begin;
    const size_t columns = layout_.size(), count = shape.structure_size();
    const bool reaches = size_t(*line - lines.readable_begin) >= shape.reach();
    if (!reaches || size_t(base + end[-1] - segment_base_) >= offsets_most) return at;
    const uint32_t to_segment = uint32_t(base - segment_base_);
    const uint64_t most = std::min<uint64_t>({*row_limit, block_.room(), uint64_t(end - at) / count});
    const int32_t* const colons = shape.colons();
    const Layout* const layout = layout_.data();
    uint8_t* const leading_zeros = leading_zeros_.data();
    const uint32_t stop_count = block_.stop_count();
    uint32_t* out = block_.next_stops();
    uint32_t begin = uint32_t(*line - base), rows = 0;
    for (; rows < most && shape.matches(base, at, begin); rows++, at += count, out += stop_count) {
        const uint32_t line_end = at[count - 1];
        bool plain = true;
        for (size_t i = 0; i < columns; i++) {
            const int32_t colon = colons[i];
            if (colon < 0) {
                out[2 * i] = out[2 * i + 1] = to_segment + line_end;
                continue;
            }
            uint32_t value = at[colon] + 1, behind = at[colon + 1];
            uint8_t first = base[value];
            if (first == ' ') first = base[++value];
            const uint8_t last = base[behind - 1];
            plain &= (first > ' ') & (last > ' ') & (value < behind);
            if (layout[i].quoted) {
                if (first == '"' && last == '"' && behind - value >= 2) value++, behind--;
            } else if (first == '0' || first == '-') {
                leading_zeros[i] |= has_leading_zero(base + value);
            }
            out[2 * i] = to_segment + value;
            out[2 * i + 1] = to_segment + behind;
        }
        if (!plain) break;
        out[2 * columns] = to_segment + begin;
        out[2 * columns + 1] = to_segment + line_end;
        begin = line_end + 1;
    }
    in_a_row_ = rows > 0;
    block_.add_rows(rows);
    records_ += rows;
    offset_ += uint64_t(base + begin - *line);
    *row_limit -= rows;
    *line = base + begin;
    return at;
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
            while (is_line_space(*begin)) begin++;
            while (end > begin && is_line_space(end[-1])) end--;
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

// Of the record whose stops were written last.
void JsonDecoder::learn_shape(const uint8_t* base, const uint32_t* at, const uint32_t* end) {
    const uint32_t* const stops = block_.next_stops() - block_.stop_count();
    for (size_t i = 0; i < spans_.size(); i++) {
        const bool there = stops[2 * i] != stops[2 * spans_.size() + 1];
        spans_[i] = there ? ValueSpan{segment_base_ + stops[2 * i], segment_base_ + stops[2 * i + 1]} : ValueSpan{};
    }
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
