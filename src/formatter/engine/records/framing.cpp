#include "engine/records/framing.hpp"

#include <cstring>

namespace formatter {

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

RecordEnds Framing::ends_after(const uint8_t* data, size_t size, uint64_t quotes, ScanState* state) const {
    if (kind == FramingKind::stateless) return ends_anywhere(data, size);
    if (kind == FramingKind::scanned) return scanner->scan(data, size, state, false);
    const bool inside = state->inside;
    state->inside ^= quotes & 1;
    RecordEnds ends;
    if (quotes == 0) return inside ? ends : ends_anywhere(data, size);
    const uint64_t first = kernel->first_record_end(data, size, bytes, inside);
    if (first != QuoteSummary::none) ends.first = first + 1;
    if (ends.any()) ends.last = RecordEnds::later;
    return ends;
}

uint64_t Framing::last_end(const uint8_t* data, size_t size, bool inside) const {
    while (const void* found = size ? memrchr(data, bytes.record_end, size) : nullptr) {
        const size_t end = size_t(static_cast<const uint8_t*>(found) - data);
        inside ^= kernel->count_byte(data + end, size - end, bytes.quote) & 1;
        if (!inside) return end + 1;
        size = end;
    }
    return RecordEnds::none;
}

uint64_t Framing::record_size(const uint8_t* data, size_t size, ScanState* state) const {
    if (kind == FramingKind::stateless) return ends_anywhere(data, size).first;
    return scanner->scan(data, size, state, true).first;
}

}  // namespace formatter
