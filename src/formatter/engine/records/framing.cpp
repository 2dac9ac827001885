#include "engine/records/framing.hpp"

#include <cstring>

namespace formatter {
namespace {

// The first record end outside quotes, given whether the bytes begin inside.
uint64_t first_end_outside(const Framing& framing, const uint8_t* data, size_t size, bool inside) {
    const CsvBytes bytes{0, framing.record_end, framing.quote, true};
    const uint64_t end = framing.kernel->first_record_end(data, size, bytes, inside);
    return end == QuoteSummary::none ? FrameEnds::none : end + 1;
}

// The last one, given whether the bytes end inside.
uint64_t last_end_outside(const Framing& framing, const uint8_t* data, size_t size, bool inside) {
    while (size) {
        const void* found = memrchr(data, framing.record_end, size);
        if (!found) break;
        const size_t end = size_t(static_cast<const uint8_t*>(found) - data);
        inside ^= framing.kernel->count_byte(data + end, size - end, framing.quote) & 1;
        if (!inside) return end + 1;
        size = end;
    }
    return FrameEnds::none;
}

}  // namespace

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
    if (kind == FramingKind::parity)
        kernel->summarize_quotes(data, size, CsvBytes{0, record_end, quote, true}, summary);
    return summary;
}

uint64_t Framing::count_quotes(const uint8_t* data, size_t size) const {
    return kind == FramingKind::parity && size ? kernel->count_byte(data, size, quote) : 0;
}

uint64_t Framing::copy_counting(uint8_t* to, const uint8_t* data, size_t size, const uint8_t* next,
                                size_t next_size) const {
    if (kind == FramingKind::parity) return kernel->copy_counting(to, data, size, quote, next, next_size);
    for (size_t offset = 0; offset < next_size; offset += 64) __builtin_prefetch(next + offset);
    std::memcpy(to, data, size);
    return 0;
}

FrameEnds Framing::ends_after(const uint8_t* data, size_t size, uint64_t quotes, ScanState* state) const {
    FrameEnds ends;
    if (kind == FramingKind::stateless) return ends_anywhere(data, size);
    if (kind == FramingKind::parity) {
        const bool inside = state->inside;
        state->inside ^= quotes & 1;
        if (quotes == 0) return inside ? ends : ends_anywhere(data, size);
        ends.first = first_end_outside(*this, data, size, inside);
        if (ends.any()) ends.last = FrameEnds::later;
        return ends;
    }
    const BufferScan scan = this->scan(data, size, state, false);
    ends.first = scan.first_end;
    ends.last = scan.last_end;
    return ends;
}

uint64_t Framing::last_end(const uint8_t* data, size_t size, bool inside) const {
    return last_end_outside(*this, data, size, inside);
}

uint64_t Framing::record_size(const uint8_t* data, size_t size, ScanState* state) const {
    if (kind == FramingKind::stateless) return ends_anywhere(data, size).first;
    return scan(data, size, state, true).first_end;
}

uint64_t PreambleScan::advance(const Framing& framing, const uint8_t* data, size_t size) {
    const CsvFormat& format = *framing.csv;
    if (first_line && line.empty()) state.mark = 0;
    for (size_t at = 0; at < size;) {
        const uint64_t found = framing.scan(data + at, size - at, &state, true).first_end;
        const bool ended = found != BufferScan::none;
        const size_t used = ended ? found : size - at;
        line.append(reinterpret_cast<const char*>(data + at), used);
        at += used;
        if (!ended) break;
        if (!framing.scanner && first_line && line.compare(0, 3, "\xEF\xBB\xBF") == 0) line.erase(0, 3);
        std::string text = framing.scanner ? framing.scanner->text_of(line) : line;
        if (first_line && text.compare(0, 3, "\xEF\xBB\xBF") == 0) text.erase(0, 3);
        const size_t content = text.size() - format.record_end.size();
        const bool comment = content && format.commenting && uint8_t(text[0]) == format.comment;
        if (!comment && !is_blank(format, reinterpret_cast<const uint8_t*>(text.data()), content)) return at;
        line.clear();
        first_line = false;
    }
    return FrameEnds::none;
}

}  // namespace formatter
