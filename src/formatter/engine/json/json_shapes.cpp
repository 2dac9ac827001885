#include "engine/json/json_shapes.hpp"

#include <algorithm>

namespace formatter {

bool JsonShape::learn(const uint8_t* base, const uint32_t* positions, size_t count, const ValueSpan* spans,
                      size_t columns) {
    count_ = 0;
    reach_ = 0;
    probes_.clear();
    colons_.assign(columns, -1);
    if (count < 4 || count % 2 != 0) return false;  // { : } and the line end at least, and a ',' between members
    for (size_t i = 1; i + 1 < count; i += 2) {
        const uint32_t before = positions[i - 1], colon = positions[i];
        const uint8_t expected = i == 1 ? '{' : ',';
        if (base[colon] != ':' || base[before] != expected) return false;
        // Windows of sixteen bytes, backwards from the colon to the separator.
        for (uint32_t end = colon + 1; end > before;) {
            const uint32_t size = std::min<uint32_t>(16, end - before);
            uint8_t bytes[16] = {}, mask[16] = {};
            std::memcpy(bytes + 16 - size, base + end - size, size);
            std::memset(mask + 16 - size, 0xFF, size);
            Probe probe;
            std::memcpy(&probe.bytes, bytes, 16);
            std::memcpy(&probe.mask, mask, 16);
            probe.ordinal = uint32_t(i);
            probe.back = colon + 16 - end;
            reach_ = std::max(reach_, probe.back);
            probes_.push_back(probe);
            end -= size;
        }
    }
    if (base[positions[count - 2]] != '}') return false;
    for (size_t column = 0; column < columns; column++) {
        const ValueSpan& span = spans[column];
        if (!span.begin || span.begin <= base + positions[0]) continue;
        // By halves: an object of many keys has as many columns.
        const uint32_t* const behind = std::lower_bound(positions, positions + count - 1, uint32_t(span.begin - base));
        const size_t before = size_t(behind - positions) - 1;
        if (before % 2 && span.end <= base + *behind) colons_[column] = int32_t(before);
    }
    count_ = count;
    return true;
}

}  // namespace formatter
