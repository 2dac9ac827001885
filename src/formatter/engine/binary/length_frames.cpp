#include "engine/binary/length_frames.hpp"

#include <algorithm>

namespace formatter {
namespace {

constexpr uint8_t varint_most = 10;  // bytes; a longer one is no length and never ends
constexpr uint64_t endless = ~uint64_t(0) >> 1;

// One more byte of a length. Returns whether it was the last one; `value` is then the length.
bool add_byte(const FrameLength& length, uint8_t byte, uint8_t* count, uint64_t* value) {
    if (length.width == FrameLength::varint) {
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

BufferScan FixedRows::scan(const uint8_t*, size_t size, ScanState* state, bool first_only) const {
    BufferScan scan;
    const uint64_t missing = width_ - state->count;
    if (size < missing) {
        state->count += size;
        return scan;
    }
    scan.first_end = scan.last_end = missing;
    state->count = 0;
    if (first_only) return scan;
    const uint64_t behind = (size - missing) % width_;
    scan.last_end = size - behind;
    state->count = behind;
    return scan;
}

Frame frame_at(const FrameLength& length, const uint8_t* data, size_t size) {
    Frame frame;
    uint8_t count = 0;
    uint64_t value = 0;
    while (frame.prefix < size) {
        if (!add_byte(length, data[frame.prefix++], &count, &value)) continue;
        frame.record = data + frame.prefix;
        frame.size = value;
        frame.complete = size - frame.prefix >= value;
        break;
    }
    return frame;
}

BufferScan LengthFrames::scan(const uint8_t* data, size_t size, ScanState* state, bool first_only) const {
    BufferScan scan;
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
        if (scan.first_end == BufferScan::none) scan.first_end = at;
        scan.last_end = at;
        if (first_only) return scan;
    }
    return scan;
}

}  // namespace formatter
