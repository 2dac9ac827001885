// Windows of bytes to rows of a block. In: bytes that begin at a record. Out: stops, two a column; findings of records that
// cannot be cut. Refuses to know how values are read.
#include "engine/delimited/delimited_decoder.hpp"

#include <algorithm>
#include <cstring>

#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

constexpr size_t window_bytes = 64 << 10;  // read again for each record's parts: it stays in the first caches
constexpr size_t marked_bytes = 16 << 10;  // so do its bits

bool begins_with(const std::string& text, const uint8_t* data, size_t size) {
    if (size < text.size()) return false;
    for (const char c : text)  // of few bytes: a call takes longer
        if (*data++ != uint8_t(c)) return false;
    return true;
}

}  // namespace

DelimitedDecoder::DelimitedDecoder(std::shared_ptr<const DelimitedFormat> format)
    : SpanDecoder(format->fields),
      declared_(std::move(format)),
      splitter_(*declared_),
      ending_(declared_->fields->record_end) {
    if (PlainSplitter::fits(*declared_)) plain_.emplace(*declared_);
}

void DelimitedDecoder::find_separators(const uint8_t* data, size_t size) {
    if (plain_) {
        stride_ = (size + 63) / 64;
        const size_t words = stride_ * plain_->bytes().count + 1;  // one more may be read
        if (bits_.size() < words) bits_.resize(words);
        kernel_->mark_bytes(data, size, plain_->bytes(), plain_->joined(), bits_.data(), stride_);
        plain_->join_blanks(bits_.data(), stride_);
        word_ = 0;
        ends_left_ = stride_ ? bits_[0] : 0;
        return;
    }
    if (positions_.size() < size + 64) {
        positions_.resize(size + 64);
        ends_.resize(size + 64);
    }
    found_.positions = positions_.data();
    found_.ends = ends_.data();
    kernel_->find_bytes(data, size, splitter_.bytes(), found_);
    ends_met_ = 0;
    end_ = nullptr;
    first_ = found_.positions;
}

bool DelimitedDecoder::find_end(uint32_t begin, uint32_t* end) {
    if (plain_) {
        for (;; ends_left_ = bits_[word_]) {
            for (; ends_left_ != 0; ends_left_ &= ends_left_ - 1) {
                *end = uint32_t(word_ * 64) + uint32_t(__builtin_ctzll(ends_left_));
                if (*end < begin) continue;
                ends_left_ &= ends_left_ - 1;
                return true;
            }
            if (++word_ >= stride_) return false;
        }
    }
    while (ends_met_ < found_.end_count) {
        end_ = found_.positions + found_.ends[ends_met_++];
        *end = *end_;
        if (*end >= begin) return true;
    }
    return false;
}

bool DelimitedDecoder::split_record(const Window& window, uint32_t begin, uint32_t end, uint32_t* stops) {
    if (!plain_) return splitter_.split(window.data, begin, end, {first_, end_}, stops);
    plain_->split(window.data, window.size, bits_.data(), stride_, begin, end, stops);
    return true;
}

size_t DelimitedDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    size_t at = 0;
    if (place_.stream_start) {
        at = mark_size(data, size);
        place_.stream_start = false;
        offset_ += at;
    }
    const size_t usual = plain_ ? marked_bytes : window_bytes;
    size_t stretch = usual, passed = 0;
    while (row_limit > 0 && at < size) {
        const size_t window_size = std::min({size - at, stretch, offsets_most});
        if (!has_room(window_size)) break;
        find_separators(data + at, window_size);
        Window window{data + at, data, data + size, window_size, int64_t(offset_)};
        uint32_t begin = 0;
        for (uint32_t end = 0; row_limit > 0 && find_end(begin, &end);) {
            if (!begins_with(ending_, window.data + end, size - at - end)) continue;
            if (add_record(&window, begin, end)) row_limit--;
            const uint32_t behind = end + uint32_t(ending_.size());
            offset_ += behind - begin;
            indexed_bytes_ += behind - begin;
            begin = behind;
            if (!plain_) first_ = end_ + 1;
        }
        at += begin;
        if (row_limit == 0) break;
        if (begin == 0 && window_size == offsets_most) {
            passed = pass_endless(data + at, size - at);
            if (passed == 0) break;
            row_limit--;
            at += passed;
        } else if (window_size == size - at + begin) {
            break;  // the rest is an incomplete record
        }
        stretch = begin ? usual : stretch * bolder;
        // A block's bytes should stay cached until its values are read.
        if (indexed_bytes_ >= stretch_bytes) materialize();
    }
    return at;
}

size_t DelimitedDecoder::index_unterminated(const uint8_t* data, size_t size) {
    if (size >= offsets_most) {
        structural_error(ErrorCode::record_too_long, data, partial_raw_most, here(), 0);
        records_++;
        offset_ += size;
        return size;
    }
    const size_t marked = place_.stream_start ? mark_size(data, size) : 0;
    place_.stream_start = false;
    offset_ += marked;
    data += marked;
    size -= marked;
    has_room(size);
    if (block_.room() == 0) materialize();  // not later: it lets go of what the block keeps
    indexed_bytes_ += size;
    const size_t whole = size + ending_.size();
    uint8_t* record = block_.keep_bytes(whole);
    std::memcpy(record, data, size);
    std::memcpy(record + size, ending_.data(), ending_.size());
    find_separators(record, whole);
    Window window{record, record, record + whole, whole, int64_t(offset_)};
    if (!plain_) end_ = std::lower_bound(found_.positions, found_.positions + found_.count, uint32_t(size));
    add_record(&window, 0, uint32_t(size));
    offset_ += size;
    return marked + size;
}

bool DelimitedDecoder::holds_record(const Window& window, uint32_t begin, uint32_t end) const {
    const uint8_t* at = window.data + begin;
    while (begin < end && (*at == '\r' || *at == '\n')) begin++, at++;
    if (begin == end) return false;
    return declared_->comment.empty() || !begins_with(declared_->comment, at, end - begin);
}

// Whether the bytes are a record, be it one that cannot be read.
bool DelimitedDecoder::add_record(Window* window, uint32_t begin, uint32_t record_end) {
    const uint32_t end = uint32_t(begin + without_carriage_return(*format_, window->data + begin, record_end - begin));
    if (!holds_record(*window, begin, end)) {
        window->stops = nullptr;
        return false;
    }
    const auto refuse = [&](ErrorCode code, uint32_t opened = 0) {
        structural_error(code, window->data + begin, end - begin, here(), 0, opened);
        window->stops = nullptr;
        records_++;
        return true;
    };
    const std::string& start = declared_->record_start;
    uint32_t head = begin;
    while (!begins_with(start, window->data + head, end - head)) {
        const uint8_t c = window->data[head++];  // lines may end between records
        if (head == end || (c != '\r' && c != '\n')) return refuse(ErrorCode::no_record_start);
    }
    uint32_t* const stops =
        open_row(&window->stops, window->data, window->readable_begin, window->readable_end, window->offset, begin);
    std::fill(stops, stops + last_stop_, record_end + 1);
    stops[last_stop_] = record_end;
    if (!split_record(*window, head + uint32_t(start.size()), end, stops))
        return refuse(ErrorCode::unterminated_quote, splitter_.unclosed() - begin);
    if (splitter().escaped().empty()) {
        close_row(&window->stops);
    } else {
        const std::vector<uint32_t> as_found(stops, stops + last_stop_ + 1);
        add_resolved(*window, begin, record_end, as_found.data());
        window->stops = nullptr;
    }
    records_++;
    return true;
}

// The record once more, with the values that hold escapes as they are meant behind its end.
void DelimitedDecoder::add_resolved(const Window& window, uint32_t begin, uint32_t record_end, const uint32_t* stops) {
    const uint32_t whole = record_end - begin + uint32_t(ending_.size()), behind = whole + 1;
    resolved_.clear();
    std::vector<uint32_t> moved(stops, stops + last_stop_ + 1);
    for (uint32_t& stop : moved) stop -= begin;
    for (const uint32_t column : splitter().escaped()) {
        uint32_t* const bounds = moved.data() + 2 * column;
        if (bounds[0] == moved[last_stop_] + 1) continue;
        moved_.push_back({block_.rows(), column, bounds[0]});
        const uint32_t size = bounds[1] - bounds[0];
        const uint8_t* const written = window.data + begin + bounds[0];
        bounds[0] = behind + uint32_t(resolved_.size());
        splitter().resolve(written, size, &resolved_);
        bounds[1] = behind + uint32_t(resolved_.size());
    }
    uint8_t* const kept = block_.keep_bytes(behind + resolved_.size());
    std::memcpy(kept, window.data + begin, whole);
    kept[whole] = 0;
    std::memcpy(kept + behind, resolved_.data(), resolved_.size());
    uint32_t* const out = block_.open_segment(kept, kept, kept + behind + resolved_.size(), uint32_t(ending_.size()),
                                              {{place_.number, records_}, window.offset + begin});
    std::copy(moved.begin(), moved.end(), out);
    block_.add_rows(1);
}

void DelimitedDecoder::end_block(uint64_t bytes) {
    moved_.clear();
    CsvDecoder::end_block(bytes);
}

PlacePosition DelimitedDecoder::value_position(const RowBlock::Location& at, const uint8_t* field, size_t column,
                                               uint32_t row) const {
    const uint32_t bytes = uint32_t(field - at.segment->base);
    if (bytes <= at.stops[last_stop_]) return at.position(field);
    for (const Moved& moved : moved_)
        if (moved.row == block_.original_row(row) && moved.column == column)
            return at.position(at.segment->base + moved.bytes);
    return SpanDecoder::value_position(at, field, column, row);
}

}  // namespace formatter
