#include "engine/records/framing.hpp"

#include <cstring>

namespace formatter {
namespace {

// The first record end outside quotes, given whether the bytes begin inside.
uint64_t first_end_outside(const Framing& framing, const uint8_t* data, size_t size, bool inside) {
    const uint64_t end = framing.kernel->first_record_end(data, size, framing.bytes, inside);
    return end == QuoteSummary::none ? RecordEnds::none : end + 1;
}

// The last one, given whether the bytes end inside.
uint64_t last_end_outside(const Framing& framing, const uint8_t* data, size_t size, bool inside) {
    while (size) {
        const void* found = memrchr(data, framing.bytes.record_end, size);
        if (!found) break;
        const size_t end = size_t(static_cast<const uint8_t*>(found) - data);
        inside ^= framing.kernel->count_byte(data + end, size - end, framing.bytes.quote) & 1;
        if (!inside) return end + 1;
        size = end;
    }
    return RecordEnds::none;
}

}  // namespace

RecordEnds Framing::ends_anywhere(const uint8_t* data, size_t size) const {
    RecordEnds ends;
    if (size == 0) return ends;
    const void* first = std::memchr(data, bytes.record_end, size);
    if (!first) return ends;
    ends.first = uint64_t(static_cast<const uint8_t*>(first) - data) + 1;
    ends.last = uint64_t(static_cast<const uint8_t*>(memrchr(data, bytes.record_end, size)) - data) + 1;
    return ends;
}

QuoteSummary Framing::summarize(const uint8_t* data, size_t size) const {
    QuoteSummary summary{};
    if (kind == FramingKind::parity) kernel->summarize_quotes(data, size, bytes, summary);
    return summary;
}

uint64_t Framing::count_quotes(const uint8_t* data, size_t size) const {
    return kind == FramingKind::parity && size ? kernel->count_byte(data, size, bytes.quote) : 0;
}

uint64_t Framing::copy_counting(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next,
                                size_t next_size) const {
    if (kind == FramingKind::parity) return kernel->copy_counting(to, data, size, bytes.quote, next, next_size);
    for (size_t offset = 0; offset < next_size; offset += 64) __builtin_prefetch(next + offset);
    std::memcpy(to, data, size);
    return 0;
}

RecordEnds Framing::ends_after(const uint8_t* data, size_t size, uint64_t quotes, ScanState* state) const {
    if (kind == FramingKind::stateless) return ends_anywhere(data, size);
    if (kind == FramingKind::scanned) return scanner->scan(data, size, state, false);
    const bool inside = state->inside;
    state->inside ^= quotes & 1;
    RecordEnds ends;
    if (quotes == 0) return inside ? ends : ends_anywhere(data, size);
    ends.first = first_end_outside(*this, data, size, inside);
    if (ends.any()) ends.last = last_end_outside(*this, data, size, state->inside);
    return ends;
}

uint64_t Framing::record_size(const uint8_t* data, size_t size, ScanState* state) const {
    if (kind == FramingKind::stateless) return ends_anywhere(data, size).first;
    return scanner->scan(data, size, state, true).first;
}

}  // namespace formatter
