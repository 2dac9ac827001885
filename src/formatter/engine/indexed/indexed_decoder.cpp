#include "engine/indexed/indexed_decoder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>

#include "engine/records/byte_order_mark.hpp"

namespace formatter {
namespace {

constexpr size_t window_bytes = 64 << 10, first_record_bytes = 4 << 10;
constexpr uint32_t first_records = 4096;

}  // namespace

IndexedDecoder::IndexedDecoder(std::shared_ptr<const IndexedFormat> format)
    : SpanDecoder(format->fields), indexed_(std::move(format)), ending_(indexed_->ending()) {
    room_.fields = indexed_->wanted.data();
    room_.field_count = uint32_t(indexed_->wanted.size());
    room_.reserve = &IndexedDecoder::reserve;
}

// Called from within the indexer, which no exception may pass.
int IndexedDecoder::reserve(formatter_records* records, uint32_t capacity) {
    Room& room = *static_cast<Room*>(records);
    if (capacity > room.most) {
        const size_t entries = size_t(capacity) * (2 * size_t(room.field_count) + 1);
        room.positions.reset(new (std::nothrow) uint32_t[entries]);
        room.kind_bytes.reset(new (std::nothrow) uint8_t[capacity]);
        room.starved = !room.positions || !room.kind_bytes;
        room.most = room.starved ? 0 : capacity;
        if (room.starved) return 0;
    }
    room.capacity = room.most;
    room.ends = room.positions.get();
    room.spans = room.ends + room.most;
    room.kinds = room.kind_bytes.get();
    std::memset(room.kinds, FORMATTER_RECORD, room.most);
    return 1;
}

// Whether the indexer has told of records in these bytes, and of ones that can be there; else `message` says what is wrong.
bool IndexedDecoder::ask(const uint8_t* data, size_t size, uint32_t* count) {
    room_.data = data;
    room_.size = size;
    room_.message[0] = 0;
    int64_t found = reserve(&room_, std::max(room_.most, first_records)) ? indexed_->indexer->index(&room_) : -1;
    if (room_.starved) out_of_memory();
    room_.message[FORMATTER_MESSAGE_BYTES - 1] = 0;
    if (found < 0 && !room_.message[0])
        std::snprintf(room_.message, sizeof room_.message, "a failure without a message");
    if (found > int64_t(room_.capacity))
        std::snprintf(room_.message, sizeof room_.message, "%lld records where %u have room", (long long)found,
                      room_.capacity);
    *count = uint32_t(found);
    return !room_.message[0] && is_possible(data, size, *count);
}

bool IndexedDecoder::is_possible(const uint8_t* data, size_t size, uint32_t count) {
    const auto wrong = [this](uint32_t record, const char* what) {
        std::snprintf(room_.message, sizeof room_.message, "of its record %u %s", record, what);
        return false;
    };
    const uint8_t* const data_end = data + size;
    const auto end_behind = [&](uint32_t begin) {  // of the record that begins there; null: these bytes do not have it
        return std::search(data + begin, data_end, ending_.begin(), ending_.end(),
                           [](uint8_t byte, char wanted) { return byte == uint8_t(wanted); });
    };
    const auto single_end = [&](uint32_t begin) {
        const void* at = size > begin ? std::memchr(data + begin, uint8_t(ending_[0]), size - begin) : nullptr;
        return at ? static_cast<const uint8_t*>(at) : data_end;
    };
    uint32_t begin = 0;
    const uint32_t* span = room_.spans;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t end = room_.ends[i];
        if (end <= begin || end > size) return wrong(i, "an end that is not behind its begin and in the bytes");
        if (!ending_.empty()) {
            const uint8_t* const real = ending_.size() == 1 ? single_end(begin) : end_behind(begin);
            if (real + ending_.size() != data + end) return wrong(i, "an end that is not behind the first record end");
        }
        if (room_.kinds[i] > FORMATTER_BAD_RECORD) return wrong(i, "a kind that there is not");
        if (room_.kinds[i] != FORMATTER_RECORD) {
            span += 2 * room_.field_count;
        } else {
            for (uint32_t f = 0; f < room_.field_count; f++, span += 2)
                if (span[0] != FORMATTER_ABSENT && (span[0] < begin || span[1] < span[0] || span[1] > end))
                    return wrong(i, "a field that is not within it");
        }
        begin = end;
    }
    return count || ending_.empty() || wrong(0, "no word, though its end is there");
}

void IndexedDecoder::skip_mark(const uint8_t* data, size_t size, size_t* at) {
    *at = place_.stream_start && !ending_.empty() ? mark_size(data, size) : 0;
    place_.stream_start = false;
    offset_ += *at;
}

size_t IndexedDecoder::behind_last_end(const uint8_t* data, size_t size) const {
    if (ending_.empty()) return size;
    if (ending_.size() == 1) {
        const void* const at = size ? memrchr(data, uint8_t(ending_[0]), size) : nullptr;
        return at ? size_t(static_cast<const uint8_t*>(at) - data) + 1 : 0;
    }
    const uint8_t* const end = data + size;
    const uint8_t* const found = std::find_end(data, end, ending_.begin(), ending_.end(),
                                               [](uint8_t byte, char wanted) { return byte == uint8_t(wanted); });
    return found == end ? 0 : size_t(found - data) + ending_.size();
}

// Only the indexer knows where a record ends: streams cannot find out by themselves.
PlacePosition IndexedDecoder::here_to(size_t record_bytes) const {
    PlacePosition position = here();
    position.record_end = position.bytes + int64_t(record_bytes);
    return position;
}

PlacePosition IndexedDecoder::value_position(const RowBlock::Location& at, const uint8_t* field, size_t column,
                                             uint32_t row) const {
    PlacePosition position = SpanDecoder::value_position(at, field, column, row);
    position.record_end = at.base_bytes + at.stops[last_stop_] + int64_t(std::max<size_t>(ending_.size(), 1));
    return position;
}

// The records of these bytes are in nobody's hands, which is an error whatever becomes of bad records.
size_t IndexedDecoder::fail(const uint8_t* data, size_t size) {
    Finding finding{ErrorCode::indexer_failed};
    finding.set_raw(data, std::min(size, partial_raw_most));
    finding.found = room_.message;
    findings.emplace_back(std::move(finding), here_to(size));
    counters.records++;
    counters.rejected++;
    records_++;
    offset_ += size;
    return size;
}

size_t IndexedDecoder::index(const uint8_t* data, size_t size, uint64_t row_limit) {
    size_t at = 0;
    skip_mark(data, size, &at);
    size_t stretch = row_limit == 1 ? first_record_bytes : window_bytes;
    while (row_limit > 0 && at < size) {
        const size_t window = std::min({size - at, stretch, offsets_most});
        if (!has_room(window)) break;
        // Where bytes tell of themselves where records end, the indexer is given whole ones only.
        const size_t whole = behind_last_end(data + at, window);
        uint32_t count = 0;
        if (whole && !ask(data + at, whole, &count)) return at + fail(data + at, behind_last_end(data + at, size - at));
        const size_t used = add_records({data + at, data, data + size, int64_t(offset_)}, count, &row_limit);
        at += used;
        if (used == 0) {
            if (window == size - at || window == offsets_most) break;
            stretch *= 2;  // a record is longer: look further
        }
        // A block's bytes should stay cached until its values are read.
        if (indexed_bytes_ >= stretch_bytes) materialize();
    }
    return at;
}

size_t IndexedDecoder::add_records(const Stretch& in, uint32_t count, uint64_t* row_limit) {
    uint32_t* stops = nullptr;
    const uint32_t* spans = room_.spans;
    uint32_t begin = 0;
    for (uint32_t i = 0; i < count && *row_limit > 0; i++, spans += last_stop_) {
        const uint32_t end = room_.ends[i], last = end - uint32_t(std::max<size_t>(ending_.size(), 1));
        if (room_.kinds[i] == FORMATTER_RECORD) {
            uint32_t* const row = open_row(&stops, in.data, in.readable_begin, in.readable_end, in.offset, begin);
            for (uint32_t s = 0; s < last_stop_; s += 2) {
                const bool absent = spans[s] == FORMATTER_ABSENT;
                row[s] = absent ? last + 1 : spans[s];
                row[s + 1] = absent ? last + 1 : spans[s + 1];
                // Where nothing ends records, an empty field may stand where one that is not there would.
                if (!absent && spans[s] > last) row[s] = row[s + 1] = last;
            }
            row[last_stop_] = last;
            close_row(&stops);
        } else {
            stops = nullptr;
            if (room_.kinds[i] == FORMATTER_BAD_RECORD)
                structural_error(ErrorCode::unreadable_record, in.data + begin, end - begin - ending_.size(),
                                 here_to(end - begin), 0);
        }
        if (room_.kinds[i] != FORMATTER_NO_RECORD) {
            records_++;
            --*row_limit;
        }
        offset_ += end - begin;
        indexed_bytes_ += end - begin;
        begin = end;
    }
    return begin;
}

size_t IndexedDecoder::index_unterminated(const uint8_t* data, size_t size) {
    size_t at = 0;
    skip_mark(data, size, &at);
    const size_t left = size - at, whole = left + ending_.size();
    if (left == 0) return size;
    if (left >= offsets_most) {
        structural_error(ErrorCode::record_too_long, data + at, partial_raw_most, here(), 0);
        records_++;
        offset_ += left;
        return size;
    }
    has_room(left);
    if (block_.room() == 0) materialize();  // not later: it lets go of what the block keeps
    uint8_t* const record = block_.keep_bytes(whole);
    std::memcpy(record, data + at, left);
    std::memcpy(record + left, ending_.data(), ending_.size());
    uint32_t count = 0;
    if (!ask(record, whole, &count)) {
        fail(record, left);
        return size;
    }
    uint64_t row_limit = block_.room();
    const size_t used = add_records({record, record, record + whole, int64_t(offset_)}, count, &row_limit);
    if (used < whole) {
        structural_error(ErrorCode::unterminated_record, record + used, whole - used, here_to(whole - used), 0);
        records_++;
        offset_ += whole - used;
    }
    return size;
}

}  // namespace formatter
