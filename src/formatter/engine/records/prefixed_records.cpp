#include "engine/records/prefixed_records.hpp"

#include <algorithm>

namespace formatter {
namespace {

constexpr uint8_t varint_most = 10;  // bytes; a longer one is no length and never ends
constexpr uint64_t endless = ~uint64_t(0) >> 1;

// One more byte of a length. Returns whether it was the last one; `value` is then the length.
bool add_byte(const LengthPrefix& length, uint8_t byte, uint8_t* count, uint64_t* value) {
    if (length.width == LengthPrefix::varint) {
        const unsigned shift = 7u * *count;
        if (shift < 63)
            *value |= uint64_t(byte & 0x7F) << shift;
        else if (byte & 0x7F)
            *value = endless;
        ++*count;
        if (*count == varint_most && byte & 0x80) *value = endless;
        return !(byte & 0x80) || *count == varint_most;
    }
    if (length.big_endian)
        *value = *value << 8 | byte;
    else
        *value |= uint64_t(byte) << 8 * *count;
    if (++*count < length.width) return false;
    *value = std::min(*value, endless);
    return true;
}

}  // namespace

RecordEnds FixedRows::scan(const uint8_t*, size_t size, ScanState* state, bool first_only) const {
    const uint64_t missing = width_ - state->count;
    if (size < missing) {
        state->count += size;
        return {};
    }
    state->count = 0;
    if (first_only) return {missing, missing};
    state->count = (size - missing) % width_;
    return {missing, size - state->count};
}

PrefixedRecord prefixed_record_at(const LengthPrefix& length, const uint8_t* data, size_t size) {
    PrefixedRecord record;
    uint8_t count = 0;
    uint64_t value = 0;
    while (record.prefix < size) {
        if (!add_byte(length, data[record.prefix++], &count, &value)) continue;
        record.data = data + record.prefix;
        record.size = value;
        record.complete = size - record.prefix >= value;
        break;
    }
    return record;
}

bool PrefixedRecords::can_be(const ScanState& state) const {
    if (state.inside) return state.matched == 0 && state.carried == 0 && state.count > 0 && state.count <= endless;
    return state.count == 0 && state.matched < (length_.width == LengthPrefix::varint ? varint_most : length_.width);
}

RecordEnds PrefixedRecords::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    RecordEnds ends;
    for (size_t at = 0; at < size;) {
        if (!state->inside) {
            if (!add_byte(length_, data[at++], &state->matched, &state->carried)) continue;
            state->count = state->carried;
            state->matched = 0;
            state->carried = 0;
            state->inside = true;
        }
        const uint64_t more = std::min<uint64_t>(state->count, size - at);
        at += more;
        state->count -= more;
        if (state->count) break;
        state->inside = false;
        ends.add(at);
        if (first_only) return ends;
    }
    return ends;
}

}  // namespace formatter
