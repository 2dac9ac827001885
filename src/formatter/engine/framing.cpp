#include "engine/framing.hpp"

#include <cstring>

namespace formatter {

FrameEnds Framing::ends_anywhere(const uint8_t* data, size_t size) const {
    FrameEnds ends;
    if (size == 0) return ends;
    const void* first = std::memchr(data, record_end, size);
    if (!first) return ends;
    ends.first = uint64_t(static_cast<const uint8_t*>(first) - data) + 1;
    ends.last = uint64_t(static_cast<const uint8_t*>(memrchr(data, record_end, size)) - data) + 1;
    return ends;
}

QuoteSummary Framing::summarize(const uint8_t* data, size_t size) const {
    QuoteSummary summary{};
    if (kind == FramingKind::parity) kernel->summarize_quotes(data, size, CsvBytes{0, record_end, quote, true}, summary);
    return summary;
}

FrameEnds Framing::ends_after(const uint8_t* data, size_t size, const QuoteSummary& summary, ScanState* state) const {
    FrameEnds ends;
    if (kind == FramingKind::stateless) return ends_anywhere(data, size);
    if (kind == FramingKind::parity) {
        const int inside = state->inside;
        if (summary.first_end[inside] != QuoteSummary::none) {
            ends.first = summary.first_end[inside] + 1;
            ends.last = summary.last_end[inside] + 1;
        }
        state->inside ^= summary.quotes & 1;
        return ends;
    }
    const BufferScan scan = scan_buffer(*csv, data, size, state);
    ends.first = scan.first_end;
    ends.last = scan.last_end;
    return ends;
}

}  // namespace formatter
