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
    if (kind != FramingKind::parity) return summary;
    if (size == 0 || !std::memchr(data, quote, size)) {  // much of the world's data has no quotes: one fast look says so
        const FrameEnds ends = ends_anywhere(data, size);
        const uint64_t none = QuoteSummary::none;
        summary.first_end[0] = ends.any() ? ends.first - 1 : none;
        summary.last_end[0] = ends.any() ? ends.last - 1 : none;
        summary.first_end[1] = summary.last_end[1] = none;
        return summary;
    }
    kernel->summarize_quotes(data, size, CsvBytes{0, record_end, quote, true}, summary);
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

uint64_t Framing::record_size(const uint8_t* data, size_t size, ScanState* state) const {
    if (kind == FramingKind::stateless) return ends_anywhere(data, size).first;
    return scan_buffer(*csv, data, size, state, true).first_end;
}

uint64_t PreambleScan::advance(const CsvFormat& format, const uint8_t* data, size_t size) {
    if (first_line && line.empty()) state.mark = 0;
    for (size_t at = 0; at < size;) {
        const uint64_t found = scan_buffer(format, data + at, size - at, &state, true).first_end;
        const bool ended = found != BufferScan::none;
        const size_t used = ended ? found : size - at;
        line.append(reinterpret_cast<const char*>(data + at), used);
        at += used;
        if (!ended) break;
        if (first_line && line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);
        const size_t content = line.size() - format.record_end.size();
        const bool comment = content && format.commenting && uint8_t(line[0]) == format.comment;
        if (!comment && !is_blank(format, reinterpret_cast<const uint8_t*>(line.data()), content)) return at;
        line.clear();
        first_line = false;
    }
    return FrameEnds::none;
}

}  // namespace formatter
