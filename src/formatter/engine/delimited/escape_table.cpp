#include "engine/delimited/escape_table.hpp"

#include <algorithm>
#include <cstring>

namespace formatter {

EscapeTable::EscapeTable(std::vector<Escape> escapes) : escapes_(std::move(escapes)) {
    const auto lead = [](const Escape& escape) { return uint8_t(escape.written[0]); };
    std::sort(escapes_.begin(), escapes_.end(), [&](const Escape& a, const Escape& b) {
        if (lead(a) != lead(b)) return lead(a) < lead(b);
        return a.written.size() != b.written.size() ? a.written.size() > b.written.size() : a.written < b.written;
    });
    uint32_t at = 0;
    for (uint32_t c = 0; c < 256; c++) {
        groups_of_[c] = uint32_t(groups_.size());
        while (at < escapes_.size() && lead(escapes_[at]) == c) {
            Group group{at, at, escapes_[at].written.size()};
            while (group.last < escapes_.size() && lead(escapes_[group.last]) == c &&
                   escapes_[group.last].written.size() == group.size)
                group.last++;
            at = group.last;
            groups_.push_back(group);
        }
    }
    groups_of_[256] = uint32_t(groups_.size());
}

const Escape* EscapeTable::find(const Group& group, const uint8_t* text, size_t size) const {
    if (size < group.size) return nullptr;
    uint32_t first = group.first, last = group.last;
    while (first < last) {
        const uint32_t middle = first + (last - first) / 2;
        const int order = std::memcmp(escapes_[middle].written.data(), text, group.size);
        if (order == 0) return &escapes_[middle];
        if (order < 0)
            first = middle + 1;
        else
            last = middle;
    }
    return nullptr;
}

}  // namespace formatter
